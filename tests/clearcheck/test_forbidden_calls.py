"""What a question forbids is noticed under every name, and allowed again afterwards."""

from dataclasses import replace

import numpy as np
import pytest
from clearcheck import equals
from inline_snapshot import snapshot

from .torch_question import Straight, asks, message_on, nn, result_of, torch


@pytest.mark.parametrize(
    "body",
    [
        "nn.MultiheadAttention(4, 2)",
        "from torch.nn.modules.activation import MultiheadAttention as A; A(4, 2)",
        "import functools; functools.partial(getattr(nn, 'Multihead' + 'Attention'), 4)(2)",
        "nn.TransformerEncoderLayer(4, 2, batch_first=True)(x)",
        "BUILT(x, x, x)",
        "try: nn.MultiheadAttention(4, 2)(None)\n    except Exception: pass",
    ],
)
def test_what_is_forbidden_is_told_under_any_name(body):
    """Catches an alias, a detour or a swallowed exception that hides the call of what is to be written."""
    made = {"torch": torch, "nn": nn, "BUILT": nn.MultiheadAttention(4, 2)}
    exec(f"def answer(x):\n    {body}\n    return x", made)
    question = asks(
        equals("same", 1, lambda rng: [(rng.normal(size=(3, 2, 4)),)], lambda x: x),
        name="answer",
        how="tensors",
        forbids=("torch.nn.MultiheadAttention",),
    )
    says = "your function called `nn.MultiheadAttention`, which is what this task asks you to write: build it from its"
    assert says in message_on(made["answer"], question)
    assert result_of(made["answer"], replace(question, forbids=())).points == 1
    assert result_of(lambda x: nn.Identity()(x), question).points == 1


@pytest.mark.parametrize("spelling", ["torch.softmax(x, -1)", "F.softmax(x, -1)", "x.softmax(-1)", "first(x, -1)"])
def test_a_forbidden_operation_is_told_as_function_and_as_method(spelling):
    """Catches the one spelling of an operation that a list of names forgets; `map` calls it from C."""
    made = {"torch": torch, "F": nn.functional, "first": lambda x, d: next(map(torch.softmax, [x], [d]))}
    exec(f"def answer(x):\n    return {spelling}", made)
    cases = lambda rng: [(rng.normal(size=(3, 5)),)]  # noqa: E731
    check = equals("weights", 1, cases, lambda x: x.softmax(-1))
    question = asks(check, name="answer", how="tensors", forbids=("torch.softmax", "nowhere.softmax"))
    assert "your function called `torch.softmax`" in message_on(made["answer"], question)
    question = replace(question, forbids=("torch.nn.functional.softmax",))
    assert "your function called `F.softmax`" in message_on(made["answer"], question)
    assert result_of(lambda x: x.exp() / x.exp().sum(-1, keepdim=True), question).points == 1


def test_a_call_of_what_is_forbidden_is_told_though_the_answer_raises_later():
    """Catches an exception of the learner's that comes before the word on what was called."""

    def answer(x):
        nn.MultiheadAttention(4, 2)
        raise ValueError("afterwards")

    check = equals("same", 1, lambda rng: [(rng.normal(size=(3, 2)),)], lambda x: x)
    question = asks(check, name="answer", how="tensors", forbids=("torch.nn.MultiheadAttention",))
    assert "your function called `nn.MultiheadAttention`" in message_on(answer, question)


def test_an_answer_that_raises_without_calling_it_is_told_its_own_error():
    """Catches an exception that is swallowed where something is forbidden."""
    question = asks(
        equals("same", 1, lambda rng: [(rng.normal(size=(3, 2)),)], lambda x: x),
        name="answer",
        how="tensors",
        forbids=("torch.nn.MultiheadAttention",),
    )

    def answer(x):
        raise ZeroDivisionError("by nothing")

    assert "ZeroDivisionError" in message_on(answer, question) and "nn.MultiheadAttention" not in message_on(
        answer, question
    )


def test_a_numpy_question_may_forbid_too():
    """Catches a rule that only questions about PyTorch can have, and one that is not lifted afterwards."""
    cases = lambda rng: [(rng.normal(size=(4, 4)),)]  # noqa: E731
    check = equals("inverse", 1, cases, np.linalg.inv)
    question = asks(check, name="inverse", how="function", forbids=("numpy.linalg.inv",))
    assert message_on(lambda a: np.linalg.inv(a), question) == snapshot(
        "For an argument of shape (4, 4) your function called `np.linalg.inv`, which is what this task asks you to write: build it from its parts."
    )
    assert result_of(lambda a: np.linalg.solve(a, np.eye(4)), question).points == 1
    assert np.linalg.inv(np.eye(2)).shape == (2, 2)


def test_a_name_that_is_not_there_cannot_be_forbidden():
    """Catches an author's slip that forbids nothing."""
    question = asks(name="Straight", forbids=("torch.nn.MultiHeadAttention",))
    assert "MultiHeadAttention" in message_on(Straight, question)
