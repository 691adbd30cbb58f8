"""Build the site into _build/html with Jupyter Book 1.x, every warning an error.

What an interrupted or failed build has left is deleted before the next, for Sphinx writes only pages that have changed:
it would keep one that was half written, and pass in silence over a warning that it has given before.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from tools import ROOT
from tools.setup.bootstrap import SetupProblem, jupyter_book_sentence, jupyter_book_version
from tools.setup.locks import wait_for_lock
from tools.setup.vendor import CACHE, vendor

# Its script would not survive a move of the environment. Pages stay in memory until the end, and looking through them
# again and again for what can be freed takes a fifth of the time.
RUN = "import gc; gc.set_threshold(200_000, 50, 100); from jupyter_book.cli.main import main; main()"
UNFINISHED = "unfinished"  # a file in _build while the site is being built
STRICT = ("--nitpick", "--warningiserror", "--keep-going")


def main() -> int:
    try:
        print(f"The site is in {build(ROOT).relative_to(ROOT)}; the target serve shows it in the browser.")
    except SetupProblem as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    return 0


def build(root: Path, target: Path | None = None, log: int | None = None) -> Path:
    """Build the book at root, into target if given; return the folder of the pages.

    Raises: SetupProblem if Jupyter Book is missing or not 1.x, or if the build has errors or warnings.
    """
    version = jupyter_book_version(sys.path)
    if version is None:
        raise SetupProblem("Jupyter Book is not installed: run python tools/run.py setup, then try again.")
    if int(version.split(".")[0]) >= 2:
        raise SetupProblem(jupyter_book_sentence(version))
    vendor(CACHE)
    command = [sys.executable, "-c", RUN, "build", str(root), *STRICT]
    if target is not None:
        command += ["--path-output", str(target)]
    folder = (target or root) / "_build"
    with wait_for_lock(folder / "lock", "The site is being built by another program: waiting for it to end."):
        mark_unfinished(folder)
        if subprocess.run(command, cwd=root, stdout=log, stderr=log).returncode != 0:
            raise SetupProblem("The book has errors or warnings, which stand above: mend them, then build it again.")
        (folder / UNFINISHED).unlink()
    return folder / "html"


def mark_unfinished(folder: Path) -> None:
    """Mark the build as unfinished; where the last one is still marked so, what it has left is deleted."""
    mark = folder / UNFINISHED
    if mark.exists():
        for left in ("html", ".doctrees"):
            shutil.rmtree(folder / left, ignore_errors=True)
    mark.touch()


if __name__ == "__main__":
    sys.exit(main())
