"""The learner's record: the last points of each question, on this machine, whatever happens to the file."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from clearcheck import files
from clearcheck.files import hold_lock, write_whole
from clearcheck.learner import progress_file as records
from inline_snapshot import snapshot

from .toy_notebook import MEANS, RANGES, SLUG

STUB = "def column_means(table):\n    raise NotImplementedError"
WRONG = MEANS.replace("axis=0", "axis=1")
WHEN = datetime(2026, 11, 21, 14, 6, tzinfo=UTC)
HERE = f"21 November 2026, {WHEN.astimezone():%H:%M}"
PASSED = "✓ means — passed (6 of 6 points)\n  ✓ values (4 of 4 points)\n  ✓ shift (2 of 2 points)"


def points(record: Path) -> dict[str, int]:
    questions = json.loads(record.read_text())["exercises"][SLUG]["questions"]
    return {id: entry["points"] for id, entry in questions.items()}


def test_a_check_records_the_last_points_of_its_question(record, run):
    """Would catch a record of the best points, of every question, or of an answer's text."""
    run(f'{MEANS}\ncheck("means")')
    assert points(record) == {"means": 6}
    run(f'{WRONG}\ncheck("means")')
    assert points(record) == {"means": 2}
    assert "table" not in record.read_text()


def test_a_reset_answer_counts_0_and_one_that_was_not_run_keeps_its_points(record, start):
    """Would catch a restarted kernel wiping the record, and a stub that keeps the old points."""
    start()(f'{MEANS}\ncheck("means")')
    restarted = start()
    restarted("progress()")
    assert points(record) == {"means": 6}
    restarted(f'{STUB}\ncheck("means")')
    assert points(record) == {"means": 0}


def test_an_untouched_notebook_leaves_no_record(record, run):
    """Would catch "0 points" for an exercise that was only looked at."""
    run(f'{STUB}\ncheck("means")')
    assert "01-columns: not started" in repr(run("progress()"))
    assert not record.exists()


def test_progress_tells_every_exercise_of_the_course(record, run, course, monkeypatch):
    """Would catch a missing exercise, a stale line for this one, or HTML that says something else than the text."""
    monkeypatch.setattr(records, "now", lambda: WHEN)
    (course / "exercises" / "authoring" / "02-rows").mkdir()
    (course / "exercises" / "authoring" / "02-rows" / "exercise.py").touch()
    card = run(f"{MEANS}\nprogress()")
    assert repr(card).replace(HERE, "the time here") == snapshot("""\
Columns: 6 of 9 points
  ✓ means — passed (6 of 6 points)
  ○ ranges — not answered yet (0 of 3 points)
The course, as last checked on this computer:
  01-columns: 6 of 9 points (the time here)
  02-rows: not started
To see these points in the contents of the site, open this link. They go into your browser and nowhere else:
http://localhost:8000/#progress=01-columns:6/9\
""")
    page = card._repr_html_().replace(' style="text-align: left"', "")
    assert f'<td><a href="01-columns.ipynb">01-columns</a></td><td>6 of 9 points</td><td>{HERE}</td>' in page
    assert '<td><a href="02-rows.ipynb">02-rows</a></td><td>not started</td><td></td>' in page
    assert 'href="http://localhost:8000/#progress=01-columns:6/9"' in page


NO_RECORDS = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00",
    "half a record": b'{"format": "clearcheck progress", "version": 1, "exerc',
    "a list": b"[]",
    "nested too deeply": b"[" * 200_000,
    "someone else's": b'{"points": 7}',
    "a later version": b'{"format": "clearcheck progress", "version": 2, "exercises": {}}',
    "exercises in a list": b'{"format": "clearcheck progress", "version": 1, "exercises": []}',
}
ENTRIES = [
    {"points": -1, "when": "2026-11-21T14:06:00+00:00"},
    {"points": True, "when": "2026-11-21T14:06:00+00:00"},
    {"points": "6", "when": "2026-11-21T14:06:00+00:00"},
    {"points": float("inf"), "when": "2026-11-21T14:06:00+00:00"},
    {"points": 6, "when": "yesterday"},
    {"points": 6, "when": 7},
    {"points": 6},
    None,
]


def with_entry(entry) -> bytes:
    exercises = {SLUG: {"max_points": 9, "questions": {"means": entry}}}
    return json.dumps({"format": records.FORMAT, "version": 1, "exercises": exercises}).encode()


@pytest.mark.parametrize("data", [*NO_RECORDS.values(), *map(with_entry, ENTRIES)])
def test_a_file_that_is_no_record_is_put_aside(record, run, data):
    """Would catch an exception in a check, a lost file, or a remark with every check."""
    record.parent.mkdir()
    record.write_bytes(data)
    card = repr(run(f'{MEANS}\ncheck("means")'))
    assert card.startswith("✓ means — passed") and "progress-aside-1.json" in card
    assert record.with_name("progress-aside-1.json").read_bytes() == data
    assert points(record) == {"means": 6}
    assert "aside" not in repr(run('check("means")'))


def test_what_was_put_aside_before_is_kept(record, run):
    """Would catch the second file overwriting the first."""
    record.parent.mkdir()
    for data in (b"first", b"second"):
        record.write_bytes(data)
        run(f'{MEANS}\ncheck("means")')
    kept = [record.with_name(f"progress-aside-{n}.json").read_bytes() for n in (1, 2)]
    assert kept == [b"first", b"second"]


def test_where_nothing_can_be_written_checks_work_and_say_so_once(record, run):
    """Would catch a check that fails with the record, or repeats its complaint."""
    record.parent.write_text("a file where the folder should be")
    first = repr(run(f'{MEANS}\ncheck("means")'))
    assert first.startswith(f"{PASSED}\nYour record: ")
    assert "cannot be written" in first and "CLEARCHECK_RECORD" in first
    assert repr(run('check("means")')) == PASSED
    assert repr(run(f"{RANGES}\nprogress()")).startswith("Columns: 9 of 9 points")


def test_the_record_can_be_elsewhere_or_off(record, run, course, monkeypatch):
    """Would catch a variable that is not heeded: on a read-only folder it is the way out."""
    monkeypatch.setenv(files.RECORD_VARIABLE, str(course / "mine" / "points.json"))
    run(f'{MEANS}\ncheck("means")')
    assert points(course / "mine" / "points.json") == {"means": 6}
    monkeypatch.setenv(files.RECORD_VARIABLE, "off")
    assert "as last checked" not in repr(run("progress()"))
    assert not record.parent.exists()


def test_the_record_of_an_installed_course_lies_at_home(monkeypatch, tmp_path):
    """Would catch points that an update of the package deletes, or that nobody may write beside it."""
    monkeypatch.delenv(files.RECORD_VARIABLE, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert records.record_file(records.PACKED / "exercises" / "authoring") == tmp_path / ".clearcheck" / "progress.json"


WRITER = """
import sys
from pathlib import Path
from clearcheck.learner import progress_file as records
from clearcheck.grading.evaluate import CheckResult, QuestionResult
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.question import Question, equals

records.LOCK_SECONDS = 60  # however busy this machine is
check = equals("values", 2, lambda rng: [(1.0,)], abs)
questions = tuple(Question(f"q{n}", "Q", f"f{n}", 5, 1, (check,)) for n in range(10))
exercise = Exercise(f"0{sys.argv[1]}-x", "X", "chapters/x", questions)
for question in questions:
    records.remember(Path(sys.argv[2]), exercise, [QuestionResult(question, (CheckResult("values", 2, 2),))])
"""


def test_notebooks_that_write_at_once_lose_nothing(tmp_path):
    """Would catch reading, adding and writing without a lock: the last one would win."""
    file = tmp_path / "progress.json"
    command = [sys.executable, "-c", WRITER]
    writers = [subprocess.Popen([*command, str(n), str(file)]) for n in range(4)]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0, 0]
    assert {slug: kept.points for slug, kept in records.read_record(file).items()} == {f"0{n}-x": 20 for n in range(4)}


def test_a_lock_that_is_held_is_not_waited_for_for_ever(record, run, monkeypatch):
    """Would catch a check that hangs because another notebook is stuck."""
    monkeypatch.setattr(records, "LOCK_SECONDS", 0.05)
    record.parent.mkdir()
    with hold_lock(record.with_name("progress.json.lock"), 1.0):
        assert "another notebook has held progress.json.lock" in repr(run(f'{MEANS}\ncheck("means")'))
    assert repr(run('check("means")')) == PASSED
    assert points(record) == {"means": 6}


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    """Would catch half a file after a full disk, a left-over beside it, and lost permissions or links."""
    file, link = tmp_path / "a.json", tmp_path / "b.json"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_whole(link, b"new")
    assert (file.read_text(), link.is_symlink(), file.stat().st_mode & 0o777) == ("new", True, 0o640)

    def raise_disk_full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", raise_disk_full)
    with pytest.raises(OSError, match="No space"):
        write_whole(file, b"newer")
    assert file.read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["a.json", "b.json"]
