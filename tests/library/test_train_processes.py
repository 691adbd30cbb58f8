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
        [sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    root = tmp_path_factory.mktemp("killed")
    report = json.loads(call(SCRIPT, "kill", root).splitlines()[-1])
    names = ("whole", "named", "random", "one")
    return report | {name: json.loads((root / f"{name}.json").read_text()) for name in names}


def test_every_attempt_was_killed_and_left_a_whole_checkpoint_or_none(killed):
    """Catches a script that kills nothing, and a save that lets a half-written file take the name."""
    assert [status for _, status, _ in killed["attempts"]] == [signal.SIGKILL] * 7
    assert [there for _, _, there in killed["attempts"]] == [False] * 3 + [True] * 4
    assert killed["random_kills"] >= 1


@pytest.mark.parametrize("run", ["named", "random"])
@pytest.mark.parametrize("what", ["losses", "evaluations", "weights"])
def test_a_killed_run_continues_bitwise(killed, run, what):
    """Catches state that is not saved (moments, step, data, dropout, buffers) and losses that are rounded."""
    assert killed[run]["resumed"] and len(killed["whole"]["losses"]) == 41
    assert killed[run][what] == killed["whole"][what]


RENDEZVOUS = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")


@pytest.fixture(scope="module")
def one(killed):
    """What one process does with the doubled batch."""
    return killed["one"]


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """What two processes do, first each with the whole model, then each with its share: to start them takes longest."""
    root = tmp_path_factory.mktemp("two")
    call(*RENDEZVOUS, SCRIPT, "two", root)
    return {name: json.loads((root / f"{name}.json").read_text()) for name in ("pair", "shared")}


def test_a_torchrun_pair_gives_the_losses_of_one_process_with_the_doubled_batch(one, two):
    """Catches summed gradients, a share that both processes take, clipping before the mean, unequal first weights."""
    assert_alike(two["pair"], one)
    assert one["losses"][-1] < one["losses"][0] - 0.05


def test_a_model_shared_by_two_processes_learns_the_same_and_resumes_bitwise(one, two):
    """Catches shares of unequal first weights, gradients sent too early or never, and a checkpoint of one share."""
    whole, resumed = two["shared"]["whole"], two["shared"]["resumed"]
    assert_alike(whole, one)
    assert whole["numbers_here"] < 0.6 * one["numbers_here"]
    assert resumed["resumed"] and resumed == whole | {"resumed": True}


def assert_alike(pair, one):
    assert len(pair["losses"]) == len(one["losses"]) == 21
    assert max(abs(a - b) for a, b in zip(pair["losses"], one["losses"], strict=True)) < 1e-10
    assert pair["evaluations"]["21"] == pytest.approx(one["evaluations"]["21"], abs=1e-10)
