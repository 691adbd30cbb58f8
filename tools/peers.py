"""Install the libraries that ``make bench`` compares with, unless they are there; without a network it goes on without.

The environment has to be there: ``make bench`` sees to it.
"""

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from bootstrap import ROOT, last_line, pip, sentence_for, step


def main() -> int:
    missing = [requirement for requirement in wanted(ROOT) if not is_installed(requirement)]
    if missing:
        install(missing, ROOT)
    return 0


def wanted(root: Path) -> list[str]:
    with open(root / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["project"]["optional-dependencies"]["bench"]


def is_installed(requirement: str) -> bool:
    name = re.match(r"[\w.-]+", requirement)[0]
    return any(metadata.distributions(name=name))


def install(requirements: list[str], root: Path) -> bool:
    """Whether it worked; if not, one sentence says why."""
    step("peers", f"Installing {', '.join(requirements)}")
    options = ["--no-compile", "--retries", "2", "--constraint", root / "constraints.txt"]
    code, words = pip(root / ".venv", "install", *options, *requirements)
    if code != 0:
        print(sentence_for(words) or f"pip could not install them: {last_line(words)}", file=sys.stderr)
        print("What is missing is left out of the comparison.", file=sys.stderr)
    return code == 0


if __name__ == "__main__":
    sys.exit(main())
