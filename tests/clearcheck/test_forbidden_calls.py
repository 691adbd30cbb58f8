"""What a question forbids is noticed under every name, and allowed again afterwards."""

import linecache
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from clearcheck import equals
from clearcheck.worker.forbidden_names import ATTENTION, GRADIENTS, LAYERS, MULTI_HEAD, SOFTMAX, every_way
from clearcheck.worker.named_calls import named_in
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


@pytest.mark.parametrize(
    "line",
    [
        "F.gumbel_softmax(x)",
        "getattr(F, 'soft' + 'max')(x, -1)",
        "F.__dict__[name](x, -1)",
        "vars(F)[name](x, -1)",
        "eval(text)",
        "import helper",
        "import torch, sys",
        "import torchvision",
        "from clearformer import attention",
        "x = 1; import operator",
    ],
)
def test_a_source_that_can_make_a_name_is_watched_for_every_one(line):
    """Catches a call that goes unseen because nobody looks: every way to a function but its name."""
    assert named_in(f"import torch\n{line}\n", SOFTMAX) == SOFTMAX or "softmax" in line
    assert "torch.softmax" in named_in(f"import torch\n{line}\n", SOFTMAX)


def test_a_source_that_only_names_what_it_calls_is_watched_for_what_it_names():
    """Catches a watch over every call of an answer that cannot call what is forbidden, which takes as long as it."""
    source = "import torch.nn.functional as F  # for all\nfrom torch import nn\n\nclass A(nn.Module):\n"
    source += "    def __init__(self):\n        super().__init__()\n        self.eval()\n        re.compile('x')\n"
    assert named_in(source, SOFTMAX) == ()
    assert named_in(source + "F.log_softmax(x)", ("torch.tril", "torch.log_softmax")) == ("torch.log_softmax",)


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


TENSORS = """
import threading, sys
import torch
from torch import nn
from torch.nn import functional as F

def in_thread(function, *args):
    found = []
    worker = threading.Thread(target=lambda: found.append(function(*args)))
    worker.start()
    worker.join()
    return found[0]

def attend(x):
    return F.scaled_dot_product_attention(x, x, x)

def hidden(x):
    return getattr(F, "scaled_dot_" + "product_attention")(x, x, x)
"""


def written(body: str, source: str = TENSORS):
    """The function `answer` with this body, in a namespace as a notebook's, its source where Python finds it."""
    text = f"{source}\ndef answer(x):\n    " + body.replace("\n", "\n    ")
    name = f"<answer {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), space)
    return space["answer"]


def asks_without_attention(**options):
    check = equals("same", 1, lambda rng: [(rng.normal(size=(1, 3, 4)),)], lambda x: attend(x))
    return asks(check, name="answer", how="tensors", forbids=("torch.nn.MultiheadAttention", *ATTENTION[:1]), **options)


def attend(x):
    return (x @ x.mT / x.shape[-1] ** 0.5).softmax(-1) @ x


UNSEEN = "if x is None:\n    return"
CALLED = "`F.scaled_dot_product_attention`"
DETOURS = {
    "in a thread": ("return in_thread(hidden, x)", CALLED),
    "without the profiler": ("sys.setprofile(None)\nreturn hidden(x)", "`F.scaled_dot_product_attention`"),
    "without the profiler in vain": ("sys.setprofile(None)\nreturn (x @ x.mT / 2).softmax(-1) @ x", "`sys.setprofile`"),
    "in a branch of the source": (f"{UNSEEN} F.scaled_dot_product_attention(x, x, x)\nreturn x", CALLED),
    "in a helper's source": (f"{UNSEEN} attend(x)\nreturn x", CALLED),
    "imported in the answer": (
        f"from torch.nn.functional import scaled_dot_product_attention as other\n{UNSEEN} other(x, x, x)\nreturn x",
        CALLED,
    ),
    "as a base class": (f"{UNSEEN} Mine(4, 2)\nreturn x", "`nn.MultiheadAttention`"),
    "a larger way": ("return nn.TransformerEncoderLayer(4, 2, batch_first=True)(x)", "`nn.MultiheadAttention`"),
    "a smaller way": ("return F.multi_head_attention_forward(*given(x))[0]", "`F.multi_head_attention_forward`"),
}
GIVEN = """
class Mine(nn.MultiheadAttention):
    pass

def given(x):
    x = x.mT.reshape(-1, 1, 4)
    w = torch.ones(12, 4)
    return x, x, x, 4, 2, w, None, None, None, False, 0.0, torch.ones(4, 4), None
"""


@pytest.mark.parametrize("detour", DETOURS)
def test_a_detour_to_what_is_forbidden_is_told(detour):
    """Catches a call in another thread, one that nobody saw since the watch was taken away, and one way for another."""
    body, named = DETOURS[detour]
    assert f"called {named}, which" in message_on(written(body, TENSORS + GIVEN), asks_without_attention())


@pytest.mark.parametrize(
    "body",
    [
        "F = type('F', (), {'scaled_dot_product_attention': lambda *args: None})\nF.scaled_dot_product_attention()\n",
        "# F.scaled_dot_product_attention(x, x, x)\n",
        "'F.scaled_dot_product_attention(x, x, x)'\n",
        "assert F.scaled_dot_product_attention is not None\n",
        "in_thread(lambda: None)\n",
    ],
)
def test_a_name_alone_is_no_call(body):
    """Catches a learner who loses points for a comment, a name of her own, or a thread."""
    answer = written(body + "return (x @ x.mT / 2).softmax(-1) @ x")
    assert result_of(answer, asks_without_attention()).points == 1


def test_every_way_to_the_same_is_forbidden_with_one():
    """Catches two exercises of which one lets pass what the other refuses."""
    assert {*ATTENTION, *MULTI_HEAD, *LAYERS} <= set(every_way(ATTENTION[:1]))
    assert {*MULTI_HEAD, *LAYERS} <= set(every_way(MULTI_HEAD[1:2])) and not set(ATTENTION) & set(every_way(MULTI_HEAD))
    assert not {*ATTENTION, *MULTI_HEAD} & set(every_way(LAYERS[:1]))
    assert {*SOFTMAX, *ATTENTION, *LAYERS} <= set(every_way(SOFTMAX[:1]))
    assert not set(SOFTMAX) & set(every_way(ATTENTION))
    assert set(every_way(GRADIENTS[:1])) == set(GRADIENTS) and every_way(("a.b",)) == ("a.b",)


IN_NUMPY = "and its arguments are arrays: this task is to be done in NumPy, without PyTorch"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("return torch.tensor(x).softmax(-1).numpy()", "torch."),
        ("return F.softmax(torch.from_numpy(x), dim=-1).numpy()", "torch.softmax"),
        ("return in_thread(lambda: torch.softmax(torch.from_numpy(x), -1).numpy())", "torch."),
    ],
)
def test_with_arrays_an_answer_is_written_in_numpy(body, named):
    """Catches full points for PyTorch's own softmax where a softmax is to be written by hand."""

    def softmax(x):
        exponentials = np.exp(x - x.max(-1, keepdims=True))
        return exponentials / exponentials.sum(-1, keepdims=True)

    question = asks(equals("rows", 1, lambda rng: [(rng.normal(size=(2, 3)),)], softmax), name="answer", how="function")
    told = message_on(written(body), question)
    assert f"your function called `{named}" in told and IN_NUMPY in told
    assert result_of(softmax, question).points == 1
    numbers = asks(equals("twice", 1, lambda rng: [(3,)], lambda n: 2 * n), name="answer", how="function")
    assert result_of(written("return int(torch.tensor(2 * x))"), numbers).points == 1


@pytest.mark.parametrize(
    "body", ["tracemalloc.reset_peak()", "reset()", "tracemalloc.stop()", "tracemalloc.clear_traces()"]
)
def test_an_answer_that_disturbs_how_its_memory_is_measured_is_told(body):
    """Catches a whole table that was forgotten before its size is read."""
    answer = written(f"table = [0] * 10**6\n{body}\nreturn x", "import tracemalloc\nreset = tracemalloc.reset_peak")
    check = equals("same", 1, lambda rng: [(3,)], lambda x: x)
    question = asks(check, name="answer", how="function", measured=True)
    told = message_on(answer, question)
    assert "your function called `tracemalloc." in told and "disturbs how its memory is measured" in told
    assert not tracemalloc.is_tracing()
