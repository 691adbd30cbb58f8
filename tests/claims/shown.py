"""How the numbers of a case are shown to readers: the lowest and the highest of the seeds."""

import math
from collections.abc import Iterable

LONG = 1_000_000  # from here on a number is shown by its power of ten
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def decimals(found: Iterable[float]) -> int:
    """None for counts, which are whole numbers, one of them above 1; two for losses and shares."""
    finite = [it for it in found if math.isfinite(it)]
    return 0 if finite and max(finite) > 1 and all(it.is_integer() for it in finite) else 2


def span(found: list[float], places: int) -> str:
    """The lowest and the highest of some numbers, or the one number that both are when rounded.

    Where some seeds give no number, the highest is ∞, and where none does there is a dash.
    """
    if all(math.isnan(it) for it in found):
        return "–"
    ends = [math.inf if math.isnan(it) else it for it in found]
    low, high = written(min(ends), places), written(max(ends), places)
    return low if low == high else f"{low}–{high}"


def written(number: float, places: int) -> str:
    """A number as long as its size asks for. Only what is not finite is ∞: a loss that ran away shows how far."""
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    if abs(number) >= LONG:
        mantissa, power = f"{number:.1e}".split("e+")
        return f"{mantissa} · 10{str(int(power)).translate(RAISED)}"
    return f"{number:z,.{places if abs(number) < 1000 else 0}f}"
