"""How the suite is run: in one process unless make asks for more, in an order without idle ends, skips in one line; and
what it says that it cost."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import PurePath
from types import SimpleNamespace

import pytest
import yaml

from tests import costs
from tools import ROOT


@pytest.fixture(scope="module")
def hooks():
    spec = importlib.util.spec_from_file_location("suite_hooks", ROOT / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


QUICK = "tests/clearformer tests/clearbook tests/docs tests/notebooks tests/equations tests/claims"
MEANT = {
    "": f"False False  {QUICK}",
    "tests/tools": "False False  tests/tools",
    "@tests/quick.args": f"False False not slow and not weekly {QUICK}",
    "@tests/everything.args": "True True not weekly tests chapters exercises",
    "@tests/everything.args chapters -n 0": "False True not weekly chapters",
    "@tests/covered.args": (
        "True False not weekly tests/clearformer tests/clearbook tests/equations tests/cleartape tests/clearcheck "
        "tests/clearclass"
    ),
}


@pytest.fixture(scope="module")
def parsed_arguments() -> list[str]:
    """What pytest makes of each of these arguments: whether it has processes and compares notebooks, what and where."""
    code = (
        "import sys, pytest\n"
        "class Say:\n"
        "    @pytest.hookimpl(tryfirst=True)\n"
        "    def pytest_cmdline_main(self, config):\n"
        "        print(bool(config.option.numprocesses), config.option.nbval, config.option.markexpr, *config.args)\n"
        "        return 0\n"
        "for arguments in sys.argv[1:]:\n"
        "    assert pytest.main(arguments.split(), plugins=[Say()]) == 0\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *MEANT], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("arguments", MEANT)
def test_processes_and_notebooks_only_where_they_are_asked_for(arguments, parsed_arguments):
    assert parsed_arguments[list(MEANT).index(arguments)] == MEANT[arguments]


def test_the_book_is_built_first_and_its_pages_are_read_last(hooks):
    names = [hooks.BROWSER, "tests/clearformer/test_a.py", "chapters/01.ipynb", hooks.PROOFS, hooks.BOOK]
    items = [SimpleNamespace(nodeid=f"{name}::test") for name in names]
    hooks.pytest_collection_modifyitems(items)
    assert [item.nodeid.split("::")[0] for item in items] == [names[i] for i in (4, 3, 2, 1, 0)]


def test_a_name_that_is_another_in_each_process_is_refused(hooks):
    """Catches a case named after where an object lies in memory: processes that differ in names run nothing."""
    names = ["tests/a.py::test[0x20]", f"tests/a.py::test[{object()!r}]"]
    hooks.pytest_collection_modifyitems([SimpleNamespace(nodeid=names[0])])
    with pytest.raises(pytest.UsageError, match=r"^tests/a\.py::test\[<object object.*: 1 tests .* ids="):
        hooks.pytest_collection_modifyitems([SimpleNamespace(nodeid=name) for name in names])


def test_proofs_and_pages_are_shared_among_the_processes_and_files_are_not(hooks):
    def scope(nodeid):
        return hooks.Scheduling._split_scope(None, nodeid)

    page = f"{hooks.BROWSER}::test_page_reads_well[chapters/09-language-model.html-wide-dark]"
    assert scope(page) == scope(page.replace("reads_well", "other")) != scope(page.replace("09", "08"))
    assert scope(f"{hooks.PROOFS}::test_it[01]") != scope(f"{hooks.PROOFS}::test_it[02]")


@pytest.mark.parametrize(("asked", "found", "number"), [("auto", 2, 3), ("auto", 16, 16), ("logical", 2, 2)])
def test_the_whole_suite_has_three_processes_or_more(hooks, monkeypatch, asked, found, number):
    monkeypatch.delenv("PYTEST_XDIST_AUTO_NUM_WORKERS", raising=False)
    chosen = hooks.pytest_xdist_auto_num_workers(SimpleNamespace(option=SimpleNamespace(numprocesses=asked)))
    next(chosen)
    with pytest.raises(StopIteration) as end:
        chosen.send(found)
    assert end.value.value == number


def test_skips_are_counted_by_reason_in_one_line(hooks):
    lines = []
    skipped = [SimpleNamespace(longrepr=("file", 1, f"Skipped: needs {what}")) for what in ("rain", "sun", "rain")]
    hooks.pytest_terminal_summary(SimpleNamespace(stats={"skipped": skipped}, write_line=lines.append))
    assert lines == ["skipped: 2 × needs rain; 1 × needs sun"]


SETTINGS = """
import matplotlib, numpy, torch
from clearbook.notebook import setup
def found():
    return matplotlib.rcParams["savefig.bbox"], repr(numpy.float32(1) / 3 * numpy.ones(1)), repr(torch.ones(1) / 3)
def test_before():
    global before
    before = found()
    setup()
    assert found() != before
"""


def test_a_page_that_a_test_runs_sets_nothing_for_the_next_file(tmp_path):
    """Catches a drawing that is another one, and an output that is printed otherwise, after a page ran beside it."""
    (tmp_path / "conftest.py").write_text("from tests.conftest import no_settings_of_a_page\n")
    (tmp_path / "test_a.py").write_text(SETTINGS)
    (tmp_path / "test_b.py").write_text("import test_a\ndef test_after(): assert test_a.found() == test_a.before\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    assert "2 passed" in told, told


@pytest.mark.slow
def test_a_failure_without_a_line_is_told(tmp_path):
    """Catches a run that breaks off in an internal error of pytest: an instruction of no line raised, or freed
    something that warned."""
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "def lost(): raise ValueError('from no line')\n"
        "unknown = b'\\xff' * len(lost.__code__.co_code)  # eight instructions of no line each: enough\n"
        "lost.__code__ = lost.__code__.replace(co_linetable=unknown)\n"
        "def test_raised(): lost()\n"
        "def test_caught():\n"
        "    try:\n"
        "        lost()\n"
        "    except ValueError:\n"
        "        raise KeyError('in its place')\n"
        "def test_of_a_group(): raise ExceptionGroup('some', [KeyError(), pytest.raises(ValueError, lost).value])\n"
        "def test_after(): pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-n", "0", "--tb=long"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "3 failed, 1 passed" in done.stdout and "INTERNALERROR" not in done.stdout
    assert done.stdout.count("from no line") >= 3


MARK = "@pytest.mark." + "weekly"
BUSY = "import time\nwhile time.process_time() < 1: pass"
DEAR = f"""
import subprocess, sys
def test_dear():
    subprocess.run([sys.executable, "-c", {BUSY!r}], check=True)
def test_cheap():
    pass
"""
PLUGIN = "import pathlib, pytest, sys\nfrom tests import costs\ncosts.FILE = pathlib.Path(sys.argv[1])\n"
PLUGIN += "pytest.main(sys.argv[2:], plugins=[costs.Costs()])"


@pytest.mark.skipif(costs.resource is None, reason="needs the CPU time of processes that ended")
def test_a_run_says_what_it_cost_with_its_children_and_which_test_was_dearest(tmp_path):
    """Catches the time of processes that a test starts being left out, and costs that are added to another test."""
    (tmp_path / "test_it.py").write_text(DEAR)
    command = [sys.executable, "-c", PLUGIN, tmp_path / "costs.txt", tmp_path / "test_it.py", "--rootdir", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    said = re.search(r"^CPU: (\d+) s \(.+\)$", done.stdout, re.M)
    assert said and int(said[1]) >= 1, done.stdout + done.stderr
    lines = (tmp_path / "costs.txt").read_text().splitlines()
    assert lines[1].endswith("test_it.py") and float(lines[1].split()[0]) >= 1
    assert lines[3].endswith("::test_dear") and float(lines[3].split()[0]) >= 1
    assert lines[4].endswith("::test_cheap") and float(lines[4].split()[0]) < 1


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def workflow(name: str) -> dict:
    """A workflow; YAML reads its key `on` as True."""
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_has_only_what_github_knows(file):
    """Catches a line of a comment that lost its sign and became a key, for which GitHub refuses the whole workflow."""
    known = {"name", "run-name", "on", "permissions", "env", "defaults", "concurrency", "jobs"}
    assert {"on" if key is True else key for key in workflow(file.stem)} <= known


def test_the_jobs_run_every_folder_of_tests_once():
    """Catches a new folder of tests that no job runs, and one that two of them run."""
    parts = workflow("tests")["jobs"]["linux"]["strategy"]["matrix"]["part"]
    run = [path for part in parts for path in part["paths"].split()]
    folders = {f"tests/{file.parent.name}" for file in (ROOT / "tests").glob("*/test_*.py")}
    assert sorted(run) == sorted({*folders, "chapters", "exercises"})


def test_what_is_weekly_is_run_once_a_week_and_where_its_file_is_edited():
    """Catches a test that got the mark, and that no workflow runs when its own file changes."""
    weekly = workflow("weekly")
    [command] = [step["run"] for step in weekly["jobs"]["weekly"]["steps"] if "pytest" in step.get("run", "")]
    assert "-m weekly" in command and weekly[True]["schedule"]
    marked = [file for file in (ROOT / "tests").rglob("test_*.py") if MARK in file.read_text(encoding="utf-8")]
    assert len(marked) >= 2
    for file in (file.relative_to(ROOT).as_posix() for file in marked):
        for event in ("push", "pull_request"):
            assert any(PurePath(file).match(path) for path in weekly[True][event]["paths"]), file
        assert any(file.startswith(f"{folder}/") for folder in command.split()), file
