"""The arguments with which an answer failed, for a learner who wants to call it by hand."""

from clearcheck.grading.describe import BY_HOW, describe, describe_argument, is_plan
from clearcheck.grading.evaluate import QuestionResult


class Case(tuple):
    """Arguments, to be unpacked into a call; shown, they tell what they are."""

    told: str

    def __new__(cls, args: tuple, told: str):
        case = super().__new__(cls, args)
        case.told = told
        return case

    def __repr__(self) -> str:
        return self.told


def case_of(result: QuestionResult) -> Case:
    """Of the first check that failed, else of the first of all; as tensors where the answer gets tensors."""
    check = next((check for check in result.checks if not check.passed), result.checks[0])
    question, name = result.question, result.question.name
    if check.args is None:
        return Case((), f"The answer to {question.id} was not called: {check.message}")
    args, call = _by_hand(check.args, question.how, name, f'case("{question.id}")')
    came = "passes" if check.passed else "is the first that fails"
    lines = [
        f'The check "{check.name}" {came}. Its arguments:',
        *(f"  {told}" for told in _told(check.args, question.how)),
    ]
    return Case(args, "\n".join([*lines, f"Try: {call}"]))


def _told(args: tuple, how: str) -> list[str]:
    """What the arguments are, one a line."""
    array = BY_HOW[how].array
    if how == "module":
        (plan,) = args
        sizes = ", ".join(f"{name}={value}" for name, value in plan["sizes"].items())
        inputs = ", ".join(describe(value, array) for value in plan["calls"][0]) if plan["calls"] else ""
        return [line for line in (sizes, inputs) if line]
    given = args[0]["arguments"] if how in ("training", "generation") or is_plan(args) else args
    return [describe_argument(value, array) for value in given]


def _by_hand(args: tuple, how: str, name: str, case: str) -> tuple[tuple, str]:
    """What to unpack, and the call that does it."""
    if how == "function":
        return args, f"{name}(*{case})"
    import torch

    def tensors(value):
        if isinstance(value, tuple | list):
            return type(value)(map(tensors, value))
        if isinstance(value, dict):
            return {key: tensors(entry) for key, entry in value.items()}
        return torch.from_numpy(value) if hasattr(value, "__array_interface__") and value.ndim else value

    if how == "tensors" and not is_plan(args):
        return tensors(args), f"{name}(*{case})"
    (plan,) = args
    if how == "module":
        inputs = tensors(plan["calls"][0]) if plan["calls"] else ()
        return (plan["sizes"], inputs), f"sizes, inputs = {case}; {name}(**sizes)(*inputs)"
    start = "a model of your own, " if how == "generation" else ""
    return tensors(tuple(plan["arguments"])), f"{name}({start}*{case})"
