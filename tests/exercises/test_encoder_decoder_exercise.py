"""The examples by hand in the tasks of exercise 08, and what its notebook gives."""

from functools import partial

import numpy as np
import torch

from tests.exercises.course_exercises import cell, course_exercise, task_of

SLUG = "08-encoder-decoder"


def right_answer(id):
    return course_exercise(SLUG).right.of(id)[0].function


def parts():
    return right_answer("model").forward.__globals__["parts"]


task = partial(task_of, SLUG)


def zero_layers(module, *names):
    """The module with the weights and biases of the named layers at 0."""
    with torch.no_grad():
        for name in names:
            for parameter in module.get_submodule(name).parameters():
                parameter.zero_()
    return module.eval()


def test_the_examples_by_hand_are_right():
    """Catches a slip in what a learner compares with."""
    x, memory = torch.randn(2, 3, 6), torch.randn(2, 5, 6)
    cross = zero_layers(right_answer("cross")(6, 2), "query")
    mean = cross.out(cross.value(memory).mean(1, keepdim=True)).expand(2, 3, 6)
    torch.testing.assert_close(cross(x, memory), mean)
    assert "the mean of `value(memory)`" in task("cross")

    block = zero_layers(right_answer("decoder")(6, 2, 9), "attention.out", "cross.out", "feed_forward.down")
    torch.testing.assert_close(block(x, memory), x)
    assert "x comes back" in task("decoder")

    assert f"gives `{right_answer('count')(5, 6, 32, 4, 64, 1)}`" in task("count")
    seen = np.tri(3, 5, 2, dtype=bool)
    assert seen[:, :3].all() and "first three columns are True" in task("cache")


def test_the_given_waves_are_those_of_the_checks():
    scope = {"torch": torch}
    exec(cell(course_exercise(SLUG).learner, "model-given"), scope)
    torch.testing.assert_close(scope["sinusoids"](7, 6), parts().sinusoids(7, 6))
