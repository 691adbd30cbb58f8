"""The same command on a cluster of dask.distributed, here one of two processes on this machine."""

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from clearcheck.cli import main

from tests.clearcheck.toy_notebook import MEANS, RANGES, START, notebook

from .class_folder import same_files


@pytest.fixture(autouse=True)
def import_distributed():
    """Imported for these tests alone: every process of the suite imports this file."""
    return pytest.importorskip("distributed")


@pytest.fixture
def cluster(course, monkeypatch, import_distributed):
    """Two workers, in a folder that is not the one of the class."""
    (course / "elsewhere").mkdir()
    (course / "work").mkdir()
    monkeypatch.chdir(course / "elsewhere")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "processes": True}
    with import_distributed.LocalCluster(**options, host="127.0.0.1", silence_logs=50) as made:
        monkeypatch.chdir(course)
        yield made


def hand_in(count: int, slow: str = ""):
    for number in range(count):
        body = notebook(START, slow, *([MEANS, RANGES][: 1 + number % 2]))
        Path(f"work/{number:02}.ipynb").write_text(json.dumps(body))


def address(cluster) -> str:
    return cluster.scheduler_address.replace("tcp://", "dask://")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what dask has to say when its worker dies is its own affair
def test_a_worker_that_is_killed_costs_nothing(cluster, capsys):
    """Catches a file that is lost with the worker that graded it, one that is graded otherwise there, and paths that
    mean something else on another machine."""
    hand_in(10, "import time\ntime.sleep(0.5)")
    started, killed = time.monotonic(), []

    def kill():
        journal = Path("out/journal.jsonl")
        while time.monotonic() < started + 300:
            if journal.exists() and len(journal.read_bytes().splitlines()) > 2:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)
                return
            time.sleep(0.05)

    thread = threading.Thread(target=kill)
    thread.start()
    code = main(["grade", "work", "--results", "out", "--seed", "5", "--executor", address(cluster)])
    thread.join()
    assert killed and killed[0] not in {worker.pid for worker in cluster.workers.values()}
    assert (code, len(capsys.readouterr().out.splitlines())) == (0, 10)
    assert main(["grade", "work", "--results", "here", "--seed", "5"]) == 0
    assert same_files(Path("out"), Path("here"))


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_told(course, monkeypatch, capsys):
    """Catches a traceback of dask's, and a wait without end."""
    (course / "work").mkdir()
    hand_in(1)
    monkeypatch.setattr("clearclass.pool.CONNECT_SECONDS", 0.5)
    assert main(["grade", "work", "--executor", "dask://127.0.0.1:9"]) == 2
    assert "There is no scheduler of dask at dask://127.0.0.1:9" in capsys.readouterr().err
