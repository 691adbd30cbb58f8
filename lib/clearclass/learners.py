"""Whose file it is, from the names that Moodle, Canvas and Gradescope give to what they export."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from clearcheck.notebooks.escaping import one_line

from clearclass.submitted_files import METADATA, SubmittedFile

# Searched in the path from the folder that is graded, first to last. Canvas puts all files into one folder.
EXPORTS = {
    "moodle": re.compile(r"(?:^|/)(?P<name>[^/]+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_|/)"),
    "gradescope": re.compile(r"(?:^|/)submission_(?P<id>\d+)/"),
    "canvas": re.compile(r"(?:^|/)(?P<name>[^/_]+)_(?P<late>LATE_)?(?P<id>\d{2,})_\d{3,}_[^/]*$"),
}
FACT = re.compile(r"^\s*-?\s*:?(name|sid):\s*(.*?)\s*$")


class BadPattern(ValueError):
    """A pattern for names that cannot be used; the text says what is expected."""


@dataclass(frozen=True)
class Learner:
    """Who handed it in: the number is that of the system that exported the file, or "" without one."""

    name: str
    id: str = ""
    system: str = ""
    late: bool = False
    file: str = ""  # the path of a file that stands for a learner of its own

    @property
    def label(self) -> str:
        return f"{self.name} {self.id}".strip()

    @property
    def key(self) -> tuple[str, str]:
        """The same for all files of one learner."""
        return (self.system, self.id) if self.id else ("", self.file or self.name)


def name_pattern(text: str) -> re.Pattern:
    """Raises: BadPattern."""
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise BadPattern(f"{text!r} is no regular expression ({error}).") from None
    if not {"name", "id"} & set(pattern.groupindex):
        raise BadPattern(f"{text!r} names nobody: a group (?P<name>…) or (?P<id>…), or both, is expected.")
    return pattern


def learner_of(file: SubmittedFile, pattern: re.Pattern | None = None) -> Learner:
    """By the pattern, else as an export names it; else the file stands for a learner of its own."""
    for system, known in ({"own": pattern} if pattern else EXPORTS).items():
        found = known.search(file.relative_path)
        if found is None or (system == "canvas" and not file.in_no_folder):
            continue
        groups = {key: value or "" for key, value in found.groupdict().items()}
        id = groups.get("id", "")
        if system == "gradescope":
            name, id = _submitters(file).get(id, (f"submission {id}", id))
        else:
            name = groups.get("name", "").strip() or id
        if name:
            return Learner(name, id, system, bool(groups.get("late")))
    return Learner(file.relative_path.removesuffix(file.path.suffix), file=file.name)


def learners_of(files: Iterable[SubmittedFile], pattern: re.Pattern | None) -> list[Learner]:
    """Whose each file is. Raises: BadPattern where the pattern fits none of them."""
    found = [learner_of(file, pattern) for file in files]
    if pattern and found and not any(learner.system for learner in found):
        example = one_line(next(iter(files)).relative_path)
        raise BadPattern(f"--name-pattern {pattern.pattern!r} fits none of the {len(found)} files, such as {example}.")
    return found


def exported_by_moodle(file: SubmittedFile) -> str:
    """The folder of a file in Moodle's export, or the start of its name in an export without folders; else ""."""
    found = EXPORTS["moodle"].search(file.relative_path)
    return found[0].strip("/").removesuffix("_") + "_" if found else ""


def _submitters(file: SubmittedFile) -> dict[str, tuple[str, str]]:
    """Names and numbers for each submission, from Gradescope's list beside the folders, where it is there."""
    folders = [folder for folder in reversed(file.path.parents) if folder.is_relative_to(file.root or file.path.anchor)]
    lists = [folder / METADATA for folder in folders if (folder / METADATA).is_file()]
    return _metadata(lists[0]) if lists else {}  # the outermost: a learner may hand in a file of this name


@lru_cache(maxsize=8)
def _metadata(path: Path) -> dict[str, tuple[str, str]]:
    """Read line by line: the file is YAML, but it also holds each old result, and no more is needed of it."""
    people: dict[str, dict[str, list[str]]] = {}
    facts: dict[str, list[str]] | None = None
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if start := re.match(r"submission_(\d+):", line):
            facts = people.setdefault(start[1], {"name": [], "sid": []})
        elif facts is not None and re.match(r"  :?submitters:", line):
            continue
        elif re.match(r"  :?\w", line):  # what follows the submitters
            facts = None
        elif facts is not None and (fact := FACT.match(line)):
            facts[fact[1]].append(fact[2].strip("'\""))
    return {
        id: (" and ".join(f["name"]) or f"submission {id}", " ".join(filter(None, f["sid"])) or id)
        for id, f in people.items()
    }
