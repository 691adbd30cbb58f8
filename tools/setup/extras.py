"""Install an extra that is not needed to set up, unless it is there; without a network what needs it goes on without.

``bench``: the libraries that ``make bench`` compares with. ``pretrained``: three packages with
weights, and the reader of one of them. ``mutants``: what tells in which ways a program can be broken. The
environment has to be there: ``make`` sees to it.
"""

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from tools import ROOT
from tools.setup.bootstrap import last_line, pip, sentence_for, step

FILES_ALONE = ("pretrained", "mutants")  # nothing that these ask for is used
WITHOUT = {
    "bench": "What is missing is left out of the comparison.",
    "pretrained": "What reads these weights is left out: chapters 10 and 12 show what they answered.",
    "mutants": "Mutants are left out.",
}


def main(extra: str) -> int:
    missing = [requirement for requirement in extra_requirements(ROOT, extra) if not is_installed(requirement)]
    if missing:
        install_extra(missing, ROOT, extra)
    return 0


def extra_requirements(root: Path, extra: str) -> list[str]:
    with open(root / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)
    return (project["project"]["optional-dependencies"] | project["dependency-groups"])[extra]


def is_installed(requirement: str) -> bool:
    name = re.split(r"[^\w.-]", requirement)[0]
    return any(metadata.distributions(name=name))


def install_extra(requirements: list[str], root: Path, extra: str) -> bool:
    """Whether it worked; if not, one sentence says why."""
    step(extra, f"Installing {', '.join(requirements)}")
    options = ["--no-compile", "--retries", "2", "--constraint", root / "constraints.txt"]
    options += ["--no-deps"] if extra in FILES_ALONE else []
    code, words = pip(root / ".venv", "install", *options, *requirements)
    if code != 0:
        print(sentence_for(words) or f"pip could not install them: {last_line(words)}", file=sys.stderr)
        print(WITHOUT[extra], file=sys.stderr)
    return code == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
