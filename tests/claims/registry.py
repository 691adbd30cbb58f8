"""The register of claims: a sentence of a page → the experiment, with its rivals, from whose numbers it follows."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

FOLDER = Path(__file__).parent
TIMES = (1, 4)  # the budget of the page, and four times it
SEEDS = (0, 1, 2)
VERDICTS = ("confirmed", "changed", "dropped")


class Run(NamedTuple):
    """One training or one measurement: who, on what, with how many times the budget, from which seed."""

    contender: str
    case: str
    times: int
    seed: int


Numbers = Mapping[tuple[str, str, int], list[float]]  # by contender, case and times: one number a seed
Measure = Callable[[SimpleNamespace, Run], float]


@dataclass(frozen=True)
class Experiment:
    """What is measured for one or several sentences of a page.

    page: the page, such as chapters/02-attention.ipynb.
    contenders: who is compared, and what each of them knows or is.
    cases: on what they are compared, such as lengths or depths.
    budget: of the page, which every contender gets, and then each of ``times`` it.
    measured: what one number is, and whether more of it is better.
    cells: the code cells whose definitions the experiment takes from the page.
    measure: one number, given these definitions and a run, whose seed has been set.
    """

    page: str
    contenders: dict[str, str]
    cases: tuple[str, ...]
    budget: str
    measured: str
    cells: tuple[str, ...]
    times: tuple[int, ...]
    seeds: tuple[int, ...]
    measure: Measure

    @property
    def slug(self) -> str:
        return Path(self.page).stem

    @property
    def name(self) -> str:
        """As it is called on the command line and in the file of results."""
        return f"{self.slug}/{self.measure.__name__.replace('_', '-')}"

    @property
    def place(self) -> str:
        code = self.measure.__code__
        return f"tests/claims/{Path(code.co_filename).name}:{code.co_firstlineno}"

    def runs(self) -> list[Run]:
        return [
            Run(contender, case, times, seed)
            for case in self.cases
            for times in self.times
            for contender in self.contenders
            for seed in self.seeds
        ]


@dataclass(frozen=True)
class Claim:
    """A sentence that compares, and whether it holds.

    experiment: what decides it.
    about: the contenders that it compares.
    page: where it stands, as a rule the page of the experiment.
    sentence: as the page has it, word for word, in its prose or in the caption of a figure.
    cell: the code cell of the page that shows it.
    holds: whether the sentence follows from the numbers.
    note: what came out, in a sentence or two for readers.
    verdict: confirmed; changed, from ``before``; or dropped, where ``sentence`` says what is true in its place.
    before: what the page said, where it was changed or dropped.
    pending: whether the page still says ``before``.
    """

    experiment: Experiment
    about: tuple[str, ...]
    page: str
    sentence: str
    cell: str
    holds: Callable[[Numbers], bool]
    note: str
    verdict: str
    before: str
    pending: bool


EXPERIMENTS: dict[str, Experiment] = {}
CLAIMS: list[Claim] = []


def register() -> tuple[dict[str, Experiment], list[Claim]]:
    """All experiments of the book by name, and all claims, from chapter_NN and closer_NN_slug."""
    for module in sorted(FOLDER.glob("c[hl]*_*.py")):
        importlib.import_module(f"tests.claims.{module.stem}")
    return EXPERIMENTS, CLAIMS


def experiment(
    page: str,
    *,
    contenders: dict[str, str],
    budget: str,
    measured: str,
    cases: tuple[str, ...] = ("",),
    cells: tuple[str, ...] = (),
    times: tuple[int, ...] = TIMES,
    seeds: tuple[int, ...] = SEEDS,
    known: dict[str, Experiment] = EXPERIMENTS,
) -> Callable[[Measure], Experiment]:
    """Make ``measure(page, run)`` an experiment; `Experiment` says what the arguments are.

    Raises: ValueError for a name that is taken, or where there is no rival.
    """

    def named(measure: Measure) -> Experiment:
        it = Experiment(page, contenders, cases, budget, measured, cells, times, seeds, measure)
        if it.name in known:
            raise ValueError(f"{it.name} is at {known[it.name].place} already; give one of the two another name")
        if len(contenders) < 2:
            raise ValueError(f"{it.name} has the contenders {list(contenders)}; a comparison needs a rival")
        known[it.name] = it
        return it

    return named


def claim(
    experiment: Experiment,
    sentence: str,
    *,
    about: tuple[str, ...],
    cell: str,
    holds: Callable[[Numbers], bool],
    note: str,
    verdict: str = "confirmed",
    before: str = "",
    pending: bool = False,
    page: str = "",
    known: list[Claim] = CLAIMS,
) -> Claim:
    """Register a sentence with the experiment that decides it; `Claim` says what the arguments are.

    Raises: ValueError for a contender or a verdict that there is not, or one that leaves out what the page said before.
    """
    if len(about) < 2 or not set(about) <= experiment.contenders.keys():
        raise ValueError(f"{sentence!r} is about {about}; choose two or more of {', '.join(experiment.contenders)}")
    if verdict not in VERDICTS:
        raise ValueError(f"{sentence!r}: the verdict is {verdict!r}; choose one of {', '.join(VERDICTS)}")
    if (verdict == "confirmed") == bool(before):
        raise ValueError(f"{sentence!r} is {verdict}: `before` says what was changed or dropped, and only that")
    if pending and verdict == "confirmed":
        raise ValueError(f"{sentence!r} is confirmed: the page has nothing to change, so take `pending` off")
    it = Claim(experiment, about, page or experiment.page, sentence, cell, holds, note, verdict, before, pending)
    known.append(it)
    return it
