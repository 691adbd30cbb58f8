"""What chapter 17 takes from the library: adapters, chances of attempts, words by kind."""

from itertools import combinations

import pytest
import torch
from clearbook.assistant import LowRank, counted_loss, group_advantages, pass_at, preference_loss
from clearbook.data.kinds import KINDS, split_words
from clearformer.multihead import MultiHeadAttention
from torch import nn


def test_an_adapter_begins_as_the_map_and_merges_into_one():
    """Catches a B that is not zero, a base that is trained, and a product added the wrong way round."""
    base, x = nn.Linear(5, 7), torch.randn(3, 5)
    before = base(x)
    layer = LowRank(base, 2)
    torch.testing.assert_close(layer(x), before)
    assert {name for name, p in layer.named_parameters() if p.requires_grad} == {"A", "B"}
    nn.init.normal_(layer.B)
    adapted = layer(x)
    torch.testing.assert_close(layer.merged()(x), adapted)
    assert torch.equal(layer(x), adapted) and torch.equal(base(x), before)  # merging is no change of either


@pytest.mark.parametrize("bias", [True, False])
def test_cross_attention_takes_an_adapter_too(bias):
    """Catches an adapter without a weight, of which cross-attention takes the rows of queries, keys and values."""
    layer, x, source = MultiHeadAttention(6, 2, bias=bias), torch.randn(2, 3, 6), torch.randn(2, 5, 6)
    layer.qkv = LowRank(layer.qkv, 2)
    nn.init.normal_(layer.qkv.B)
    output, _ = layer(x, source)
    assert all(g.abs().max() > 0 for g in torch.autograd.grad(output.sum(), (layer.qkv.A, layer.qkv.B)))
    layer.qkv = layer.qkv.merged()
    torch.testing.assert_close(output, layer(x, source)[0])


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


def test_an_adapter_has_the_precision_of_its_map():
    layer = LowRank(nn.Linear(5, 7).bfloat16(), 2)
    assert layer(torch.randn(3, 5).bfloat16()).dtype == layer.merged().weight.dtype == torch.bfloat16


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
