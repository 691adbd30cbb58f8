"""Put the answer cell of one question back as it was released; nothing that a learner wrote is lost."""

import itertools
import json
import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

from clearcheck.exercise import Question
from clearcheck.files import write_whole
from clearcheck.loading import Authored, AuthoringError, load
from clearcheck.names import defined_names
from clearcheck.release import learner_notebook, read_source
from clearcheck.report import Card
from clearcheck.submission import exercise_slug, read_submission

LAYOUTS = [{"indent": indent, "ensure_ascii": ascii} for indent in (1, 2, 4, None) for ascii in (False, True)]
SAFE = {"indent": 1, "ensure_ascii": True}  # can be written whatever the texts hold


class ResetProblem(ValueError):
    """The question cannot be reset; the text says why and how to go on. Nothing was changed."""


def released_cell(authored: Authored, question: Question) -> dict:
    """The question's answer cell in the learner's notebook, as it was released.

    Raises: AuthoringError where there is none or more than one.
    """
    notebook = learner_notebook(read_source(authored.folder / "source.ipynb"), authored.exercise.slug)
    found = [cell for cell in _code(notebook["cells"]) if question.name in _names(cell)]
    if len(found) != 1:
        raise AuthoringError(
            f"{authored.folder.name}: {len(found)} cells of the released notebook define `{question.name}`; "
            f'one, the answer cell of "{question.id}", is expected.'
        )
    return found[0]


def reset_in_file(path: Path, id: str, slug: str | None = None) -> str:
    """Reset one question of a notebook on disk, and tell what was done.

    Raises: ResetProblem, NotANotebook, ExerciseNotFound, AuthoringError.
    """
    authored = load(slug or exercise_slug(read_submission(path)))
    try:
        question = authored.exercise.question(id)
    except KeyError as error:
        raise ResetProblem(error.args[0]) from None
    fresh = released_cell(authored, question)
    text = _Text.of(path)
    cell = _answer_cell(path, text.notebook["cells"], fresh, question)
    old = "".join(cell["source"])
    if old == fresh["source"]:
        return f'The answer cell of "{id}" in {path} is as it was released: nothing was changed.'
    source = fresh["source"]
    cell["source"] = source if isinstance(cell["source"], str) else source.splitlines(keepends=True)
    cell["outputs"], cell["execution_count"] = [], None
    try:
        backup = _backup(path, id, old)
        write_whole(path, text.written())
    except OSError as error:
        raise ResetProblem(
            f"{error.filename or path} cannot be written ({error.strerror}): {path} is as before."
        ) from None
    return _told(path, question, backup, text.notebook["cells"], cell)


def offer(authored: Authored, question: Question) -> Card:
    """Offer the released cell beneath the one that runs, where the front end can do that, and its text to copy."""
    source = released_cell(authored, question)["source"]
    beneath = set_next_input(source)
    new = "A new cell beneath holds" if beneath else "Below is"
    told = (
        f"{new} the answer cell of {question.id} as it was released. Your own cell stays as it is, since a notebook "
        "that is open cannot safely be rewritten while you work in it. Delete the one of the two that you no longer "
        "want: the last definition that runs counts."
    )
    summary = "No new cell? Copy this text." if beneath else "Copy this text."
    folded = (
        f"<details{'' if beneath else ' open'}><summary><u>{summary}</u></summary><pre>{escape(source)}</pre></details>"
    )
    return Card(f"{told}\n{summary}\n{source}", f'<div class="clearcheck"><p>{escape(told)}</p>{folded}</div>')


@dataclass(frozen=True)
class _Text:
    """A notebook's file, and how its text was laid out, so that what does not change stays as it was."""

    notebook: dict
    mark: str
    newline: str
    layout: dict
    end: str

    @classmethod
    def of(cls, path: Path) -> "_Text":
        text = path.read_bytes().decode("utf-8")
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        newline = "\r\n" if "\r\n" in text else "\n"
        plain = text.removeprefix(mark).replace("\r\n", "\n")
        body = plain.rstrip()
        notebook = json.loads(body)
        layout = next((layout for layout in LAYOUTS if json.dumps(notebook, **layout) == body), SAFE)
        return cls(notebook, mark, newline, layout, plain[len(body) :])

    def written(self) -> bytes:
        text = json.dumps(self.notebook, **self.layout) + self.end
        return (self.mark + text.replace("\n", self.newline)).encode("utf-8")


def _answer_cell(path: Path, cells: list[dict], fresh: dict, question: Question) -> dict:
    """The cell with the released id, else the one that defines the question's function."""
    numbered = list(enumerate(_code(cells), start=1))
    same = [cell for _, cell in numbered if cell.get("id", "") == fresh.get("id")]
    if len(same) == 1:
        return same[0]
    defining = [(number, cell) for number, cell in numbered if question.name in _names(cell)]
    if len(defining) == 1:
        return defining[0][1]
    where = " and ".join(str(number) for number, _ in defining)
    what = f"code cells {where} define" if defining else "none defines"
    raise ResetProblem(
        f'{path}: the answer cell of "{question.id}" cannot be told: no code cell has the id {fresh.get("id")}, and '
        f"{what} `{question.name}`. If this is your notebook of the exercise, open it and run "
        f'reset("{question.id}"): it offers the cell as released.'
    )


def _told(path: Path, question: Question, backup: Path, cells: list[dict], answer: dict) -> str:
    others = [n for n, cell in enumerate(_code(cells), 1) if cell is not answer and question.name in _names(cell)]
    lines = [
        f'The answer cell of "{question.id}" in {path} is as it was released. Your old answer is kept in {backup}',
        "If the notebook is open in Jupyter, reload it from disk (File menu) before you go on.",
    ]
    if others:
        numbers = ", ".join(map(str, others))
        lines.append(f"`{question.name}` is also defined in code cell {numbers}, which stayed as it is.")
    return "\n".join(lines)


def _backup(path: Path, id: str, source: str) -> Path:
    """A new file beside the notebook; none that is there is overwritten."""
    for number in itertools.count(1):
        backup = path.with_name(f"{path.stem}.{id}.before-reset-{number}.py")
        try:
            with open(backup, "xb") as file:
                file.write(source.encode("utf-8", "surrogatepass"))
            return backup
        except FileExistsError:
            continue


def _code(cells: list[dict]) -> list[dict]:
    return [cell for cell in cells if cell.get("cell_type") == "code"]


def _names(cell: dict) -> list[str]:
    """What the cell defines, also where a slip keeps it from being Python."""
    source = "".join(cell["source"])
    return defined_names(source) or re.findall(r"^(?:async )?def (\w+)", source, re.MULTILINE)


def set_next_input(source: str) -> bool:
    """Whether there is an IPython that takes the text as its next input."""
    try:
        from IPython import get_ipython

        get_ipython().set_next_input(source)
    except (ImportError, AttributeError):
        return False
    return True
