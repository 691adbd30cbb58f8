"""What is special to exercise 04: examples in words, and the museum's experiments."""

import math
import re

import pytest
import torch

from tests.exercises.course_exercises import cell, course_exercise, in_one_breath

SLUG = "04-multi-head"
# "some wrong layers pass all three"
CLAIMED_TO_PASS = {"mask_not_low_enough", "mask_subtracted", "hundred_for_infinity"}


def right_answer(id):
    return course_exercise(SLUG).right.of(id)[0].function


def task(id):
    return cell(course_exercise(SLUG).learner, f"{id}-task")


def test_the_table_of_question_1_is_cut_and_joined_as_shown():
    """Catches a slip in the example that the first two questions share."""
    printed = re.findall(r"\\begin\{bmatrix\}(.*?)\\end\{bmatrix\}", task("split"), re.S)
    rows = [[[float(entry) for entry in row.split("&")] for row in one.split(r"\\")] for one in printed]
    table, *heads = map(torch.tensor, rows)
    cut = right_answer("split")(table[None], 2)
    assert torch.equal(cut[0], torch.stack(heads))
    assert torch.equal(right_answer("join")(cut)[0], table)


def test_the_other_examples_by_hand_are_right():
    """Catches a slip in the numbers that a learner compares with."""
    rows, out = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 5.0], [0.0, 6.0]])
    both = right_answer("low-rank")(rows, torch.eye(2), rows, out, 2)
    printed = [matrix for pair in both for matrix in pair.int().tolist()]
    shown = re.findall(r"\\begin\{bmatrix\}(.*?)\\end\{bmatrix\}", task("low-rank"), re.S)
    assert printed == [[[int(entry) for entry in row.split("&")] for row in one.split(r"\\")] for one in shown]

    counts = [right_answer("counts")(what, 4, 3, 2, 2, 2) for what in ("parameters", "flops", "scores", "cached")]
    assert in_one_breath(task("counts"), *map("{} {}".format, counts, ("parameters", "FLOPs", "scores", "cached")))

    offered = torch.tensor([10.0, 20.0]).reshape(1, 2, 1, 1)
    handed = right_answer("groups")(torch.ones(1, 4, 1, 3), torch.ones(1, 2, 1, 3), offered)
    assert handed.flatten().tolist() == [10, 10, 20, 20] and "10, 10, 20 and 20" in task("groups")


def test_a_layer_without_queries_averages_as_the_task_says():
    """Catches a slip in the example of the question on the module, and a right answer that is none."""
    x = torch.randn(2, 5, 6)
    layer = right_answer("layer")(6, 2)
    torch.nn.init.zeros_(layer.query.weight)
    torch.nn.init.zeros_(layer.query.bias)
    values, causal = layer.value(x), torch.ones(5, 5, dtype=torch.bool).tril()
    torch.testing.assert_close(layer(x), layer.out(values.mean(dim=1, keepdim=True)).expand(-1, 5, -1))
    torch.testing.assert_close(layer(x, causal)[:, 0], layer.out(values[:, 0]))


@pytest.fixture(scope="module")
def experiment_numbers():
    """The three numbers of the experiments, by the name of the layer."""
    lines = []
    given = {"math": math, "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "print": lines.append}
    exec(cell(course_exercise(SLUG).learner, "museum-piece"), given)
    exec(cell(course_exercise(SLUG).learner, "museum-experiments"), given)

    def numbers(layer):
        lines.clear()
        given["experiments"](layer)
        return [float(line.split(":")[1]) for line in lines]

    it = course_exercise(SLUG)
    layers = {entry.name: entry.function for entry in [*it.right.of("museum"), *it.wrong.of("museum")]}
    return {name: numbers(layer) for name, layer in (layers | {"museum": given["MuseumAttention"]}).items()}


def test_the_experiments_show_what_the_task_says(experiment_numbers):
    """Catches an experiment that a right layer fails, and one that no longer shows its slip."""
    assert [value == 0 for value in experiment_numbers["museum"]] == [False, True, False]
    assert experiment_numbers["museum"] == experiment_numbers["AsExhibited"]
    all_zero = {name for name, values in experiment_numbers.items() if not any(values)}
    assert all_zero == CLAIMED_TO_PASS | {entry.name for entry in course_exercise(SLUG).right.of("museum")}
    assert experiment_numbers["only_split_repaired"][1] > 0 and experiment_numbers["only_join_repaired"][1] > 0
