"""Answers that harm while they run: processes, memory, files, the network, the server of workers and the channel to it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from clearcheck.worker import launch, server, server_process
from clearcheck.worker.limits import Limits
from clearcheck.worker.parent import Worker
from inline_snapshot import snapshot

from .toy_notebook import MEANS, RANGES, START, notebook


def test_the_grade_says_what_it_was_isolated_by(grade_cells, isolation):
    grade = grade_cells(MEANS, RANGES)
    assert (grade.points, grade.isolation, grade.as_json()["isolation"]) == (9, isolation, isolation)


def test_what_one_notebook_wrote_is_not_there_for_the_next(grade_cells, isolation):
    """Catches a scratch folder that a neighbour can read: the answers of the last one."""
    first = "for name in ('a', '/tmp/clearcheck_left'):\n    open(name, 'w').write('x')"
    grade_cells(first, MEANS)
    look = "import os\nif os.listdir('.') or ('clearcheck_left' in os.listdir('/tmp')): raise ValueError('left')"
    try:
        assert (grade_cells(look, MEANS).notes == []) == (isolation == launch.BUBBLEWRAP)
    finally:
        Path("/tmp/clearcheck_left").unlink(missing_ok=True)


def test_there_is_no_network_in_the_sandbox(grade_cells, sandbox):
    """Catches a socket that reaches out; each would be refused by another error where there is a network."""
    call = "import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=1)"
    assert "Network is unreachable" in grade_cells(call, MEANS).notes[0]


def test_only_its_own_processes_are_to_be_seen_in_the_sandbox(grade_cells, sandbox):
    """Catches the grader's command line, with its seed, its environment and its memory in reach."""
    look = "import os\nseen = [int(name) for name in os.listdir('/proc') if name.isdigit()]\n"
    look += "if len(seen) > 3: raise ValueError(str(seen))\n"
    look += "if any(b'pytest' in open(f'/proc/{pid}/cmdline', 'rb').read() for pid in seen): raise ValueError('seen')"
    assert grade_cells(look, MEANS).notes == []


def test_the_server_of_workers_cannot_be_looked_into(grade_cells, isolation):
    """Catches a worker that changes the process from which the next one is forked."""
    for file in ("mem", "environ", "fd/0"):
        note = grade_cells(f"import os\nopen(f'/proc/{{os.getppid()}}/{file}', 'rb').read(1)", MEANS).notes
        allowed = isolation == launch.PROCESS and os.geteuid() == 0  # root may look into every process
        assert allowed or "PermissionError" in note[0]


@pytest.mark.parametrize("signal", ["KILL", "STOP"])
def test_an_answer_that_ends_the_server_of_workers_costs_no_other_notebook(grade_cells, isolation, monkeypatch, signal):
    """Catches a run that ends, or goes on without a server, where an answer ends or stops the parent of its process.

    In the sandbox the server is the first process, which none below it can end: not even this notebook loses a point.
    """
    monkeypatch.setattr(server_process, "SERVER_SECONDS", 1.0)  # until a server that is stopped is given up
    points = grade_cells(f"import os, signal\nos.kill(os.getppid(), signal.SIG{signal})", MEANS).points
    assert isolation == launch.PROCESS or points == 6
    assert grade_cells(MEANS, RANGES).points == 9


LEFT = """
import os, time
child = os.fork()
if child == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.waitpid(child, 0)
"""


def test_processes_left_behind_are_ended_and_noted(grade_cells, isolation):
    """Catches a process in a session of its own that would see the next notebook's worker."""
    grade = grade_cells(LEFT, MEANS)
    assert grade.points == 6
    assert grade.notes == snapshot(["The code had started other processes and left them behind: they were ended."])


def test_processes_have_an_end_in_the_sandbox(grade_cells, sandbox):
    """Catches two hundred sleeping children on the instructor's machine, which Linux does not limit for root."""
    bomb = "import os, time\nfor _ in range(200):\n    if os.fork() == 0:\n        time.sleep(600)\ntime.sleep(600)"
    grade = grade_cells(bomb, MEANS, limits=Limits())
    stopped = "signal SIGKILL" if os.geteuid() == 0 else "BlockingIOError"
    assert stopped in grade.notes[0] and "left them behind" in grade.notes[-1] and grade.points == 6


HOG = """
import os, time
for _ in range(2):
    if os.fork() == 0:
        held = b"1" * (300 * 2**20)
        time.sleep(600)
time.sleep(600)
"""


def test_the_memory_of_all_its_processes_has_an_end(grade_cells, isolation):
    """Catches a limit for each process, of which there may be dozens."""
    grade = grade_cells(HOG, MEANS, limits=Limits(memory=2**29))
    assert grade.points == 6 and grade.notes == snapshot(
        [
            "Code cell 2 ended the Python process (MemoryError: its processes together held more than 0.5 GB): only its definitions were kept, and the other cells were still run. The limit is 0.5 GB of memory: look for a table of all pairs with a further axis, such as N × N × D, where one of N × N or blocks of it are enough, and for what a loop keeps.",
            "The code had started other processes and left them behind: they were ended.",
        ]
    )


def test_memory_that_processes_share_with_the_server_is_not_counted_for_each():
    """Catches torch, which is loaded before a worker is forked, counted once for every process."""
    held = bytearray(b"1") * 2**26
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    assert 0 <= server._held_bytes({child}) < 2**25 < len(held) < server._memory(child)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_the_scratch_folder_has_an_end_in_the_sandbox(grade_cells, sandbox):
    """Catches many files, each below the limit of one, that fill the disk."""
    fill = "for i in range(20):\n    open(f'{i}', 'wb').write(bytes(60 * 2**20))"
    assert "No space left on device" in grade_cells(fill, MEANS, limits=Limits()).notes[0]


def test_a_second_worker_beside_one_that_runs_is_refused(course, isolation):
    """Catches a worker that ends with another one, and a notebook that is blamed for it."""
    with Worker(Limits()) as one:
        one.read(json.dumps(notebook(START, MEANS)).encode(), "one.ipynb")
        with Worker(Limits()) as other, pytest.raises(launch.WorkerError, match="runs the code of another"):
            other.read(json.dumps(notebook(START, MEANS)).encode(), "other.ipynb")
        assert one.run_cells() == {1: one.outcomes[1], 2: one.outcomes[2]} and one.outcomes[2]["kind"] == "done"
    with Worker(Limits()) as other:
        other.read(json.dumps(notebook(START, MEANS)).encode(), "other.ipynb")


def test_a_server_that_cannot_be_started_leaves_no_socket(monkeypatch):
    """Catches two descriptors that are lost with each try."""

    def refuse(*args, **options):
        raise PermissionError(1, "refused")

    before = set(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(server_process.subprocess, "Popen", refuse)
    for _ in range(3):
        with pytest.raises(PermissionError):
            server_process.WorkerServer(launch.PROCESS)
    assert set(os.listdir("/proc/self/fd")) <= before


def test_random_numbers_differ_between_two_notebooks(grade_cells, isolation):
    """Catches workers that are forked with one state, so that all learners draw the same."""
    drawn = "import random\nif (np.random.rand(), random.random()) == SEEN: raise ValueError('again')"
    shown = "import random\nraise ValueError(repr((np.random.rand(), random.random())))"
    pair = grade_cells(shown, MEANS).notes[0].split("ValueError (")[1].split(") in the line")[0]
    assert grade_cells(drawn.replace("SEEN", pair), MEANS).notes == []


@pytest.mark.parametrize("number", [35, 40, 63])
def test_a_signal_without_a_name_ends_no_run(grade_cells, isolation, number):
    grade = grade_cells(f"import os\nos.kill(os.getpid(), {number})", MEANS)
    assert f"(signal {number})" in grade.notes[0] and grade.points == 6


HUGE = """
import clearcheck.worker.child as child
import clearcheck.worker.values as values
pack = values._Writer._int
values._Writer._int = lambda self, value: ["int", "1" + 400 * "0"]
def column_means(table):
    return 5
"""


def test_a_forged_huge_number_ends_no_run(grade_cells, isolation):
    """Catches numbers in the grader's process that no comparison is made for."""
    assert grade_cells(HUGE, RANGES).questions[0].points == 0


BUSY = "import time\nuntil = time.thread_time() + 0.4\nwhile time.thread_time() < until: pass"


@pytest.mark.parametrize(
    ("cell", "limits", "says"),
    [
        (BUSY, Limits(submission_seconds=1), "1 s of computing time"),
        ("import time\ntime.sleep(0.4)", Limits(submission_net_seconds=1), "not ended after 1 s"),
    ],
)
def test_a_notebook_has_a_limit_as_a_whole(grade_cells, isolation, cell, limits, says):
    """Catches many cells that each stay below theirs: the first question is asked no more."""
    grade = grade_cells(*[cell] * 20, "1 / 0", MEANS, RANGES, limits=limits)
    (note,) = grade.notes
    assert grade.points == 0 and says in note


def test_an_ended_worker_leaves_no_process_of_ours(grade_cells, isolation):
    """Catches zombies and forgotten workers of a long run."""
    grade_cells(MEANS)
    server = launch._server(os.getpid())
    before = children(server.process.pid)
    for _ in range(3):
        grade_cells(MEANS)
    assert len(children(server.process.pid)) <= len(before)


def children(pid: int) -> list[str]:
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found += [child, *children(int(child))]
    return found


def test_the_server_ends_with_the_grader(isolation):
    """Catches a server that outlives its grader, which was killed without a word."""
    code = (
        "from clearcheck.worker import launch\nimport os, signal\nserver = launch._server(os.getpid())\n"
        "print(server.process.pid, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert told.returncode == -signal.SIGKILL
    wait_until_gone(Path(f"/proc/{int(told.stdout)}"))


ASKED_FOR_A_WORKER = """
import json, os, signal, socket
from clearcheck.worker import launch
from clearclass import pool

server, pipes = launch._server(os.getpid()), os.pipe()
asked = json.dumps({"preload": [], "memory": 2**33, "hidden": []}).encode()
socket.send_fds(server.channel, [asked], pipes)
print(server.process.pid, flush=True)
"""


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "pool._end()"])
def test_a_grader_that_ends_before_it_knows_its_worker_leaves_nothing_of_it(isolation, tmp_path, end):
    """Catches a folder that is made after all were removed, and a process of the pool that does not wait for that."""
    command = [sys.executable, "-c", ASKED_FOR_A_WORKER + end]
    told = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"TMPDIR": str(tmp_path)})
    server = Path(f"/proc/{int(told.stdout)}")
    if end == "pool._end()":
        assert told.returncode == 1 and not server.exists() and os.listdir(tmp_path) == []
    else:
        assert told.returncode == -signal.SIGKILL
        wait_until_gone(server)
        assert [name for name in os.listdir(tmp_path) if not name.startswith("clearcheck-home-")] == []


def wait_until_gone(process: Path):
    until = time.monotonic() + 60
    while process.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not process.exists()
