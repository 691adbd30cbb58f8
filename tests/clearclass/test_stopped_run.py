"""A class run that is killed, stopped or started twice: nothing is graded twice, lost, or left behind."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import psutil
import pytest
from clearcheck.cli import main
from clearclass import pool
from clearclass.journal import Journal
from clearclass.one_file import Job, NeedsTrust

from tests.clearcheck.toy_notebook import MEANS

from .class_folder import FOLDERS, SEED, WRONG, grade, put, same_files, table

ROOT = Path(__file__).parents[2]


def test_half_a_line_of_a_killed_run_is_not_in_front_of_the_next_record(tmp_path):
    """Catches a record that is written behind what a killed run left, where no run can find it again."""
    Journal(tmp_path, 5).add("one", "ada", {"points": 1})
    path = tmp_path / "journal.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"key": "half a li')
    goes_on = Journal(tmp_path, 5)
    assert path.read_bytes() == whole and "half a li" not in goes_on
    goes_on.add("two", "bob", {"points": 2})
    again = Journal(tmp_path, 5)
    assert [again[key] for key in ("one", "two")] == [{"points": 1}, {"points": 2}]


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_the_same(work):
    """Catches a file that is graded twice or never, half a line in the journal, and results that tell of the kill."""
    for number in range(5):
        put(f"plain/more-{number}.ipynb", MEANS if number % 2 else WRONG)
    script = "import sys; from clearcheck import cli; from clearclass import batch; "
    script += "from tests.clearclass import class_work; batch.grade_file = class_work.grade_slowly; "
    script += f"raise SystemExit(cli.main(['grade', *{FOLDERS}, '--results', 'out', '--jobs', '2', *sys.argv[1:]]))"
    variables = {**os.environ, "PYTHONPATH": f"{ROOT / 'lib'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-c", script]
    with subprocess.Popen([*command, "--seed", "5"], env=variables, stdout=subprocess.DEVNULL) as process:
        journal, end = work / "out" / "journal.jsonl", time.monotonic() + 300
        while not journal.exists() or len(journal.read_bytes().splitlines()) < 5:
            assert time.monotonic() < end and process.poll() is None, process.stderr.read()
            time.sleep(0.02)
        of_the_pool = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
    assert psutil.wait_procs(of_the_pool, timeout=300)[1] == []  # they end by themselves
    kept = [json.loads(line) for line in journal.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    assert not (work / "out" / "grades.csv").exists()
    with open(journal, "ab") as file:
        file.write(b'{"key": "half a li')
    listed = len(Path("graded.txt").read_text().splitlines())
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert done.returncode == 2 and f"{len(kept) - 1} of 10 files were graded before" in done.stderr
    graded = Path("graded.txt").read_text().splitlines()
    known = {json.loads(line["key"])[0] for line in kept[1:]}
    assert not known & set(graded[listed:]) and len(graded[listed:]) == 10 - len(known)
    assert max(Counter(graded[listed:]).values()) == 1
    os.rename("graded.txt", "before.txt")
    assert main(["grade", *FOLDERS, "--results", "whole", "--seed", "5"]) == 2
    assert same_files(work / "out", work / "whole")


@pytest.mark.slow
def test_of_two_runs_over_a_class_the_second_stops(work, capsys):
    """Catches a second run that grades the same folder into the same results, and a first one that it disturbs."""
    put("plain/a-slow-one.ipynb", "import time\ntime.sleep(8)", MEANS)
    command = [sys.executable, "-m", "clearcheck", "grade", *FOLDERS, "--results", "out", "--seed", SEED, "--jobs", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as first:
        end = time.monotonic() + 300
        while not (work / "out" / "journal.jsonl").exists():
            assert time.monotonic() < end and first.poll() is None, first.stderr.read()
            time.sleep(0.02)
        grade()
        assert first.poll() is None, "the first run had ended before the second one asked"
        said = capsys.readouterr()
        assert said.err.endswith("Another run writes to out: wait for it, or name another folder.\n") and not said.out
        first.communicate()
    assert first.returncode == 2 and len(table("out/grades.csv")) == 5


def test_a_process_that_graded_nothing_is_not_taken_for_one_that_grades():
    """Catches a process that is asked to end while it tells of a refusal, and ends with a traceback."""

    def refuse(job):
        raise NeedsTrust

    with pytest.raises(NeedsTrust):
        pool._grade_interruptibly(refuse, Job("a.ipynb", None, 0))
    assert not pool._grading


@pytest.mark.slow
def test_ctrl_c_ends_a_run_and_leaves_nothing(work):
    """Catches tracebacks of each process of the pool, folders left behind, and a run that cannot go on."""
    for name in ("e", "f"):
        put(f"plain/{name}.ipynb", *["import time\ntime.sleep(18)"] * 5, MEANS)
    (work / "tmp").mkdir()
    command = [sys.executable, "-m", "clearcheck", "grade", *FOLDERS, "--results", "out", "--jobs", "2"]
    options = {"env": {**os.environ, "TMPDIR": str(work / "tmp")}, "start_new_session": True, "text": True}
    # As in a terminal, even if this run is one that hears no Ctrl-C, as what a shell starts in the background.
    options["preexec_fn"] = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, stderr=subprocess.PIPE, **options) as process:
        end = time.monotonic() + 300
        journal = work / "out" / "journal.jsonl"
        while not journal.exists() or len(journal.read_bytes().splitlines()) < 6:
            assert time.monotonic() < end and process.poll() is None, process.stderr.read()
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        # All but whose files they are, and what is said on a machine where there is no sandbox.
        said = "".join(line for line in process.stderr if not line.startswith(("Without a sandbox", *FOLDERS)))
    assert (process.returncode, said) == (130, "Stopped: what is graded is kept, and the same command goes on.\n")
    assert list((work / "tmp").glob("clearcheck-*")) == []
    for name in ("e", "f"):
        put(f"plain/{name}.ipynb", MEANS)
    grade()
    assert len(table("out/grades.csv")) == 6
