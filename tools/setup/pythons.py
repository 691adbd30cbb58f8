"""Which Pythons the course is for, and the search for one of them on this machine.

Written for Python 3.6, so that an old one can say that it is too old. The bounds stand here for all programs;
pyproject.toml repeats the lower one for pip.
"""

import json
import os
import shutil
import subprocess
import sys
from typing import NamedTuple

from tools import ROOT

OLDEST, NEWEST = (3, 11), (3, 14)  # a newer one is taken where there is no other, with a warning
ADVISED = "3.12"
WINDOWS = os.name == "nt"
PROBE = """
import json, sys
try:
    import ensurepip, venv
    complete = True
except ImportError:
    complete = False
print(json.dumps([list(sys.version_info[:2]), sys.executable, complete]))
"""


class NoPython(Exception):
    """No Python fits; the text is one sentence that says what to do."""


class Python(NamedTuple):
    """A Python, and whether it is complete: Debian's cannot create environments without a package of its own."""

    version: tuple
    path: str
    complete: bool


def choose(root=ROOT):
    """The path of the Python to go on with: this one, or the first that fits better.

    PYTHON=... in the environment names the one to take. Raises: NoPython.
    """
    if os.environ.get("PYTHON"):
        return best_path(find_pythons([[os.environ["PYTHON"]]])) or raise_no_python([[os.environ["PYTHON"]]])
    here = this_one()
    if is_tested(here) and here.complete:
        return here.path
    others = candidates(root)
    every = [here, *find_pythons(others)]
    if not any(is_tested(python) and python.complete for python in every):
        brought = brought_by_uv()
        if brought:
            return brought
    return best_path(every) or raise_no_python(others)


def this_one():
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return Python(sys.version_info[:2], sys.executable, False)
    return Python(sys.version_info[:2], sys.executable, True)


def candidates(root):
    """The commands to try, in order; that of an environment which exists last, since it may have to be made anew."""
    versions = [ADVISED] + [
        format_version(version) for version in tested_versions() if format_version(version) != ADVISED
    ]
    own = [str(python_of(root / ".venv"))]
    if WINDOWS:
        return [["py", "-" + version] for version in versions] + [["python"], ["python3"], own]
    return [["python3"]] + [["python" + version] for version in versions] + [["python"], own]


def find_pythons(commands):
    """What those of the commands that are Pythons say of themselves; a name on the PATH may be a shim that fails."""
    answers = [ask_python(command) for command in commands]
    return [python for python in answers if python is not None]


def ask_python(command):
    try:
        done = subprocess.run(
            [*command, "-c", PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )
        version, path, complete = json.loads(done.stdout.decode("ascii"))
    except (OSError, subprocess.TimeoutExpired, ValueError, TypeError):
        return None
    return Python(tuple(version), path, complete)


def best_path(pythons):
    """The path of the first that is tested and complete, else newer and complete, else only one of the two; or None."""
    fitting = [python for python in pythons if python.version >= OLDEST]
    ordered = sorted(fitting, key=lambda python: (not python.complete, not is_tested(python)))
    return ordered[0].path if ordered else None


def brought_by_uv():
    """The path of a Python that uv has, or fetches; None without uv or a network."""
    uv = shutil.which("uv")
    if uv is None or subprocess.call([uv, "python", "install", "--quiet", ADVISED], stdout=sys.stderr) != 0:
        return None
    done = subprocess.run([uv, "python", "find", ADVISED], stdout=subprocess.PIPE)
    return os.fsdecode(done.stdout).strip() if done.returncode == 0 else None


def raise_no_python(commands):
    """Raises: NoPython, which names what was found instead."""
    tried = {" ".join(command): ask_python(command) for command in commands}
    seen = [f"{command} is {format_version(python.version)}" for command, python in tried.items() if python]
    what = f"only others ({', '.join(seen)})" if seen else f"none (tried {' '.join(tried)})"
    raise NoPython(
        f"Clearformer needs Python {format_version(OLDEST)} or newer and found {what}: install Python {ADVISED} from "
        "https://www.python.org/downloads/ or with your package manager, or name one with PYTHON=/path/to/python, "
        "then run the same command again."
    )


def warning_for(version):
    """What to say of a Python that is newer than those that the course is tested with; nothing of the others."""
    if version <= NEWEST:
        return ""
    return (
        f"Python {format_version(version)} is newer than those that Clearformer is tested with ({span()}). "
        f"If a package cannot be installed or a test fails, install Python {ADVISED} and name it: "
        f"PYTHON=/path/to/python{ADVISED}."
    )


def is_tested(python):
    return OLDEST <= python.version <= NEWEST


def tested_versions():
    return [(OLDEST[0], minor) for minor in range(OLDEST[1], NEWEST[1] + 1)]


def span():
    return f"{format_version(OLDEST)} to {format_version(NEWEST)}"


def format_version(version):
    return f"{version[0]}.{version[1]}"


def python_of(venv):
    """The Python of an environment."""
    return venv / ("Scripts/python.exe" if WINDOWS else "bin/python")
