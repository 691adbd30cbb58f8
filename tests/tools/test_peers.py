"""The peers of ``make bench``: installed once, with the pinned versions; without a network the bench goes on."""

import re
from pathlib import Path

import peers

ROOT = Path(__file__).parents[2]


def test_what_is_there_is_not_installed_again(monkeypatch):
    monkeypatch.setattr(peers, "wanted", lambda root: ["pytest>=8", "numpy"])
    monkeypatch.setattr(peers, "install", lambda *arguments: 1 / 0)
    assert peers.main() == 0


def test_only_what_is_missing_is_installed_with_the_constraints(monkeypatch):
    calls = []
    monkeypatch.setattr(peers, "wanted", lambda root: ["pytest>=8", "no-such-peer>=1"])
    monkeypatch.setattr(peers, "pip", lambda venv, *arguments: calls.append(arguments) or (0, ""))
    assert peers.main() == 0
    (arguments,) = calls
    assert arguments[-1] == "no-such-peer>=1" and "pytest>=8" not in arguments
    assert arguments[arguments.index("--constraint") + 1] == ROOT / "constraints.txt"


def test_without_a_network_the_bench_goes_on(monkeypatch, capsys):
    monkeypatch.setattr(peers, "wanted", lambda root: ["no-such-peer>=1"])
    monkeypatch.setattr(peers, "pip", lambda *arguments: (1, "Max retries exceeded"))
    assert peers.main() == 0
    said = capsys.readouterr().err
    assert "package index cannot be reached" in said and "left out" in said


def test_every_peer_is_pinned():
    pinned = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.M)
    assert {re.match(r"[\w-]+", peer)[0] for peer in peers.wanted(ROOT)} <= set(pinned)
