"""What every notebook of the course starts with."""

import random

import matplotlib
import numpy as np
import torch
from matplotlib_inline.backend_inline import set_matplotlib_formats

from clearbook.data.course_files import find_kept_files
from clearbook.figures import plots


def setup(seed: int = 0, n_threads: int = 1) -> None:
    """Seeds, threads, short numbers and sharp figures, so that the same notebook gives the same page.

    And the files that a reader types, such as transformer.py, can be imported.
    """
    find_kept_files()
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(n_threads)
    np.set_printoptions(precision=3, suppress=True, linewidth=100)
    torch.set_printoptions(precision=3, sci_mode=False, linewidth=100)
    matplotlib.rcParams.update(plots.STYLE)
    set_matplotlib_formats("svg", metadata={"Date": None})
