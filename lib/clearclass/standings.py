"""Who stands where: one standing for each learner and exercise, from the records of all their files."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256

from clearcheck.grading.telling import points_of
from clearcheck.notebooks.escaping import file_stem, one_line

from clearclass.hand import HandRow, Mark
from clearclass.late import Lateness, plain_number
from clearclass.learners import Learner
from clearclass.one_file import TOLD
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
    told: str = ""  # what the learner reads in place of the error
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
    def error_with_file(self) -> str:
        """For the instructor: an error of the grader's own does not say which file it is about."""
        file = one_line(self.file)
        return self.error if not self.error or file in self.error else f"{file}: {self.error}"

    @property
    def error_for_learner(self) -> str:
        return self.told or self.error

    @property
    def mistakes(self) -> list[str]:
        return [f"{id}/{name}" for id, result in self.questions.items() for name in result.mistakes]


@dataclass(frozen=True)
class Entry:
    """A file with its learner, what became of it, and how late it was where that costs points."""

    file: SubmittedFile
    learner: Learner
    row: GradeSummary
    lateness: Lateness | None = None

    def taken_off(self, points: float, most: float) -> float:
        """Of these points, for being late."""
        return self.lateness.taken_off(points, most) if self.lateness and not self.row.error else 0

    @property
    def points(self) -> float:
        """Those of the grader, less what being late takes off."""
        return self.row.points - self.taken_off(self.row.points, self.row.max_points)


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
    def points_before(self) -> float:
        """Those of the grader and those given by hand, as if nothing were late."""
        return self.counts.row.points + sum(mark.points for mark in self.marks)

    @property
    def taken_off(self) -> float:
        return self.counts.taken_off(self.points_before, self.max_points)

    @property
    def points(self) -> float:
        return plain_number(self.points_before - self.taken_off) if self.taken_off else self.points_before

    @property
    def max_points(self) -> float:
        return self.counts.row.max_points + sum(mark.max_points for mark in self.marks)

    @property
    def handed_in(self) -> bool:
        return bool(self.counts.row.file)

    @property
    def has_nothing(self) -> bool:
        """Whether all that there is of the learner is an empty folder."""
        return self.handed_in and all(entry.file.nothing for entry in (self.counts, *self.others))

    @property
    def has_ungraded(self) -> bool:
        """Whether there is a file that could not be graded, and may have been for any exercise."""
        return any(entry.row.error and not entry.file.nothing for entry in (self.counts, *self.others))

    @property
    def late(self) -> str:
        """A sentence on what being late takes off, or ""."""
        lateness = self.counts.lateness
        if lateness is None or self.counts.row.error:
            return ""
        return (
            f"Handed in {lateness.told}: {points_of(self.taken_off, self.max_points)} taken off "
            f"({one_line(lateness.policy.text)}), {self.points_before} before, {self.points} now."
        )

    @property
    def notes(self) -> list[str]:
        """The notes on the file that counts, on those that do not, and on when it was handed in."""
        late = ["Handed in late."] if self.learner.late and not self.late else []
        return [*late, *self.counts.row.notes, *(_uncounted_note(entry) for entry in self.others)]

    def without_folders(self, text: str) -> str:
        """With the learner's files by their names: where they lie is the instructor's."""
        for path in (entry.file.path for entry in (self.counts, *self.others)):
            if path.name:
                text = text.replace(one_line(str(path)), one_line(path.name))
        return text


def row_of(record: dict) -> GradeSummary:
    if "error" in record:
        return GradeSummary(record["file"], one_line(record["error"]), one_line(record.get(TOLD, "")))
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


def standings(entries: Iterable[Entry], pages: dict[tuple[str, str], str] | None = None) -> list[Standing]:
    """One for each learner and exercise, in the order of the files; `pages` names each learner's files.

    Of several files for one exercise the one with most points counts, less what being late takes off, at a tie the
    last. A learner's file that cannot be graded has a standing of its own only where nothing else of that learner was
    graded.
    """
    everyone: dict[tuple, list[Entry]] = {}
    for entry in entries:
        everyone.setdefault(entry.learner.key, []).append(entry)
    pages = pages or page_names(theirs[0].learner for theirs in everyone.values())
    return [standing for theirs in everyone.values() for standing in _of_one(theirs, pages[theirs[0].learner.key])]


def add_hand_points(found: list[Standing], hand: Iterable[HandRow]) -> tuple[list[Standing], list[str]]:
    """The standings with the points given by hand, and a sentence for each row that fits nobody, more than one, or one
    who has points for the same already, and for each column with a maximum that some of its exercise lack. Who handed
    in nothing has no points in such a column, so that all have one maximum.
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
    return [_with_zeros(standing, found) for standing in found], [*problems, *_without_marks(found)]


def _with_zeros(standing: Standing, found: list[Standing]) -> Standing:
    """With 0 points in each column with a maximum of the exercise, where nothing was handed in and nothing given."""
    if standing.handed_in:
        return standing
    exercise, given = standing.counts.row.exercise, {mark.name for mark in standing.marks}
    others = [other for other in found if other.counts.row.exercise == exercise]
    most = {mark.name: mark.max_points for other in others for mark in other.marks if mark.max_points}
    zeros = tuple(Mark(name, 0, points) for name, points in most.items() if name not in given)
    return replace(standing, hand=(*standing.hand, HandRow(0, {}, zeros, ""))) if zeros else standing


def _without_marks(found: list[Standing]) -> Iterator[str]:
    """Who would be measured by a smaller maximum than the others of the same exercise."""
    graded = [standing for standing in found if standing.counts.row.exercise and standing.handed_in]
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
        counts = max(reversed(entries), key=lambda entry: entry.points)
        spare = (refused if graded else refused[1:]) if number == 0 else []
        others = tuple(entry for entry in [*entries, *spare] if entry is not counts)
        made.append(Standing(counts.learner, counts, others, stem))
    return made


def page_names(learners: Iterable[Learner]) -> dict[tuple[str, str], str]:
    """A name for each learner's files: their own where it is plain and nobody else's, else with a digest."""
    plain = {learner.key: file_stem(f"{learner.name} {learner.id}") for learner in learners}
    twice = {stem for stem, n in Counter(plain.values()).items() if n > 1 or not stem}
    digest: Callable[[tuple], str] = lambda key: sha256(repr(key).encode()).hexdigest()[:12]  # noqa: E731
    return {key: f"{stem}-{digest(key)}".strip("-") if stem in twice else stem for key, stem in plain.items()}


def _values_by_heading(standing: Standing) -> dict[str, Iterable[str]]:
    files = [entry.file for entry in (standing.counts, *standing.others)]
    return {
        "id": [standing.learner.id, *(person.id for person in standing.learner.people if person.id)],
        "learner": [standing.learner.name],
        "exercise": [standing.counts.row.exercise],
        "file": [name for file in files for name in (file.name, file.relative_path, file.path.name)],
    }


def _uncounted_note(entry: Entry) -> str:
    if entry.row.error:
        return f"Not graded: {entry.row.error_for_learner}"
    late = ", handed in late," if entry.learner.late or entry.lateness else ""
    points = points_of(entry.row.points, entry.row.max_points)
    return f"{one_line(entry.file.path.name)} ({points}){late} does not count."


def _result(question: dict) -> Result:
    told = {
        check["diagnosis"]["mistake"]: check["diagnosis"]["message"]
        for check in question["checks"]
        if check["diagnosis"]
    }
    return Result(question["title"], question["points"], question["max_points"], question["status"], told)
