"""What Windows does otherwise: its encoding where none is named, its modules, its paths, its ends of lines."""

import ast
import re
import subprocess
import sys

import pytest

from tools import ROOT
from tools.takeaway import downloads, gradescope

FOLDERS = ("tools", "lib", "benchmarks", "tests/guard")
SOURCES = [ROOT / "conftest.py", ROOT / "tests" / "conftest.py"]
SOURCES += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
PROGRAMS = {path.relative_to(ROOT / "tools").as_posix() for path in (ROOT / "tools").rglob("*.py")}
LINUX_ALONE = {"checks/warm_tests.py"}  # make mutants forks, and runs on Linux once a week
NEEDS_POSIX = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
BINARY_OPENERS = {"gzip", "bz2", "lzma", "zipfile", "tarfile", "os", "webbrowser", "Image"}
MODE_COMES = {"open": 1, "fdopen": 1, "NamedTemporaryFile": 0, "TemporaryFile": 0}  # after so many arguments
BINARY_UNLESS_SAID = {"NamedTemporaryFile", "TemporaryFile"}


def unnamed_encodings(tree: ast.Module) -> list[int]:
    """The lines on which a text is read, written or heard from a program in the encoding that the system prefers."""
    return [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and prefers_the_system(node)]


def prefers_the_system(call: ast.Call) -> bool:
    """What Linux alone has is left out, and options that are handed on."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = ast.unparse(call.func.value).split(".")[-1] if isinstance(call.func, ast.Attribute) else ""
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    if "encoding" in given or None in given or "/proc/" in ast.unparse(call):
        return False
    if name in ("read_text", "write_text"):
        return len(call.args) == (name == "write_text")
    if name in MODE_COMES and not (name == "open" and owner in BINARY_OPENERS):
        place = 0 if name == "open" and owner else MODE_COMES[name]  # path.open("w")
        said = [ast.unparse(argument) for argument in call.args[place : place + 1]]
        mode = given.get("mode", said[0] if said else "b" if name in BINARY_UNLESS_SAID else "r")
        return "b" not in mode
    return "True" in (given.get("text"), given.get("universal_newlines"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_encoding_is_named(path):
    """Catches a file that a Windows reads as CP-1252, where a formula's letters become two others or an error."""
    assert unnamed_encodings(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("open('a')", True),
        ("open('a', 'w')", True),
        ("open('a', 'rb')", False),
        ("path.open()", True),
        ("path.open('xb')", False),
        ("path.open('w', encoding='utf-8')", False),
        ("gzip.open('a')", False),
        ("open('/proc/self/status')", False),
        ("path.read_text()", True),
        ("path.read_text('utf-8')", False),
        ("path.write_text('a')", True),
        ("path.write_text('a', encoding='utf-8')", False),
        ("run(command, text=True)", True),
        ("run(command, text=True, encoding='utf-8')", False),
        ("run(command, **options)", False),
        ("tempfile.NamedTemporaryFile()", False),
        ("tempfile.NamedTemporaryFile('w')", True),
        ("os.fdopen(handle, 'w')", True),
    ],
)
def test_a_missing_encoding_is_seen(code, found):
    assert bool(unnamed_encodings(ast.parse(code))) == found


@pytest.mark.parametrize("name", sorted(PROGRAMS - LINUX_ALONE))
def test_no_tool_needs_what_only_posix_has(name):
    """Catches an import at the top, and a function of os, that Windows lacks; a try around it is fine."""
    tree = ast.parse((ROOT / "tools" / name).read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    assert not names & NEEDS_POSIX
    used = re.findall(
        r"\b(os\.(?:fork|execv\w*|getuid|geteuid|kill|uname)|signal\.(?:alarm|SIGALRM|SIGKILL))\b", ast.unparse(tree)
    )
    assert used == []


WITHOUT = f"""
import os, sys
os.environ.pop("PYTHON", None)  # of the one who runs the tests
for name in {sorted(NEEDS_POSIX - {"posix"})!r}:
    sys.modules[name] = None
import shutil, signal, subprocess, tempfile
class Msvcrt:
    LK_NBLCK = 2
    locking = staticmethod(lambda descriptor, how, length: None)
sys.modules["msvcrt"] = Msvcrt
for name in ("fork", "getuid", "geteuid", "getpgid", "killpg", "uname", "setsid"):
    if hasattr(os, name): delattr(os, name)
for name in ("SIGALRM", "SIGHUP", "SIGKILL", "alarm", "setitimer", "pthread_sigmask"):
    if hasattr(signal, name): delattr(signal, name)
from tools.setup import bootstrap, extras, start, targets, vendor
from pathlib import Path
targets.WINDOWS = True
bootstrap.ROOT = Path(sys.argv.pop(1))
bootstrap.check_disk = lambda *asked: None
bootstrap.create = lambda venv: venv.mkdir()
bootstrap.install = lambda venv, root: print("installed")
targets.python_of = lambda venv: sys.executable
targets.TARGETS["check"] = targets.Target("", (targets.Step("-m ruff --version"), targets.Step("-m ruff")), "check")
sys.exit(start.main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["help"], 0, "tools/run.py TARGET"),
        (["setup"], 0, "installed"),
        (["check", "--help"], 0, "ruff"),
        (["check", "--nothing"], 2, "ruff"),
        (["serve", "x"], 2, "serve takes no arguments"),
    ],
)
def test_targets_run_where_these_modules_are_missing(tmp_path, words, code, said):
    """Catches a set-up, or a target, that ends on Windows in ModuleNotFoundError or AttributeError."""
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    command = [sys.executable, "-c", WITHOUT, tmp_path, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert said in done.stdout + done.stderr


def test_what_learners_read_has_lines_for_powershell():
    """Catches instructions for another system: a learner on Windows has no .venv/bin and no python3."""
    for text in ((ROOT / "chapters" / "setup.md").read_text(encoding="utf-8"), downloads.README):
        unix, windows = re.findall(r"^```sh\n", text, re.M), re.findall(r"^```powershell\n(.*?)```", text, re.M | re.S)
        assert unix and windows
        for block in windows:
            assert ".venv/bin" not in block and "python3" not in block and "\nmake " not in f"\n{block}"


def test_scripts_for_linux_keep_its_ends_of_lines():
    """Catches an autograder made on Windows that no shell can read: text mode would write CRLF."""
    assert "\r" not in gradescope.SETUP + gradescope.RUN
    attributes = (ROOT / ".gitattributes").read_text(encoding="utf-8")
    assert re.search(r"^\* +text=auto +eol=lf$", attributes, re.M)
