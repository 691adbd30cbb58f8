"""The learner's notebook from the author's: solutions become stubs, and the result is run once for its outputs."""

import os
from copy import deepcopy
from pathlib import Path

from clearcheck.author.loading import AuthoringError, find_folder
from clearcheck.files import RECORD_VARIABLE
from clearcheck.grading.question import STUB
from clearcheck.notebooks.file import NotANotebook, cell_source, read_notebook
from clearcheck.worker.limits import RELEASE_CELL_SECONDS

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
MISSING = f'raise NotImplementedError("{STUB}")'
DROPPED_TAG = "solution"


def release(source: str, target: Path | None = None) -> Path:
    """Write the learner's notebook of a source notebook, or of an exercise given by its name."""
    given = Path(source)
    path = given if given.suffix == ".ipynb" else find_folder(source) / "source.ipynb"
    slug = path.resolve().parent.name
    target = target or path.resolve().parents[2] / f"{slug}.ipynb"
    notebook = learner_notebook(read_source(path), slug)
    target.write_text(_execute_notebook(notebook, target.resolve().parent), encoding="utf-8")
    return target


def read_source(path: Path) -> dict:
    """The author's notebook, the source of each cell as one text.

    Raises: AuthoringError.
    """
    try:
        notebook = read_notebook(path)
    except NotANotebook as error:
        raise AuthoringError(f"A source notebook is expected: {error}") from None
    for cell in notebook.cells:
        cell["source"] = cell_source(cell)
    return notebook.content


def learner_notebook(source: dict, slug: str) -> dict:
    """The same cells under the same ids, without solutions and without outputs."""
    notebook = deepcopy(source)
    notebook["metadata"]["clearcheck"] = {"exercise": slug}
    notebook["cells"] = [cell for cell in notebook["cells"] if DROPPED_TAG not in cell["metadata"].get("tags", [])]
    for cell in notebook["cells"]:
        cell["source"] = without_solution(cell["source"], cell.get("id", "without id"))
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return notebook


def without_solution(source: str, cell: str) -> str:
    """The text with each marked part replaced by the stub, indented alike.

    Raises: AuthoringError where the markers are not in pairs.
    """
    kept, inside = [], False
    for line in source.splitlines():
        marker = line.strip()
        if marker not in (BEGIN, END):
            kept += [] if inside else [line]
            continue
        if (marker == BEGIN) == inside:
            raise AuthoringError(f'Cell "{cell}": "{marker}" has no partner; the two markers come in turn.')
        inside = not inside
        if inside:
            kept.append(line[: len(line) - len(line.lstrip())] + MISSING)
    if inside:
        raise AuthoringError(f'Cell "{cell}": "{BEGIN}" has no "{END}".')
    return "\n".join(kept)


def _execute_notebook(notebook: dict, folder: Path) -> str:
    """The notebook's text with outputs, as Jupyter saves it."""
    try:
        import nbclient
        import nbformat
    except ImportError as error:
        raise AuthoringError(
            f"Releasing a notebook runs it once, which needs {error.name}: install nbclient."
        ) from None
    node = nbformat.from_dict(notebook)
    metadata = deepcopy(node.metadata)
    client = nbclient.NotebookClient(
        node, timeout=RELEASE_CELL_SECONDS, record_timing=False, resources={"metadata": {"path": str(folder)}}
    )
    try:
        client.execute(env={**os.environ, RECORD_VARIABLE: "off"})
    except nbclient.exceptions.CellExecutionError as error:
        raise AuthoringError(f"The learner's notebook does not run as it is: {error.ename}: {error.evalue}.") from None
    node.metadata = metadata  # without the versions of the machine that ran it
    return nbformat.writes(node) + "\n"
