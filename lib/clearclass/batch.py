"""A class run: graded side by side, told one by one, kept so that a run that was stopped can go on."""

import contextlib
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from clearcheck.files import write_whole
from clearcheck.notebooks.escaping import one_line
from clearcheck.report.course_files import CourseFiles
from clearcheck.report.grade import draw_seed
from clearcheck.worker import system
from clearcheck.worker.worker_process import PROCESS

from clearclass import container, pool
from clearclass.class_run import ClassRun
from clearclass.dry_run import show
from clearclass.hand import KEPT as HAND
from clearclass.hand import HandRow, lose_no_points, read_hand
from clearclass.journal import Journal, JournalProblem, file_of, key_of, open_journal
from clearclass.kept import keep, with_kept
from clearclass.late import Lateness
from clearclass.learners import Learner
from clearclass.one_file import AGAIN, Job, grade_file, refusal_record
from clearclass.output import Output
from clearclass.results_folder import Remarks, write_results
from clearclass.seeds import seed_of
from clearclass.standings import Entry
from clearclass.submitted_files import SubmittedFile, submitted_files
from clearclass.whose import whose_files

Tell = Callable[[str], None]


@dataclass(frozen=True)
class ClassSubmission:
    """A file, whose it is, how late it was, what its grade depends on, and the key of its record, where one is kept."""

    file: SubmittedFile
    learner: Learner
    lateness: Lateness | None
    job: Job
    key: str = ""


def grade_class(asked: ClassRun, tell: Tell) -> int:
    """A line for each file, tables and pages where they are asked for; 2 where a file has no grade.

    Raises: NotANotebook, BadPattern, LearnersMerged, RosterProblem, LateProblem, HandProblem, JournalProblem,
    NoContainer, NeedsTrust, RunStopped, CourseChanged, OSError.
    """
    course, files = CourseFiles(), submitted_files(asked.files, asked.results)
    asked = with_kept(asked, tell)
    whose = whose_files(asked, files, tell)
    if asked.dry_run:
        return show(files, whose, asked.exercise, asked.as_json)
    hand = _points_by_hand(asked.hand, asked.results, tell)
    work = container.container(asked.container) if asked.container else grade_file
    trust = asked.trust and not asked.container
    output, problems = Output(len(files), asked.as_json, asked.table, PROCESS if trust else ""), []
    with _journal(asked, trust) as (journal, seed, by_learner):
        if by_learner:
            tell(f"Each learner has a seed of their own, drawn from {seed}.")
        seeds = [seed_of(learner, seed) if by_learner else seed for learner in whose.learners]
        jobs = [Job(file.name, asked.exercise, own, trust=trust) for file, own in zip(files, seeds, strict=True)]
        keys = [_key(job, journal, bool(asked.container)) for job in jobs]
        parts = zip(files, whose.learners, whose.lateness, jobs, keys, strict=True)
        submissions = [ClassSubmission(*part) for part in parts]
        if journal and not asked.replace:
            _lose_nobody(journal, submissions)
        with _executor(asked.executor, asked.jobs) as (start, width):
            Run(submissions, journal, output).through(work, start, width, tell)
        course.check("this class")
        if journal:
            remarks = Remarks(tuple(whose.absent), tuple(whose.warnings), tuple(hand))
            keep(asked, journal.folder)
            problems = _write(journal, submissions, output, asked.hand, remarks)
            folder = one_line(str(journal.folder))
            tell(f"Written: {folder} with grades.csv, overview.html and a page for each learner.")
    for problem in problems:
        tell(problem)
    return 2 if problems or any(row.error for row in output.rows.values()) else 0


@dataclass(frozen=True)
class Run:
    """Submissions, where their records are kept, and where they are told."""

    submissions: list[ClassSubmission]
    journal: Journal | None
    output: Output

    def through(self, work: pool.Work, start: pool.Start, width: int, tell: Tell):
        """Grade what is not known yet."""
        todo = self._numbers_to_grade(tell)
        before, began = len(self.submissions) - len(todo), time.monotonic()
        jobs = [self.submissions[number].job for number in todo]
        try:
            with contextlib.closing(pool.grade_jobs(jobs, work, start, width)) as graded:
                for done, (number, record) in enumerate(graded, 1):
                    self._keep(self.submissions[todo[number]], record)
                    self.output.take(todo[number], record)
                    left = (time.monotonic() - began) / done * (len(todo) - done)
                    self.output.tell_progress(before + done, todo[number], left)
        finally:
            self.output.write_table()

    def _numbers_to_grade(self, tell: Tell) -> list[int]:
        """The numbers of those to be graded: not of a file that is none, nor of one that the journal has."""
        todo, went_on = [], 0
        for number, submission in enumerate(self.submissions):
            record = self._record_of(submission)
            went_on += record is not None
            if record is None and submission.file.reason:
                record = refusal_record(submission.file.name, submission.file.reason)
                self._keep(submission, record)
            if record is None:
                todo.append(number)
            else:
                self.output.take(number, record)
        if went_on:
            trusted = self.journal is not None and self.journal.trusted
            more = " with --trust: any notebook could have changed what is kept of them" if trusted else ""
            tell(f"Going on: {went_on} of {len(self.submissions)} files were graded before{more}.")
        return todo

    def _record_of(self, submission: ClassSubmission) -> dict | None:
        if self.journal is None or submission.key not in self.journal:
            return None
        record = self.journal[submission.key]
        return None if record.get(AGAIN) else record

    def _keep(self, submission: ClassSubmission, record: dict):
        if self.journal:
            self.journal.add(submission.key, submission.learner.label, record)


def _points_by_hand(table: Path | None, results: Path | None, tell: Tell) -> list[HandRow]:
    """The points by hand that are named, and kept from now on, else those that the folder of results has kept."""
    kept = results and results / HAND
    if table:
        rows = read_hand(table)
        if kept:
            lose_no_points(kept, table, rows)
        return rows
    if not kept or not kept.is_file():
        return []
    tell(f"Points by hand: those of {one_line(str(kept))}, as before. Delete it to do without.")
    return read_hand(kept)


@contextlib.contextmanager
def _journal(asked: ClassRun, trust: bool) -> Iterator[tuple[Journal | None, int, bool]]:
    """Where records are kept, if they are, the seed of the run, and whether each learner has one drawn from it."""
    if asked.results is None:
        yield None, draw_seed(asked.seed), asked.seed_by_learner
        return
    with open_journal(
        asked.results, asked.seed, draw_seed(asked.seed), asked.seed_by_learner, trust, trust_kept=asked.trust
    ) as journal:
        yield journal, journal.seed, journal.by_learner


def _key(job: Job, journal: Journal | None, boxed: bool) -> str:
    """Where a container is asked for, only a grade from one will do; else any will."""
    if journal is None:
        return ""
    from_a_container = key_of(job, boxed=True)
    return from_a_container if boxed or from_a_container in journal else key_of(job)


def _lose_nobody(journal: Journal, submissions: list[ClassSubmission]):
    """Late files alone, or the file of one learner, would leave the folder with nobody else in it.

    Raises: JournalProblem.
    """
    files = {submission.file.name for submission in submissions}
    here = {"", *(submission.learner.label for submission in submissions)}
    gone = {who for key, who in journal.learners.items() if file_of(key) not in files and who not in here}
    if gone:
        raise JournalProblem(
            f"{one_line(str(journal.folder))} has grades of {len(gone)} who are not among these files, such as "
            f"{one_line(min(gone))}. Put late files into the folder of the others and grade that folder again (what "
            "has not changed is not graded twice), name another folder for these, or drop the others by --replace."
        )


@contextlib.contextmanager
def _executor(cluster: str | None, jobs: int | None) -> Iterator[tuple[pool.Start, int]]:
    """What starts an executor, and how many files it grades at a time."""
    if cluster:
        with pool.dask(cluster) as (executor, width):
            yield lambda _: nullcontext(executor), width
    else:
        yield pool.process_pool, jobs or system.cores()


def _write(
    journal: Journal, submissions: list[ClassSubmission], output: Output, table: Path | None, remarks: Remarks
) -> list[str]:
    """Write the folder of results; gives a sentence for each row of points by hand that could not be placed."""
    entries = [Entry(s.file, s.learner, output.rows[number], s.lateness) for number, s in enumerate(submissions)]
    keys = {submission.file.path: submission.key for submission in submissions}
    journal.settle(submission.key for submission in submissions)
    if table:
        write_whole(journal.folder / HAND, table.read_bytes())
    return write_results(journal.folder, entries, lambda entry: journal[keys[entry.file.path]], remarks)
