"""make gradescope: a zip file that Gradescope can set up and run, tried against its folders under another root."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import gradescope
import pytest

SLUG = "03-self-attention"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def autograder(tmp_path_factory) -> Path:
    """Gradescope's folder /autograder after it has unpacked the file, with no submission yet."""
    made = tmp_path_factory.mktemp("gradescope")
    assert gradescope.main([SLUG, "--seed", "5", "--to", str(made)]) == 0
    with zipfile.ZipFile(made / f"gradescope-{SLUG}.zip") as archive:
        archive.extractall(made / "autograder" / "source")
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    assert modes["setup.sh"] == modes["run_autograder"] == 0o100755
    for name in ("submission", "results"):
        (made / "autograder" / name).mkdir()
    return made / "autograder"


def run(autograder: Path) -> dict:
    """What the Python part of run_autograder writes, with the files of the zip alone."""
    script = (autograder / "source" / "run_autograder").read_text()
    words = re.search(r"python (-m .+)", script)[1].split()
    assert "cd /autograder/source\n" in script and "PYTHONPATH=/autograder/source/lib\n" in script
    command = [sys.executable, *words, "--root", str(autograder)]
    variables = {"PYTHONPATH": str(autograder / "source" / "lib"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=autograder / "source", env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads((autograder / "results" / "results.json").read_text())


@pytest.mark.slow
def test_a_submission_is_graded(autograder):
    """Catches a zip that lacks a file of the grader or the exercise, a seed for each, and results out of place."""
    shutil.copy(ROOT / "exercises" / "authoring" / SLUG / "source.ipynb", autograder / "submission" / "my work.ipynb")
    (autograder / "submission" / "picture.png").write_bytes(b"x")
    results = run(autograder)
    asked = sum(test["max_score"] for test in results["tests"])
    assert results["score"] == asked > 0, results
    assert {test["status"] for test in results["tests"]} == {"passed"}


@pytest.mark.slow
def test_whatever_is_handed_in_gets_results(autograder):
    """Catches a submission for which Gradescope shows a failure of the autograder, and no sentence."""
    for path in (autograder / "submission").iterdir():
        path.unlink()
    assert "holds no notebook" in run(autograder)["output"]
    (autograder / "submission" / "a.ipynb").write_text("{")
    results = run(autograder)
    assert results["score"] == 0 and "JSON text is expected" in results["output"]


def test_the_file_is_the_same_whenever_it_is_made(tmp_path):
    """Catches times in the file, other exercises' answers in it, and what Python leaves beside sources."""
    for name in ("a", "b"):
        assert gradescope.main([SLUG, "--seed", "5", "--to", str(tmp_path / name)]) == 0
    first, second = (tmp_path / name / f"gradescope-{SLUG}.zip" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        names = archive.namelist()
    assert {"lib/clearcheck/cli.py", f"exercises/authoring/{SLUG}/exercise.py", "constraints.txt"} <= set(names)
    assert f"exercises/authoring/{SLUG}/source.ipynb" not in names
    assert not [n for n in names if "__pycache__" in n or "egg-info" in n or re.match(r"exercises/(?!authoring/03)", n)]


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
