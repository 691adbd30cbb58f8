"""Whether the course's own files are as they were: a learner's code without a sandbox could change them."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from clearcheck.own_course import AUTHORING, own_course

LIB = Path(__file__).resolve().parents[2]
MOST_NAMED = 5


class CourseChanged(RuntimeError):
    """Files of the grader or of the exercises changed while a notebook was graded: no result since can be trusted."""


@dataclass(frozen=True)
class CourseFiles:
    """What the system noted about each file of the grader, of its libraries and of the exercises when this was made.

    Its time of change, unlike that of modification, cannot be set back by the user who owns the file.
    """

    noted: dict[str, tuple[int, ...]] = field(default_factory=lambda: dict(_file_stats()))

    def check(self, name: str):
        """Raises: CourseChanged; `name` is the notebook that was graded."""
        now = dict(_file_stats())
        changed = sorted(path for path in self.noted.keys() | now.keys() if self.noted.get(path) != now.get(path))
        if changed:
            more = f" and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
            raise CourseChanged(
                f"While {name} was graded, files of the course changed: {', '.join(changed[:MOST_NAMED])}{more}. "
                "The run stops, since what is graded from now on could not be trusted. Look at that notebook, put the "
                "files back (in a clone: git status, git checkout), and grade in the sandbox or in a container."
            )


def libraries() -> list[Path]:
    """The folders of the grader and of the libraries from which exercises take their references."""
    return sorted(path for path in LIB.glob("clear*") if path.is_dir())


def _file_stats() -> Iterator[tuple[str, tuple[int, ...]]]:
    for top in [*libraries(), own_course() / AUTHORING]:
        for folder, below, names in os.walk(top):
            below[:] = [name for name in below if name != "__pycache__"]
            for name in names:
                path = os.path.join(folder, name)
                told = os.lstat(path)
                yield path, (told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)
