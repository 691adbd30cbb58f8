"""The proof of a grader as a page of MyST Markdown, the same text for the same exercise."""

from dataclasses import dataclass

from clearcheck.author.mistakes import Solution
from clearcheck.grading.question import Question
from clearcheck.proof.mutate import MutantCount, count_mutants
from clearcheck.proof.prove import SEEDS, WHOLE_WAY, Proof, ProofRow, prove

HEAD = """\
---
orphan: true
nosearch: true
---

# How this grader was tested: {title}

{opening}
"""
GRADED = f"""\
These are answers whose verdict is known, and what the grader of this exercise made of them: right ones written in
different styles, and wrong ones that each hold one mistake that learners make. Each right one was put into the answer
cell of the exercise notebook, and the notebook was graded as yours is; then its function was graded once more, with
other arguments. The functions of the wrong ones were graded by the same checks with {len(SEEDS)} draws of the
arguments, or with one where it is a PyTorch module or trains a model. Of the wrong ones that train none, the first
{WHOLE_WAY} of each question were graded in the notebook as well, and got the same points for the same reasons.
Where a mistake is a right answer with a line or two changed, the table shows the line as it was (-) and as the mistake
has it (+)."""
MUTANTS = """\
Besides, each right solution is changed in one place after another, and each of the {mutants:,} changed ones is graded
once a week. Of {equal:,} it is written down why they compute the same as before; of the others none may be accepted,
but for training loops whose module learns as well.
"""
NOTHING = "–"


@dataclass(frozen=True)
class ProofText:
    """What a proof says, as text that processes can hand on: its page, its errors, and a line that sums it up."""

    page: str
    errors: list[str]
    summary: str


def proof_text(slug: str, draws: int = len(SEEDS), question: str | None = None) -> ProofText:
    """Prove an exercise, or one question of it, with so many draws of the arguments.

    Raises: ExerciseNotFound, QuestionNotFound, AuthoringError, WorkerError.
    """
    proof = prove(slug, seeds=range(draws), question=question)
    return ProofText(page(proof, mutants=count_mutants(slug)), proof.errors, proof.summary)


def page(proof: Proof, opening: str = GRADED, mutants: MutantCount | None = None) -> str:
    """A page of one exercise; where its solutions were not graded it shows them without results."""
    head = HEAD.format(title=proof.exercise.title, opening=opening)
    results = [_results(proof)] if proof.graded else []
    if mutants is not None:
        results.append(MUTANTS.format(mutants=mutants.mutants, equal=mutants.equal))
    questions = [_question(question, proof.of(question), proof.graded) for question in proof.exercise.questions]
    return "\n".join([head, *results, *questions])


def _results(proof: Proof) -> str:
    """How many solutions were accepted, and how many mistakes were told."""
    right = [row for row in proof.rows if row.right]
    wrong = [row for row in proof.rows if not row.right]
    accepted, rejected = (sum(row.is_accepted for row in right), sum(row.is_rejected for row in wrong))
    n_told = sum(row.tells_mistake for row in wrong)
    lines = [
        "| | accepted | not accepted |",
        "|---|---|---|",
        f"| right solutions ({len(right)}) | {accepted} | {len(right) - accepted} |",
        f"| wrong solutions ({len(wrong)}) | {len(wrong) - rejected} | {rejected} |",
        "",
        f"Wrong solutions that were told the mistake they hold: {n_told} of {len(wrong)}.",
        f"The untouched notebook gets 0 points, the author's own all {proof.exercise.points}.",
        f"Errors: {len(proof.errors)}.",
    ]
    return "\n".join(lines) + "\n"


def _question(question: Question, rows: list[ProofRow], graded: bool) -> str:
    head = ["solution", "it is", *(["graded", "points"] if graded else []), "what the learner is told", "the mistake"]
    lines = [
        f"## {question.title}\n",
        f"`{question.name}`, {question.points} points.\n",
        f"| {' | '.join(head)} |",
        "|---" * len(head) + "|",
        *(f"| {' | '.join(_cells(row, graded))} |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def _cells(row: ProofRow, graded: bool) -> list[str]:
    points = sorted({result.points for result in row.results})
    span = " to ".join(map(str, dict.fromkeys([*points[:1], *points[-1:]])))
    statuses = " or ".join(dict.fromkeys(result.status for result in row.results))
    results = [statuses, span] if graded else []
    told = _cell(row.solution.says) if row.tells_mistake or not graded else "not told"
    kind, told = ("right", NOTHING) if row.right else ("wrong", told)
    return [f"`{row.solution.name}`", kind, *results, told, _mistake(row.solution, row.right)]


def _mistake(solution: Solution, right: bool) -> str:
    """The changed lines of an edit; nothing for a right answer."""
    if not solution.change:
        kind = "class" if solution.source.startswith("class ") else "function"
        return NOTHING if right else f"a {kind} of its own"
    shown = (line.replace("|", "\\|") for line in solution.change if line[1:].strip())
    return f"in `{solution.base}`: " + "<br>".join(f"`{line}`" for line in shown)


def _cell(text: str) -> str:
    """Text inside a Markdown table: what would end the cell or start mark-up is escaped."""
    for sign in "\\|*_$<[{":
        text = text.replace(sign, "\\" + sign)
    return text
