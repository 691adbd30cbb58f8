"""What an author writes of a question: its text, its points and its checks."""

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from clearcheck.grading.compare import Finding, change_finding, compare, kind_finding
from clearcheck.grading.describe import BY_HOW
from clearcheck.grading.inputs import Inputs
from clearcheck.grading.replies import CLOSE, CLOSE_IN_FLOAT32
from clearcheck.worker.call_request import HOWS, CallRequest
from clearcheck.worker.guarded_call import call_named
from clearcheck.worker.limits import CALL_SECONDS, TRAINING_SECONDS
from clearcheck.worker.values import canonical, pack

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
STUB = "Write your answer here."  # what an answer that is missing raises NotImplementedError with
DTYPES = (None, "float", "int", "bool")


class AnswerProblem(Exception):
    """The learner's function could not be called, or gave nothing that can be compared; the text is one sentence."""


class NotAnswered(AnswerProblem):
    """The answer is still missing."""


class CallStopped(AnswerProblem):
    """The call ran too long or ended its process: the question is asked nothing more."""


@dataclass(frozen=True)
class Equals:
    """The learner's function gives what the reference gives, on fresh arguments."""

    name: str
    points: int
    cases: Callable
    reference: Callable
    atol: float | None
    dtype: str | None
    parts: tuple = ()

    def run(self, ask, rng: np.random.Generator) -> Finding | None:
        """Ask every case, so that a known mistake can be told from all of them; the first failure is the message."""
        every = list(self._findings(ask, rng))
        findings = {i: finding for i, finding in enumerate(every) if finding is not None}
        if not findings:
            return None
        margins = [finding.margin for finding in findings.values()]
        known = [margin for margin in margins if margin is not None]
        first = min(findings)
        told = findings[first].message
        if all(finding and finding.slight for finding in every):
            told += " In every case it is as little as a step in float32 loses."
        return Finding(told, max(known) if len(known) == len(margins) else None, first)

    def example(self, rng: np.random.Generator, asked: CallRequest):
        """What the reference gives for the first case."""
        return self.results(rng, asked)[0][1]

    def results(self, rng: np.random.Generator, asked: CallRequest) -> list[tuple[tuple, object]]:
        """The arguments of each case, and what the reference gives for them."""
        return _cases_with_results(self, json.dumps(rng.bit_generator.state), asked)

    def finding(self, came, expected, args: tuple, how: str) -> Finding | None:
        """What is wrong with a result."""
        atol = self.atol if self.atol is not None else CLOSE if how == "function" else CLOSE_IN_FLOAT32
        return compare(came, expected, args, atol=atol, dtype=self.dtype, how=how, parts=self.parts)

    def _findings(self, ask, rng) -> Iterator[Finding | None]:
        how = ask.question.how
        for args, expected in self.results(rng, ask.question.call_request):
            try:
                came = ask(*args, like=expected)
            except (NotAnswered, CallStopped):
                raise
            except AnswerProblem as problem:
                yield Finding(str(problem))
                continue
            finding = self.finding(came, expected, args, how)
            change = change_finding(ask.calls[-1].changed, how)
            both = finding and change and replace(finding, message=f"{finding.message} {change.message}")
            yield both or finding or change


@dataclass(frozen=True)
class Holds:
    """The learner's function has a property; `test` says what is wrong in one sentence, or as a finding, or None."""

    name: str
    points: int
    test: Callable
    drawn_as: str

    def run(self, ask, rng: np.random.Generator) -> Finding | None:
        try:
            sentence = self.test(ask, rng)
        except AnswerProblem as problem:
            if isinstance(problem, NotAnswered | CallStopped):
                raise
            return Finding(str(problem))
        except Exception as error:
            words, kind = BY_HOW[ask.question.how], type(error).__name__
            what = f"{words.subject} {words.returned}"
            return _kind(ask) or Finding(f"This check could not work with what {what} ({kind}: {error}).")
        if sentence is None and not ask.calls:
            return Finding("This check never called your function: please tell the author of the exercise.")
        if sentence is None:
            return change_finding(sorted({place for call in ask.calls for place in call.changed}), ask.question.how)
        return _kind(ask) or (sentence if isinstance(sentence, Finding) else Finding(str(sentence)))


def _kind(ask) -> Finding | None:
    """What a wrong kind of result would make of every other sentence: it is told first, as `Equals` does."""
    how = ask.question.how
    findings = (kind_finding(call.value, call.args, how) for call in ask.calls)
    return next((finding for finding in findings if finding), None)


def equals(name: str, points: int, cases: Callable, reference: Callable, atol=None, dtype=None, parts=()) -> Equals:
    """A check against a reference.

    `cases(rng)` gives a list of argument tuples, `reference(*args)` the expected result; for a question about PyTorch
    the reference is what the learner writes, a class too, and is driven as theirs is. The tolerance is `atol` (1e-9,
    and 1e-5 for PyTorch) times the largest expected magnitude, or times 1 where that is smaller. `dtype` asks for
    "float", "int" or "bool" arrays; without it the reference's own kind is asked for.
    Where the reference gives a whole number, 36.0 is refused; where it gives an array, a list is taken for one, and the
    other way round (`grading.coercion`).
    Of a dict or a tuple only `parts` are compared, keys or places, so that they earn their points whatever the others
    are; a known mistake is told from them, too.
    """
    _check_points("equals", name, points)
    if dtype not in DTYPES:
        raise ValueError(f'equals("{name}"): dtype={dtype!r} is not one of {DTYPES}.')
    if not isinstance(parts, tuple):
        raise ValueError(f'equals("{name}"): parts={parts!r} should be a tuple of keys or places: parts=({parts!r},).')
    return Equals(name, points, cases, reference, atol, dtype, parts)


def holds(name: str, points: int, test: Callable, drawn_as: str = "") -> Holds:
    """A check of a property: `test(ask, rng)` gives None when it holds, else one sentence.

    `drawn_as` names another check of the question whose random numbers it gets, so that a training of the same
    arguments is run once for both.
    """
    _check_points("holds", name, points)
    return Holds(name, points, test, drawn_as)


@dataclass(frozen=True)
class Question:
    """One task of an exercise; `name` is the function that the learner defines, one call of which may compute for
    `seconds`.

    `how` says what is asked for: a "function" on arrays or on "tensors", an nn.Module ("module"), a loop ("training")
    or a way to write with a language model ("generation"); the arguments of the last three are those of
    `author.torch_arguments`. `forbids` lists what may not be called, as "torch.nn.MultiheadAttention" where that is to
    be written.
    `leans_on` names the questions of the exercise whose functions an answer calls: whether those have passed is said
    first, and the proof never mixes mistakes of both. `brings` maps functions of earlier exercises that an answer may
    call to their slugs. `inputs` says what its arguments are.
    With `measured` a check can ask each call how many bytes the answer "held" at once.
    """

    id: str
    title: str
    name: str
    minutes: int
    difficulty: int
    checks: tuple[Equals | Holds, ...]
    hints: tuple[str, ...] = ()
    section: str = ""
    seconds: float = CALL_SECONDS
    leans_on: tuple[str, ...] = ()
    brings: dict[str, str] = field(default_factory=dict)
    inputs: Inputs | None = None
    how: str = "function"
    forbids: tuple[str, ...] = ()
    measured: bool = False

    def __post_init__(self):
        if not self.name.isidentifier():
            raise ValueError(f'Question "{self.id}": name={self.name!r} is not a Python name.')
        if self.difficulty not in (1, 2, 3):
            raise ValueError(f'Question "{self.id}": difficulty={self.difficulty!r} must be 1, 2 or 3.')
        if self.how not in HOWS:
            raise ValueError(f'Question "{self.id}": how={self.how!r} is not one of {HOWS}.')
        if self.how != "function" and self.seconds > TRAINING_SECONDS:
            raise ValueError(f'Question "{self.id}": seconds={self.seconds!r} must be at most {TRAINING_SECONDS:g}.')
        check_distinct(f'Question "{self.id}"', "check names", [check.name for check in self.checks])
        names = {check.name for check in self.checks}
        for other in (check.drawn_as for check in self.checks if isinstance(check, Holds) and check.drawn_as):
            if other not in names:
                raise ValueError(f'Question "{self.id}": drawn_as={other!r} names none of its checks.')

    @property
    def points(self) -> int:
        return sum(check.points for check in self.checks)

    @property
    def call_request(self) -> CallRequest:
        """What goes with the arguments to where the learner's code is."""
        return CallRequest(self.name, self.seconds, self.how, self.forbids, self.measured)


@lru_cache(maxsize=512)
def _cases_with_results(check: Equals, state: str, asked: CallRequest) -> list[tuple[tuple, object]]:
    """Arguments and expected results: kept, since a seed gives every submission the same ones."""
    rng = np.random.default_rng()
    rng.bit_generator.state = json.loads(state)
    sent = map(asked.arguments_to_send, _argument_tuples(check, rng))
    return [(args, _expected_result(check, asked, args)) for args in sent]


def _expected_result(check: Equals, asked: CallRequest, args: tuple):
    """What the reference gives; one about PyTorch is driven as an answer is, but may call what it likes."""
    if asked.how == "function":
        return canonical(check.reference(*deepcopy(args)))
    reply = call_named({asked.name: check.reference}, replace(asked, forbids=()), pack(args))
    if reply["kind"] != "value":
        raise ValueError(f"the reference gave no result: {reply}")
    return reply["value"]


def _argument_tuples(check: Equals, rng) -> list[tuple]:
    cases = list(check.cases(rng))
    if not cases or not all(isinstance(args, tuple) for args in cases):
        raise TypeError(f'equals("{check.name}"): cases(rng) must give a non-empty list of argument tuples.')
    return cases


def _check_points(kind: str, name: str, points: int):
    if not isinstance(points, int) or isinstance(points, bool) or points < 1:
        raise ValueError(f'{kind}("{name}"): points={points!r} must be a whole number of at least 1.')


def check_distinct(owner: str, what: str, names: list[str]):
    if not names:
        raise ValueError(f"{owner} needs {what}: none came.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{owner}: {what} must differ, {twice} came more than once.")
