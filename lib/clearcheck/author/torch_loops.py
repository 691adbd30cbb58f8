"""Tests for `holds` of a loop that trains a model or writes with one; `draw(rng)` gives the arguments of a call."""

from collections.abc import Callable

import numpy as np

from clearcheck.author.torch_arguments import small_logits
from clearcheck.author.torch_checks import Draw, Test
from clearcheck.grading.compare import Finding
from clearcheck.grading.describe import describe

SAMPLES = 4000
FAR = 5  # standard deviations: once in a million right answers


def learns(
    draw: Callable[[np.random.Generator], tuple[tuple, np.ndarray]],
    steps: int,
    score: Callable,
    threshold: float,
    what: str = "loss",
    smaller: bool = True,
    advice: Callable[[float], str] = lambda value: "",
    kind: str = "",
    merges: bool = False,
) -> Test:
    """The loop takes at most `steps` optimiser steps, and its module scores well on what it has not seen.

    `draw(rng)` gives a `training_call` and the targets of what is held out, for `score(output, targets)`; that
    has to be at most the threshold, or at least, where it is not `smaller` that is better. The module has to be the one
    whose weights the steps have moved. `advice` ends the message: a sentence on what such a score is a sign of. `kind`
    names the class that the module has to have. Where the call asks for what is written, that is scored. A loop that
    `merges` may put what it has trained into the weights of another module.
    """

    def reaches_threshold(value):
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
        if came["steps"] and not came["trained"] and not merges:
            told = "No step of your optimiser has moved a weight of the model that your loop gave"
            return Finding(f"{told}: train the model that you return.", unlearned=not came["moved"])
        whole = float(score(output, targets))
        value = float(score(came["written"], targets)) if "written" in came else whole
        if reaches_threshold(value):
            return None
        if reaches_threshold(whole):
            return _sees_what_comes_after(what, whole, value)
        taken = f"After {came['steps']} optimiser steps"
        asked = f"{'at most' if smaller else 'at least'} {threshold:g} is asked for"
        seen = f"{taken} the {what} on examples that your loop has not seen is {value:.3g}; {asked}."
        return Finding(f"{seen} {advice(value)}".rstrip(), unlearned=True)

    return test


def _sees_what_comes_after(what: str, whole: float, written: float) -> str:
    return (
        f"Shown whole rows your model does well, {what} {whole:.3g}; shown no more than has been written, it "
        f"does not, {written:.3g}. A position sees what comes after it: is the mask of your model causal?"
    )


def obeys_steps(draw: Callable, shape_of: Callable[[np.ndarray], tuple], few: int = 12) -> Test:
    """Given `few` steps as its last argument the loop takes no more, with an optimiser that remembers those before, and
    the output of its module has its shape.

    Of so many a loop that takes but a part, such as a third, takes several, so that a new optimiser for each is seen.
    """

    def test(ask, rng):
        (plan,), targets = draw(rng)
        came = ask({**plan, "arguments": (*plan["arguments"][:-1], few)})
        if not 0 < came["steps"] <= few:
            return f"With steps={few} your loop took {came['steps']} steps of an optimiser of `torch.optim`."
        if slip := forgetful_slip(came):
            return slip
        shape, gave = shape_of(targets), np.shape(came["output"])
        return None if gave == shape else f"The model should give scores of shape {shape}; it gave {gave}."

    return test


def forgetful_slip(came: dict) -> str | None:
    """A sentence when what was called with a `training_call` made an optimiser for each of several steps."""
    if not came["steps"] == came["optimizers"] > 1:
        return None
    taken = f"Your loop made {came['optimizers']} optimisers for {came['steps']} steps"
    return f"{taken}, and a new one remembers nothing of the steps before: make one before the loop."


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
    `probabilities(logits, *rest)` takes the logits of its last position and the arguments after the prompt.
    """

    def test(ask, rng):
        (plan,) = draw(rng)
        prompt, *rest = plan["arguments"]
        came = ask({**plan, "arguments": (np.repeat(prompt, SAMPLES, axis=0), *rest)})
        expected = probabilities(small_logits(plan["model"], prompt)[0, -1], *rest)
        shape = (SAMPLES, prompt.shape[1] + 1)
        if not isinstance(came, np.ndarray) or came.shape != shape:
            return f"Your function should return ids of shape {shape}; it returned {describe(came, 'a tensor')}."
        if came.dtype.kind not in "iu":
            return f"Your function returned numbers of dtype {came.dtype}; integer numbers are expected."
        low, high = int(came[:, -1].min()), int(came[:, -1].max())
        if low < 0 or high >= len(expected):
            wrote = low if low < 0 else high
            return f"Your function wrote the token {wrote}; the model knows the tokens 0 to {len(expected) - 1}."
        counts = np.bincount(came[:, -1], minlength=len(expected))
        far = np.abs(counts - SAMPLES * expected) > FAR * np.sqrt(SAMPLES * expected * (1 - expected)) + 0.5
        if not far.any():
            return None
        few = {**plan, "arguments": (np.repeat(prompt, 2, axis=0), *rest)}
        if counts.max() == SAMPLES and any(ask({**few, "seed": seed})[0, -1] != came[0, -1] for seed in range(1, 40)):
            return f"In {SAMPLES:,} samples all rows were continued alike: draw for each row by itself."
        token = int(np.argmax(far))
        often = "often" if counts[token] > SAMPLES * expected[token] else "seldom"
        return f"In {SAMPLES:,} samples the token {token} came {counts[token]:,} times: too {often}."

    return test
