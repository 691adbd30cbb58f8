"""A toy exercise in a folder of its own, notebooks that answer it, and the ways in which their code is kept apart."""

import contextlib
import json
import os
import shutil
from pathlib import Path

import pytest
from clearcheck import notebook as in_notebook
from clearcheck.author.release import learner_notebook, read_source
from clearcheck.files import RECORD_VARIABLE
from clearcheck.own_course import COURSE_VARIABLE
from clearcheck.report.grade import _files, grade
from clearcheck.worker import launch
from clearcheck.worker.limits import Limits

from .toy_notebook import MEANS, RANGES, SHORT, SLUG, START, TOY, mark_solution, notebook

NO_BUBBLEWRAP = "needs bubblewrap and user namespaces"


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """A course folder with the toy exercise, as the working folder."""
    folder = tmp_path / "exercises" / "authoring" / SLUG
    shutil.copytree(TOY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    sources = [START, mark_solution(MEANS), 'check("means")', mark_solution(RANGES), 'check("ranges")', "progress()"]
    source = notebook(*sources, kernelspec={"name": "python3", "display_name": "Python 3", "language": "python"})
    (folder / "source.ipynb").write_text(json.dumps(source))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(COURSE_VARIABLE, str(tmp_path))
    _files.cache_clear()
    return tmp_path


@pytest.fixture
def record(course, monkeypatch) -> Path:
    """The file of the learner's record, which is off in the rest of the suite."""
    monkeypatch.delenv(RECORD_VARIABLE)
    return course / ".clearcheck" / "progress.json"


@pytest.fixture
def start(course, monkeypatch):
    """Start a notebook: runs cells as a kernel does, in a namespace of their own; gives the last cell's last value."""

    def open_notebook():
        monkeypatch.setattr(in_notebook, "_session", in_notebook._Session())
        space: dict = {"__name__": "__main__"}
        exec(START, space)

        def cell(source: str):
            *lines, last = source.splitlines()
            exec("\n".join(lines), space)
            return eval(last, space)

        return cell

    return open_notebook


@pytest.fixture
def run(start):
    """One notebook, started."""
    return start()


@pytest.fixture
def learner(course):
    """Write the learner's notebook of an exercise, as released but not run, with these answers in it."""

    def write(*answers: str, slug: str = SLUG) -> Path:
        made = learner_notebook(read_source(course / "exercises" / "authoring" / slug / "source.ipynb"), slug)
        for answer in answers:
            head = answer.splitlines()[0]
            cell = next(cell for cell in made["cells"] if cell["source"].startswith(head))
            cell["source"] = answer
        path = course / "exercises" / f"{slug}.ipynb"
        path.write_text(json.dumps(made))
        return path

    return write


@pytest.fixture
def grade_cells(course):
    """Grade a notebook made of these code cells, with short limits and a fixed seed."""

    def run(*sources: str, seed: int = 5, start: str = START, limits: Limits = SHORT):
        path = course / "answer.ipynb"
        path.write_text(json.dumps(notebook(start, *sources)))
        return grade(path, seed=seed, limits=limits)

    return run


@pytest.fixture(scope="module")
def servers():
    """The servers of workers by their kind, each started once: what a test did to one must not harm the next."""
    made: dict = {}
    yield made
    for one in made.values():
        if one:
            one.retire()


@pytest.fixture
def isolate_workers(servers, monkeypatch):
    """Keep the workers of this test apart in this way; skips where the system cannot."""

    def choose(kind: str) -> str:
        monkeypatch.setenv(launch.VARIABLE, kind)
        if kind not in servers:
            with contextlib.suppress(launch.WorkerError):
                servers[kind] = launch._server.__wrapped__(os.getpid())
        if kind not in servers or (kind == launch.BUBBLEWRAP and servers[kind] is None):
            pytest.skip(NO_BUBBLEWRAP)
        monkeypatch.setattr(launch, "_server", lambda owner: servers[kind])
        return kind

    return choose


@pytest.fixture(params=[launch.PROCESS, launch.BUBBLEWRAP])
def isolation(request, isolate_workers) -> str:
    """Each way in which a worker can be kept apart, as far as this system has it."""
    return isolate_workers(request.param)


@pytest.fixture
def sandbox(isolate_workers) -> str:
    return isolate_workers(launch.BUBBLEWRAP)
