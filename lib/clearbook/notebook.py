"""What every notebook of the course starts with, and the cell that shows the library's own source."""

import ast
import inspect
import random
import textwrap

import matplotlib
import numpy as np
import torch
from IPython.display import Markdown
from matplotlib_inline.backend_inline import set_matplotlib_formats

from clearbook.figures import plots


def setup(seed: int = 0, n_threads: int = 1) -> None:
    """Seeds, threads, short numbers and sharp figures, so that the same notebook gives the same page."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(n_threads)
    np.set_printoptions(precision=3, suppress=True, linewidth=100)
    torch.set_printoptions(precision=3, sci_mode=False, linewidth=100)
    matplotlib.rcParams.update(plots.STYLE)
    set_matplotlib_formats("svg", metadata={"Date": None})


def show_source(function) -> Markdown:
    """The source of a library function without its docstring, for the place where a notebook first uses it."""
    plain = inspect.unwrap(function)
    source = textwrap.dedent(inspect.getsource(plain))
    definition = ast.parse(source).body[0]
    lines = source.splitlines()
    if ast.get_docstring(definition) is not None:
        docstring = definition.body[0]
        del lines[docstring.lineno - 1 : docstring.end_lineno]
    body = "\n".join(line for line in lines if not line.startswith("@shaped"))
    return Markdown(f"From `{plain.__module__}`:\n\n```python\n{body}\n```")
