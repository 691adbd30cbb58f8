"""A process that has Python and NumPy loaded and forks one worker for each notebook, which then starts in milliseconds.

It runs no learner's code itself, holds nothing of the grader but this room, and knows no check, seed or other
notebook. Over its channel come JSON requests, one a message: `start` with the two pipes of a worker, `end`.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from clearcheck.worker import child
from clearcheck.worker.limits import ENDING_SECONDS, PROCESSES

MESSAGE = 2**16  # bytes
SET_DUMPABLE, SET_CHILD_SUBREAPER = 4, 36  # of prctl(2)
WATCH_SECONDS = 0.2  # between two counts of a worker's processes
SWEEPS = 50  # rounds of ending what a worker left behind, which may start more meanwhile

too_many: set[int] = set()  # processes of a worker that were ended before it was


def main(descriptor: int, wiped: list[str]):
    """Serve until the channel is closed; everything in the folders `wiped` is the worker's and goes with it."""
    channel = socket.socket(fileno=descriptor)
    _protect()
    if wiped:  # a sandbox, whose processes are counted apart from the user's others
        resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))
    kept = {path: mounted for folder in wiped for path, mounted in _standing(folder)}
    importlib.import_module("numpy")
    gc.freeze()
    channel.send(b"{}")
    counted = bool(wiped) and os.getuid() == 0  # Linux limits no process of root
    while True:
        while counted and not select.select([channel], [], [], WATCH_SECONDS)[0]:
            _end_too_many()
        data, pipes, *_ = socket.recv_fds(channel, MESSAGE, 2)
        if not data:  # the grader has ended
            return
        request = json.loads(data)
        reply = _start(channel, pipes, **request) if pipes else _end(wiped, kept, **request)
        channel.send(json.dumps(reply).encode())


def _protect():
    """No process of the same user may look into this one, and whatever a worker leaves behind becomes its child."""
    prctl = ctypes.CDLL(None).prctl
    prctl(SET_DUMPABLE, 0, 0, 0, 0)
    prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _start(channel: socket.socket, pipes: list[int], preload: list[str]) -> dict:
    for name in preload:
        importlib.import_module(name)
    folder = tempfile.mkdtemp(prefix="clearcheck-")
    pid = os.fork()
    if pid == 0:
        channel.close()
        os.setsid()
        os.chdir(folder)
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        child.main(*pipes)
        os._exit(0)
    for pipe in pipes:
        os.close(pipe)
    return {"pid": pid, "folder": folder}


def _end_too_many():
    """End every process of the sandbox but this one, its first, at once where they are more than they may be."""
    there = _descendants()
    if len(there) > PROCESSES:
        os.kill(-1, signal.SIGKILL)
        too_many.update(there)


def _end(wiped: list[str], kept: dict[str, bool], pid: int, folder: str, wait: bool) -> dict:
    """How the worker ended by itself, where it is waited for, and how many processes it left behind."""
    status = _status(pid, ENDING_SECONDS if wait else 0)
    left = set(too_many)
    too_many.clear()
    for _ in range(SWEEPS):
        there = _descendants()
        left |= there
        for other in there:
            with contextlib.suppress(ProcessLookupError):
                os.kill(other, signal.SIGKILL)
        _reap()
        if not there:
            break
        time.sleep(0.002)
    shutil.rmtree(folder, ignore_errors=True)
    for parent in wiped:
        _wipe(parent, kept)
    return {"status": status, "left": len(left - {pid})}


def _standing(folder: str) -> Iterator[tuple[str, bool]]:
    """What a folder holds before any worker has run, and whether that is mounted: packages, and the way to them."""
    for entry in os.scandir(folder):
        mounted = os.path.ismount(entry.path)
        yield entry.path, mounted
        if not mounted and entry.is_dir(follow_symlinks=False):
            yield from _standing(entry.path)


def _wipe(folder: str, kept: dict[str, bool]):
    """Empty a folder but for what is kept; what is mounted is not looked into, since it may be large."""
    for entry in list(os.scandir(folder)):
        if entry.path not in kept:
            shutil.rmtree(entry.path, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.unlink(entry.path)
        elif not kept[entry.path] and entry.is_dir(follow_symlinks=False):
            _wipe(entry.path, kept)


def _status(pid: int, seconds: float) -> int | None:
    """The exit code, negative for a signal, or None where the process still runs after these seconds."""
    until = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= until:
            return None
        time.sleep(0.002)


def _descendants() -> set[int]:
    """Every living process below this one."""
    parents, dead = {}, set()
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                # The name in parentheses may hold anything, also a parenthesis.
                state, parent = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()[:2]
                parents[int(entry.name)] = int(parent)
                dead |= {int(entry.name)} if state == b"Z" else set()
    found, new = set(), {os.getpid()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - found
        found |= new
    return found - dead


def _reap():
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
