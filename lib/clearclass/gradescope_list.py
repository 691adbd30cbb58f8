"""The list that Gradescope puts beside the folders of an export: who handed each of them in, and when."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from clearclass.submitted_files import METADATA, SubmittedFile
from clearclass.times import parse_time

START = re.compile(r"submission_(\d+):")
FACT = re.compile(r"(?P<indent>\s*(?:- )?):?(?P<key>name|sid|created_at):\s*(?P<value>.*?)\s*$")
ANY_KEY = re.compile(r"\s*(?:- +)?:?\w+:(\s|$)|\s*- ")
BELOW = {"submitters": ("name", "sid"), "created_at": ("created_at",)}
SECTION = re.compile(r"  :?(\w+):")
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "0": "\0", "_": "\xa0", "N": "\x85"}
BOTH = " and "  # between the names of a group


@dataclass(frozen=True)
class Submitted:
    """One submission: the names and the number of those who handed it in, and when they did."""

    name: str
    id: str
    created: datetime | None


def submitted_to_gradescope(file: SubmittedFile, number: str) -> Submitted:
    """What the list says of a submission; its number alone where the list is not there or does not have it."""
    folders = [folder for folder in reversed(file.path.parents) if folder.is_relative_to(file.root or file.path.anchor)]
    lists = [folder / METADATA for folder in folders if (folder / METADATA).is_file()]
    known = _submissions(lists[0]) if lists else {}  # the outermost: a learner may hand in a file of this name
    return known.get(number, Submitted(f"submission {number}", number, None))


@lru_cache(maxsize=8)
def _submissions(path: Path) -> dict[str, Submitted]:
    """Read line by line: the file is YAML, but it also holds each old result, and no more is needed of it."""
    facts: dict[str, dict[str, list[str]]] = {}
    for number, key, value in _facts(path.read_text(encoding="utf-8", errors="replace").splitlines()):
        facts.setdefault(number, {"name": [], "sid": [], "created_at": []})[key].append(value)
    return {number: _submitted(number, **known) for number, known in facts.items()}


def _submitted(number: str, name: list[str], sid: list[str], created_at: list[str]) -> Submitted:
    try:
        created = parse_time(created_at[0]) if created_at else None
    except ValueError:
        created = None
    return Submitted(BOTH.join(name) or f"submission {number}", " ".join(filter(None, sid)) or number, created)


def _facts(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """The number of a submission, a key and its value, for names and numbers of submitters and for the time."""
    number = section = ""
    for at, line in enumerate(lines):
        if start := START.match(line):
            number, section = start[1], ""
        elif found := SECTION.match(line):
            section = found[1]
        fact = FACT.match(line)
        if number and fact and fact["key"] in BELOW.get(section, ()):
            yield number, fact["key"], _scalar(fact["value"], lines[at + 1 :], len(fact["indent"]))


def _scalar(text: str, below: list[str], indent: int) -> str:
    """A text of YAML, which may be quoted, and folded into the lines below."""
    for line in below:
        if len(line) - len(line.lstrip()) <= indent or (text[:1] not in ("'", '"') and ANY_KEY.match(line)):
            break
        if text[:1] in ("'", '"') and len(text) > 1 and _is_closed(text):
            break
        text = text[:-1] + line.strip() if text.endswith("\\") else f"{text} {line.strip()}"
    if text[:1] == "'" and text[-1:] == "'":
        return text[1:-1].replace("''", "'")
    if text[:1] == '"' and text[-1:] == '"':
        return ESCAPE.sub(_unescaped, text[1:-1])
    return text


def _is_closed(text: str) -> bool:
    if text[0] == "'":
        return text[1:].count("'") % 2 == 1
    return re.fullmatch(r'"(?:[^"\\]|\\.)*"', text, re.DOTALL) is not None


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else PLAIN_ESCAPES.get(found[4], found[4])
