"""What a reader of the site takes home: a wheel of the course, an archive, and notebooks that run by themselves.

All of it lies in the folder dist of the site. A published notebook differs from that of the checkout by one cell, which
installs the wheel where the library is missing, and by its links, which lead to the site. The address of the site is an
argument everywhere; where nobody knows it, the cell says in words what to do.
"""

import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from functools import cache
from pathlib import Path

from tools import ROOT
from tools.setup.bootstrap import CPU_INDEX
from tools.setup.pythons import ADVISED, span
from tools.takeaway.gradescope import READABLE, TORCH, add
from tools.takeaway.learners_copy import copy_checks, copy_data, copy_library, copy_prose

DIST, ARCHIVE, TOP = "dist", "course.zip", "clearformer"
TEXTS = ("pyproject.toml", "constraints.txt", "LICENSE", "LICENSE-text")
# of no use elsewhere, or answers
SITE_ONLY = ("api", "checkpoints", "claims", "grader-proof", "instructor", "repository", "setup", "solutions")
EPOCH = str(315_532_800)  # 1980, the first that a zip can hold: the same bytes whenever it is made
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
MODULES = {
    "pillow": "PIL",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
}  # packages that are imported under another name
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")
INSTALL = """\
from importlib.util import find_spec
from os import environ
from subprocess import check_call
from sys import executable

environ["CLEARFORMER_SITE"] = "{address}"  # where progress() leads
if not all(map(find_spec, {modules})):  # once, from the site that this notebook is from
    print("Installing the course and what it needs: some minutes, and about 2 GB with PyTorch.")
    quietly = ["-q", "--progress-bar", "off", "--extra-index-url", "{cpu_index}"]
    check_call([executable, "-m", "pip", "install", *quietly, "{package} @ {address}{wheel}"])
"""
EXPLAIN = """\
from importlib.util import find_spec

if not all(map(find_spec, {modules})):
    raise ImportError(
        "This notebook needs the library of its course. Download {file} from the page where you found the notebook, "
        'then run here: %pip install "path/to/{file}{extra}"'
    )
"""
README = f"""\
# Clearformer, to take with you

The chapters, the exercises and the library of the course *Clearformer*, without its website, its test suite and its
authors' answers. You need Python {span()}. In this folder, on Linux and macOS:

```sh
python3 -m venv .venv
.venv/bin/python -m pip install -r requirements.txt
.venv/bin/jupyter lab
```

On Windows, in PowerShell:

```powershell
py -{ADVISED} -m venv .venv
.venv\\Scripts\\python -m pip install -r requirements.txt
.venv\\Scripts\\jupyter lab
```

Then open `chapters/01-tokens.ipynb`, or an exercise in `exercises/`. To grade a notebook from the command line (on
Windows with `.venv\\Scripts\\python`):

```sh
.venv/bin/python -m clearcheck grade exercises/03-self-attention.ipynb
```

The exercises check themselves on your machine. So what the checks compare with, and the mistakes that they know, lie in
`exercises/authoring/`: look there when you are done.
"""
REQUIREMENTS = f"""\
# What the notebooks need, PyTorch for the processor where there is no other. Binder reads this file, too.
--extra-index-url {CPU_INDEX}
--constraint constraints.txt
--editable .[course]
"""


class NoWheel(RuntimeError):
    """The wheel could not be built; the text is what the builder said."""


def write_downloads(site: Path, address: str, root: Path = ROOT) -> None:
    """Wheel, archive and exercises into the folder dist of the site, and every notebook of the site published."""
    write_packages(site, address, root)
    write_notebooks(site, address, root)


def write_packages(site: Path, address: str, root: Path = ROOT) -> None:
    """Wheel and archive into the folder dist of the site."""
    dist = site / DIST
    dist.mkdir(parents=True, exist_ok=True)
    for old in (*dist.glob("*.whl"), *dist.glob("*.zip")):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="clearformer-") as folder:
        stage = Path(folder) / TOP
        write_course(stage, address, root)
        write_archive(dist / ARCHIVE, stage)
        build_wheel(dist, stage)


def write_notebooks(site: Path, address: str, root: Path = ROOT) -> None:
    """The notebooks of the site as they are to be downloaded, in the places from which its pages link to them."""
    for path in notebooks(root):
        text = published_notebook(root, path, address)
        if path.parts[0] == "exercises":
            name = published_name(path)
            places = [*(site / "_downloads").glob(f"*/{name}"), site / DIST / path.with_name(name)]
        else:
            places = [site / "_sources" / path]
        for place in places:
            if place.exists() or place.is_relative_to(site / DIST):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, encoding="utf-8")


def published_name(path: Path) -> str:
    """Of an exercise another than that of its chapter, which lands in the same folder of downloads."""
    return f"exercise-{path.name}" if path.parent.name == "exercises" else path.name


def notebooks(root: Path = ROOT) -> list[Path]:
    """Chapters, other pages that are notebooks, and exercises, as they are named in the course."""
    found = [*root.glob("chapters/**/*.ipynb"), *root.glob("exercises/*.ipynb")]
    return sorted(path.relative_to(root) for path in found)


def published_notebook(root: Path, path: Path, address: str, beside: frozenset[str] = frozenset()) -> str:
    """The text of a notebook with the cell that installs the course; a link to what does not lie `beside` it leads to
    the site.
    """
    notebook = json.loads((root / path).read_text(encoding="utf-8"))
    cells = notebook["cells"]
    first = next((n for n, cell in enumerate(cells) if cell["cell_type"] == "code"), len(cells))
    if address:
        for cell in cells:
            if cell["cell_type"] == "markdown":
                source = "".join(cell["source"])
                cell["source"] = relink_pages(source, path.parent.as_posix(), address, beside).splitlines(keepends=True)
    lines = install_cell(root, path, address).splitlines(keepends=True)
    cells.insert(
        first,
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "install-the-course",
            "metadata": {},
            "outputs": [],
            "source": lines,
        },
    )
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def install_cell(root: Path, path: Path, address: str) -> str:
    """The cell's text: for an exercise NumPy is enough, unless it asks for PyTorch."""
    extra = "notebooks" if path.parts[0] == "chapters" else "torch" if asks_for_torch(root, path.stem) else ""
    modules = [TOP, *modules_of(root, extra)]
    bracket = f"[{extra}]" if extra else ""
    if not address:
        return EXPLAIN.format(modules=json.dumps(modules), file=wheel_name(root), extra=bracket).rstrip()
    wheel = f"{DIST}/{wheel_name(root)}"
    named = {"package": f"{TOP}{bracket}", "address": address, "wheel": wheel, "cpu_index": CPU_INDEX}
    return INSTALL.format(modules=json.dumps(modules), **named).rstrip()


def asks_for_torch(root: Path, slug: str) -> bool:
    """Whether an exercise's notebook or its checks import PyTorch."""
    files = [root / "exercises" / f"{slug}.ipynb", *(root / "exercises" / "authoring" / slug).glob("*.py")]
    return any(TORCH.search(file.read_text(encoding="utf-8")) for file in files)


def modules_of(root: Path, extra: str) -> list[str]:
    """What the packages of an extra are imported as, those of the extras that it names included."""
    found: list[str] = []
    for requirement in project(root)["optional-dependencies"].get(extra, []):
        inner = re.fullmatch(rf"{TOP}\[(\w+)\]", requirement)
        name = re.split(r"[^\w-]", requirement)[0]
        found += modules_of(root, inner[1]) if inner else [MODULES.get(name, name)]
    return found


def relink_pages(text: str, folder: str, address: str, beside: frozenset[str]) -> str:
    """Links to pages of the book, which a single notebook does not have beside it, lead to the site."""

    def move_link(match: re.Match) -> str:
        target, section = posixpath.normpath(f"{folder}/{match[1]}"), match[2] or ""
        page = re.fullmatch(r"(index|chapters/[\w/-]+)\.(?:md|ipynb)", target)
        if target in beside or not (page or target.startswith("exercises/")):
            return match[0]
        if page:
            return f"]({address}{page[1]}.html{section})"
        return f"]({address}{DIST}/exercises/{published_name(Path(target))})"

    return LINK.sub(move_link, text)


def write_course(stage: Path, address: str, root: Path = ROOT) -> None:
    """The folder that the archive holds: the course as a learner works in it."""
    stage.mkdir()
    copy_library(root, stage / "lib")
    copy_data(root, stage)
    copy_checks(root, stage)
    for name in TEXTS:
        shutil.copyfile(root / name, stage / name)
    (stage / "README.md").write_text(README, encoding="utf-8")
    (stage / "requirements.txt").write_text(REQUIREMENTS, encoding="utf-8")
    (stage / "chapters" / "closer").mkdir(parents=True)
    pages = [page.relative_to(root) for page in (root / "chapters").glob("*.md") if page.stem not in SITE_ONLY]
    for page in pages:
        shutil.copyfile(root / page, stage / page)
    beside = frozenset(path.as_posix() for path in (*notebooks(root), *pages))
    for path in notebooks(root):
        (stage / path).write_text(published_notebook(root, path, address, beside), encoding="utf-8")


def write_archive(target: Path, stage: Path) -> None:
    """The folder as a zip file, the same bytes whenever it is made."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in stage.rglob("*") if path.is_file()):
            add(archive, f"{TOP}/{path.relative_to(stage).as_posix()}", path.read_bytes(), READABLE)


def build_wheel(dist: Path, stage: Path) -> Path:
    """The wheel of a folder of the course; exercises and data lie inside the packages that look for them.

    Raises: NoWheel.
    """
    shutil.move(stage / "exercises" / "authoring", stage / "lib" / "clearcheck" / "course" / "exercises" / "authoring")
    for copy in (copy_data, copy_prose):
        copy(stage, stage / "lib" / "clearbook" / "course")
    command = [sys.executable, "-c", BUILD, str(dist.resolve())]
    variables = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    done = subprocess.run(command, cwd=stage, env=variables, capture_output=True, encoding="utf-8", errors="replace")
    wheel = dist / wheel_name(stage)
    if done.returncode or not wheel.exists():
        raise NoWheel(f"{wheel.name} could not be built: {done.stdout}{done.stderr}")
    return wheel


def wheel_name(root: Path = ROOT) -> str:
    return f"{TOP}-{project(root)['version']}-py3-none-any.whl"


def project(root: Path) -> dict:
    return _read((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


_read = cache(tomllib.loads)  # asked for several times a notebook
