"""A process that has Python and NumPy loaded and forks one worker for each notebook, which then starts in milliseconds.

It runs no learner's code itself, holds nothing of the grader but this room, and knows no check, seed or other
notebook. Over its channel come JSON requests, one a message: `start` with the two pipes of a worker, for how long one
has `computed`, `end`. In between it looks after the processes that a worker has started: how many they are, and how
much memory they hold together. In a sandbox each worker has rooms of its own (`private_rooms`); where the kernel
refuses them, the sandbox is used for one notebook alone.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import re
import resource
import select
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

from clearcheck.worker import child, private_rooms, system
from clearcheck.worker.limits import ENDING_SECONDS, PROCESSES
from clearcheck.worker.scratch_folder import remove_tree

MESSAGE = 2**16  # bytes
SET_DUMPABLE, SET_CHILD_SUBREAPER = 4, 36  # of prctl(2)
WATCH_SECONDS = 0.2  # between two looks at a worker's processes
HELD = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$", re.MULTILINE)  # what is not a copy of some file
PRIVATE, SHARED = b"p", b"s"  # what a worker says of its rooms
SWEEPS = 50  # rounds of ending what a worker left behind, which may start more meanwhile

running: dict[int, int] = {}  # for each worker the bytes that it and all that it starts may hold together
ended_early: set[int] = set()  # processes that were ended while their worker was running
too_much: set[int] = set()  # workers whose processes held more
tables: dict[int, int] = {}  # for each worker in rooms of its own a descriptor that lists the memory shared there
folders: set[str] = set()  # those that workers outside a sandbox have here and now


def main(descriptor: int, scratch: str):
    """Serve until the channel is closed; in a sandbox there is a folder `scratch`, outside there is no such name."""
    channel = socket.socket(fileno=descriptor)
    _protect()
    if scratch:  # a sandbox, whose processes are counted apart from the user's others
        resource.setrlimit(resource.RLIMIT_NPROC, (PROCESSES, PROCESSES))
    importlib.import_module("numpy")
    gc.freeze()
    channel.send(b"{}")
    with contextlib.suppress(ConnectionError):  # the grader has ended, maybe before it knew of its last worker
        _serve(channel, scratch)
    _leave_nothing(sandboxed=bool(scratch))


def _serve(channel: socket.socket, scratch: str):
    while True:
        while running and not select.select([channel], [], [], WATCH_SECONDS)[0]:
            _watch(sandboxed=bool(scratch))
        data, pipes, *_ = socket.recv_fds(channel, MESSAGE, 2)
        if not data:
            return
        request = json.loads(data)
        if pipes:
            reply = _start(channel, pipes, scratch, **request)
        elif "computed" in request:
            reply = {"seconds": system.computed_seconds(request["computed"])}
        else:
            reply = _end(bool(scratch), **request)
        channel.send(json.dumps(reply).encode())
        if scratch and not running:
            _end_the_sandbox_unless_empty()


def _protect():
    """No process of the same user may look into this one, and whatever a worker leaves behind becomes its child."""
    prctl = ctypes.CDLL(None).prctl
    prctl(SET_DUMPABLE, 0, 0, 0, 0)
    prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _start(
    channel: socket.socket, pipes: list[int], scratch: str, preload: list[str], memory: int, hidden: list[str]
) -> dict:
    for name in preload:
        importlib.import_module(name)
    folder = "" if scratch else tempfile.mkdtemp(prefix="clearcheck-")
    if folder:
        folders.add(folder)
    here, there = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        channel.close()
        here.close()
        os.setsid()
        private_rooms.join_new_keyring()
        with there:
            folder = folder or _move_in(there, scratch, _folders_of(hidden))
        os.chdir(folder)
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        child.main(*pipes)
        os._exit(0)
    there.close()
    for pipe in pipes:
        os.close(pipe)
    running[pid] = memory
    with here:
        private, table, *_ = socket.recv_fds(here, 1, 1)
    if table:
        tables[pid] = table[0]
    return {"pid": pid, "folder": folder, "once": bool(scratch) and private != PRIVATE}


def _folders_of(packages: list[str]) -> list[str]:
    """Where these packages lie, in all folders that modules are imported from."""
    folders = (os.path.join(folder, name) for folder in sys.path if folder for name in packages)
    return [folder for folder in folders if os.path.isdir(folder)]


def _move_in(server: socket.socket, scratch: str, hidden: list[str]) -> str:
    """In the worker: tell the server whether it has rooms of its own; the folder to work in."""
    try:
        private_rooms.enter_private_rooms(scratch, hidden)
    except OSError:
        server.send(SHARED)
    else:
        table = private_rooms.shared_memory_table()
        socket.send_fds(server, [PRIVATE], [] if table is None else [table])
        if table is not None:
            os.close(table)
    return tempfile.mkdtemp(prefix="clearcheck-", dir=scratch)


def _watch(sandboxed: bool):
    """End all processes of the workers where they hold too much, or are too many in a sandbox: Linux limits none of
    root's.
    """
    there = _descendants()
    shared = sum(map(private_rooms.shared_memory_bytes, tables.values()))
    if _held_bytes(there) + shared > sum(running.values()):
        too_much.update(running)
    elif not sandboxed or len(there) <= PROCESSES:
        return
    ended_early.update(there | _end_all(sandboxed))


def _held_bytes(pids: set[int]) -> int:
    """Bytes of memory that these processes hold, without what each may still share with this one: torch, if loaded."""
    shared = _memory(os.getpid())
    return sum(max(0, _memory(pid) - shared) for pid in pids)


def _memory(pid: int) -> int:
    with contextlib.suppress(OSError):
        return 1024 * sum(map(int, HELD.findall(Path(f"/proc/{pid}/status").read_bytes())))
    return 0


def _end(sandboxed: bool, pid: int, folder: str, wait: bool) -> dict:
    """How the worker ended by itself, where it is waited for, and how many processes it left behind."""
    status = _status(pid, ENDING_SECONDS if wait else 0)
    left = ended_early | _end_all(sandboxed)
    over_memory = pid in too_much
    for table in tables.values():
        os.close(table)
    for noted in (ended_early, too_much, running, tables):
        noted.clear()
    _reap()
    if folder:
        remove_tree(folder)
        folders.discard(folder)
    return {"status": status, "left": len(left - {pid}), "over_memory": over_memory}


def _leave_nothing(sandboxed: bool) -> NoReturn:
    """End, and before it all workers and what they have written; a sandbox ends with this process."""
    if folders:
        _end_all(sandboxed)
        for folder in folders:
            remove_tree(folder)
    os._exit(0)


def _end_all(sandboxed: bool) -> set[int]:
    """End every process below this one, and what they start meanwhile; those that there were."""
    ended: set[int] = set()
    for _ in range(SWEEPS):
        there = _descendants()
        ended |= there
        if not there:
            break
        if sandboxed:
            os.kill(-1, signal.SIGKILL)  # all but this one, its first, at once
        for pid in there:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)
    return ended


def _end_the_sandbox_unless_empty():
    """Where a process outlived all sweeps, Linux ends it with this one, the first of the sandbox: no notebook meets
    what another one has started.
    """
    if _descendants():
        os._exit(1)


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
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb", buffering=0) as file:
            # The name in parentheses may hold anything, also a parenthesis.
            state, parent = file.read().rpartition(b")")[2].split()[:2]
            parents[int(name)] = int(parent)
            dead |= {int(name)} if state == b"Z" else set()
    found, new = set(), {os.getpid()}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - found
        found |= new
    return found - dead


def _reap():
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
