"""Every command of the page *Beyond one machine*, with several processes on this one."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from clearformer import shares

from tools import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")]
PAGE = (ROOT / "chapters" / "beyond-one-machine.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.M | re.S)
COMMANDS = [line for kind, block in BLOCKS if kind == "sh" for line in block.splitlines()]
PAIR, RESTARTED, ALONE, TWO_MACHINES = COMMANDS  # a new one needs a test
(PROGRAM,) = (block for kind, block in BLOCKS if kind == "python")
(JOB,) = (block for kind, block in BLOCKS if kind == "bash")
(TREE,) = (block for kind, block in BLOCKS if kind == "text")
PATIENCE = 600


@pytest.fixture(autouse=True, scope="module")
def require_shares():
    """Asked here, since the answer takes an import that every process of the suite would do."""
    if not shares.can_be_written():
        pytest.skip("needs a PyTorch that writes shares as safetensors")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the program, where torchrun and python are those of the environment."""
    (tmp_path / "train.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return tmp_path


def start(command):
    return subprocess.Popen(
        shlex.split(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def ended(process):
    """What it printed; whatever happens, nothing of it goes on."""
    try:
        told, _ = process.communicate(timeout=PATIENCE)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return told


def wait_for_checkpoint(process, after=0):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        steps = [int(path.name[5:]) for path in Path("runs/zen").glob("step-????????")]
        if max(steps, default=0) > after:
            return max(steps)
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.05)
    pytest.fail("no checkpoint")


def workers_of(process):
    """The processes that a launcher has started."""
    return [child.pid for child in psutil.Process(process.pid).children()]


def last_losses(told):
    return re.findall(r"60 steps, loss (\d\.\d{6})", told)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return str(free.getsockname()[1])


def elsewhere(text):
    """The same, where it may be run beside other tests."""
    return text.replace("29500", free_port()).replace("first-machine", "localhost")


def test_a_run_is_stopped_and_goes_on_and_survives_a_killed_process(place):
    """Catches a command that does not start, a run that begins again, and losses that differ from those of one."""
    first = start(PAIR)
    stopped_at = wait_for_checkpoint(first)
    first.send_signal(signal.SIGINT)
    ended(first)
    second = start(RESTARTED)
    wait_for_checkpoint(second, stopped_at)
    if second.poll() is None:
        for pid in workers_of(second)[:1]:
            os.kill(pid, signal.SIGKILL)
    told = ended(second)
    assert second.returncode == 0, told
    (there,) = Path("runs/zen").iterdir()
    assert sorted(str(path) for path in there.iterdir()) == sorted(TREE.split())
    alone = ended(start(ALONE))
    fresh = ended(start(ALONE.replace("runs/zen", "runs/fresh")))
    losses = last_losses(told)[-2:] + last_losses(alone) + last_losses(fresh)
    assert len(losses) == 4 and {round(float(loss), 4) for loss in losses} == {round(float(losses[0]), 4)}


@pytest.mark.weekly
def test_two_launchers_meet(place):
    """Catches a rendezvous that fails, which the job below would tell as well."""
    command = elsewhere(TWO_MACHINES)
    told = [ended(launcher) for launcher in (start(command), start(command))]
    assert [len(last_losses(text)) for text in told] == [1, 1], told


def test_the_job_starts_a_launcher_on_each_machine(place, monkeypatch):
    """Catches a script that bash cannot read, a variable that SLURM does not set, and launchers that do not meet."""
    (place / "job.sh").write_text(elsewhere(JOB), encoding="utf-8")
    subprocess.run(["bash", "-n", "job.sh"], check=True)
    told_by_slurm = {"JOB_ID": "7", "JOB_NODELIST": "node[1-2]", "JOB_NUM_NODES": "2", "CPUS_PER_TASK": "1"}
    assert set(re.findall(r"\$SLURM_(\w+)", JOB)) == set(told_by_slurm)
    for name, value in told_by_slurm.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    for name, body in {
        "scontrol": '[ "$*" = "show hostnames node[1-2]" ] && echo localhost && echo localhost',
        "srun": 'shift 2; "$@" & "$@" & wait -n && wait -n',
    }.items():
        stub = place / "bin" / name
        stub.parent.mkdir(exist_ok=True)
        stub.write_text(f"#!/bin/bash\n{body}\n")
        stub.chmod(0o755)
    monkeypatch.setenv("PATH", str(place / "bin"), prepend=os.pathsep)
    job = start("bash job.sh")
    told = ended(job)
    assert job.returncode == 0 and len(last_losses(told)) == 2, told
