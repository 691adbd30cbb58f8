"""Candidates measured in turns: a slow spell of the machine hits all of them, and ratios stay what they are."""

import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Spread:
    """A median and the quartiles on both sides of it."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Times:
    """The seconds that one call took, by candidate, one number for every round."""

    seconds: dict[str, list[float]]

    def ratio(self, candidate: str, ours: str) -> Spread:
        """How many times as long as ``ours`` the candidate takes, round by round."""
        ratios = np.array(self.seconds[candidate]) / np.array(self.seconds[ours])
        return Spread(*(float(np.percentile(ratios, p)) for p in (50, 25, 75)))

    def best_ratio(self, candidate: str, ours: str) -> Spread:
        """The shortest times divided instead of the median; the quartiles as in ``ratio``."""
        spread = self.ratio(candidate, ours)
        return Spread(min(self.seconds[candidate]) / min(self.seconds[ours]), spread.low, spread.high)

    def fastest_candidate(self, candidates: list[str]) -> str:
        return min(candidates, key=lambda name: np.median(self.seconds[name]))


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured and what it should be; without a target it only informs."""

    work: str
    what: str
    measured: Spread
    target: float | None = None
    at_most: bool = False
    unit: str = "×"

    @property
    def meets_target(self) -> bool | None:
        if self.target is None:
            return None
        value = self.measured.median
        return value <= self.target if self.at_most else value >= self.target


@dataclass
class Report:
    """What one benchmark found: lines of the table, all times, further numbers, and what was left out and why."""

    rows: list[Row] = field(default_factory=list)
    seconds: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)


def interleave(
    candidates: Mapping[str, Callable],
    rounds: int,
    *,
    before: Mapping[str, Callable] | None = None,
    least: float = 0.0,
    seed: int = 0,
) -> Times:
    """Run every candidate once a round, in random order, after two calls of each that are not counted.

    A candidate faster than ``least`` seconds is called several times a round. ``before[name]()`` runs outside the
    clock, and what it returns is passed to the candidate.
    """
    order, shuffle = list(candidates), random.Random(seed)
    calls = {name: (candidate, (before or {}).get(name)) for name, candidate in candidates.items()}
    for name in order:
        _seconds(*calls[name], 1)
    warm = {name: _seconds(*calls[name], 1) for name in order}
    repeats = {name: max(1, math.ceil(least / warm[name])) for name in order}
    seconds: dict[str, list[float]] = {name: [] for name in order}
    for _ in range(rounds):
        shuffle.shuffle(order)
        for name in order:
            seconds[name].append(_seconds(*calls[name], repeats[name]))
    return Times(seconds)


def _seconds(candidate: Callable, before: Callable | None, repeats: int) -> float:
    """The mean time of a call."""
    total = 0.0
    if before is None:
        start = time.perf_counter()
        for _ in range(repeats):
            candidate()
        total = time.perf_counter() - start
    else:
        for _ in range(repeats):
            prepared = before()
            start = time.perf_counter()
            candidate(prepared)
            total += time.perf_counter() - start
    return total / repeats


def one(value: float) -> Spread:
    """A number that is counted, not timed."""
    return Spread(value, value, value)
