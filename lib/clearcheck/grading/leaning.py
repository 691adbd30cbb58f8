"""What is said first of a question whose answer leans on others: whether those have passed."""

from collections.abc import Sequence
from dataclasses import replace

from clearcheck.grading.evaluate import NOT_ANSWERED, PASSED, QuestionResult


def with_leaning(results: Sequence[QuestionResult]) -> list[QuestionResult]:
    """The results, each with what it says of those among them that its answer leans on."""
    by_id = {result.question.id: result for result in results}
    return [
        replace(result, leaning=_told(result, [by_id[id] for id in result.question.leans_on if id in by_id]))
        for result in results
    ]


def _told(result: QuestionResult, others: Sequence[QuestionResult]) -> str:
    """The first of the others that has not passed; that all have, where the answer itself has not."""
    for other in others:
        if other.status != PASSED:
            state = "is not answered yet" if other.status == NOT_ANSWERED else "has not passed yet"
            return (
                f"This answer leans on your `{other.question.name}`, which {state}: let question "
                f"`{other.question.id}` pass first, since what is wrong there shows here, too."
            )
    if not others or result.status in (PASSED, NOT_ANSWERED):
        return ""
    names = [f"`{other.question.name}`" for other in others]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    passed = "has passed" if len(names) == 1 else "have passed"
    return f"Your {listed}, on which this answer leans, {passed}: what is wrong is here."
