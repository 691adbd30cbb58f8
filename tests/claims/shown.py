"""How the numbers of a case are shown to readers: the lowest and the highest of the seeds."""

import math
from collections.abc import Iterable

RUNAWAY = 100  # more is no share, not in per cent either, and no loss but that of a training that runs away


def decimals(found: Iterable[float]) -> int:
    """None for counts, which are whole numbers, one of them above 1; two for losses and shares."""
    finite = [it for it in found if math.isfinite(it)]
    return 0 if finite and max(finite) > 1 and all(it.is_integer() for it in finite) else 2


def span(found: list[float], places: int, runaway: float = RUNAWAY) -> str:
    """The lowest and the highest of some numbers, or the one number that both are when rounded.

    A loss above ``runaway`` has run away and is ∞, and where no seed gives a number there is a dash.
    """
    if all(math.isnan(it) for it in found):
        return "–"
    ends = [it if it <= runaway or not places else math.inf for it in found]  # not a number is one as well
    low, high = ("∞" if it == math.inf else f"{it:z.{places}f}" for it in (min(ends), max(ends)))
    return low if low == high else f"{low}–{high}"
