"""``torchrun … -m clearformer train``: two processes, one run, one folder, one voice."""

import os
import subprocess
import sys

import pytest
from clearformer import checkpoint, from_pretrained

from tests.clearformer.tiny_run import TINY

pytestmark = pytest.mark.slow
TEXT = "".join(f"The {n}th cat sat on the {n + 1}th mat, and the dog did not.\n" for n in range(90))


def train(text, folder, *options, processes):
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    done = subprocess.run(
        [sys.executable, *launcher, "-m", "clearformer", "train", str(text), "--out", str(folder), *map(str, options)],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What one process with twice the batch says and leaves, what two do, and what two say when they go on."""
    root = tmp_path_factory.mktemp("trained")
    (root / "cats.txt").write_text(TEXT, encoding="utf-8")
    one = train(root / "cats.txt", root / "one", *TINY, "--batch", 4, processes=1)
    two = train(root / "cats.txt", root / "two", *TINY, "--batch", 2, processes=2)
    losses = {name: checkpoint.load(root / name)[0]["losses"].tolist() for name in ("one", "two")}
    longer = train(root / "cats.txt", root / "two", "--steps", 2 * len(losses["two"]), processes=2)
    return root, one, two, longer, losses


def test_two_processes_learn_what_one_learns_from_as_many_rows(runs):
    """Catches processes that read the same rows, or do not share their gradients."""
    *_, losses = runs
    assert losses["two"] == pytest.approx(losses["one"], abs=1e-4)


def test_one_alone_speaks_and_says_that_they_are_several(runs):
    """Catches every line told twice, and a command to go on that starts one process."""
    _, one, two, _, _ = runs
    assert "processes" not in one and two.count("in 2 processes.") == 1
    assert two.count("The model is in") == 1
    assert "torchrun --standalone --nproc-per-node 2 -m clearformer train" in two


def test_two_processes_go_on_with_their_run(runs):
    """Catches a process that finds the folder of the other one's making and refuses it."""
    root, _, _, longer, losses = runs
    assert f"It goes on after step {len(losses['two'])}." in longer
    assert from_pretrained(root / "two").config.n_vocab > 256
