"""The copy of what a worker may import, and whether a learner's code has changed it: without a sandbox it can."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

LIB = Path(__file__).resolve().parents[2]
OFFERED = ("clearbook", "clearformer", "cleartape", "clearcheck/notebooks", "clearcheck/worker")  # for imports


class LibraryCopy:
    """A folder for one server of workers; what the system notes about its files cannot be set back, as in
    `report.course_files`. Nothing is written there, not even bytecode.
    """

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="clearcheck-home-", ignore_cleanup_errors=True)
        for name in OFFERED:
            if (LIB / name).is_dir():  # in a container the libraries may be left out
                shutil.copytree(LIB / name, Path(self.name, name))
        self._noted = dict(self._files())

    @property
    def name(self) -> str:
        return self._folder.name

    def has_changed(self) -> bool:
        return dict(self._files()) != self._noted

    def remove(self):
        self._folder.cleanup()

    def _files(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        for folder, below, names in os.walk(self.name):
            for name in [*below, *names]:
                path = os.path.join(folder, name)
                told = os.lstat(path)
                yield path, (told.st_ino, told.st_mode, told.st_size, told.st_mtime_ns, told.st_ctime_ns)
