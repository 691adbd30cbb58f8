"""Every row of the table of cheats, graded as a class with an honest notebook behind each: what each of them gets."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from clearcheck.worker import launch

from tests.clearcheck.toy_notebook import SLUG, START, notebook

from .cheat import Cheat
from .cheats import table_of_cheats
from .harms import HONEST, KEY, LEFT

ROOT = Path(__file__).parents[2]


def graded(course: Path, isolation: str, table: dict[str, Cheat]) -> list[tuple[str, dict, dict]]:
    """For each row its record and that of the honest notebook that was graded after it."""
    files = []
    for number, cheat in enumerate(table.values()):
        for who, cells in (("cheat", cheat.cells), ("honest", HONEST)):
            path = course / f"{number:03}-{who}.ipynb"
            path.write_text(json.dumps(notebook(START, *cells)))
            files.append(str(path))
    trust = ["--trust"] if isolation == launch.PROCESS else []
    variables = {**os.environ, launch.VARIABLE: isolation, "PYTHONPATH": f"{ROOT / 'lib'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "tests.clearclass.graded_side_by_side", *trust]
    done = subprocess.run(command, input="\0".join(files), capture_output=True, text=True, env=variables)
    records = dict(json.loads(line) for line in done.stdout.splitlines())
    assert len(records) == len(files), done.stderr
    return [(name, records[2 * i], records[2 * i + 1]) for i, name in enumerate(table)]


def texts(record: dict) -> str:
    """All that a record says."""
    messages = [check["message"] for question in record.get("questions", []) for check in question["checks"]]
    return "\n".join([record.get("error", ""), *record.get("notes", []), *record.get("uses", []), *messages])


def chosen(course: Path, isolation: str, slow: bool) -> dict[str, Cheat]:
    table = table_of_cheats(str(course / "exercises" / "authoring" / SLUG / "means.py"))
    here = {name: cheat for name, cheat in table.items() if cheat.slow == slow}
    if isolation == launch.BUBBLEWRAP:
        return here
    return {name: cheat for name, cheat in here.items() if not cheat.in_sandbox_alone}


def misfits(course: Path, isolation: str, slow: bool) -> list[str]:
    """A sentence for each row that gets something else than the table says, or whose neighbour does."""
    found = []
    table = chosen(course, isolation, slow)
    for name, record, neighbour in graded(course, isolation, table):
        cheat, says = table[name], texts(record)
        points, told = cheat.points, cheat.says
        if isolation == launch.PROCESS:
            points = points if cheat.trusted is None else cheat.trusted
            told = told if cheat.trusted_says is None else cheat.trusted_says
        if record.get("points", 0) != points or not re.search(told, says):
            found.append(f"{name}: {record.get('points')} points, {points} are right, and {told!r} in {says[:600]}")
        if neighbour.get("points") != 9:
            found.append(f"{name}: the neighbour has {neighbour.get('points')} of 9 points, {texts(neighbour)[:600]}")
        if isolation == launch.BUBBLEWRAP and neighbour.get("notes"):
            found.append(f"{name}: the neighbour finds {neighbour['notes']}")
        if {record.get("isolation", isolation), neighbour["isolation"]} != {isolation}:
            found.append(f"{name}: isolated by {record['isolation']} and {neighbour['isolation']}")
    return found


@pytest.fixture
def nothing_left(monkeypatch):
    """Take away what notebooks without a sandbox leave on this machine."""
    yield
    Path(LEFT).unlink(missing_ok=True)
    Path("/dev/shm/clearcheck_left").unlink(missing_ok=True)
    for key in (KEY, KEY + 1):
        subprocess.run(["ipcrm", "-M", str(key)], capture_output=True)


@pytest.mark.slow
@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.weekly)], ids=["soon", "at their limits"])
@pytest.mark.parametrize("isolation", [launch.BUBBLEWRAP, launch.PROCESS])
def test_each_cheat_gets_what_the_table_says_and_nobody_else_loses(course, nothing_left, isolation, slow):
    """Catches a cheat that gains a point, one that is not named, and an honest learner who loses to the one before."""
    if (not shutil.which("bwrap") and isolation == launch.BUBBLEWRAP) or sys.platform != "linux":
        pytest.skip("needs bubblewrap and user namespaces")
    found = misfits(course, isolation, slow)
    assert not found, "\n".join(found)
