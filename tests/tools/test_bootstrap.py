"""The set-up: quick when done, afresh after an interruption, and one sentence for everything that can go wrong."""

import os
import shutil
import subprocess
import sys
import sysconfig
from collections import namedtuple
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from tools.setup import bootstrap, pythons
from tools.setup.bootstrap import SetupProblem

NEWER = (pythons.NEWEST[0], pythons.NEWEST[1] + 1)
SPACE = namedtuple("Space", "total used free")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project folder whose environment is made without pip: calls are recorded in project.calls."""
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    (tmp_path / "constraints.txt").write_text("numpy==2.4.6\ntorch==2.13.0\n", encoding="utf-8")
    calls = []

    def create(venv):
        """An environment with a pip to import, which the Python that it belongs to need not have."""
        shutil.rmtree(venv, ignore_errors=True)
        bootstrap.python_of(venv).parent.mkdir(parents=True)
        bootstrap.python_of(venv).symlink_to(sys.executable)
        (venv / "pyvenv.cfg").write_text(f"home = {Path(sys._base_executable).parent}\n", encoding="utf8")
        Path(sysconfig.get_path("purelib", "venv", {"base": str(venv)}), "pip").mkdir(parents=True)
        calls.append("create")

    def pip(venv, *arguments):
        calls.append("torch" if bootstrap.CPU_INDEX in arguments else "packages")
        return 0, ""

    monkeypatch.setattr(bootstrap, "names_an_index", lambda venv: True)  # uv has its own tests below

    monkeypatch.setattr(bootstrap, "create", create)
    monkeypatch.setattr(bootstrap, "pip", pip)
    monkeypatch.setattr(bootstrap, "check_disk", lambda root, *needed: None)
    monkeypatch.setattr(bootstrap, "has_nvidia_gpu", lambda: True)
    tmp_path_and_calls = namedtuple("Project", "root calls")
    return tmp_path_and_calls(tmp_path, calls)


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
    def interrupted(venv, root):
        raise KeyboardInterrupt

    with monkeypatch.context() as during, pytest.raises(KeyboardInterrupt):
        during.setattr(bootstrap, "install", interrupted)
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


@pytest.mark.parametrize(("gpu", "platform", "expected"), [
    (False, "linux", ["torch", "packages"]), (True, "linux", ["packages"]), (False, "darwin", ["packages"]),
])  # fmt: skip
def test_the_cpu_build_is_tried_on_linux_without_a_gpu(project, monkeypatch, gpu, platform, expected):
    monkeypatch.setattr(bootstrap, "has_nvidia_gpu", lambda: gpu)
    monkeypatch.setattr(sys, "platform", platform)
    bootstrap.install(project.root / ".venv", project.root)
    assert project.calls == expected


def test_the_default_build_is_taken_when_the_cpu_index_is_away(project, monkeypatch, capsys):
    def pip(venv, *arguments):
        project.calls.append(arguments)
        return (1, "ConnectTimeout") if bootstrap.CPU_INDEX in arguments else (0, "")

    monkeypatch.setattr(bootstrap, "pip", pip)
    monkeypatch.setattr(bootstrap, "has_nvidia_gpu", lambda: False)
    monkeypatch.setattr(sys, "platform", "linux")
    bootstrap.install(project.root / ".venv", project.root)
    first, second = project.calls
    assert "torch==2.13.0" in first and "--retries" in first and first[first.index("--retries") + 1] == "0"
    assert bootstrap.CPU_INDEX not in second
    assert "default build" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "sentence"), [
    ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "The disk is full"),
    ("Retrying after connection broken by 'NewConnectionError(...)': /simple/numpy/", "index cannot be reached"),
    ("Could not find a version that satisfies the requirement numpy (from versions: none)", "or it has no version"),
    ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", "PIP_CERT"),
    ("error: failed to write: Disk quota exceeded (os error 122)", "The disk is full"),
    ("PermissionError: [Errno 13] Permission denied: '.venv/x'", "check who owns"),
    ("OSError: [Errno 30] Read-only file system: '.venv/x'", "its disk is not read-only"),
    (r"PermissionError: [WinError 32] The process cannot access the file: 'C:\\course\\.venv\\x.dll'", "is in use"),
    ("UnicodeEncodeError: 'charmap' codec can't encode characters in position 3-5", "move the project"),
    ("HINT: This error might have occurred since this system does not have Windows Long Path support enabled.",
     "a short path"),
])  # fmt: skip
def test_what_pip_says_becomes_one_sentence(project, monkeypatch, words, sentence):
    monkeypatch.setattr(bootstrap, "pip", lambda *arguments: (1, words))
    with pytest.raises(SetupProblem, match=sentence) as caught:
        bootstrap.install(project.root / ".venv", project.root)
    assert "\n" not in str(caught.value) and "run the same command again" in str(caught.value)


@pytest.fixture
def with_uv(project, monkeypatch):
    """A project whose pip works, and a stand-in for uv whose exit code is project.uv; everything called is listed."""
    calls, codes = [], {"uv": 0}

    def run(command, **options):
        calls.append(command[1:3])
        return subprocess.CompletedProcess(command, codes["uv"], "", "")

    def pip(venv, *arguments):
        calls.append(arguments[-1] if arguments[-1] in ("uv", "torch==2.13.0") else "packages")
        return codes.get(arguments[-1], 0), ""

    monkeypatch.setattr(bootstrap, "names_an_index", lambda venv: False)
    monkeypatch.setattr(bootstrap, "pip", pip)
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: None)
    monkeypatch.setattr(bootstrap.subprocess, "run", run)
    return namedtuple("WithUv", "root calls codes")(project.root, calls, codes)


def test_uv_installs_after_pip_has_chosen_the_build_of_torch(with_uv):
    """Catches a set-up in which uv, which reads none of pip's settings, brings gigabytes of CUDA."""
    bootstrap.install(with_uv.root / ".venv", with_uv.root)
    assert with_uv.calls == ["uv", "torch==2.13.0", ["pip", "install"]]


def test_an_uv_that_is_there_is_not_installed(with_uv, monkeypatch):
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: sys.executable)
    bootstrap.install(with_uv.root / ".venv", with_uv.root)
    assert with_uv.calls == ["torch==2.13.0", ["pip", "install"]]


def test_pip_installs_where_uv_cannot(with_uv, monkeypatch, capsys):
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: sys.executable)
    with_uv.codes["uv"] = 2
    bootstrap.install(with_uv.root / ".venv", with_uv.root)
    assert with_uv.calls[-1] == "packages" and "pip tries" in capsys.readouterr().out


def test_pip_installs_where_uv_is_not_to_be_had(with_uv):
    with_uv.codes["uv"] = 1  # of pip install uv
    bootstrap.install(with_uv.root / ".venv", with_uv.root)
    assert with_uv.calls == ["uv", "packages"]


@pytest.mark.parametrize(("variable", "named"), [
    ("PIP_INDEX_URL", True), ("PIP_NO_INDEX", True), ("PIP_EXTRA_INDEX_URL", False), ("PIP_TIMEOUT", False),
])  # fmt: skip
def test_an_index_in_pips_settings_is_noticed(tmp_path, monkeypatch, variable, named):
    """The real pip, asked for its settings."""
    for name in ("PIP_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv(variable, "1")
    monkeypatch.setattr(bootstrap, "python_of", lambda venv: Path(sys.executable))
    assert bootstrap.names_an_index(tmp_path) == named


def test_what_is_not_understood_is_shown(project, monkeypatch, capsys):
    monkeypatch.setattr(bootstrap, "pip", lambda *arguments: (1, "ERROR: something new"))
    with pytest.raises(SetupProblem, match="its own words stand above"):
        bootstrap.install(project.root / ".venv", project.root)
    assert "something new" in capsys.readouterr().err


def test_pip_without_network_is_understood(tmp_path, monkeypatch):
    """The real pip, sent to an address where nothing listens."""
    monkeypatch.setattr(bootstrap, "python_of", lambda venv: Path(sys.executable))
    nowhere = "http://127.0.0.1:9/simple"
    code, words = bootstrap.pip(
        tmp_path, "download", "--retries", "0", "--isolated", "--index-url", nowhere, "--dest", tmp_path, "nothing"
    )
    assert code != 0 and bootstrap.sentence_for(words) in (bootstrap.NO_NETWORK, bootstrap.NO_VERSION)


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


@pytest.mark.parametrize("version", pythons.tested())
def test_a_tested_python_is_not_warned_of(monkeypatch, capsys, version):
    monkeypatch.setattr(sys, "version_info", (*version, 0))
    bootstrap.check_version()
    bootstrap.stop("A package is missing.")
    assert capsys.readouterr().err == "\nA package is missing.\n"


def test_a_full_disk_is_told_before_anything_is_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SPACE(10, 9, 1024**3))
    with pytest.raises(SetupProblem, match=r"needs about 4 GB and the disk has 1\.0 GB"):
        bootstrap.check_disk(tmp_path, bootstrap.CPU_BYTES)


@pytest.mark.parametrize(("gpu", "asked"), [(False, [bootstrap.CPU_BYTES]), (True, [bootstrap.CUDA_BYTES])])
def test_the_disk_is_asked_for_what_the_build_needs(project, monkeypatch, gpu, asked):
    """Catches a check that promises room for a build three times as large."""
    needed = []
    monkeypatch.setattr(bootstrap, "check_disk", lambda root, needed_bytes: needed.append(needed_bytes))
    monkeypatch.setattr(bootstrap, "has_nvidia_gpu", lambda: gpu)
    bootstrap.prepare(project.root)
    assert needed == asked


def test_the_disk_is_asked_again_when_the_cpu_build_cannot_be_had(project, monkeypatch):
    """Catches gigabytes of CUDA that fill the disk which was large enough for the CPU build."""
    monkeypatch.undo()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(bootstrap, "has_nvidia_gpu", lambda: False)
    monkeypatch.setattr(bootstrap, "pip", lambda venv, *arguments: (int(bootstrap.CPU_INDEX in arguments), ""))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SPACE(10, 5, 5 * 1024**3))
    with pytest.raises(SetupProblem, match=r"default build, with its CUDA libraries, needs about 8 GB .* 5\.0 GB left"):
        bootstrap.install(project.root / ".venv", project.root)


def test_what_another_set_up_has_done_meanwhile_is_not_done_again(project, monkeypatch):
    """Catches two set-ups in one folder, of which the second deletes what the first has just made."""

    @contextmanager
    def alone(path, sentence):
        monkeypatch.setattr(bootstrap, "alone", lambda path, sentence: nullcontext())
        bootstrap.prepare(project.root)
        yield

    monkeypatch.setattr(bootstrap, "alone", alone)
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


@pytest.mark.parametrize(("error", "sentence"), [
    (OSError(28, "No space left on device"), "The disk is full"),
    (OSError(30, "Read-only file system", ".cache"), "cannot be written"),
    (PermissionError(13, "Permission denied", ".cache"), "cannot be written"),
    (OSError(5, "Input/output error", "x"), "The set-up cannot go on"),
])  # fmt: skip
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
