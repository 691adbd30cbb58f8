"""What the system offers for running a learner's code, and what the instructor is told where it does not.

No other file of the grader asks which system this is, or names what one of them lacks, but `server`, `served` and
`forked`, which are imported on Linux alone.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt
try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

NAMES = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
NAME = NAMES.get(sys.platform, sys.platform)
COPIES = NAME == "Linux"  # elsewhere a process that has NumPy loaded is not copied safely
LARGEST_POOL = 61  # processes, on Windows
REPLACINGS = 50  # tries
TIMERS = hasattr(signal, "setitimer")


@dataclass(frozen=True)
class Capability:
    """Whether the system has it, and what is so without it, told to the instructor."""

    there: bool
    without: str


CAPABILITIES = {
    "a sandbox": Capability(
        COPIES,
        "There is no sandbox: a notebook's code can read and change what you can, use the network, and end the run.",
    ),
    "copies of a process": Capability(
        COPIES,
        "`check` calls an answer in the learner's own kernel: what it breaks there stays broken, and a call that no "
        "exception ends lasts until the kernel is restarted.",
    ),
    "the processor time of another process": Capability(
        NAME == "Linux",
        "A notebook that does not stop when its time is over is ended late, after ten times its limit by the clock.",
    ),
    "timers": Capability(TIMERS, "A thread watches the time, which cannot stop a call that sleeps or waits."),
    "limits of a process": Capability(
        resource is not None, "Nothing limits the memory that a notebook takes or the files that it writes."
    ),
    "groups of processes": Capability(hasattr(os, "killpg"), "Programs that a notebook starts are not ended with it."),
}


def missing_capabilities() -> str:
    """The sentences for what this system does not have; an empty text on Linux."""
    return " ".join(capability.without for capability in CAPABILITIES.values() if not capability.there)


def cores() -> int:
    """The processors that this process may use, as many as one pool of processes may have."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, LARGEST_POOL) if NAME == "Windows" else usable


def replace(source: Path, target: Path):
    """As `os.replace`. Windows refuses it while another program reads the target, so there it is tried for a moment.

    Raises: OSError.
    """
    for _ in range(REPLACINGS if NAME == "Windows" else 0):
        with contextlib.suppress(PermissionError):
            os.replace(source, target)
            return
        time.sleep(0.02)
    os.replace(source, target)


def computed_seconds(pid: int) -> float | None:
    """Seconds for which the main thread of a process has computed; None where the system does not say."""
    if NAME != "Linux":
        return None
    try:
        fields = Path(f"/proc/{pid}/task/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return None


def mapped_memory() -> int:
    """Bytes of all that this process has mapped; 0 where the system does not say."""
    return _memory_of_this_process(0)


def used_memory() -> int:
    """Bytes of data and stack that this process holds; 0 where the system does not say."""
    return _memory_of_this_process(5)


def _memory_of_this_process(field: int) -> int:
    if NAME != "Linux":
        return 0
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[field]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def limit_resources(wanted: dict[str, int]):
    """Set each limit by its name in `resource`, as far as the system knows it."""
    for name, value in wanted.items():
        with contextlib.suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (value, value))


def detached_options() -> dict:
    """Options of `subprocess.Popen` for a process that no key in this terminal interrupts."""
    if NAME != "Windows":
        return {"start_new_session": True}
    return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}


def end_group(leader: int):
    """End a process that was started `detached_options` and those that it started, as far as the system knows them."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(leader, signal.SIGKILL)


def take_lock(handle) -> bool:
    """Whether the lock on an open file is ours now; on a file system that knows no locks, nobody waits."""
    try:
        if fcntl:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


def release_lock(handle):
    """Windows lets go of a lock some time after its file was closed, if it is not told to."""
    if not fcntl:
        with contextlib.suppress(OSError):
            msvcrt.locking(handle.fileno(), msvcrt.LK_UNLCK, 1)


@contextlib.contextmanager
def timers(computing: float, clock: float, alarm: Callable[[bool], None]) -> Iterator[None]:
    """Call `alarm(False)` in the main thread when the process has computed for so long, and `alarm(True)`
    each time that so much of the clock is over.
    """

    def on_signal(number, frame):
        alarm(number == signal.SIGALRM)

    timers = ((signal.SIGPROF, signal.ITIMER_PROF, computing), (signal.SIGALRM, signal.ITIMER_REAL, clock))
    before = [signal.signal(number, on_signal) for number, _, _ in timers]
    for _, timer, seconds in timers:
        signal.setitimer(timer, seconds, seconds if timer == signal.ITIMER_REAL else 0)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def ring_again(computing: float):
    """Call the alarm of `timers` once more, when the process has computed for so much longer."""
    signal.setitimer(signal.ITIMER_PROF, max(computing, 0.01))
