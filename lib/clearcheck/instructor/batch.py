"""`clearcheck grade` for many files: graded side by side, told one by one, kept so that a run can go on."""

import contextlib
import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

from clearcheck.files import write_whole
from clearcheck.grading.telling import points_of
from clearcheck.instructor import container, pool
from clearcheck.instructor.course_files import CourseFiles
from clearcheck.instructor.grade import draw_seed
from clearcheck.instructor.hand import KEPT as HAND
from clearcheck.instructor.hand import HandRow, read_hand
from clearcheck.instructor.handed_in import HandedIn, handed_in
from clearcheck.instructor.journal import Journal, JournalProblem, file_of, key_of, opened
from clearcheck.instructor.learners import Learner, learners_of
from clearcheck.instructor.one_file import AGAIN, Job, grade_file, printed, refused
from clearcheck.instructor.results_folder import write_results
from clearcheck.instructor.standings import Entry, Row, row_of
from clearcheck.instructor.tables import write_csv
from clearcheck.notebooks.shown import shown
from clearcheck.worker import system

CSV_SECONDS = 1.0  # between two times that the table is written while the run goes on


def grade_many(options: Namespace, tell: Callable[[str], None]) -> int:
    """The command: a line for each file, tables and pages where they are asked for; 2 where a file has no grade.

    Raises: NotANotebook, BadPattern, HandProblem, JournalProblem, NoContainer, RunStopped, CourseChanged, OSError.
    """
    course, files = CourseFiles(), handed_in(options.files, options.results)
    learners = learners_of(files, options.name_pattern)
    hand = _hand(options, tell)
    work = container.container(options.container) if options.container else grade_file
    with _journal(options) as (journal, seed):
        jobs = [Job(file.name, options.exercise, seed) for file in files]
        run = Run(files, learners, jobs, journal, options, tell)
        with _pool(options) as (start, width):
            run.through(work, start, width)
        course.check("this class")
        problems = run.results(journal, options.results, hand) if journal else []
    for problem in problems:
        tell(problem)
    return 2 if problems or any(row.error for row in run.rows.values()) else 0


class Run:
    """The files of a run, and of each what is kept of its record once it is there."""

    def __init__(
        self,
        files: list[HandedIn],
        learners: list[Learner],
        jobs: list[Job],
        journal: Journal | None,
        options: Namespace,
        tell: Callable[[str], None],
    ):
        self.files, self.learners, self.jobs = files, learners, jobs
        self.journal, self.options, self.tell = journal, options, tell
        self.keys = [self._key(job) for job in jobs] if journal else []
        if journal and not options.replace:
            self._lose_nobody(journal)
        self.rows: dict[int, Row] = {}
        self._lines: dict[int, str] = {}
        self._told = 0  # lines, which come in the order of the files
        self._csv_at = 0.0
        self._went_on = 0  # files that an earlier run has graded

    def _key(self, job: Job) -> str:
        """Where a container is asked for, only a grade from one will do; else any will."""
        boxed = key_of(job, boxed=True)
        kept = self.journal is not None and boxed in self.journal
        return boxed if self.options.container or kept else key_of(job)

    def _lose_nobody(self, journal: Journal):
        """Late files alone, or the file of one learner, would leave the folder with nobody else in it.

        Raises: JournalProblem.
        """
        files, here = {file.name for file in self.files}, {"", *(learner.told for learner in self.learners)}
        gone = {who for key, who in journal.learners.items() if file_of(key) not in files and who not in here}
        if gone:
            raise JournalProblem(
                f"{shown(str(self.options.results))} has grades of {len(gone)} who are not among these files, such as "
                f"{shown(min(gone))}. Put late files into the folder of the others and grade that folder again (what "
                "has not changed is not graded twice), name another folder for these, or drop the others by --replace."
            )

    def through(self, work: pool.Work, start: pool.Start, width: int):
        """Grade what is not known yet."""
        todo = [number for number in range(len(self.files)) if not self._known(number)]
        before = len(self.files) - len(todo)
        if self._went_on:
            self.tell(f"Going on: {self._went_on} of {len(self.files)} files were graded before.")
        began = time.monotonic()
        try:
            with contextlib.closing(pool.graded([self.jobs[n] for n in todo], work, start, width)) as graded:
                for done, (number, record) in enumerate(graded, 1):
                    if self.journal:
                        self._keep(todo[number], record)
                    self._take(todo[number], record)
                    left = (time.monotonic() - began) / done * (len(todo) - done)
                    self._progress(before + done, self.rows[todo[number]], left)
        finally:
            self._table()

    def results(self, journal: Journal, folder: Path, hand: list[HandRow]) -> list[str]:
        """Write the folder of results."""
        whose = zip(self.files, self.learners, strict=True)
        entries = [Entry(file, learner, self.rows[i]) for i, (file, learner) in enumerate(whose)]
        keys = {file.path: key for file, key in zip(self.files, self.keys, strict=True)}
        journal.settle(self.keys)
        if self.options.hand:
            write_whole(folder / HAND, self.options.hand.read_bytes())
        problems = write_results(folder, entries, lambda entry: journal[keys[entry.file.path]], hand)
        self.tell(f"Written: {shown(str(folder))} with grades.csv, overview.html and a page for each learner.")
        return problems

    def _known(self, number: int) -> bool:
        """Take what needs no grading: a file that is none, or one that the journal has."""
        file = self.files[number]
        record = self._kept(number)
        self._went_on += record is not None
        if record is None and file.reason:
            record = refused(file.name, file.reason)
            self._keep(number, record)
        if record is not None:
            self._take(number, record)
        return record is not None

    def _keep(self, number: int, record: dict):
        if self.journal:
            self.journal.add(self.keys[number], self.learners[number].told, record)

    def _kept(self, number: int) -> dict | None:
        if self.journal is None or self.keys[number] not in self.journal:
            return None
        record = self.journal[self.keys[number]]
        return None if record.get(AGAIN) else record

    def _take(self, number: int, record: dict):
        row = self.rows[number] = row_of(record)
        self._lines[number] = json.dumps(printed(record)) if self.options.json else line_of(row)
        while self._told in self._lines:
            line = self._lines.pop(self._told)
            self._told += 1
            if self.options.json or not _both_terminals():
                print(line, flush=True)
        if time.monotonic() - self._csv_at > CSV_SECONDS:
            self._table()

    def _table(self):
        if self.options.csv:
            write_csv(self.options.csv, (self.rows[number] for number in sorted(self.rows)))
            self._csv_at = time.monotonic()

    def _progress(self, done: int, row: Row, seconds: float):
        if sys.stderr.isatty():
            left = "" if done == len(self.files) else f" · about {_in_words(seconds)} left"
            print(f"{done} of {len(self.files)} · {line_of(row)}{left}", file=sys.stderr, flush=True)


def _hand(options: Namespace, tell: Callable[[str], None]) -> list[HandRow]:
    """The points by hand that are named, and kept from now on, else those that the folder of results has kept."""
    kept = options.results and options.results / HAND
    if options.hand:
        return read_hand(options.hand)
    if not kept or not kept.is_file():
        return []
    tell(f"Points by hand: those of {shown(str(kept))}, as before. Delete it to do without.")
    return read_hand(kept)


def line_of(row: Row) -> str:
    """A line for the terminal."""
    if row.error:
        return f"Not graded: {row.error}"
    return f"{shown(row.file)}: {points_of(row.points, row.max_points)} (seed {row.seed})"


@contextlib.contextmanager
def _journal(options: Namespace) -> Iterator[tuple[Journal | None, int]]:
    if options.results is None:
        yield None, draw_seed(options.seed)
        return
    with opened(options.results, options.seed, draw_seed(options.seed)) as journal:
        yield journal, journal.seed if options.seed is None else options.seed


@contextlib.contextmanager
def _pool(options: Namespace) -> Iterator[tuple[pool.Start, int]]:
    if options.executor:
        with pool.dask(options.executor) as (executor, width):
            yield lambda _: nullcontext(executor), width
    else:
        yield pool.processes, options.jobs or system.cores()


def _both_terminals() -> bool:
    return sys.stdout.isatty() and sys.stderr.isatty()


def _in_words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
