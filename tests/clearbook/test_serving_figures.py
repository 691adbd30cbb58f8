"""Tiles, pages, slots and times are drawn where they are, and are told apart without colour."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pytest
from clearbook.figures import serving


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def thick(ax):
    return [patch for patch in ax.patches if patch.get_linewidth() > 2]


def test_one_tile_is_live_at_a_time_and_those_before_it_are_gone():
    """Catches a tile that is visited twice or left out, and one that still stands when it was forgotten."""
    for live, ax in enumerate(serving.tiles(4, row=1)):
        (tile,) = thick(ax)
        assert (int(tile.get_x()), int(tile.get_y())) == (live, 1) and tile.get_hatch()
        gone = [patch for patch in ax.patches if patch.get_linestyle() in (":", "dotted")]
        assert len(gone) == 4 + live
        assert {"m, ℓ, o", "y, L"} <= {text.get_text() for text in ax.texts}


def test_each_token_stands_in_its_page_and_shared_pages_have_a_frame():
    """Catches a token in the wrong page, a shared page that is drawn twice, and a free page that is filled."""
    tables, lengths = {"A": [0, 2], "B": [1], "C": [0, 3]}, {"A": 3, "B": 1, "C": 3}
    ax = serving.page_table(tables, lengths, n_pages=5, size=2)
    (frame,) = thick(ax)
    assert (frame.get_x(), frame.get_width()) == (0, 2)
    texts = [text.get_text() for text in ax.texts]
    assert [texts.count(owner) for owner in ("A, C", "A", "B", "C", "")] == [1, 1, 1, 1, 1]
    inside = [text for text in ax.texts if text.get_position()[1] == frame.get_y() + 0.5]
    found = sorted((int(text.get_position()[0] // 2.6), text.get_text()) for text in inside)
    assert found == [(0, "0"), (0, "1"), (1, "0"), (2, "2"), (3, "2")]


def test_the_newest_token_takes_the_slot_of_the_oldest():
    """Catches a slot that is used before it is free, and a ring that turns the other way."""
    ax = serving.ring_of_slots(6, 4)
    shown = {text.get_position(): text.get_text() for text in ax.texts}
    assert [shown[slot + 0.47, 5.4] for slot in range(4)] == ["4", "5", "2", "3"]
    assert [int(patch.get_x()) for patch in thick(ax)] == [0, 1, 2, 3, 0, 1]


def test_work_is_drawn_when_it_is_done():
    """Catches two kinds of work that look alike, and a token that comes at another time."""
    rows = {"a": [serving.Piece(0, 3, "read"), serving.Piece(3, 4, "write")], "b": [serving.Piece(1, 2, "write")]}
    ax = serving.waiting(rows, {"a": [4.0]}, {"b": 2.0})
    drawn = [(patch.get_x(), patch.get_width(), patch.get_hatch()) for patch in ax.patches]
    assert [piece[:2] for piece in drawn] == [(0, 3), (3, 1), (1, 1)]
    assert drawn[1][2] == drawn[2][2] != drawn[0][2]
    moments = [tuple(line.get_xdata()) for line in ax.lines if len(line.get_xdata())]
    assert moments == [(4.0,), (2.0,)]


def test_two_bars_have_one_scale():
    """Catches a bar that is as long as the seconds of a token, and not of all of them."""
    ax = serving.reading_and_writing(0.5, 2.0, 4)
    assert [patch.get_width() for patch in ax.patches] == [0.5, 2.0]
    assert [text.get_text() for text in ax.texts] == ["125.00 ms a token", "500.00 ms a token"]
