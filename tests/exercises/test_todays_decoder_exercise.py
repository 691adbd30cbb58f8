"""What is special to exercise 16: examples in words, computed with right answers."""

import math

import numpy as np
import pytest
import torch
from clearcheck.author.edits import rename_definition
from clearcheck.grading.evaluate import evaluate
from clearcheck.worker.guarded_call import call_named

from tests.exercises.course_exercises import cell, course_exercise

SLUG = "16-todays-decoder"


def right_answer(id):
    return course_exercise(SLUG).right.of(id)[0].function


def task(id):
    return cell(course_exercise(SLUG).learner, f"{id}-task")


def test_the_turn_is_as_the_task_says():
    """Catches a slip in the base, the number or the turned token that a learner compares with."""
    token = np.array([[1.0, 0, 0, 0]])
    _, one = right_answer("rescale")(token, np.array([1]), 1, 4)
    turned, two = right_answer("rescale")(token, np.array([1]), 2, 4)
    assert math.isclose(one, 800 * math.pi)
    assert f"800 π ≈ {one:.2f}" in task("rescale") and f"≈ {two:.2f}" in task("rescale")
    assert "({:.3f}, {:.0f}, {:.3f}, {:.0f})".format(*turned[0]) in task("rescale")


def test_the_pass_is_as_the_task_says():
    """Catches a slip in the laws of one guess and of two."""
    p, draft = np.array([[0.5, 0.3, 0.2]] * 2), np.array([[0.2, 0.2, 0.6]])
    kept, replacement, lengths = right_answer("speculate")(p, draft)
    np.testing.assert_allclose(kept, [0.6])
    np.testing.assert_allclose(replacement, [[0.75, 0.25, 0]], atol=1e-12)
    np.testing.assert_allclose(lengths, [0.4, 0.6])
    half = np.array([[0.5, 0.3, 0.2], [1.0, 0, 0], [1, 0, 0]]), np.array([[0.2, 0.2, 0.6], [0.5, 0.5, 0]])
    np.testing.assert_allclose(right_answer("speculate")(*half)[2], [0.4, 0.3, 0.3])
    assert all(part in task("speculate") for part in ("(0.6)", "(0.75, 0.25, 0)", "(0.4, 0.6)", "(0.4, 0.3, 0.3)"))


def test_three_calls_without_queries_average_as_the_task_says():
    torch.manual_seed(0)
    layer, x = right_answer("latent")(6, 2, 3, 2), torch.randn(2, 3, 6)
    torch.nn.init.zeros_(layer.query.weight)
    outputs = [layer(x[:, n : n + 1]) for n in range(3)]
    torch.testing.assert_close(outputs[2], layer.out(layer.value(layer.latent(x)).mean(dim=1, keepdim=True)))


def test_the_router_is_as_the_task_says():
    logits, says, b = np.array([[math.log(3), 0]]), np.array([[[10.0], [100.0]]]), np.array([-0.5, 0])
    y, new = right_answer("experts")(logits, says, b, 1, 0.1)
    np.testing.assert_allclose(y, [[100]])
    np.testing.assert_allclose(new, [-0.4, -0.1])
    y, new = right_answer("experts")(logits, says, b, 2, 0.1)
    np.testing.assert_allclose(y, [[46]])
    np.testing.assert_allclose(new, b)
    assert "the token gets 100" in task("experts") and "= 46" in task("experts") and "(−0.4, −0.1)" in task("experts")


def failed_messages(id, text):
    """The sentences of the checks that an answer fails."""
    given: dict = {"np": np, "torch": torch, "nn": torch.nn}
    exec(text, given)
    graded = evaluate(course_exercise(SLUG).exercise.question(id), lambda *asked: call_named(given, *asked), 0, [])
    return [check.message for check in graded.checks if not check.passed]


@pytest.mark.parametrize("kept", ["x", "torch.cat([new, new], 2)", "new.repeat(1, 1, 3)"])
def test_what_a_cache_may_have_is_room_and_not_more_of_each_token(kept):
    """Catches room that doubles taken for an excuse to keep a token's input, or its vectors twice."""
    room = next(entry for entry in course_exercise(SLUG).right.of("latent") if entry.name == "HeadByHead")
    text = rename_definition(room.source, room.name, "LatentAttention")
    assert failed_messages("latent", text) == []
    more = text.replace(
        "old, self.length =", f"self.__dict__.setdefault('more', []).append({kept})\n        old, self.length ="
    )
    assert more != text and ["With each token" in told for told in failed_messages("latent", more)] == [True]


def test_the_selection_is_as_the_task_says():
    """Catches a slip in the example with one token that may be read, with two, and with equal scores alone."""
    ones, v = np.ones((3, 1)), np.array([[10.0], [20], [60]])
    args = np.zeros((3, 1)), ones, v, ones[:, :, None]
    keys = np.array([[2.0], [1], [0]])
    found = [right_answer("selected")(*args, keys, ones, top) for top in (1, 2)]
    for (y, read), outputs, numbers in zip(found, ("10, 10, 10", "10, 15, 15"), ("3, 0, 0", "3, 2, 0"), strict=True):
        assert ", ".join(f"{it:g}" for it in y[:, 0]) == outputs and ", ".join(map(str, read)) == numbers
        assert outputs in task("selected") and numbers in task("selected")
    y, read = right_answer("selected")(*args, -ones, ones, 1)
    np.testing.assert_allclose(y, v)
    assert read.tolist() == [1, 1, 1]
