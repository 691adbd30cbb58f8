"""The examples by hand in the tasks of exercise 08, and what its notebook gives."""

import re
import runpy
from functools import partial

import pytest
import torch

from tests.exercises.course_exercises import EXERCISES, cell, course_exercise, in_one_breath, task_of

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
    for seen in (5, 2):
        mean = cross.out(cross.value(memory[:, :seen]).mean(1, keepdim=True)).expand(2, 3, 6)
        torch.testing.assert_close(cross(x, memory, torch.arange(5) < seen), mean)
    assert in_one_breath(task("cross"), "the mean of `value(source)`", "its mask shows")

    block = zero_layers(right_answer("decoder")(6, 2, 9), "attention.out", "cross.out", "feed_forward.down")
    torch.testing.assert_close(block(x, memory), x)
    assert "x comes back" in task("decoder")

    assert f"gives `{right_answer('count')(8, 8, 1, 32, 4, 64)}`" in task("count")
    row = [int(id) for id in re.search(r"row of `targets` is ((\d )+\d)", task("learn"))[1].split()]
    string = [int(id) for id in re.search(r"for the string ((\d )+\d)", task("learn"))[1].split()]
    assert row == [parts().START, *string[::-1], parts().END]


def test_the_given_parts_are_those_of_the_checks():
    """Catches an embedding or a mask in the notebook that the checks, or the chapter's file, compute otherwise."""
    scope = {"torch": torch, "nn": torch.nn}
    for given in ("decoder-given", "model-given"):
        exec(cell(course_exercise(SLUG).learner, given), scope)
    x, ids = torch.randn(2, 5, 6), torch.randint(9, (2, 7))
    chapter = runpy.run_path(str(EXERCISES.parent / "chapters" / "transformer.py"), run_name="chapter")
    for own in (vars(parts()), chapter):
        assert torch.equal(scope["causal"](x), own["causal"](x))
        assert [scope[name] for name in ("PAD", "START", "END")] == [own[name] for name in ("PAD", "START", "END")]
        embedding, other = scope["Embedding"](9, 6), own["Embedding"](9, 6)
        other.load_state_dict(embedding.state_dict())
        torch.testing.assert_close(embedding(ids), other(ids))


def test_the_right_transformer_is_that_of_the_chapter():
    """Catches a second family of classes: other names, sizes or masks, or other outputs of the same weights."""
    chapter = runpy.run_path(str(EXERCISES.parent / "chapters" / "transformer.py"), run_name="chapter")
    theirs = chapter["Transformer"](9, 8, 2, 6, 2, 11).eval()
    source, target = torch.randint(1, 9, (2, 7)), torch.randint(1, 8, (2, 5))
    source[0, 4:] = chapter["PAD"]
    for right in course_exercise(SLUG).right.of("model"):
        own = right.function(9, 8, 2, 6, 2, 11).eval()
        own.load_state_dict(theirs.state_dict())
        torch.testing.assert_close(own(source, target), theirs(source, target), rtol=0, atol=1e-5)
        torch.testing.assert_close(own.encode(source)[0], theirs.encode(source)[0], rtol=0, atol=1e-5)
        assert torch.equal(own.encode(source)[1], theirs.encode(source)[1])
    dropping = theirs.decoder[0], right_answer("decoder")(6, 2, 11)
    assert {name for name, _ in dropping[0].named_parameters()} == {name for name, _ in dropping[1].named_parameters()}


@pytest.mark.parametrize("right", range(3))
def test_the_stand_in_is_written_by_every_right_answer(right):
    """Catches a stand-in on which a right answer fails, or that a whole text and a cache do as well as one token."""
    lines: list = []
    scope = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "PAD": 0, "END": 2}
    scope["print"] = lambda *line: lines.append(line)
    scope["write"] = lambda model, source: model.decode(source, *model.encode(source))
    for part in ("write-try", "write-try-run"):
        exec(cell(course_exercise(SLUG).learner, part), scope)
    lines.clear()
    scope["experiments"](course_exercise(SLUG).right.of("write")[right].function)
    (_, rows), (_, encoded, _, *shapes) = lines
    assert [row[: row.index(2) + 1] for row in rows] == [[6, 5, 4, 3, 2], [3, 7, 2]]
    assert encoded == 1 and shapes == 5 * [[2, 1]]
