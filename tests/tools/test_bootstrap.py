"""The set-up: quick when done, afresh after an interruption, and one sentence for everything that can go wrong."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager, nullcontext

import pytest

from tools.setup import bootstrap, pythons
from tools.setup.bootstrap import SetupProblem

NEWER = (pythons.NEWEST[0], pythons.NEWEST[1] + 1)


def test_the_second_run_does_nothing(project):
    bootstrap.prepare(project.root)
    bootstrap.prepare(project.root)
    assert project.calls == ["create", "packages"]


def test_new_constraints_are_installed_into_the_same_environment(project):
    bootstrap.prepare(project.root)
    (project.root / "constraints.txt").write_text("numpy==2.5.0\n", encoding="utf-8")
    bootstrap.prepare(project.root)
    assert project.calls == ["create", "packages", "packages"]


def test_an_interrupted_set_up_starts_afresh(project, monkeypatch):
    def interrupt(venv, root):
        raise KeyboardInterrupt

    with monkeypatch.context() as during, pytest.raises(KeyboardInterrupt):
        during.setattr(bootstrap, "install", interrupt)
        bootstrap.prepare(project.root)
    bootstrap.prepare(project.root)
    assert project.calls == ["create", "create", "packages"]


def test_an_interrupted_update_starts_afresh(project, monkeypatch):
    bootstrap.prepare(project.root)
    (project.root / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    with monkeypatch.context() as during, pytest.raises(SetupProblem):
        during.setattr(bootstrap, "pip", lambda *arguments: (1, "No space left on device"))
        bootstrap.prepare(project.root)
    bootstrap.prepare(project.root)
    assert project.calls == ["create", "packages", "create", "packages"]


def test_a_moved_project_gets_a_new_environment(project, tmp_path_factory):
    bootstrap.prepare(project.root)
    moved = tmp_path_factory.mktemp("elsewhere") / "course"
    shutil.copytree(project.root, moved, symlinks=True)
    bootstrap.prepare(moved)
    assert project.calls == ["create", "packages"] * 2


def test_the_environment_of_another_folder_behind_a_link_is_left_alone(project, tmp_path):
    """Catches a second checkout that borrows the environment of the first, and empties it."""
    bootstrap.prepare(project.root)
    other = tmp_path / "other"
    shutil.copytree(project.root, other, ignore=shutil.ignore_patterns(".venv"))
    (other / ".venv").symlink_to(project.root / ".venv")
    with pytest.raises(SetupProblem, match=r"a link to the environment of .*, which a set-up here would delete"):
        bootstrap.prepare(other)
    bootstrap.prepare(project.root)
    assert project.calls == ["create", "packages"]


def test_an_environment_whose_python_is_gone_is_made_anew(project):
    bootstrap.prepare(project.root)
    python = bootstrap.python_of(project.root / ".venv")
    python.unlink()
    python.symlink_to(project.root / "gone")
    bootstrap.prepare(project.root)
    assert project.calls == ["create", "packages"] * 2


@pytest.mark.slow
def test_the_library_is_found_in_a_folder_with_any_name(tmp_path):
    """Catches an environment that only works in the language settings of its set-up: Python 3.11 and 3.12 read a path
    with an umlaut as ASCII where LC_ALL=C, and do not find the library.
    """
    root = tmp_path / "my köurse dir"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    (root / "lib").mkdir()
    (root / "lib" / "some_library.py").touch()
    (site,) = bootstrap.sites(root / ".venv")
    (site / "__editable__.clearformer-9.pth").write_text(f"{root / 'lib'}\n", encoding="utf-8")
    bootstrap.make_relative(root / ".venv", root)
    command = [bootstrap.python_of(root / ".venv"), "-c", "import some_library"]
    done = subprocess.run(command, env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"}, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_jupyter_book_2_is_refused_with_what_to_do(project):
    bootstrap.prepare(project.root)
    site = project.root / ".venv" / "lib" / "python3.12" / "site-packages" / "jupyter_book-2.0.1.dist-info"
    site.mkdir(parents=True)
    (site / "METADATA").write_text("Metadata-Version: 2.1\nName: jupyter-book\nVersion: 2.0.1\n", encoding="utf-8")
    with pytest.raises(SetupProblem, match=r"Jupyter Book 2\.0\.1 is in the way.*delete the folder \.venv"):
        bootstrap.prepare(project.root)


def test_python_without_venv(monkeypatch, tmp_path):
    monkeypatch.setattr(
        subprocess, "run", lambda *a, **k: subprocess.CompletedProcess(a, 1, "ensurepip is not available.", "")
    )
    with pytest.raises(SetupProblem, match=r"sudo apt install python3\.\d+-venv"):
        bootstrap.create(tmp_path / ".venv")


@pytest.mark.parametrize("version", [(3, 10, 4), (2, 7, 18)])
def test_an_old_python_says_which_to_take(monkeypatch, version):
    monkeypatch.setattr(sys, "version_info", version)
    with pytest.raises(SetupProblem, match=r"needs Python 3\.11 or newer .*start this file with Python 3\.12"):
        bootstrap.check_version()


def test_a_newer_python_is_tried_and_warned_of(monkeypatch, capsys):
    """Catches a course that ends on the day on which the next Python comes, and one that fails on it without a hint."""
    monkeypatch.setattr(sys, "version_info", (*NEWER, 0))
    bootstrap.check_version()
    warned = capsys.readouterr().err
    assert "newer than those that Clearformer is tested with" in warned
    bootstrap.stop("A package is missing.")
    assert capsys.readouterr().err.strip() == f"A package is missing. {warned}".strip()


@pytest.mark.parametrize("version", pythons.tested_versions())
def test_a_tested_python_is_not_warned_of(monkeypatch, capsys, version):
    monkeypatch.setattr(sys, "version_info", (*version, 0))
    bootstrap.check_version()
    bootstrap.stop("A package is missing.")
    assert capsys.readouterr().err == "\nA package is missing.\n"


def test_what_another_set_up_has_done_meanwhile_is_not_done_again(project, monkeypatch):
    """Catches two set-ups in one folder, of which the second deletes what the first has just made."""

    @contextmanager
    def set_up_meanwhile(path, sentence):
        monkeypatch.setattr(bootstrap, "wait_for_lock", lambda path, sentence: nullcontext())
        bootstrap.prepare(project.root)
        yield

    monkeypatch.setattr(bootstrap, "wait_for_lock", set_up_meanwhile)
    bootstrap.prepare(project.root)
    assert project.calls == ["create", "packages"]


@pytest.mark.parametrize("stamp", ["", "half of a st", "\udcff"])
def test_a_stamp_that_is_half_written_counts_as_none(project, stamp):
    """Catches a disk that was full at the last moment, taken for a finished set-up."""
    bootstrap.prepare(project.root)
    (project.root / ".venv" / bootstrap.STAMP).write_bytes(stamp.encode("utf-8", "surrogateescape"))
    bootstrap.prepare(project.root)
    assert project.calls[-1] == "packages" and len(project.calls) > 2
    assert bootstrap.is_ready(project.root)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(28, "No space left on device"), "The disk is full"),
        (OSError(30, "Read-only file system", ".cache"), "cannot be written"),
        (PermissionError(13, "Permission denied", ".cache"), "cannot be written"),
        (OSError(5, "Input/output error", "x"), "The set-up cannot go on"),
    ],
)
def test_what_the_system_refuses_is_no_traceback(monkeypatch, capsys, error, sentence):
    def refuse(root):
        raise error

    monkeypatch.setattr(bootstrap, "prepare", refuse)
    assert bootstrap.main() == 1
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 2


def test_ctrl_c_says_what_to_do(monkeypatch, capsys):
    def interrupt(root):
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "prepare", interrupt)
    assert bootstrap.main() == 130
    assert "run the same command again" in capsys.readouterr().err


def test_problems_end_with_exit_code_1_and_one_sentence(monkeypatch, capsys):
    def problem(root):
        raise SetupProblem("Do this.")

    monkeypatch.setattr(bootstrap, "prepare", problem)
    assert bootstrap.main() == 1
    assert capsys.readouterr().err.strip() == "Do this."
