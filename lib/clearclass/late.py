"""What being late costs: a policy in a few words, and what it takes off the points of one file."""

import math
import re
from dataclasses import dataclass
from datetime import timedelta

from clearcheck.notebooks.escaping import one_line

UNITS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
NUMBER = r"(\d{1,4}(?:\.\d{1,3})?)"
RATE = re.compile(rf"{NUMBER}\s*(%|percent|points?)\s+(?:an?|per|each)\s+(hour|day|week)", re.I)
MOST = re.compile(r"at most (\d{1,4})(?:\s*(hour|day|week)s?)?", re.I)
FREE = re.compile(r"(\d{1,4})\s*(minute|hour|day)s? free", re.I)
NOTHING = re.compile(r"nothing after (\d{1,4})\s*(hour|day|week)s?", re.I)
FORMS = (
    '"10% a day" (of the most points that there are) or "2 points an hour" is expected, and behind it, if you like, '
    '", at most 3" (no more than three are counted), ", 15 minutes free" (nothing is taken off within them), '
    '", nothing after 7 days" (no points from then on)'
)


class LateProblem(ValueError):
    """A policy, or when things were handed in, cannot be used; the text says what is expected."""


@dataclass(frozen=True)
class LatePolicy:
    """So much for each unit that has begun."""

    text: str
    rate: float
    percent: bool
    unit: str
    most: int | None = None
    free: timedelta = timedelta()
    nothing_after: timedelta | None = None

    def units(self, late: timedelta) -> int:
        """How many units are counted for a delay."""
        if late <= max(self.free, timedelta()):
            return 0
        begun = math.ceil(late / UNITS[self.unit])
        return begun if self.most is None else min(begun, self.most)


@dataclass(frozen=True)
class Lateness:
    """How late one file is, and by which policy that costs points."""

    policy: LatePolicy
    late: timedelta | None  # None: late, nobody knows by how much
    told: str  # how late, in words

    @property
    def units(self) -> int:
        return self.policy.units(UNITS[self.policy.unit] if self.late is None else self.late)

    def taken_off(self, points: float, most: float) -> float:
        """Of these points, where there are so many at most: never more than there are."""
        after = self.policy.nothing_after
        if after is not None and self.late is not None and self.late > after:
            return max(points, 0)
        one = self.policy.rate * most / 100 if self.policy.percent else self.policy.rate
        return plain_number(min(one * self.units, max(points, 0)))


def parse_policy(text: str) -> LatePolicy:
    """Raises: LateProblem."""
    rate, *more = [part.strip() for part in text.split(",")]
    found = RATE.fullmatch(rate)
    if not found:
        raise LateProblem(f"{one_line(rate)!r} is no policy for late work: {FORMS}.")
    unit, settled = found[3].lower(), {}
    for part in more:
        key, value = _clause(part, unit)
        if key in settled:
            raise LateProblem(f"{one_line(text)!r} says twice what is {key}: {FORMS}.")
        settled[key] = value
    return LatePolicy(
        text=" ".join(text.split()),
        rate=float(found[1]),
        percent=not found[2].lower().startswith("point"),
        unit=unit,
        most=settled.get("at most"),
        free=settled.get("free", timedelta()),
        nothing_after=settled.get("nothing after"),
    )


def _clause(part: str, unit: str):
    """Which of the clauses it is, and its value."""
    if found := MOST.fullmatch(part):
        if found[2] and found[2].lower() != unit:
            raise LateProblem(f"{one_line(part)!r}: as points are taken off for each {unit}, say how many {unit}s.")
        return "at most", int(found[1])
    if found := FREE.fullmatch(part):
        return "free", int(found[1]) * UNITS[found[2].lower()]
    if found := NOTHING.fullmatch(part):
        return "nothing after", int(found[1]) * UNITS[found[2].lower()]
    raise LateProblem(f"{one_line(part)!r} is no part of a policy for late work: {FORMS}.")


def plain_number(value: float) -> float:
    """To a hundredth of a point, a whole number as one."""
    rounded = round(value, 2)
    return int(rounded) if float(rounded).is_integer() else rounded
