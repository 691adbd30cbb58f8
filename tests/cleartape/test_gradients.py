"""The tape: gradients of plain NumPy functions against differences, and a clear error where it cannot follow."""

import contextlib
from collections import namedtuple

import numpy as np
import pytest
from cleartape.gradients import value_and_gradients


def fill_rows(x):
    made = np.zeros(x.shape)
    for i, row in enumerate(x):
        made[i] = row * i
        made[i, 0] += x[0, 1] ** 2
    return made


def masked_softmax(x):
    scores = x.T @ x
    scores[np.tri(len(scores)) == 0] = -np.inf
    powers = np.exp(scores - scores.max(axis=0))
    return powers / powers.sum(axis=0, keepdims=True)


def divided_where(x):
    return np.divide(x, x[:1], out=np.zeros_like(x), where=x > 0)


def masked_by(mask):
    """Causal attention as it is often written, with the mask made in one way or another."""

    def function(x):
        scores = x.T @ x
        scores[~mask(scores)] = -np.inf
        powers = np.exp(scores - np.maximum.reduce(scores))
        return powers / np.add.reduce(powers)

    return function


FUNCTIONS = {
    "arithmetic": lambda x: (2 - x) / (x * x + 1) - -x + x**3 + 1 / (3 + x),
    "ufuncs": lambda x: np.exp(x) + np.sin(x) * np.cos(x) + np.tanh(x) + np.sqrt(x * x + 1) + np.log(2 + x * x),
    "broadcasting": lambda x: x * x[:, :1] + x[0] - x.mean(axis=1, keepdims=True) + x.sum(),
    "extremes": lambda x: np.maximum(x, 0.1) + np.max(x, axis=0) + x.min() + np.abs(x) + np.clip(x, -0.5, 0.5),
    "spread": lambda x: (x - np.mean(x, axis=0)) / (np.std(x, axis=0) + x.var(axis=1, ddof=1)[:, None]),
    "products": lambda x: x @ x.T @ x[:, 0] + np.dot(x[:, 1], x[:, 2]) + np.outer(x[0], x[1]).sum(),
    "batches": lambda x: x.reshape(1, *x.shape) @ np.stack([x.T, 2 * x.T]),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x) + np.einsum("ij->i", x),
    "moved": lambda x: np.moveaxis(x[None], 0, 2)[..., 0] * np.roll(x, 1, axis=0) + x.T[::-1].T,
    "split": lambda x: x * np.split(x, 2, axis=1)[0].sum() + np.repeat(x[:, :1], 4, axis=1),
    "joined": lambda x: np.concatenate([x, np.hstack([x[:, :2], x[:, 2:]]), np.array([x[0], x[1]])]) ** 2,
    "chosen": lambda x: x[[0, 2, 0], [1, 1, 3]] * np.where(x > 0, x, x * x)[:, 0] + np.take(x, [1, 1, 0]),
    "in place": lambda x: fill_rows(x) * x,
    "masked": masked_softmax,
    "masked by ones of bool": masked_by(lambda scores: np.triu(np.ones_like(scores, dtype=bool))),
    "masked by a change of type": masked_by(lambda scores: np.triu(np.ones(scores.shape)).astype(bool)),
    "masked by whole numbers": masked_by(lambda scores: np.triu(np.full_like(scores, 1, int)) == 1),
    "options by name": lambda x: np.clip(a=x, a_min=-0.5, a_max=0.5) + np.clip(x, min=-0.5) + np.clip(x, max=0.5),
    "options by place": lambda x: np.std(x, 0) + np.sum(a=x, axis=0) + np.dot(x, 2.0) + x.astype(float),
    "divided where": divided_where,
    "lists": lambda x: sum(np.asarray([row @ row for row in x])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_agree_with_differences(name):
    """Catches a wrong derivative: the change along a direction, measured and predicted."""
    rng = np.random.default_rng(4)
    x, direction = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    weights = rng.normal(size=np.shape(FUNCTIONS[name](x)))

    def loss(x):
        return (FUNCTIONS[name](x) * weights).sum()

    value, gradient = value_and_gradients(loss, x)
    measured = (loss(x + 1e-6 * direction) - loss(x - 1e-6 * direction)) / 2e-6
    assert value == pytest.approx(loss(x), rel=1e-12)
    assert (gradient * direction).sum() == pytest.approx(measured, rel=1e-6, abs=1e-7)


def test_trees_keep_their_form_and_their_numbers():
    """Catches a gradient for whole numbers, a list that became a tuple, and a parameter that was written into."""
    p = {"a": [np.ones(2), (np.full(3, 2.0),)], "ids": np.array([1, 0]), "unused": np.ones((2, 2))}

    def loss(p):
        p["a"][0] *= 3
        return (p["a"][0][p["ids"]] * np.array([1.0, 5.0])).sum() + (p["a"][1][0] ** 2).sum()

    value, gradients = value_and_gradients(loss, p)
    assert value == 30 and p["a"][0].tolist() == [1, 1]
    assert gradients["a"][0].tolist() == [15, 3] and gradients["a"][1][0].tolist() == [4, 4, 4]
    assert gradients["unused"].tolist() == [[0, 0], [0, 0]] and gradients["ids"] is p["ids"]


def test_a_named_tuple_stays_one():
    Pair = namedtuple("Pair", ["a", "b"])
    value, gradients = value_and_gradients(lambda p: (p.a * p.b).sum(), Pair(np.ones(2), np.full(2, 3.0)))
    assert value == 6 and gradients.a.tolist() == [3, 3] and gradients.b.tolist() == [1, 1]


def doubled_rows(x):
    y = np.exp(x)
    for row in y.reshape(1, 3):
        row *= 2
    return y.sum()


def doubled_part(x):
    y = np.exp(x)
    part = y[:2]
    part[...] = 0
    return (y * y).sum()


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (doubled_rows, "came to 8.15485, .* without it to 16.3097: .* taken out before"),
        (doubled_part, "taken out before"),
        (lambda x: np.average(x, weights=[1, 2, 3]), "cannot follow np.average"),
        (lambda x: np.max(x, initial=5.0), "cannot follow np.max with initial"),
        (lambda x: np.add.reduce(x, where=x > 2), "cannot follow np.add.reduce"),
        (lambda x: np.sum(x[None], axis=1, out=np.zeros(1)).sum(), "cannot follow np.sum with axis, out"),
        (lambda x: np.einsum("ii->", x[:, None] * x), "once in each term"),
        (lambda x: float(x[0]) * x.sum(), "turned into a plain number"),
        (lambda x: np.fft.fft(x).sum(), "cannot follow np.fft"),
        (lambda x: np.sinh(x).sum(), "cannot follow np.sinh"),
        (lambda x: x, "one number"),
        (lambda x: 3.0, "one number"),
    ],
)
def test_what_it_cannot_follow_is_said(loss, sentence):
    """Catches a gradient that is lost in silence; and NumPy is as it was afterwards."""
    before = np.zeros
    with pytest.raises(TypeError, match=sentence):
        value_and_gradients(loss, np.ones(3))
    assert np.zeros is before and isinstance(np.zeros(2), np.ndarray)


def test_at_a_tie_each_side_of_an_extreme_has_half():
    """Catches a gradient that one side has whole, or both."""
    for extreme in (np.maximum, np.minimum):
        _, gradient = value_and_gradients(
            lambda x, extreme=extreme: extreme(x[0] * 3, x[1] * 5).sum(), np.array([5.0, 3.0])
        )
        np.testing.assert_allclose(gradient, [1.5, 2.5])


def test_random_numbers_are_drawn_as_by_one_call():
    """Catches a comparison with other numbers, one call more that moves a generator on, and a crash of the process.

    The compiled code of ``np.random`` asks for room by ``np.empty``, and cannot write into what holds notes.
    """

    def loss(x, generator):
        return (x * (generator.random(3) + np.random.normal(size=3))).sum()

    np.random.seed(2)
    ours, theirs = np.random.default_rng(1), np.random.default_rng(1)
    value, _ = value_and_gradients(loss, np.ones(3), ours)
    after = np.random.rand(), ours.random()
    np.random.seed(2)
    assert value == pytest.approx(loss(np.ones(3), theirs), rel=1e-12)
    assert after == (np.random.rand(), theirs.random())


@pytest.mark.parametrize(("drawn", "ends"), [((1, 5), contextlib.nullcontext()), ((1,), pytest.raises(StopIteration))])
def test_the_call_without_the_tape_leaves_the_random_numbers_where_they_were(drawn, ends):
    """Catches a state that is not put back after a function that draws more the second time, or raises then."""
    sizes = iter(drawn)

    def loss(x):
        np.random.normal(size=next(sizes))
        return (x * x).sum()

    np.random.seed(2)
    with ends:
        value_and_gradients(loss, np.ones(3))
    after = np.random.rand()
    np.random.seed(2)
    np.random.normal(size=1)
    assert after == np.random.rand()


def test_a_function_with_a_generator_of_its_own_is_followed():
    """Catches two calls that differ taken for a change that the tape missed."""
    generator = np.random.default_rng(1)
    value, gradient = value_and_gradients(lambda x: (x * generator.random(3)).sum(), np.ones(3))
    assert value == pytest.approx(gradient.sum())
