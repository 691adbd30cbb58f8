"""The examples by hand in the tasks of exercise 05, whose results are no single matrix."""

import numpy as np
import pytest

from tests.exercises.authored import authored, cell

SLUG = "05-feed-forward"


def answer(id, *args):
    return authored(SLUG).right.of(id)[0].function(*args)


def task_of(id: str) -> str:
    return " ".join(cell(authored(SLUG).learner, f"{id}-task").split())


def test_two_tokens_through_the_network():
    X, W_1, b_1 = np.array([[1.0, 1], [0, 1]]), np.ones((2, 2)), np.array([0.0, -1])
    Y = answer("mlp", X, W_1, b_1, np.array([[1.0, -2], [0, 1]]), np.array([0.0, 5]))
    (one, two), (three, four) = Y.T.astype(int)
    assert f"the outputs are ({one}, {two}) and ({three}, {four})" in task_of("mlp")


def test_the_gelu_at_zero_and_one():
    values, slopes = answer("gelu", np.array([0.0, 1.0]))
    text = task_of("gelu")
    assert f"GELU(0) = {values[0]:.0f} with the slope {slopes[0]:.1f}" in text
    assert f"GELU(1) = {values[1]:.3f} with the slope {slopes[1]:.3f}" in text


@pytest.mark.parametrize(("wanted", "bias"), [([0, 1, 0], "[0]"), ([5, 6, 5], "[5]")])
def test_two_lamps(wanted, bias):
    _, _, W_2, b_2 = answer("lamp", np.array(wanted, dtype=float))
    assert W_2.tolist() == [[1, -2]] and b_2.astype(int).tolist() == eval(bias)
    assert f"`{wanted}`" in task_of("lamp") and bias in task_of("lamp")


def test_three_records():
    Y, experiments = np.array([[4.0, 7]]), []
    for name, chosen, came in (
        ("position-wise", [1, 0], [[7, 4]]),
        ("equivariant", [0, 0], [[4, 5]]),
        ("neither", [1, 0], [[4, 7]]),
    ):
        experiments.append((chosen, np.array(came, dtype=float)))
        assert answer("position-wise", Y, experiments) == name
        assert f"`({chosen}, {came})`" in task_of("position-wise")


def test_two_layers_of_width_one():
    stack = [(np.full((1, 1, 1), 2.0), np.ones(1)), (np.array([[[1.0]], [[3.0]]]), np.full(1, 10.0))]
    W, c = answer("lone-token", stack)
    assert f"W = [[{W[0, 0]:.0f}]] and c = [{c[0]:.0f}]" in task_of("lone-token")


def test_a_small_block():
    found = list(answer("counts", 10, 2, 40, 5).values())
    numbers = f"{found[0]} and {found[1]} parameters, 5 000 and 8 000 operations, even at {found[4]}"
    assert found[2:4] == [5000, 8000] and numbers in task_of("counts")


def test_the_museum_piece_is_the_known_mistake():
    """Catches a museum piece that was edited without its wrong solution, by which a learner is told about it."""
    scope = {"np": np, "relu": lambda z: np.maximum(z, 0)}
    exec(cell(authored(SLUG).learner, "backward-museum"), scope)
    rng = np.random.default_rng(5)
    arguments = [rng.normal(size=shape) for shape in ((4, 7), (9, 4), (9,), (4, 9), (4, 7))]
    known = next(entry for entry in authored(SLUG).wrong.of("backward") if entry.name == "museum_piece")
    pairs = zip(scope["museum_backward"](*arguments), known.function(*arguments), strict=True)
    assert all(np.allclose(ours, theirs, rtol=0, atol=1e-12) for ours, theirs in pairs)
