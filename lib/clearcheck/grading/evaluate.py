"""Evaluate a question against a transport: the one path for the notebook, the command line and the proof.

A transport takes what is asked and packed arguments, and gives the reply of `call_named`.
"""

import contextlib
import zlib
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace

import numpy as np

from clearcheck.grading.coercion import coerce_like
from clearcheck.grading.compare import Finding
from clearcheck.grading.describe import BY_HOW
from clearcheck.grading.diagnose import Diagnosis, KnownMistake, diagnose, reply_of
from clearcheck.grading.problems import problem_of
from clearcheck.grading.question import AnswerProblem, CallStopped, Equals, NotAnswered, Question
from clearcheck.grading.replies import CLOSE, Call
from clearcheck.grading.see import see
from clearcheck.grading.see_training import see_training
from clearcheck.grading.two_mistakes import diagnose_two
from clearcheck.worker.call_request import CallRequest
from clearcheck.worker.guarded_call import blank_unprintable
from clearcheck.worker.values import pack

PASSED, PARTLY, NOT_RIGHT, NOT_ANSWERED = "passed", "partly right", "not right yet", "not answered"
Transport = Callable[[CallRequest, bytes], dict]


@dataclass(frozen=True)
class CheckResult:
    name: str
    points: int
    max_points: int
    message: str = ""
    diagnosis: Diagnosis | None = None
    margin: float | None = None
    unanswered: bool = False
    remark: str = ""  # what was let pass, and is not what the task asks for
    args: tuple | None = None  # of the call that failed, or of the first; None where there was none

    @property
    def passed(self) -> bool:
        return self.points == self.max_points

    def as_json(self) -> dict:
        return {
            "name": self.name,
            "points": self.points,
            "max_points": self.max_points,
            "passed": self.passed,
            "message": self.message,
            "remark": self.remark,
            "diagnosis": self.diagnosis.as_json() if self.diagnosis else None,
        }


@dataclass(frozen=True)
class QuestionResult:
    question: Question
    checks: tuple[CheckResult, ...]
    leaning: str = ""  # whether the questions that its answer leans on have passed

    @property
    def points(self) -> int:
        return sum(check.points for check in self.checks)

    @property
    def status(self) -> str:
        if all(check.passed for check in self.checks):
            return PASSED
        if all(check.unanswered for check in self.checks):
            return NOT_ANSWERED
        return PARTLY if self.points else NOT_RIGHT

    def as_json(self) -> dict:
        return {
            "id": self.question.id,
            "title": self.question.title,
            "status": self.status,
            "points": self.points,
            "max_points": self.question.points,
            "leaning": self.leaning,
            "checks": [check.as_json() for check in self.checks],
        }


@dataclass
class Ask:
    """Calls the learner's function, and keeps the transcript.

    A result is taken for what `like` is, a result of the reference: a list for an array, and an array for a list.
    """

    transport: Transport
    question: Question
    like: object = None
    close: float = CLOSE
    calls: list[Call] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def __call__(self, *args, like=None):
        asked = self.question.call_request
        packed = pack(asked.arguments_to_send(args))
        reply = self.transport(asked, packed)
        call = Call(packed, reply, self.close)
        self.calls.append(call)
        problem = problem_of(call, self.question)
        if problem is not None:
            raise problem
        array = BY_HOW[self.question.how].array
        return coerce_like(deepcopy(call.value), self._like(args) if like is None else like, self.remarks, array)

    def _like(self, args: tuple):
        """As `like`; where a module is called several times, its outputs come in a list that is not the learner's."""
        several = self.question.how == "module" and len(args[0]["calls"]) > 1
        return [self.like] if several and not isinstance(self.like, list) else self.like


def evaluate(question: Question, transport: Transport, seed: int, wrong: Sequence[KnownMistake]) -> QuestionResult:
    """Run every check on arguments fresh from `seed`; a failed one is compared with the known mistakes."""
    findings, transcripts, remarks = [], [], []
    stopped, like = False, _example(question, seed)
    if question.how == "training":
        transport = _once(transport)
    for check in question.checks:
        ask = _ask(check, transport, question, like)
        transcripts.append(ask.calls)
        remarks.append(ask.remarks)
        if stopped:
            findings.append(Finding("Not run, since an earlier call had to be stopped."))
            continue
        try:
            findings.append(check.run(ask, _check_generator(question, check, seed)))
        except AnswerProblem as problem:
            findings.append(problem)
            stopped = isinstance(problem, CallStopped)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
            findings.append(Finding(f"This check itself is broken ({fault}): please tell the author."))

    def mistake_passes(i: int, mistake: KnownMistake) -> bool:
        return _passes(question, question.checks[i], mistake, seed, like)

    failed = [i for i, finding in enumerate(findings) if isinstance(finding, Finding) and transcripts[i]]
    diagnoses = _diagnoses(question, wrong, transcripts, failed, mistake_passes, seed)
    if question.how == "training":
        diagnoses |= _seen_trainings(question, transcripts, findings, [i for i in failed if i not in diagnoses])
    return QuestionResult(
        question,
        tuple(
            replace(
                _result(check, finding, diagnoses.get(i)),
                remark="" if finding else " ".join(dict.fromkeys(told)),  # of a failed check they need not be true
                args=_telling_args(finding, transcripts[i]),
            )
            for i, (check, finding, told) in enumerate(zip(question.checks, findings, remarks, strict=True))
        ),
    )


def _diagnoses(
    question: Question,
    wrong: Sequence[KnownMistake],
    transcripts: list[list[Call]],
    failed: list[int],
    passes: Callable[[int, KnownMistake], bool],
    seed: int,
) -> dict[int, Diagnosis]:
    """A known mistake for each failed check, else two of them, else what the numbers show; where there is any.

    A name for the mistake is a help, and no value of an answer may cost more than that.
    """
    found: dict[int, Diagnosis] = {}
    with contextlib.suppress(Exception):
        found |= diagnose(question, wrong, transcripts, failed, passes)
        if any(i not in found or not found[i].everywhere for i in failed):
            found |= diagnose_two(question, wrong, transcripts, failed, passes)
    for i in failed:
        check = question.checks[i]
        if i not in found and isinstance(check, Equals):
            with contextlib.suppress(Exception):
                told = see(question, check, transcripts[i], _check_generator(question, check, seed))
                found |= {i: told} if told else {}
    return found


def _seen_trainings(question: Question, transcripts: list[list[Call]], findings: list, failed: list[int]) -> dict:
    """For each of the failed checks what its training loops did, where that shows a mistake."""
    every = [call for calls in transcripts for call in calls]
    found: dict[int, Diagnosis] = {}
    for i in failed:
        with contextlib.suppress(Exception):
            told = see_training(question, transcripts[i], every, findings[i].unlearned)
            found |= {i: told} if told else {}
    return found


def _passes(question: Question, check, mistake: KnownMistake, seed: int, like: object) -> bool:
    def transport(asked: CallRequest, packed: bytes) -> dict:
        return reply_of(mistake.function, asked.for_known_mistake(mistake.source), packed)

    with contextlib.suppress(Exception):
        return check.run(_ask(check, transport, question, like), _check_generator(question, check, seed)) is None
    return False


def _ask(check, transport: Transport, question: Question, like: object) -> Ask:
    return Ask(transport, question, like, getattr(check, "atol", None) or CLOSE)


def _check_generator(question: Question, check, seed: int) -> np.random.Generator:
    return generator(question, getattr(check, "drawn_as", "") or check.name, seed)


def _once(transport: Transport) -> Transport:
    """A training takes long: where two checks ask for the same one, the second hears what the first was told."""
    replies: dict[bytes, dict] = {}

    def ask(asked: CallRequest, packed: bytes) -> dict:
        if packed not in replies:
            replies[packed] = transport(asked, packed)
        return replies[packed]

    return ask


def _telling_args(finding: Finding | AnswerProblem | None, calls: list[Call]) -> tuple | None:
    if not calls:
        return None
    return calls[0 if finding is None else getattr(finding, "call", -1)].args


def _example(question: Question, seed: int):
    """A result of the reference, None where no check has one or it is broken, which that check tells."""
    with contextlib.suppress(Exception):
        check = next(check for check in question.checks if isinstance(check, Equals))
        return check.example(generator(question, check.name, seed), question.call_request)
    return None


def generator(question: Question, check: str, seed: int) -> np.random.Generator:
    """Each check has its own stream, so that adding one leaves the others' arguments alone."""
    return np.random.default_rng([seed, zlib.crc32(f"{question.id}/{check}".encode())])


def _result(check, finding, diagnosis: Diagnosis | None) -> CheckResult:
    if finding is None:
        return CheckResult(check.name, check.points, check.points)
    if isinstance(finding, AnswerProblem):
        unanswered = isinstance(finding, NotAnswered)
        return CheckResult(check.name, 0, check.points, blank_unprintable(str(finding)), unanswered=unanswered)
    return CheckResult(check.name, 0, check.points, blank_unprintable(finding.message), diagnosis, finding.margin)
