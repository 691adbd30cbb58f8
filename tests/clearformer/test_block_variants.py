"""Blocks that join their parts otherwise, written out with their own parts; a scaled and capped head."""

from functools import partial

import pytest
import torch
from clearformer.block_variants import OutputNormBlock, ParallelBlock, Scale, ScaledHead
from clearformer.layers import RMSNorm
from inline_snapshot import snapshot
from torch import nn

from tests.clearformer.models import random_module
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close

B, N, D, H, HIDDEN = 2, 5, 24, 6, 20


def tokens():
    return torch.randn(B, N, D, dtype=torch.float64)


@pytest.mark.parametrize("norm_inputs", [True, False])
def test_what_is_written_is_normed_before_it_is_added(norm_inputs):
    """Catches a norm around the sum, one for both parts, and one that is left out or not."""
    block, x = random_module(OutputNormBlock(D, H, HIDDEN, norm=RMSNorm, norm_inputs=norm_inputs)), tokens()
    assert isinstance(block.attention_norm, nn.Identity) != norm_inputs
    h = x + block.attention_output_norm(block.attention(block.attention_norm(x), causal=True)[0])
    y = h + block.feed_forward_output_norm(block.feed_forward(block.feed_forward_norm(h)))
    assert_close(block(x, causal=True), y)


def test_what_is_written_may_be_scaled():
    block, x = random_module(OutputNormBlock(D, H, HIDDEN, output_norm=partial(Scale, factor=0.22))), tokens()
    h = x + 0.22 * block.attention(block.attention_norm(x))[0]
    assert_close(block(x), h + 0.22 * block.feed_forward(block.feed_forward_norm(h)))


def test_attention_and_network_stand_side_by_side():
    """Catches a network that reads what attention wrote."""
    block, x = random_module(ParallelBlock(D, H, HIDDEN)), tokens()
    expected = x + block.attention(block.attention_norm(x), causal=True)[0]
    assert_close(block(x, causal=True), expected + block.feed_forward(block.feed_forward_norm(x)))


def test_a_source_is_one_more_part_of_each_kind():
    """Catches a look at the source that is left out, not normed as the others are, or not at the same tokens."""
    x, z = tokens(), torch.randn(B, 3, D, dtype=torch.float64)
    after, beside = (random_module(kind(D, H, HIDDEN, cross=True)) for kind in (OutputNormBlock, ParallelBlock))
    h = x + after.attention_output_norm(after.attention(after.attention_norm(x))[0])
    h = h + after.cross_output_norm(after.cross(after.cross_norm(h), z)[0])
    assert_close(after(x, source=z), h + after.feed_forward_output_norm(after.feed_forward(after.feed_forward_norm(h))))
    y = x + beside.attention(beside.attention_norm(x))[0] + beside.cross(beside.cross_norm(x), z)[0]
    assert_close(beside(x, source=z), y + beside.feed_forward(beside.feed_forward_norm(x)))


def test_logits_are_scaled_then_capped():
    head, x = random_module(ScaledHead(D, 7, scale=3.0, cap=2.0)), tokens()
    assert_close(head(x), 2 * torch.tanh(3 * (x @ head.weight.T) / 2))
    assert head.bias is None


def test_a_cap_that_cannot_be_is_named():
    assert refusal(ValueError, ScaledHead, D, 7, cap=0.0) == snapshot(
        "ScaledHead: cap=0.0, expected above 0, and finite."
    )
