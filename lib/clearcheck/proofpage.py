"""The proof of the graders as a page of the book: MyST Markdown, the same text for the same exercises."""

from clearcheck.exercise import Question
from clearcheck.prove import SEEDS, Proof, Row

OPENING = f"""# How this grader was tested

A grader is software and can be wrong in two ways: it can reject a right answer, and it can accept a wrong one.
So every question of this course was given solutions whose verdict is known: right ones written in different
styles, and wrong ones that each hold one mistake that learners make. Each solution was put into the answer cell of
the exercise notebook, and the notebook was graded as yours is, with {len(SEEDS)} different draws of the arguments.
The tables show every solution and what the grader made of it.

This page is generated, and a test of the course fails when it no longer tells what the grader does.
"""


def page(proofs: list[Proof]) -> str:
    return "\n".join([OPENING, *(block for proof in proofs for block in _exercise(proof))])


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


def _question(question: Question, rows: list[Row]) -> str:
    lines = [
        f"### {question.title}\n",
        f"`{question.name}`, {question.points} points.\n",
        "| solution | it is | graded | points | what the learner is told |",
        "|---|---|---|---|---|",
        *(_row(row) for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _row(row: Row) -> str:
    points = sorted({result.points for result in row.results})
    span = str(points[0]) if len(points) == 1 else f"{points[0]} to {points[-1]}"
    statuses = " or ".join(dict.fromkeys(result.status for result in row.results))
    told = _cell(row.solution.says) if not row.right and row.told else "–" if row.right else "not told"
    return f"| `{row.solution.name}` | {'right' if row.right else 'wrong'} | {statuses} | {span} | {told} |"


def _accepted(rows: list[Row]) -> int:
    return sum(row.accepted for row in rows)


def _rejected(rows: list[Row]) -> int:
    return sum(row.rejected for row in rows)


def _cell(text: str) -> str:
    """Text inside a Markdown table: what would end the cell or start mark-up is escaped."""
    for sign in "\\|*_$<[{":
        text = text.replace(sign, "\\" + sign)
    return text
