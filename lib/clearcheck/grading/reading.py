"""Where a learner is sent to read on: a section of the exercise's chapter, in words and as a path."""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from clearcheck.grading.exercise import Exercise
from clearcheck.own_course import own_course

HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
FENCED = re.compile(r"^(`{3,}|~{3,}).*?^\1", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Reading:
    """A section of a chapter: what it is called, and its path from the top of the course's folder."""

    words: str
    path: str


def reading_in(exercise: Exercise, section: str) -> Reading:
    """The section of the exercise's chapter with this anchor; without one, the chapter.

    Its words are those of the headings where the chapter is at hand, else of the anchor and of the exercise.
    """
    title, headings = _headings(own_course() / f"{exercise.chapter}.ipynb")
    number = re.match(r"\d+", Path(exercise.chapter).name)
    chapter = f"chapter {number[0]}, {title or exercise.title}" if number else title or exercise.title
    path = f"{exercise.chapter}.ipynb"
    if not section:
        return Reading(chapter, path)
    heading = headings.get(_bare(section)) or section.replace("-", " ").capitalize()
    return Reading(f'"{heading}" in {chapter}', f"{path}#{section}")


@lru_cache(maxsize=64)
def _headings(file: Path) -> tuple[str, dict[str, str]]:
    """The title of a chapter, and its headings by their letters and digits; nothing of a file that cannot be read."""
    try:
        cells = json.loads(file.read_bytes())["cells"]
        prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    except (OSError, ValueError, KeyError, TypeError):
        return "", {}
    found = [heading.replace("*", "") for text in prose for heading in HEADING.findall(FENCED.sub("", text))]
    return (found[0] if found else ""), {_bare(heading): heading for heading in found}


def _bare(heading: str) -> str:
    """What a heading and its anchor have in common."""
    return re.sub(r"[\W_]", "", heading.lower())
