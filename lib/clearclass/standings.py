"""Who stands where: one standing for each learner and exercise, from the records of all their files."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256

from clearcheck.grading.telling import points_of
from clearcheck.notebooks.escaping import file_stem, one_line

from clearclass.hand import HandRow, Mark
from clearclass.learners import Learner
from clearclass.submitted_files import SubmittedFile


@dataclass(frozen=True)
class Result:
    """What is kept of a question."""

    title: str
    points: int
    max_points: int
    status: str
    mistakes: dict[str, str]  # by name, with what the learner is told


@dataclass(frozen=True)
class GradeSummary:
    """What is kept of a record: enough for every table, without the messages."""

    file: str
    error: str = ""
    exercise: str = ""
    title: str = ""
    seed: int | None = None
    points: int = 0
    max_points: int = 0
    questions: dict[str, Result] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    isolation: str = ""
    uses: tuple[str, ...] = ()

    @property
    def mistakes(self) -> list[str]:
        return [f"{id}/{name}" for id, result in self.questions.items() for name in result.mistakes]


@dataclass(frozen=True)
class Entry:
    """A file with its learner and what became of it."""

    file: SubmittedFile
    learner: Learner
    row: GradeSummary


@dataclass(frozen=True)
class Standing:
    """A learner and an exercise: the file that counts, those that do not, and the points given by hand."""

    learner: Learner
    counts: Entry
    others: tuple[Entry, ...]
    page: str  # the stem of the names of the learner's files
    hand: tuple[HandRow, ...] = ()

    @property
    def marks(self) -> list[Mark]:
        return [mark for row in self.hand for mark in row.marks]

    @property
    def points(self) -> float:
        return self.counts.row.points + sum(mark.points for mark in self.marks)

    @property
    def max_points(self) -> float:
        return self.counts.row.max_points + sum(mark.max_points for mark in self.marks)

    @property
    def notes(self) -> list[str]:
        """The notes on the file that counts, on those that do not, and on when it was handed in."""
        late = ["Handed in late."] if self.learner.late else []
        return [*late, *self.counts.row.notes, *(_uncounted_note(entry) for entry in self.others)]


def row_of(record: dict) -> GradeSummary:
    if "error" in record:
        return GradeSummary(record["file"], one_line(record["error"]))
    return GradeSummary(
        file=record["file"],
        exercise=record["exercise"],
        title=record["page"]["title"],
        seed=record["seed"],
        points=record["points"],
        max_points=record["max_points"],
        questions={question["id"]: _result(question) for question in record["questions"]},
        notes=tuple(one_line(note) for note in record["notes"]),
        isolation=record["isolation"],
        uses=tuple(record["uses"]),
    )


def standings(entries: Iterable[Entry]) -> list[Standing]:
    """One for each learner and exercise, in the order of the files.

    Of several files for one exercise the one with most points counts, at a tie the last. A learner's file that cannot
    be graded has a standing of its own only where nothing else of that learner was graded.
    """
    everyone: dict[tuple, list[Entry]] = {}
    for entry in entries:
        everyone.setdefault(entry.learner.key, []).append(entry)
    stems = _stems([theirs[0].learner for theirs in everyone.values()])
    return [standing for theirs in everyone.values() for standing in _of_one(theirs, stems[theirs[0].learner.key])]


def add_hand_points(found: list[Standing], hand: Iterable[HandRow]) -> tuple[list[Standing], list[str]]:
    """The standings with the points given by hand, and a sentence for each row that fits nobody, more than one, or one
    who has points for the same already, and for each column with a maximum that some of its exercise lack.
    """
    problems = []
    for row in hand:
        places = [i for i, standing in enumerate(found) if row.fits(_values_by_heading(standing))]
        again = {mark.name for i in places for mark in found[i].marks} & {mark.name for mark in row.marks}
        if len(places) == 1 and not again:
            found = [replace(s, hand=(*s.hand, row)) if i in places else s for i, s in enumerate(found)]
            continue
        fits = "fits nobody who handed in"
        if places:
            fits = f"fits {len(places)} rows: add a column exercise or id"
        if len(places) == 1:
            fits = f"gives {' and '.join(sorted(again))} a second time"
        problems.append(f"Hand-graded points for {row.description} (line {row.line}): the row {fits}.")
    return found, [*problems, *_without_marks(found)]


def _without_marks(found: list[Standing]) -> Iterator[str]:
    """Who would be measured by a smaller maximum than the others of the same exercise."""
    graded = [standing for standing in found if standing.counts.row.exercise]
    columns = dict.fromkeys(
        (standing.counts.row.exercise, mark.name) for standing in graded for mark in standing.marks if mark.max_points
    )
    for exercise, name in columns:
        theirs = [standing for standing in graded if standing.counts.row.exercise == exercise]
        without = [standing for standing in theirs if name not in {mark.name for mark in standing.marks}]
        if without:
            who = f"{len(without)} of {len(theirs)} have none, {one_line(without[0].learner.name)} the first of them"
            yield f"Hand-graded points for {one_line(name)}: {who}."


def mistakes_by_frequency(found: Iterable[Standing]) -> list[tuple[int, str, str]]:
    """For each named mistake how many made it, the question, and what it is, the most frequent first."""
    counted: Counter[tuple[str, str]] = Counter()
    for standing in found:
        for id, result in standing.counts.row.questions.items():
            counted.update((id, told) for told in set(result.mistakes.values()))
    return sorted(((n, id, told) for (id, told), n in counted.items()), key=lambda it: (-it[0], it[1:]))


def _of_one(theirs: list[Entry], stem: str) -> list[Standing]:
    graded = [entry for entry in theirs if not entry.row.error]
    refused = [entry for entry in theirs if entry.row.error]
    slugs = list(dict.fromkeys(entry.row.exercise for entry in graded))
    by_slug = [[entry for entry in graded if entry.row.exercise == slug] for slug in slugs] or [refused[:1]]
    made = []
    for number, entries in enumerate(by_slug):
        counts = max(reversed(entries), key=lambda entry: entry.row.points)
        spare = (refused if graded else refused[1:]) if number == 0 else []
        others = tuple(entry for entry in [*entries, *spare] if entry is not counts)
        made.append(Standing(counts.learner, counts, others, stem))
    return made


def _stems(learners: list[Learner]) -> dict[tuple[str, str], str]:
    """A name for each learner's files: their own where it is plain and nobody else's, else with a digest."""
    plain = {learner.key: file_stem(f"{learner.name} {learner.id}") for learner in learners}
    twice = {stem for stem, n in Counter(plain.values()).items() if n > 1 or not stem}
    digest: Callable[[tuple], str] = lambda key: sha256(repr(key).encode()).hexdigest()[:12]  # noqa: E731
    return {key: f"{stem}-{digest(key)}".strip("-") if stem in twice else stem for key, stem in plain.items()}


def _values_by_heading(standing: Standing) -> dict[str, Iterable[str]]:
    files = [entry.file for entry in (standing.counts, *standing.others)]
    return {
        "id": [standing.learner.id],
        "learner": [standing.learner.name],
        "exercise": [standing.counts.row.exercise],
        "file": [name for file in files for name in (file.name, file.relative_path, file.path.name)],
    }


def _uncounted_note(entry: Entry) -> str:
    if entry.row.error:
        return f"Not graded: {entry.row.error}"
    late = ", handed in late," if entry.learner.late else ""
    points = points_of(entry.row.points, entry.row.max_points)
    return f"{one_line(entry.file.path.name)} ({points}){late} does not count."


def _result(question: dict) -> Result:
    told = {
        check["diagnosis"]["mistake"]: check["diagnosis"]["message"]
        for check in question["checks"]
        if check["diagnosis"]
    }
    return Result(question["title"], question["points"], question["max_points"], question["status"], told)
