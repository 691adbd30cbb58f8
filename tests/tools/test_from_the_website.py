"""A notebook from the site, alone in an environment without the course, installs what is missing, runs and grades."""

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from tools.book import serve
from tools.takeaway import downloads

ROOT = Path(__file__).parents[2]
SLUG = "03-self-attention"
OURS = re.compile(r"clear|__editable__|.*\.pth$")
# Links lead out of what a sandbox would show, so none is asked for.
HERE = {
    "CLEARCHECK_ISOLATION": "process",
    "PIP_NO_INDEX": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "NO_PROXY": "127.0.0.1",
    "OMP_NUM_THREADS": "1",
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> str:
    """The address of a site that has the downloads, and no pages."""
    folder = tmp_path_factory.mktemp("site")
    sources = folder / "_sources" / "chapters"
    sources.mkdir(parents=True)
    (sources / f"{SLUG}.ipynb").touch()
    with serve.open_server("0", folder) as server:
        address = f"http://{serve.HOST}:{server.server_port}/"
        downloads.write_downloads(folder, address)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield address
        server.shutdown()


@pytest.fixture
def empty_environment(tmp_path, monkeypatch) -> SimpleNamespace:
    """An environment that has the packages of this one, by links since there is no network, but for the course."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    python = venv / ("Scripts" if os.name == "nt" else "bin") / "python"
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    own = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    for path in Path(np.__file__).parents[1].iterdir():
        if not OURS.match(path.name):
            (own / path.name).symlink_to(path)
    kernel = tmp_path / "jupyter" / "kernels" / "empty"
    kernel.mkdir(parents=True)
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "empty", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CLEARCHECK"))}
    return SimpleNamespace(python=python, folder=tmp_path, own=own, variables={**kept, **HERE, "HOME": str(tmp_path)})


def fetch_notebook(address: str) -> nbformat.NotebookNode:
    with urllib.request.urlopen(address) as answer:
        return nbformat.reads(answer.read().decode("utf-8"), as_version=4)


def run(notebook, empty) -> str:
    """What the cells of the notebook show, run in the environment."""
    client = NotebookClient(notebook, timeout=1800, kernel_name="empty", resources={"metadata": {"path": empty.folder}})
    client.execute(env=empty.variables)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "\n".join(str(out.get("text", "")) + str(out.get("data", {}).get("text/plain", "")) for out in outputs)


def test_a_downloaded_exercise_grades_itself(site, empty_environment):
    """Catches a wheel without its checks or its mistakes, checks that need the answers, a record among the packages."""
    notebook = fetch_notebook(f"{site}dist/exercises/exercise-{SLUG}.ipynb")
    source = nbformat.read(ROOT / "exercises" / "authoring" / SLUG / "source.ipynb", as_version=4)
    answer = next(cell.source for cell in source.cells if cell.id == "weights-answer")
    end = next(n for n, cell in enumerate(notebook.cells) if 'check("weights")' in cell.source)
    notebook.cells = notebook.cells[: end + 1]
    powers = "torch.exp(scores - scores.max())"
    mistake = f"def attention_weights(scores):\n    return {powers} / {powers}.sum()"
    next(cell for cell in notebook.cells if cell.id == "weights-answer").source = mistake
    notebook.cells += map(nbformat.v4.new_code_cell, (answer, 'check("weights")'))
    shown = run(notebook, empty_environment)
    assert (empty_environment.own / "clearcheck").is_dir()
    assert "The softmax runs over the whole table" in shown and "passed (10 of 10 points)" in shown, shown
    record = json.loads((empty_environment.folder / ".clearcheck" / "progress.json").read_text())
    assert record["exercises"][SLUG]["questions"]["weights"]["points"] == 10
    nbformat.write(notebook, empty_environment.folder / "mine.ipynb")
    command = [empty_environment.python, "-m", "clearcheck", "grade", "mine.ipynb", "--json"]
    done = subprocess.run(
        command, cwd=empty_environment.folder, env=empty_environment.variables, capture_output=True, text=True
    )
    graded = json.loads(done.stdout)
    assert graded["points"] == 10 and not [note for note in graded["notes"] if "cell 1" in note], done.stderr


def draws(cell) -> bool:
    return any(kind.startswith("image/") for output in cell.get("outputs", ()) for kind in output.get("data", {}))


def test_a_downloaded_chapter_starts(site, empty_environment):
    """Catches a chapter whose imports or whose files are not in the wheel."""
    notebook = fetch_notebook(f"{site}_sources/chapters/{SLUG}.ipynb")
    drawn = next(n for n, cell in enumerate(notebook.cells) if draws(cell))
    notebook.cells = notebook.cells[: drawn + 1]
    lines = "import transformer\nprint(transformer.__file__)\n"  # of chapter 8, whose reader has not typed it yet
    lines += 'from clearbook.data.course_files import course_file\nprint(course_file("models/language"))'
    notebook.cells.append(nbformat.v4.new_code_cell(lines))
    shown = run(notebook, empty_environment)
    assert "<Figure size" in shown
    packed = empty_environment.own / "clearbook" / "course"
    assert shown.split()[-2:] == [str(packed / "chapters" / "transformer.py"), str(packed / "models" / "language")]
