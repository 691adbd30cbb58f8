"""Whose file it is: by the system that exported its folder, or by a pattern of the instructor's own."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from clearcheck.notebooks.escaping import one_line

from clearclass.exports import EXPORTS, PLAIN, TITLES, naming_of
from clearclass.gradescope_list import submitted_to_gradescope
from clearclass.roster import Person
from clearclass.submitted_files import SubmittedFile

Tell = Callable[[str], None]
OWN = "own"  # stands for a system where a pattern of the instructor's own says whose a file is
MOST_NAMED = 4  # files in a sentence


class BadPattern(ValueError):
    """A pattern for names that cannot be used; the text says what is expected."""


class LearnersMerged(ValueError):
    """Two learners have one number, so that one of them would lose the grade; the text names the files."""


@dataclass(frozen=True)
class Learner:
    """Who handed it in: the number is that of the system that exported the file, or "" without one."""

    name: str
    id: str = ""
    system: str = ""
    late: bool = False
    file: str = ""  # the path of a file that stands for a learner of its own
    people: tuple[Person, ...] = ()  # who that is on the roster, several for a group

    @property
    def label(self) -> str:
        return self.name if self.name == self.id else f"{self.name} {self.id}".strip()

    @property
    def key(self) -> tuple[str, str]:
        """The same for all files of one learner."""
        if self.people:
            return "roster", " ".join(person.key for person in self.people)
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


def learners_of(
    files: Iterable[SubmittedFile],
    pattern: re.Pattern | None,
    system: str | None = None,
    tell: Tell = lambda _: None,
    warn: Tell | None = None,
) -> list[Learner]:
    """Whose each file is, after telling how each folder was read, and warning of what does not fit.

    Raises: BadPattern where the pattern or the system fits none of the files, LearnersMerged.
    """
    files, warn = list(files), warn or (lambda sentence: tell(f"Warning: {sentence}"))
    folders: dict[Path | None, list[SubmittedFile]] = {}
    for file in files:
        folders.setdefault(file.root, []).append(file)
    whose: dict[SubmittedFile, Learner] = {}
    for root, inside in folders.items():
        theirs, warnings = _by_pattern(inside, pattern) if pattern else _by_export(inside, system)
        whose.update(theirs)
        tell(f"{one_line(str(root or 'The files'))}: {_described([theirs[file] for file in inside])}.")
        for warning in warnings:
            warn(warning)
    found = [whose[file] for file in files]
    if files and (pattern or system not in (None, PLAIN)) and not any(learner.system for learner in found):
        asked = f"--name-pattern {pattern.pattern!r}" if pattern else f"--system {system}"
        example = one_line(files[0].relative_path)
        raise BadPattern(f"{asked} fits none of the {len(found)} files, such as {example}.")
    _refuse_merged(files, found)
    return found


def _described(learners: list[Learner]) -> str:
    """How a folder was read, with the numbers of its files and its learners."""
    system = next((learner.system for learner in learners if learner.system), PLAIN)
    how = {OWN: "named as --name-pattern says", PLAIN: "each file stands for a learner of its own"}
    people = len({learner.key for learner in learners})
    counts = f"{len(learners)} file{'s' * (len(learners) != 1)} of {people} learner{'s' * (people != 1)}"
    return f"{counts}, {how.get(system) or f'named as {TITLES[system]} names them'}"


def _by_pattern(files: list[SubmittedFile], pattern: re.Pattern) -> tuple[dict[SubmittedFile, Learner], list[str]]:
    theirs, strangers = {}, []
    for file in files:
        found = pattern.search(file.relative_path)
        groups = {key: value or "" for key, value in found.groupdict().items()} if found else {}
        name = groups.get("name", "").strip() or groups.get("id", "")
        theirs[file] = Learner(name, groups.get("id", ""), OWN, bool(groups.get("late"))) if name else _alone(file)
        strangers += [] if name else [file]
    said = "does not fit --name-pattern, as others do: it counts as a learner of its own"
    warnings = [f"{one_line(file.relative_path)} {said}." for file in strangers]
    return theirs, warnings


def _by_export(files: list[SubmittedFile], system: str | None) -> tuple[dict[SubmittedFile, Learner], tuple[str, ...]]:
    naming = naming_of(files, system)
    theirs = {}
    for file in files:
        parts = naming.parts.get(file)
        theirs[file] = _exported(file, naming.system, parts) if parts else _alone(file)
    return theirs, naming.warnings


def _exported(file: SubmittedFile, system: str, parts: dict[str, str]) -> Learner:
    name, id = parts.get("name", "").strip(), parts["id"]
    if system == "gradescope":
        submitted = submitted_to_gradescope(file, id)
        name, id = submitted.name, submitted.id
    return Learner(name, id, system, bool(parts.get("late")))


def _alone(file: SubmittedFile) -> Learner:
    return Learner(file.relative_path.removesuffix(file.path.suffix), file=file.name)


def _refuse_merged(files: list[SubmittedFile], learners: list[Learner]):
    """Raises: LearnersMerged where one number stands beside two names."""
    by_key: dict[tuple[str, str], list[tuple[SubmittedFile, Learner]]] = {}
    for file, learner in zip(files, learners, strict=True):
        by_key.setdefault(learner.key, []).append((file, learner))
    for theirs in by_key.values():
        names = {unicodedata.normalize("NFC", learner.name): file for file, learner in reversed(theirs)}
        if len(names) > 1:
            paths = [one_line(file.relative_path) for file in sorted(names.values(), key=lambda file: file.name)]
            more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
            raise LearnersMerged(
                f"The number {one_line(theirs[0][1].id)} stands beside {len(names)} names, and one learner would get "
                f"the grade of all: {', '.join(paths[:MOST_NAMED])}{more}. Rename what is wrong, say --system "
                f"{PLAIN} where no system named these files, or say whose they are by --name-pattern."
            )


def exported_by_moodle(file: SubmittedFile) -> str:
    """The folder of a file in Moodle's export, or the start of its name in an export without folders; else ""."""
    found = EXPORTS["moodle"].match(file.relative_path)
    return found["folder"].rstrip("/").rpartition("/")[2].removesuffix("_") + "_" if found else ""
