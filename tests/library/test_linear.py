"""The product by oneDNN equals the plain one, forward, backward and twice backward; small ones are left alone."""

import pytest
import torch
import torch.nn.functional as F
from clearformer import linear as module
from clearformer.linear import HAS_ONEDNN, linear
from torch.utils.flop_counter import FlopCounterMode

from tests.library.tolerance import assert_close

B, N, D, WIDE = 3, 5, 24, 40


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(module, "LARGE_WEIGHT", 0)


def arrays(bias=True, dtype=torch.float32):
    tensors = torch.randn(B, N, D, dtype=dtype), torch.randn(WIDE, D, dtype=dtype) / 5
    return [t.requires_grad_() for t in (*tensors, *([torch.randn(WIDE, dtype=dtype)] if bias else []))]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(D,), (N, D), (B, N, D), (2, B, N, D)])
def test_values_and_gradients_are_those_of_torch(everything_is_large, bias, shape):
    """Catches a transposed gradient, and rows of a batch left out of the sums."""
    mine, theirs = arrays(bias), [t.detach().clone().requires_grad_() for t in arrays(bias)]
    for a, b in zip(mine, theirs, strict=True):
        b.data.copy_(a.data)
    x, y = torch.randn(shape).requires_grad_(), None
    for weights, product in ((mine[1:], linear), (theirs[1:], F.linear)):
        out = product(x, *weights)
        gradients = torch.autograd.grad((out.sin()).sum(), [x, *weights])
        if y is not None:
            assert_close(out, y[0])
            for a, b in zip(gradients, y[1], strict=True):
                assert_close(a, b)
        y = out, gradients


def test_it_may_be_differentiated_twice(everything_is_large):
    """Catches a backward pass that autograd cannot follow."""

    def curvature(product):
        x, w = (t.detach().requires_grad_() for t in tensors)
        (first,) = torch.autograd.grad(product(x, w).pow(3).sum(), x, create_graph=True)
        return torch.autograd.grad(first.pow(2).sum(), (x, w))

    tensors = arrays(bias=False)
    tensors[1].data /= 5
    for a, b in zip(curvature(linear), curvature(F.linear), strict=True):
        assert_close(a / b.abs().max(), b / b.abs().max())


@pytest.mark.skipif(not HAS_ONEDNN, reason="needs a torch with oneDNN")
def test_the_other_kernel_is_really_taken(everything_is_large):
    """Catches conditions that never hold, which would leave the tests above without a subject."""
    x, w, b = arrays()
    assert "product" in str(linear(x, w, b).grad_fn)
    assert "product" not in str(linear(x.double(), w.double(), b.double()).grad_fn)


def test_small_products_are_torchs_own():
    x, w, b = arrays()
    assert "product" not in str(linear(x, w, b).grad_fn)
    with FlopCounterMode(display=False) as counter:
        linear(x, w, b)
    assert counter.get_total_flops() == 2 * B * N * D * WIDE


@pytest.mark.gpu
def test_cuda_takes_its_own_kernel(everything_is_large):
    x, w, b = (t.detach().cuda() for t in arrays())
    assert_close(linear(x, w, b).cpu(), F.linear(x.cpu(), w.cpu(), b.cpu()))
