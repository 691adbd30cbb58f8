"""Areas, bars and times are drawn to the scale of the numbers given, and are told apart without colour."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from clearbook.figures import cost_plots
from clearbook.pipeline import schedule


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_all_areas_of_a_model_have_one_scale():
    ax = cost_plots.parameter_areas(5, {"a": 100.0, "b": 300.0}, {"c": 50.0, "d": 1.0}, columns=3)
    areas = [patch.get_width() * patch.get_height() for patch in ax.patches]
    np.testing.assert_allclose(np.array(areas) / areas[0] * 100, [100, 300] * 5 + [50, 1])
    assert [text.get_text() for text in ax.texts] == ["c", "d"]
    assert len({patch.get_hatch() for patch in ax.patches[:2]}) == 2


def test_bars_are_as_long_as_their_parts_and_show_the_sum():
    ax = cost_plots.stacked_bars({"x": {"a": 2.0, "b": 3.0}, "y": {"b": 4.0}}, xlabel="GB")
    assert [(p.get_x(), p.get_width()) for p in ax.patches] == [(0, 2), (2, 3), (0, 4)]
    assert [text.get_text() for text in ax.texts] == ["5", "4"]
    assert ax.patches[1].get_hatch() == ax.patches[2].get_hatch() != ax.patches[0].get_hatch()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x", "y"]


def test_two_workers_hold_everything_between_them_and_dots_show_what_one_does_not():
    """Catches a way to split in which a weight or a sequence belongs to nobody, and a drawing of another one."""
    axes = cost_plots.ways_to_split()
    for ax, split in zip(axes, cost_plots.SPLITS, strict=True):
        assert (split.model[0] | split.model[1]).all() and (split.batch[0] | split.batch[1]).all()
        filled = [patch.get_linestyle() in ("-", "solid") for patch in ax.patches]
        drawn = [worker for i in (0, 1) for worker in (*split.model[i].flat, *split.batch[i])]
        assert filled == [bool(held) for held in drawn]
        assert {split.sent, split.when} < {text.get_text() for text in ax.texts}


def test_a_timeline_draws_every_task_where_and_when_it_is_done():
    tasks = schedule(3, 2)
    ax = cost_plots.timeline(tasks)
    drawn = sorted((p.get_x(), p.get_x() + p.get_width(), round(p.get_y() + 0.42)) for p in ax.patches)
    assert drawn == sorted((t.start, t.stop, t.worker) for t in tasks)
    assert sorted(text.get_text() for text in ax.texts) == ["1"] * 6 + ["2"] * 6
