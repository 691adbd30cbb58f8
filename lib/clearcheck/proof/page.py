"""The proof of the graders as a page of the book: MyST Markdown, the same text for the same exercises."""

import re
from dataclasses import dataclass

from clearcheck.author.mistakes import Solution
from clearcheck.grading.question import Question
from clearcheck.proof.prove import SEEDS, WHOLE_WAY, Proof, ProofRow, prove

OPENING = f"""---
orphan: true
nosearch: true
---

# How this grader was tested

A grader is software and can be wrong in two ways: it can reject a right answer, and it can accept a wrong one.
So every question of this course was given solutions whose verdict is known: right ones written in different
styles, and wrong ones that each hold one mistake that learners make. Each right one was put into the answer cell of
the exercise notebook, and the notebook was graded as yours is; then its function was graded once more, with other
arguments. The functions of the wrong ones were graded by the same checks with {len(SEEDS)} draws of the arguments, or
with one where it is a PyTorch module or trains a model. Of the wrong ones that train none, the first {WHOLE_WAY} of
each question were graded in the notebook as well, and got the same points for the same reasons.
The tables show every solution and what the grader made of it. Where a mistake is a right answer with a line or two
changed, they show the line as it was (-) and as the mistake has it (+).

This page is generated, and a test of the course fails when it no longer tells what the grader does.
"""


@dataclass(frozen=True)
class Told:
    """What a proof says: its section of the page, its errors, and a line that sums it up."""

    section: str
    errors: list[str]
    summary: str


def told(slug: str, draws: int = len(SEEDS)) -> Told:
    """Prove an exercise with so many draws of the arguments. Raises: ExerciseNotFound, AuthoringError, WorkerError."""
    proof = prove(slug, seeds=range(draws))
    return Told("\n".join(_exercise(proof)), proof.errors, proof.summary)


def page(proofs: list[Told]) -> str:
    sections = [proof.section for proof in proofs]
    return "\n".join([OPENING, in_all("\n".join(sections)), *sections])


def in_all(sections: str) -> str:
    """How many solutions the tables at the head of the sections count."""
    counts = [
        sum(map(int, re.findall(rf"^\| {kind} solutions \((\d+)\)", sections, flags=re.MULTILINE)))
        for kind in ("right", "wrong")
    ]
    return "In all these are {:,} right and {:,} wrong solutions.\n".format(*counts)


def _exercise(proof: Proof) -> list[str]:
    right = [row for row in proof.rows if row.right]
    wrong = [row for row in proof.rows if not row.right]
    table = [
        "| | accepted | not accepted |",
        "|---|---|---|",
        f"| right solutions ({len(right)}) | {_accepted(right)} | {len(right) - _accepted(right)} |",
        f"| wrong solutions ({len(wrong)}) | {len(wrong) - _rejected(wrong)} | {_rejected(wrong)} |",
    ]
    told = sum(row.told for row in wrong)
    closing = [
        f"Wrong solutions that were told the mistake they hold: {told} of {len(wrong)}.",
        f"The untouched notebook gets 0 points, the author's own all {proof.exercise.points}.",
        f"Errors: {len(proof.errors)}.",
    ]
    blocks = [f"## {proof.exercise.title}\n", "\n".join(table) + "\n", "\n".join(closing) + "\n"]
    return blocks + [_question(question, proof.of(question)) for question in proof.exercise.questions]


def _question(question: Question, rows: list[ProofRow]) -> str:
    lines = [
        f"### {question.title}\n",
        f"`{question.name}`, {question.points} points.\n",
        "| solution | it is | graded | points | what the learner is told | the mistake |",
        "|---|---|---|---|---|---|",
        *(_row(row) for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _row(row: ProofRow) -> str:
    points = sorted({result.points for result in row.results})
    span = str(points[0]) if len(points) == 1 else f"{points[0]} to {points[-1]}"
    statuses = " or ".join(dict.fromkeys(result.status for result in row.results))
    told = _cell(row.solution.says) if not row.right and row.told else "–" if row.right else "not told"
    kind = "right" if row.right else "wrong"
    return f"| `{row.solution.name}` | {kind} | {statuses} | {span} | {told} | {_mistake(row.solution, row.right)} |"


def _mistake(solution: Solution, right: bool) -> str:
    """The changed lines of an edit; nothing for a right answer."""
    if not solution.change:
        kind = "class" if solution.source.startswith("class ") else "function"
        return "–" if right else f"a {kind} of its own"
    shown = (line.replace("|", "\\|") for line in solution.change if line[1:].strip())
    return f"in `{solution.base}`: " + "<br>".join(f"`{line}`" for line in shown)


def _accepted(rows: list[ProofRow]) -> int:
    return sum(row.accepted for row in rows)


def _rejected(rows: list[ProofRow]) -> int:
    return sum(row.rejected for row in rows)


def _cell(text: str) -> str:
    """Text inside a Markdown table: what would end the cell or start mark-up is escaped."""
    for sign in "\\|*_$<[{":
        text = text.replace(sign, "\\" + sign)
    return text
