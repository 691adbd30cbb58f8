"""Code that breaks the process, runs for ever, floods it or lies to the grader.

Each costs its own question or cell, gets one sentence, and leaves the other question its points.
"""

import json
import os
import re
import threading
from types import SimpleNamespace

import pytest
from clearcheck.worker import launch, parent
from clearcheck.worker.frames import write_frame
from clearcheck.worker.limits import Limits
from inline_snapshot import snapshot

from .toy_notebook import MEANS, RANGES

TO_WAIT_FOR = Limits(cell_seconds=1.0, grace_seconds=0.5)
IMPATIENT = Limits(cell_seconds=1.0, grace_seconds=0.5, net=1.5)  # a call or a cell may wait for 1.5 s

USED = "used more than 1 s of computing time and was stopped"

IN_A_CALL = {
    "sys.exit": ("import sys; sys.exit(0)", "raised SystemExit"),
    "os._exit": ("import os; os._exit(0)", "ended the Python process (exit code 0)"),
    "own interrupt": ("raise KeyboardInterrupt", "raised KeyboardInterrupt"),
    "recursion": ("return column_means(table)", "raised RecursionError"),
    "endless loop": ("while True: pass", USED + " in the line `while True: pass`: look for"),
    "deaf loop": (
        "import signal; signal.signal(signal.SIGPROF, signal.SIG_IGN)\n    while True: pass",
        USED + ": look for",
    ),
    "10 GB": ("return np.ones(10 * 2**30 // 8)", "raised MemoryError"),
    "10 GB of bytes": ("return len(bytearray(10 * 2**30))", "raised MemoryError"),
    "kill": ("import os; os.kill(os.getpid(), 9)", "ended the Python process (signal SIGKILL)"),
    "closed descriptors": ("import os; os.closerange(0, 100); return 1", "ended the Python process"),
    "large file": ("open('x', 'wb').truncate(10**8)", "File too large"),
    "segmentation fault": ("import ctypes; ctypes.string_at(0)", "ended the Python process (signal SIGSEGV)"),
}


@pytest.mark.parametrize("name", IN_A_CALL)
def test_a_call_that_breaks_things_costs_its_question_alone(grade_cells, name):
    """Would catch a grader that hangs, dies, or blames the other question."""
    body, says = IN_A_CALL[name]
    grade = grade_cells(f"def column_means(table):\n    {body}", RANGES)
    means, ranges = grade.questions
    assert says in means.checks[0].message
    assert (means.points, ranges.points) == (0, 3)


def test_a_loop_that_swallows_every_exception_is_ended_from_outside(grade_cells):
    """Would catch relying on an exception to stop the learner's code, and losing the function of an ended cell."""
    loop = "import signal\nsignal.signal(signal.SIGPROF, signal.SIG_IGN)\n"
    loop += "while True:\n    try:\n        sum(range(1000))\n    except: pass"
    grade = grade_cells(f"{MEANS}\n{loop}", RANGES, limits=TO_WAIT_FOR)
    assert grade.points == 9
    assert grade.notes == snapshot(
        [
            "Code cell 2 used more than 1 s of computing time and was stopped: look for a loop that never ends; its other definitions and the other cells were still read."
        ]
    )


def test_cells_that_break_things_do_not_stop_the_others(grade_cells):
    """Would catch one bad cell costing the cells before it or after it."""
    cells = ["import os\nos._exit(3)", "raise SystemExit", "while True: pass", "x = bytearray(10 * 2**30)"]
    grade = grade_cells(cells[0], MEANS, *cells[1:], RANGES, limits=TO_WAIT_FOR)
    assert grade.points == 9
    told = (
        r"cell 2 .*exit code 3\b",
        "4 .*SystemExit",
        f"5 {USED} .*`while True",
        r"6 .*MemoryError.*`x = bytearray\(",
    )
    for fact, note in zip(told, grade.notes, strict=True):
        assert re.search(fact, note), note


FAILS = """import never_installed as sns, statistics
open("ran", "w").close()
from nowhere.at_all import drive
@statistics.mean
def odd(): pass
def column_means(table):
    return np.array([statistics.fmean(column) for column in table.T])
"""


def test_below_a_line_that_fails_imports_and_definitions_count(grade_cells):
    """Would catch one import of Colab, put first, taking those of the whole notebook with it, and other lines run."""
    look = "import os\nif os.path.exists('ran'): raise ValueError('ran')"
    grade = grade_cells(FAILS, RANGES, look)
    (note,) = grade.notes
    assert grade.points == 9 and re.search("cell 2 .*'never_installed'.* `import never_installed as sns, ", note)


def test_what_is_below_a_line_that_fails_has_no_time_of_its_own(grade_cells):
    grade = grade_cells("1 / 0\nclass Slow:\n    while True: pass", MEANS, limits=TO_WAIT_FOR)
    assert grade.notes == snapshot(
        [
            "Code cell 2 used more than 1 s of computing time and was stopped in the line `while True: pass`: look for a loop that never ends; its other definitions and the other cells were still read."
        ]
    )


SLOW = "import os\nos.mkdir('slow')\nopen('slow/part.py', 'w').write('while True: pass')"
WAITED = "had not ended after 1.5 s and was stopped"
WHY = "it sleeps, or waits for something that does not come, unless this computer is very busy"


@pytest.mark.parametrize(
    ("line", "limits", "told", "why"),
    [
        ("while True: pass", TO_WAIT_FOR, USED, "a loop that never ends"),
        ("time.sleep(60)", IMPATIENT, WAITED, WHY),
        ("import slow.part", TO_WAIT_FOR, USED, "importing `slow.part` took too long"),
        ("from slow.part import it", TO_WAIT_FOR, USED, "importing `slow.part` took too long"),
    ],
)
def test_definitions_below_a_line_that_was_stopped_count(grade_cells, line, limits, told, why):
    """Would catch a right answer that is lost below a training or a slow import, and an import called a loop."""
    grade = grade_cells(SLOW, f"import time\n{line}\n1 / 0\n{MEANS}", limits=limits)
    (note,) = grade.notes
    assert grade.points == 6 and note.startswith(f"Code cell 3 {told} in the line `{line}`: ") and why in note


@pytest.mark.parametrize("deaf", ["", "import signal\n    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n    "])
def test_a_call_that_waits_is_ended_by_the_clock(grade_cells, deaf):
    """Would catch a grader that waits for ever for code that computes nothing, and a word of computing time."""
    grade = grade_cells(f"import time\ndef column_means(table):\n    {deaf}time.sleep(60)", RANGES, limits=IMPATIENT)
    where = "" if deaf else " in the line `time.sleep(60)`"
    told = f"{WAITED}{where}: {WHY}."
    assert told in grade.questions[0].checks[0].message
    assert grade.points == 3


STOPPED = f"""
import os, signal, subprocess
def column_means(table):
    if not os.path.exists("woken"):
        subprocess.Popen(["sh", "-c", "touch woken; sleep 2.5; kill -CONT {{}}".format(os.getpid())])
        os.kill(os.getpid(), signal.SIGSTOP)
{MEANS.partition("table):")[2]}
"""


def test_a_process_that_gets_no_processor_loses_no_point(grade_cells):
    """Would catch a limit by the clock: on a busy machine a call of milliseconds takes seconds. Its limit is 1 s."""
    limits = Limits(cell_seconds=1.0, grace_seconds=0.5)
    assert grade_cells(STOPPED, RANGES, limits=limits).points == 9


def test_the_work_of_other_threads_does_not_count(grade_cells):
    """Would catch the time of all threads together, in which BLAS would halve what a learner is told to have."""
    spin = "import threading, time\nover = threading.Event()\ndef spin():\n    while not over.is_set(): pass\n"
    body = "    threading.Thread(target=spin).start()\n    time.sleep(1.6)\n    over.set()\n"
    grade = grade_cells(spin + MEANS.replace(":\n", ":\n" + body, 1), RANGES, limits=TO_WAIT_FOR)
    assert grade.points == 9


def test_what_a_cell_may_do_in_jupyter_alone(grade_cells):
    """Would catch points that a notebook shows and the grader does not give."""
    lines = "get_ipython().run_line_magic('matplotlib', 'inline')\nimport asyncio\nawait asyncio.sleep(0)\n"
    grade = grade_cells(lines + MEANS, "await asyncio.sleep(0)\n1 / 0\n" + RANGES)
    assert grade.points == 9
    assert [note.partition(";")[0] for note in grade.notes] == snapshot(
        ["Code cell 3 stopped with ZeroDivisionError (division by zero) in the line `1 / 0`"]
    )


@pytest.mark.parametrize("call", ["experiment()", "experiments(\n    column_means\n)"])
def test_an_experiment_is_not_run(grade_cells, call):
    """Would catch a grader that waits for a model that is trained to be looked at, and cells that are cut too far."""
    name = call.partition("(")[0]
    grade = grade_cells(f"def {name}(*given):\n    while True: pass\n\n{call}\n{MEANS}", "experiment = len", RANGES)
    assert (grade.points, grade.notes) == (9, [])
    grade = grade_cells(MEANS, "def experiment():\n    raise KeyError\n\nfound = experiment()", RANGES)
    assert [note.split(" with ")[0] for note in grade.notes] == ["Code cell 3 stopped"]


def test_printing_100_mb_is_dropped_with_a_note(grade_cells):
    """Would catch output that fills the memory, the terminal or the channel."""
    cells = ["print('x' * 10**8)", "import os, sys\nos.write(1, bytes(10**6))\nos.write(2, bytes(10**6))"]
    noisy = MEANS.replace("    return", "    print('y' * 10**7)\n    return")
    grade = grade_cells(*cells, noisy, RANGES)
    assert grade.points == 9
    assert grade.notes[0] == snapshot(
        "Code cell 2 printed 100,000,001 characters: the grader dropped them. More than 1,000,000 are hardly meant: look for a `print` in a loop."
    )
    assert grade.notes[1].startswith("`column_means` printed ")


LONG_TEXTS = """
import clearcheck.worker.guarded_call as sender
import clearcheck.worker.values as values
sender.plain = lambda text: text
values._Writer._foreign = lambda self, value: ["unsupported", "y" * 10**6]
long = type("A" * 400_000, (Exception,), {})
def column_means(table):
    raise long("x" * 400_000)
def column_ranges(table):
    return object()
"""


def test_what_learners_write_is_repeated_in_part(grade_cells):
    """Would catch results of some megabytes for each learner, and cutting in the process of the learner alone."""
    grade = grade_cells("raise type('B' * 400_000, (Exception,), {})", LONG_TEXTS, "!pip install x\n" * 20_000)
    assert len(json.dumps(grade.as_json())) < 10_000
    five = ", ".join(["`!pip install x`"] * 5)
    assert grade.notes[0].startswith(f"Code cell 4: {five} and 19,995 more ")


ALWAYS_EQUAL = """
class Anything(np.ndarray):
    def __eq__(self, other): return True
    def __array_ufunc__(self, *args, **kwargs): return True
    def __array_function__(self, *args, **kwargs): return True
class Everything:
    shape, dtype, ndim = (5,), np.dtype(float), 1
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    def __float__(self): return 0.0
    def __array__(self, *args, **kwargs): return np.zeros(5)
"""


@pytest.mark.parametrize("answer", ["Everything()", "np.zeros(5).view(Anything)", "[Everything()] * 5"])
def test_an_object_that_equals_everything_gets_nothing(grade_cells, answer):
    """Would catch comparing with the learner's own __eq__."""
    grade = grade_cells(f"{ALWAYS_EQUAL}\ndef column_means(table):\n    return {answer}")
    assert grade.points == 0


def test_patching_numpy_changes_nothing_outside(grade_cells):
    """Would catch a comparison that runs in the learner's process."""
    patch = "np.allclose = np.array_equal = np.isclose = lambda *a, **k: True\nnp.abs = lambda x: 0 * x"
    assert grade_cells(patch, "def column_means(table):\n    return np.zeros(table.shape[1])").points == 0


FORGERY = """
import os
from clearcheck.worker.frames import write_frame
def column_means(table):
    forged = {"kind": "value", "value": table.mean(axis=0), "changed": []}
    for descriptor in range(3, 30):
        try:
            write_frame(open(descriptor, "wb", closefd=False), forged)
            os.write(descriptor, JUNK)
        except (OSError, ValueError):
            pass
    return table.mean(axis=0)
"""


@pytest.mark.parametrize("junk", [b"", b"junk" * 9])
def test_forged_replies_on_the_channel_are_noticed(grade_cells, junk):
    """Would catch taking the learner's bytes for a reply, and the next question reading what is left of them."""
    grade = grade_cells(f"JUNK = {junk}", FORGERY, RANGES)
    means, ranges = grade.questions
    assert means.checks[0].message == snapshot(
        "For an argument of shape (7, 5) your function ended the Python process (its channel to the grader was disturbed): let it return a value."
    )
    assert (means.points, ranges.points) == (0, 3)


def test_the_child_is_told_no_expected_value_seed_or_secret(grade_cells, monkeypatch):
    """Would catch the environment or the arguments of the process giving something away."""
    monkeypatch.setenv("CLASS_TOKEN", "s3cret")
    look = "import os, sys\nif 'CLASS_TOKEN' in os.environ: raise ValueError('token')\n"
    look += "if any('seed' in word for word in sys.argv): raise ValueError('seed')\n"
    look += "if any(name.startswith('clearcheck_') for name in sys.modules): raise ValueError('checks')\n"
    look += "if os.listdir('.'): raise ValueError('files')"
    assert grade_cells(look, MEANS).notes == []


@pytest.mark.parametrize("room", ["author.loading", "grading.question", "notebooks.release", "cli"])
def test_the_grader_cannot_be_imported_by_its_name(grade_cells, room):
    """Would catch an answer that lets the grader load the author's own answers."""
    grade = grade_cells(f"import clearcheck.{room} as found\ncolumn_means = found", MEANS)
    assert re.search(f"cell 2 .*ModuleNotFoundError.*'clearcheck.{room.split('.')[0]}", grade.notes[0])
    assert grade.points == 6


def test_reading_input_ends_at_once(grade_cells):
    """Would catch a notebook that waits for the keyboard for ever."""
    grade = grade_cells("name = input('Who are you?')", MEANS)
    assert re.search("cell 2 .*EOFError", grade.notes[0])
    assert grade.points == 6


def test_a_process_that_dies_again_and_again_is_given_up(grade_cells):
    """Would catch an endless chain of restarts: this thread ends every process shortly after its start."""
    bomb = "import os, threading\ndef go():\n    threading.Timer(0.05, os._exit, [1]).start()\n"
    grade = grade_cells(bomb + "class Now:\n    go()\n" + MEANS, "import time\ntime.sleep(0.5)", RANGES)
    assert any("ended the Python process" in note for note in grade.notes)


def test_a_process_that_ends_before_it_reads_is_told_as_ended(monkeypatch):
    """Would catch a thread that dies of the pipe's close: what could not be written is written once more there."""
    (asked, ask), (answered, answer) = os.pipe(), os.pipe()
    ends = [os.fdopen(fd, mode) for fd, mode in ((asked, "rb"), (ask, "wb"), (answered, "rb"), (answer, "wb"))]
    theirs, stdin, stdout, ours = ends
    process = SimpleNamespace(
        stdin=stdin, stdout=stdout, end=lambda wait: launch.WorkerExit(1), computed_seconds=lambda: None
    )
    monkeypatch.setattr(parent, "launch", lambda preload, memory, hidden: process)
    died = []
    monkeypatch.setattr(threading, "excepthook", died.append)
    write_frame(ours, {"kind": "ready", "computed": 0.0})
    before = set(threading.enumerate())
    child = parent._Child(Limits(), ())
    exchange = (set(threading.enumerate()) - before).pop()
    for end in (theirs, ours):
        end.close()
    assert child.request({"op": "cell"}, 5, 5) == {"kind": "ended", "text": "exit code 1"}
    exchange.join(5)
    assert not exchange.is_alive()
    assert died == []


def test_a_worker_that_does_not_start_is_no_fault_of_the_notebook(grade_cells, monkeypatch, tmp_path):
    """Would catch points lost, or a wait without end, where Python itself cannot be started as the grader wants it."""
    monkeypatch.setattr(launch.sys, "executable", str(tmp_path / "python"))
    (tmp_path / "python").symlink_to("/bin/false")
    launch._server.cache_clear()
    with pytest.raises(launch.WorkerError, match=r"not start .*: .*python with NumPy"):
        grade_cells(MEANS)
