"""Which solutions share a notebook in the proof, and how they come into its answer cells."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from copy import deepcopy
from itertools import zip_longest

from clearcheck.exercise import Exercise, Question
from clearcheck.loading import AuthoringError
from clearcheck.names import defined_names
from clearcheck.solutions import Solution


def answer_text(solution: Solution, name: str) -> str:
    """The source of a solution under the name that the question asks for, without its decorator."""
    source = textwrap.dedent(inspect.getsource(solution.function))
    definition = ast.parse(source).body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise AuthoringError(f"Solution {solution.name}: a function written with `def` is expected.")
    lines = source.splitlines()
    calls = [node for node in ast.walk(definition) if isinstance(node, ast.Name) and node.id == solution.name]
    for node in sorted(calls, key=lambda node: node.col_offset, reverse=True):
        line = lines[node.lineno - 1].encode()  # the offsets of a syntax tree count bytes
        lines[node.lineno - 1] = (line[: node.col_offset] + name.encode() + line[node.end_col_offset :]).decode()
    start = definition.lineno - 1
    lines[start] = lines[start].replace(f"def {solution.name}(", f"def {name}(", 1)
    return "\n".join(lines[start:])


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
    notebook["cells"] = [cell for cell in notebook["cells"] if not _only_calls(cell["source"])]
    return notebook


def _only_calls(source: str) -> bool:
    """A cell of checks or experiments defines nothing, and the proof need not wait for it."""
    try:
        return all(isinstance(statement, ast.Expr) for statement in ast.parse(source).body)
    except SyntaxError:
        return False
