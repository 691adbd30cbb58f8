"""What the set-up installs and with what: the build of torch, pip or uv, the disk, and what pip says."""

import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from tools.setup import bootstrap
from tools.setup.bootstrap import SetupProblem

SPACE = namedtuple("Space", "total used free")


@pytest.mark.parametrize(
    ("gpu", "platform", "expected"),
    [
        (False, "linux", ["torch", "packages"]),
        (True, "linux", ["packages"]),
        (False, "darwin", ["packages"]),
    ],
)
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


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "The disk is full"),
        ("Retrying after connection broken by 'NewConnectionError(...)': /simple/numpy/", "index cannot be reached"),
        ("Could not find a version that satisfies the requirement numpy (from versions: none)", "or it has no version"),
        ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]", "PIP_CERT"),
        ("error: failed to write: Disk quota exceeded (os error 122)", "The disk is full"),
        ("PermissionError: [Errno 13] Permission denied: '.venv/x'", "check who owns"),
        ("OSError: [Errno 30] Read-only file system: '.venv/x'", "its disk is not read-only"),
        (r"PermissionError: [WinError 32] The process cannot access the file: 'C:\\course\\.venv\\x.dll'", "is in use"),
        ("UnicodeEncodeError: 'charmap' codec can't encode characters in position 3-5", "move the project"),
        (
            "HINT: This error might have occurred since this system does not have Windows Long Path support enabled.",
            "a short path",
        ),
    ],
)
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


@pytest.mark.parametrize(
    ("variable", "named"),
    [
        ("PIP_INDEX_URL", True),
        ("PIP_NO_INDEX", True),
        ("PIP_EXTRA_INDEX_URL", False),
        ("PIP_TIMEOUT", False),
    ],
)
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
