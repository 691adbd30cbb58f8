"""What a run has graded so far, a line of JSON for each file, so that a run that was ended can go on."""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from clearcheck.files import hold_lock, write_whole

from clearclass.one_file import Job, digest, grader_version

NAME = "journal.jsonl"
LOCK = ".lock"
BY_LEARNER = "by_learner"
TRUST = "trust"


class JournalProblem(RuntimeError):
    """The folder for the results cannot be used; the text says why."""


class Journal:
    """The records of a folder of results. In memory it keeps only where each of them stands in the file.

    A file counts as graded where its name, its bytes, the exercise that was asked for, the seed and the grader are the
    same.
    """

    def __init__(self, folder: Path, seed: int, by_learner: bool = False, trust: bool = False):
        self.by_learner = by_learner  # whether each learner has a seed drawn from that of the run
        self.folder, self.path = folder, folder / NAME
        self._places: dict[str, tuple[int, int]] = {}
        self.learners: dict[str, str] = {}  # by key, who handed the file in
        self.seed = seed
        self.trusted = False  # whether a run without a sandbox has written here, whose notebooks could, too
        whole = self._read() if self.path.exists() else 0
        with open(self.path, "ab") as file:
            file.truncate(whole)  # what a run wrote last may be half a line
        newly_trusted, self.trusted = trust and not self.trusted, trust or self.trusted
        if not whole:
            self._append(self._head())
        elif newly_trusted:
            self._append({TRUST: True})

    def add(self, key: str, learner: str, record: dict):
        self._places[key] = self._append({"key": key, "learner": learner, "record": record})
        self.learners[key] = learner

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def __getitem__(self, key: str) -> dict:
        return self._line(*self._places[key])["record"]

    def settle(self, keys: Iterable[str]):
        """Keep the lines of these files alone, in this order, whatever order they were graded in."""
        lines = [json.dumps(self._head())]
        lines += [json.dumps(self._line(*self._places[key])) for key in keys]
        write_whole(self.path, "".join(f"{line}\n" for line in lines).encode())
        self._places.clear()
        self.learners.clear()
        self._read()

    def _head(self) -> dict:
        modes = {BY_LEARNER: self.by_learner, TRUST: self.trusted}
        return {"seed": self.seed, **{name: True for name, holds in modes.items() if holds}}

    def _read(self) -> int:
        """Find each line; gives the length of the part that is whole."""
        whole = 0
        with open(self.path, "rb") as file:
            for line in file:
                content = _parse_line(line)
                if content is None:
                    break
                self.trusted = self.trusted or content.get(TRUST) is True
                if "key" in content:
                    self._places[content["key"]] = (whole, len(line))
                    self.learners[content["key"]] = content.get("learner", "")
                whole += len(line)
        return whole

    def _append(self, content: dict) -> tuple[int, int]:
        line = json.dumps(content).encode() + b"\n"
        with open(self.path, "ab") as file:
            place = file.tell(), len(line)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        return place

    def _line(self, start: int, length: int) -> dict:
        with open(self.path, "rb") as file:
            file.seek(start)
            return json.loads(file.read(length))


@contextlib.contextmanager
def open_journal(
    folder: Path,
    seed: int | None,
    fresh: int,
    by_learner: bool = False,
    trust: bool = False,
    trust_kept: bool = False,
) -> Iterator[Journal]:
    """The journal of a folder, which is made where it is missing; without a seed that of the folder's last run, and
    with seeds by learner where that had them. With `trust` this run's notebooks can write to it; with `trust_kept`
    those of an earlier run may have.

    Raises: JournalProblem where another run has the folder, it holds anything else, or what it holds is to be trusted
    and this run does not; OSError.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / LOCK).exists():
        raise JournalProblem(f"{folder} holds other files: name a new folder, or one of an earlier run.")
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(folder / LOCK, 0))
        except TimeoutError:
            raise JournalProblem(f"Another run writes to {folder}: wait for it, or name another folder.") from None
        head = _head_of(folder / NAME)
        kept = head.get("seed")
        if seed is not None and kept not in (None, seed):
            raise JournalProblem(f"{folder} was graded with the seed {kept}: leave --seed out, or name another folder.")
        if by_learner and head and not head.get(BY_LEARNER):
            raise JournalProblem(
                f"{folder} was graded with one seed for all: leave --seed-by-learner out, or name another folder."
            )
        chosen = next(number for number in (seed, kept, fresh) if number is not None)
        journal = Journal(folder, chosen, by_learner or head.get(BY_LEARNER) is True, trust)
        if journal.trusted and not (trust or trust_kept):
            raise JournalProblem(
                f"{folder} was graded with --trust, and what it keeps could have been changed by a notebook: name "
                "another folder, or pass --trust again."
            )
        yield journal


def _head_of(path: Path) -> dict:
    """The first line, which says with what seed the folder was graded; empty where there is none."""
    if not path.exists():
        return {}
    with open(path, "rb") as file:
        first = _parse_line(file.readline())
    return first if first and type(first.get("seed")) is int else {}


def _parse_line(line: bytes) -> dict | None:
    try:
        content = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def file_of(key: str) -> str:
    return json.loads(key)[0]


def key_of(job: Job, boxed: bool = False) -> str:
    """What a grade depends on, and whether the file was graded in a container, or perhaps without a sandbox."""
    parts = [job.file, digest(Path(job.file)), job.exercise, job.seed, grader_version()]
    return json.dumps([*parts, "container"] if boxed else [*parts, "trust"] if job.trust else parts)
