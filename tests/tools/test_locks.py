"""One program at a time: the second waits, says so, and goes on when the first has ended, however it ends."""

import subprocess
import sys

import pytest

from tools import ROOT
from tools.setup import locks

HOLD = """
import sys, time
from tools.setup.locks import wait_for_lock
with wait_for_lock(__import__("pathlib").Path(sys.argv[1]), "waiting"):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
def test_a_lock_ends_with_the_process_that_holds_it(tmp_path, monkeypatch, capsys):
    """Catches two set-ups that write into one environment, and a lock that outlives a killed process for ever."""
    path = tmp_path / "new folder" / "lock"
    waited = []
    with subprocess.Popen([sys.executable, "-c", HOLD, path], cwd=ROOT, stdout=subprocess.PIPE) as holder:
        monkeypatch.setattr(locks.time, "sleep", lambda seconds: (waited.append(seconds), holder.kill(), holder.wait()))
        try:
            assert holder.stdout.readline().strip() == b"held"
            with locks.wait_for_lock(path, "Another works here."):
                assert waited == [locks.PAUSE_SECONDS]
        finally:
            holder.kill()
    assert capsys.readouterr().out == "Another works here.\n"


def test_nobody_waits_where_nobody_else_is(tmp_path, capsys):
    for _ in range(2):
        with locks.wait_for_lock(tmp_path / "lock", "Another works here."):
            pass
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("error", "taken"),
    [(BlockingIOError(11, "held"), False), (PermissionError(13, "held"), False), (OSError(38, "no locks"), True)],
)
def test_a_file_system_without_locks_lets_everybody_in(tmp_path, monkeypatch, error, taken):
    """Catches a set-up that waits for ever in a folder of a network, and one that does not wait at all."""

    class System:
        LOCK_EX = LOCK_NB = 0

        def flock(self, file, how):
            raise error

    monkeypatch.setattr(locks, "fcntl", System())
    with open(tmp_path / "lock", "ab") as file:
        assert locks.take(file) == taken


def test_windows_locks_a_byte(tmp_path, monkeypatch):
    """Catches a name that only POSIX has."""
    calls = []

    class System:
        LK_NBLCK = 2

        def locking(self, descriptor, how, length):
            calls.append((descriptor, how, length))

    monkeypatch.setattr(locks, "fcntl", None)
    monkeypatch.setattr(locks, "msvcrt", System(), raising=False)
    with open(tmp_path / "lock", "ab") as file:
        assert locks.take(file) and calls == [(file.fileno(), 2, 1)]
