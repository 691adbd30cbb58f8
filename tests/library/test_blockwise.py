"""Blockwise attention against the explicit one: every mask, every block size, values, gradients and memory."""

import pytest
import torch
from clearformer.attention import attend, attend_blockwise, attend_fused, causal_mask
from clearformer.backward import attend_recomputing

from tests.library.devices import DEVICES
from tests.library.test_attention import B, H, N, S, inputs, masks
from tests.library.tolerance import assert_close

SIZES = [(1, 1), (2, 3), (5, 7), (64, 64)]  # single, uneven last block, exactly one, larger than the sequence


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", masks("cpu"))
def test_blockwise_equals_explicit(name, sizes, dtype, device):
    q, k, v = inputs(dtype, device)
    mask = masks(device)[name]
    y, nothing = attend_blockwise(q, k, v, mask, query_block=sizes[0], key_block=sizes[1])
    assert nothing is None and y.dtype == dtype
    assert_close(y, attend(q, k, v, mask)[0])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", masks("cpu"))
def test_blockwise_has_the_gradients_of_explicit(name, device):
    """Catches NaN gradients of hidden blocks, and a gradient through the running maximum."""
    gradients = []
    for function, sizes in ((attend, {}), (attend_blockwise, {"query_block": 2, "key_block": 3})):
        leaves = inputs(torch.float64, device, requires_grad=True)
        y, _ = function(*leaves, masks(device)[name], **sizes)
        gradients.append(torch.autograd.grad(y.sin().sum(), leaves))
    for expected, mine in zip(*gradients, strict=True):
        assert_close(mine, expected)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("function", [attend, attend_fused, attend_blockwise])
@pytest.mark.parametrize("n_targets", [1, 4, S])
@pytest.mark.parametrize("masked", [False, True])
def test_causal_is_the_causal_mask(masked, n_targets, function, device):
    """Also for one target and for as many as sources, where the functions take a shorter way."""
    _, k, v = inputs(torch.float64, device)
    q = torch.randn(B, H, n_targets, k.shape[-1], dtype=torch.float64).to(device)
    mask = masks(device)["padding"] if masked else None
    seen = causal_mask(n_targets, S, device=q.device)
    expected, _ = attend(q, k, v, seen & mask if masked else seen)
    assert_close(function(q, k, v, mask, causal=True)[0], expected)


@pytest.mark.parametrize("sizes", SIZES)
def test_causal_blocks_equal_the_causal_mask(sizes):
    """Catches a diagonal that is wrong in blocks that begin elsewhere, or a visible block left out."""
    q, k, v = inputs(torch.float64, "cpu")
    y, _ = attend_blockwise(q, k, v, causal=True, query_block=sizes[0], key_block=sizes[1])
    assert_close(y, attend(q, k, v, causal_mask(N, S))[0])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("function", [attend_fused, attend_blockwise])
@pytest.mark.parametrize("name", masks("cpu"))
def test_a_bias_is_added_to_the_scores_and_hidden_by_the_mask(name, function, device):
    q, k, v = inputs(torch.float64, device)
    mask, bias = masks(device)[name], torch.randn(H, N, S, dtype=torch.float64).to(device)
    y, weights = attend(q, k, v, mask, bias=bias)
    assert_close(function(q, k, v, mask, bias=bias)[0], y)
    visible = torch.ones(N, S, dtype=torch.bool, device=device) if mask is None else mask
    assert (weights.masked_select(~visible.expand_as(weights)) == 0).all()
    ratio = attend(q, k, v, bias=bias)[1] / attend(q, k, v)[1]  # e^bias up to one factor for every row
    assert_close((ratio.log() - bias).diff(), torch.zeros(B, H, N, S - 1, dtype=torch.float64, device=device))


def test_scores_of_ten_thousand_do_not_overflow():
    """Catches a softmax that never learns about a larger score in a later block."""
    q, k, v = inputs(torch.float32, "cpu")
    y, _ = attend_blockwise(1e4 * q, k, v, query_block=2, key_block=3)
    assert_close(y, attend(1e4 * q, k, v)[0])


def largest_allocation(function):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        function()
    return max(event.cpu_memory_usage for event in profile.events())


def test_nothing_of_n_by_n_is_allocated():
    """Memory linear in N, for the backward pass by blocks as well; the explicit one shows that the measure works."""
    n_tokens, width, sizes = 700, 8, {"query_block": 50, "key_block": 40}
    q, k, v = (torch.randn(1, n_tokens, width, requires_grad=True) for _ in range(3))
    linear = n_tokens * width * q.element_size()
    with torch.no_grad():
        assert 0 < largest_allocation(lambda: attend_blockwise(q, k, v, causal=True, **sizes)) <= linear
        assert largest_allocation(lambda: attend(q, k, v, causal=True)) > 10 * linear
    y, _ = attend_recomputing(q, k, v, causal=True, **sizes)
    assert 0 < largest_allocation(lambda: y.sum().backward()) <= 4 * linear  # three gradients


@pytest.mark.parametrize("sizes", [(0, 3), (2, -1)])
def test_a_block_of_no_tokens_is_refused(sizes):
    with pytest.raises(ValueError, match=f"{sizes[0]} × {sizes[1]}"):
        attend_blockwise(*inputs(torch.float32, "cpu"), query_block=sizes[0], key_block=sizes[1])


@pytest.mark.parametrize("function", [attend, attend_fused, attend_blockwise])
def test_causal_with_fewer_sources_than_targets_is_refused(function):
    q, k, v = inputs(torch.float32, "cpu")
    with pytest.raises(ValueError, match="n_sources=3 is less than n_targets=5"):
        function(q, k[:, :, :3], v[:, :, :3], causal=True)
