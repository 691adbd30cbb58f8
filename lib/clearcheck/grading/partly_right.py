"""Relations of a wrong result that is right in part: cut short, right for the first of a batch, rounded, …"""

from collections.abc import Iterator

import numpy as np

from clearcheck.grading.pair import FEW, Pair

AS_FLOAT32 = 1e-6  # relative: what single precision, a small ε or a difference over a small step leaves


def not_a_number(pair: Pair) -> Iterator[str]:
    if pair.came.shape == pair.right.shape and pair.floats and (np.isnan(pair.came) & np.isfinite(pair.right)).any():
        yield (
            "Your result has nan where it should be finite: 0 is divided by 0, infinity is multiplied by 0, or one "
            "infinity is taken from another."
        )


def other_order(pair: Pair) -> Iterator[str]:
    """The rows of a table of whole numbers, in another order."""
    came, right = pair.came, pair.right
    if came.shape != right.shape or came.ndim != 2 or came.size < FEW or not came.dtype.kind == right.dtype.kind == "i":
        return
    if len(np.unique(right, axis=0)) == len(right) and sorted(came.tolist()) == sorted(right.tolist()):
        yield "Your result holds the right rows in another order."


def unspread(pair: Pair) -> Iterator[str]:
    """Right, but for axes of length 1 that stand for longer ones."""
    came, right = pair.came, pair.right
    if came.ndim != right.ndim or came.size >= right.size:
        return
    axes = [axis for axis in range(came.ndim) if came.shape[axis] != right.shape[axis]]
    if all(came.shape[axis] == 1 for axis in axes) and pair.same(np.broadcast_to(came, right.shape), right):
        which = " and ".join(map(str, axes))
        yield f"Your numbers are right, but axis {which} has length 1 in yours: it should have its full length."


def cut_short(pair: Pair) -> Iterator[str]:
    """The right numbers of one end of an axis alone, or with more than these."""
    came, right = pair.came, pair.right
    differing = [axis for axis in range(came.ndim) if came.ndim == right.ndim and came.shape[axis] != right.shape[axis]]
    if len(differing) != 1 or min(came.size, right.size) < 1 or max(came.size, right.size) < FEW:
        return
    (axis,) = differing
    n, due = came.shape[axis], right.shape[axis]
    ends = ((np.arange(min(n, due)), "end"), (np.arange(-min(n, due), 0), "beginning"))
    for places, word in ends:
        if pair.same(np.take(came, places, axis), np.take(right, places, axis)):
            slip = f"places are missing at its {word}" if n < due else f"there are places too many at its {word}"
            yield f"Your numbers are right as far as they go along axis {axis}, but {slip}."


def rounded(pair: Pair) -> Iterator[str]:
    """Right but for the last digits of double precision."""
    if not pair.comparable or not pair.came.dtype == pair.right.dtype == np.float64 or pair.right.size < FEW:
        return
    if np.abs(pair.came - pair.right).max() <= AS_FLOAT32 * np.abs(pair.right).max():
        yield (
            "Only the last digits of your numbers are wrong: look for single precision on the way, for a small number "
            "that is added, and for a difference over a small step."
        )


def only_the_first(pair: Pair) -> Iterator[str]:
    """Right for the first of a batch, or of the heads, and for no other."""
    if pair.came.shape != pair.right.shape or not pair.telling or pair.right.ndim < 3 or len(pair.right) < 2:
        return
    first, *others = (pair.same(one, other) for one, other in zip(pair.came, pair.right, strict=True))
    if first and not any(others):
        yield "Only the first place along axis 0 is right: do the others get what is theirs?"


def left_at_0(pair: Pair) -> Iterator[str]:
    """Right, but for entries that are 0 and should not be."""
    if not pair.comparable or not pair.telling:
        return
    wrong = ~np.isclose(pair.came, pair.right, rtol=1e-5, atol=pair.close * np.abs(pair.right).max())
    if wrong.any() and not pair.came[wrong].any() and not wrong.all():
        yield "Where your numbers are wrong they are 0: these places are never filled, or something hides too much."
