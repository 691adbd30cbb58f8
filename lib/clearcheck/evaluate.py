"""Evaluate a question against a transport: the one path for the notebook, the command line and the proof.

A transport takes a function's name, packed arguments and a time limit, and gives the reply of `calls.call_named`.
"""

import zlib
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field

import numpy as np

from clearcheck.calls import printable
from clearcheck.compare import Finding
from clearcheck.describe import describe_arguments
from clearcheck.diagnose import Diagnosis, diagnose
from clearcheck.exercise import AnswerProblem, NotAnswered, Question, Stopped
from clearcheck.solutions import Solution
from clearcheck.transcript import Call
from clearcheck.values import Unsupported, pack, unpack

PASSED, PARTLY, NOT_RIGHT, NOT_ANSWERED = "passed", "partly right", "not right yet", "not answered"
Transport = Callable[[str, bytes, float], dict]


@dataclass(frozen=True)
class CheckResult:
    name: str
    points: int
    max_points: int
    message: str = ""
    diagnosis: Diagnosis | None = None
    margin: float | None = None
    unanswered: bool = False

    @property
    def passed(self) -> bool:
        return self.points == self.max_points


@dataclass(frozen=True)
class QuestionResult:
    question: Question
    checks: tuple[CheckResult, ...]

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


@dataclass
class Ask:
    """Calls the learner's function, and keeps the transcript."""

    transport: Transport
    question: Question
    calls: list[Call] = field(default_factory=list)

    def __call__(self, *args):
        packed = pack(args)
        reply = self.transport(self.question.name, packed, self.question.seconds)
        call = Call(unpack(packed), reply)
        self.calls.append(call)
        problem = problem_of(call, self.question)
        if problem is not None:
            raise problem
        return deepcopy(call.value)


def evaluate(question: Question, transport: Transport, seed: int, wrong: list[Solution]) -> QuestionResult:
    """Run every check on arguments fresh from `seed`; a failed one is compared with the known mistakes."""
    findings, transcripts = [], []
    stopped = False
    for check in question.checks:
        ask = Ask(transport, question)
        transcripts.append(ask.calls)
        if stopped:
            findings.append(Finding("Not run, since an earlier call had to be stopped."))
            continue
        try:
            findings.append(check.run(ask, generator(question, check.name, seed)))
        except AnswerProblem as problem:
            findings.append(problem)
            stopped = isinstance(problem, Stopped)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
            findings.append(Finding(f"This check itself is broken ({fault}): please tell the author."))
    failed = [i for i, finding in enumerate(findings) if isinstance(finding, Finding) and transcripts[i]]
    diagnoses = diagnose(question, wrong, transcripts, failed)
    return QuestionResult(
        question,
        tuple(
            _result(check, finding, diagnoses.get(i))
            for i, (check, finding) in enumerate(zip(question.checks, findings, strict=True))
        ),
    )


def generator(question: Question, check: str, seed: int) -> np.random.Generator:
    """Each check has its own stream, so that adding one leaves the others' arguments alone."""
    return np.random.default_rng([seed, zlib.crc32(f"{question.id}/{check}".encode())])


def problem_of(call: Call, question: Question) -> AnswerProblem | None:
    """The sentence for a call that gave nothing to compare."""
    reply, kind = call.reply, call.reply["kind"]
    start = f"For {describe_arguments(call.args)} your function"
    if kind == "missing":
        return NotAnswered(reply.get("text") or f"No function named `{question.name}` is defined yet.")
    if kind == "unanswered":
        return NotAnswered(f"`{question.name}` still raises NotImplementedError: write your answer there.")
    if kind == "no function":
        return NotAnswered(f"`{question.name}` is a {reply['type']}; a function of this name is expected.")
    if kind == "time":
        limit, where = f"{question.seconds:g} s", _line(reply)
        return Stopped(f"{start} ran longer than {limit} and was stopped{where}: look for a loop that never ends.")
    if kind == "ended":
        return Stopped(f"{start} ended the Python process ({reply['text']}): let it return a value.")
    if kind == "raised":
        return AnswerProblem(f"{start} raised {describe_error(reply)}.{_where_to_find(reply, question)}")
    if isinstance(call.value, Unsupported):
        kinds = "an array, a number, a text, a tuple, a list or a dict is expected"
        return AnswerProblem(f"{start} returned {call.value.what}; {kinds}.")
    return None


def _where_to_find(reply: dict, question: Question) -> str:
    """Where a function comes from that an answer calls and that is not there."""
    for name, slug in question.brings.items():
        if reply["type"] == "NameError" and f"'{name}'" in reply["text"]:
            return f" It is a function of your own from exercise {slug}: run bring() and the cell that it offers."
    return ""


def describe_error(reply: dict) -> str:
    """The exception in words: "ValueError (shapes differ) in the line `return a @ b`"."""
    text = f" ({reply['text'].rstrip('.')})" if reply["text"] else ""
    return f"{reply['type']}{text}{_line(reply)}"


def _line(reply: dict) -> str:
    return f" in the line `{reply['line']}`" if reply.get("line") else ""


def _result(check, finding, diagnosis: Diagnosis | None) -> CheckResult:
    if finding is None:
        return CheckResult(check.name, check.points, check.points)
    if isinstance(finding, AnswerProblem):
        unanswered = isinstance(finding, NotAnswered)
        return CheckResult(check.name, 0, check.points, printable(str(finding)), unanswered=unanswered)
    return CheckResult(check.name, 0, check.points, printable(finding.message), diagnosis, finding.margin)
