"""The search for a fitting Python: with fake ones on the PATH, and from make on."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path, PureWindowsPath

import pytest

from tools import ROOT
from tools.setup import pythons

FITTING = f'exec "{sys.executable}" "$@"'
SHIM = 'echo "pyenv: command not found" >&2; exit 127'
OLDER, NEWER = (3, 9), (pythons.NEWEST[0], pythons.NEWEST[1] + 1)
READ_BY_OLD_ONES = ("__init__.py", "run.py", "setup/__init__.py", "setup/start.py", "setup/pythons.py")

posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")


def program_answering(version: tuple[int, int], path: str, complete: bool = True) -> str:
    """The program of a Python that answers this when it is asked."""
    return f"echo '{json.dumps([version, path, complete])}'"


@pytest.fixture
def unfit_python(program, monkeypatch):
    """This Python is too old, and nothing is on the PATH but what the test puts there; the function that puts it."""
    monkeypatch.setattr(pythons, "this_one", lambda: pythons.Python(OLDER, "/usr/bin/old", True))
    monkeypatch.setenv("PATH", str(program("nothing", "exit 1")))
    monkeypatch.delenv("PYTHON", raising=False)
    return program


def test_a_python_that_fits_goes_on_itself(monkeypatch, tmp_path):
    """Catches a search that starts other programs, or takes another Python, where there is no need."""
    monkeypatch.delenv("PYTHON", raising=False)
    monkeypatch.setattr(pythons, "ask_python", lambda command: pytest.fail(f"asked {command}"))
    monkeypatch.setattr(pythons, "this_one", lambda: pythons.Python(pythons.NEWEST, "/here", True))
    assert pythons.choose(tmp_path) == "/here"


@posix
def test_takes_a_fitting_python3(unfit_python, tmp_path):
    """The real probe, answered by the Python that runs the tests."""
    unfit_python("python3", FITTING)
    assert Path(pythons.choose(tmp_path)).samefile(sys.executable)


@posix
@pytest.mark.parametrize(
    "bad",
    [SHIM, program_answering(OLDER, "/old"), "exit 0", "echo 3.12", "kill -9 $$"],
    ids=["shim", "old", "silent", "chatty", "crash"],
)
def test_a_name_that_fails_is_passed_over(unfit_python, tmp_path, bad):
    unfit_python("python3", bad)
    unfit_python("python3.11", program_answering((3, 11), "/fits"))
    assert pythons.choose(tmp_path) == "/fits"


@posix
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (program_answering((3, 12), "/first", complete=False), program_answering((3, 12), "/second")),
        (program_answering(NEWER, "/first"), program_answering((3, 12), "/second")),
        (program_answering((3, 12), "/first", complete=False), program_answering(NEWER, "/second")),
        (program_answering(NEWER, "/first", complete=False), program_answering((3, 12), "/second", complete=False)),
    ],
)
def test_the_better_of_two_is_taken(unfit_python, tmp_path, first, second):
    """Complete before what cannot create environments, and tested before newer: the second is better each time."""
    unfit_python("python3", first)
    unfit_python("python", second)
    assert pythons.choose(tmp_path) == "/second"


@posix
def test_a_newer_one_is_taken_where_there_is_no_other(unfit_python, tmp_path):
    """Catches a bound above, which would lock the course on the day on which the next Python comes."""
    unfit_python("python3", program_answering(NEWER, "/newer"))
    assert pythons.choose(tmp_path) == "/newer"


@posix
def test_one_that_cannot_create_environments_is_taken_when_there_is_no_other(unfit_python, tmp_path):
    """The set-up names the package that is missing."""
    unfit_python("python3", program_answering((3, 12), "/bare", complete=False))
    assert pythons.choose(tmp_path) == "/bare"


@posix
def test_uv_brings_one_where_there_is_none(unfit_python, tmp_path):
    unfit_python("python3", program_answering((3, 12), "/bare", complete=False))
    unfit_python("uv", '[ "$2" = install ] && exit 0; echo /home/üv/python3.12')
    assert pythons.choose(tmp_path) == "/home/üv/python3.12"


@posix
def test_without_a_network_uv_does_not_stand_in_the_way(unfit_python, tmp_path):
    unfit_python("python3", program_answering((3, 12), "/bare", complete=False))
    unfit_python("uv", "exit 2")
    assert pythons.choose(tmp_path) == "/bare"


@posix
def test_none_gives_one_sentence_that_says_what_was_found_and_what_to_do(unfit_python, tmp_path):
    unfit_python("python3", program_answering(OLDER, "/old"))
    with pytest.raises(pythons.NoPython) as caught:
        pythons.choose(tmp_path)
    said = str(caught.value)
    assert "needs Python 3.11 or newer and found only others (python3 is 3.9)" in said and "\n" not in said
    assert "install Python 3.12 from https://" in said and said.endswith("then run the same command again.")


@posix
def test_the_named_python_is_the_only_one_tried(unfit_python, tmp_path, monkeypatch):
    unfit_python("python3", FITTING)
    folder = unfit_python("my pythön", program_answering(OLDER, "/old"))
    monkeypatch.setenv("PYTHON", str(folder / "my pythön"))
    with pytest.raises(pythons.NoPython, match=r"my pythön is 3\.9"):
        pythons.choose(tmp_path)
    unfit_python("my pythön", program_answering(NEWER, "/newer"))
    assert pythons.choose(tmp_path) == "/newer"


@posix
def test_the_environment_that_exists_will_do(unfit_python, tmp_path):
    inside = tmp_path / ".venv" / "bin"
    inside.mkdir(parents=True)
    (inside / "python").write_text(f"#!/bin/sh\n{program_answering((3, 12), '/inside')}\n", encoding="utf-8")
    (inside / "python").chmod(0o755)
    assert pythons.choose(tmp_path) == "/inside"


def test_on_windows_the_launcher_is_asked_for_each_version(monkeypatch, tmp_path):
    """Catches python3.12, which no Windows has, as the only name; and bin/python, where Windows has Scripts."""
    monkeypatch.setattr(pythons, "WINDOWS", True)
    tried = pythons.candidates(tmp_path)
    assert tried[0] == ["py", "-3.12"] and ["py", "-3.14"] in tried and ["python"] in tried
    course = PureWindowsPath(r"C:\Users\Jörg Müller\my course\.venv")
    assert str(pythons.python_of(course)) == r"C:\Users\Jörg Müller\my course\.venv\Scripts\python.exe"


@pytest.mark.parametrize("version", pythons.tested_versions())
def test_a_tested_version_is_not_warned_of(version):
    assert pythons.warning_for(version) == ""


def test_a_newer_version_is_warned_of_with_what_to_do():
    assert "newer than those that Clearformer is tested with (3.11 to 3.14)" in pythons.warning_for(NEWER)
    assert "install Python 3.12" in pythons.warning_for(NEWER)


@pytest.mark.parametrize("file", READ_BY_OLD_ONES)
def test_an_old_python_can_read_what_tells_it_that_it_is_old(file):
    """Catches syntax, annotations and modules that came after Python 3.6: its user would read a SyntaxError."""
    tree = ast.parse((ROOT / "tools" / file).read_text(encoding="utf-8"), feature_version=(3, 6))
    annotations = [node.annotation for node in ast.walk(tree) if isinstance(node, ast.arg | ast.AnnAssign)]
    annotations += [node.returns for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert all(isinstance(it, ast.Name | None) for it in annotations)  # str | None and list[str] are evaluated
    lines = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {alias.name for node in lines if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in lines if isinstance(node, ast.ImportFrom)}
    old = {"contextlib", "json", "os", "pathlib", "re", "shutil", "signal", "subprocess", "sys", "typing"}
    assert imported <= old | {"tools", "tools.run", "tools.setup"}
    given = {keyword.arg for node in ast.walk(tree) if isinstance(node, ast.Call) for keyword in node.keywords}
    assert not given & {"capture_output", "text", "missing_ok", "dirs_exist_ok"}


@pytest.fixture
def make(program, tmp_path):
    """Run make with the Makefile of the course beside a run.py that says who started it with what."""
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "Makefile", tmp_path)
    said = "import sys, os; print(sys.argv[1:], os.environ.get('PORT'), flush=True); sys.exit(len(sys.argv) - 2)"
    (tmp_path / "tools" / "run.py").write_text(said, encoding="utf-8")
    command = shutil.which("make") or pytest.skip("needs make")

    def run(*words: str) -> subprocess.CompletedProcess:
        environment = {"PATH": str(program("nothing", "exit 1"))}
        return subprocess.run([command, *words], cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8")

    return run


@posix
def test_make_hands_arguments_on_as_the_shell_reads_them(make, program):
    """Catches quotes that are lost, variables that do not arrive, and arguments given to a target that takes none."""
    program("python3", FITTING)
    done = make("test", "ARGS=-k 'cache or mask'", "PORT=8124")
    assert done.stdout.startswith("['test', '-k', 'cache or mask'] 8124") and done.returncode != 0
    assert make("clean-env", "setup", "ARGS=-x").stdout == "['clean-env'] None\n['setup'] None\n"


@posix
@pytest.mark.parametrize("bad", [SHIM, "exit 3"])
def test_make_passes_over_a_python_that_does_not_start(make, program, bad):
    program("python3", bad)
    program("python3.13", FITTING)
    assert make("setup").stdout == "['setup'] None\n"


@posix
def test_make_takes_a_python_from_anywhere(make, program):
    folder = program("my python", FITTING)
    assert make("setup", f"PYTHON={folder / 'my python'}").stdout == "['setup'] None\n"


@posix
def test_make_without_any_python_says_one_sentence(make):
    done = make("setup")
    assert done.returncode != 0 and "needs Python 3.11 or newer, and there is none" in done.stderr
    assert "Traceback" not in done.stderr and "not found" not in done.stderr


@posix
def test_make_without_any_python_lets_uv_bring_one(make, program):
    program("uv", f'[ "$2" = install ] && exit 0; echo "{sys.executable}"')
    assert make("setup").stdout == "['setup'] None\n"


def test_pyproject_names_the_same_versions():
    """Catches a bound that is moved in one place, and one above, with which pip would refuse the next Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={pythons.format_version(pythons.OLDEST)}"
    named = re.findall(r"Python :: (3\.\d+)$", "\n".join(project["classifiers"]), re.M)
    assert named == [pythons.format_version(version) for version in pythons.tested_versions()]
