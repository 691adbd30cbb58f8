"""Attention in half precision, under autocast and on other devices: near what double precision gives, and no overflow."""

from functools import partial

import pytest
import torch
from clearformer import attention
from clearformer.attention import attend, attend_recomputing

from tests.clearformer.attention_variants import EVERY, EXPLICIT, Kv, inputs, masks, run
from tests.clearformer.devices import DEVICES
from tests.clearformer.tolerance import assert_close


@pytest.mark.parametrize("name", [function.__name__ for function in attention.SOFTMAX])
def test_a_product_beyond_float16_is_no_nan(name):
    """Catches scores of 5,625 whose sum over the width was above 65,504 before it was divided."""
    q = torch.full((1, 3, 64), 300.0, dtype=torch.float16)
    v = torch.arange(12.0).reshape(1, 3, 4).half()
    assert_close(getattr(attention, name)(q, q, v)[0].float(), v.float().mean(1, keepdim=True).expand(1, 3, 4))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_gradients_over_many_tiles_are_summed_in_float32(dtype):
    """512 equal parts: added one after another in half precision the sum stops growing at a half or an eighth."""
    n = 512
    recomputing = partial(attend_recomputing, query_block=1, key_block=1)
    sign = torch.tensor([1.0, -1.0], dtype=dtype)[:, None]
    # Weights of 1/2 and outputs of 0 for each target: its part of the gradient by a score is 1/2 and -1/2.
    q, k, v = (t[None].clone().requires_grad_() for t in (sign[:1].expand(n, 1), 0 * sign, sign))
    bias = torch.zeros(1, 2, dtype=dtype, requires_grad=True)
    recomputing(q, k, v, bias=bias)[0].sum().backward()
    assert v.grad.flatten().tolist() == [n / 2, n / 2]
    assert k.grad.flatten().tolist() == bias.grad.flatten().tolist() == [n / 2, -n / 2]
    # One target with a weight of 1/512 for each source: its gradient is a sum over the sources.
    q, k, v = (t[None].clone().requires_grad_() for t in (0 * sign[:1], sign.repeat(n // 2, 1), sign.repeat(n // 2, 1)))
    recomputing(q, k, v)[0].sum().backward()
    assert q.grad.item() == 1


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_what_each_weight_is_compared_with_is_summed_in_float32(dtype):
    """Both weights are 1/2, so the mean of their gradients is odd and one bit too long for half precision."""
    large = 2 / torch.finfo(dtype).eps
    q, k = (torch.tensor(rows, dtype=dtype)[None].requires_grad_() for rows in ([[1.0]], [[0.0], [0.0]]))
    v = torch.tensor([[[2.0, 0.0], [0.0, 2.0]]], dtype=dtype)
    attend_recomputing(q, k, v)[0].backward(torch.tensor([[[large, 1.0]]], dtype=dtype))
    assert k.grad.flatten().tolist() == [(large - 1) / 2, (1 - large) / 2]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", EXPLICIT)
def test_half_precision_comes_near(name, device):
    found = [
        run(function, *inputs(dtype, device, requires_grad=True))
        for function, dtype in ((attend, torch.float32), (EXPLICIT[name], torch.bfloat16))
    ]
    for expected, mine in zip(*found, strict=True):
        assert mine.dtype == torch.bfloat16
        torch.testing.assert_close(mine.float(), expected, rtol=5e-2, atol=5e-2)


@pytest.mark.parametrize("name", EXPLICIT)
def test_float16_does_not_overflow_before_the_division(name):
    """150 · 150 in 4 places is beyond float16, half of it is not: queries have to be divided before the product."""
    q, k, v = (torch.full((1, n, width), 150.0, dtype=torch.float16) for n, width in ((2, 4), (3, 4), (3, 2)))
    y, _ = EXPLICIT[name](q, k, v)
    assert_close(y.float(), torch.full((1, 2, 2), 150.0))


@pytest.mark.parametrize("name", EXPLICIT)
def test_scores_of_ten_thousand_do_not_overflow(name):
    """Catches a softmax that never learns about a larger score in a later block."""
    q, k, v = inputs(torch.float32)
    best = (q @ k.transpose(-2, -1)).argmax(-1)
    assert_close(EXPLICIT[name](1e4 * q, k, v)[0], v.gather(2, best[..., None].expand(-1, -1, -1, Kv)))


@pytest.mark.gpu
@pytest.mark.parametrize("mask", masks("cpu"))
@pytest.mark.parametrize("name", EXPLICIT)
def test_cpu_and_cuda_agree(name, mask):
    """Catches a kernel that treats masks or blind rows otherwise, in values or in gradients."""
    found = [
        run(EXPLICIT[name], *inputs(device=device, requires_grad=True), mask=masks(device)[mask])
        for device in ("cpu", "cuda")
    ]
    for expected, mine in zip(*found, strict=True):
        assert mine.is_cuda
        assert_close(mine.cpu(), expected)


@pytest.mark.parametrize("name", EVERY)
def test_under_autocast_there_are_gradients(name):
    """Catches a product of a gradient in half precision with what the forward pass kept in float32."""
    leaves = [t[..., :4] for t in inputs(torch.float32, requires_grad=True)]
    expected = torch.autograd.grad(getattr(attention, name)(*leaves)[0].sin().sum(), leaves)
    with torch.autocast("cpu", torch.bfloat16):
        y = getattr(attention, name)(*leaves)[0]
    for mine, theirs in zip(torch.autograd.grad(y.float().sin().sum(), leaves), expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0.1, atol=0.05)
