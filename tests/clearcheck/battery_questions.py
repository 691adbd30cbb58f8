"""Small questions with a battery, and how they are graded."""

import numpy as np
import torch
from clearcheck import Question
from clearcheck.author.battery import with_battery
from clearcheck.author.edits import rename_definition
from clearcheck.author.loading import load_exercise
from clearcheck.author.mistakes import _compile_function
from clearcheck.grading.evaluate import evaluate
from clearcheck.worker.guarded_call import call_named, scope_of


def graded(question, answer, seed=0):
    """The result; that NumPy warns of an overflow is no error, as for a learner."""
    with np.errstate(all="ignore"):
        return evaluate(question, lambda asked, packed: call_named({question.name: answer}, asked, packed), seed, [])


def messages(question, answer, seed=0):
    return " ".join(check.message for check in graded(question, answer, seed).checks)


def question(*checks, how="function", **options):
    return Question("q", "A question", "answer", 5, 1, with_battery(*checks, **options), how=how)


def double(x):
    return 2 * x


def tables(rng):
    return [(rng.normal(size=(4, 3, 5)),)]


class Scaled(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.scale * x


def scaled_calls(rng):
    x = rng.normal(size=(3, 4, 5))
    weights = {"scale": rng.normal(size=5)}
    plan = {"sizes": {"width": 5}, "calls": [(x,)], "weights": weights, "training": False, "gives": "output", "seed": 0}
    return [(plan,)]


def edited(entry, old, new):
    """A right answer with other words in it."""
    assert old in entry.source
    source = rename_definition(entry.source.replace(old, new), entry.name, "changed")
    return _compile_function(source, "changed", entry.question, scope_of(entry.function) or {})


def right_answer(slug, id, name):
    authored = load_exercise(slug)
    (entry,) = (entry for entry in authored.right.of(id) if entry.name == name)
    return authored.question(id), entry
