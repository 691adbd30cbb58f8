"""What is a chapter and which number it has, for make book and make pages: both stand in the name of its file.

A chapter is chapters/NN-slug.ipynb. One that comes between 04 and 05 is 04b-slug.ipynb and has the number 4b, so that
no other file is renamed, no address changes, and what the prose calls chapter 5 stays chapter 5.
"""

import re
from pathlib import Path

from tools import ROOT

NAME = re.compile(r"(?:chapters/)?(\d\d[a-z]?)-([\w-]+)")


def chapters(root: Path = ROOT) -> list[Path]:
    """The numbered chapters, in order."""
    return sorted(path for path in (root / "chapters").glob("*.ipynb") if is_chapter(path.stem))


def is_chapter(name: str) -> bool:
    """Whether a page, named without its suffix, is a numbered chapter."""
    return NAME.fullmatch(name) is not None


def chapter_number(name: str) -> str:
    """The number in the name of a chapter: 4 for 04-multi-head, 4b for 04b-slug."""
    return _parts(name)[1].lstrip("0")


def chapter_slug(name: str) -> str:
    """The name of a chapter without its number: multi-head for 04-multi-head."""
    return _parts(name)[2]


def _parts(name: str) -> re.Match:
    found = NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name!r} is no chapter, expected a name such as 04-multi-head or 04b-slug.")
    return found
