"""What is said of a question: the same on a card in the notebook, on a feedback page and in Gradescope."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from clearcheck.grading.evaluate import NOT_ANSWERED, PARTLY, PASSED, QuestionResult
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.reading import Reading, reading_in

SIGNS = {PASSED: "✓", PARTLY: "◐", NOT_ANSWERED: "○"}
NOT_YET = "✗"
SAME_MISTAKE = "The same mistake as above."
SAME = "The same as above."


@dataclass(frozen=True)
class CheckFeedback:
    """How a check ended, the known mistake and the message; either of the two may be empty."""

    outcome: str
    mistake: str
    message: str

    @property
    def sentences(self) -> list[str]:
        return [sentence for sentence in (self.mistake, self.message) if sentence]


@dataclass(frozen=True)
class Feedback:
    """What is said of a question: `first` whether those that it leans on have passed; one that is not answered has
    only a `reason` besides.
    """

    sign: str
    verdict: str
    first: str
    reason: str
    checks: list[CheckFeedback]
    remarks: list[str]
    read: list[str]

    @property
    def notes(self) -> list[str]:
        """What stands below the checks: what was let pass, and where to read on."""
        return [f"Note: {remark}" for remark in self.remarks] + [f"Read {section}" for section in self.read]

    @property
    def lines(self) -> list[str]:
        """All but the verdict, as text."""
        lines = [sentence for sentence in (self.first, self.reason) if sentence]
        for check in self.checks:
            lines += [check.outcome, *(f"  {sentence}" for sentence in check.sentences)]
        return lines + self.notes


def feedback_on(question: dict, read: list[str]) -> Feedback:
    """What is said of a question of a record, as `QuestionResult.as_json` gives it, with the sections to `read`."""
    status = question["status"]
    sign = SIGNS.get(status, NOT_YET)
    verdict = verdict_of(status, question["points"], question["max_points"])
    checks = question["checks"]
    if status == NOT_ANSWERED:
        return Feedback(sign, verdict, question["leaning"], checks[0]["message"], [], [], [])
    remarks = dict.fromkeys(check["remark"] for check in checks if check["remark"])
    return Feedback(sign, verdict, question["leaning"], "", list(_check_feedback(checks)), list(remarks), read)


def verdict_of(status: str, points: float, most: float) -> str:
    """ "not answered yet (0 of 12 points)" """
    words = f"{status} yet" if status == NOT_ANSWERED else status
    return f"{words} ({points_of(points, most)})"


def points_of(points: float, most: float) -> str:
    return f"{points} of {most} point{'' if most == 1 else 's'}"


def to_read(exercise: Exercise, result: QuestionResult) -> list[Reading]:
    """Where to read on: the sections of the mistakes that were told, else the question's own; none when passed."""
    if result.status == PASSED:
        return []
    named = [check.diagnosis.section for check in result.checks if check.diagnosis]
    sections = dict.fromkeys(named or [result.question.section])
    return [reading_in(exercise, section) for section in sections]


def _check_feedback(checks: list[dict]) -> Iterator[CheckFeedback]:
    pairs = [(check["diagnosis"]["message"] if check["diagnosis"] else "", check["message"]) for check in checks]
    for check, (mistake, message) in zip(checks, each_said_once(pairs), strict=True):
        sign = SIGNS[PASSED] if check["passed"] else NOT_YET
        outcome = f"{sign} {check['name']} ({points_of(check['points'], check['max_points'])})"
        yield CheckFeedback(outcome, mistake, message)


def each_said_once(checks: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The known mistake and the message of each check, where what was said above is only pointed to."""
    above: set[str] = set()
    for mistake, message in checks:
        named = SAME_MISTAKE if mistake in above else mistake
        said = message
        if message in above:
            said = "" if named else SAME
        yield named, said
        above |= {mistake, message} - {""}
