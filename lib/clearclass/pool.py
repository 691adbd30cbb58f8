"""Many files side by side, through the executor interface of concurrent.futures; none of them ends the run."""

import contextlib
import gc
import multiprocessing
import multiprocessing.connection
import os
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import AbstractContextManager
from functools import partial
from typing import NoReturn

from clearcheck.report.course_files import CourseChanged
from clearcheck.report.no_grade import grader_failure
from clearcheck.worker.launch import end_server
from clearcheck.worker.surroundings import ONE_THREAD

from clearclass.one_file import NOT_YOUR_WORK, OTHER_COURSE, Job, NeedsTrust, grader_version, refusal_record

Work = Callable[[Job], dict]
Start = Callable[[int], AbstractContextManager[Executor]]
KILLED = "Grading {file} ended the process that graded it: look into the file, and grade it by itself."
CONNECT_SECONDS = 20.0
LONGEST_FOLDER = 60  # characters of the folder in which a fork server's socket lies, whose whole path may have 107
DEAF_SECONDS = 10.0  # from asking a process of the pool to end, to ending it


class RunStopped(RuntimeError):
    """The machines that grade are gone; what is graded is kept."""


def grade_jobs(jobs: list[Job], work: Work, start: Start, width: int) -> Generator[tuple[int, dict], None, None]:
    """The number and the record of each job, in the order in which they are finished.

    A process that is killed takes the pool with it. The files that were being graded then are graded again, each in a
    pool of its own, so that only the one that kills it has no grade.
    """
    waiting, suspects = deque(range(len(jobs))), deque[int]()
    while waiting or suspects:
        alone = bool(suspects)
        todo = deque([suspects.popleft()]) if alone else waiting
        with start(1 if alone else width) as pool:
            lost = yield from _until_broken(pool, jobs, todo, work, 1 if alone else width)
        if alone and lost:
            yield lost[0], refusal_record(jobs[lost[0]].file, KILLED.format(file=jobs[lost[0]].file), again=True)
        else:
            suspects += sorted(lost)


def _until_broken(pool: Executor, jobs: list[Job], todo: deque[int], work: Work, width: int):
    """Yields what is finished; returns the numbers of those that were being graded when the pool broke."""
    running: dict[Future, int] = {}
    lost: list[int] = []
    while running or (todo and not lost):
        while todo and not lost and len(running) < width:
            try:
                running[pool.submit(work, jobs[todo[0]])] = todo[0]
            except BrokenExecutor:
                lost.append(todo[0])
            todo.popleft()
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            number = running.pop(future)
            try:
                yield number, _check_grader(jobs[number], future.result())
            except BrokenExecutor:
                lost.append(number)
            except CancelledError:
                raise RunStopped("The machines that grade cannot be reached any more.") from None
            except (RunStopped, CourseChanged, NeedsTrust):
                raise
            except Exception as error:
                yield number, _failure_record(jobs[number].file, error)
    return lost


def _check_grader(job: Job, record: dict) -> dict:
    if record.pop("grader", None) != grader_version():
        raise RunStopped(OTHER_COURSE.format(file=job.file))
    return record


def _failure_record(file: str, error: Exception) -> dict:
    if type(error).__name__ == "KilledWorker":
        return refusal_record(file, KILLED.format(file=file), again=True)
    return refusal_record(file, grader_failure(file, error), again=True, told=NOT_YOUR_WORK)


@contextlib.contextmanager
def process_pool(width: int) -> Iterator[Executor]:
    """A pool on this machine. Its processes end with this one, however this one ends."""
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")
    fits = len(tempfile.gettempdir()) < LONGEST_FOLDER and "forkserver" in multiprocessing.get_all_start_methods()
    kind = "forkserver" if fits else "spawn"
    context = multiprocessing.get_context(kind)
    if kind == "forkserver":
        context.set_forkserver_preload(["clearclass.one_file"])
    others = multiprocessing.active_children()
    with tempfile.TemporaryDirectory(prefix="clearcheck-", ignore_cleanup_errors=True) as temporary:
        pool = ProcessPoolExecutor(width, context, initializer=_begin, initargs=(os.getcwd(), temporary))
        try:
            yield _WrappingExecutor(pool, _grade_interruptibly)
        except BaseException:
            for process in set(multiprocessing.active_children()) - set(others):
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


class _WrappingExecutor(Executor):
    """Hands each job to the pool in a wrapper that looks after the process it runs in."""

    def __init__(self, pool: Executor, wrapper: Callable):
        self.pool, self.wrapper = pool, wrapper

    def submit(self, work, /, *arguments, **options):
        return self.pool.submit(self.wrapper, work, *arguments, **options)


@contextlib.contextmanager
def dask(address: str) -> Iterator[tuple[Executor, int]]:
    """A cluster of dask.distributed as an executor, and how many files it can grade at a time.

    Raises: RunStopped where the package or the cluster is not there.
    """
    try:
        from distributed import Client
    except ImportError:
        raise RunStopped('To grade on a cluster install dask.distributed: pip install "clearformer[class]".') from None
    try:
        client = Client(address.removeprefix("dask://"), timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RunStopped(
            f"There is no scheduler of dask at {address} ({error}): start one, then its workers."
        ) from None
    with client:
        width = sum(client.ncores().values())
        if not width:
            raise RunStopped(f"The scheduler at {address} has no workers: start some, with --nthreads 1 each.")
        with client.get_executor(pure=False) as executor:
            yield _WrappingExecutor(executor, partial(_from_the_folder, os.getcwd())), width


def _from_the_folder(folder: str, work: Work, job: Job) -> dict:
    """On a worker of the cluster, which has to see the same folders as this machine does.

    Raises: RunStopped.
    """
    try:
        os.chdir(folder)
    except OSError as error:
        raise RunStopped(f"A worker of the cluster has no folder {folder} ({error.strerror}): share it.") from None
    return work(job)


class _EndRequested(BaseException):
    """The process has been asked to end while it was grading."""


_grading = False


def _begin(folder: str, temporary: str):
    """In each process of the pool: only its parent ends it, and neither it nor its files outlive that one."""
    os.chdir(folder)
    tempfile.tempdir = temporary
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)  # little of what is loaded can be freed, and looking through it takes long
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    threading.Thread(target=_watch_the_parent, daemon=True).start()


def _grade_interruptibly(work: Work, job: Job) -> dict:
    global _grading
    try:
        _grading = True
        try:
            return work(job)
        finally:
            _grading = False
    except _EndRequested:
        return _end()


def _end(*_) -> NoReturn:
    if _grading:
        raise _EndRequested  # so that the process of the submission is ended, too
    end_server()  # and waited for: what it still writes would come after the folder that holds it was removed
    os._exit(1)


def _watch_the_parent():
    if (parent := multiprocessing.parent_process()) is not None:
        multiprocessing.connection.wait([parent.sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(DEAF_SECONDS)
    os._exit(1)
