"""The library broken line by line: what is broken, that no break runs for ever, and what the reasons are worth."""

import itertools
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import yaml

from tools import ROOT
from tools.checks import mutants
from tools.checks.warm_tests import Survey

SETTINGS = tomllib.loads(mutants.SETTINGS.read_text(encoding="utf-8"))
linux = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")

SOURCE = '''
@decorated
def halved(number: int = 4) -> float:
    """In two."""
    check_whole("halved", "number", number)
    if number < 0:
        raise ValueError(f"halved: {number + 1}")
    return number / 2
'''

TESTS = {
    "test_that_fails": "def test_it():\n    assert False\n",
    "test_that_passes": "def test_it():\n    pass\n",
    "test_that_needs_the_slower_one": """
done = []

def test_slower():
    sum(range(3_000_000))
    done.append(True)

def test_quick():
    assert done
""",
}


def test_every_module_has_its_files_its_tests_and_a_job():
    """Catches a file that was moved, whose mutants would no longer be made."""
    for module in SETTINGS["modules"].values():
        assert all((ROOT / "lib" / file).is_file() for file in module["files"])
        assert all((ROOT / test).is_file() for test in module["tests"])
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "mutation.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["mutants"]["strategy"]["matrix"]["module"] == [*SETTINGS["modules"]]


def test_the_right_answers_of_every_exercise_have_a_job():
    """Catches an exercise whose right answers nobody changes once a week."""
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "mutation.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["answers"]
    exercises = {file.parent.name for file in (ROOT / "exercises" / "authoring").glob("*/exercise.py")}
    assert job["strategy"]["matrix"]["exercise"] == sorted(exercises)
    assert any("clearcheck mutate ${{ matrix.exercise }}" in step.get("run", "") for step in job["steps"])


def test_every_survivor_has_a_reason_and_a_file():
    """Catches a name that stands there twice, or belongs to no module, and so never is missed."""
    files = {file for module in SETTINGS["modules"].values() for file in module["files"]}
    names = [name for group in SETTINGS["survivors"] for name in group["mutants"]]
    assert len(names) == len(set(names))
    assert {name.partition(" ")[0] for name in names} <= files
    assert all(len(group["reason"]) > 20 for group in SETTINGS["survivors"])


def test_a_new_survivor_fails_and_an_old_one_does_not(capsys):
    names = ["a: x → y", "a: x → z", "b: x → y"]
    assert mutants.report_survivors(names, ["a: x → y"], {"a: x → y"}) == 0
    assert mutants.report_survivors(names, ["a: x → y", "b: x → y"], {"a: x → y", "a: x → z"}) == 1
    said = capsys.readouterr().out
    assert "3 mutants: 1 killed, 1 survive for a reason, 1 new." in said
    assert "New: b: x → y" in said and "Is killed or no longer made, so delete it from mutants.toml: a: x → z" in said


def test_a_share_is_a_part_of_a_larger_share():
    names = [f"mutant {number}" for number in range(2000)]
    shares = [{name for name in names if mutants.is_in_share(name, share)} for share in (0.1, 0.4, 1)]
    assert shares[0] < shares[1] < shares[2] == set(names)
    assert 100 < len(shares[0]) < 300


def test_lines_that_other_processes_run_meet_every_test():
    """Catches a module whose mutants all survive since nobody sees its lines, and one that meets tests for nothing."""
    survey = Survey(seconds={"slow": 2.0, "quick": 1.0})
    survey.tests_of["a.py", 1] = {"slow"}
    found = [
        mutants.nearest_tests(survey, Path("a.py"), [line], module)
        for module in ({}, {"unseen_meet_all": True})
        for line in (1, 2)
    ]
    assert found == [["slow"], [], ["slow"], ["quick", "slow"]]


@linux
@pytest.mark.slow
@pytest.mark.parametrize("endless", [lambda: time.sleep(1e6), lambda: [0 for _ in iter(int, 1)]])
def test_what_runs_for_ever_is_ended(endless):
    """Catches a mutant that turns a loop endless, or waits for what never comes, and with it the whole job."""
    from tools.checks import warm_tests

    assert warm_tests.run_in_fork(endless, 0.4) < 0


@linux
@pytest.mark.parametrize(("share", "code"), [(0.33, 5), (0.0, -signal.SIGKILL)])
def test_a_slow_test_is_not_taken_for_one_that_waits(share, code, monkeypatch):
    """Catches mutants that count as killed since the machine is busy: a third of its time is enough to go on."""
    from tools.checks import warm_tests

    def work():
        time.sleep(1.0)
        return 5

    used = itertools.count(1)
    monkeypatch.setattr(warm_tests, "WAITING", 0.05)
    monkeypatch.setattr(warm_tests, "session_seconds", lambda leader: 0.1 * share * next(used))
    assert warm_tests.run_in_fork(work, 2) == code


@linux
def test_what_a_session_has_computed_is_counted_with_all_its_processes():
    """Catches a test that leaves its work to a process of its own, and is taken for one that waits."""
    from tools.checks import warm_tests

    burn = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ntime.sleep(60)"
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}])"
    process = subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE, start_new_session=True)
    try:
        process.stdout.read(1)
        assert warm_tests.session_seconds(process.pid) >= 0.45
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


@linux
def test_a_fork_ends_with_what_its_work_said():
    from tools.checks import warm_tests

    assert [warm_tests.run_in_fork(lambda: 5, 9), warm_tests.run_in_fork(lambda: 1 / 0, 9)] == [
        5,
        pytest.ExitCode.INTERNAL_ERROR,
    ]


@linux
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("test_that_fails", "do not pass as they are"),
        ("test_that_needs_the_slower_one", "fail as mutants meet them"),
        ("test_that_passes", ""),
    ],
)
def test_tests_that_fail_without_a_mutant_are_refused(name, reason, tmp_path, monkeypatch):
    """Catches a run that counts every mutant as killed, since its tests fail anyway."""
    from tools.checks import warm_tests

    (tmp_path / f"{name}.py").write_text(TESTS[name])
    monkeypatch.setattr(warm_tests, "ROOT", tmp_path)

    def refusal():
        try:
            warm_tests.survey_tests([f"{name}.py"], [], tmp_path)
        except SystemExit as error:
            (tmp_path / "refusal").write_text(str(error))
        return 0

    monkeypatch.chdir(tmp_path)
    assert warm_tests.run_in_fork(refusal, 60) == 0
    said = (tmp_path / "refusal").read_text() if (tmp_path / "refusal").exists() else ""
    assert reason in said and bool(said) == bool(reason)


@linux
def test_what_imports_a_broken_file_is_imported_anew(tmp_path, monkeypatch):
    """Catches a module that was imported before its neighbour was broken, and goes on with the whole one."""
    from tools.checks import warm_tests

    sources = {
        "clearformer": "",
        "clearformer.broken": "X = 1",
        "clearformer.direct": "def later():\n    from clearformer.broken import X",
        "clearformer.indirect": "import clearformer.direct",
        "clearformer.lazy": "from clearformer import generate",
        "clearformer.apart": "from clearformer import alone",
        "clearformer.alone": "import math",
        "package": "import clearformer.broken",
        "package.within": "",
        "test_it": "",
    }
    files = {name: str(tmp_path / f"{name}.py") for name in sources}
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.setattr(warm_tests, "ROOT", tmp_path)
    kept = warm_tests.unaffected_modules(files | {"math": None}, {files["clearformer.broken"]})
    assert kept == ["clearformer", "clearformer.apart", "clearformer.alone", "math"]


def changes(source):
    pytest.importorskip("mutmut")
    from tools.checks import mutations

    return {it.name.partition(": ")[2]: it for it in mutations.mutants_of("a.py", source)}


def test_statements_and_operators_are_broken_under_decorators_too():
    """Catches what mutmut itself leaves alone: a function with a decorator, a statement that is left out."""
    found = changes(SOURCE)
    assert {
        "number: int = 4 → number: int = 5",
        "check_whole('halved', 'number', number) → pass",
        "if number < 0: → if number <= 0:",
        "if number < 0: → if not number < 0:",
        "return number / 2 → return number * 2",
        "return number / 2 → return None",
    } <= set(found)
    for mutant in found.values():
        assert mutant.source() != SOURCE and compile(mutant.source(), "a.py", "exec")


def test_words_and_types_are_left_alone():
    """Catches tests of prose that nobody would want to write."""
    texts = " ".join(changes(SOURCE))
    assert "XX" not in texts and "None, 'number'" not in texts and "number - 1" not in texts and "In two" not in texts
    assert sum("raise" in name for name in changes(SOURCE)) == 1  # left out, and not another sentence


def test_a_name_outlives_edits_elsewhere():
    """Catches a list of survivors that is new after each edit of their file."""
    edited = "import math\n\n\n" + SOURCE.replace("    return", "    number = number + 0\n    # halve it\n    return")
    before, after = changes(SOURCE), changes(edited)
    assert set(before) < set(after)
    assert {mutant.source() for mutant in before.values()}.isdisjoint(mutant.source() for mutant in after.values())
    twice = changes("def f():\n    g(1)\n    g(1)\n")
    assert {"g(1) → pass", "g(1) → pass (2)"} <= set(twice)
    assert [twice[name].lines.start for name in ("g(1) → pass", "g(1) → pass (2)")] == [2, 3]
