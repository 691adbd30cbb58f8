r"""Patterns of words as ``tokenizer.json`` has them, with classes such as ``\p{L}``, written for Python's ``re``."""

import re
import sys
import unicodedata
from collections import defaultdict
from functools import cache

SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # Unicode's white space; re's \s has more
# an escape with a class of characters, another escape, brackets of a class, or anything else
TOKEN = re.compile(
    r"\\(?P<p>[pP])(?:\{(?P<not>\^?)(?P<name>\w+)\}|(?P<letter>[A-Z]))|\\.|\[\^?|\]|&&|[^\\\[\]&]+|&", re.S
)


def python_pattern(pattern: str) -> re.Pattern:
    r"""A pattern with Unicode's classes, ``\p{L}``, ``\P{N}`` and ``\s``, as one of ``re``.

    Raises: ValueError for a class that is no general category, brackets in brackets, and what ``re`` does not know.
    """
    written, inside = [], False
    for token in TOKEN.finditer(pattern):
        text = token[0]
        if text == "&&" or (inside and text.startswith("[")):
            raise ValueError(f"pattern {pattern[:60]!r}: classes of classes are not supported.")
        if token["p"]:
            text = _class(
                _ranges(token["name"] or token["letter"], pattern), inside, bool(token["not"]) ^ (token["p"] == "P")
            )
        elif text in (r"\s", r"\S"):
            text = _class(SPACE, inside, text == r"\S")
        elif text in (r"\d", r"\D"):
            text = _class(_ranges("Nd", pattern), inside, text == r"\D")
        elif text.startswith("[") or (text == "]" and inside):
            inside = not inside
        written.append(text)
    try:
        return re.compile("".join(written))
    except re.error as error:
        raise ValueError(f"pattern {pattern[:60]!r} is none that Python knows ({error}).") from error


def _class(ranges: str, inside: bool, negated: bool) -> str:
    """Ranges of characters, or of all others, alone or among others in brackets."""
    if not negated:
        return ranges if inside else f"[{ranges}]"
    return _others(ranges) if inside else f"[^{ranges}]"


@cache
def _others(ranges: str) -> str:
    member = re.compile(f"[{ranges}]")
    return _spell([i for i in range(sys.maxunicode + 1) if not member.match(chr(i))])


def _ranges(name: str, pattern: str) -> str:
    """All characters whose general category begins with ``name``."""
    categories = _categories()
    if not any(category.startswith(name) for category in categories):
        raise ValueError(f"pattern {pattern[:60]!r}: {name!r} is no general category of Unicode, such as L or Nd.")
    return _spell(sorted(i for category, members in categories.items() if category.startswith(name) for i in members))


@cache
def _categories() -> dict[str, list[int]]:
    found = defaultdict(list)
    for i in range(sys.maxunicode + 1):
        found[unicodedata.category(chr(i))].append(i)
    return dict(found)


def _spell(members: list[int]) -> str:
    """Numbers of characters as ranges in brackets."""
    ends = [i for i, here in enumerate(members) if i + 1 == len(members) or members[i + 1] != here + 1]
    starts = [0, *(end + 1 for end in ends[:-1])]
    return "".join(rf"\U{members[a]:08x}-\U{members[b]:08x}" for a, b in zip(starts, ends, strict=True))
