"""One container for each submission: what its command line forbids, and what is believed of what comes out.

An engine of this test's own stands in for podman: it notes its arguments and runs the last of them here.
"""

import copy
import json
import os
import sys
import tracemalloc
from pathlib import Path

import pytest
from clearcheck.cli import main
from clearclass import container
from clearclass.class_run import TRUST_VARIABLE
from clearclass.container import Container, NoContainer, command
from clearclass.one_file import NOT_YOUR_WORK, Job, grader_version
from inline_snapshot import snapshot

from tests.clearcheck.toy_notebook import MEANS, RANGES, START, notebook

ENGINE = """#!{python}
import json, os, re, subprocess, sys
arguments = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(arguments) + "\\n")
if arguments[0] == "run":
    mounts = dict(re.search("src=([^,]+),dst=([^,]+),", a).groups()[::-1] for a in arguments if a.startswith("--mount"))
    asked = json.load(sys.stdin)
    asked["file"] = asked["file"].replace("/submission", mounts["/submission"])
    {body}
"""
GRADED = """here = [sys.executable, *arguments[arguments.index("python") + 1:]]
    sys.exit(subprocess.run(here, input=json.dumps(asked).encode()).returncode)"""


@pytest.fixture
def engine(course, monkeypatch):
    """Put a podman into the path that does `body` when it is told to run."""

    def put(body: str = GRADED) -> Path:
        path = course / "bin" / "podman"
        path.parent.mkdir(exist_ok=True)
        path.write_text(ENGINE.format(python=sys.executable, log=str(course / "log"), body=body))
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
        return path

    return put


def runs(course) -> list[list[str]]:
    calls = [json.loads(line) for line in (course / "log").read_text().splitlines()]
    return [call for call in calls if call[0] == "run"]


def job(*sources: str) -> Job:
    Path("ada's, work.ipynb").write_text(json.dumps(notebook(START, *sources)))
    return Job("ada's, work.ipynb", None, 5)


def test_the_command_forbids_what_a_submission_needs_not():
    """Catches a limit that is lost, a mount that can be written, a path that becomes an option."""
    made = command("podman", "image", "name", Path("/tmp/a,b"), Path("/course/authoring"))
    forbids = {
        "--rm",
        "--network=none",
        "--read-only",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--user=65534:65534",
        "--pids-limit=256",
        "--memory=6g",
        "--memory-swap=6g",
    }
    assert forbids < set(made[: made.index("image")])
    mounts = [argument for argument in made if argument.startswith("--mount=")]
    assert len(mounts) == 3 and all(mount.endswith(",readonly") for mount in mounts)
    assert '--mount=type=bind,"src=/tmp/a,b",dst=/submission,readonly' in mounts
    assert any("/tmp:" in a and "size=" in a for a in made if a.startswith("--tmpfs"))
    assert made[made.index("image") :] == ["image", "python", "-m", "clearclass.one_file"]


def test_a_class_in_containers(engine, course, capsys):
    """Catches a container that serves two submissions, a seed that stands in its command, a sentence about a path that
    only the container has."""
    engine()
    (course / "work").mkdir()
    for name in ("a", "b"):
        (course / "work" / f"{name}.ipynb").write_text(json.dumps(notebook(START, MEANS, RANGES)))
    (course / "work" / "c.ipynb").write_text("{")
    assert main(["grade", "work", "--container", "--seed", "31415", "--json"]) == 2
    first, second, third = map(json.loads, capsys.readouterr().out.splitlines())
    assert "error" not in first and "error" not in second, (first, second)
    assert first["points"] == second["points"] == 9 and first["file"] == "work/a.ipynb"
    assert first["isolation"].startswith("container")
    assert third["error"].startswith("work/c.ipynb is no notebook")
    calls = runs(course)
    names = {argument for call in calls for argument in call if argument.startswith("--name=")}
    assert len(calls) == len(names) == 3
    assert "31415" not in str(calls) and "clearcheck-grader" in calls[0]


def test_a_class_graded_without_containers_is_graded_anew_in_them(engine, course, capsys):
    """Catches a container that is asked for and never started, and one that is started twice for a file."""
    engine()
    (course / "work").mkdir()
    (course / "work" / "a.ipynb").write_text(json.dumps(notebook(START, MEANS, RANGES)))
    isolations = []
    for boxed in ([], ["--container"], ["--container"], []):
        assert main(["grade", "work", "--results", "results", "--json", "--seed", "5", *boxed]) == 0
        isolations.append(json.loads(capsys.readouterr().out)["isolation"].startswith("container"))
    trusts = bool(os.environ.get(TRUST_VARIABLE))  # then the last run says of all grades that they could be changed
    assert isolations == [False, True, True, not trusts] and len(runs(course)) == 1


def test_results_that_were_trusted_go_on_in_containers_only_when_they_are_trusted_again(
    engine, course, capsys, monkeypatch
):
    """Catches a hint, --trust, that containers do not take; and results a notebook may have changed, used unasked."""
    monkeypatch.delenv(TRUST_VARIABLE, raising=False)
    engine()
    (course / "work").mkdir()
    (course / "work" / "a.ipynb").write_text(json.dumps(notebook(START, MEANS, RANGES)))
    run = ["grade", "work", "--results", "results", "--json", "--seed", "5"]
    assert main([*run, "--trust"]) == 0
    capsys.readouterr()
    assert main([*run, "--container"]) == 2
    assert "pass --trust again" in json.loads(capsys.readouterr().out)["error"]
    assert main([*run, "--container", "--trust"]) == 0


FORGED = {
    "more than there is": lambda record: record["questions"][0].update(points=60),
    "another sum": lambda record: record.update(points=9),
    "a question less": lambda record: record["questions"].pop(),
    "texts that are none": lambda record: record["questions"][0]["checks"][0].update(message=[1]),
    "a page that is none": lambda record: record["page"].update(title=3),
    "another exercise": lambda record: record.update(exercise="../../evil"),
    "another seed": lambda record: record.update(seed=6),
    "no dict": lambda record: record.clear(),
}


def test_a_forged_record_is_no_grade(engine, course, monkeypatch):
    """Catches points that code in the container writes in the grader's place, and a run that ends at their shape."""
    asked = job(MEANS)
    monkeypatch.setattr(container, "authoring_folder", lambda _: course / "exercises" / "authoring")
    engine()
    true = Container("podman", "image")(asked)
    assert (true["points"], true["file"], true["grader"]) == (6, asked.file, grader_version())
    engine(f"print(open({str(course / 'forged.json')!r}).read())")
    for name, forge in {"nothing": lambda record: None, **FORGED}.items():
        record = {**copy.deepcopy(true), "isolation": ""}
        forge(record)
        (course / "forged.json").write_text(json.dumps(record))
        came = Container("podman", "image")(asked)
        assert ("it has no grade" in came.get("error", "")) == ("points" not in came) == (name != "nothing"), name


REFUSED = {"version": 1, "file": "/submission/work.ipynb", "error": "The grader failed.", "grader": "the same"}


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ({}, {}),
        ({"again": True, "told": NOT_YOUR_WORK}, {"again": True, "told": NOT_YOUR_WORK}),
        ({"again": [1], "told": "Full marks."}, {}),
    ],
)
def test_a_failure_of_the_grader_is_told_as_one_outside_too(engine, course, written, kept):
    """Catches a learner who reads that the file was at fault where the grader was, one who is never graded again, and
    words that code in the container has put there.
    """
    asked = job(MEANS)
    engine(f"print(json.dumps({REFUSED | written!r}))")
    came = Container("podman", "image", seconds=60)(asked)
    assert {name: came[name] for name in ("again", "told") if name in came} == kept
    assert came["error"] == "The grader failed." and came["file"] == asked.file


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "print('no such image', file=sys.stderr); sys.exit(125)",
            snapshot(
                "The grader failed on ada's, work.ipynb (ValueError: its container ended with 125: no such image): it has no grade. Please tell the authors of the course."
            ),
        ),
        (
            "import time; time.sleep(60)",
            snapshot("ada's, work.ipynb was not graded in 3 s, and its container was ended."),
        ),
    ],
)
def test_a_container_that_fails_is_a_row(engine, course, body, says):
    """Catches a run that ends, or waits, with one container; and one that is left behind."""
    asked = job(MEANS)
    engine(body)
    assert Container("podman", "image", seconds=3 if "sleep" in body else 60)(asked)["error"] == says
    last = json.loads((course / "log").read_text().splitlines()[-1])
    assert last[:2] == ["rm", "--force"] and f"--name={last[2]}" in runs(course)[0]


def test_a_record_of_brackets_alone_is_a_row(engine, course):
    """Catches a run that ends with a record which no reader of JSON gets through, in whatever words Python says so."""
    asked = job(MEANS)
    engine("print('[' * 100000)")
    said = Container("podman", "image", seconds=60)(asked)["error"]
    assert said.startswith("The grader failed on ada's, work.ipynb (RecursionError: ") and "it has no grade" in said


WITHOUT_END = """
    import time
    for _ in range({parts}):
        sys.{stream}.write("x" * 2**20)
        sys.{stream}.flush()
    time.sleep({seconds})
    sys.exit("\\nthe last line")"""


@pytest.mark.parametrize(
    ("stream", "seconds", "says"),
    [
        (
            "stdout",
            600,
            snapshot(
                "The grader failed on ada's, work.ipynb (ValueError: its container wrote more than 1,048,576 bytes, where a record has some thousands): it has no grade. Please tell the authors of the course."
            ),
        ),
        (
            "stderr",
            0,
            snapshot(
                "The grader failed on ada's, work.ipynb (ValueError: its container ended with 1: the last line): it has no grade. Please tell the authors of the course."
            ),
        ),
    ],
)
def test_what_a_container_writes_is_held_up_to_a_limit(engine, course, monkeypatch, stream, seconds, says):
    """Catches a submission that fills the memory of the machine that grades, or goes on after it wrote too much."""
    asked = job(MEANS)
    engine(WITHOUT_END.format(parts=80, stream=stream, seconds=seconds).lstrip())
    monkeypatch.setattr(container, "MOST_OUTPUT", 2**20)
    tracemalloc.start()
    try:
        assert Container("podman", "image", seconds=300)(asked)["error"] == says
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()


def test_what_is_missing_is_told_before_anything_is_graded(course, monkeypatch, capsys):
    """Catches a class of rows that all say that there is no podman."""
    job(MEANS)
    monkeypatch.setenv("PATH", str(course))
    with pytest.raises(NoContainer) as caught:
        container.container()
    assert str(caught.value) == snapshot("Neither podman nor docker is installed: a container needs one of them.")
    path = course / "podman"
    path.write_text("#!/bin/sh\nexit 1\n")
    path.chmod(0o755)
    assert main(["grade", "--container", "some-image", "--", "ada's, work.ipynb"]) == 2
    said = capsys.readouterr()
    assert "no image named some-image" in said.err and "tools/grader.Containerfile" in said.err and not said.out
