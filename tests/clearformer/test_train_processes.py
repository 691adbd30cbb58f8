"""Killed and resumed, a run gives the same losses to the last bit; two processes give the losses of one."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "training_script.py"
pytestmark = pytest.mark.slow


def call(*arguments):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=1800, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def training_runs(tmp_path_factory):
    """All runs: killed and resumed ones, one process, and two, first each with the whole model, then each a share."""
    root = tmp_path_factory.mktemp("trained")
    report = json.loads(call(SCRIPT, "all", root).splitlines()[-1])
    return report | read(root, "whole", "named", "random", "one") | read(root / "two", "pair", "shared")


def read(root, *names):
    return {name: json.loads((root / f"{name}.json").read_text()) for name in names}


def test_every_attempt_was_killed_and_left_a_whole_checkpoint_or_none(training_runs):
    """Catches a script that kills nothing, and a save that lets a half-written file take the name."""
    assert [status for _, status, _ in training_runs["attempts"]] == [signal.SIGKILL] * 7
    assert [there for _, _, there in training_runs["attempts"]] == [False] * 3 + [True] * 4
    assert training_runs["random_kills"] >= 1


@pytest.mark.parametrize("run", ["named", "random"])
@pytest.mark.parametrize("what", ["losses", "evaluations", "weights"])
def test_a_killed_run_continues_bitwise(training_runs, run, what):
    """Catches state that is not saved (moments, step, data, dropout, buffers) and losses that are rounded."""
    assert training_runs[run]["resumed"] and len(training_runs["whole"]["losses"]) == 41
    assert training_runs[run][what] == training_runs["whole"][what]


def test_a_pair_gives_the_losses_of_one_process_with_the_doubled_batch(training_runs):
    """Catches summed gradients, a share that both processes take, clipping before the mean, unequal first weights."""
    assert_alike(training_runs["pair"], training_runs["one"])
    assert training_runs["one"]["losses"][-1] < training_runs["one"]["losses"][0] - 0.05


def test_what_sends_gradients_is_gone_before_the_processes_part(training_runs):
    """Catches a run that now and then never ends: PyTorch would end the connection with Python's lock held."""
    assert training_runs["pair"]["senders"] == []


def test_a_model_shared_by_two_processes_learns_the_same_and_resumes_bitwise(training_runs):
    """Catches shares of unequal first weights, gradients sent too early or never, and a checkpoint of one share."""
    whole, resumed = training_runs["shared"]["whole"], training_runs["shared"]["resumed"]
    assert_alike(whole, training_runs["one"])
    assert whole["numbers_here"] < 0.6 * training_runs["one"]["numbers_here"]
    assert resumed["resumed"] and resumed == whole | {"resumed": True}


@pytest.mark.weekly
def test_torchrun_starts_the_same_pair(training_runs, tmp_path):
    """Catches a torchrun that tells its processes something else than the pair above is told."""
    call("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", SCRIPT, "two", tmp_path)
    assert read(tmp_path, "pair", "shared") == {name: training_runs[name] for name in ("pair", "shared")}


def assert_alike(pair, one):
    assert len(pair["losses"]) == len(one["losses"]) == 21
    assert max(abs(a - b) for a, b in zip(pair["losses"], one["losses"], strict=True)) < 1e-10
    assert pair["evaluations"]["21"] == pytest.approx(one["evaluations"]["21"], abs=1e-10)
