"""Work for tests of class runs that has to be importable in the processes of a pool."""

import os
import signal
import time
from pathlib import Path

from clearclass.one_file import Job, grade_file, grader_version, refusal_record


def killed_by_its_file(job: Job) -> dict:
    """Grades, but a file named kill… ends the process that grades it."""
    if Path(job.file).name.startswith("kill"):
        time.sleep(0.3)  # so that the other process of the pool is at work, too
        os.kill(os.getpid(), signal.SIGKILL)
    return grade_file(job)


def grade_or_raise(job: Job) -> dict:
    """Raises where the name of the file asks for it, as a grader with a mistake of its own does."""
    if "raise" in job.file:
        raise TypeError("unsupported operand\n\x1b[31m")
    return grade_file(job)


def grade_slowly(job: Job) -> dict:
    """Keeps a list of what was graded beside the file, and takes its time."""
    with open("graded.txt", "a") as file:
        file.write(f"{job.file}\n")
    time.sleep(0.4)
    return grade_file(job)


def of_another_version(job: Job) -> dict:
    return {**refusal_record(job.file, "x"), "grader": grader_version() + "x"}
