"""What a person grades: questions with a maximum and the lines to look for, from a file in TOML."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearcheck.notebooks.escaping import one_line

from clearclass.hand import MAX, NO_COLUMNS_OF_POINTS, HandProblem

NAME = "rubric.toml"  # in the folder of results
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
KEYS = {"id": str, "title": str, "max": (int, float), "lines": list, "exercise": str, "shown": str}
EXAMPLE = (
    '[[question]], below it id = "plot", title = "Plot of the weights", max = 4, lines = ["The axes have names: 1"]'
)


@dataclass(frozen=True)
class RubricQuestion:
    """A column of the table of points, and what whoever grades is shown beside the submission."""

    id: str
    title: str
    max_points: float
    lines: tuple[str, ...] = ()
    exercise: str = ""  # "": every exercise
    shown: str = ""  # a text in the section of the notebook that is shown; "": the whole notebook


def read_rubric(path: Path) -> list[RubricQuestion]:
    """The questions of a rubric, in the order of the file.

    Raises: HandProblem.
    """
    name = one_line(str(path))
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise HandProblem(
            f"There is no rubric {name}: write one, or name it with --rubric. Needed: {EXAMPLE}"
        ) from None
    except (OSError, ValueError) as error:
        raise HandProblem(f"{name} cannot be read ({one_line(str(error))}): TOML in UTF-8 is expected.") from None
    found = content.get("question")
    if not isinstance(found, list) or not found or set(content) != {"question"}:
        raise HandProblem(f"{name}: a table for each question, and nothing else, is expected: {EXAMPLE}")
    questions = [_question(f"{name}, question {number}", entry) for number, entry in enumerate(found, 1)]
    ids = [question.id.lower() for question in questions]
    if len(set(ids)) < len(ids):
        raise HandProblem(f"{name}: two questions have the same id, and so would share their points.")
    return questions


def _question(place: str, entry: Any) -> RubricQuestion:
    if not isinstance(entry, dict):
        raise HandProblem(f"{place}: a table is expected: {EXAMPLE}")
    for key, value in entry.items():
        if key not in KEYS:
            raise HandProblem(f"{place}: {one_line(key)} is not known; {', '.join(KEYS)} are.")
        if not isinstance(value, KEYS[key]) or isinstance(value, bool):  # type: ignore[arg-type]
            raise HandProblem(f"{place}: {key} is {one_line(repr(value))}, of another kind than in {EXAMPLE}")
    missing = [key for key in ("id", "title", "max") if not entry.get(key)]
    if missing:
        raise HandProblem(f"{place}: {' and '.join(missing)} are missing, or empty: {EXAMPLE}")
    id, most, lines = entry["id"], entry["max"], entry.get("lines", [])
    if not ID.fullmatch(id) or id.lower() in NO_COLUMNS_OF_POINTS or id.lower().endswith(MAX):
        reserved = ", ".join(NO_COLUMNS_OF_POINTS)
        raise HandProblem(
            f"{place}: {one_line(repr(id))} is no id: letters, digits, - and _ are expected, not {reserved}."
        )
    if not 0 < most <= 10_000:
        raise HandProblem(f"{place}: max is {most}: a number of points from above 0 to 10000 is expected.")
    if not all(isinstance(line, str) for line in lines):
        raise HandProblem(f"{place}: lines is to be a list of texts: {EXAMPLE}")
    return RubricQuestion(id, entry["title"], most, tuple(lines), entry.get("exercise", ""), entry.get("shown", ""))
