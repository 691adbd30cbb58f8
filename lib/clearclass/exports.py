"""Which system exported a folder of submissions, decided once for the folder, from the start of each path."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from clearcheck.notebooks.escaping import one_line

from clearclass.submitted_files import SubmittedFile

FOLDER = r"(?P<folder>(?:[^/]+/)*?"  # around an export, as an archive that was unpacked makes one
EXPORTS = {
    "moodle": re.compile(FOLDER + r"(?P<name>[^/]+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_|(?=/|$))/?)"),
    "gradescope": re.compile(FOLDER + r"submission_(?P<id>\d+)/)"),
    "canvas": re.compile(r"(?P<folder>)(?P<name>[^/]+?)_(?P<late>LATE_)?(?P<id>\d+)_(?P<upload>\d+)_[^/]*$"),
}
GITHUB = "github"
PLAIN = "plain"
SYSTEMS = (*EXPORTS, GITHUB, PLAIN)
TITLES = {
    "moodle": "Moodle",
    "gradescope": "Gradescope",
    "canvas": "Canvas",
    GITHUB: "GitHub Classroom",
    PLAIN: "no system that is known",
}
AS_PLAIN = (
    "each file counts as a learner of its own. Where that is wrong, say --system {system}, or whose they are by "
    "--name-pattern."
)


@dataclass(frozen=True)
class Naming:
    """How the files of one folder are named: the system, and what each path says, or nothing where it fits not."""

    system: str
    parts: dict[SubmittedFile, dict[str, str]]
    warnings: tuple[str, ...] = ()


def naming_of(files: list[SubmittedFile], system: str | None = None) -> Naming:
    """The naming that fits at least half of a folder's files, or of its folders where a learner has one each.

    One learner chooses names within one folder or file alone, and so cannot decide for the others.
    """
    found = {name: _parts(name, files) for name in (*EXPORTS, GITHUB)}
    if system == PLAIN:
        return Naming(PLAIN, {})
    votes = _votes(files, found)
    best = system or max(found, key=lambda name: votes[name])
    fits, everyone = votes[best], sum(votes.values())
    if not fits and not system:
        return Naming(PLAIN, {})
    example = one_line(next(iter(found[best]), files[0]).relative_path)
    why = f"{example} is named as {TITLES[best]} names files, most others are not" if 2 * fits < everyone else ""
    if not why and best == "canvas":
        why = _no_canvas(found[best])
    if why and not system:
        return Naming(PLAIN, {}, (f"{why}: {AS_PLAIN.format(system=best)}",))
    strangers = [file for file in files if file not in found[best]]
    return Naming(best, found[best], tuple(_stranger(file, best) for file in strangers))


def _stranger(file: SubmittedFile, system: str) -> str:
    return (
        f"{one_line(file.relative_path)} is not named as {TITLES[system]} names what it exports, unlike the others: it "
        "counts as a learner of its own. Rename it, or say whose it is by --name-pattern."
    )


def _votes(files: list[SubmittedFile], found: dict[str, dict]) -> Counter[str]:
    """One vote for each file or folder that a system would have made, for the naming whose number comes first."""
    votes: dict[tuple[str, str], None] = {}
    for file in files:
        fitting = {name: parts[file] for name, parts in found.items() if file in parts}
        if fitting:
            first = min(fitting, key=lambda name: int(fitting[name]["at"]))
            votes[first, fitting[first]["folder"] or file.relative_path] = None
        else:
            votes["", file.relative_path.partition("/")[0]] = None
    return Counter(name for name, _ in votes)


def _parts(system: str, files: list[SubmittedFile]) -> dict[SubmittedFile, dict[str, str]]:
    """What the paths say that fit."""
    if system == GITHUB:
        return _repositories(files)
    found = {}
    for file in files:
        place = file.path.name if system == "canvas" and file.root is None else file.relative_path
        match = EXPORTS[system].match(place)
        if match and match["id"] and (system == "gradescope" or match["name"].strip()):
            groups = {key: value or "" for key, value in match.groupdict().items()}
            found[file] = {**groups, "at": str(match.start("id"))}
    return _by_length_of_uploads(found) if system == "canvas" else found


def _by_length_of_uploads(found: dict[SubmittedFile, dict[str, str]]) -> dict[SubmittedFile, dict[str, str]]:
    """Where a name has numbers of its own, the pair counts whose second number is as long as those of other files."""
    splits = {file: _canvas_splits(file.path.name) for file in found}
    plain = Counter(len(pairs[0][-1]) for pairs in splits.values() if len(pairs) == 1)
    usual = plain.most_common(1)[0][0] if plain else max((len(p[-1]) for s in splits.values() for p in s), default=0)
    for file, pairs in splits.items():
        name, late, id, upload = min(pairs, key=lambda pair: abs(len(pair[-1]) - usual))
        found[file] = {**found[file], "name": name, "late": late, "id": id, "upload": upload, "at": str(len(name))}
    return found


def _canvas_splits(name: str) -> list[tuple[str, str, str, str]]:
    """All ways to read a name as name, late or not, number of the learner, number of the upload."""
    pairs = re.finditer(r"_(LATE_)?(?=(\d+)_(\d+)_)", name)
    return [(name[: it.start()], it[1] or "", it[2], it[3]) for it in pairs if name[: it.start()].strip()]


def _no_canvas(found: dict[SubmittedFile, dict[str, str]]) -> str:
    """What speaks against Canvas in half of the files: it gives each upload a long number of its own; else ""."""
    short = [file for file, parts in found.items() if len(parts["id"]) < 2 or len(parts["upload"]) < 3]
    if 2 * len(short) > len(found):
        return f"The numbers in {one_line(short[0].path.name)} are short"
    by_number: dict[str, list[SubmittedFile]] = {}
    for file, parts in found.items():
        by_number.setdefault(parts["upload"], []).append(file)
    shared = [files for files in by_number.values() if len({found[file]["name"] for file in files}) > 1]
    if 2 * sum(map(len, shared)) < max(len(found), 1):
        return ""
    one, *_, other = shared[0]
    return f"{one_line(one.path.name)} and {one_line(other.path.name)} have one number in common"


def _repositories(files: list[SubmittedFile]) -> dict[SubmittedFile, dict[str, str]]:
    """GitHub Classroom clones a repository for each learner, named by the assignment and the account."""
    folders = {}
    for file in files:
        inside = [file.path, *file.path.parents][: len(file.relative_path.split("/"))] if file.root else []
        if top := next((folder for folder in reversed(inside) if Path(folder / ".git").exists()), None):
            folders[file] = top
    names = {folder.name for folder in folders.values()}
    if len(names) == 1:  # GitHub's own tool clones into a folder ASSIGNMENT-submissions
        names |= {folder.parent.name for folder in folders.values()}
    start = "".join(f"{word}-" for word in _shared_start([name.split("-") for name in names]))
    return {
        file: {"folder": str(folder), "name": folder.name.removeprefix(start), "id": "", "at": "0"}
        for file, folder in folders.items()
    }


def _shared_start(names: list[list[str]]) -> list[str]:
    """The words with which all names begin, without the last of the shortest."""
    columns = zip(*(words[:-1] for words in names), strict=False)
    return [column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns)]
