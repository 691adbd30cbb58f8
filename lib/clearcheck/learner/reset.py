"""Put the answer cell of one question back as it was released; nothing that a learner wrote is lost."""

import re
from html import escape
from pathlib import Path

from clearcheck.author.loading import AuthoredExercise, AuthoringError
from clearcheck.author.release import learner_notebook, read_source
from clearcheck.files import write_whole
from clearcheck.grading.question import Question
from clearcheck.learner.answered_exercise import answered_exercise
from clearcheck.learner.cards import Card
from clearcheck.notebooks.definitions import defined_names
from clearcheck.notebooks.file import cell_source, read_notebook
from clearcheck.notebooks.submission import submission_of


class ResetProblem(ValueError):
    """The question cannot be reset; the text says why and how to go on. Nothing was changed."""


def released_cell(authored: AuthoredExercise, question: Question) -> dict:
    """The question's answer cell in the learner's notebook, as it was released.

    Raises: AuthoringError where there is none or more than one.
    """
    notebook = learner_notebook(read_source(authored.folder / "source.ipynb"), authored.exercise.slug)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    found = [cell for cell in code if question.name in _names(cell)]
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
    file = read_notebook(path)
    authored = answered_exercise(submission_of(file, str(path)), slug)
    try:
        question = authored.exercise.question(id)
    except KeyError as error:
        raise ResetProblem(error.args[0]) from None
    fresh = released_cell(authored, question)
    layout = file.layout()
    cell = _answer_cell(path, file.code_cells, fresh, question)
    old = cell_source(cell)
    if old == fresh["source"]:
        return f'The answer cell of "{id}" in {path} is as it was released: nothing was changed.'
    source = fresh["source"]
    cell["source"] = source if isinstance(cell["source"], str) else source.splitlines(keepends=True)
    cell["outputs"], cell["execution_count"] = [], None
    try:
        backup = _backup(path, id, old)
        write_whole(path, layout.to_bytes(file.content))
    except OSError as error:
        raise ResetProblem(
            f"{error.filename or path} cannot be written ({error.strerror}): {path} is as before."
        ) from None
    return _reset_report(path, question, backup, file.code_cells, cell)


def offer(authored: AuthoredExercise, question: Question) -> Card:
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


def _answer_cell(path: Path, cells: list[dict], fresh: dict, question: Question) -> dict:
    """The cell with the released id, else the one that defines the question's function."""
    numbered = list(enumerate(cells, start=1))
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


def _reset_report(path: Path, question: Question, backup: Path, cells: list[dict], answer: dict) -> str:
    others = [n for n, cell in enumerate(cells, 1) if cell is not answer and question.name in _names(cell)]
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
    number = 1
    while True:
        backup = path.with_name(f"{path.stem}.{id}.before-reset-{number}.py")
        try:
            with open(backup, "xb") as file:
                file.write(source.encode("utf-8", "surrogatepass"))
            return backup
        except FileExistsError:
            number += 1


def _names(cell: dict) -> list[str]:
    """What the cell defines, also where a slip keeps it from being Python."""
    source = cell_source(cell)
    return defined_names(source) or re.findall(r"^(?:async def|def|class) (\w+)", source, re.MULTILINE)


def set_next_input(source: str) -> bool:
    """Whether there is an IPython that takes the text as its next input."""
    try:
        from IPython import get_ipython

        get_ipython().set_next_input(source)
    except (ImportError, AttributeError):
        return False
    return True
