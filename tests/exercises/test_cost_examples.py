"""The examples by hand in the tasks of exercise 14, and what its experiment shows."""

from functools import partial
from math import isclose, log

import numpy as np
import pytest
import torch
from inline_snapshot import snapshot

from tests.exercises.course_exercises import answer_of, edited_answer, graded_checks, in_one_breath, task_of

SLUG = "14-cost"
answer = partial(answer_of, SLUG)
task = partial(task_of, SLUG)


def test_a_small_step():
    small = 128, 1, 4, 2, 2, 4, 2, 2, 3, 128
    waited = {"weights_waited_for": False, "caches_waited_for": False}
    assert answer("decode", *small, 128, 12) == waited | {"seconds": 9, "tokens_per_second": 1 / 3, "most": 4}
    slow = answer("decode", *small, 32, 12)
    assert slow["seconds"] == 14 and slow["weights_waited_for"] and slow["caches_waited_for"] and slow["most"] == 2
    assert in_one_breath(task("decode"), "8 + 6 = 14 seconds", "2 texts")


def test_the_four_programs_of_the_figure():
    flops, moved, seconds = np.array([[20, 160, 80, 240.0], [20, 80, 2, 3], [0.2, 0.8, 0.08, 0.4]])
    came = answer("figure", flops, moved, seconds)
    assert isclose(came["rho"], 1000) and isclose(came["beta"], 100) and came["first"] == 3
    assert came["memory_bound"].tolist() == [True, True, False, False]
    np.testing.assert_allclose(came["least"], [0.2, 0.8, 0.08, 0.24])
    assert in_one_breath(task("figure"), "D", "first", "0.16 seconds")


def test_blocks_by_hand():
    one = (np.array([log(2)]), np.array([1.5]), np.array([[6.0]]))
    two = (np.array([log(8)]), np.array([1.0]), np.array([[5.0]]))
    m, total, O = answer("merge", *one, *two)  # noqa: E741
    np.testing.assert_allclose([m[0], total[0], O[0, 0]], [log(8), 1.375, 6.5])
    blocks = [(np.array([[1.0, 2.0]]), np.array([[1.0, 3.0]])), (np.array([[3.0]]), np.array([[8.0]]))]
    Y, L = answer("blocks", np.array([[0.0]]), blocks, False)
    np.testing.assert_allclose([Y[0, 0], L[0]], [4, log(3)])


def test_three_blocks_of_which_one_moves_m():
    blocks = [(np.array([[log(c)]]), np.array([[v]])) for c, v in ((1, 11.0), (2, 11.0), (8, 0.0))]
    Y, L, moves = answer("seldom", np.array([[1.0]]), blocks, 1.0)
    np.testing.assert_allclose([Y[0, 0], L[0], moves[0]], [3, log(11), 1])
    assert in_one_breath(task("seldom"), "Y = [[3]]", "moves = [1]")


def test_the_size_of_a_small_layer():
    layer = answer("grouped", 12, 6, 2)
    assert sum(p.numel() for p in layer.parameters()) == 416
    with torch.no_grad():
        layer(torch.zeros(1, 5, 12))
    assert sum(t.numel() for t in layer.kept) == 40
    assert in_one_breath(task("grouped"), "2 · 156 + 2 · 52", "416 parameters")


def test_caches_by_hand():
    keys, values = np.array([[5.0, 7.0]]), np.array([[1.0, 3.0]])
    k, v, q = np.array([2.0]), np.array([9.0]), np.array([0.0])
    y, keys, values = answer("rolling", k, v, q, keys, values, 1)
    assert y.tolist() == [5]
    y, keys, values = answer("rolling", np.array([4.0]), np.array([4.0]), q, keys, values, 2)
    assert (y.tolist(), keys.tolist(), values.tolist()) == ([6.5], [[4, 2]], [[4, 9]])
    pool_V = np.array([[[[1, 2.0]]], [[[9, np.nan]]], [[[3, 5.0]]]])
    came = answer("paged", np.zeros((1, 1, 1)), 0 * np.nan_to_num(pool_V), pool_V, [[2, 1]], [3])
    np.testing.assert_allclose(came, 17 / 3)


def checks_after(id: str, *edits) -> tuple:
    """Those of the first right answer after these edits."""
    return graded_checks(SLUG, id, edited_answer(SLUG, id, 0, *edits))


@pytest.mark.parametrize(
    "edit",
    [
        ("self.kept = k, v", "self.kept = (k, v) if self.training else (k.detach(), v.detach())"),
        (
            "        old = 0",
            "        torch.set_grad_enabled(self.training and torch.is_grad_enabled())\n        old = 0",
        ),
        ("self.kept = k, v", "k, v = (k, v) if self.training else (k.detach(), v.detach())\n        self.kept = k, v"),
    ],
)
def test_gradients_may_rest_while_nothing_is_trained(edit):
    """Catches gradients that are asked of a layer in eval() mode, where nothing needs them."""
    try:
        assert all(check.passed for check in checks_after("grouped", edit))
    finally:
        torch.set_grad_enabled(True)


def test_a_cache_of_the_class_is_told():
    """Catches a cache that all instances share, of which nothing is said but what else went wrong."""
    shared = ("def __init__", "keys = values = None\n\n    def __init__"), ("self.kept = None", "pass")
    kept = ("self.kept = k, v", "GroupedAttention.keys, GroupedAttention.values = k, v")
    old = (
        ("self.kept is not None", "self.keys is not None"),
        ("self.kept[0]", "self.keys"),
        ("self.kept[1]", "self.values"),
    )
    (told,) = (check for check in checks_after("grouped", *shared, kept, *old) if check.name == "kept")
    assert told.message == snapshot(
        "What one instance has seen, the next one remembers: keep it in `self`, set in `__init__`."
    )


@pytest.mark.parametrize("logarithm", ["log", "log2", "log10"])
def test_the_corner_may_be_found_by_logarithms(logarithm):
    """Catches a corner that logarithms miss by a rounding."""
    sides = f"np.{logarithm}(ratio) < np.{logarithm}(rho) - np.{logarithm}(beta)"
    assert all(check.passed for check in checks_after("figure", ("rho / beta > ratio", sides)))


def test_a_wrong_count_is_not_blamed_on_float32():
    """Catches small seconds, or one case of large scores, told as what single precision loses."""
    one_short = checks_after("decode", ("2 * b_c * M * G * K * N / beta", "2 * b_c * M * G * K * (N - 1) / beta"))
    base_two = checks_after("blocks", ("m + np.log(sums)", "m + np.log2(sums)"))
    for told in (one_short, base_two):
        assert any("off by" in check.message for check in told)
        assert not any("float32" in check.message for check in told)
    assert one_short[0].diagnosis.mistake == "one_token_short"
