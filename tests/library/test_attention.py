"""torch attention against the reference, against PyTorch's own, explicit against fused, on every device."""

import numpy as np
import pytest
import torch
from clearformer.attention import attend, attend_fused, causal_mask
from clearformer.layout import to_reference, to_torch
from clearformer.notebook import pick_device
from clearformer.reference import attention as reference

from tests.library.devices import DEVICES
from tests.library.tolerance import assert_close

B, H, N, S, K, Kv = 2, 3, 5, 7, 4, 6


def inputs(dtype, device, requires_grad=False):
    generator = torch.Generator().manual_seed(1)
    shapes = ((B, H, N, K), (B, H, S, K), (B, H, S, Kv))
    tensors = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    return [t.to(device, dtype).requires_grad_(requires_grad) for t in tensors]


def masks(device):
    generator = torch.Generator().manual_seed(2)
    blind = torch.ones(N, S, dtype=torch.bool)
    blind[2] = False
    padding = torch.ones(B, 1, 1, S, dtype=torch.bool)
    padding[1, ..., 4:] = False
    found = {
        "none": None,
        "causal": causal_mask(N, S),
        "padding": padding,
        "causal and padding": causal_mask(N, S) & padding,
        "a row that sees nothing": blind,
        "random per head": torch.rand(B, H, N, S, generator=generator) > 0.5,
    }
    return {name: mask if mask is None else mask.to(device) for name, mask in found.items()}


def test_attend_equals_the_reference_transposed():
    rng = np.random.default_rng(5)
    Q, Keys, V = rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=(Kv, S))
    mask = rng.random((S, N)) > 0.4
    Y, A = reference.attend(Q, Keys, V, mask)
    y, a = attend(to_torch(Q), to_torch(Keys), to_torch(V), torch.as_tensor(mask.T))
    np.testing.assert_allclose(to_reference(y), Y, atol=1e-12)
    np.testing.assert_allclose(to_reference(a), A, atol=1e-12)


def test_attend_equals_multihead_attention_with_identity_weights():
    """Parity with torch.nn: one head, no projections, so that only the attention itself is compared."""
    q, k, v = (torch.randn(B, n, K, dtype=torch.float64) for n in (N, S, S))
    layer = torch.nn.MultiheadAttention(K, 1, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(K).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(K))
        expected, weights = layer(q, k, v)
    y, a = attend(q, k, v)
    assert_close(y, expected)
    assert_close(a, weights)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", masks("cpu"))
def test_explicit_and_fused_agree(name, dtype, device):
    q, k, v = inputs(dtype, device)
    mask = masks(device)[name]
    y, weights = attend(q, k, v, mask)
    fused, nothing = attend_fused(q, k, v, mask)
    assert nothing is None and y.dtype == fused.dtype == dtype
    assert_close(fused, y)
    sums = weights.double().sum(-1)
    expected = torch.ones_like(sums) if mask is None else mask.any(-1).expand_as(sums).double()
    assert torch.allclose(sums, expected, atol=1e-2)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", masks("cpu"))
def test_explicit_and_fused_have_the_same_gradients(name, device):
    """Catches NaN gradients of a row that sees nothing."""
    gradients = []
    for function in (attend, attend_fused):
        leaves = inputs(torch.float64, device, requires_grad=True)
        y, _ = function(*leaves, masks(device)[name])
        y.sin().sum().backward()
        gradients.append([leaf.grad for leaf in leaves])
    for explicit, fused in zip(*gradients, strict=True):
        assert torch.isfinite(explicit).all()
        assert_close(fused, explicit)


@pytest.mark.parametrize("function", [attend, attend_fused])
def test_a_row_that_sees_nothing_gives_zeros(function):
    y, _ = function(*inputs(torch.float32, "cpu"), masks("cpu")["a row that sees nothing"])
    assert (y[:, :, 2] == 0).all() and (y[:, :, 1] != 0).any()


def test_scores_of_ten_thousand_do_not_overflow():
    q, k, v = inputs(torch.float32, "cpu")
    y, weights = attend(1e4 * q, k, v)
    assert torch.isfinite(y).all()
    assert_close(weights.max(-1).values, torch.ones(B, H, N))


def test_reordering_the_sources_changes_nothing_and_reordering_the_targets_reorders_the_outputs():
    q, k, v = inputs(torch.float64, "cpu")
    sources, targets = torch.randperm(S), torch.randperm(N)
    y, _ = attend(q, k, v)
    assert_close(attend(q, k[:, :, sources], v[:, :, sources])[0], y)
    assert_close(attend(q[:, :, targets], k, v)[0], y[:, :, targets])


def test_the_causal_mask_is_aligned_with_the_last_token():
    """Catches the alignment with the first token, which is wrong as soon as earlier tokens lie in a cache."""
    assert causal_mask(3).int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert causal_mask(2, 4).int().tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert (reference.causal_mask(4) == causal_mask(4).numpy().T).all()


@pytest.mark.parametrize("function", [attend, attend_fused])
def test_the_arguments_are_left_alone(function):
    arguments = [*inputs(torch.float32, "cpu"), masks("cpu")["causal"]]
    copies = [argument.clone() for argument in arguments]
    function(*arguments)
    assert all(torch.equal(a, b) for a, b in zip(arguments, copies, strict=True))


def test_pick_device_names_a_device_that_works():
    assert torch.ones(2, device=pick_device()).sum() == 2
