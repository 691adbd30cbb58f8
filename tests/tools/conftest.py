"""Fake programs, easy to write, and a project whose environment is made without pip."""

import shutil
import sys
import sysconfig
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.setup import bootstrap


@pytest.fixture
def program(tmp_path):
    """Write an executable shell script into a folder that can be used as PATH; return that folder."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)

    def write(name: str, body: str):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
        return folder

    return write


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
        home = Path(getattr(sys, "_base_executable", sys.executable)).parent
        (venv / "pyvenv.cfg").write_text(f"home = {home}\n", encoding="utf8")
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
    return SimpleNamespace(root=tmp_path, calls=calls)
