"""Tests that are run in forks before anything is broken: what they are told apart by, and what they import."""

import contextlib
import importlib
import io
import os
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")

WHOLE = "from ours import halved\n\ndef test_it():\n    assert halved(4) == 2\n"
OURS = "def halved(number):\n    return number / 2\n"
TESTS = {
    "it fails: assert False": "def test_it():\n    assert False\n",
    "it fails: AssertionError: is watched": """
import sys

def test_it():
    assert sys.gettrace() is None, "is watched"
""",
    "it fails: assert []": """
done = []

def test_slower():
    sum(range(3_000_000))
    done.append(True)

def test_it():
    assert done
""",
    "waits for ever (SIGSEGV)": """
import os, signal

def test_it():
    os.kill(os.getpid(), signal.SIGSEGV)
""",
    "waits for ever (SIGKILL)": """
import os, signal

def test_it():
    os.killpg(0, signal.SIGKILL)
""",
    "waits for ever (exit code 0)": "import os\n\ndef test_it():\n    os._exit(0)\n",
    "waits for ever (exit code 2)": "def test_it():\n    raise KeyboardInterrupt\n",
}


@pytest.fixture
def survey(tmp_path, monkeypatch):
    """Survey the tests of these files, in a process of their own; what is said, and the tests that are left."""
    from tools.checks import survey, warm_imports, warm_tests

    for module in (warm_imports, warm_tests):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ours.py").write_text(OURS, encoding="utf-8")

    def work(files: dict[str, str]) -> int:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            try:
                found = survey.survey_tests([*files], [tmp_path / "ours.py"], tmp_path)
                print(found.every_test(), found.tests_that_run(tmp_path / "ours.py", [2]))
            except SystemExit as error:
                print(error)
        (tmp_path / "said").write_text(said.getvalue(), encoding="utf-8")
        return 0

    def run(files: dict[str, str]) -> list[str]:
        for name, source in files.items():
            (tmp_path / name).write_text(source, encoding="utf-8")
        assert warm_tests.run_in_fork(lambda: work(files), 300) == 0
        return (tmp_path / "said").read_text(encoding="utf-8").splitlines()

    return run


@pytest.mark.slow
@pytest.mark.parametrize("reason", TESTS)
def test_what_cannot_run_there_is_left_out(reason, survey):
    """Catches a test that ends the whole survey, and one that fails there, so that every mutant counts as killed."""
    *said, left = survey({"test_other.py": TESTS[reason], "test_whole.py": WHOLE})
    assert [line for line in said if "::" in line] == [f"Left out, since {reason}: test_other.py::test_it"] or (
        "for ever" in reason
        and said == [f"Left out, since it ends the process of the tests, or {reason}: test_other.py::test_it"]
    )
    slower = "'test_other.py::test_slower'" if "slower" in TESTS[reason] else ""
    assert "'test_whole.py::test_it'" in left and slower in left and "other.py::test_it" not in left
    assert left.endswith("['test_whole.py::test_it']")  # runs the line


@pytest.mark.slow
@pytest.mark.parametrize("source", [TESTS["it fails: assert False"], "import nothing.there\n"])
def test_nothing_is_surveyed_where_no_test_passes(source, survey):
    """Catches a run in which every mutant survives, or none, since there is no test."""
    assert "These tests cannot be run as they are, or none is left of them" in survey({"test_other.py": source})[-1]


def test_what_imports_a_broken_file_is_left_to_the_tests(tmp_path, monkeypatch):
    """Catches a module that was imported before its neighbour was broken, and goes on with the whole one."""
    from tools.checks import warm_imports

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
    monkeypatch.setattr(warm_imports, "ROOT", tmp_path)
    kept = warm_imports.unaffected_modules(files | {"math": None}, {files["clearformer.broken"]})
    assert kept == ["clearformer", "clearformer.apart", "clearformer.alone", "math"]


def test_what_imports_a_broken_file_after_all_is_forgotten(tmp_path, monkeypatch, capsys):
    """Catches a hook, or a module that imports by a name in a text, which ended the survey or kept what is broken."""
    from tools.checks import warm_imports

    package = tmp_path / "of_this_test"
    package.mkdir()
    sources = {
        "__init__": "",
        "broken": "X = 1\n",
        "hook": "import sys\nfrom of_this_test import broken, beside\nsys.hook_of_this_test = 1\n",
        "by_text": "import importlib\nimportlib.import_module('of_this_test.' + 'broken')\n",
        "beside": "",
    }
    for name, source in sources.items():
        (package / f"{name}.py").write_text(source)
    monkeypatch.setattr(warm_imports, "ROOT", tmp_path)
    monkeypatch.setattr(warm_imports, "HOOK", "of_this_test.hook")
    monkeypatch.setattr(sys, "hook_of_this_test", 0, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    names = ["of_this_test.by_text", "of_this_test.beside"]
    try:
        files = {name: str(package / f"{name.rpartition('.')[2]}.py") for name in names}
        warm_imports.import_unaffected(files, [package / "broken.py"])
        assert {name for name in sys.modules if name.startswith("of_this_test")} == {"of_this_test", names[1]}
        assert sys.hook_of_this_test == 1
        said = capsys.readouterr().out.splitlines()
        assert [line.rpartition(" ")[2] for line in said] == ["of_this_test.hook", "of_this_test.by_text"]
        (package / "broken.py").write_text("X = 20\n")
        importlib.invalidate_caches()
        assert importlib.import_module("of_this_test").__dict__.get("broken") is None
        assert importlib.import_module("of_this_test.broken").X == 20
    finally:
        for name in [name for name in sys.modules if name.startswith("of_this_test")]:
            del sys.modules[name]
