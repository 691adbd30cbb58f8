"""Tests for `holds` in questions about PyTorch: each gives a sentence where its property does not hold.

`draw(rng)` gives the arguments of a call, of `torch_arguments`.
"""

from collections.abc import Callable
from math import prod

import numpy as np

from clearcheck.author.torch_arguments import small_logits
from clearcheck.grading.describe import describe
from clearcheck.grading.question import AnswerProblem
from clearcheck.grading.replies import CLOSE_IN_FLOAT32

SAMPLES = 4000
SHORT, LONG = 32, 64  # tokens of two texts
FAR = 5  # standard deviations: once in a million right answers

Draw = Callable[[np.random.Generator], tuple]
Test = Callable[[Callable, np.random.Generator], str | None]


def dropout_acts(draw: Draw) -> Test:
    """In train() mode two calls on the same input differ, in eval() mode they do not."""

    def test(ask, rng):
        (plan,) = draw(rng)
        twice = 2 * [plan["calls"][0]]
        one, other = _outputs(ask, {**plan, "training": False}, twice, axes=1)
        if not _alike(one, other):
            return "In eval() mode your module gives two results for the same input: dropout should rest there."
        one, other = _outputs(ask, {**plan, "training": True}, twice, axes=1)
        if _alike(one, other):
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


def causal(draw: Draw) -> Test:
    """What stands later does not change an output: axis 1 of the first input and of the output are the tokens."""

    def test(ask, rng):
        (plan,) = draw(rng)
        first, *rest = plan["calls"][0]
        tokens = first.shape[1]
        places = range(1, tokens)
        changed = [(_other(first, (slice(None), slice(place, None))), *rest) for place in places]
        before, *after = _outputs(ask, plan, [(first, *rest), *changed], axes=2)
        if not all(np.isfinite(output).all() for output in (before, *after)):
            return (
                "Some of your outputs are nan or inf, so nothing can be said of later tokens. Where scores are large, "
                "all weight may have lain on tokens that you take away: do not divide by what is left of it."
            )
        for place, output in zip(places, after, strict=True):
            if not _alike(before[:, :place], output[:, :place]):
                return (
                    f"Of {tokens} tokens those from place {place} on were changed, and outputs at earlier places "
                    "changed too: an output may look at its own token and at earlier ones alone."
                )
        return None

    return test


def rows_independent(draw: Draw) -> Test:
    """A row of the batch, axis 0 of the first input and of the output, does not change another."""

    def test(ask, rng):
        (plan,) = draw(rng)
        first, *rest = plan["calls"][0]
        rows = len(first)
        changed = [(_other(first, row), *rest) for row in range(rows)]
        before, *after = _outputs(ask, plan, [(first, *rest), *changed], axes=1)
        for row, output in enumerate(after):
            kept = np.arange(rows) != row
            if not _alike(before[kept], output[kept]):
                return f"Row {row} of the batch was changed, and the outputs of other rows changed too."
        return None

    return test


def keeps(draw: Callable[[np.random.Generator, int], tuple], per_token: Callable[..., int], what: str) -> Test:
    """What the module keeps grows with a text by at most half more than `per_token(**sizes)` numbers a token.

    `draw(rng, n)` gives the arguments of calls that bring one text of n tokens; half more, since a cache may have room.
    """

    def test(ask, rng):
        (short,), (long,) = draw(rng, SHORT), draw(rng, LONG)
        grown = (ask({**long, "gives": "kept"}) - ask({**short, "gives": "kept"})) / (LONG - SHORT)
        enough = per_token(**short["sizes"])
        if grown <= 1.5 * enough:
            return None
        return f"With each token your module keeps {grown:.4g} numbers more; {enough} are enough: {what}."

    return test


def gradients_everywhere(draw: Draw) -> Test:
    """A gradient that is not zero reaches every parameter."""

    def test(ask, rng):
        (plan,) = draw(rng)
        for name, gradient in ask({**plan, "gives": "gradients"}).items():
            if not name.startswith("input ") and not (isinstance(gradient, np.ndarray) and gradient.any()):
                return f"No gradient reaches the parameter `{name}`: the output does not depend on it."
        return None

    return test


def learns(
    draw: Callable[[np.random.Generator], tuple[tuple, np.ndarray]],
    steps: int,
    score: Callable,
    threshold: float,
    what: str = "loss",
    smaller: bool = True,
    advice: Callable[[float], str] = lambda value: "",
    kind: str = "",
) -> Test:
    """The loop takes at most `steps` optimiser steps, and its module scores well on what it has not seen.

    `draw(rng)` gives a `training_call` and the targets of what is held out, for `score(output, targets)`; that
    has to be at most the threshold, or at least, where it is not `smaller` that is better. `advice` ends the message: a
    sentence on what such a score is a sign of. `kind` names the class that the module has to have. Where the call asks
    for what is written, that is scored.
    """

    def enough(value):
        return value <= threshold if smaller else value >= threshold

    def test(ask, rng):
        args, targets = draw(rng)
        came = ask(*args)
        if came["steps"] > steps:
            return f"Your loop took {came['steps']} optimiser steps; at most {steps} are allowed."
        output = came["output"]
        if not isinstance(output, np.ndarray) or len(output) != len(targets):
            came = describe(output, "a tensor")
            return f"Your model should give a tensor of shape ({len(targets)}, …) for as many examples; it gave {came}."
        if kind and kind not in came["kinds"]:
            return f"Your loop gave a model of the class {came['kinds'][0]}; train your `{kind}`."
        whole = float(score(output, targets))
        value = float(score(came["written"], targets)) if "written" in came else whole
        if enough(value):
            return None
        if enough(whole):
            return (
                f"Shown whole rows your model does well, {what} {whole:.3g}; shown no more than has been written, it "
                f"does not, {value:.3g}. A place sees what comes after it: is the mask of your model causal?"
            )
        taken = f"After {came['steps']} optimiser steps"
        asked = f"{'at most' if smaller else 'at least'} {threshold:g} is asked for"
        seen = f"{taken} the {what} on examples that your loop has not seen is {value:.3g}; {asked}."
        return f"{seen} {advice(value)}".rstrip()

    return test


def obeys_steps(draw: Callable, shape_of: Callable[[np.ndarray], tuple], few: int = 3) -> Test:
    """Given `few` steps as its last argument the loop takes no more, and the output of its module has its shape."""

    def test(ask, rng):
        (plan,), targets = draw(rng)
        came = ask({**plan, "arguments": (*plan["arguments"][:-1], few)})
        if not 0 < came["steps"] <= few:
            return f"With steps={few} your loop took {came['steps']} steps of an optimiser."
        shape, gave = shape_of(targets), np.shape(came["output"])
        return None if gave == shape else f"The model should give scores of shape {shape}; it gave {gave}."

    return test


def generates_quietly(draw: Draw) -> Test:
    """The model is called in eval() mode and without gradients, and is left in the mode in which it came."""

    def test(ask, rng):
        (plan,) = draw(rng)
        record = ask({**plan, "training": True, "gives": "record"})
        if not record["shapes"]:
            return "Your function never called the model."
        if any(record["training"]):
            return "The model was called in train() mode, in which dropout acts: call model.eval() before."
        if any(record["gradients"]):
            return "Gradients were kept while the model wrote: put the calls under torch.no_grad()."
        if ask({**plan, "training": False, "gives": "record"})["left"]:
            return "A model that came in eval() mode was left in train() mode: go back to the mode it came in."
        return None

    return test


def samples_follow(draw: Draw, probabilities: Callable[..., np.ndarray]) -> Test:
    """The one token that is written after a prompt comes with the right probability.

    `draw(rng)` gives a `generation_call` whose first argument is a prompt of shape (1, N), and that asks for one token.
    `probabilities(logits, *rest)` takes the logits of its last place and the arguments after the prompt.
    """

    def test(ask, rng):
        (plan,) = draw(rng)
        prompt, *rest = plan["arguments"]
        came = ask({**plan, "arguments": (np.repeat(prompt, SAMPLES, axis=0), *rest)})
        expected = probabilities(small_logits(plan["model"], prompt)[0, -1], *rest)
        shape = (SAMPLES, prompt.shape[1] + 1)
        if not isinstance(came, np.ndarray) or came.shape != shape:
            return f"Your function should return ids of shape {shape}; it returned {describe(came, 'a tensor')}."
        counts = np.bincount(came[:, -1], minlength=len(expected))
        far = np.abs(counts - SAMPLES * expected) > FAR * np.sqrt(SAMPLES * expected * (1 - expected)) + 0.5
        if not far.any():
            return None
        token = int(np.argmax(far))
        often = "often" if counts[token] > SAMPLES * expected[token] else "seldom"
        return f"In {SAMPLES:,} samples the token {token} came {counts[token]:,} times: too {often}."

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


def _other(values: np.ndarray, place) -> np.ndarray:
    """Other values at a place: numbers are shifted, ids are exchanged for others that occur."""
    changed = values.copy()
    if values.dtype.kind == "f":
        changed[place] = values[place] + 1.0 + np.arange(values[place].size).reshape(values[place].shape) % 3
    else:
        changed[place] = (values[place] + 1) % (values.max() + 1)
    return changed


def _alike(one, other) -> bool:
    scale = max(1.0, float(np.abs(one[np.isfinite(one)]).max(initial=0)))
    return bool(np.allclose(one, other, rtol=0, atol=CLOSE_IN_FLOAT32 * scale, equal_nan=True))
