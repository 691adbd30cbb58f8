"""The battery and modules that are called with a mask: one token keeps a mask of its size, and the author has to ask."""

import math

import numpy as np
import pytest
import torch
from clearcheck import Inputs, Question, equals
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.battery_list import deals_with
from clearcheck.author.cases import draw_mask
from clearcheck.author.lint import misfits
from clearcheck.author.mistakes import answers_to
from clearcheck.author.subject import Subject
from clearcheck.author.torch_arguments import module_call
from clearcheck.grading.evaluate import PASSED
from clearcheck.grading.exercise import Exercise
from torch import nn

from .battery_questions import graded, messages


class Masked(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width, bias=False)

    def forward(self, x, mask):
        scores = (self.query(x) @ x.mT).masked_fill(~mask, -math.inf)
        return scores.softmax(-1) @ x


class LosesOneToken(Masked):
    def forward(self, x, mask):
        return super().forward(x, mask).squeeze(1)


def masked_calls(rng):
    return [draw_masked(rng)]


def draw_masked(rng):
    x, weights = rng.normal(size=(2, 5, 4)), {"query.weight": rng.normal(size=(4, 4))}
    return module_call({"width": 4}, (x, np.tri(5, dtype=bool)), weights=weights)


def asked(**options):
    checks = with_battery(equals("values", 2, masked_calls, Masked), **options)
    return Question("q", "A question", "answer", 5, 1, checks, inputs=Inputs(no_sizes="of a module"), how="module")


def test_a_single_token_comes_with_a_mask_of_its_size():
    """Would catch a mask of five tokens beside one, which no right answer can take."""
    question = asked(mask=later_tokens("values", draw_masked, scores="query.weight"))
    assert graded(question, Masked).status == PASSED
    assert "With a single one of something" in messages(question, LosesOneToken)


def test_the_author_of_a_module_with_a_mask_is_asked_for_its_battery():
    """Would catch a mask among the inputs of a module that the lint does not see."""
    question = asked()
    right, wrong = answers_to(question)
    right(Masked)
    subject = Subject(Exercise("toy", "Toy", "toy", (question,)), right, wrong)
    assert "mask" in deals_with(subject, question)
    assert "it deals with a mask" in " ".join(misfits(subject, [question]))


@pytest.mark.parametrize("seed", range(5))
def test_a_drawn_mask_lets_every_target_see_something_and_is_no_triangle(seed):
    """Would catch a row without a source, whose softmax is nan, and a mask that can be guessed."""
    mask = draw_mask(np.random.default_rng(seed), 3, 6, 7)
    assert mask.shape == (3, 6, 7) and mask.dtype == bool
    assert mask.any(axis=-1).all() and not mask.all() and np.triu(mask[0], 1).any()
    assert not torch.from_numpy(mask).diagonal(dim1=-2, dim2=-1).all()
