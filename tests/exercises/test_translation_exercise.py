"""What is special to exercise 11: examples in words, a museum piece whose loss falls, and models that are searched."""

import json
import re
from functools import partial
from math import exp, log

import numpy as np
import pytest
from inline_snapshot import snapshot

from tests.exercises.course_exercises import EXERCISES, course_exercise, in_one_breath, task_of
from tests.exercises.test_learner_notebook import matrices

SLUG = "11-translation"
GIVEN = ("museum-piece", "museum-numbers", "museum-model", "museum-train", "museum-write", "prompt-given", "beam-given")


def right_answer(id):
    return course_exercise(SLUG).right.of(id)[0].function


task = partial(task_of, SLUG)


def test_a_loop_that_fails_is_told_where_to_look():
    """Catches advice for another fault: a batch of short lessons alone is no matter of the learning rate."""
    where_to_look = right_answer("four").__globals__["where_to_look"]
    shares = [(True, 0.1, 0.0), (False, 0.1, 0.0), (True, 0.9, 0.1), (True, 0.1, 0.9), (False, 0.9, 0.9)]
    assert [where_to_look(*came) for came in shares] == snapshot(
        [
            "It knows *four* and hardly any number that was in no lesson: which lessons are in a batch?",
            "It has hardly learned to translate: look at what is read, what is asked for and the learning rate.",
            "Short numbers come out right and long ones do not: how many long lessons are in a batch, and is padding "
            "left out of the loss?",
            "Long numbers come out right and short ones do not: how many short lessons are in a batch?",
            "Most others come out right: how often was the lesson *four* in a batch?",
        ]
    )


def test_the_examples_by_hand_are_right():
    """Catches a slip in the numbers that a learner compares with."""
    came = right_answer("batch")([[5, 3], [4]], [[7], [8, 6, 6]], 0, 1, 2)
    assert [table.tolist() for table in came] == [table.tolist() for table in matrices(SLUG, "batch")]

    [table] = matrices(SLUG, "masks")
    assert (
        right_answer("masks")(np.array([[4, 1]]), np.array([[0, 7, 2]]), 2)[1][0].tolist()
        == table.astype(bool).tolist()
    )

    _, gradient = right_answer("loss")(np.zeros((1, 1, 3)), np.array([[0]]), 2, 0.0)
    assert np.allclose(gradient, [[[-2 / 3, 1 / 3, 1 / 3]]]) and "(−2/3, 1/3, 1/3)" in task("loss")
    for smoothing in (0.0, 0.4):
        assert right_answer("loss")(np.ones((1, 1, 3)), np.array([[0]]), 2, smoothing)[0] == pytest.approx(log(3))

    _, bleu = right_answer("bleu")([[7, 7, 7, 8]], [[7, 9, 8, 6, 5]], 1)
    assert bleu == pytest.approx(2 / 4 * exp(1 - 5 / 4)) and f"together {bleu:.2f}" in task("bleu")


def test_the_garden_path_by_hand_is_right():
    """Catches a slip in the example of the search."""
    rows = [[1e-9, 0.6, 0.4, 1e-9], [0.3, 0.3, 1e-9, 0.4], [1e-9, 1e-9, 1e-9, 1.0], [0.25] * 4]
    p = {"last": np.log(rows), "earlier": np.zeros((4, 4))}
    for n_beams, text, share in ((1, [1, 3], 0.24), (2, [2, 3], 0.4)):
        found, score = right_answer("beam")(p, 0, 3, 2, n_beams, 0.0)
        assert found.tolist() == text and score == pytest.approx(log(share), abs=1e-6)
        assert in_one_breath(task("beam"), str(text), f"ln {share:g} = −{abs(score):.2f}")


IMPORTS = (
    "import numpy as np",
    "import torch",
    "import torch.nn.functional as F",
    "from cleartape.gradients import over_tree, value_and_gradients",
    "from torch import nn",
)


def test_every_draw_finds_models_that_tell_the_slips_apart(monkeypatch):
    """Catches a slip so rare that some seed finds no model for it, which would break the check for a whole class."""
    scope, asked = right_answer("beam").__globals__, set()
    search = scope["telling_from"]
    monkeypatch.setitem(scope, "telling_from", lambda *found: asked.add(found[1:]) or search(*found))
    scope["normalised"](np.random.default_rng(0))
    assert len(asked) == 10
    for slips, settings in asked:
        nearly_one = slips == scope["NEARLY_ONE"]
        for number in scope["AT_ONCE"] if nearly_one else range(2):
            search(number, slips, settings, tries=150 if nearly_one else 8_000)


def notebook():
    """The author's notebook without its calls of the grader: answers and given cells, run."""
    cells = json.loads((EXERCISES / "authoring" / SLUG / "source.ipynb").read_text(encoding="utf-8"))["cells"]
    scope = {}
    exec("\n".join(IMPORTS), scope)
    for entry in cells:
        if entry["id"] in GIVEN or entry["id"].endswith("-answer"):
            exec("".join(entry["source"]), scope)
    return scope


def test_the_museum_piece_is_the_known_mistake():
    """Catches a museum piece that was edited without its wrong solution, by which a learner is told about it."""
    check = course_exercise(SLUG).exercise.question("museum").checks[0]
    arguments = check.cases(np.random.default_rng(2))[0]
    known = next(entry for entry in course_exercise(SLUG).wrong.of("museum") if entry.name == "museum_piece").function
    came = notebook()["museum_scores"](*arguments)
    np.testing.assert_allclose(came, known(*arguments), rtol=0, atol=1e-12)
    assert not np.allclose(came, right_answer("museum")(*arguments), rtol=0, atol=0.1)


def test_the_loss_of_both_falls_and_only_one_translates():
    """Catches a museum that gives itself away by its loss, and a repaired model that the experiment does not train."""
    scope, right_shares = notebook(), []
    for name in ("museum_scores", "translator_scores"):
        p, losses = scope["train"](scope[name])
        assert losses[0] > 2 and losses[-1] < 0.02
        wanted = [" ".join(scope["in_words"](n)[1]) for n in scope["NEW"]]
        written = scope["write"](scope[name], p, scope["NEW"])
        right_shares.append(np.mean([a == b for a, b in zip(written, wanted, strict=True)]))
    assert right_shares[0] == 0 and right_shares[1] > 0.8


def test_new_numbers_are_new_and_every_word_is_known():
    scope = notebook()
    assert not set(scope["NEW"]) & set(scope["KNOWN"]) and len(scope["NEW"]) > 10
    for side in (0, 1):
        known = {word for n in scope["KNOWN"] for word in scope["in_words"](n)[side]}
        assert {word for n in scope["NEW"] for word in scope["in_words"](n)[side]} <= known


def test_each_repair_of_the_museum_is_needed():
    """Catches a museum piece in which one of the three mistakes changes nothing that is checked."""
    names = {"future_still_seen", "source_still_unread", "padding_still_shares"}
    assert names <= {entry.name for entry in course_exercise(SLUG).wrong.of("museum")}
    assert re.search(r"wrong in \*\*three\*\* places", task("museum"))
