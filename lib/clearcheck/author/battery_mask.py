"""The entry of the battery on masks: what is hidden counts nothing, however low the scores in sight are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from clearcheck.author.torch_checks import equal_in_float32

FAR = 1e5  # beyond the −10⁴ that is often written for −∞, and small enough for float32
FOR_A_NAME = (1e7,)  # an answer that fails anyway is asked about larger scores, in which −10⁶ shows, too
FINITE = (
    "Where the scores in sight lie at about −{far:,.0f}, your result depends on what is hidden: it has a finite score, "
    "and one in sight can lie below that, whatever the number is. The score of what is hidden should be −∞."
)
NOT_FINITE = (
    "With scores of about ±{far:,.0f}, hidden and in sight alike, some of your outputs are nan or inf; with "
    "ordinary ones they are not. Set the scores of what is hidden to −∞ before the softmax, and do not multiply by the "
    "mask."
)
Change = tuple[tuple, Callable[[np.ndarray], np.ndarray]]


@dataclass(frozen=True)
class Mask:
    """Belongs to the check of this name.

    `draw(rng, factor)` gives the arguments of a call whose scores are multiplied by the factor; `changes(args)` gives
    other arguments that differ in what is hidden alone, each with the part of the output that must not change.
    """

    check: str
    draw: Callable[[np.random.Generator, float], tuple]
    changes: Callable[[tuple], Iterator[Change]]

    def slip(self, ask, rng: np.random.Generator, sizes: tuple[float, ...] = (FAR,)) -> str | None:
        """A sentence where the mask holds with ordinary scores and not with large ones, of these sizes.

        Where it does not hold with ordinary ones, or no array comes, the check itself has more to say.
        """
        if self._kept(ask, self.draw(rng, 1.0)) is not True:
            return None
        state = rng.bit_generator.state
        for factor in (sign * far for far in sizes for sign in (1, -1)):
            rng.bit_generator.state = state  # the same numbers, so that one of the signs puts each score below 0
            kept = self._kept(ask, self.draw(rng, factor))
            if kept is not True:
                return (NOT_FINITE if kept is None else FINITE).format(far=abs(factor))
        return None

    def _kept(self, ask, args: tuple) -> bool | None:
        """Whether what is hidden changes nothing; None where the result is no finite array."""
        before = ask(*args)
        for changed, seen in self.changes(args):
            after = ask(*changed)
            if any(not isinstance(output, np.ndarray) or output.ndim == 0 for output in (before, after)):
                return None
            if not (np.isfinite(seen(before)).all() and np.isfinite(seen(after)).all()):
                return None
            if not equal_in_float32(seen(before), seen(after)):
                return False
        return True


def later_tokens(check: str, draw: Callable[[np.random.Generator], tuple], scores: str) -> Mask:
    """The mask of a module that looks back: axis 1 of its first input and of its output are the tokens.

    `draw(rng)` gives a `module_call` with weights; `scores` names the one by which all scores are multiplied, such as
    "query.weight".
    """

    def draw_scaled(rng: np.random.Generator, factor: float) -> tuple:
        (plan,) = draw(rng)
        return ({**plan, "training": False, "weights": {**plan["weights"], scores: factor * plan["weights"][scores]}},)

    def changes(args: tuple) -> Iterator[Change]:
        (plan,) = args
        first, *rest = plan["calls"][0]
        for place in range(1, first.shape[1]):
            changed = first.copy()
            changed[:, place:] = other_values(first[:, place:])
            yield ({**plan, "calls": [(changed, *rest)]},), partial(_tokens_before, place)

    return Mask(check, draw_scaled, changes)


def _tokens_before(place: int, output: np.ndarray) -> np.ndarray:
    return output[:, :place]


def unseen_by(
    check: str, draw: Callable[[np.random.Generator, float], tuple], change: Callable[[tuple], tuple]
) -> Mask:
    """The mask of a function: `change(args)` gives the arguments with other numbers where the mask hides them.

    `draw(rng, factor)` gives arguments whose scores are multiplied by the factor, with no query that sees nothing.
    """
    return Mask(check, draw, lambda args: iter([(change(args), lambda output: output)]))


def other_values(values: np.ndarray) -> np.ndarray:
    """Other numbers of the same size: those of neighbours with the other sign; of ids the next that occurs."""
    if values.dtype.kind == "f":
        return -np.roll(values, 1, axis=-1) - 0.5
    return (values + 1) % (values.max() + 1)
