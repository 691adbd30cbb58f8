"""Functions that generate with a small model: samples by their frequencies, copies of the model, and its refusals."""

import copy

import numpy as np
import pytest
from clearcheck import WrongSolutions, equals, holds
from clearcheck.author.torch_arguments import generation_call, small_model
from clearcheck.author.torch_loops import generates_quietly, samples_follow
from inline_snapshot import snapshot

from .torch_question import asks, message_on, result_of, torch


def softmax(logits, n_new, temperature):
    powers = np.exp((logits - logits.max()) / temperature)
    return powers / powers.sum()


SAMPLERS = {
    "multinomial(softmax(logits / temperature), 1)": 1,
    "(logits / temperature - torch.empty_like(logits).exponential_().log()).argmax(-1, keepdim=True)": 1,
    "multinomial(softmax(logits), 1)": 0,
    "multinomial(softmax(logits * temperature), 1)": 0,
    "multinomial(softmax(logits / temperature)[:1], len(ids), replacement=True).T": 1,
    "multinomial(softmax(logits / temperature)[:1], 1).expand(len(ids), 1)": 0,
    "logits.argmax(-1, keepdim=True)": 0,
    "multinomial(softmax((logits / temperature).sort(descending=True).values), 1)": 0,
}


@pytest.mark.parametrize("new", SAMPLERS)
def test_samples_are_judged_by_their_frequencies(new):
    """Catches a sampler that is only right with one function and one seed, and a temperature that is forgotten."""

    def draw_args(rng):
        return generation_call(small_model(rng, 7, 4, 9), rng.integers(7, size=(1, 5)), 1, 2.5)

    made = {"torch": torch, "softmax": lambda x: x.softmax(-1), "multinomial": torch.multinomial}
    text = f"def answer(model, ids, n_new, temperature):\n    logits = model(ids)[:, -1]\n    new = {new}"
    exec(f"{text}\n    return torch.cat([ids, new], 1)", made)
    question = asks(holds("samples", 1, samples_follow(draw_args, softmax)), name="answer", how="generation")
    result = result_of(made["answer"], question)
    assert result.points == SAMPLERS[new], result.checks[0].message
    alike = "all rows were continued alike" if "[:1]" in new else "times: too"
    assert SAMPLERS[new] or alike in result.checks[0].message
    exec(f"{text}\n    return torch.cat([ids, new], 1).float()", made)
    assert message_on(made["answer"], question) == snapshot(
        "Your function returned numbers of dtype float32; integer numbers are expected."
    )
    for wrote in (-1, 7):
        exec(f"{text}\n    return torch.cat([ids, new * 0 + {wrote}], 1)", made)
        expected = f"Your function wrote the token {wrote}; the model knows the tokens 0 to 6."
        assert expected in message_on(made["answer"], question)


def test_rows_that_are_drawn_as_one_are_not_taken_for_greedy_ones():
    """Catches one random number for the whole batch told as a draw that never happens."""

    def draw_args(rng):
        return generation_call(small_model(rng, 7, 4, 9), rng.integers(7, size=(1, 5)), 1, 9.0)

    def message_for(new):
        made = {"torch": torch}
        text = "def answer(model, ids, n_new, temperature):\n    p = (model(ids)[:, -1] / temperature).softmax(-1)"
        exec(f"{text}\n    return torch.cat([ids, {new}], 1)", made)
        return message_on(made["answer"], question)

    question = asks(holds("samples", 1, samples_follow(draw_args, softmax)), name="answer", how="generation")

    for new in ("torch.multinomial(p[:1], 1).expand(len(ids), 1)", "torch.searchsorted(p.cumsum(-1), torch.rand(1))"):
        alike = new.replace("torch.rand(1)", "torch.rand(1, 1).expand(len(ids), 1).contiguous()")
        assert message_for(alike) == snapshot(
            "In 4,000 samples all rows were continued alike: draw for each row by itself."
        )
    assert "times: too" in message_for("p.argmax(-1, keepdim=True)")


@pytest.mark.parametrize(
    ("model", "points", "says"),
    [
        ("copy.deepcopy(model).eval()", 1, ""),
        ("copy.copy(model).eval()", 1, ""),
        ("copy.deepcopy(model)", 0, "called in train() mode"),
        ("copy.deepcopy(model).eval() and len", 0, "never called the model"),
    ],
)
def test_a_copy_of_the_model_is_watched_too(model, points, says):
    """Catches a copy that answers in place of the model, told as no call at all."""

    def draw_args(rng, **options):
        return generation_call(small_model(rng, 7, 4, 9), rng.integers(7, size=(1, 5)), **options)

    made = {"torch": torch, "copy": copy}
    exec(f"@torch.no_grad()\ndef answer(model, ids):\n    ({model})(ids)\n    return ids", made)
    question = asks(holds("quietly", 1, generates_quietly(draw_args)), name="answer", how="generation")
    result = result_of(made["answer"], question)
    assert result.points == points
    assert says in result.checks[0].message


def test_a_mistake_that_the_model_refuses_has_its_name_in_other_words():
    """Catches a name that hangs on the learner's own line, where the model says in figures what is wrong with a call."""

    def draw(rng):
        return [generation_call(small_model(rng, 7, 4, 9), rng.integers(7, size=(1, n))) for n in (5, 6)]

    def twice(model, ids):
        both = torch.hstack([ids, ids])
        return model(both).argmax(2)

    wrong = WrongSolutions("q")
    wrong("You hand in the ids two times.")(lambda model, ids: model(ids.repeat(1, 2)).argmax(2))
    check = equals("ids", 1, draw, lambda model, ids: model(ids).argmax(2))
    question = asks(check, name="answer", how="generation")
    told = result_of(twice, question, wrong.of("q")).checks[0]
    assert told.diagnosis and told.diagnosis.message == "You hand in the ids two times."
    thrice = result_of(lambda model, ids: model(torch.hstack(3 * [ids])).argmax(2), question, wrong.of("q"))
    assert thrice.checks[0].diagnosis is None
