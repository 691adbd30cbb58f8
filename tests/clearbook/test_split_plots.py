"""What was right and what GPUs send each other is drawn as it is, and nothing is told by colour alone."""

from itertools import pairwise

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pytest
from clearbook.figures import split_plots


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_what_was_right_is_ticked_and_counted():
    ax = split_plots.rows_of_answers({"one way": [True, False, True], "another": [False, False, True]}, ["a", "b", "c"])
    told = [text.get_text() for text in ax.texts]
    assert told == ["✓", "✓", "2 of 3", "✓", "1 of 3"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c"]


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_ring_first_sums_and_then_passes_on(n):
    """Catches a round that sends the wrong piece: everyone then has less, or some number twice."""
    rounds = split_plots.ring_rounds(n)
    everyone = set(range(n))
    assert len(rounds) == 2 * n - 1
    assert [sum(piece == everyone for piece in gpu) for gpu in rounds[n - 1]] == [1] * n
    assert all(piece == everyone for gpu in rounds[-1] for piece in gpu)
    assert all(
        sum(a != b for a, b in zip(one, other, strict=True)) == 1
        for before, after in pairwise(rounds)
        for one, other in zip(before, after, strict=True)
    )


def test_a_ring_is_drawn_with_letters_for_what_is_in_each_piece():
    axes = split_plots.ring_of_gpus(3)
    assert [text.get_text() for text in axes[0].texts] == ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    assert {text.get_text() for text in axes[-1].texts} == {"abc"}
    assert [sum(patch.get_linewidth() > 2 for patch in ax.patches) for ax in axes] == [0, 3, 3, 3, 3]


def test_keys_that_are_later_than_the_queries_are_hatched():
    ax = split_plots.keys_go_round(4)
    hatched = [bool(patch.get_hatch()) for patch in ax.patches]
    drawn = [text.get_text() for text in ax.texts]
    assert drawn[:5] == ["keys 1", "keys 2", "keys 3", "keys 4", "keys 4"]
    assert hatched == [int(told[-1]) > i % 4 + 1 for i, told in enumerate(drawn)] and sum(hatched) == 6


def test_tokens_are_drawn_twice_once_in_order_and_once_with_their_expert():
    experts = [2, 0, 3, 1, 0, 2, 1, 0]
    ax = split_plots.tokens_to_experts(experts, 2)
    drawn = [text.get_text() for text in ax.texts if "→" in text.get_text()]
    assert sorted(drawn[::2]) == sorted(drawn[1::2]) == sorted(f"{i + 1} → {e + 1}" for i, e in enumerate(experts))
    assert [told.split(" → ")[1] for told in drawn[::2]] == [str(e + 1) for e in sorted(experts)]
    crossing = [line.get_linestyle() == "-" for line in ax.lines]
    assert sum(crossing) == sum(i // 4 != e // 2 for i, e in enumerate(experts))


def test_a_column_of_the_map_is_as_long_as_the_logarithm_of_its_gpus():
    plans = {64: {"tensor": 8, "pipeline": 4, "data": 2}, 16: {"tensor": 8, "pipeline": 1, "data": 2}}
    ax = split_plots.best_plans(plans, {64: "9 days", 16: "40 days"})
    tops = {}
    for patch in ax.patches:
        column = round(patch.get_x() + patch.get_width() / 2)
        tops[column] = max(tops.get(column, 0), patch.get_y() + patch.get_height())
    assert tops == {0: 6, 1: 4}
    assert {"9 days", "40 days", "8", "4", "2"} == {text.get_text() for text in ax.texts}
