"""Small questions about PyTorch, and answers to them, for the tests that need one."""

import numpy as np
import pytest
from clearcheck import Question, equals
from clearcheck.author.torch_arguments import module_call
from clearcheck.grading.diagnose import reply_of
from clearcheck.grading.evaluate import evaluate

torch = pytest.importorskip("torch", reason="needs torch")
from clearcheck.worker.small_model import SmallModel  # noqa: E402, F401
from torch import nn  # noqa: E402


# A small question of its own for each message: sizes 3 and 5, and one map with a bias.
def draw_args(rng, **options):
    weights = {"inner.weight": rng.normal(size=(5, 3)), "inner.bias": rng.normal(size=5)}
    return module_call({"d_in": 3, "d_out": 5}, (rng.normal(size=(2, 7, 3)),), **{"weights": weights, **options})


class Straight(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.inner = nn.Linear(d_in, d_out)

    def forward(self, x):
        return self.inner(x)


STRAIGHT = equals("outputs", 3, lambda rng: [draw_args(rng)], Straight)


def asks(*checks, **changes) -> Question:
    settings = {"id": "q", "title": "Q", "name": "Straight", "minutes": 5, "difficulty": 1, "how": "module"}
    return Question(**{**settings, "checks": checks or (STRAIGHT,), **changes})


def result_of(answer, question: Question, wrong=()):
    return evaluate(question, lambda asked, packed: reply_of(answer, asked, packed), 3, list(wrong))


def message_on(answer, question: Question | None = None) -> str:
    return result_of(answer, question or asks()).checks[0].message


def module(init: str = "self.inner = nn.Linear(d_in, d_out)", forward: str = "return self.inner(x)", **scope):
    """A class with these lines; `inner` is what the task prescribes."""
    text = f"""
class Written(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        {init}
    def forward(self, x):
        {forward}
"""
    made = {"torch": torch, "nn": nn, "np": np, **scope}
    exec(text, made)
    return made["Written"]
