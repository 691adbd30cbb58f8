"""Two known mistakes in one answer: told where no single one explains what the answer does, and both together do."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations

from clearcheck.grading.diagnose import Diagnosis, KnownMistake, gives_same_replies, gives_same_reply
from clearcheck.grading.question import Question
from clearcheck.grading.replies import Call

MOST_PAIRS = {"function": 600, "tensors": 300, "module": 150}  # tried at most, by how a question drives an answer
LARGEST = 2_000_000  # bytes of the arguments of one call


def diagnose_two(
    question: Question,
    wrong: Sequence[KnownMistake],
    transcripts: list[list[Call]],
    failed: list[int],
    passes: Callable[[int, KnownMistake], bool],
) -> dict[int, Diagnosis]:
    """For each failed check the two mistakes that together give all replies of the question, if two do.

    Those come first that alone give some of the replies, as many pairs as `MOST_PAIRS` says.
    """
    calls = [call for check in failed for call in transcripts[check] if call.reply["kind"] == "value"]
    if not calls or len(calls[0].packed) > LARGEST:
        return {}

    @cache
    def share(number: int) -> int:
        """How many replies a mistake gives alone."""
        return sum(gives_same_reply(question, wrong[number], call, ()) for call in calls)

    def explains(both: KnownMistake, check: int) -> bool:
        parts = getattr(question.checks[check], "parts", ())
        if gives_same_replies(question, both, transcripts[check], parts):
            return True
        return check not in failed and passes(check, both)

    for both in _pairs(wrong, share, MOST_PAIRS.get(question.how, 0)):
        if all(explains(both, check) for check in (*failed, *range(len(transcripts)))):
            told = Diagnosis(both.name, both.says, both.section or question.section, two=True)
            return dict.fromkeys(failed, told)
    return {}


def _pairs(wrong: Sequence[KnownMistake], share: Callable[[int], int], most: int) -> Iterator[KnownMistake]:
    numbers = sorted(range(len(wrong)), key=lambda number: -share(number)) if most else []
    tried = 0
    for one, other in sorted(combinations(numbers, 2), key=lambda pair: -share(pair[0]) - share(pair[1])):
        both = wrong[one].together_with(wrong[other])
        if both is not None:
            tried += 1
            yield both
        if tried >= most:
            return
