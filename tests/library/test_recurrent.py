"""Linear attention and state spaces: both forms are one, and both are what their formulas say."""

import pytest
import torch
from clearformer.blocks import Decoder
from clearformer.multihead import MultiHeadAttention
from clearformer.recurrent import attend_linear, attend_recurrent, state_space, state_space_kernel

from tests.library.devices import DEVICES
from tests.library.tolerance import assert_close

B, H, N, K, KV, D, R = 2, 3, 7, 4, 5, 6, 3


def heads(dtype=torch.float64, device="cpu"):
    return tuple(torch.randn(B, H, N, width, dtype=dtype, device=device) for width in (K, K, KV))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_recurrent_form_equals_parallel_form(dtype, device):
    q, k, v = heads(dtype, device)
    assert_close(attend_recurrent(q, k, v)[0], attend_linear(q, k, v, causal=True)[0])


def test_the_state_is_all_that_is_needed_to_go_on():
    """Catches a state that leaves something out: the sequence in two chunks, also one of a single token."""
    q, k, v = heads()
    whole, last = attend_recurrent(q, k, v)
    for cut in (1, 4, N - 1):
        first, state = attend_recurrent(*(t[:, :, :cut] for t in (q, k, v)))
        second, end = attend_recurrent(*(t[:, :, cut:] for t in (q, k, v)), state)
        assert_close(torch.cat((first, second), dim=2), whole)
        assert_close(end, last)


def test_both_forms_have_the_same_gradients():
    q, k, v = (t.requires_grad_() for t in heads())
    at_top = torch.randn(B, H, N, KV, dtype=torch.float64)
    forms = (attend_recurrent(q, k, v)[0], attend_linear(q, k, v, causal=True)[0])
    for mine, other in zip(*(torch.autograd.grad(y, (q, k, v), at_top) for y in forms), strict=True):
        assert_close(mine, other)


def test_weights_are_an_average_and_a_row_without_sources_gives_zeros():
    q, k, v = heads()
    mask = torch.rand(N, N) < 0.6
    mask[2] = False
    y, weights = attend_linear(q, k, v, mask)
    rows = torch.ones(B, H, N, dtype=torch.float64)
    rows[:, :, 2] = 0
    assert_close(weights.sum(-1), rows)
    assert (weights >= 0).all() and torch.equal(weights * ~mask, torch.zeros_like(weights))
    assert torch.equal(y[:, :, 2], torch.zeros_like(y[:, :, 2]))


def test_linear_attention_fits_the_library_in_place_of_attend():
    """As a decoder's attention it keeps causality."""
    decoder = Decoder(2, 8, 2, 16, attention=lambda d, h: MultiHeadAttention(d, h, attend=attend_linear))
    x = torch.randn(1, 5, 8)
    edited = x.clone()
    edited[:, -1] += 3
    assert_close(decoder(edited)[:, :-1], decoder(x)[:, :-1])


def parameters(n_tokens=1):
    return torch.rand(n_tokens, D, R).double(), *torch.randn(2, n_tokens, D, R).double()


@pytest.mark.parametrize("device", DEVICES)
def test_state_space_equals_loops(device):
    """Every token with parameters of its own: catches a state that is used before it is written, and a wrong axis."""
    x, (a, b, c) = torch.randn(B, N, D).double(), parameters(N)
    y = state_space(*(t.to(device) for t in (x, a, b, c))).cpu()
    expected = torch.zeros(B, N, D).double()
    for i in range(B):
        for d in range(D):
            h = [0.0] * R
            for n in range(N):
                h = [a[n, d, r] * h[r] + b[n, d, r] * x[i, n, d] for r in range(R)]
                expected[i, n, d] = sum(c[n, d, r] * h[r] for r in range(R))
    assert_close(y, expected)


def test_state_space_with_one_set_of_parameters_is_a_convolution():
    x, (a, b, c) = torch.randn(B, N, D).double(), parameters()
    kernel = state_space_kernel(a[0], b[0], c[0], N)
    padded = torch.nn.functional.pad(x.transpose(1, 2), (N - 1, 0))
    y = torch.nn.functional.conv1d(padded, kernel.flip(1)[:, None], groups=D).transpose(1, 2)
    assert_close(state_space(x, a, b, c), y)
