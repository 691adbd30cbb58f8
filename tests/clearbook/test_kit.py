"""Arrows and boxes of the schematic figures."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from clearbook.figures import kit


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_a_box_is_as_large_as_it_says_around_its_centre(ax):
    """Catches corners that make a box larger than asked, so that arrows end inside of it."""
    kit.draw_box(ax, (1, 2), 4, 3, corner=0.25)
    [patch] = ax.patches
    np.testing.assert_allclose(patch.get_path().get_extents().bounds, (-1, 0.5, 4, 3))


def test_an_arrow_points_from_its_start_to_its_end(ax):
    """Catches a head at the wrong end: matplotlib takes the end first."""
    kit.draw_arrow(ax, (0.0, 0.0), np.array([1.0, 2.0]), gaps=(1, 4))
    [annotation] = ax.texts
    assert annotation.xyann == (0.0, 0.0) and tuple(annotation.xy) == (1.0, 2.0)
    assert (annotation.arrow_patch.shrinkA, annotation.arrow_patch.shrinkB) == (1, 4)
