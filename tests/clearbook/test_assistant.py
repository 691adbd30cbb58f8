"""What chapters 18 and 19 take from the library: losses, chances of attempts, words by kind."""

from itertools import combinations

import pytest
import torch
from clearbook.assistant import counted_loss, group_advantages, pass_at, preference_loss
from clearbook.data.kinds import KINDS, split_words

WRONG_SHAPES = {
    "counts of one row": (lambda: counted_loss(torch.rand(2, 5, 7), torch.zeros(2, 5).long(), torch.ones(5)), "counts"),
    "a preference": (lambda: preference_loss(*torch.rand(2, 3), torch.rand(3), torch.rand(3, 1), 0.1), "reference_rej"),
    "one for all": (lambda: preference_loss(torch.rand(3), *torch.rand(3, 1), 0.1), "rejected has shape"),
    "one group": (
        lambda: group_advantages(torch.rand(4)),
        r"rewards has shape \(4,\) with 1 axes, expected axes \(pro",
    ),
}


@pytest.mark.parametrize("case", WRONG_SHAPES)
def test_what_would_be_stretched_in_silence_is_refused(case):
    call, message = WRONG_SHAPES[case]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("right", range(6))
def test_pass_at_is_the_share_of_all_choices(right):
    marks = [i < right for i in range(5)]
    share = [any(way) for way in combinations(marks, 3)]
    assert float(pass_at(3, torch.tensor([right]), 5)[0]) == pytest.approx(sum(share) / len(share))


def test_more_attempts_than_were_made_are_refused():
    with pytest.raises(ValueError, match="k=6 of n=5"):
        pass_at(6, torch.tensor([1]), 5)


def test_a_group_that_is_all_alike_says_nothing():
    assert group_advantages(torch.full((2, 4), 0.5)).abs().max() == 0


def test_words_are_held_out_kind_by_kind():
    """Catches a word on both sides, and a kind that is missing on one."""
    learned, held_out = split_words(3)
    assert not {word for word, _ in learned} & {word for word, _ in held_out}
    assert {kind for _, kind in learned} == {kind for _, kind in held_out} == KINDS.keys()
