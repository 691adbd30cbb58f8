"""Write the pages that are made from others, and say which files of the repository have changed.

The source map, the lists of the library reference and the pages of the claims and the checkpoints lie in the
repository, where they are read as well. Solutions and proofs are for the site alone: git ignores their pages, and a
build writes them by itself.
"""

import re
import sys
from pathlib import Path

from tools import ROOT
from tools.pages import checkpoints, claims, library_reference, proofs, solutions, source_map

LISTS = {solutions.INDEX: solutions.listed, proofs.INDEX: proofs.listed}
PLACE = re.compile(r"<!-- list -->\n.*?<!-- end -->\n", re.DOTALL)


def main() -> int:
    """0, or 1 and a sentence for what is wrong, such as a link to a section that is gone."""
    try:
        changed = write(of_the_repository())
        write(of_the_site())
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(f"Changed: {path.relative_to(ROOT).as_posix()}" for path in changed) or "No page has changed.")
    return 0


def of_the_repository() -> dict[Path, str]:
    """The pages that are committed, by path. Raises: ValueError."""
    return {page.PAGE: page.page() for page in (source_map, library_reference, claims, checkpoints)}


def of_the_site() -> dict[Path, str]:
    """The pages that are not, by path. Raises: ValueError."""
    return solutions.all_pages() | proofs.all_pages()


def write(pages: dict[Path, str]) -> list[Path]:
    """Write what is new, and leave the others as they are, so that they are not built again; return what is new.

    Of a folder that is for the site alone, pages that have no exercise any more are deleted.
    """
    changed = [path for path, text in pages.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in changed:
        path.parent.mkdir(exist_ok=True)
        path.write_text(pages[path], encoding="utf-8")
    for folder in {path.parent for path in pages} & {solutions.FOLDER, proofs.FOLDER}:
        for left in {*folder.glob("*.md")} - {*pages}:
            left.unlink()
    return changed


def with_list(path: Path, text: str) -> str:
    """A page for the site: where its pages are not there in the repository, it says how to get them."""
    return PLACE.sub(lambda place: f"{LISTS[path]()}\n", text) if path in LISTS else text


if __name__ == "__main__":
    sys.exit(main())
