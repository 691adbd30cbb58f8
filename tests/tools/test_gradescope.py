"""make gradescope: a zip file that Gradescope can set up and run, tried against its folders under another root."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from clearcheck.author.loading import AUTHORING, load_exercise, slugs_in
from clearclass.gradescope import NOBODY

from tests.clearcheck.toy_notebook import MEANS, RANGES, SLUG, TOY, notebook
from tools.takeaway import gradescope

ROOT = Path(__file__).parents[2]
AUTHORED = "03-self-attention"
SCRIPT, GRADER = "run_autograder", "clearclass.gradescope"


@pytest.fixture(scope="module")
def can_become_nobody() -> bool:
    """Whether nobody grades: where root runs this, unless its Python is out of the others' reach."""
    tried = ["sh", "-c", f"'{sys.executable}' -c 'import numpy'"]
    return os.getuid() == 0 and not subprocess.run(tried, user=NOBODY, cwd="/", capture_output=True).returncode


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def autograder(open_folder, can_become_nobody) -> Path:
    """Gradescope's folder /autograder with the toy exercise, which is graded fast, and a module that several share."""
    course = open_folder / "course"
    shutil.copytree(TOY, course / AUTHORING / SLUG, ignore=shutil.ignore_patterns("__pycache__"))
    with open(course / AUTHORING / SLUG / "shared.py", "a") as file:
        file.write("\nfrom .brought_modules import Block\n")
    (course / AUTHORING / "brought_modules.py").write_text("class Block: ...\n")
    (course / AUTHORING / SLUG / "source.ipynb").write_text(json.dumps(notebook(MEANS, RANGES)))
    (course / "lib").symlink_to(ROOT / "lib")
    for name in ("constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, course)
    root = open_folder / "autograder"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gradescope, "ROOT", course)
        assert gradescope.main([SLUG, "--seed", "4711", "--to", str(open_folder)]) == 0
    with zipfile.ZipFile(open_folder / f"gradescope-{SLUG}.zip") as archive:
        archive.extractall(root / "source")
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    assert modes["setup.sh"] == modes[SCRIPT] == 0o100755
    script = (root / "source" / SCRIPT).read_text()
    for there, here in {"/autograder": str(root), "/opt/clearcheck/bin/python": shlex.quote(sys.executable)}.items():
        assert there in script
        script = script.replace(there, here)
    for place in (root, root / "source"):
        (place / SCRIPT).write_text(script)
    if not can_become_nobody:  # root stays root
        module = root / "source" / "lib" / f"{GRADER.replace('.', '/')}.py"
        module.write_text(module.read_text().replace(f"NOBODY = {NOBODY}", "NOBODY = 0"))
    return root


def run(autograder: Path, submission: dict[str, str | dict]) -> subprocess.CompletedProcess:
    """What run_autograder does, without a sandbox, where an older result lies."""
    for name in ("submission", "results"):
        shutil.rmtree(autograder / name, ignore_errors=True)
        (autograder / name).mkdir()
        (autograder / name).chmod(0o777)
    for name, content in submission.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (autograder / "submission" / name).write_text(text)
    (autograder / "results" / "results.json").write_text(FORGED)
    variables = {"PATH": "/usr/bin:/bin", "CLEARCHECK_ISOLATION": "process"}
    return subprocess.run(["bash", autograder / SCRIPT], env=variables, cwd=autograder, capture_output=True, text=True)


def results(autograder: Path, submission: dict[str, str | dict]) -> dict:
    done = run(autograder, submission)
    assert done.returncode == 0 and not done.stdout + done.stderr, done
    return json.loads((autograder / "results" / "results.json").read_text())


FORGED = '{"score": 94}'
FORGE_AND_KILL = """
import os, signal
from pathlib import Path

try:
    Path({results!r}).write_text({forged!r})
except PermissionError:
    pass
pid = os.getpid()
while {grader!r} not in Path("/proc", str(pid), "cmdline").read_text():
    pid = int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[1])
os.kill(pid, signal.SIGKILL)
"""
LOOK_AROUND = """
import os
from pathlib import Path

server = Path("/proc", str(os.getppid()), "stat").read_text()
grader = Path("/proc", server.rpartition(")")[2].split()[1])
said = (grader / "cmdline").read_text()
assert {grader!r} in said
root, opened = Path({root!r}), []
secret = *root.glob("**/means*"), *root.glob("**/run_autograder"), *(grader / it for it in ("environ", "mem", "fd/1"))
for path in *secret, root / "results/results.json", root / "results/new":
    try:
        open(path, "rb" if path in secret else "ab").close()
        opened.append(path.name)
    except PermissionError:
        pass
raise RuntimeError(f"{{len(secret)}} secrets, opened {{opened}}, the seed is in sight: {{'4711' in said}}")
"""


@pytest.mark.slow
def test_a_submission_is_graded(autograder):
    """Catches a zip that lacks a file of the grader, of the exercise or of what exercises share, results out of place,
    and a grade whose circumstances nobody is told, or everybody.
    """
    came = results(autograder, {"my work.ipynb": notebook("import scipy", MEANS, RANGES), "picture.png": "x"})
    *tests, noticed = came["tests"]
    assert [test["status"] for test in tests] == ["passed"] * 2, came
    assert came["score"] == sum(test["max_score"] for test in tests) == 9
    isolation = "nobody, process" if os.getuid() == 0 else "process"
    assert came["extra_data"] == {"isolation": isolation, "uses": "scipy"}
    assert (noticed["output"], noticed["visibility"]) == (f"isolation: {isolation}\nuses: scipy", "hidden")


@pytest.mark.slow
def test_whatever_is_handed_in_gets_results(autograder):
    """Catches a submission for which Gradescope shows a failure of the autograder, and no sentence."""
    assert "holds no notebook" in results(autograder, {})["output"]
    came = results(autograder, {"a.ipynb": "{"})
    assert came["score"] == 0 and "JSON text is expected" in came["output"]


@pytest.mark.slow
def test_a_failure_of_the_grader_is_no_grade(autograder):
    """Catches everybody's zero: without results Gradescope tells the instructor that the autograder failed."""
    question = autograder / "source" / AUTHORING / SLUG / "means.py"
    text = question.read_text()
    question.write_text("import left_at_home")
    done = run(autograder, {"a.ipynb": notebook(MEANS, RANGES)})
    question.write_text(text)
    assert done.returncode and list((autograder / "results").iterdir()) == []
    assert "No module named 'left_at_home'" in done.stdout and "this is no grade" in done.stdout


@pytest.mark.slow
def test_a_submission_that_ends_the_grader_has_no_grade(autograder):
    """Catches results that a submission without a sandbox has written, and no grader is left to replace."""
    place = str(autograder / "results" / "results.json")
    cell = FORGE_AND_KILL.format(results=place, forged=FORGED, grader=GRADER)
    done = run(autograder, {"a.ipynb": notebook(cell, MEANS)})
    assert done.returncode and list((autograder / "results").iterdir()) == []
    assert "this is no grade" in done.stdout


@pytest.mark.slow
def test_nobody_can_read_the_checks_or_write_results(autograder, can_become_nobody):
    """Catches a submission without a sandbox that reads the references or the seed, or grades itself. Where root does
    not run the grader it can, as the instructor's page says.
    """
    cell = LOOK_AROUND.format(root=str(autograder), grader=GRADER)
    came = results(autograder, {"a.ipynb": notebook(cell, MEANS, RANGES)})
    assert came["score"] == 9 and "7 secrets, opened [" in came["output"], came
    assert ("opened [], the seed is in sight: False" in came["output"]) == can_become_nobody, came


@pytest.mark.slow
@pytest.mark.parametrize("slug", slugs_in(ROOT / AUTHORING))
def test_an_exercise_needs_no_more_than_the_zip_and_has_no_right_answer(slug, tmp_path, monkeypatch):
    """Catches a module that several exercises share and that is left at home, mistakes that are, and answers that are
    not.
    """
    monkeypatch.setattr(gradescope, "copy_library", lambda root, target: None)  # the same for all
    assert gradescope.main([slug, "--seed", "5", "--to", str(tmp_path)]) == 0
    with zipfile.ZipFile(tmp_path / f"gradescope-{slug}.zip") as archive:
        archive.extractall(tmp_path)
    there = load_exercise(slug, tmp_path)
    assert there.folder.is_relative_to(tmp_path) and there.wrong.entries and not there.right.entries
    assert "BEGIN SOLUTION" not in (there.folder / "source.ipynb").read_text()


def test_the_file_is_the_same_whenever_it_is_made(tmp_path):
    """Catches times in the file, other exercises' answers in it, and what Python leaves beside sources."""
    for name in ("a", "b"):
        assert gradescope.main([AUTHORED, "--seed", "5", "--to", str(tmp_path / name)]) == 0
    first, second = (tmp_path / name / f"gradescope-{AUTHORED}.zip" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        names = archive.namelist()
    library = {path.relative_to(ROOT).as_posix() for path in (ROOT / "lib").rglob("*.py")}
    assert {*library, f"exercises/authoring/{AUTHORED}/exercise.py", "constraints.txt"} <= set(names)
    others = re.compile(r"exercises/(?!authoring/(03|\w+\.py$))")
    assert not [name for name in names if "__pycache__" in name or "egg-info" in name or others.match(name)]


def test_setup_is_shell_and_names_what_is_pinned(autograder):
    """Catches a script that does not parse, and a package whose version is left to chance."""
    for name in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", autograder / "source" / name], check=True)
    words = re.search(r"constraints\.txt (.+)", (autograder / "source" / "setup.sh").read_text())[1]
    words = words.replace("--torch-backend cpu", "").split()
    pinned = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.M)
    assert {"numpy", "jaxtyping"} <= set(words) <= set(pinned)


def test_torch_is_installed_where_the_exercise_imports_it(tmp_path):
    """Catches an exercise in PyTorch that fails on Gradescope alone."""
    (tmp_path / "module.py").write_text("import numpy\n")
    assert "torch" not in gradescope.packages(tmp_path)
    (tmp_path / "module.py").write_text("import numpy\nfrom torch import nn\n")
    assert "torch --torch-backend cpu" in gradescope.packages(tmp_path)


def test_an_unknown_exercise_is_told(capsys):
    """Catches a zip without an exercise in it."""
    assert gradescope.main(["99-nowhere"]) == 1
    assert "ARGS names one of: 01-tokens" in capsys.readouterr().err
