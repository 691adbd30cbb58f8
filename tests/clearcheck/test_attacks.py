"""Attacks on a class run, one by one: what each tries, and that it gets nothing and harms nobody.

Those on what only a sandbox protects run with bubblewrap, where the system has it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from clearcheck.notebooks.file import NotANotebook
from clearcheck.report import course_files
from clearcheck.report import grade as grading
from clearcheck.report.course_files import CourseChanged, CourseFiles
from clearcheck.worker import launch, served, server
from clearcheck.worker.limits import Limits
from clearcheck.worker.parent import Worker

from .toy_notebook import MEANS, RANGES, SLUG, START, notebook


def test_the_grade_says_what_it_was_isolated_by(graded, isolation):
    grade = graded(MEANS, RANGES)
    assert (grade.points, grade.isolation, grade.as_json()["isolation"]) == (9, isolation, isolation)


def test_what_one_notebook_wrote_is_not_there_for_the_next(graded, isolation):
    """Catches a scratch folder that a neighbour can read: the answers of the last one."""
    first = "for name in ('a', '/tmp/clearcheck_left'):\n    open(name, 'w').write('x')"
    graded(first, MEANS)
    look = "import os\nif os.listdir('.') or ('clearcheck_left' in os.listdir('/tmp')): raise ValueError('left')"
    try:
        assert (graded(look, MEANS).notes == []) == (isolation == launch.BUBBLEWRAP)
    finally:
        Path("/tmp/clearcheck_left").unlink(missing_ok=True)


def test_what_is_mounted_is_not_looked_into(tmp_path, monkeypatch):
    mounted, beside = tmp_path / "way" / "mounted", tmp_path / "way" / "left"
    mounted.mkdir(parents=True)
    (mounted / "package").touch()
    monkeypatch.setattr(os.path, "ismount", lambda path: str(path) == str(mounted))
    kept = dict(server._standing(str(tmp_path)))
    beside.mkdir()
    (tmp_path / "link").symlink_to(mounted)
    server._wipe(str(tmp_path), kept)
    assert kept == {str(mounted.parent): False, str(mounted): True}
    assert (mounted / "package").exists() and sorted(tmp_path.rglob("*")) == [
        mounted.parent, mounted, mounted / "package"
    ]  # fmt: skip


def test_there_is_no_network_in_the_sandbox(graded, sandbox):
    """Catches a socket that reaches out; each would be refused by another error where there is a network."""
    call = "import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=1)"
    assert "Network is unreachable" in graded(call, MEANS).notes[0]


def test_only_its_own_processes_are_to_be_seen_in_the_sandbox(graded, sandbox):
    """Catches the grader's command line, with its seed, its environment and its memory in reach."""
    look = "import os\nseen = [int(name) for name in os.listdir('/proc') if name.isdigit()]\n"
    look += "if len(seen) > 3: raise ValueError(str(seen))\n"
    look += "if any(b'pytest' in open(f'/proc/{pid}/cmdline', 'rb').read() for pid in seen): raise ValueError('seen')"
    assert graded(look, MEANS).notes == []


def test_the_server_of_workers_cannot_be_looked_into(graded, isolation):
    """Catches a worker that changes the process from which the next one is forked."""
    for file in ("mem", "environ", "fd/0"):
        note = graded(f"import os\nopen(f'/proc/{{os.getppid()}}/{file}', 'rb').read(1)", MEANS).notes
        allowed = isolation == launch.PROCESS and os.geteuid() == 0  # root may look into every process
        assert allowed or "PermissionError" in note[0]


@pytest.mark.parametrize("signal", ["KILL", "STOP"])
def test_an_answer_that_ends_the_server_of_workers_costs_no_other_notebook(graded, isolation, monkeypatch, signal):
    """Catches a run that ends, or goes on without a server, where an answer ends or stops the parent of its process.

    In the sandbox the server is the first process, which none below it can end: not even this notebook loses a point.
    """
    monkeypatch.setattr(served, "SERVER_SECONDS", 1.0)  # until a server that is stopped is given up
    points = graded(f"import os, signal\nos.kill(os.getppid(), signal.SIG{signal})", MEANS).points
    assert isolation == launch.PROCESS or points == 6
    assert graded(MEANS, RANGES).points == 9


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


def test_processes_left_behind_are_ended_and_noted(graded, isolation):
    """Catches a process in a session of its own that would see the next notebook's worker."""
    grade = graded(LEFT, MEANS)
    assert grade.points == 6
    assert grade.notes == ["The code had started other processes and left them behind: they were ended."]


def test_processes_have_an_end_in_the_sandbox(graded, sandbox):
    """Catches two hundred sleeping children on the instructor's machine, which Linux does not limit for root."""
    bomb = "import os, time\nfor _ in range(200):\n    if os.fork() == 0:\n        time.sleep(600)\ntime.sleep(600)"
    grade = graded(bomb, MEANS, limits=Limits())
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


def test_the_memory_of_all_its_processes_has_an_end(graded, isolation):
    """Catches a limit for each process, of which there may be dozens."""
    grade = graded(HOG, MEANS, limits=Limits(memory=2**29))
    assert grade.points == 6 and grade.notes == [
        "Code cell 2 ended the Python process (MemoryError: its processes together held more than 0.5 GB): only its "
        "definitions were kept, and the other cells were still run.",
        "The code had started other processes and left them behind: they were ended.",
    ]


def test_memory_that_processes_share_with_the_server_is_not_counted_for_each():
    """Catches torch, which is loaded before a worker is forked, counted once for every process."""
    held = bytearray(b"1") * 2**26
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    assert 0 <= server._held({child}) < 2**25 < len(held) < server._memory(child)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_the_scratch_folder_has_an_end_in_the_sandbox(graded, sandbox):
    """Catches many files, each below the limit of one, that fill the disk."""
    fill = "for i in range(20):\n    open(f'{i}', 'wb').write(bytes(60 * 2**20))"
    assert "No space left on device" in graded(fill, MEANS, limits=Limits()).notes[0]


def test_a_second_worker_beside_one_that_runs_is_refused(course, isolation):
    """Catches a worker that ends with another one, and a notebook that is blamed for it."""
    with Worker(Limits()) as one:
        one.read(json.dumps(notebook(START, MEANS)).encode(), "one.ipynb")
        with Worker(Limits()) as other, pytest.raises(launch.WorkerError, match="still runs the code of another"):
            other.read(json.dumps(notebook(START, MEANS)).encode(), "other.ipynb")
        assert one.run_cells() == {1: one.outcomes[1], 2: one.outcomes[2]} and one.outcomes[2]["kind"] == "done"
    with Worker(Limits()) as other:
        other.read(json.dumps(notebook(START, MEANS)).encode(), "other.ipynb")


def test_a_server_that_cannot_be_started_leaves_no_socket(monkeypatch):
    """Catches two descriptors that are lost with each try."""

    def refused(*args, **options):
        raise PermissionError(1, "refused")

    before = set(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(served.subprocess, "Popen", refused)
    for _ in range(3):
        with pytest.raises(PermissionError):
            served.Server(launch.PROCESS)
    assert set(os.listdir("/proc/self/fd")) <= before


def test_random_numbers_differ_between_two_notebooks(graded, isolation):
    """Catches workers that are forked with one state, so that all learners draw the same."""
    drawn = "import random\nif (np.random.rand(), random.random()) == SEEN: raise ValueError('again')"
    shown = "import random\nraise ValueError(repr((np.random.rand(), random.random())))"
    pair = graded(shown, MEANS).notes[0].split("ValueError (")[1].split(") in the line")[0]
    assert graded(drawn.replace("SEEN", pair), MEANS).notes == []


@pytest.mark.parametrize("number", [35, 40, 63])
def test_a_signal_without_a_name_ends_no_run(graded, isolation, number):
    grade = graded(f"import os\nos.kill(os.getpid(), {number})", MEANS)
    assert f"ended the Python process (signal {number})" in grade.notes[0] and grade.points == 6


HUGE = """
import clearcheck.worker.child as child
import clearcheck.worker.values as values
pack = values._Writer._int
values._Writer._int = lambda self, value: ["int", "1" + 400 * "0"]
def column_means(table):
    return 5
"""


def test_a_forged_huge_number_ends_no_run(graded, isolation):
    """Catches numbers in the grader's process that no comparison is made for."""
    assert graded(HUGE, RANGES).questions[0].points == 0


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"nbformat": 4, "cells": [' + b"9" * 5000 + b"]}", "is no notebook"),
        (b"[" * 300_000, "is no notebook"),
        (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "' + b"a\\n" * 10**6 + b'"}]}', "of code"),
        (b'{"nbformat": 4, "cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "is no notebook"),
        (b"\xff\xfe\x00", "is no notebook"),
    ],
)  # fmt: skip
def test_a_file_that_is_made_to_break_the_reader_is_told(course, isolation, data, says):
    path = course / "odd.ipynb"
    path.write_bytes(data)
    with pytest.raises(NotANotebook, match=says):
        grading.grade(path, SLUG, 1)


def test_a_line_of_spaces_costs_no_time_that_grows_with_its_square(graded, isolation):
    """Catches a pattern that can match one text in many ways, by what is left of the limit for reading."""
    grade = graded("x = (" + " " * 900_000 + "!", MEANS)
    assert grade.points == 6


BUSY = "import time\nuntil = time.thread_time() + 0.4\nwhile time.thread_time() < until: pass"


@pytest.mark.parametrize(
    ("cell", "limits", "says"),
    [
        (BUSY, Limits(submission_seconds=1), "used up the 1 s of computing time that one has"),
        ("import time\ntime.sleep(0.4)", Limits(submission_net_seconds=1), "had not ended after 1 s"),
    ],
)
def test_a_notebook_has_a_limit_as_a_whole(graded, isolation, cell, limits, says):
    """Catches many cells that each stay below theirs: the first question is asked no more."""
    grade = graded(*[cell] * 20, "1 / 0", MEANS, RANGES, limits=limits)
    assert (grade.points, grade.notes) == (0, [f"The notebook {says}: what was not asked by then has no points."])


def test_a_file_that_is_no_plain_file_is_not_opened(course, isolation):
    os.mkfifo(course / "pipe.ipynb")
    with pytest.raises(NotANotebook, match="is no file"):
        grading.grade(course / "pipe.ipynb", SLUG, 1)
    (course / "zero.ipynb").symlink_to("/dev/zero")
    with pytest.raises(NotANotebook, match="is no file"):
        grading.grade(course / "zero.ipynb", SLUG, 1)


@pytest.mark.parametrize("name", ["a\nforged: 9 of 9", "\x1b[31mred", "turned\u202eround"])
def test_a_name_deceives_no_terminal(course, name):
    path = course / f"{name}.ipynb"
    path.write_text(json.dumps(notebook(START, MEANS)))
    told = grading.grade(path, SLUG, 1).file
    assert told.isprintable() and name not in told and told.endswith(".ipynb")


def test_a_name_that_is_no_utf8_is_told(course):
    path = os.fsencode(course) + b"/M\xfcller.ipynb"
    with open(path, "w") as file:
        json.dump(notebook(START, MEANS), file)
    assert grading.grade(Path(os.fsdecode(path)), SLUG, 1).file.endswith("M\\xfcller.ipynb")


def test_checks_that_lie_beside_a_notebook_are_not_run(course, tmp_path_factory, monkeypatch):
    """Catches a student's whole folder, handed in, whose own exercises/authoring is run in the grader."""
    student = tmp_path_factory.mktemp("student")
    folder = student / "exercises" / "authoring" / SLUG
    shutil.copytree(course / "exercises" / "authoring" / SLUG, folder)
    for file in folder.glob("*.py"):
        file.write_text(f"import pathlib\npathlib.Path({str(student / 'ran')!r}).touch()\n" + file.read_text())
    path = student / "exercises" / f"{SLUG}.ipynb"
    path.write_text(json.dumps(notebook(START, MEANS)))
    monkeypatch.chdir(student)
    grading._loaded.cache_clear()
    assert grading.grade(path, None, 1).points == 6
    assert not (student / "ran").exists()


@pytest.mark.parametrize("what", ["exercises/authoring/{slug}/means.py", "new.py"])
def test_a_change_of_the_course_stops_the_run(graded, course, isolated, what):
    """Catches an answer that rewrites the checks, or adds a file, for those graded after it."""
    isolated(launch.PROCESS)
    path = course / (what if "/" in what else f"exercises/authoring/{SLUG}/{what}").format(slug=SLUG)
    change = f"import os\nopen({str(path)!r}, 'a').write('# mine')\nos.utime({str(path)!r}, (1, 1))"
    with pytest.raises(CourseChanged, match=path.name):
        graded(change, MEANS)


SABOTAGE = """
import os, signal, sys
for path in sys.path:
    if "clearcheck-home-" in path:
        open(f"{path}/clearcheck/worker/child.py", "a").write("raise ValueError")
os.kill(os.getppid(), signal.SIGKILL)
"""


def test_a_class_run_without_a_sandbox_says_so_and_keeps_its_own_copy_whole(course, monkeypatch):
    """Catches a run that goes on unprotected without a word, and an answer that changes the worker of the next one."""
    bwrap, handed_in = course / "bin" / "bwrap", course / "handed-in"
    bwrap.parent.mkdir()
    bwrap.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1")
    bwrap.chmod(0o755)
    handed_in.mkdir()
    for name, cell in (("a", SABOTAGE), ("b", RANGES)):
        (handed_in / f"{name}.ipynb").write_text(json.dumps(notebook(START, MEANS, cell)))
    monkeypatch.setenv("PATH", f"{bwrap.parent}:{os.environ['PATH']}")
    monkeypatch.delenv(launch.VARIABLE, raising=False)
    command = [sys.executable, "-m", "clearcheck", "grade", "handed-in", "--seed", "1", "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    first, second = done.stdout.splitlines()
    assert "a.ipynb has no grade" in first and "changed the files that the grader runs" in first
    assert second == "handed-in/b.ipynb: 9 of 9 points (seed 1)"
    told = "Without a sandbox, since bubblewrap does not work here (bwrap: setting up uid map: Permission denied)"
    assert done.stderr.count("\n") == 1 and done.stderr.startswith(told)


def test_the_same_change_does_nothing_in_the_sandbox(graded, course, sandbox):
    path = course / "exercises" / "authoring" / SLUG / "means.py"
    before = path.read_bytes()
    assert graded(f"open({str(path)!r}, 'w').write('mine')", MEANS).points == 6
    assert path.read_bytes() == before


def test_the_grader_itself_is_among_the_files_that_are_watched(course):
    """Catches a guard of the exercises alone."""
    watched = CourseFiles().noted
    assert course_files.__file__ in watched and str(course / "exercises/authoring" / SLUG / "means.py") in watched


HIDDEN = """
import sys
__import__("clear" + "tape")
for name in [name for name in sys.modules if name.startswith("clear" + "tape")]:
    del sys.modules[name]
"""


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("from clearformer.reference import softmax", "clearformer"),
        ("if False:\n    import torch", "torch"),
        ("__import__('clear' + 'tape')", "cleartape"),
        (HIDDEN, "cleartape"),
        ("import numpy as np", None),
    ],
)
def test_modules_that_could_do_the_work_are_noted(graded, isolation, cell, told):
    """Catches full points for a call of the library's own solution that nobody notices."""
    grade = graded(cell, MEANS)
    assert grade.uses == ([told] if told else []) and grade.points == 6


def test_the_seed_is_not_in_the_sandbox(graded, sandbox):
    """Catches the seed or the expected values in a command line or an environment that the code can read."""
    look = "import glob\nfor name in glob.glob('/proc/[0-9]*/cmdline') + glob.glob('/proc/[0-9]*/environ'):\n"
    look += "    try: text = open(name, 'rb').read()\n    except OSError: continue\n"
    look += "    if b'7654321' in text: raise ValueError('seed')"
    assert graded(look, MEANS, seed=7654321).notes == []


def test_an_ended_worker_leaves_no_process_of_ours(graded, isolation):
    """Catches zombies and forgotten workers of a long run."""
    graded(MEANS)
    server = launch._server(os.getpid())
    before = children(server.process.pid)
    for _ in range(3):
        graded(MEANS)
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
    until = time.monotonic() + 60
    while Path(f"/proc/{int(told.stdout)}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{int(told.stdout)}").exists()
