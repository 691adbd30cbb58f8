"""Calls of a learner's functions on tensors: nothing stays changed, and errors are told by name and shape."""

import random
import re
import sys
import warnings

import numpy as np
import pytest
from clearcheck import WrongSolutions, equals
from clearcheck.author.torch_arguments import (
    generation_call,
    small_encoder_decoder,
    small_logits,
    small_model,
    small_scores,
)
from clearcheck.worker.call_request import CallRequest
from clearcheck.worker.guarded_call import call_named
from clearcheck.worker.small_model import make_model
from clearcheck.worker.values import GivenFunction, pack
from inline_snapshot import snapshot

from .torch_question import STRAIGHT, SmallModel, Straight, asks, draw_args, message_on, module, result_of, torch


def change_global_state(x):
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    torch.manual_seed(7)
    np.random.seed(7)
    random.seed(7)
    torch.set_num_threads(2)
    torch.set_default_device("meta")
    return x


def world():
    from torch.optim import optimizer

    draws = torch.rand(3).tolist(), np.random.rand(3).tolist(), [random.random() for _ in range(3)]
    settings = torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_num_threads(), torch.get_default_device()
    of_optimizers = len(optimizer._global_optimizer_pre_hooks), len(optimizer._global_optimizer_post_hooks)
    hooks = sys.getprofile(), torch._C._len_torch_function_stack(), of_optimizers
    return draws, settings, hooks


@pytest.mark.parametrize("then", ["", "raise ValueError", "while True: pass"])
def test_nothing_stays_changed_in_the_learners_notebook(then):
    """Catches a check that leaves the generators, gradients, dtype, device or threads other than they were."""

    def seed_generators():
        torch.manual_seed(3)
        np.random.seed(3)
        random.seed(3)

    made = {"change_global_state": change_global_state}
    exec(f"def answer(x):\n    change_global_state(x)\n    {then or 'return x'}", made)
    question = asks(
        equals("same", 1, lambda rng: [(rng.normal(size=(3, 2)),)], lambda x: x),
        name="answer",
        how="tensors",
        seconds=1.0,
        forbids=("torch.nn.Linear", "torch.softmax"),
    )
    seed_generators()
    before = world()
    seed_generators()
    result = result_of(made["answer"], question)
    assert world() == before and result.points == 0
    assert then or "switched gradients off" in result.checks[0].message


@pytest.mark.parametrize("forbids", [(), ("torch.nn.Softmax",)])
def test_a_warning_stands_at_the_line_of_the_learner(forbids):
    """Catches a warning that names a file of the grader, through which a watched call of torch goes."""
    text = "def answer(x):\n    y = x + 1\n    return torch.nn.functional.softmax(y)  # without dim"
    space = {"torch": torch, "__name__": "__main__"}
    exec(compile(text, "<cell 7>", "exec"), space)
    asked = CallRequest("answer", 5.0, "tensors", forbids)
    show = warnings.showwarning
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax") as told:
        call_named(space, asked, pack((np.ones((2, 3, 2), np.float32),)))
    assert [(one.filename, one.lineno) for one in told] == [("<cell 7>", 3)]
    assert warnings.showwarning is show


def test_the_line_is_found_under_a_decorator():
    """Catches a message without its line for a function that stands under `@torch.no_grad()`."""
    check = equals("same", 1, lambda rng: [(rng.normal(size=3),)], lambda x: x)
    message = message_on(fail_under_decorator, asks(check, name="decorated", how="tensors"))
    assert re.search(r"ZeroDivisionError.* `return 1 / 0`", message)


@torch.no_grad()
def fail_under_decorator(x):
    return 1 / 0


def test_a_gradient_has_the_name_that_the_task_gives_its_parameter():
    """Catches a shared weight whose gradient comes under the name by which the module knew it first."""
    gradients = equals("gradients", 2, lambda rng: [draw_args(rng, gives="gradients")], Straight)
    question = asks(STRAIGHT, gradients)
    assert result_of(module("self.outer = nn.Linear(d_in, d_out); self.inner = self.outer"), question).points == 5
    other = module("self.outer = nn.Linear(d_in, d_out); self.inner = nn.Linear(d_in, d_out)")
    assert result_of(other, question).points == 0


def product_of_rows(q, k):
    return q @ k


def product_in_other_words(one, other):
    return torch.matmul(one, other)


def another_product(q, k):
    return k @ q.mT.mT @ q


def test_a_failing_product_of_tensors_is_told_by_its_shapes():
    """Catches a crash that is known by its spelling alone, or one product told for another."""
    cases = lambda rng: [(rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 4, 5)))]  # noqa: E731
    check = equals("scores", 1, cases, lambda q, k: q @ k.mT)
    question, wrong = asks(check, name="scores", how="tensors"), WrongSolutions("q")
    wrong("The keys are not transposed.")(product_of_rows)
    told = result_of(product_in_other_words, question, wrong.of("q")).checks[0].diagnosis
    assert told.message == "The keys are not transposed."
    other = result_of(another_product, question, wrong.of("q")).checks[0].diagnosis
    assert other is None or other.message != told.message


def test_the_small_model_is_the_same_in_numpy():
    """Catches expected probabilities of another model than the one that the learner's function got."""
    rng = np.random.default_rng(2)
    weights = {name: value.astype(np.float32) for name, value in small_model(rng, 7, 4, 9).items()}
    ids = rng.integers(7, size=(3, 9))
    came = SmallModel(**weights).eval()(torch.from_numpy(ids)).numpy()
    assert np.allclose(came, small_logits(weights, ids), atol=1e-5)
    turned = SmallModel(**weights).eval()(torch.from_numpy(ids[:, ::-1].copy())).numpy()
    assert not np.allclose(came[:, -1], turned[:, -1], atol=0.1)


def test_the_small_encoder_decoder_is_the_same_in_numpy_and_with_a_cache():
    """Catches expected ids of another model, padding that is read, and a cache that gives other scores."""
    rng = np.random.default_rng(2)
    arrays = small_encoder_decoder(rng, n_source=6, n_target=7, width=4, longest=9)
    arrays = {name: value.astype(np.float32) for name, value in arrays.items()}
    source, target = rng.integers(1, 6, size=(3, 5)), rng.integers(7, size=(3, 8))
    source[0, 3:] = 0
    expected = small_scores(arrays, source, target)
    model, ids = make_model(arrays).eval(), torch.from_numpy(target)
    memory, mask = model.encode(torch.from_numpy(source))
    cache: dict = {}
    steps = [model.decode(piece, memory, mask, cache) for piece in ids.split([1, 4, 1, 2], dim=1)]
    for came in (model(torch.from_numpy(source), ids), torch.cat(steps, dim=1)):
        assert np.allclose(came.numpy(), expected, atol=1e-4)
    shorter = torch.from_numpy(source[:1, :3])
    assert np.allclose(model(shorter, ids[:1]).numpy(), expected[:1], atol=1e-4)
    record = model.record()
    assert record["encoded"] == [[3, 5], [3, 5], [1, 3]] and record["shapes"][:2] == [[3, 1], [3, 4]]
    with pytest.raises(ValueError, match="10 tokens, but only 9 positions; of them 8 are in the cache"):
        model.decode(ids[:, :2], memory, mask, cache)


def test_a_given_function_is_one_of_torch_where_tensors_are():
    """Catches NumPy's function handed in with tensors, which gives no gradient."""
    cases = lambda rng: [(rng.normal(size=3), GivenFunction("tanh"))]  # noqa: E731
    question = asks(equals("values", 1, cases, lambda x, part: part(x)), name="answer", how="tensors")
    assert message_on(lambda x, part: x.tanh() if part is torch.tanh else x, question) == ""


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        (
            "ids[:, [0] * 10]",
            snapshot(
                "For the arguments (the model, a tensor of shape (1, 5)) your function raised ValueError (the model looks at 1 to 9 tokens, and it got 10)."
            ),
        ),
        (
            "ids[0]",
            snapshot(
                "For the arguments (the model, a tensor of shape (1, 5)) your function raised ValueError (the model takes whole numbers of shape (batch, tokens), and it got int64 of shape (5,))."
            ),
        ),
        (
            "ids.float()",
            snapshot(
                "For the arguments (the model, a tensor of shape (1, 5)) your function raised ValueError (the model takes whole numbers of shape (batch, tokens), and it got float32 of shape (1, 5))."
            ),
        ),
        (
            "ids.tolist()",
            snapshot(
                "For the arguments (the model, a tensor of shape (1, 5)) your function raised ValueError (the model takes whole numbers of shape (batch, tokens), and it got a list)."
            ),
        ),
        (
            "ids + 7",
            snapshot(
                "For the arguments (the model, a tensor of shape (1, 5)) your function raised ValueError (the model knows the ids 0 to 6, and it got others)."
            ),
        ),
    ],
)
def test_the_small_model_says_what_it_takes(ids, says):
    """Catches an index error out of an embedding where a sentence belongs."""
    made: dict = {}
    exec(f"def answer(model, ids):\n    return model({ids})", made)
    cases = lambda rng: [generation_call(small_model(rng, 7, 4, 9), rng.integers(7, size=(1, 5)))]  # noqa: E731
    question = asks(equals("ids", 1, cases, lambda model, ids: ids), name="answer", how="generation")
    assert message_on(made["answer"], question) == says


def test_a_question_about_pytorch_names_a_kind_and_a_limit_that_exist():
    """Catches an author's slip that shows first in a learner's notebook, and training that takes minutes."""
    with pytest.raises(ValueError) as caught:
        asks(how="modul")
    assert str(caught.value) == snapshot(
        "Question \"q\": how='modul' is not one of ('function', 'tensors', 'module', 'training', 'generation')."
    )
    with pytest.raises(ValueError, match=r"seconds=30 .*at most 20"):
        asks(how="training", seconds=30)
