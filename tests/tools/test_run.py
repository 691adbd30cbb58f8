"""The one entry point: targets, their exit codes, what they start with, and how they are ended."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from importlib.util import find_spec

import pytest

from tests.docs.test_docs import DOCUMENTS, text
from tools import ROOT, run
from tools.setup import bootstrap, pythons, start, targets

WAIT_SECONDS = 120  # for a process on a busy machine to start or to end

posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")


@pytest.fixture
def started_programs(monkeypatch, tmp_path):
    """The words of each program that a target starts; none runs. Those that hold "fails" end with 3."""
    calls = []

    def call(command, **options):
        calls.append(" ".join(map(str, command[1:])))
        return 3 if "fails" in calls[-1] else 0

    monkeypatch.setattr(targets, "call", call)
    monkeypatch.setattr(bootstrap, "main", lambda: calls.append("set-up") or 0)
    monkeypatch.setattr(targets, "ROOT", tmp_path)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    return calls


def test_the_makefile_has_every_target_and_nothing_else():
    """Catches a target that make does not know, or that takes arguments in one place and not in the other."""
    lists = dict(re.findall(r"^(PLAIN|WITH_ARGUMENTS) := (.+)$", text("Makefile"), re.M))
    assert set(lists["PLAIN"].split()) == {name for name, it in targets.TARGETS.items() if not it.example}
    assert set(lists["WITH_ARGUMENTS"].split()) == {name for name, it in targets.TARGETS.items() if it.example}


@pytest.mark.parametrize("name", targets.TARGETS)
def test_every_step_is_there(name):
    """Catches a program that was moved, and a module that the environment does not have."""
    for step in targets.TARGETS[name].steps:
        flag, module, *words = step.words.split()
        assert flag == "-m" and find_spec(module)
        assert all((ROOT / word[1:]).exists() for word in words if word.startswith("@"))


@pytest.mark.parametrize("document", [*DOCUMENTS, "tools/takeaway/downloads.py"])
def test_every_target_that_is_named_exists(document):
    named = re.findall(r"tools[/\\]run\.py ([\w-]+)", text(document))
    assert set(named) <= {*targets.TARGETS, "TARGET"}


def test_steps_run_in_order_and_arguments_go_to_the_last(started_programs):
    assert targets.main(["check", "-k", "cache or mask"]) == 0
    style = [step.words for step in targets.STYLE]
    assert started_programs == ["set-up", *style, "-m pytest @tests/quick.args -k cache or mask"]


def test_the_first_step_that_fails_is_the_last_and_its_code_comes_back(started_programs, monkeypatch):
    """Catches a suite that runs on, or passes, after the style has failed."""
    monkeypatch.setitem(targets.TARGETS, "check", targets.Target("", tuple(map(targets.Step, ["one", "fails", "two"]))))
    assert targets.main(["check"]) == 3
    assert started_programs == ["set-up", "one", "fails"]


NAMED = targets.Target(
    "",
    (targets.Step("one", "Style"), targets.Step("two", "Types"), targets.Step("three", "Tests")),
    example="-k cache",
    leaves="spelling ({lint})",
)


def start_one_that_prints(monkeypatch, failing: str = "") -> None:
    """In place of check: programs that print their words, of which one may fail."""

    def call(words, cwd):
        print(*words[1:])
        return 3 * (words[1] == failing)

    monkeypatch.setattr(targets, "call", call)
    monkeypatch.setitem(targets.TARGETS, "check", NAMED)


@pytest.mark.parametrize(("windows", "command"), [(False, "make lint"), (True, r"py tools\run.py lint")])
def test_a_step_is_named_before_it_starts_and_the_end_tells_what_was_left_out(
    started_programs, monkeypatch, capsys, windows, command
):
    """Catches a name that comes after what its program prints, and a run that passes for more than it was."""
    start_one_that_prints(monkeypatch)
    monkeypatch.setattr(targets, "WINDOWS", windows)
    assert targets.main(["check", "-k", "cache"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "[1 of 3] Style",
        "one",
        "[2 of 3] Types",
        "two",
        "[3 of 3] Tests (asked for: -k cache)",
        "three -k cache",
        "Passed: Style; Types; Tests (asked for: -k cache).",
        f"Not run: spelling ({command}).",
    ]


def test_a_step_that_fails_is_told_with_those_that_it_kept_from_running(started_programs, monkeypatch, capsys):
    """Catches a run that says that it passed, or leaves open whether tests were run."""
    start_one_that_prints(monkeypatch, failing="two")
    assert targets.main(["check"]) == 3
    assert capsys.readouterr().out.splitlines()[-3:] == ["two", "Failed: Types.", "Not run: Tests."]


# What each folder of tests is called where make check says what it runs, or leaves.
QUICK_NAMES = {
    "clearformer": "library",
    "clearbook": "notebook helpers",
    "docs": "documents",
    "notebooks": "rules for notebooks",
    "equations": "equations",
    "claims": "claims",
}
SLOW_NAMES = {
    "benchmarks": "benchmarks",
    "book": "site",
    "clearcheck": "grader",
    "clearclass": "grader",
    "cleartape": "gradients",
    "exercises": "exercises",
    "tools": "tools",
}


def test_make_check_says_which_folders_of_tests_it_runs_and_which_it_leaves():
    """Catches a folder that comes to the quick tests, or leaves them, while the sentences stay."""
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    settings = tomllib.loads(text("pyproject.toml"))["tool"]["pytest"]["ini_options"]
    quick = {path.removeprefix("tests/") for path in settings["testpaths"]}
    assert quick == set(QUICK_NAMES) and folders - quick == set(SLOW_NAMES)
    check = targets.TARGETS["check"]
    assert all(name in check.steps[-1].name for name in QUICK_NAMES.values())
    assert all(name in check.leaves for name in SLOW_NAMES.values())


def test_without_an_environment_nothing_is_started(started_programs, monkeypatch):
    monkeypatch.setattr(bootstrap, "main", lambda: 1)
    assert targets.main(["test"]) == 1 and started_programs == []


def test_an_unknown_target_and_needless_arguments_are_told(started_programs, capsys):
    assert targets.main(["servr"]) == 2 and targets.main(["serve", "8000"]) == 2
    said = capsys.readouterr().err
    assert "There is no target servr: choose one of" in said and "serve takes no arguments, and got: 8000" in said
    assert started_programs == []


@pytest.mark.parametrize("words", [[], ["help"]])
def test_help_lists_every_target_without_setting_anything_up(started_programs, capsys, words):
    assert targets.main(words) == 0
    said = capsys.readouterr().out
    assert started_programs == [] and all(f"  {name} " in said for name in targets.TARGETS)


def test_words_that_set_variables_are_no_arguments(monkeypatch):
    """Catches PORT=8124 that works with make alone, and a test's parameter that is taken for a variable."""
    monkeypatch.setattr(os, "environ", {})
    assert start.without_variables(["PORT=8124", "serve"]) == ["serve"]
    assert start.without_variables(["test", "PYTHON=/a b/python", "-k", "A=1"]) == ["test", "-k", "A=1"]
    assert os.environ == {"PORT": "8124", "PYTHON": "/a b/python"}


def test_the_entry_point_finds_its_package_from_any_folder(tmp_path):
    """Catches a package that Python finds in the folder of the course alone, and words or a code that do not arrive."""
    course = tmp_path / "my course"
    (course / "tools" / "setup").mkdir(parents=True)
    shutil.copy(run.__file__, course / "tools")
    said = "import os, sys; print(os.getcwd(), sys.argv[1:]); sys.exit(41)"
    (course / "tools" / "setup" / "start.py").write_text(said, encoding="utf-8")
    command = [sys.executable, course / "tools" / "run.py", "check", "-k", "a b"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (41, "")
    assert done.stdout.strip() == f"{course.resolve()} ['check', '-k', 'a b']"


def test_another_python_is_given_the_words(monkeypatch):
    """Catches a search whose result is not used, and an exit code that is lost on the way."""
    code = "import sys; sys.exit(41 + (sys.argv[1:] == ['check', 'a b']))"
    monkeypatch.setattr(start.pythons, "choose", lambda: "another")
    monkeypatch.setattr(start, "call", lambda words, cwd: subprocess.call([sys.executable, "-c", code, *words[3:]]))
    assert start.main(["check", "a b"]) == 42


def test_without_a_fitting_python_the_sentence_is_all_that_is_said(monkeypatch, capsys):
    def choose():
        raise pythons.NoPython("Install one.")

    monkeypatch.setattr(start.pythons, "choose", choose)
    assert start.main(["check"]) == 1
    assert capsys.readouterr().err.strip() == "Install one."


def test_programs_get_utf8_and_keep_their_byte_code(started_programs, monkeypatch):
    """Catches a Windows on which every file is read as CP-1252."""
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    targets.main(["lint"])
    assert os.environ["PYTHONUTF8"] == "1" and "PYTHONDONTWRITEBYTECODE" not in os.environ


@posix
def test_language_settings_that_know_ascii_alone_are_replaced():
    """Catches a project whose path has an umlaut, which setuptools cannot write where LC_ALL=C."""
    code = "import os; from tools.setup import targets; targets.use_utf8(); print(os.environ['LC_ALL'])"
    settings = "C"
    for _ in range(2):  # the second time they are as they should be, and are kept
        before, variables = settings, {**os.environ, "LC_ALL": settings}
        settings = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, env=variables, text=True).strip()
        assert settings == before or before == "C"
    assert settings.endswith("UTF-8")


@pytest.mark.parametrize("home", ["gone", "a file/home"])
@pytest.mark.parametrize(("windows", "variables"), [(False, ["HOME"]), (True, ["USERPROFILE", "LOCALAPPDATA"])])
def test_a_home_that_cannot_be_written_is_replaced(
    started_programs, tmp_path, monkeypatch, capsys, home, windows, variables
):
    """Catches kernels, uv and npm that end in a traceback where the home is read-only or missing, as for a service."""
    (tmp_path / "a file").touch()
    os.environ |= dict.fromkeys(("HOME", "USERPROFILE"), str(tmp_path / home))
    monkeypatch.setattr(targets.Path, "home", lambda: tmp_path / home)
    monkeypatch.setattr(targets, "WINDOWS", windows)
    targets.main(["lab"])
    own = tmp_path / ".cache" / "home"
    assert own.is_dir() and all(os.environ[variable] == str(own) for variable in variables)
    assert f"goes to {own}" in capsys.readouterr().out


def test_a_home_that_can_be_written_stays(started_programs, tmp_path, monkeypatch, capsys):
    os.environ["HOME"] = str(tmp_path)
    monkeypatch.setattr(targets.Path, "home", lambda: tmp_path)
    targets.main(["lab"])
    assert os.environ["HOME"] == str(tmp_path) and capsys.readouterr().out == ""


def test_clean_deletes_what_was_built_and_clean_env_the_environment_too(started_programs, tmp_path):
    """Catches a source that is deleted, and a target that sets up what it deletes next."""
    for name in (*targets.BUILT, ".venv", "lib"):
        (tmp_path / name / "inside").mkdir(parents=True)
    assert targets.main(["clean"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [".venv", "lib"]
    assert targets.main(["clean-env"]) == 0 and targets.main(["clean-env"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["lib"] and started_programs == []


def test_what_is_in_use_and_cannot_be_deleted_is_told(started_programs, tmp_path, monkeypatch, capsys):
    """As on Windows, where the files of a kernel that runs cannot be deleted."""

    def rmtree(path):
        raise PermissionError(13, "in use", str(path))

    (tmp_path / ".venv").mkdir()
    monkeypatch.setattr(targets.shutil, "rmtree", rmtree)
    assert targets.main(["clean-env"]) == 2
    assert "cannot be deleted" in capsys.readouterr().err


CHILD = """
import os, signal, sys, time
def stop(number, frame):
    os.write(1, b"tidied\\n")  # print would not do while the other print is still at it
    sys.exit({code})
signal.signal(signal.{signal}, stop)
print("ready", flush=True)
time.sleep({seconds})
"""
PARENT = "import sys; from tools.run import call; sys.exit(call({command!r}))"


def start_call(code: str) -> subprocess.Popen:
    parent = PARENT.format(command=[sys.executable, "-c", code])
    started = subprocess.Popen(
        [sys.executable, "-c", parent],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    assert started.stdout.readline() == "ready\n"
    return started


@posix
@pytest.mark.slow
@pytest.mark.parametrize("code", [0, 7])
def test_ctrl_c_is_for_the_program_and_its_code_comes_back(code):
    """Catches a runner that ends with a traceback, or ends the program while it tidies up."""
    parent = start_call(CHILD.format(signal="SIGINT", code=code, seconds=WAIT_SECONDS))
    os.killpg(parent.pid, signal.SIGINT)  # as a terminal does: to everybody in front
    out, err = parent.communicate(timeout=WAIT_SECONDS)
    assert (parent.returncode, out, err) == (code, "tidied\n", "")


@posix
@pytest.mark.slow
def test_an_order_to_end_is_handed_on():
    """Catches a server or a suite that lives on when the runner is ended, and a next step that is begun."""
    parent = start_call(CHILD.format(signal="SIGTERM", code=0, seconds=WAIT_SECONDS))
    parent.terminate()
    out, err = parent.communicate(timeout=WAIT_SECONDS)
    assert (parent.returncode, out, err) == (128 + signal.SIGTERM, "tidied\n", "")


@posix
def test_a_program_that_was_killed_counts_as_a_shell_counts_it():
    """Catches a negative exit code, which some shells take for success."""
    assert run.call([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]) == 137


def test_handlers_of_signals_are_put_back():
    before = signal.getsignal(signal.SIGINT)
    assert run.call([sys.executable, "-c", "pass"]) == 0
    assert signal.getsignal(signal.SIGINT) is before
