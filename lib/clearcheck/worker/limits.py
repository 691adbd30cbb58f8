"""What a learner's code may use and how long it may run: every limit and every clock of the grader stands here.

A learner's code runs in two places: under `check` in a copy of the learner's own kernel (`forked`), and under `grade`
in a worker, a process for one notebook, which also parses the file. This is about the second; what a file may hold is
told in `notebooks`.

What the worker stops, however it is started:

- code that computes for too long: an alarm inside the process (`time_limit`) after `cell_seconds` or the question's
  `seconds` of computing; where the code is deaf to it the parent, once it has computed `grace_seconds` more; and for
  the whole notebook `submission_seconds`. What counts is the time for which the main thread of the process computes,
  since a machine that is busy with other things must not cost a point;
- code that waits: the same after `net` times as long by the clock, or a few times that where it computes now and then
  (`time_limit`), and for the whole notebook after `submission_net_seconds`;
- code that takes too much memory or processor time, or writes a huge file, where the system knows such limits;
- code that ends or crashes the process: it is started and its cells are run again, at most two times for each cell
  and `SPARE_STARTS` times more;
- printing, reading the keyboard, and results that are too large or are no plain values;
- a look at the grader by name: of `clearcheck` it has only this room and `notebooks`, in a copy, the checks, the
  seed and the expected values are not sent, nor the user's environment, but what Python needs to start;
- on Linux, processes that it leaves behind: they are ended, which a note says;
- on Linux, processes that together hold more `memory` than one may: a few times a second it is summed over all of a
  notebook, and what is above ends them. Counted is what is in memory or swapped out and no copy of a file, without
  what a process may still share with the server; pages that two of them share count for both. In a sandbox the System
  V segments count, too, attached or not. Not counted is what else no process has mapped, as in a pipe or a file in
  memory, which ends with the processes.

What it stops in a sandbox besides (`launch`: isolation "bubblewrap"): the network, reading any file but Python and
its packages, writing anywhere but into a scratch folder of `SCRATCH_BYTES`, seeing or ending processes outside,
leaving files, shared memory, keys or ports to the next notebook (`private_rooms`), and more than `PROCESSES` processes;
of root's, which Linux does not limit, all are ended where they are more.

What it does not stop without one (isolation "process"): it runs as the same user, and the course's own answers are
files, so code that goes and looks for them finds them, can change what the user may change, and can end the grader.
What is changed of the copy that the workers run from is noticed after the notebook, which has no grade then, and the
next one gets a new copy (`copied`). What macOS and Windows lack besides is told in `system`. So it is a guard rail
and no wall.
The sentences for the learner are in `grading.evaluate.problem_of` and, for cells, in `report.grade`.
"""

from dataclasses import dataclass

from clearcheck.worker import system

# Seconds of computing: the limits that a learner is told.
CALL_SECONDS = 10.0  # one call of a function, where its question names no other limit
TRAINING_SECONDS = 20.0  # the most that a question about PyTorch may name
CELL_SECONDS = 10.0  # one cell of a submission
SUBMISSION_SECONDS = 120.0  # all cells and calls of one
READ_SECONDS = 20.0  # parsing one
GRACE_SECONDS = 5.0  # between asking the code to stop and ending its process
KERNEL_GRACE_SECONDS = 2.0  # the same for a copy of the learner's kernel

# By the clock: nets for what waits instead of computing, which a machine under heavy load does not reach.
NET = 10.0  # times as many seconds as those above
SUBMISSION_NET_SECONDS = 480.0
START_SECONDS = 300.0  # until a new worker says that it is ready
SERVER_SECONDS = 20.0  # until the server of workers, which does little itself, is given up
ENDING_SECONDS = 5.0  # until a worker that closed its channel has ended, to say how
RELEASE_CELL_SECONDS = 120  # one cell of the author's notebook, when it is released

# Starts of a worker for one notebook: two for each cell, and these for calls that break the process.
SPARE_STARTS = 20

# Bytes, entries and characters of what crosses between the worker and its parent.
MAX_BYTES = 16 * 2**20  # all arrays of one value
MAX_TEXTS = 2 * 2**20  # characters of all its texts
MAX_TREE = 16 * 2**20  # bytes of what it holds besides its arrays, as JSON
MAX_FRAME = MAX_BYTES + MAX_TREE  # one message
MAX_NODES = 100_000  # values in nested containers
MAX_DEPTH = 20
MAX_TEXT = 200  # characters of a learner's text that a sentence repeats
MUCH_PRINTED = 1_000_000  # characters that are worth a note
KEPT_PRINTED = 1000  # characters of what one call prints that its author is shown

# Of the sandbox.
SCRATCH_BYTES = 256 * 2**20
PROCESSES = 64


@dataclass(frozen=True)
class Limits:
    """Of one worker. Generous on purpose: a slow machine must not cost a point. Seconds of computing, bytes."""

    cell_seconds: float = CELL_SECONDS
    grace_seconds: float = GRACE_SECONDS
    submission_seconds: float = SUBMISSION_SECONDS
    net: float = NET  # times as long a call or a cell may take by the clock
    submission_net_seconds: float = SUBMISSION_NET_SECONDS  # by the clock
    memory: int = 4 * 2**30  # of each process, and on Linux of all together
    file: int = 64 * 2**20  # each file that the code writes
    cpu: int = 900  # seconds of processor time, all cells and calls together

    def of_the_process(self) -> dict:
        return {"memory": self.memory, "file": self.file, "cpu": self.cpu}


def limit_this_process(memory: int, file: int, cpu: int):
    """Each limit where the system knows it; the parent ends what runs too long on every system."""
    system.limit_resources(
        {
            "RLIMIT_DATA": memory,
            # Libraries map files far larger than they use, so addresses are limited more loosely than data.
            "RLIMIT_AS": 2 * memory + system.mapped_memory(),
            "RLIMIT_FSIZE": file,
            "RLIMIT_CPU": cpu,
            "RLIMIT_CORE": 0,
        }
    )
