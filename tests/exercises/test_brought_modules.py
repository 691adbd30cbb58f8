"""What a learner brings along from exercise 04 to 08: each notebook takes the modules that those before have made."""

import json

import pytest
import torch
from clearcheck.author.loading import load_exercise
from clearcheck.learner.reuse import find, given_in

from tests.exercises.course_exercises import EXERCISES, cell, course_exercise

BLOCK, TRANSFORMER, LANGUAGE_MODEL = "07-residual-norm", "08-encoder-decoder", "09-language-model"
SIZES = (19, 13, 2, 12, 3, 17)  # of a Transformer: vocabularies, layers, width, heads, hidden width


def brings(slug):
    return course_exercise(slug).exercise.brings


def parts():
    """The module in which exercise 08 builds its Transformer of FeedForward and Block."""
    return course_exercise(TRANSFORMER).right.of("model")[0].function.forward.__globals__["parts"]


def answers():
    """Every right answer of an earlier exercise that is brought along."""
    wanted = brings(BLOCK) | brings(TRANSFORMER)
    asked = {n: next(q for q in course_exercise(slug).exercise.questions if q.name == n) for n, slug in wanted.items()}
    return [
        (name, entry)
        for name, question in asked.items()
        for entry in course_exercise(wanted[name]).right.of(question.id)
    ]


@pytest.mark.parametrize(("name", "solution"), answers(), ids=lambda value: getattr(value, "name", value))
def test_every_right_answer_from_before_fits_in(name, solution, monkeypatch):
    """Catches a module that a learner has written rightly, and that the assembled model computes with otherwise."""
    module = parts()
    expected = module.Transformer(*SIZES).eval()
    source, target = torch.randint(1, 19, (2, 7)), torch.randint(1, 13, (2, 5))
    source[0, 4:] = module.PAD
    if name == "Block":
        monkeypatch.setattr(module, name, solution.function)
    else:  # a part of the blocks of the encoder; the decoder has the attention of exercise 08
        monkeypatch.setitem(module.Block.__init__.__globals__, name, solution.function)
    came = module.Transformer(*SIZES).eval()
    came.load_state_dict(expected.state_dict())
    torch.testing.assert_close(came(source, target), expected(source, target), rtol=0, atol=1e-4)


def write_solved_notebook(folder, slug, *more):
    """The author's notebook of an exercise as a learner would have saved it, with cells of their own behind it."""
    content = json.loads((EXERCISES / "authoring" / slug / "source.ipynb").read_text(encoding="utf-8"))
    content["cells"] += [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in more]
    (folder / f"{slug}.ipynb").write_text(json.dumps(content), encoding="utf-8")


def test_the_modules_come_from_notebook_to_notebook(tmp_path):
    """Catches a class that is renamed, or a ready one that is handed on in place of the learner's own."""
    for slug in set(brings(BLOCK).values()):
        write_solved_notebook(tmp_path, slug)
    own = find(brings(BLOCK), tmp_path)
    assert own.brought == list(brings(BLOCK)), own.sentences
    write_solved_notebook(tmp_path, BLOCK, own.cell)
    for slug in (TRANSFORMER, LANGUAGE_MODEL):
        asked = [question.name for question in course_exercise(slug).exercise.questions]
        found = find(brings(slug), tmp_path, asked)
        assert found.brought == list(brings(slug)), found.sentences
        carried = [name for name in brings(BLOCK) if own.parts[name] in found.cell]
        assert carried == [name for name in brings(BLOCK) if name not in asked] and "class Block(" in found.cell


def test_untouched_notebooks_give_nothing():
    for slug in (BLOCK, TRANSFORMER):
        assert find(brings(slug), EXERCISES).brought == []


def test_the_ready_modules_are_those_of_the_checks():
    """Catches a ready part that would compute something else, or none in a notebook that promises it."""
    assert list(given_in(load_exercise(BLOCK, EXERCISES.parent))) == list(brings(BLOCK))
    assert given_in(load_exercise(TRANSFORMER, EXERCISES.parent)) == {}
    scope = {"nn": torch.nn, "F": torch.nn.functional, "torch": torch, "math": __import__("math")}
    for part in ("module-parts", "module-parts-think"):
        exec(cell(course_exercise(BLOCK).learner, part), scope)
    x, past = torch.randn(2, 5, 6), {"mask": torch.ones(5, 5, dtype=torch.bool).tril()}
    for name, sizes, given in (("MultiHeadAttention", (6, 3), past), ("FeedForward", (6, 9), {})):
        ready, reference = scope[name](*sizes), getattr(parts(), name)(*sizes)
        ready.load_state_dict(reference.state_dict())
        for options in ({}, given):
            torch.testing.assert_close(ready(x, **options), reference(x, **options))
