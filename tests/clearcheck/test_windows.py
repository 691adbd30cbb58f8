"""The learner's path on Windows: what Windows lacks is taken away, and what is left has to do."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest
from clearcheck.files import write_whole
from clearcheck.notebooks.escaping import one_line
from clearcheck.worker import system
from clearclass.learners import learners_of
from clearclass.submitted_files import SubmittedFile

from . import as_windows
from .toy_notebook import MEANS, RANGES, SLUG, START, TOY, mark_solution, notebook

ROOT = Path(__file__).parents[2]
REAL = "03-self-attention"
AS_WINDOWS = Path(as_windows.__file__)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A course as Windows has it, with a toy and a real exercise: a space, an umlaut, and two signs at a line's end."""
    if os.name == "nt":  # where the other tests do the same for real
        pytest.skip("needs a POSIX shell")
    folder = tmp_path_factory.mktemp("Jörg Müller") / "my course"
    authoring = folder / "exercises" / "authoring"
    shutil.copytree(TOY, authoring / SLUG, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "exercises" / "authoring" / REAL, authoring / REAL)
    cells = [START, mark_solution(MEANS), 'check("means")', mark_solution(RANGES), 'check("ranges")']
    write_notebook(authoring / SLUG / "source.ipynb", notebook(*cells))
    for file in authoring.rglob("*.py"):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    write_notebook(authoring / REAL / "source.ipynb", json.loads((authoring / REAL / "source.ipynb").read_bytes()))
    starter = folder / "python.sh"
    starter.write_text(f'#!/bin/sh\nexec "{sys.executable}" -X warn_default_encoding "{AS_WINDOWS}" "$@"\n', "utf-8")
    starter.chmod(0o755)
    return folder


def write_notebook(path: Path, content: dict) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(json.dumps(content, indent=1, ensure_ascii=False).replace("\n", "\r\n").encode())
    return path


@pytest.fixture
def run_script(place, tmp_path):
    """Run a script there; what it printed, in the encoding of a terminal of Windows."""

    def run(script: str, *arguments: str) -> str:
        path = tmp_path / "script.py"
        path.write_text(script, encoding="utf-8")
        own = {
            "CLEARCHECK_COURSE": str(place),
            "CLEARCHECK_RECORD": str(tmp_path / "record" / "progress.json"),
            "LC_ALL": "C.UTF-8",
            "PYTHONIOENCODING": "cp1252",
            "PYTHONUTF8": "0",
            "PYTHONWARNDEFAULTENCODING": "1",
            "PYTHON_AS_WINDOWS": str(place / "python.sh"),
            "SYSTEMROOT": r"C:\Windows",
        }
        command = [sys.executable, str(AS_WINDOWS), str(path), *arguments]
        done = subprocess.run(command, capture_output=True, cwd=place, env={**os.environ, **own})
        said = done.stderr.decode("cp1252")
        assert "Traceback" not in said and not said.strip(), said
        return done.stdout.decode("cp1252")

    return run


TAKEN_AWAY = """
import os, signal, socket
from clearcheck.worker import system
from clearcheck import notebook
for name in ("resource", "fcntl", "pwd"):
    try:
        __import__(name)
    except ModuleNotFoundError:
        print("no", name)
print(hasattr(os, "fork"), hasattr(signal, "setitimer"), hasattr(socket, "AF_UNIX"), system.NAME, system.TIMERS)
try:
    open("python.sh")
except EncodingWarning:
    print("no encoding")
"""


@pytest.mark.slow
def test_what_windows_lacks_is_taken_away(run_script):
    """Would catch the tests below passing because they run as on this system."""
    told = run_script(TAKEN_AWAY).splitlines()
    assert told == ["no resource", "no fcntl", "no pwd", "False False False Windows False", "no encoding"]


AT_WORK = f"""
from pathlib import Path
from clearcheck.notebook import bring, case, check, exercise, hint, progress, reset
from clearcheck.files import hold_lock
import sys, threading, time
sys.stdout.reconfigure(errors="backslashreplace")

print(repr(exercise("{SLUG}")))
{MEANS}
print(repr(check("means")))
def column_ranges(table):
    while True: pass
print(repr(check("ranges")))
before = set(threading.enumerate())
{MEANS.replace("axis=0", "axis=1")}
print(repr(check("means")))
{RANGES}
print(repr(check("ranges")))
threads = []
elsewhere = threading.Thread(target=lambda: threads.append(eval('repr(check("ranges"))', globals())))
elsewhere.start()
elsewhere.join()
assert threads == [repr(check("ranges"))]
for watch in set(threading.enumerate()) - before:
    watch.join(60)  # it was told to end
assert set(threading.enumerate()) <= before
{RANGES.replace("table.max", "table.min")}
print(len(case("ranges")), "argument of the first check that fails")
print(repr(bring()), repr(reset("means")), repr(hint("means")), repr(progress()), sep="\\n")
record = Path(sys.argv[1])
with hold_lock(record, 1):
    try:
        with hold_lock(record, 0.1):
            print("taken twice")
    except TimeoutError as error:
        print(error)
with hold_lock(record, 0.1):
    print("free again")
"""


STOPPED = "more than 1 s .*`while True: pass`"


@pytest.mark.slow
def test_a_learner_at_work(run_script, tmp_path):
    """Would catch any step of a learner's that needs what Windows lacks, and a loop without an end that has none."""
    lock = tmp_path / "lock"
    told = run_script(AT_WORK, str(lock))
    for fact in (
        r"\\u2713 means .*6 of 6",
        r"\\u2713 ranges .*3 of 3",
        STOPPED,
        "known mistake",
        "^1 argument",
        "Hint 1 of",
        "answer cell of means",
    ):
        assert re.search(fact, told, re.M), fact
    assert "could not be read" not in told
    *_, taken, free = told.splitlines()
    assert re.search(rf"Errno 110.*{lock.name}.*0\.1 s", taken) and free == "free again"
    record = json.loads((tmp_path / "record" / "progress.json").read_bytes())
    assert record["exercises"][SLUG]["questions"]["ranges"]["points"] == 0


ALL_CELLS = f"""
import json
import sys
from pathlib import Path
sys.stdout.reconfigure(errors="backslashreplace")
for cell in json.loads(Path("exercises/authoring/{REAL}/source.ipynb").read_bytes())["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), globals())
print(repr(progress()))
"""


@pytest.mark.slow
def test_a_real_exercise_has_full_points(run_script):
    """Would catch an exercise, its answers in NumPy and PyTorch, that is checked on this system alone."""
    assert "94 of 94 points" in run_script(ALL_CELLS)


COMMAND_LINE = "import sys\nfrom clearcheck.cli import main\nsys.exit(main())"
LOOP = "def column_means(table):\n    while True: pass"
LOUD = RANGES.replace("return", "print('–✓')\n    return")


@pytest.mark.slow
def test_notebooks_are_graded(run_script, place):
    """Would catch a worker that does not start, a pipe that is not binary, and loops and crashes that cost all."""
    file = write_notebook(place / "exercises" / f"{SLUG}.ipynb", notebook(START, "import os\nos._exit(3)", LOOP, LOUD))
    told = run_script(COMMAND_LINE, "grade", str(file))
    assert "Columns: 3 of 9 points" in told
    assert re.search(STOPPED, told) and re.search(r"Code cell 2 .*exit code 3\b", told)
    file = write_notebook(place / "exercises" / f"{SLUG}.ipynb", notebook(START, "1 / 0\n" + MEANS, RANGES))
    told = run_script(COMMAND_LINE, "report", str(file.parent))
    assert "9 of 9" in told and "all passed" in told


def test_a_file_that_is_being_read_is_replaced_a_moment_later(monkeypatch, tmp_path):
    """Would catch points that are not kept, since another notebook, or a scanner, reads the record just then."""
    tries, replace = [], os.replace

    def refused_twice(source, target):
        tries.append(target)
        if len(tries) < 3:
            raise PermissionError(13, "Access is denied")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refused_twice)
    monkeypatch.setattr(system, "NAME", "Windows")
    write_whole(tmp_path / "record", b"points")
    assert (tmp_path / "record").read_bytes() == b"points" and len(tries) == 3
    monkeypatch.setattr(system, "NAME", "Linux")
    tries.clear()
    with pytest.raises(PermissionError):
        write_whole(tmp_path / "record", b"more")
    assert os.listdir(tmp_path) == ["record"]


def test_paths_of_windows_name_learners():
    """Would catch a backslash that hides whose a file is, or that is printed as an escape."""
    root = PureWindowsPath(r"C:\Users\Jörg Müller\class")
    file = root / "Ada Lovelace_12345_assignsubmission_file_" / "03.ipynb"
    one = SubmittedFile(file, root)  # type: ignore[arg-type]
    assert one.relative_path == "Ada Lovelace_12345_assignsubmission_file_/03.ipynb"
    assert [(who.name, who.id) for who in learners_of([one], None)] == [("Ada Lovelace", "12345")]
    assert one_line(str(file)) == str(file)


# imported behind `system.COPIES`
ON_LINUX_ALONE = {
    "clearcheck/worker/server.py",
    "clearcheck/worker/server_process.py",
    "clearcheck/worker/private_rooms.py",
    "clearcheck/worker/process_copy.py",
}
IN_GRADESCOPES_CONTAINER = {"clearclass/gradescope.py"}
LACKING = as_windows.LACKING


def of_posix(path: Path) -> list[str]:
    """What a file names that Windows does not have, and does not go on without."""
    found = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    may_lack = {node for guard in ast.walk(tree) if goes_on_without(guard) for node in ast.walk(guard)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and node not in may_lack:
            found += [alias.name for alias in node.names if alias.name in as_windows.MODULES]
        if isinstance(node, ast.ImportFrom) and node.module:
            wanted = LACKING.get(node.module, set())
            found += [alias.name for alias in node.names if alias.name in wanted or node.module in as_windows.MODULES]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            base = node.value.id
            found += [f"{base}.{node.attr}"] if node.attr in LACKING.get(base, ()) else []
            found += ["sys.platform"] if (base, node.attr) == ("sys", "platform") else []
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("/proc/"):
            found.append("/proc/")
        if isinstance(node, ast.keyword) and node.arg in as_windows.NO_OPTION:
            found.append(node.arg)
    return found


def goes_on_without(node: ast.AST) -> bool:
    """Whether it is ``with contextlib.suppress(ImportError):``."""
    return isinstance(node, ast.With) and [ast.unparse(item.context_expr) for item in node.items] == [
        "contextlib.suppress(ImportError)"
    ]


def test_what_only_some_systems_have_is_named_in_one_file():
    """Would catch a name that ends on Windows in an AttributeError, where no test of ours happens to come by."""
    allowed = {"clearcheck/worker/system.py", *ON_LINUX_ALONE, *IN_GRADESCOPES_CONTAINER}
    named = {path.relative_to(ROOT / "lib").as_posix(): of_posix(path) for path in graders_files()}
    assert {name for name, found in named.items() if found} == allowed
    others = [*python_files("clearbook"), *python_files("clearformer"), *python_files("cleartape")]
    assert {str(path): of_posix(path) for path in others if of_posix(path)} == {}
    assert len(others) > 50


def python_files(package: str) -> list[Path]:
    return sorted((ROOT / "lib" / package).rglob("*.py"))


def graders_files() -> list[Path]:
    return [*python_files("clearcheck"), *python_files("clearclass")]


def test_what_needs_linux_is_imported_by_its_own_kind_or_in_functions():
    """Would catch an import at the top, by which all of the grader needs what Windows lacks."""
    modules = {name.removesuffix(".py").replace("/", ".") for name in ON_LINUX_ALONE}
    for path in graders_files():
        if path.relative_to(ROOT / "lib").as_posix() in ON_LINUX_ALONE:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            imported = {alias.name for alias in getattr(node, "names", [])} if isinstance(node, ast.Import) else set()
            if isinstance(node, ast.ImportFrom):
                imported = {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
            assert not imported & modules, f"{path} line {node.lineno}"


def test_the_instructor_reads_what_each_system_lacks():
    """Would catch a guard that is missing and not told."""
    page = " ".join((ROOT / "chapters" / "instructor.md").read_text(encoding="utf-8").split())
    for capability in system.CAPABILITIES.values():
        assert capability.without in page
