"""Fetch MathJax (and axe-core, for the tests) with npm into .cache, if npm and the network are there.

With MathJax in .cache/site the built book reads offline (tools/sphinx_clearformer.py puts it in); without it the pages
take it from its usual address. Nothing here ever fails a build.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache"
MATHJAX = "mathjax@3.2.2"
AXE = "axe-core@4.14.1"
SITE = CACHE / "site"  # copied into the site as it is
AXE_FILE = CACHE / "axe.min.js"


def main() -> int:
    vendor(CACHE)
    return 0


def vendor(cache: Path) -> None:
    """Fill the cache; what is there already is not fetched again."""
    mathjax, axe = cache / "site" / "mathjax", cache / "axe.min.js"
    missing = [package for package, place in ((MATHJAX, mathjax), (AXE, axe)) if not place.exists()]
    npm = shutil.which("npm")
    if not missing:
        return
    if npm is None:
        print("npm is not here: the site will load MathJax from its usual address.", flush=True)
        return
    print(f"Fetching {' and '.join(missing)} with npm", flush=True)
    with tempfile.TemporaryDirectory(prefix="clearformer-") as folder:
        if not fetch(npm, missing, Path(folder)):
            print("npm cannot reach its registry: the site will load MathJax from its usual address.", flush=True)
            return
        cache.mkdir(parents=True, exist_ok=True)
        modules = Path(folder) / "node_modules"
        if MATHJAX in missing:
            copy_mathjax(modules / "mathjax", mathjax)
        if AXE in missing:
            shutil.copy(modules / "axe-core" / "axe.min.js", axe)


def fetch(npm: str, packages: list[str], folder: Path) -> bool:
    """One try, no retries: an unreachable registry must not hold a build up."""
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--fetch-retries=0", "--fetch-timeout=20000"]
    command = [npm, "install", *options, "--prefix", str(folder), *packages]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, env={**os.environ, "CI": "1"})
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def copy_mathjax(package: Path, target: Path) -> None:
    """The one component that Sphinx asks for, its fonts and its licence; moved into place last, so never half there."""
    draft = target.with_name("mathjax.part")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    for name in ("es5/tex-mml-chtml.js", "LICENSE"):
        shutil.copy(package / name, draft)
    fonts = "output/chtml/fonts/woff-v2"
    shutil.copytree(package / "es5" / fonts, draft / fonts)
    draft.rename(target)


if __name__ == "__main__":
    sys.exit(main())
