"""The names of the heads in the live model: what they are called after is what they do."""

import json

import pytest
import torch

from tools.models import heads

WORDS = [" Emma", " emmanuel", ",", " she", " went", "¶"]


def shares_of(*maps):
    """Of heads with these weights on one text: Emma went, she went, and so on."""
    ids = torch.tensor([[5, *([0, 4, 2, 3, 4] * 5)]])
    return heads.measure_jobs(torch.stack([one.softmax(-1) for one in maps]).unsqueeze(0), ids, WORDS)


def masked(scores):
    return scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -torch.inf)


def test_a_head_is_named_after_what_it_does():
    """Catches shares taken along the wrong axis, a job given to another head, and one head with two jobs."""
    n = 26
    before = masked(torch.diag(torch.full((n - 1,), 20.0), -1))
    marks = masked(torch.zeros(n, n) + 20.0 * torch.tensor([5, *([0, 4, 2, 3, 4] * 5)]).eq(2))
    named = [one["name"] for one in heads.choose_names(shares_of(masked(torch.zeros(n, n)), before, marks))]
    assert named == ["everything about alike", "the token before", "punctuation"]


def test_a_share_is_held_against_an_equal_one():
    """Catches a head that is named after what equal weights would give it."""
    shares = shares_of(masked(torch.zeros(26, 26)))
    for name, (given, equal) in shares.items():
        if name != "everything about alike":
            assert given[0].item() == pytest.approx(equal, abs=1e-6)


@pytest.mark.slow
def test_the_stored_names_are_those_of_the_shipped_model():
    """Catches weights that were trained again without their names, and a head that chapter 3 has elsewhere."""
    stored = json.loads((heads.FOLDER / heads.FILE).read_text(encoding="utf-8"))
    assert stored == heads.name_heads()
    assert stored[1][0]["name"] == "pronouns look at names"
