"""What is special to exercise 08: functions that come from before, and a model that is built of them."""

from itertools import combinations

import numpy as np
import pytest
from clearcheck.bring import find
from clearcheck.tape import value_and_gradients

from tests.exercises.authored import EXERCISES, authored, cases, cell, comparisons

SLUG = "08-encoder-decoder"


def right(id):
    return authored(SLUG).right.of(id)[0].function


def checks_module():
    return vars(__import__("sys").modules[authored(SLUG).exercise.questions[1].checks[0].reference.__module__])


def task(id):
    return " ".join(cell(authored(SLUG).learner, f"{id}-task").split())


def test_the_examples_by_hand_are_right():
    """Catches a slip in the numbers that a learner compares with."""
    v = np.array([1.0, 3, 8]).reshape(1, 1, 3, 1)
    outputs = right("mask")(np.zeros((1, 1, 3, 2)), np.zeros((1, 1, 3, 2)), v, np.tri(3, dtype=bool))
    assert outputs.ravel().tolist() == [1, 2, 4] and "the outputs are 1, 2 and 4" in task("mask")

    norm, eye = (np.ones(2), np.zeros(2)), np.eye(2)
    x, z = np.array([[[1.0, 5], [2, 0]]]), np.array([[[6.0, 0], [0, 6], [0, 0]]])
    added = right("cross")(x, z, norm, (0 * eye, eye, eye, eye), 1, False) - x
    assert np.allclose(added, 2) and "both targets get (2, 2) added" in task("cross")

    p = {"E": np.array([[0.0, 1], [0, 0]]), "blocks": [], "norm": norm}
    assert np.allclose(right("encoder")(p, np.array([[1]]), 1), 0) and "normalised to (0, 0)" in task("encoder")

    p, sources, targets, H = checks_module()["pairs_and_model"](np.random.default_rng(1))
    p["decoder"]["head"] = np.zeros((6, 6))
    loss, _ = right("learn")(p, sources, targets % 6, H)
    assert f"ln 6 = {loss:.2f}" in task("learn")

    seen = np.tri(3, 5, 2, dtype=bool)
    assert seen[:, :3].all() and "all of the first three columns are True" in task("cache")


def test_the_museum_piece_is_the_known_mistake():
    """Catches a museum piece that was edited without its wrong solution, by which a learner is told about it."""
    parts = checks_module()["parts"]
    scope = {"np": np, "value_and_gradients": value_and_gradients, "encoder": parts.encoder, "decoder": parts.decoder}
    exec(cell(authored(SLUG).learner, "learn-museum"), scope)
    arguments = checks_module()["pairs_and_model"](np.random.default_rng(2))
    known = next(entry for entry in authored(SLUG).wrong.of("learn") if entry.name == "museum_piece").function
    assert scope["museum_loss"](*arguments)[0] == pytest.approx(known(*arguments)[0], rel=1e-12)
    assert known(*arguments)[0] != pytest.approx(right("learn")(*arguments)[0], rel=0.01)


def test_sizes_of_the_model_differ():
    """Catches inputs on which a transposed table or a wrong cut into heads fits by chance."""
    question = authored(SLUG).exercise.question
    for check in comparisons(question("cross")):
        for x, z, _, _, H, _ in cases(check):
            found = [x.shape[0], x.shape[1], x.shape[2] // H, *([] if z is None else [z.shape[1]])]
            assert H not in found
            assert all(max(pair) % min(pair) for pair in combinations([n for n in found if n > 1], 2))
    for check in comparisons(question("decoder")):
        for p, ids, memory, _ in cases(check):
            found = [*ids.shape, memory.shape[1], memory.shape[2], p["head"].shape[1]]
            assert len({n for n in found if n > 1}) == len([n for n in found if n > 1])


BRINGS = authored(SLUG).exercise.brings


def answers(name):
    slug = BRINGS[name]
    question = next(question for question in authored(slug).exercise.questions if question.name == name)
    return [(name, entry) for entry in authored(slug).right.of(question.id)]


@pytest.mark.parametrize(
    ("name", "solution"),
    [pair for name in BRINGS for pair in answers(name)],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_every_right_answer_from_before_can_be_trained(name, solution, monkeypatch):
    """Catches a function that a learner has written rightly, and that the assembled model or the tape refuses."""
    module = checks_module()
    arguments = module["pairs_and_model"](np.random.default_rng(3))
    expected = module["gradients_reference"](*arguments)
    monkeypatch.setattr(module["parts"], name, solution.function)
    loss, gradients = module["gradients_reference"](*arguments)
    assert loss == pytest.approx(expected[0], rel=1e-12)
    pairs = zip(module["leaves"](gradients), module["leaves"](expected[1]), strict=True)
    assert all(np.allclose(came, wanted, rtol=0, atol=1e-12) for came, wanted in pairs)


def test_the_functions_are_brought_from_the_real_notebooks(tmp_path):
    """Catches an exercise that renames a function which this one asks for: solved notebooks give all six."""
    for slug in set(BRINGS.values()):
        source = (EXERCISES / "authoring" / slug / "source.ipynb").read_text(encoding="utf-8")
        (tmp_path / f"{slug}.ipynb").write_text(source, encoding="utf-8")
    found = find(BRINGS, tmp_path)
    assert found.brought == list(BRINGS), found.sentences
    exec(found.cell, {})


def test_untouched_notebooks_give_nothing():
    assert find(BRINGS, EXERCISES).brought == []
