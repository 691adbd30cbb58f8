"""What is special to exercise 03: examples in words, and its experiments."""

import math

import pytest
import torch

from tests.exercises.course_exercises import cell, course_exercise, in_one_breath, task_of

SLUG = "03-self-attention"
CLAIMED_TO_PASS = {"scale_removed", "queries_and_keys_swapped", "root_of_token_width"}


def right_answers(id):
    return [entry.function for entry in course_exercise(SLUG).right.of(id)]


def run(*ids, **given):
    """The names after these cells of the learner's notebook, and what they print, line by line."""
    lines = []
    scope = {"math": math, "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "print": lines.append, **given}
    for id in ids:
        exec(cell(course_exercise(SLUG).learner, id), scope)
    return scope, lines


def test_the_undivided_weights_of_the_example_are_right():
    """Catches a slip in the second pair of weights that the task on scaled attention names."""
    q, k = torch.tensor([[2.0, 0, 0, 0]]), torch.tensor([[2.0, 0, 0, 0], [0, 2, 0, 0]])
    for divided, start in ((True, "the weights"), (False, "Not divided they are")):
        weights = right_answers("scaling")[0](q, k, torch.eye(2), divided)[0]
        assert in_one_breath(task_of(SLUG, "scaling"), start, *(f"{weight:.3f}" for weight in weights.tolist()))


def test_the_experiment_on_the_division_shows_what_it_is_for():
    """Catches an experiment whose columns have changed places, or that compares with something else."""
    for attend in right_answers("scaling"):
        _, (_, *rows) = run("scaling-experiment", attend=attend)
        off, divided, sharp = zip(*([float(number) for number in row.split()[1:]] for row in rows), strict=True)
        assert max(off) < 1e-5 and max(divided) < 0.5 < sharp[-1]
        assert list(sharp) == sorted(sharp)


def test_the_example_of_the_module_is_right():
    """Catches a slip in the outputs that a learner compares with, with a mask and without."""
    for kind in right_answers("module"):
        layer = kind(2, 1)
        rows = {"query": [2.0, 0.0], "key": [0.0, 1.0], "value": [0.0, 20.0]}
        layer.load_state_dict({f"{name}.weight": torch.tensor([row]) for name, row in rows.items()})
        with torch.no_grad():
            free = layer(torch.eye(2)[None]).flatten().tolist()
            causal = layer(torch.eye(2)[None], torch.ones(2, 2).tril().bool()).flatten().tolist()
        told = [f"{number:.2f}".removesuffix(".00") for number in (*free, *causal)]
        assert in_one_breath(task_of(SLUG, "module"), *told[:2], "causal mask", *told[2:])


@pytest.fixture(scope="module")
def museum_numbers():
    """The three numbers of the museum's experiments, by the name of the function."""
    scope, lines = run("equivariance-museum", "equivariance-experiments")

    def numbers(function):
        lines.clear()
        scope["experiments"](function)
        return [float(line.split(":")[1]) for line in lines]

    it = course_exercise(SLUG)
    every = [*it.right.of("equivariance"), *it.wrong.of("equivariance")]
    named = {entry.name: entry.function for entry in every} | {"museum": scope["museum_attention"]}
    return {name: numbers(function) for name, function in named.items()}


def test_the_experiments_show_what_the_task_says(museum_numbers):
    """Catches an experiment that a right function fails, and one that no longer shows its slip."""
    assert all(museum_numbers["museum"]) and museum_numbers["museum"] == museum_numbers["as_exhibited"]
    passing = {name for name, values in museum_numbers.items() if not any(values)}
    assert {entry.name for entry in course_exercise(SLUG).right.of("equivariance")} | CLAIMED_TO_PASS <= passing
    shown = {"tokens_still_mixed": 0, "softmax_still_wrong": 1, "scale_still_wrong": 2}
    assert all(museum_numbers[name][place] > 0 for name, place in shown.items())
