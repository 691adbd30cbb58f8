"""Run a script as near to Windows as another system comes: `python as_windows.py SCRIPT ARGUMENTS`.

For the script and the modules of the project those of POSIX cannot be imported, and `os`, `signal`, `socket` and
`subprocess` have what they have on Windows; other packages, built for this system, keep what they need. Where the name
of the system is asked for it is win32, locks are those of `msvcrt`, and a text file without a named encoding is an
error. The variable `PYTHON_AS_WINDOWS` names the program that starts Python so; a first option `-S` is left out.
"""

import importlib.abc
import importlib.machinery
import os
import runpy
import signal
import socket  # noqa: F401 — to be among the modules that were imported
import subprocess
import sys
import types
import warnings

MODULES = {
    "_posixsubprocess",
    "crypt",
    "fcntl",
    "grp",
    "nis",
    "ossaudiodev",
    "posix",
    "pty",
    "pwd",
    "readline",
    "resource",
    "spwd",
    "syslog",
    "termios",
    "tty",
}
SIGNALS = {"SIGABRT", "SIGBREAK", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "SIG_DFL", "SIG_IGN"}
LACKING = {
    "os": {
        "O_CLOEXEC",
        "O_DIRECTORY",
        "O_NOFOLLOW",
        "O_NONBLOCK",
        "P_ALL",
        "P_PID",
        "WNOHANG",
        "chown",
        "chroot",
        "confstr",
        "ctermid",
        "fchown",
        "fork",
        "forkpty",
        "fstatvfs",
        "getegid",
        "geteuid",
        "getgid",
        "getgroups",
        "getloadavg",
        "getpgid",
        "getpgrp",
        "getpriority",
        "getresuid",
        "getsid",
        "getuid",
        "initgroups",
        "killpg",
        "lchown",
        "lockf",
        "memfd_create",
        "mkfifo",
        "mknod",
        "nice",
        "openpty",
        "pipe2",
        "posix_spawn",
        "pread",
        "preadv",
        "pwrite",
        "register_at_fork",
        "sched_getaffinity",
        "sched_setaffinity",
        "sched_yield",
        "sendfile",
        "setgid",
        "setgroups",
        "setpgid",
        "setpriority",
        "setsid",
        "setuid",
        "statvfs",
        "sync",
        "sysconf",
        "ttyname",
        "uname",
        "wait",
        "wait3",
        "wait4",
        "waitid",
    },
    "signal": {name for name in dir(signal) if name.startswith("SIG") and name not in SIGNALS}
    | {name for name in dir(signal) if name.startswith(("ITIMER_", "pthread_", "sigw", "sigt", "sigp"))}
    | {"alarm", "getitimer", "pause", "setitimer", "siginterrupt"},
    "socket": {"AF_UNIX", "CMSG_LEN", "SCM_RIGHTS", "SOCK_SEQPACKET", "recv_fds", "send_fds", "socketpair"},
}
NO_OPTION = {"preexec_fn", "pass_fds", "start_new_session", "process_group"}


class Popen(subprocess.Popen):
    def __init__(self, *args, creationflags: int = 0, **options):
        assert not NO_OPTION & set(options), f"Windows starts no process with {NO_OPTION & set(options)}."
        env, program = options.get("env"), (args[0] if args else options["args"])[0]
        if program == sys.executable:  # PyTorch asks programs of Linux where its libraries are
            assert env is None or "SYSTEMROOT" in env, "Windows starts no Python without the variable SYSTEMROOT."
        super().__init__(*args, **options)


OURS = ("__main__", "clearbook", "clearcheck", "clearclass", "clearformer")


def called_by_project(depth: int) -> bool:
    """Whether code of the project asks, or the script, which may be a learner's."""
    frame: types.FrameType | None = sys._getframe(depth + 1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith("<frozen importlib") and file != __file__:
            return frame.f_globals.get("__name__", "").partition(".")[0] in OURS
        frame = frame.f_back
    return False


class ModuleOnWindows(types.ModuleType):
    """A module of the standard library, which for the project lacks what it lacks on Windows."""

    def __init__(self, module: types.ModuleType, lacking: set[str]):
        super().__init__(module.__name__)
        names = {name: value for name, value in vars(module).items() if name not in lacking}
        vars(self).update(names, _module=module)

    def __getattr__(self, name: str):
        if called_by_project(1):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on Windows")
        return getattr(self._module, name)


class Finder(importlib.abc.MetaPathFinder):
    """Finds no module of POSIX for the project, and lets it ask for the name of the system in one file alone."""

    def find_spec(self, name, path=None, target=None):
        if name in MODULES and called_by_project(1):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name != "clearcheck.worker.system":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        assert spec is not None and spec.loader is not None
        setattr(spec.loader, "exec_module", as_win32(spec.loader.exec_module))  # noqa: B010, a method by its name
        return spec


def as_win32(load):
    def load_as_win32(module):
        platform = sys.platform
        sys.platform = "win32"
        try:
            load(module)
        finally:
            sys.platform = platform

    return load_as_win32


def msvcrt() -> types.ModuleType:
    """The part of it that locks files, made of the locks of this system."""
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock

    def locking(descriptor: int, mode: int, n_bytes: int):
        try:
            flock(descriptor, mode)
        except BlockingIOError:
            raise PermissionError(13, "Permission denied") from None

    module = types.ModuleType("msvcrt")
    vars(module).update(locking=locking, LK_NBLCK=LOCK_EX | LOCK_NB, LK_UNLCK=LOCK_UN)
    return module


def begin():
    for name, lacking in LACKING.items():
        sys.modules[name] = ModuleOnWindows(sys.modules[name], lacking)
    sys.modules["subprocess"] = ModuleOnWindows(subprocess, set())
    vars(sys.modules["subprocess"]).update(Popen=Popen, CREATE_NEW_PROCESS_GROUP=0x200, CREATE_NO_WINDOW=0x8000000)
    sys.modules["msvcrt"] = msvcrt()
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Finder())
    warnings.filterwarnings("ignore", category=EncodingWarning)
    warnings.filterwarnings("error", category=EncodingWarning, module="clear|__main__")
    sys.executable = os.environ.get("PYTHON_AS_WINDOWS", sys.executable)


if __name__ == "__main__":
    sys.argv = [word for word in sys.argv[1:] if word != "-S"]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    begin()
    runpy.run_path(sys.argv[0], run_name="__main__")
