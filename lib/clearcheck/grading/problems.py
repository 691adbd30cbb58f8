"""What a learner is told of a call that gave nothing to compare."""

import re
from collections.abc import Mapping

from clearcheck.grading.describe import BY_HOW, instead_of, situation
from clearcheck.grading.limits_told import in_the_line, limit_told, result_limit_told, time_told
from clearcheck.grading.question import STUB, AnswerProblem, CallStopped, NotAnswered, Question
from clearcheck.grading.replies import Call
from clearcheck.worker.values import UnsupportedValue

SHOWN = 60  # characters of a name
NO_PYTHON = ("SyntaxError", "IndentationError", "TabError")
NO_NAME = re.compile(r"name '(\w+)' is not defined")
NO_MODULE = re.compile(r"No module named '(\w+)")
OF_THE_COURSE = ("numpy", "torch", "matplotlib", "clearformer", "clearbook", "cleartape", "clearcheck")
SLIPS = {  # what PyTorch says of a slip that every module may hold, and what to do about it
    "before Module.__init__() call": "Let the constructor begin with `super().__init__()`.",
    "Boolean value of Tensor with more than one value is ambiguous": (
        "A tensor has no single truth: ask `is None` of an argument that may be left out, and write ~, & and | between "
        "tensors in place of not, and, or."
    ),
}
SIGNS = {  # of a syntax error's text, and what to type for them
    "‘": "Type a straight quotation mark, ', in its place.",
    "’": "Type a straight quotation mark, ', in its place.",
    "“": 'Type a straight quotation mark, ", in its place.',
    "”": 'Type a straight quotation mark, ", in its place.',
    "U+00A0": "Delete the blank in that line that is none, and type it anew.",
    "tabs and spaces": "Indent every line of the cell by spaces alone.",
}


def problem_of(call: Call, question: Question) -> AnswerProblem | None:
    """The sentence for a call that gave nothing to compare."""
    reply, kind = call.reply, call.reply["kind"]
    if kind == "value" and not isinstance(call.value, UnsupportedValue):
        return None
    words = BY_HOW[question.how]
    start = f"{situation(call.args, question.how)} {words.subject}"
    if kind == "missing":
        return NotAnswered(reply.get("text") or f"No {words.defined} named `{question.name}` is defined yet.")
    if kind == "unanswered" and reply.get("text") not in ("", None, STUB):
        return AnswerProblem(f"{start} raised {describe_error(reply)}.")
    if kind == "unanswered" and reply.get("by") not in ("", None, question.name):
        called = f"`{reply['by'][:SHOWN]}`, which still raises NotImplementedError"
        return AnswerProblem(f"`{question.name}` calls {called}: write that answer first.")
    if kind == "unanswered":
        return NotAnswered(f"`{question.name}` still raises NotImplementedError: write your answer there.")
    if kind == "no function":
        return NotAnswered(f"`{question.name}` is a {reply['type']}; a {words.defined} of this name is expected.")
    if kind == "time":
        return CallStopped(f"{start} {time_told(reply, question.seconds)}.")
    if kind == "ended":
        advice = reply.get("advice") or limit_told(reply)
        return CallStopped(f"{start} ended the Python process ({reply['text']}){_advice_or(advice)}")
    if kind == "late":
        spent = reply.get("text") or "had used up its time"
        return CallStopped(f"{start} was not called or did not end, since the whole notebook {spent}.")
    if kind == "raised":
        advice = reply.get("advice") or advice_on(reply) or _where_to_find(reply, question) or limit_told(reply)
        return AnswerProblem(" ".join(filter(None, (f"{start} raised {describe_error(reply)}.", advice))))
    if kind == "misfit":
        return AnswerProblem(f"{start} {reply['text']}.")
    if isinstance(call.value, UnsupportedValue):
        kinds = f"{words.array}, a number, a text, a tuple, a list or a dict is expected"
        return AnswerProblem(
            f"{start} {words.returned} {call.value.what}; {instead_of(call.value, kinds, question.how)}."
            f"{result_limit_told(call.value.what)}"
        )
    return None


def _advice_or(advice: str) -> str:
    return f". {advice}" if advice else ": let it return a value."


def _where_to_find(reply: dict, question: Question) -> str:
    """Where a function or a class comes from that an answer calls and that is not there."""
    for name, slug in question.brings.items():
        if reply["type"] == "NameError" and f"'{name}'" in reply["text"]:
            return f"It is your own, from exercise {slug}: run bring() and the cell that it offers."
    return ""


def advice_on(reply: dict) -> str:
    """What to do about an error that says nothing of the idea: a missing module, a sign that Python does not take, what
    PyTorch asks of every module.
    """
    missing = NO_MODULE.match(reply["text"]) if reply["type"] == "ModuleNotFoundError" else None
    if missing:
        return _without(missing[1])
    if reply["type"] in NO_PYTHON:
        return next((advice for sign, advice in SIGNS.items() if sign in reply["text"]), "")
    return next((advice for text, advice in SLIPS.items() if text in reply["text"]), "")


def advice_on_import(reply: dict, lost: Mapping[str, str]) -> str:
    """What to do about a name that is not defined since its import failed: `lost` has the module of each such name."""
    unknown = NO_NAME.match(reply["text"]) if reply["kind"] == "raised" and reply["type"] == "NameError" else None
    if unknown is None or unknown[1] not in lost:
        return ""
    return f"`{unknown[1]}` comes from an import that failed. {_without(lost[unknown[1]].split('.')[0])}"


def _without(module: str) -> str:
    if module in OF_THE_COURSE:
        return f"The course needs `{module}`, and it is not installed here: set the course up anew."
    return f"`{module}` is not installed here: the question can be answered without it, so leave its import out."


def describe_error(reply: dict) -> str:
    """The exception in words: "ValueError (shapes differ) in the line `return a @ b`"."""
    text = f" ({reply['text'].rstrip('.')})" if reply["text"] else ""
    return f"{reply['type']}{text}{in_the_line(reply)}"
