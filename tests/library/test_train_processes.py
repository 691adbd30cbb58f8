"""Killed and resumed, a run gives the same losses to the last bit; two processes give the losses of one."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "training_script.py"


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
    return report | {name: json.loads((root / f"{name}.json").read_text()) for name in ("whole", "named", "random")}


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


def test_a_torchrun_pair_gives_the_losses_of_one_process_with_the_doubled_batch(tmp_path):
    """Catches summed gradients, a share that both processes take, clipping before the mean, unequal first weights."""
    rendezvous = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
    call(*rendezvous, SCRIPT, "pair", tmp_path / "pair.json", 6)
    call(SCRIPT, "pair", tmp_path / "one.json", 12)
    pair, one = (json.loads((tmp_path / f"{name}.json").read_text())["losses"] for name in ("pair", "one"))
    assert len(pair) == len(one) == 21
    assert max(abs(a - b) for a, b in zip(pair, one, strict=True)) < 1e-10
    assert one[-1] < one[0] - 0.05
