"""make gradescope ARGS=03-self-attention: the autograder of an exercise, as the zip file that Gradescope asks for.

Gradescope builds a container from it with `setup.sh`, and starts `run_autograder` in it for each submission. The seed
of the inputs is drawn when the file is made, so that all submissions of an assignment get the same.
"""

import argparse
import re
import secrets
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from tools import ROOT
from tools.takeaway.learners_copy import copy_checks, copy_library

FIRST = (1980, 1, 1, 0, 0, 0)  # the same bytes whenever the file is made
EXECUTABLE, READABLE = 0o100755 << 16, 0o100644 << 16
TORCH = re.compile(r"^\W*(?:import|from) torch\b", re.M)
PYTHON = "3.12"

SETUP = """#!/usr/bin/env bash
# Run once by Gradescope, with network: Python and the packages that the grader needs, and what keeps submissions apart.
set -e
apt-get update
apt-get install -y --no-install-recommends bubblewrap ca-certificates curl
curl -LsSf https://astral.sh/uv/install.sh | env UV_INSTALL_DIR=/usr/local/bin sh
export UV_PYTHON_INSTALL_DIR=/opt/python
uv venv --python {python} /opt/clearcheck
uv pip install --python /opt/clearcheck/bin/python -c /autograder/source/constraints.txt {packages}
chmod -R a+rX /opt
"""

RUN = """#!/usr/bin/env bash
# Run by Gradescope for each submission, as root and without arguments. The grader reads the checks and the seed, and
# goes on as nobody, who can read neither nor write results: those are what a grader that ended well has printed.
exec 2>&1
results=/autograder/results/results.json
rm -rf "$results"
cd /autograder/source
chmod go-w /autograder/results
chmod go= /autograder/run_autograder run_autograder
find exercises -name '*.py' -exec chmod go= {{}} +
chmod -R a+rX /autograder/submission
export HOME=/tmp PYTHONPATH=/autograder/source/lib
printed=$(/opt/clearcheck/bin/python -m clearclass.gradescope {slug} /autograder/submission <<< {seed})
ended=$?
rm -rf "$results"
if [ "$ended" -ne 0 ]; then
    echo "The grader ended with $ended, so there are no results: this is no grade. What it said stands above."
    exit 1
fi
printf '%s' "$printed" > "$results"
"""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make gradescope", description=__doc__.partition("\n")[0])
    parser.add_argument("slug", help="the exercise, such as 03-self-attention")
    parser.add_argument("--seed", type=int, help="of the inputs (default: a fresh one)")
    parser.add_argument("--to", type=Path, default=ROOT / "_build", help="the folder to write to")
    options = parser.parse_args(argv)
    authored = ROOT / "exercises" / "authoring" / options.slug
    if not (authored / "exercise.py").is_file():
        known = ", ".join(sorted(path.parent.name for path in authored.parent.glob("*/exercise.py")))
        print(f"There is no exercise {options.slug!r}. ARGS names one of: {known}.", file=sys.stderr)
        return 1
    target = options.to / f"gradescope-{options.slug}.zip"
    target.parent.mkdir(parents=True, exist_ok=True)
    write(target, authored, secrets.randbits(32) if options.seed is None else options.seed)
    print(f"Written: {target}. Upload it under Configure Autograder, with Ubuntu as the base image.")
    return 0


def write(target: Path, authored: Path, seed: int):
    """The scripts, the libraries of the course, and this exercise alone, without its right answers."""
    scripts = {"setup.sh": SETUP.format(python=PYTHON, packages=packages(authored))}
    scripts["run_autograder"] = RUN.format(slug=authored.name, seed=seed)
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        stage = Path(folder)
        copy_library(ROOT, stage / "lib")
        copy_checks(ROOT, stage, authored.name)
        for name in ("constraints.txt", "pyproject.toml"):
            shutil.copyfile(ROOT / name, stage / name)
        for name, text in scripts.items():
            add(archive, name, text.encode(), EXECUTABLE)
        for path in sorted(path for path in stage.rglob("*") if path.is_file()):
            add(archive, path.relative_to(stage).as_posix(), path.read_bytes(), READABLE)


def packages(authored: Path) -> str:
    """What an exercise or its answers import besides the course, and torch for the CPU where it is asked for."""
    sources = (path.read_text(encoding="utf-8") for path in authored.iterdir() if path.suffix in (".py", ".ipynb"))
    torch = any(TORCH.search(text) for text in sources)
    return "einops jaxtyping numpy scipy" + (" torch --torch-backend cpu" if torch else "")


def add(archive: zipfile.ZipFile, name: str, data: bytes, mode: int):
    entry = zipfile.ZipInfo(name, FIRST)
    entry.external_attr, entry.compress_type = mode, zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


if __name__ == "__main__":
    sys.exit(main())
