"""What the process of one notebook has for itself alone inside the sandbox, and takes along when it ends.

These are namespaces of Linux for mounts, System V memory, the network and users, with a scratch folder of its own in
memory, and a session keyring. The table of processes stays the sandbox's. A table of its own would need a `/proc` of
its own, which Linux refuses (mount(2): EPERM, in Linux 6.18 and bubblewrap 0.8) where a sandbox has covered parts of
the first, and with the old one `/proc` shows other numbers than `os.getpid()`. It is not needed: a sandbox runs one
notebook at a time, its first process ends all others before the next one, and where one is left, itself and with it
the whole sandbox (`server`).
"""

import contextlib
import ctypes
import fcntl
import os
import platform
import re
import socket
import struct
from collections.abc import Iterable
from pathlib import Path

from clearcheck.worker.limits import SCRATCH_BYTES

# Of unshare(2), mount(2), prctl(2) and netdevice(7).
NEW_MOUNTS, NEW_IPC, NEW_USERS, NEW_NETWORK = 0x20000, 0x8000000, 0x10000000, 0x40000000
READ_ONLY, NO_SET_ID, NO_DEVICES, BIND, RECURSIVE, PRIVATE = 0x1, 0x2, 0x4, 0x1000, 0x4000, 0x40000
SET_DUMPABLE, DROP_FROM_BOUNDS, SET_NO_NEW_PRIVILEGES = 4, 24, 38
SET_FLAGS, UP, FLAGS = 0x8914, 0x1, "16sh14x"
CAPABILITIES_VERSION, CAPABILITIES = 0x20080522, 64
JOIN_SESSION_KEYRING = 1
KEYCTL = {"x86_64": 250, "i686": 288, "armv7l": 311, "ppc64le": 271, "s390x": 280, "aarch64": 219, "riscv64": 219}
SHARED_MEMORY = "/proc/sysvipc/shm"
OCTAL = re.compile(r"\\(\d{3})")  # how the table of mounts writes a space

_libc = ctypes.CDLL(None, use_errno=True)


def enter_private_rooms(scratch: str, hidden: Iterable[str] = ()):
    """Take this process, which has one thread, into rooms of its own, with an empty folder `scratch`; it has no rights
    there, what is mounted below the folder, such as packages, stays, and nothing is left in the folders `hidden`.

    Raises: OSError where the kernel refuses.
    """
    user, group = os.getuid(), os.getgid()
    _call("prctl", SET_DUMPABLE, 1, 0, 0, 0)  # else its files in /proc are root's
    _call("unshare", NEW_USERS | NEW_MOUNTS | NEW_IPC | NEW_NETWORK)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path("/proc/self", name).write_text(text)
    _mount("none", "/", None, RECURSIVE | PRIVATE)
    _cover(scratch)
    for folder in hidden:
        _mount("tmpfs", folder, "tmpfs", READ_ONLY | NO_SET_ID | NO_DEVICES, "mode=755")
    _raise_loopback()
    _drop_rights()
    _call("prctl", SET_DUMPABLE, 0, 0, 0, 0)


def join_new_keyring():
    """Where the kernel refuses this, it offers no keys to the learner's code either."""
    if platform.machine() in KEYCTL:
        _libc.syscall(KEYCTL[platform.machine()], JOIN_SESSION_KEYRING, None)


def shared_memory_table() -> int | None:
    """A descriptor by which another process reads the System V memory of this one's room; None where there is none."""
    with contextlib.suppress(OSError):
        return os.open(SHARED_MEMORY, os.O_RDONLY | os.O_CLOEXEC)
    return None


def shared_memory_bytes(table: int) -> int:
    """Bytes of all System V segments that a table lists, in memory or swapped out, whoever has them attached."""
    os.lseek(table, 0, os.SEEK_SET)
    lines = b"".join(iter(lambda: os.read(table, 2**16), b"")).splitlines()[1:]
    return sum(int(resident) + int(swapped) for *_, resident, swapped in map(bytes.split, lines))


def _cover(scratch: str):
    """Mount an empty folder over `scratch`, and in it again what had been mounted below."""
    kept = [(path, os.open(path, os.O_PATH | os.O_CLOEXEC)) for path in _mounts_below(scratch)]
    _mount("tmpfs", scratch, "tmpfs", NO_SET_ID | NO_DEVICES, f"size={SCRATCH_BYTES},mode=1777")
    for path, descriptor in kept:
        os.makedirs(path)
        _mount(f"/proc/self/fd/{descriptor}", path, None, BIND | RECURSIVE)
        os.close(descriptor)


def _mounts_below(folder: str) -> list[str]:
    """The outermost folders below one that something is mounted at."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    points = {OCTAL.sub(lambda code: chr(int(code[1], 8)), line.split()[4]) for line in lines}
    below = sorted(point for point in points if point.startswith(f"{folder}/"))
    return [point for point in below if not any(point.startswith(f"{other}/") for other in below)]


def _raise_loopback():
    """A new network has a loopback that is down, and code that asks itself by 127.0.0.1 is no harm."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack(FLAGS, b"lo", UP))


def _drop_rights():
    """Whoever makes a namespace of users may do everything in it, until these are gone."""
    _call("prctl", SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    for right in range(CAPABILITIES):
        _libc.prctl(DROP_FROM_BOUNDS, right, 0, 0, 0)  # fails for numbers that this kernel does not know
    header, nothing = struct.pack("Ii", CAPABILITIES_VERSION, 0), bytes(24)
    _call("capset", header, nothing)


def _mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None):
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    _call("mount", *texts[:3], ctypes.c_ulong(flags), texts[3])


def _call(name: str, *args):
    if getattr(_libc, name)(*args):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
