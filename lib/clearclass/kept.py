"""What a folder of results keeps for later runs, so that they count alike: the roster, and what being late costs."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from clearcheck.files import write_whole
from clearcheck.notebooks.escaping import one_line

from clearclass.class_run import ClassRun
from clearclass.handed_in import LateRules
from clearclass.late import LateProblem, parse_policy

ROSTER = "roster.csv"
LATE = "late.json"
Tell = Callable[[str], None]


def with_kept(asked: ClassRun, tell: Tell) -> ClassRun:
    """The run with the roster and the rules for late work that its folder has kept, where it names no others.

    Raises: LateProblem.
    """
    if asked.results is None:
        return asked
    roster, late = asked.results / ROSTER, asked.results / LATE
    if asked.roster is None and roster.is_file():
        tell(f"Roster: {one_line(str(roster))}, as before. Delete it to do without.")
        asked = replace(asked, roster=roster)
    if asked.late is None and late.is_file():
        asked = replace(asked, late=_read_rules(late))
        tell(f"Late work: {one_line(str(late))}, as before. Delete it to do without.")
    return asked


def keep(asked: ClassRun, folder: Path):
    """Raises: OSError."""
    if asked.roster and asked.roster != folder / ROSTER:
        write_whole(folder / ROSTER, asked.roster.read_bytes())
    if asked.late:
        deadline = asked.late.deadline.isoformat() if asked.late.deadline else None
        rules = {"late": asked.late.policy.text, "deadline": deadline, "file_times": asked.late.file_times}
        write_whole(folder / LATE, json.dumps(rules, indent=1).encode())


def _read_rules(path: Path) -> LateRules:
    try:
        kept = json.loads(path.read_text("utf-8"))
        deadline = datetime.fromisoformat(kept["deadline"]) if kept["deadline"] else None
        return LateRules(parse_policy(kept["late"]), deadline, kept["file_times"] is True)
    except (OSError, ValueError, KeyError, TypeError):
        raise LateProblem(f"{one_line(str(path))} is not as a run wrote it: delete it, and say --late again.") from None
