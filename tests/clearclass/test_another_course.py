"""A course on sorting, released, proven and graded by clearcheck and clearclass where nothing else of ours is there."""

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from clearcheck.author.release import learner_notebook, read_source

ROOT = Path(__file__).parents[2]
COURSE = Path(__file__).parent / "toy_course"
SLUG = "01-sorting"
POINTS = 10
# What every Python below runs first.
WITHOUT = """import sys


class Missing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, Missing)
"""
OTHERS = ("clearformer", "clearbook", "cleartape", "torch")

Run = Callable[..., subprocess.CompletedProcess]


@pytest.fixture
def place(tmp_path) -> Path:
    """A copy of the course, and beside it a folder with the two packages."""
    shutil.copytree(COURSE, tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__"))
    for package in ("clearcheck", "clearclass"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "lib" / package, tmp_path / "lib" / package, ignore=ignored)
    (tmp_path / "lib" / "sitecustomize.py").write_text(WITHOUT.format(names=OTHERS))
    return tmp_path


@pytest.fixture
def run(place) -> Run:
    """Run Python there; what it printed."""

    def run(*words: str, code: int = 0) -> subprocess.CompletedProcess:
        variables = {**os.environ, "PYTHONPATH": str(place / "lib"), "CLEARCHECK_COURSE": str(place / "course")}
        command = [sys.executable, *words]
        done = subprocess.run(command, cwd=place / "course", env=variables, capture_output=True, text=True)
        assert done.returncode == code, f"{done.stdout}{done.stderr}"
        return done

    return run


def source(place: Path) -> Path:
    return place / "course" / "exercises" / "authoring" / SLUG / "source.ipynb"


@pytest.fixture
def handed_in(place) -> Path:
    """Ada has solved everything, Bob merges by joining, Cy has written nothing and Dee no notebook."""
    work = place / "course" / "work"
    solved = source(place).read_text()
    joined = solved.replace("return np.sort(np.concatenate([a, b]))", "return np.concatenate([a, b])")
    untouched = json.dumps(learner_notebook(read_source(source(place)), SLUG))
    texts = {"Ada_12": solved, "Bob_13": joined, "Cy_14": untouched, "Dee_15": "{"}
    for who, text in texts.items():
        folder = work / f"{who}_assignsubmission_file_"
        folder.mkdir(parents=True)
        (folder / "sorting.ipynb").write_text(text)
    return work


def test_nothing_else_is_imported(run):
    """Catches an import of torch, of pytest or of another package of ours, in any module that a class needs."""
    walked = "[name for p in (clearclass, clearcheck.report, clearcheck.learner, clearcheck.notebooks) "
    walked += "for _, name, _ in pkgutil.walk_packages(p.__path__, f'{p.__name__}.') if not name.endswith('__main__')]"
    program = f"""
import importlib, pkgutil, sys
before = set(sys.modules)
import clearcheck.cli, clearcheck.learner, clearcheck.notebooks, clearcheck.report, clearclass, clearclass.cli
names = {walked}
for name in names:
    importlib.import_module(name)
print(len(names), *sorted({{name.partition(".")[0] for name in set(sys.modules) - before}}))
"""
    count, *loaded = run("-c", program).stdout.split()
    assert int(count) >= 20
    foreign = {name for name in loaded if name not in sys.stdlib_module_names and not name.startswith("_")}
    assert foreign - {"cython_runtime"} <= {"clearcheck", "clearclass", "numpy", "nbformat"}


@pytest.mark.slow
def test_the_course_is_proven(run):
    """Catches a proof that needs the library of this course, and a mistake of the new one that is not told."""
    said = run("-m", "clearcheck", "prove", SLUG).stdout
    assert "right solutions accepted: 6 of 6; wrong solutions caught: 18 of 18" in said
    assert said.rstrip().endswith("told their mistake: 18; errors: 0.")


@pytest.mark.slow
def test_the_learners_notebook_is_released_and_graded(run, place):
    """Catches a release that needs our notebooks, one with an answer in it, and a stub that has points."""
    run("-m", "clearcheck", "release", SLUG)
    released = place / "course" / "exercises" / f"{SLUG}.ipynb"
    assert "np.argsort" not in released.read_text() and "BEGIN SOLUTION" not in released.read_text()
    for path, points in ((released, 0), (source(place), POINTS)):
        graded = json.loads(run("-m", "clearcheck", "grade", str(path), "--json", "--seed", "5").stdout)
        assert (graded["exercise"], graded["points"], graded["max_points"]) == (SLUG, points, POINTS)


@pytest.mark.parametrize("command", ["clearclass", "clearcheck"])
def test_a_class_is_graded(run, handed_in, command):
    """Catches a class run that needs more than the two packages, and one of the commands that has other options."""
    options = ("--results", "results", "--csv", "class.csv", "--seed", "5", "--jobs", "1")
    said = run("-m", command, "grade", "work", *options, code=2).stdout.splitlines()
    assert [line.rpartition(": ")[2] for line in said[:3]] == [
        f"{points} of {POINTS} points (seed 5)" for points in (POINTS, 4, 0)
    ]
    with open(handed_in.parent / "results" / "grades.csv", encoding="utf-8-sig", newline="") as file:
        grades = {row["learner"]: row for row in csv.DictReader(file)}
    assert {name: row["points"] for name, row in grades.items()} == {"Ada": "10", "Bob": "4", "Cy": "0", "Dee": ""}
    assert grades["Bob"]["mistakes"] == "merge/one_behind_the_other"
    page = (handed_in.parent / "results" / "feedback" / "bob-13.html").read_text()
    assert "The arrays are joined, and not sorted." in page


@pytest.mark.parametrize("words", [["work"], ["a.ipynb", "b.ipynb"], ["a.ipynb", "--csv", "class.csv"]])
def test_without_clearclass_a_class_is_refused_and_one_file_is_graded(run, place, handed_in, words):
    """Catches a traceback where only a learner's package is installed, and a learner who cannot grade there."""
    shutil.rmtree(place / "lib" / "clearclass")
    (place / "lib" / "sitecustomize.py").write_text(WITHOUT.format(names=(*OTHERS, "clearclass")))
    said = run("-m", "clearcheck", "grade", *words, code=2)
    assert "are for the package clearclass, which is not installed here" in said.stderr and not said.stdout
    assert f"{POINTS} of {POINTS} points" in run("-m", "clearcheck", "grade", str(source(place))).stdout
