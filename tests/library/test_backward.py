"""The backward passes written by hand: equal to autograd and to finite differences, and what they keep in memory."""

from functools import partial

import pytest
import torch
from clearformer.attention import attend, attend_blockwise, attend_fused
from clearformer.backward import attend_by_hand, attend_recomputing

from tests.library.devices import DEVICES
from tests.library.test_attention import N, S, inputs, masks
from tests.library.tolerance import assert_close

FUNCTIONS = {
    "stored": attend_by_hand,
    "recomputed": attend_recomputing,
    "recomputed in uneven blocks": partial(attend_recomputing, query_block=2, key_block=3),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", masks("cpu"))
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_equal_autograd(name, dtype, mask, causal, device):
    found = []
    for function in (attend, FUNCTIONS[name]):
        leaves = inputs(dtype, device, requires_grad=True)
        y, _ = function(*leaves, masks(device)[mask], causal=causal)
        found.append([y, *torch.autograd.grad(y.sin().sum(), leaves)])
    for expected, mine in zip(*found, strict=True):
        assert torch.isfinite(mine).all() and mine.dtype == dtype
        assert_close(mine, expected)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_equal_finite_differences(name):
    """Catches an error that autograd through ``attend`` would share."""
    q, k, v = inputs(torch.float64, "cpu", requires_grad=True)
    mask = masks("cpu")["a row that sees nothing"]
    small = (q[:1, :1], k[:1, :1], v[:1, :1])
    assert torch.autograd.gradcheck(lambda *leaves: FUNCTIONS[name](*leaves, mask)[0], small)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_half_precision_comes_near(name):
    exact = inputs(torch.float32, "cpu", requires_grad=True)
    half = inputs(torch.bfloat16, "cpu", requires_grad=True)
    gradients = [
        torch.autograd.grad(function(*leaves)[0].sum(), leaves)
        for function, leaves in ((attend, exact), (FUNCTIONS[name], half))
    ]
    for expected, mine in zip(*gradients, strict=True):
        assert mine.dtype == torch.bfloat16
        torch.testing.assert_close(mine.float(), expected, rtol=5e-2, atol=5e-2)


def test_only_the_stored_one_keeps_a_matrix_of_weights():
    """Catches a recomputing pass that saves N × S numbers after all."""
    kept = {}
    for name, function in FUNCTIONS.items():
        sizes = kept[name] = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t, sizes=sizes: sizes.append(t.shape) or t, lambda t: t):
            function(*inputs(torch.float32, "cpu", requires_grad=True))
    square = {name: any(shape[-2:] == (N, S) for shape in shapes) for name, shapes in kept.items()}
    assert square == {"stored": True, "recomputed": False, "recomputed in uneven blocks": False}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_and_incoming_gradient_are_left_alone(name):
    """Catches an in-place step that lands in what belongs to the caller."""
    leaves = inputs(torch.float32, "cpu", requires_grad=True)
    y, _ = FUNCTIONS[name](*leaves)
    gradient = torch.randn_like(y)
    copies = [tensor.clone() for tensor in (*leaves, gradient)]
    y.backward(gradient)
    assert all(torch.equal(a, b) for a, b in zip((*leaves, gradient), copies, strict=True))


@pytest.mark.gpu
@pytest.mark.parametrize("mask", masks("cpu"))
@pytest.mark.parametrize("name", [*FUNCTIONS, "fused", "blockwise"])
def test_cpu_and_cuda_agree(name, mask):
    """Catches a kernel that treats masks or blind rows otherwise, in values or in gradients."""
    function = {"fused": attend_fused, "blockwise": attend_blockwise, **FUNCTIONS}[name]
    found = []
    for device in ("cpu", "cuda"):
        leaves = inputs(torch.float64, device, requires_grad=True)
        y, _ = function(*leaves, masks(device)[mask])
        found.append([y, *torch.autograd.grad(y.sin().sum(), leaves)])
    for expected, mine in zip(*found, strict=True):
        assert mine.is_cuda
        assert_close(mine.cpu(), expected)
