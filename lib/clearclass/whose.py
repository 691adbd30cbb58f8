"""Whose each file of a run is, how late it was, who handed in nothing, and what has to be looked at."""

from collections.abc import Callable
from dataclasses import dataclass, field

from clearclass.class_run import ClassRun
from clearclass.handed_in import lateness_of
from clearclass.late import Lateness
from clearclass.learners import Learner, learners_of
from clearclass.roster import read_roster
from clearclass.settled import settle
from clearclass.submitted_files import SubmittedFile

Tell = Callable[[str], None]


@dataclass
class Whose:
    """A learner and a lateness for each file, the learners without one, and warnings."""

    learners: list[Learner]
    lateness: list[Lateness | None]
    absent: list[Learner] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def whose_files(asked: ClassRun, files: list[SubmittedFile], tell: Tell) -> Whose:
    """As names, roster and policy of the run say, with each warning told at once.

    Raises: BadPattern, LearnersMerged, RosterProblem, LateProblem.
    """
    warnings: list[str] = []

    def warn(sentence: str):
        warnings.append(sentence)
        tell(f"Warning: {sentence}")

    roster = read_roster(asked.roster) if asked.roster else None
    whose = Whose(learners_of(files, asked.name_pattern, asked.system, tell, warn), [None] * len(files))
    if roster:
        settled = settle(files, whose.learners, roster)
        whose.learners, whose.absent = settled.learners, settled.absent
        tell(_counted(len(roster.people), roster.file, len(settled.absent)))
        for sentence in settled.warnings:
            warn(sentence)
    if asked.late:
        found = lateness_of(files, whose.learners, asked.late)
        whose.lateness = found.lateness
        for sentence in found.warnings:
            warn(sentence)
    whose.warnings = warnings
    return whose


def _counted(people: int, file: str, absent: int) -> str:
    have = "has" if absent == 1 else "have"
    nobody = f"{absent} of them {have} handed in nothing" if absent else "all of them have handed in"
    return f"{file}: {people} learners, {nobody}."
