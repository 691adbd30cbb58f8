"""Biases by distance: which bucket each distance falls in, one table for all layers, and what the buckets cannot be."""

import math
from functools import partial

import pytest
import torch
from clearformer.attention import attend, causal_mask
from clearformer.distances import DistanceBuckets
from clearformer.models.seq2seq import Seq2Seq, Seq2SeqConfig
from clearformer.multihead import MultiHeadAttention
from inline_snapshot import snapshot

from tests.clearformer.models import random_module
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close


def bucket_by_hand(step: int, n_buckets: int, max_distance: int, *, ahead: bool) -> int:
    """As in section 2.1 of the paper: single distances first, then borders that grow by a constant factor."""
    first, n_side = (n_buckets // 2 * (step > 0), n_buckets // 2) if ahead else (0, n_buckets)
    far, n_single = (abs(step) if ahead else max(-step, 0)), n_side // 2
    if far < n_single:
        return first + far
    growth = math.log(far / n_single) / math.log(max_distance / n_single)
    return first + min(n_single + int(growth * (n_side - n_single)), n_side - 1)


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize(("n_buckets", "max_distance"), [(32, 127), (8, 11), (4, 100), (4, 2)])
def test_each_distance_falls_in_its_bucket(ahead, n_buckets, max_distance):
    if not ahead and max_distance == 2:
        max_distance = 3
    layer = DistanceBuckets(2, n_buckets=n_buckets, max_distance=max_distance, ahead=ahead)
    steps = torch.arange(-200, 201)[None]
    expected = [bucket_by_hand(step, n_buckets, max_distance, ahead=ahead) for step in range(-200, 201)]
    assert layer.buckets(steps)[0].tolist() == expected
    assert set(expected) == set(range(n_buckets)) - ({n_buckets // 2} if ahead else set())  # no distance is 0 and ahead


def test_a_single_step_has_the_first_shared_bucket_where_only_the_own_place_has_one_alone():
    """Catches a neighbour that passes for one further away."""
    buckets = DistanceBuckets(1, n_buckets=6, max_distance=3).buckets(torch.arange(-3, 4))
    assert buckets.tolist() == [2, 2, 1, 0, 4, 5, 5]


@pytest.mark.parametrize("ahead", [True, False])
@torch.no_grad()
def test_the_bias_is_added_to_the_scores_of_the_last_tokens(ahead):
    table = random_module(DistanceBuckets(3, n_buckets=6, max_distance=5, ahead=ahead), torch.float64)
    q, k = torch.randn(2, 3, 4, 5, dtype=torch.float64), torch.randn(2, 3, 7, 5, dtype=torch.float64)
    bias = table(q, 7)
    for n in range(4):
        for s in range(7):
            bucket = bucket_by_hand(s - (n + 3), 6, 5, ahead=ahead)
            assert torch.equal(bias[0, :, n, s], table.weight[bucket])
    layer = random_module(MultiHeadAttention(15, 3, relative=table, attend=attend), torch.float64)
    x = torch.randn(2, 7, 15, dtype=torch.float64)
    q, k, v = (part.unflatten(2, (3, 5)).transpose(1, 2) for part in layer.qkv(x).chunk(3, 2))
    scores = (q @ k.mT / math.sqrt(5) + table(q, 7)).masked_fill(~causal_mask(7), -math.inf)
    assert_close(layer(x, causal=True)[0], layer.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2)))


def test_all_layers_share_a_table_and_move_it_together():
    """Catches a table for each layer, and one that is learned in the first layer alone."""
    model = Seq2Seq(Seq2SeqConfig(11, 16, 12, 3, 2, distances=partial(DistanceBuckets, n_buckets=6, max_distance=5)))
    tables = [n for n, _ in model.named_parameters() if "relative" in n]
    assert tables == [f"{stack}.blocks.0.attention.relative.weight" for stack in ("encoder", "decoder")]
    assert [stack.blocks[1].attention.relative.ahead for stack in (model.encoder, model.decoder)] == [True, False]
    assert all(block.cross.relative is None for block in model.decoder.blocks)
    logits = model(torch.randint(11, (2, 9)), torch.randint(11, (2, 7)))
    logits.sum().backward()
    assert all(model.get_parameter(name).grad.abs().sum() > 0 for name in tables)


def test_what_the_buckets_cannot_be_is_told():
    assert refusal(ValueError, DistanceBuckets, 2, n_buckets=7) == snapshot(
        "DistanceBuckets: n_buckets=7 with max_distance=128, expected an even number of buckets, and a distance above 1, the first without a bucket of its own."
    )
    for wrong in ({"n_buckets": 2}, {"max_distance": 8}, {"n_buckets": 1, "ahead": False}):
        with pytest.raises(ValueError, match="DistanceBuckets: "):
            DistanceBuckets(2, **wrong)
    with pytest.raises(ValueError, match="n_sources=2 is less than n_targets=3"):
        DistanceBuckets(2)(torch.zeros(1, 2, 3, 4), 2)


def test_distances_and_positions_are_not_both():
    with pytest.raises(ValueError, match="Seq2SeqConfig: first_position=2 with distances"):
        Seq2SeqConfig(11, 16, 12, 3, 2, distances=DistanceBuckets, first_position=2)
