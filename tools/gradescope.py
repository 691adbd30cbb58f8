"""make gradescope ARGS=03-self-attention: the autograder of an exercise, as the zip file that Gradescope asks for.

Gradescope builds a container from it with `setup.sh`, and starts `run_autograder` in it for each submission. The seed
of the inputs is drawn when the file is made, so that all submissions of an assignment get the same.
"""

import argparse
import re
import secrets
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
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
"""

RUN = """#!/usr/bin/env bash
# Run by Gradescope for each submission, without arguments.
cd /autograder/source
export PYTHONPATH=/autograder/source/lib
exec /opt/clearcheck/bin/python -m clearcheck.instructor.gradescope {slug} {seed}
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
    """The scripts, the libraries of the course, and this exercise alone."""
    files = [path for folder in (ROOT / "lib", authored) for path in sorted(folder.rglob("*")) if wanted(path)]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        scripts = {"setup.sh": SETUP.format(python=PYTHON, packages=packages(authored))}
        scripts["run_autograder"] = RUN.format(slug=authored.name, seed=seed)
        for name, text in scripts.items():
            add(archive, name, text.encode(), EXECUTABLE)
        for path in (*files, ROOT / "constraints.txt", ROOT / "pyproject.toml"):
            add(archive, path.relative_to(ROOT).as_posix(), path.read_bytes(), READABLE)


def packages(authored: Path) -> str:
    """What the exercise imports besides the course: NumPy, and torch for the CPU where it asks for it."""
    sources = (path.read_text(encoding="utf-8") for path in authored.iterdir() if path.suffix in (".py", ".ipynb"))
    torch = any(TORCH.search(text) for text in sources)
    return "jaxtyping numpy scipy" + (" torch --torch-backend cpu" if torch else "")


def wanted(path: Path) -> bool:
    """Not the author's notebook either: no grade needs its answers."""
    return (
        path.is_file()
        and path.name != "source.ipynb"
        and "__pycache__" not in path.parts
        and ".egg-info" not in str(path)
    )


def add(archive: zipfile.ZipFile, name: str, data: bytes, mode: int):
    entry = zipfile.ZipInfo(name, FIRST)
    entry.external_attr, entry.compress_type = mode, zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


if __name__ == "__main__":
    sys.exit(main())
