"""Print the notes of a release, or say in one sentence what keeps a tag from being one.

    .venv/bin/python -m tools.checks.release v0.2.0

Standard library only, so that the workflow of a release can ask before it installs anything.
"""

import re
import sys
import tomllib
from pathlib import Path

from tools import ROOT

FRAGMENT = "*.md"  # of changelog.d, which towncrier puts into CHANGELOG.md


class NoRelease(Exception):
    """What stands in the way, and what to do about it."""


def main(tag: str, root: Path = ROOT) -> int:
    try:
        print(notes(tag, root))
    except NoRelease as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


def notes(tag: str, root: Path) -> str:
    """What CHANGELOG.md says of the version. Raises: NoRelease."""
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if tag != f"v{version}":
        raise NoRelease(f"The tag is {tag} and the version in pyproject.toml {version}: the tag has to be v{version}.")
    waiting = sorted(path.name for path in (root / "changelog.d").glob(FRAGMENT))
    if waiting:
        raise NoRelease(f"{', '.join(waiting)} in changelog.d/ are not in CHANGELOG.md: run towncrier build first.")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)\n(.*?)(?=^## |\Z)", changes, re.M | re.S)
    if not found:
        raise NoRelease(
            f"CHANGELOG.md has no heading of the form ## {version} (2026-11-29): run towncrier build first."
        )
    cited = (root / "CITATION.cff").read_text(encoding="utf-8")
    expected = f'version: {version}\ndate-released: "{found[1]}"\n'
    if expected not in cited:
        raise NoRelease(f"CITATION.cff has another version or date than CHANGELOG.md: write {expected!r} there.")
    return found[2].strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] else ""))
