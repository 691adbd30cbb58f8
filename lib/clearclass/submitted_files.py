"""What was handed in: every file of a folder, and for one that cannot be graded the sentence that says why."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from clearcheck.author.loading import ExerciseNotFound, authoring_folder, slugs_in
from clearcheck.notebooks.escaping import one_line
from clearcheck.notebooks.file import NotANotebook
from clearcheck.own_course import own_course

ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")
METADATA = "submission_metadata.yml"  # Gradescope's, in an export
NOBODYS = {METADATA, "Thumbs.db", "desktop.ini", "__MACOSX"}  # which systems and archives add
KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True)
class SubmittedFile:
    """A file, the folder that was asked for (none where the file itself was), and why it is not opened."""

    path: Path
    root: Path | None
    reason: str = ""
    nothing: bool = False  # an empty folder, which stands for a learner who handed in nothing

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def relative_path(self) -> str:
        """The path from the folder that was asked for, with slashes; as it was given where that was the file."""
        return (self.path.relative_to(self.root) if self.root else self.path).as_posix()

    @property
    def in_no_folder(self) -> bool:
        """Whether it lies directly in the folder that was asked for, or was asked for itself."""
        return self.path.parent == self.root or self.root is None


def submitted_files(paths: Iterable[Path], results: Path | None = None) -> list[SubmittedFile]:
    """The files given, and for a folder all in it, however deep: not the hidden ones, the course's own sources, and
    the folder of results.

    Those of one exercise come together, as far as their names tell: what a process that grades keeps of an exercise
    (its cases, and what known mistakes make of them) then serves the next file.

    Raises: NotANotebook where a folder holds none.
    """
    found: list[SubmittedFile] = []
    spared = {path.resolve() for path in (results, _sources()) if path}
    for path in paths:
        inside = sorted(_walk(path, spared), key=lambda it: it.path) if path.is_dir() else [SubmittedFile(path, None)]
        if not inside:
            raise NotANotebook(f"{one_line(str(path))} holds no notebook: a folder with .ipynb files is expected.")
        found += inside
    slugs = slugs_in(own) if (own := _sources()) else []
    return sorted({file.path: file for file in found}.values(), key=lambda file: _place_of(file.path.name, slugs))


def _place_of(name: str, slugs: list[str]) -> int:
    """Where the exercise that a file's name holds stands among these; files whose names hold none come first."""
    return next((place for place, slug in enumerate(slugs, 1) if slug in name), 0)


def _walk(root: Path, spared: set[Path]) -> Iterator[SubmittedFile]:
    troubles: list[OSError] = []
    for folder, folders, files in os.walk(root, onerror=troubles.append):
        here = Path(folder)
        below = [name for name in folders if _counts(name)]
        folders[:] = [name for name in below if (here / name).resolve() not in spared]
        if not (below or any(map(_counts, files)) or here == root or here.name.lower().endswith(".ipynb")):
            yield SubmittedFile(here, root, f"{one_line(str(here))} is an empty folder: nothing was handed in.", True)
        beside = "exercise.py" in files
        kinds = [name for name in folders if name.lower().endswith(".ipynb") or (here / name).is_symlink()]
        for name in [*filter(_counts, files), *kinds]:
            yield SubmittedFile(here / name, root, _reason(here / name) or (_source(here / name) if beside else ""))
    for trouble in troubles:
        path = Path(trouble.filename)
        yield SubmittedFile(
            path, root, f"{one_line(str(path))} cannot be read ({trouble.strerror}): check its permissions."
        )


def _sources() -> Path | None:
    try:
        return authoring_folder(own_course())
    except ExerciseNotFound:
        return None


def _source(path: Path) -> str:
    return f"{one_line(str(path))} lies beside an exercise.py, as an author's own source does, and is not graded."


def _counts(name: str) -> bool:
    return not name.startswith(".") and name not in NOBODYS


def _reason(path: Path) -> str:
    """Why a file is not opened; nothing is opened to find out."""
    name = one_line(str(path))
    try:
        mode = path.lstat().st_mode
        target = os.readlink(path) if stat.S_ISLNK(mode) else ""
    except OSError as error:
        return f"{name} cannot be read ({error.strerror}): check its permissions."
    if target:
        where = "nowhere" if not path.exists() else one_line(target)
        return f"{name} is a link to {where}, and links are not followed: hand in the file itself."
    if stat.S_ISDIR(mode):
        return f"{name} is a folder: the file that Jupyter saved is expected under this name."
    if not stat.S_ISREG(mode):
        return f"{name} is {KINDS.get(stat.S_IFMT(mode), 'no file')}: the file that Jupyter saved is expected."
    if path.suffix.lower() == ".ipynb":
        return ""
    if path.suffix.lower() in ARCHIVES:
        return f"{name} is an archive: unpack it and grade the folder again."
    return f"{name} is no notebook: a file whose name ends in .ipynb is expected."
