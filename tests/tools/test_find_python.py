"""The search for a fitting Python, with fake ones on the PATH."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "find-python.sh"
FITTING = f'exec "{sys.executable}" "$@"'
SHIM = 'echo "pyenv: command not found" >&2; exit 127'
OLD = "echo 3.9; exit 1"  # what the probe prints on Python 3.9
BARE = 'case "$*" in *ensurepip*) echo "bare /usr/bin/bare" ;; esac'

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")


def find(folder: Path, cwd: Path, python: str | None = None):
    environment = {"PATH": str(folder)} | ({"PYTHON": python} if python else {})
    return subprocess.run(["/bin/sh", SCRIPT], env=environment, cwd=cwd, capture_output=True, text=True)


def test_takes_a_fitting_python3(program, tmp_path):
    found = find(program("python3", FITTING), tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
    assert Path(found.stdout.strip()).samefile(sys.executable)


@pytest.mark.parametrize("bad", [SHIM, OLD, "exit 0", "kill -9 $$"], ids=["shim", "old", "silent", "crash"])
def test_a_name_that_fails_is_passed_over(program, tmp_path, bad):
    program("python3", bad)
    found = find(program("python3.11", FITTING), tmp_path)
    assert Path(found.stdout.strip()).samefile(sys.executable)


def test_one_that_can_create_environments_is_preferred(program, tmp_path):
    program("python3", BARE)
    found = find(program("python", FITTING), tmp_path)
    assert Path(found.stdout.strip()).samefile(sys.executable)


def test_one_that_cannot_is_taken_when_there_is_no_other(program, tmp_path):
    assert find(program("python3", BARE), tmp_path).stdout == "/usr/bin/bare\n"


def test_uv_brings_one_where_there_is_none(program, tmp_path):
    program("python3", BARE)
    folder = program("uv", '[ "$2" = install ] && exit 0; echo /home/uv/python3.12')
    assert find(folder, tmp_path).stdout == "/home/uv/python3.12\n"


def test_without_a_network_uv_does_not_stand_in_the_way(program, tmp_path):
    program("python3", BARE)
    assert find(program("uv", "exit 2"), tmp_path).stdout == "/usr/bin/bare\n"


def test_none_at_all_gives_one_sentence_that_says_which_to_take(tmp_path):
    found = find(tmp_path, tmp_path)
    assert found.returncode == 1 and found.stdout == ""
    assert "needs Python 3.11, 3.12 or 3.13" in found.stderr and "install Python 3.12" in found.stderr
    assert found.stderr.count("\n") == 1


def test_a_wrong_version_is_named(program, tmp_path):
    assert "python3 is 3.9" in find(program("python3", OLD), tmp_path).stderr


def test_the_named_python_is_the_only_one_tried(program, tmp_path):
    folder = program("python3", FITTING)
    program("my python", OLD)
    found = find(folder, tmp_path, python=str(folder / "my python"))
    assert found.returncode == 1 and "my python is 3.9" in found.stderr


def test_the_environment_that_exists_will_do(tmp_path):
    inside = tmp_path / ".venv" / "bin"
    inside.mkdir(parents=True)
    (inside / "python").write_text(f"#!/bin/sh\n{FITTING}\n")
    (inside / "python").chmod(0o755)
    assert Path(find(tmp_path, tmp_path).stdout.strip()).samefile(sys.executable)
