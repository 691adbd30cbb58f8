"""Which solutions share a notebook in the proof, and how they come into its answer cells."""

import ast
import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import zip_longest

from clearcheck.author.edits import rename_definition
from clearcheck.author.loading import AuthoredExercise, AuthoringError
from clearcheck.author.mistakes import Solution
from clearcheck.author.release import read_source
from clearcheck.grading.evaluate import QuestionResult
from clearcheck.grading.question import Question
from clearcheck.notebooks.definitions import defined_names
from clearcheck.report.grade import Grade, grade_submission, offered
from clearcheck.worker.limits import Limits
from clearcheck.worker.parent import Worker


def answer_text(solution: Solution, name: str) -> str:
    """The source of a solution under the name that the question asks for."""
    if not solution.source:
        raise AuthoringError(f"Solution {solution.name}: a function or a class is expected.")
    return rename_definition(solution.source, solution.name, name)


Key = tuple[str, str]


def key_of(solution: Solution) -> Key:
    """Its question and its name, which no other solution of an exercise has."""
    return solution.question, solution.name


class Notebooks:
    """Grades answers to the chosen questions as a learner's are: in the notebook of their exercise, by a worker."""

    def __init__(self, authored: AuthoredExercise, chosen: Sequence[Question], limits: Limits, seed: int):
        self.authored = authored
        self.chosen = tuple(chosen)
        self.limits = limits
        self.seed = seed
        self.source = read_source(authored.folder / "source.ipynb")

    def grade(self, notebook: dict, asked: Sequence[Question] = ()) -> Grade:
        """Only the questions that are `asked` are graded, or all that are chosen: other cells hold the author's."""
        exercise = replace(self.authored.exercise, questions=tuple(asked) or self.chosen, core=())
        with Worker(self.limits, *offered(self.authored)) as worker:
            submission = worker.read(json.dumps(notebook).encode(), f"{exercise.slug}.ipynb")
            [grade] = grade_submission(worker, submission, replace(self.authored, exercise=exercise), [self.seed])
        return grade

    def grade_each(self, solutions: Sequence[Solution]) -> dict[Key, QuestionResult]:
        found: dict[Key, QuestionResult] = {}
        for sheet in self._sheets(solutions):
            graded = self.grade(fill_in_solutions(self.source, sheet), [question for question, _ in sheet])
            found |= {key_of(it): result for (_, it), result in zip(sheet, graded.questions, strict=True)}
        return found

    def _sheets(self, solutions: Sequence[Solution]) -> Iterator[list[tuple[Question, Solution]]]:
        """The first solution of each question, the second of each, and so on; a question never shares a sheet with one
        that it leans on.
        """
        levels: dict[str, int] = {}
        asked = {question.id for question in self.chosen}
        for question in self.chosen:
            levels[question.id] = max((1 + levels[id] for id in question.leans_on if id in asked), default=0)
        for level in sorted(set(levels.values())):
            together = [question for question in self.chosen if levels[question.id] == level]
            columns = [[(q, entry) for entry in solutions if entry.question == q.id] for q in together]
            for sheet in zip_longest(*columns):
                yield [pair for pair in sheet if pair is not None]


def fill_in_solutions(source: dict, chosen: list[tuple[Question, Solution]]) -> dict:
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
