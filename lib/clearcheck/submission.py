"""Read a learner's notebook: any `.ipynb` of format 4, whatever was renamed, added, removed or broken in it."""

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path

from clearcheck.exercise import SLUG
from clearcheck.loading import known_slugs
from clearcheck.magics import without_magics

MAX_FILE = 200 * 2**20
FORMAT = 4


class NotANotebook(ValueError):
    """The file cannot be graded; the text says what came, what was expected and how to go on."""


class NoExercise(NotANotebook):
    """A notebook that does not say which exercise it answers."""


@dataclass(frozen=True)
class Cell:
    """A code cell; `number` counts the code cells from 1, as "Run all" numbers them."""

    number: int
    source: str


@dataclass(frozen=True)
class Submission:
    path: Path
    cells: list[Cell]
    metadata: dict
    notes: list[str]


def read_submission(path: Path) -> Submission:
    """Raises: NotANotebook."""
    notebook = _notebook(path)
    cells, notes = [], []
    for number, source in enumerate(_code_sources(path, notebook["cells"]), start=1):
        python, removed = without_magics(source)
        cells.append(Cell(number, python))
        if removed:
            notes.append(f"Code cell {number}: {removed} works only in Jupyter and was left out.")
    if not any(cell.source.strip() for cell in cells):
        raise NotANotebook(f"{path} holds no code: hand in the exercise notebook with your answers, saved in Jupyter.")
    metadata = notebook.get("metadata")
    return Submission(path, cells, metadata if isinstance(metadata, dict) else {}, notes)


def exercise_slug(submission: Submission) -> str:
    """Which exercise this is: from its metadata, else its `exercise("…")` call, else its file name."""
    noted = submission.metadata.get("clearcheck")
    slug = noted.get("exercise") if isinstance(noted, dict) else None
    candidates = [slug, *(_called_slug(cell.source) for cell in submission.cells)]
    for candidate in candidates:
        if isinstance(candidate, str) and SLUG.fullmatch(candidate):
            return candidate
    known = known_slugs()
    for candidate in known:
        if candidate in submission.path.name:
            return candidate
    example = known[0] if known else "03-self-attention"
    raise NoExercise(
        f'{submission.path} does not say which exercise it answers: keep its cell exercise("…"), '
        f"or pass --exercise, for instance --exercise {example}."
    )


def _notebook(path: Path) -> dict:
    ask = "hand in the .ipynb file that Jupyter saved"
    if not path.is_file():
        raise NotANotebook(f"{path} is no file: pass the path of the notebook to grade.")
    if path.stat().st_size > MAX_FILE:
        raise NotANotebook(f"{path} is larger than {MAX_FILE // 2**20} MB: clear its outputs and save it again.")
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if not text.strip():
            raise NotANotebook(f"{path} is empty: {ask}.")
        notebook = json.loads(text)
    except OSError as error:
        raise NotANotebook(f"{path} cannot be read ({error.strerror}): check its permissions.") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise NotANotebook(f"{path} is no notebook: JSON text is expected, something else came; {ask}.") from None
    if not isinstance(notebook, dict) or "nbformat" not in notebook:
        raise NotANotebook(f"{path} is no notebook: it is JSON without the key nbformat; {ask}.")
    if notebook["nbformat"] != FORMAT:
        came = json.dumps(notebook["nbformat"])[:20]
        raise NotANotebook(
            f"{path} has the notebook format {came}, format {FORMAT} is expected: open it in Jupyter and save it again."
        )
    if not isinstance(notebook.get("cells"), list):
        raise NotANotebook(f"{path} is no whole notebook: its list of cells is missing; {ask}.")
    return notebook


def _code_sources(path: Path, cells: list) -> list[str]:
    sources = []
    for position, cell in enumerate(cells, start=1):
        source = cell.get("source") if isinstance(cell, dict) else None
        lines = [source] if isinstance(source, str) else source
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise NotANotebook(f"{path}: cell {position} has no source text; open the notebook in Jupyter and save it.")
        if cell.get("cell_type") == "code":
            sources.append("".join(lines))
    return sources


def _called_slug(source: str) -> str | None:
    """The text in a call `exercise("…")`, also in a cell with a syntax error."""
    try:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "exercise":
                return next((arg.value for arg in node.args if isinstance(arg, ast.Constant)), None)
        return None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = re.search(r"""^exercise\(["']([^"']+)["']\)""", source, re.MULTILINE)
        return found[1] if found else None
