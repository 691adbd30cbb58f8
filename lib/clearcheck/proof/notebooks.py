"""Which solutions share a notebook in the proof, and how they come into its answer cells."""

import ast
from collections.abc import Iterator
from copy import deepcopy
from itertools import zip_longest

from clearcheck.author.edits import renamed
from clearcheck.author.loading import AuthoringError
from clearcheck.author.mistakes import Solution
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.question import Question
from clearcheck.notebooks.definitions import defined_names


def answer_text(solution: Solution, name: str) -> str:
    """The source of a solution under the name that the question asks for."""
    if not solution.source:
        raise AuthoringError(f"Solution {solution.name}: a function or a class is expected.")
    return renamed(solution.source, solution.name, name)


def sheets(exercise: Exercise, collection) -> Iterator[list[tuple[Question, Solution]]]:
    levels: dict[str, int] = {}
    for question in exercise.questions:
        levels[question.id] = max((1 + levels[id] for id in question.uses), default=0)
    for level in sorted(set(levels.values())):
        together = [question for question in exercise.questions if levels[question.id] == level]
        columns = [[(question, entry) for entry in collection.of(question.id)] for question in together]
        for sheet in zip_longest(*columns):
            yield [chosen for chosen in sheet if chosen is not None]


def filled(source: dict, chosen: list[tuple[Question, Solution]]) -> dict:
    notebook = deepcopy(source)
    for question, solution in chosen:
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        answers = [cell for cell in cells if question.name in defined_names(cell["source"])]
        if len(answers) != 1:
            raise AuthoringError(
                f"The source notebook defines {question.name} in {len(answers)} cells; one answer cell is expected."
            )
        answers[0]["source"] = answer_text(solution, question.name)
    for cell in notebook["cells"]:
        cell["source"] = _without_calls(cell["source"]) if cell["cell_type"] == "code" else cell["source"]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and cell["source"]]
    return notebook


def _without_calls(source: str) -> str:
    """A cell without the checks and experiments that it starts: they define nothing, and the proof need not wait."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        return source
    lines = source.splitlines()
    for statement in reversed(statements):
        if isinstance(statement, ast.Expr):
            del lines[statement.lineno - 1 : statement.end_lineno]
    return "\n".join(lines).strip()
