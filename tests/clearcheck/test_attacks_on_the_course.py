"""Answers that change or look for what they are graded with."""

import json
import os
import subprocess
import sys

import pytest
from clearcheck.report import course_files
from clearcheck.report import grade as grading
from clearcheck.report.course_files import CourseChanged, CourseFiles
from clearcheck.worker import launch
from inline_snapshot import snapshot

from .toy_notebook import MEANS, RANGES, SLUG, START, notebook


@pytest.mark.parametrize("what", ["exercises/authoring/{slug}/means.py", "new.py"])
def test_a_change_of_the_course_stops_the_run(grade_cells, course, isolate_workers, what):
    """Catches an answer that rewrites the checks, or adds a file, for those graded after it."""
    isolate_workers(launch.PROCESS)
    path = course / (what if "/" in what else f"exercises/authoring/{SLUG}/{what}").format(slug=SLUG)
    change = f"import os\nopen({str(path)!r}, 'a').write('# mine')\nos.utime({str(path)!r}, (1, 1))"
    with pytest.raises(CourseChanged, match=path.name):
        grade_cells(change, MEANS)


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
    command = [sys.executable, "-m", "clearcheck", "grade", "handed-in", "--seed", "1", "--jobs", "1", "--trust"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    first, second = done.stdout.splitlines()
    assert "a.ipynb has no grade" in first and "changed the files" in first
    assert second == snapshot("handed-in/b.ipynb: 9 of 9 points (seed 1)")
    told = "Without a sandbox, since bubblewrap does not work here (bwrap: setting up uid map: Permission denied)"
    whose, sandbox = done.stderr.splitlines()
    assert "each file stands for a learner" in whose and sandbox.startswith(told)


def test_the_same_change_does_nothing_in_the_sandbox(grade_cells, course, sandbox):
    path = course / "exercises" / "authoring" / SLUG / "means.py"
    before = path.read_bytes()
    assert grade_cells(f"open({str(path)!r}, 'w').write('mine')", MEANS).points == 6
    assert path.read_bytes() == before


def test_the_grader_itself_is_among_the_files_that_are_watched(course):
    """Catches a guard of the exercises alone."""
    watched = CourseFiles().noted
    assert course_files.__file__ in watched and str(course / "exercises/authoring" / SLUG / "means.py") in watched


HIDDEN = """
import sys
__import__("tor" + "ch")
for name in [name for name in sys.modules if name.startswith("tor" + "ch")]:
    del sys.modules[name]
"""


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("from clearformer.reference import softmax", "clearformer"),  # in vain, but it is in the source
        ("if False:\n    import torch", "torch"),
        ("__import__('tor' + 'ch')", "torch"),
        (HIDDEN, "torch"),
        ("import numpy as np", None),
    ],
)
def test_modules_that_could_do_the_work_are_noted(grade_cells, isolation, cell, told):
    """Catches full points for a call of the library's own solution that nobody notices."""
    grade = grade_cells(cell, MEANS)
    assert grade.uses == ([told] if told else []) and grade.points == 6


IN_A_FORK = """
import os
def column_means(table):
    here, there = os.pipe()
    if os.fork() == 0:
        try:
            sys.meta_path[:] = [finder for finder in sys.meta_path if "_NotOffered" not in type(finder).__name__]
            from clearformer.reference import softmax
            os.write(there, b"found")
        finally:
            os._exit(0)
    os.close(there)
    found = os.read(here, 9)
    os.close(here)
    os.wait()
    return table.mean(axis=0) if not found else found
"""


def test_an_exercise_without_the_library_is_not_offered_it(grade_cells, isolation):
    """Catches full points for the library's own solution, and an import that fails without a word on why."""
    grade = grade_cells("from clearformer.reference import softmax", MEANS)
    assert grade.points == 6 and grade.notes[0].startswith(
        "Code cell 2 stopped with ImportError (this exercise is done without clearformer, and the grader does not "
        "offer it) in the line"
    )


def test_in_the_sandbox_no_file_of_the_library_is_there(grade_cells, sandbox):
    """Catches a solution that is imported by a fork, where nothing notes it, and read as a file."""
    assert grade_cells("import sys\n" + IN_A_FORK).points == 6
    look = "import glob, sys\nfound = [file for folder in sys.path for file in glob.glob(f'{folder}/clearformer/*')]"
    assert grade_cells(look + "\nassert not found, found", MEANS).notes == []


def test_an_exercise_with_the_library_is_offered_what_it_needs(grade_cells, course, isolation):
    """Catches an exercise that hands its learners a tool which the grader then takes away."""
    source = course / "exercises" / "authoring" / SLUG / "source.ipynb"
    made = json.loads(source.read_text())
    made["cells"][0]["source"] += "\nimport clearbook"
    source.write_text(json.dumps(made))
    grading._imports_of.cache_clear()
    assert grade_cells("import clearbook, clearformer", MEANS).notes == []
    assert "without cleartape" in grade_cells("import cleartape", MEANS).notes[0]
    grading._imports_of.cache_clear()


def test_the_seed_is_not_in_the_sandbox(grade_cells, sandbox):
    """Catches the seed or the expected values in a command line or an environment that the code can read."""
    look = "import glob\nfor name in glob.glob('/proc/[0-9]*/cmdline') + glob.glob('/proc/[0-9]*/environ'):\n"
    look += "    try: text = open(name, 'rb').read()\n    except OSError: continue\n"
    look += "    if b'7654321' in text: raise ValueError('seed')"
    assert grade_cells(look, MEANS, seed=7654321).notes == []
