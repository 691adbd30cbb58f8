"""The examples by hand in the tasks of exercise 07, and its museum piece."""

from functools import partial

import numpy as np
import pytest
import torch

from tests.exercises.course_exercises import answer_of, cell, course_exercise, in_one_breath, task_of

SLUG = "07-residual-norm"
TOKEN = torch.tensor([[[1.0, 3.0]]])
NORM = (torch.ones(2), torch.zeros(2))


answer = partial(answer_of, SLUG)
task = partial(task_of, SLUG)


def test_one_token_with_a_large_epsilon():
    norm = answer("layer-norm", 2, 3.0)
    norm.load_state_dict({"weight": torch.tensor([10.0, 100]), "bias": torch.tensor([1.0, 2])})
    assert norm(TOKEN).flatten().tolist() == [-4, 52] and "the result is (−4, 52)" in task("layer-norm")


def test_two_tokens_through_three_norms():
    x = torch.tensor([[[1.0, 3], [7, 5]]])
    for kind, one, two in (
        ("LayerNorm", "(−1, 1)", "(1, −1)"),
        ("RMSNorm", "(0.447, 1.342)", "(1.151, 0.822)"),
        ("BatchNorm", "(−1, −1)", "(1, 1)"),
    ):
        tokens = answer("norms", x, kind, 1e-9)[0]
        expected = np.array([eval(token.replace("−", "-")) for token in (one, two)])
        np.testing.assert_allclose(tokens, expected, atol=5e-4)
        assert f"{one} and {two}" in task("norms")


@pytest.mark.parametrize(("form", "expected"), [("pre-norm", "(0, 5)"), ("post-norm", "(−1, 1)")])
def test_one_token_through_two_blocks(form, expected):
    numbers = eval(expected.replace("−", "-"))
    np.testing.assert_allclose(answer("block", TOKEN, NORM, NORM, form).flatten(), numbers, atol=1e-4)
    assert expected in task("block")


def test_a_block_that_adds_a_constant():
    block = answer("module", 6, 2, 5, 0.25)
    for name, value in block.named_parameters():
        torch.nn.init.constant_(value, 3.0 if name == "attention.out.bias" else 0.0)
    x = torch.randn(2, 50, 6)
    assert set((block(x) - x).round().flatten().tolist()) == {0.0, 4.0}
    assert set((block.eval()(x) - x).round().flatten().tolist()) == {3.0}
    assert in_one_breath(task("module"), "adds 0 or 4", "`eval()` mode 3")


def test_two_parts_of_width_one():
    found = answer("depth", np.array([[[1.0]], [[0.5]]]), np.array([2.0]))
    measured, predicted = found["measured with"], found["predicted with"]
    assert f"measured ({measured[0]:.0f}, {measured[1]:.1f}, 1) with" in task("depth")
    assert f"predicted ({predicted[0]:.3f}, {predicted[1]:.3f}, 1) with" in task("depth")
    assert all(found[f"{kind} without"].tolist() == [0.5, 0.5, 1] for kind in ("measured", "predicted"))


def test_the_gradient_of_one_token():
    found = answer("backward", np.array([[1.0, 3.0]]), np.ones(2), np.array([[1.0, 0.0]]), 3)
    assert [array.ravel().tolist() for array in found] == [[0.1875, -0.1875], [-0.5, 0], [1, 0]]
    assert in_one_breath(task("backward"), "X is (0.1875, −0.1875)", "γ (−0.5, 0)", "β (1, 0)")


def museum_scope() -> dict:
    scope = {"torch": torch, "F": torch.nn.functional, "print": lambda line: scope["lines"].append(line), "lines": []}
    exec(cell(course_exercise(SLUG).learner, "museum-piece"), scope)
    exec(cell(course_exercise(SLUG).learner, "museum-experiments"), scope)
    return scope


def test_the_museum_piece_is_the_known_mistake():
    """Catches a museum piece that was edited without its wrong solution, by which a learner is told about it."""
    x, W = torch.randn(4, 7, 5), torch.randn(5, 5)
    known = next(entry for entry in course_exercise(SLUG).wrong.of("museum") if entry.name == "museum_piece")
    torch.testing.assert_close(museum_scope()["museum_layer"](x, W), known.function(x, W))


def nonzero_experiments(scope, layer) -> dict[str, bool]:
    """Which experiments print something else than 0; an error, where the layer raises one, is nothing that is 0."""
    scope["lines"].clear()
    try:
        with np.errstate(all="ignore"):
            scope["experiments"](layer)
    except RuntimeError:
        return {"error": True}
    return {line.split(":")[0].strip(): float(line.split(":")[1]) != 0 for line in scope["lines"]}


def test_the_experiments_find_what_the_task_says():
    """One line prints 0 for the museum piece, all for a right layer and for some wrong ones."""
    scope = museum_scope()
    found = nonzero_experiments(scope, scope["museum_layer"])
    assert [name for name, fails in found.items() if not fails] == ["company"]
    wrong = {entry.name: entry.function for entry in course_exercise(SLUG).wrong.of("museum")}
    assert not any(nonzero_experiments(scope, course_exercise(SLUG).right.of("museum")[0].function).values())
    for repaired in ("residual_left", "count_left", "axis_left"):
        assert any(nonzero_experiments(scope, wrong[repaired]).values())
    passing = [name for name, layer in wrong.items() if not any(nonzero_experiments(scope, layer).values())]
    assert len(passing) >= 3, passing


def test_the_prediction_fails_where_the_parts_agree():
    """Catches an experiment that does not show what its question asks for."""
    scope, seen = {"np": np}, {}
    exec(cell(course_exercise(SLUG).learner, "depth-experiments"), scope)

    def sizes(parts, top):
        found = answer("depth", parts, top)
        ratio = found["measured with"][0] / found["predicted with"][0]
        seen[len(seen)] = ratio
        return found

    scope["twelve_parts"](sizes)
    unrelated, growing, shrinking = seen.values()
    assert 0.7 < unrelated < 1.4 and growing > 10 and shrinking < 0.01


def test_the_gradient_check_of_the_notebook_agrees_with_a_right_answer():
    """Catches a helper of the notebook that measures something else than the task asks for."""
    lines: list[str] = []
    scope = {"np": np, "torch": torch, "F": torch.nn.functional, "print": lines.append}
    exec(cell(course_exercise(SLUG).learner, "backward-check-yourself"), scope)
    scope["gradient_check"](course_exercise(SLUG).right.of("backward")[0].function)
    for line in lines[1:]:
        _, measured, predicted = line.split()
        assert abs(float(measured) - float(predicted)) < 2e-4
    assert len(lines) == 4
