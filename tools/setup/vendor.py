"""Fetch MathJax (and axe-core, for the tests) with npm into .cache, if npm and the network are there.

Their versions stand in tools/site/package.json. With MathJax in .cache/site the built book reads offline (its formulas
are set by tools/extension/formulas.py); without it the pages take it from its usual address. Nothing here ever fails a
build.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import ROOT

CACHE = ROOT / ".cache"
PACKAGE = json.loads((ROOT / "tools" / "site" / "package.json").read_text(encoding="utf-8"))
MATHJAX = f"mathjax@{PACKAGE['dependencies']['mathjax']}"
AXE = f"axe-core@{PACKAGE['devDependencies']['axe-core']}"
SITE = CACHE / "site"  # copied into the site as it is
COMPONENTS = (  # of MathJax: what reads TeX and draws it, when the site is built or in a browser
    "startup.js",
    "core.js",
    "input/tex.js",
    "output/chtml.js",
    "output/chtml/fonts/tex.js",
    "a11y/assistive-mml.js",  # formulas as MathML, for screen readers
    "adaptors/liteDOM.js",  # a page without a browser
)


def main() -> int:
    vendor(CACHE)
    return 0


def vendor(cache: Path) -> None:
    """Fill the cache; what is there already is not fetched again."""
    mathjax, axe = cache / "site" / "mathjax", cache / "axe.min.js"
    wanted = {MATHJAX: [mathjax / name for name in COMPONENTS], AXE: [axe]}
    missing = [package for package, places in wanted.items() if not all(place.exists() for place in places)]
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
    """The components, their fonts and the licence; moved into place last, so never half there."""
    draft = target.with_name("mathjax.part")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    shutil.copy(package / "LICENSE", draft)
    for name in COMPONENTS:
        (draft / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(package / "es5" / name, draft / name)
    fonts = "output/chtml/fonts/woff-v2"
    shutil.copytree(package / "es5" / fonts, draft / fonts)
    shutil.rmtree(target, ignore_errors=True)
    draft.rename(target)


if __name__ == "__main__":
    sys.exit(main())
