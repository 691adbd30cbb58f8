"""What is special to exercise 06: the library's layouts, positions with gaps, examples in words, two museum pieces."""

import math
from functools import partial
from itertools import combinations

import numpy as np
import pytest
import torch
from clearformer.attention import attend, attend_fused
from clearformer.positions import Rotary, sinusoidal

from tests.exercises.course_exercises import cases, cell, comparisons, course_exercise, in_one_breath, task_of

SLUG = "06-position"
PASS_ALL_FOUR = {"nothing_turned", "scores_not_scaled", "pairs_of_neighbours"}  # "some wrong functions pass all four"
DONE_RIGHT = [True, False, True, True, True, True]  # which of the first museum's experiments print 0


def right_answer(id):
    return course_exercise(SLUG).right.of(id)[0].function


task = partial(task_of, SLUG)


def all_cases(id):
    return [args for check in comparisons(course_exercise(SLUG).exercise.question(id)) for args in cases(check)]


def sizes_differ(*sizes):
    found = [size for size in sizes if size > 2]
    return all(max(pair) % min(pair) for pair in combinations(found, 2))


def test_sizes_differ_and_do_not_divide_each_other():
    """Catches inputs on which an exchanged axis fits by chance; sizes agree only once, on purpose."""
    assert [sizes_differ(*args[:2]) for args in all_cases("sinusoids")].count(False) == 1
    square = [args for args in all_cases("placing") if args[0].shape[0] == args[0].shape[1]]
    assert len(square) == 1
    assert all(sizes_differ(*x.shape, len(P)) for x, P, _ in all_cases("placing") if x.shape[0] != x.shape[1])
    unlike = [(H, len(q), len(k)) for H, q, k in all_cases("alibi") if len(q) not in (1, len(k))]
    assert len(unlike) > 10 and all(sizes_differ(*sizes) for sizes in unlike)
    assert all(sizes_differ(*x.shape[-2:]) for x, *_ in all_cases("rotary"))
    assert all(sizes_differ(q.shape[-1], v.shape[-1]) and v.shape[-1] % 2 == 0 for q, _, v, *_ in all_cases("museum"))


def test_positions_start_late_have_gaps_and_come_unsorted():
    """Catches inputs that hide forgotten positions: 0, 1, 2, … are the only ones that many tests try."""
    positions = [at for _, at, *_ in all_cases("rotary")]
    assert all(abs(at[0]) >= 3 for at in positions)
    assert all((np.diff(at) != 1).any() for at in positions if len(at) > 1)
    assert any((np.diff(at) < 0).any() for at in positions)
    starts = np.concatenate([starts for *_, starts in all_cases("placing")])
    assert (starts < 0).any() and (starts > 3).any()
    for id in ("museum", "alibi"):
        sees = [k_positions <= q_positions[:, None] for *_, q_positions, k_positions in all_cases(id)]
        assert any(not row.any() for seen in sees for row in seen)  # a query that sees nothing
        assert any((np.diff(k_positions) < 0).any() for *_, k_positions in all_cases(id))
        assert any(len(q_positions) == 1 < len(k_positions) for *_, q_positions, k_positions in all_cases(id))


def test_scores_are_ordinary_saturated_and_huge():
    sizes = [np.abs(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])).max() for q, k, *_ in all_cases("museum")]
    assert min(sizes) < 10 and any(20 < size < 2_000 for size in sizes) and max(sizes) > 5_000


def test_the_learners_functions_fit_the_library():
    """Catches a layout or a convention of the tasks that differs from the library's."""
    torch.testing.assert_close(right_answer("sinusoids")(7, 10, 4), sinusoidal(7, 10, start=4))
    x, positions = torch.randn(2, 3, 4, 10), torch.tensor([[5, 9, 2, 30]])
    mine = right_answer("rotary")(x, positions[0])
    torch.testing.assert_close(mine, Rotary(10, 40)(x, positions), rtol=0, atol=1e-5)
    mine = right_answer("rotary")(x, positions[0], 500_000.0)
    torch.testing.assert_close(mine, Rotary(10, 40, base=500_000.0)(x, positions), rtol=0, atol=1e-5)


def test_the_bias_and_the_mask_are_what_attention_takes():
    """Catches a bias whose axes are not those of scores, and a mask of the other convention: attend knows both."""
    keys = torch.tensor([3, 4, 9, 17, 18])
    bias, mask = right_answer("alibi")(4, keys[2:], keys)
    q, k, v = torch.randn(1, 4, 3, 6), torch.randn(1, 4, 5, 6), torch.randn(1, 4, 5, 6)
    y, weights = attend(q, k, v, mask, bias=bias[None])
    torch.testing.assert_close(y, attend_fused(q, k, v, mask, bias=bias[None])[0])
    assert ((weights > 0) == mask).all()


def test_the_example_of_the_waves():
    row = right_answer("sinusoids")(1, 4, 3)[0]
    assert "({:.3f}, −{:.3f}, {:.3f}, {:.3f})".format(*row.abs().tolist()) in task("sinusoids") and row[1] < 0
    torch.testing.assert_close(right_answer("sinusoids")(4, 4)[3], row)


def test_the_example_of_two_sentences():
    y = right_answer("placing")(torch.zeros(2, 3, 1), torch.arange(10.0, 20.0)[:, None], torch.tensor([2, -1]))[..., 0]
    shown = [f"({', '.join(f'{number:.0f}' for number in row)})" for row in y]
    assert f"become {shown[0]} and {shown[1]}" in task("placing")


def test_the_example_of_the_slopes():
    bias, mask = right_answer("alibi")(2, torch.tensor([17]), torch.tensor([1, 17, 20]))
    shown = [f"({', '.join(f'{number + 0.0:g}' for number in row)})".replace("-", "−") for row in bias[:, 0].tolist()]
    assert in_one_breath(task("alibi"), *shown, f"({', '.join(map(str, mask[0].tolist()))})")
    slopes = right_answer("alibi")(2, torch.tensor([1]), torch.tensor([0]))[0].flatten().tolist()
    assert slopes == [-1 / 16, -1 / 256] and "1/16 and 1/256" in task("alibi")


def test_the_example_of_two_turned_tokens():
    one, two = right_answer("rotary")(torch.eye(4)[:2], torch.tensor([2, 2]))
    assert f"about (−{-one[0]:.3f}, 0, {one[2]:.3f}, 0)" in task("rotary")
    assert f"about (0, {two[1]:.3f}, 0, {two[3]:.3f})" in task("rotary")
    assert one[1] == one[3] == two[0] == two[2] == 0


def test_the_example_of_the_head():
    head, e, causal = right_answer("head")(2, 2), torch.eye(2)[None], torch.ones(2, 2, dtype=torch.bool).tril()
    for part in (head.query, head.key, head.value):
        part.weight.data = torch.eye(2)
    for positions in ([[1, 2]], [[41, 42]]):
        first, second = head(e, torch.tensor(positions), causal)[0].tolist()
        assert first == [1, 0]
        assert f"({second[0]:.3f}, {second[1]:.3f})" in task("head")


def test_the_head_may_stand_anywhere_but_not_with_other_gaps():
    """Catches a reference that the task's own property does not hold for."""
    head, x, at = right_answer("head")(7, 6), torch.randn(2, 4, 7), torch.tensor([[3, 4, 9, 17], [5, 6, 7, 30]])
    torch.testing.assert_close(head(x, at), head(x, at + torch.tensor([[20], [31]])), rtol=0, atol=1e-5)
    assert (head(x, at) - head(x, torch.arange(4).expand(2, 4))).abs().max() > 0.01


def test_the_example_of_the_swap():
    assert right_answer("mask")(torch.ones(5, 5, dtype=torch.bool), 1, 3, 1, False).tolist() == [
        False,
        True,
        False,
        True,
        False,
    ]
    assert "positions 1 and 3 change" in task("mask")


def test_the_example_of_three_keys():
    e, v = torch.tensor([[1.0, 0.0]]), torch.tensor([[10.0, 0], [0, 10], [90, 90]])
    y = right_answer("museum")(e, e.expand(3, 2), v, torch.tensor([2]), torch.tensor([1, 2, 5]))[0]
    weights, output = f"weights {y[0] / 10:.3f} and {y[1] / 10:.3f}", f"output ({y[0]:.2f}, {y[1]:.2f})"
    assert in_one_breath(task("museum"), weights, output)


def experiment_numbers(id, experiments, *cells):
    """The numbers of the experiments by the name of the function; `cells` run first."""
    lines, it = [], course_exercise(SLUG)
    given = {"torch": torch, "math": math, "print": lines.append, "rotate": right_answer("rotary")}
    for name in cells:
        exec(cell(it.learner, name), given)

    def numbers(function):
        lines.clear()
        try:
            given[experiments](function)
        except (ValueError, RuntimeError):
            return [np.inf]
        return [float(line.split(":")[1]) for line in lines]

    entries = {entry.name: entry.function for entry in [*it.right.of(id), *it.wrong.of(id)]}
    return {name: numbers(function) for name, function in entries.items()}, given


@pytest.fixture(scope="module")
def placing_numbers():
    return experiment_numbers("placing", "experiments", "placing-museum", "placing-experiments")[0]


@pytest.fixture(scope="module")
def museum():
    return experiment_numbers("museum", "experiments", "museum-piece", "museum-experiments")[0]


def test_the_batch_museum_shows_its_three_slips(placing_numbers):
    """Catches an experiment that a right answer fails, and a slip that none of them shows."""
    for entry in course_exercise(SLUG).right.of("placing"):
        assert [value == 0 for value in placing_numbers[entry.name]] == DONE_RIGHT
    zero = {name: [value == 0 for value in values] for name, values in placing_numbers.items()}
    assert zero["as_exhibited"] == [False, True, False, False, False, False]
    for slip in ("by_batch_slot", "first_start_for_all", "from_the_end_of_the_table"):
        assert zero[slip] != DONE_RIGHT, slip


def test_the_generating_museum_shows_its_three_slips(museum):
    """Catches an experiment that no longer is upset by the slips that the hints speak of."""
    zero = {name: [value == 0 for value in values] for name, values in museum.items()}
    assert zero["generating_as_exhibited"] == [False] * 4
    assert zero["queries_from_0"] == [False, False, True, True]
    assert zero["values_turned"] == [False, True, True, False]
    assert zero["mask_by_rows"] == [True, False, False, True]
    passing = {name for name, values in zero.items() if all(values)}
    assert PASS_ALL_FOUR | {entry.name for entry in course_exercise(SLUG).right.of("museum")} <= passing


def test_the_museum_pieces_are_known_mistakes():
    """Catches a museum piece that was edited without its wrong solution, by which a learner is told about it."""
    scope = {"torch": torch, "math": math, "rotate": right_answer("rotary"), "print": lambda *_: None}
    known = {entry.name: entry.function for entry in course_exercise(SLUG).wrong.entries}
    for piece, function, name, id in (
        ("placing-museum", "museum_positions", "as_exhibited", "placing"),
        ("museum-piece", "museum_attention", "generating_as_exhibited", "museum"),
    ):
        exec(cell(course_exercise(SLUG).learner, piece), scope)
        args = [
            torch.from_numpy(value).float() if value.dtype == float else torch.from_numpy(value)
            for value in all_cases(id)[0]
        ]
        torch.testing.assert_close(scope[function](*args), known[name](*args), rtol=0, atol=1e-4)


def test_the_museum_piece_is_right_in_training_but_for_its_values():
    """The task says that it trains well: at the positions 0, 1, 2, … two of its slips change nothing."""
    known = {entry.name: entry.function for entry in course_exercise(SLUG).wrong.of("museum")}
    q, k, v, at = *torch.randn(3, 7, 6), torch.arange(7)
    for slip in ("queries_from_0", "mask_by_rows"):
        right = right_answer("museum")(q, k, v, at, at)
        torch.testing.assert_close(known[slip](q, k, v, at, at), right, rtol=0, atol=1e-5)
