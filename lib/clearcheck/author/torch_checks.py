"""Tests for `holds` of a module of PyTorch: each gives a sentence where its property does not hold.

`draw(rng)` gives the arguments of a call, of `torch_arguments`.
"""

from collections.abc import Callable
from math import prod

import numpy as np

from clearcheck.grading.describe import describe
from clearcheck.grading.question import AnswerProblem
from clearcheck.grading.replies import CLOSE_IN_FLOAT32

LENGTHS = range(32, 65, 8)  # tokens of texts

Draw = Callable[[np.random.Generator], tuple]
Test = Callable[[Callable, np.random.Generator], str | None]
RESTLESS = (
    "In eval() mode your module gives two results for the same input: dropout should rest there, and no call should "
    "change the next one."
)


def dropout_acts(draw: Draw) -> Test:
    """In train() mode two calls on the same input differ, in eval() mode they do not."""

    def test(ask, rng):
        (plan,) = draw(rng)
        twice = 2 * [plan["calls"][0]]
        one, other = _outputs(ask, {**plan, "training": False}, twice, axes=1)
        if not equal_in_float32(one, other):
            return RESTLESS
        one, other = _outputs(ask, {**plan, "training": True}, twice, axes=1)
        if equal_in_float32(one, other):
            return "In train() mode your module gives the same result twice: dropout should act there."
        return None

    return test


def parameter_count(draw: Draw, count: Callable[..., int]) -> Test:
    """The parameters are as many as `count(**sizes)`."""

    def test(ask, rng):
        (plan,) = draw(rng)
        shapes = ask({**plan, "weights": None, "calls": [], "gives": "parameters"})
        came = sum(map(prod, shapes.values()))
        expected = count(**plan["sizes"])
        sizes = ", ".join(f"{name}={value}" for name, value in plan["sizes"].items())
        few = "few" if came < expected else "many"
        return None if came == expected else f"With {sizes} your module has {came:,} parameters: too {few}."

    return test


def causal(*draws: Draw) -> Test:
    """What stands later does not change an output: axis 1 of the first input and of the output are the tokens.

    Of several draws each is tried: ordinary scores show a mask that comes after the softmax, very large ones what is
    divided by too little.
    """

    def test(ask, rng):
        return next(filter(None, (_later_tokens(draw, ask, rng) for draw in draws)), None)

    return test


def _later_tokens(draw: Draw, ask, rng) -> str | None:
    (plan,) = draw(rng)
    first, *rest = plan["calls"][0]
    tokens = first.shape[1]
    places = range(1, tokens)
    changed = [(_other_values(first, (slice(None), slice(place, None))), *rest) for place in places]
    before, again, *after = _outputs(ask, plan, [*2 * [(first, *rest)], *changed], axes=2)
    if not all(np.isfinite(output).all() for output in (before, *after)):
        return (
            "Some of your outputs are nan or inf, so nothing can be said of later tokens. Where scores are large, "
            "all weight may have lain on tokens that you take away: do not divide by what is left of it."
        )
    if not equal_in_float32(before, again):
        return RESTLESS
    for place, output in zip(places, after, strict=True):
        if not equal_in_float32(before[:, :place], output[:, :place]):
            return (
                f"Of {tokens} tokens those from position {place} on were changed, and outputs at earlier positions "
                "changed too: an output may look at its own token and at earlier ones alone."
            )
    return None


def rows_independent(draw: Draw) -> Test:
    """A row of the batch, axis 0 of the first input and of the output, does not change another."""

    def test(ask, rng):
        (plan,) = draw(rng)
        first, *rest = plan["calls"][0]
        rows = len(first)
        changed = [(_other_values(first, row), *rest) for row in range(rows)]
        before, again, *after = _outputs(ask, plan, [*2 * [(first, *rest)], *changed], axes=1)
        if not equal_in_float32(before, again):
            return RESTLESS
        for row, output in enumerate(after):
            kept = np.arange(rows) != row
            if not equal_in_float32(before[kept], output[kept]):
                return f"Row {row} of the batch was changed, and the outputs of other rows changed too."
        return None

    return test


def keeps(draw: Callable[[np.random.Generator, int], tuple], per_token: Callable[..., int], what: str) -> Test:
    """What the module keeps grows with a text by at most half more than `per_token(**sizes)` numbers a token.

    `draw(rng, n)` gives the arguments of calls that bring one text of n tokens. A cache may have room: one that is
    filled token by token and gets twice the room whenever it is full grows up to two times as fast, but somewhere on
    the way not at all.
    """

    def test(ask, rng):
        plans = [draw(rng, n)[0] for n in LENGTHS]
        kept = [ask({**plan, "gives": "kept"}) for plan in plans]
        grown, enough = (kept[-1] - kept[0]) / (LENGTHS[-1] - LENGTHS[0]), per_token(**plans[0]["sizes"])
        if grown <= (2.5 if min(np.diff(kept)) <= 0 else 1.5) * enough:
            return None
        return f"With each token your module keeps {grown:.4g} numbers more; {enough} are enough: {what}."

    return test


def gradients_everywhere(draw: Draw) -> Test:
    """A gradient that is not zero reaches every parameter."""

    def test(ask, rng):
        (plan,) = draw(rng)
        for name, gradient in ask({**plan, "gives": "gradients"}).items():
            if not name.startswith("input ") and not (isinstance(gradient, np.ndarray) and gradient.any()):
                told = f"No gradient reaches the parameter `{name}`"
                return f"{told}: the output does not depend on it, or it was detached on the way."
        return None

    return test


def _outputs(ask, plan: dict, calls: list[tuple], axes: int) -> list[np.ndarray]:
    """The output of each call. Raises: AnswerProblem where it does not begin with so many axes of the first input."""
    outputs = ask({**plan, "calls": calls})
    start = calls[0][0].shape[:axes]
    for output in outputs:
        if not isinstance(output, np.ndarray) or output.shape[:axes] != start:
            sizes = ", ".join(map(str, start))
            came = describe(output, "a tensor")
            raise AnswerProblem(f"Your module should give one tensor of shape ({sizes}, …); it gave {came}.")
    return outputs


def _other_values(values: np.ndarray, place) -> np.ndarray:
    """Other values at a place: numbers are shifted, ids are exchanged for others that occur."""
    changed = values.copy()
    if values.dtype.kind == "f":
        changed[place] = values[place] + 1.0 + np.arange(values[place].size).reshape(values[place].shape) % 3
    else:
        changed[place] = (values[place] + 1) % (values.max() + 1)
    return changed


def equal_in_float32(one, other) -> bool:
    scale = max(1.0, float(np.abs(one[np.isfinite(one)]).max(initial=0)))
    return bool(np.allclose(one, other, rtol=0, atol=CLOSE_IN_FLOAT32 * scale, equal_nan=True))
