"""Learners of the roster of whom nothing was handed in: zero points for each exercise that the class had."""

from collections.abc import Iterable
from pathlib import Path

from clearclass.learners import Learner
from clearclass.standings import Entry, GradeSummary, Standing
from clearclass.submitted_files import SubmittedFile

NOTHING = "Nothing was handed in."
NO_FILE = SubmittedFile(Path(), None)


def with_absent(found: list[Standing], absent: Iterable[Learner], pages: dict[tuple[str, str], str]) -> list[Standing]:
    """The standings, and one for each learner of the roster and exercise that lacks one.

    Who has a file that could not be graded gets none: a person decides what that is worth. An empty folder is no file.
    """
    exercises = {s.counts.row.exercise: s.counts.row for s in found if s.counts.row.exercise}
    if not exercises:
        return found
    handed_in = [s for s in found if not (s.learner.people and s.has_nothing)]
    theirs: dict[tuple[str, str], set[str]] = {}
    for standing in handed_in:
        theirs.setdefault(standing.learner.key, set()).update(
            exercises if standing.has_ungraded else {standing.counts.row.exercise}
        )
    rostered = {s.learner.key: s.learner for s in found if len(s.learner.people) == 1}
    rostered |= {learner.key: learner for learner in absent}
    missing = [
        _zero(learner, exercises[slug], pages[key])
        for key, learner in rostered.items()
        for slug in sorted(exercises)
        if slug not in theirs.get(key, ())
    ]
    return [*handed_in, *missing]


def nothing_record(standing: Standing) -> dict:
    """A record as a graded file has one, for the page of a learner."""
    row = standing.counts.row
    return {
        "exercise": row.exercise,
        "points": 0,
        "max_points": row.max_points,
        "questions": [],
        "notes": [NOTHING],
        "page": {"title": row.title, "read": {}},
    }


def _zero(learner: Learner, like: GradeSummary, page: str) -> Standing:
    row = GradeSummary("", exercise=like.exercise, title=like.title, max_points=like.max_points, notes=(NOTHING,))
    return Standing(learner, Entry(NO_FILE, learner, row), (), page)
