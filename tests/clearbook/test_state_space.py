"""State spaces: both forms are one, and both are what their formulas say."""

import pytest
import torch
from clearbook.state_space import state_space, state_space_kernel

from tests.clearformer.devices import DEVICES
from tests.clearformer.tolerance import assert_close

B, N, D, R = 2, 7, 6, 3


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
