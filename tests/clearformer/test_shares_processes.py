"""A model split among processes: killed anywhere nothing is lost, and another number of processes goes on with it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from clearformer import shares

from tests.clearformer.shares_script import MOMENTS, N_STEPS, STOP

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True, scope="module")
def require_shares():
    """Asked here, since the answer takes an import that every process of the suite would do."""
    if not shares.can_be_written():
        pytest.skip("needs a PyTorch that writes shares as safetensors")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """All runs: whole ones, one that is killed again and again, and such as stop and go on elsewhere."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    command = [sys.executable, "-m", "tests.clearformer.shares_script", str(tmp_path_factory.mktemp("shares"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, env=environment, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def difference(run, other):
    assert len(run["losses"]) == len(other["losses"]) == N_STEPS
    return max(abs(a - b) for a, b in zip(run["losses"], other["losses"], strict=True))


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_leaves_the_old_checkpoint_or_the_new_one(report, moment):
    """Catches a folder that takes its name before all its files are there, and an old one deleted too early."""
    assert report["killed"][moment] == [True, MOMENTS[moment][2]]


def test_the_same_number_of_processes_goes_on_bitwise(report):
    """Catches state that is not saved, or that a process takes from another's share."""
    whole = report["whole"]["2"]
    for resumed in (report["after"], report["from two"]["2"]):
        assert resumed["losses"] == whole["losses"]
        assert resumed["saved"][str(N_STEPS)] == whole["saved"][str(N_STEPS)]


@pytest.mark.parametrize(("origin", "n"), [("from two", "1"), ("from two", "2"), ("from two", "4"), ("from one", "2")])
def test_any_number_of_processes_begins_with_the_saved_state_bitwise(report, origin, n):
    """Catches shares put together in a wrong order, and weights, moments or counts that are left as they were."""
    stopped, resumed = report[origin]["stopped"], report[origin][n]
    assert resumed["begun"] == stopped["saved"][str(STOP)]
    assert resumed["losses"][:STOP] == stopped["losses"] != []
    assert difference(resumed, report["whole"]["1"]) < 1e-10


@pytest.mark.parametrize("n", ["2", "4", "copies"])
def test_tokens_weigh_the_same_in_every_process_and_part(report, n):
    """Catches a mean of means over parts or processes, where each counts another number of tokens."""
    run = report["copies"] if n == "copies" else report["whole"][n]
    assert difference(run, report["whole"]["1"]) < 1e-10
