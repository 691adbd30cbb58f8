"""What a worker finds around it: packages, a few variables, and in a sandbox files of little else."""

import os
import shutil
import site
import sys
from pathlib import Path

from clearcheck.own_course import AUTHORING, CHECKOUT, own_course
from clearcheck.worker.limits import SCRATCH_BYTES

SCRATCH = "/tmp"  # in a sandbox, in memory
ROOMS = "/course"  # where the copy of what a worker may import lies in a sandbox
ORDINARY_USER = "1000"  # who everybody is in a sandbox: a root without rights may not make namespaces of its own in it
KEPT_VARIABLES = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    # of Windows
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
)
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
GRADERS = ("clearcheck", "clearclass")  # installed packages that a submission is not to see
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/ld.so.cache", "/etc/alternatives")


def packages() -> list[str]:
    """Where installed packages lie: their `.pth` files, one of which may name the course, are not read."""
    return [folder for folder in [*site.getsitepackages(), site.getusersitepackages()] if Path(folder).is_dir()]


def environment(scratch: str) -> dict[str, str]:
    """Enough to start Python with what an exercise may import, and none of the user's other variables."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    own = {
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "Agg",
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), scratch),
    }
    return {**kept, **own, **dict.fromkeys(ONE_THREAD, "1")}


def sandbox(home: str) -> list[str]:
    """The command that runs another one where only Python, its packages and the folder `home` are to be seen.

    Raises: FileNotFoundError where bubblewrap is not installed.
    """
    found = shutil.which("bwrap")
    if not found:
        raise FileNotFoundError("there is no program bwrap: install bubblewrap")
    needed = [sys.base_prefix, sys.prefix, str(Path(sys.executable).resolve().parent), *packages()]
    readable = [path for path in dict.fromkeys([*SYSTEM, *needed]) if Path(path).exists()]
    graders = [str(path) for folder in packages() for name in GRADERS if (path := Path(folder, name)).is_dir()]
    courses = [path for path in _courses_below(readable) if not _is_below(path, graders)]
    # Of an environment that is hidden with the course in or around it, what Python starts from.
    started_from = [os.path.dirname(sys.executable), os.path.join(sys.prefix, "pyvenv.cfg")]
    again = [path for path in (*readable, *started_from) if _is_below(path, courses) and Path(path).exists()]
    command = [found, "--unshare-all", "--as-pid-1", "--die-with-parent", "--new-session"]
    command += ["--unshare-user", "--uid", ORDINARY_USER, "--gid", ORDINARY_USER]
    command += ["--cap-drop", "ALL", "--hostname", "worker"]
    command += ["--size", str(SCRATCH_BYTES), "--tmpfs", SCRATCH]
    command += [*_bind_options(readable), *_repeat_option("--tmpfs", courses), *_bind_options(again)]
    command += [*_repeat_option("--tmpfs", graders), *_repeat_option("--remount-ro", [*courses, *graders])]
    command += ["--ro-bind", home, ROOMS]
    command += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*command, "--chdir", SCRATCH]


def _courses_below(readable: list[str]) -> list[str]:
    """Where the author's answers would be read: a course may lie in the environment, as with `pip install -e git+…`."""
    found = []
    for course in (CHECKOUT, own_course()):
        if (course / AUTHORING).is_dir():
            bound = ((path, Path(path).resolve()) for path in readable)
            found += [str(Path(path, course.relative_to(real))) for path, real in bound if course.is_relative_to(real)]
    return sorted(set(found), key=len)


def _is_below(path: str, folders: list[str]) -> bool:
    return any(path != folder and Path(path).is_relative_to(folder) for folder in folders)


def _bind_options(paths: list[str]) -> list[str]:
    return [word for path in paths for word in ("--ro-bind", path, path)]


def _repeat_option(option: str, paths: list[str]) -> list[str]:
    return [word for path in paths for word in (option, path)]
