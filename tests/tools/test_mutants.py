"""The library broken line by line: what is broken, that no break runs for ever, and what the reasons are worth."""

import os
import time
import tomllib
from pathlib import Path

import pytest
import yaml

from tools import ROOT
from tools.checks import mutants
from tools.checks.survey import Survey

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
def test_a_slow_test_is_not_taken_for_one_that_waits(monkeypatch):
    """Catches mutants that count as killed since the machine is busy: who computes a little between looks goes on."""
    from tools.checks import warm_tests

    waiting, go = os.pipe()
    looks = []

    def computed(leader):
        looks.append(leader)
        if len(looks) == 3:
            os.write(go, b"5")
        return len(looks) / 1000

    monkeypatch.setattr(warm_tests, "WAITING", 0.01)
    monkeypatch.setattr(warm_tests, "session_seconds", computed)
    assert warm_tests.run_in_fork(lambda: int(os.read(waiting, 1)), 2) == 5
    assert len(looks) >= 3


@linux
def test_what_a_fork_and_its_children_compute_is_counted():
    """Catches a fork that seems to wait, whatever it computes."""
    from tools.checks import warm_tests

    def compute(seconds=0.1):
        while time.process_time() < seconds:
            pass
        return 0

    def work():
        before = warm_tests.session_seconds(os.getpid())
        compute(time.process_time() + 0.1)
        child = os.fork()
        if child == 0:
            os._exit(compute())
        os.waitpid(child, 0)
        return int((warm_tests.session_seconds(os.getpid()) - before) * 100)

    assert warm_tests.run_in_fork(work, 60) >= 15


@linux
def test_a_fork_ends_with_what_its_work_said():
    from tools.checks import warm_tests

    assert [warm_tests.run_in_fork(lambda: 5, 9), warm_tests.run_in_fork(lambda: 1 / 0, 9)] == [
        5,
        pytest.ExitCode.INTERNAL_ERROR,
    ]


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
