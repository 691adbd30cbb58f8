"""Every variant of attention against the explicit one: values, gradients, masks, biases, and what is refused."""

import inspect
import re

import numpy as np
import pytest
import torch
from clearbook.columns import to_reference, to_torch
from clearformer import attention
from clearformer.attention import attend, attend_linear, causal_mask
from clearformer.reference import attention as reference

from tests.clearformer.attention_variants import (
    EVERY,
    EXPLICIT,
    LINEAR,
    VARIANTS,
    B,
    H,
    K,
    Kv,
    N,
    S,
    biases,
    inputs,
    masks,
    run,
)
from tests.clearformer.devices import DEVICES
from tests.clearformer.pairwise import each_pair
from tests.clearformer.tolerance import assert_close

COMMON = list(inspect.signature(attend).parameters)
GIVEN = [name for name in biases("cpu") if name != "none"]


@pytest.mark.parametrize("name", EVERY)
def test_every_variant_is_called_alike(name):
    """Catches a bias or a causal that one of them leaves out: the same names, kinds, order and defaults."""
    parameters = inspect.signature(getattr(attention, name)).parameters
    expected = inspect.signature(attend).parameters
    assert list(parameters)[: len(COMMON)] == COMMON
    for common in COMMON:
        assert (parameters[common].kind, parameters[common].default) == (
            expected[common].kind,
            expected[common].default,
        )
    rest = [parameters[name] for name in list(parameters)[len(COMMON) :]]
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in rest)


def test_every_variant_is_in_this_battery():
    tried = {getattr(f, "func", f).__name__ for f in (EXPLICIT | LINEAR).values()}
    assert tried == set(EVERY)


@pytest.mark.parametrize("device", DEVICES)
@each_pair(name=VARIANTS, dtype=[torch.float64, torch.float32], mask=masks("cpu"), causal=[False, True])
def test_values_and_gradients_equal_the_explicit_ones(name, dtype, mask, causal, device):
    """Catches a wrong tile, NaN gradients of what is hidden, and a gradient through the running maximum."""
    found = []
    for function in (attend, VARIANTS[name]):
        leaves = inputs(dtype, device, requires_grad=True)
        found.append(run(function, *leaves, mask=masks(device)[mask], causal=causal))
    for expected, mine in zip(*found, strict=True):
        assert torch.isfinite(mine).all() and mine.dtype == dtype
        assert_close(mine, expected)


@pytest.mark.parametrize("device", DEVICES)
@each_pair(name=VARIANTS, mask=["none", "padding", "a row that sees nothing"], bias=GIVEN, causal=[False, True])
def test_a_bias_is_added_and_has_a_gradient(name, mask, bias, causal, device):
    """Catches a gradient of the bias that is not summed over what shares an entry of it."""
    found = []
    for function in (attend, VARIANTS[name]):
        leaves, given = inputs(device=device, requires_grad=True), biases(device)[bias].clone().requires_grad_()
        found.append(run(function, *leaves, mask=masks(device)[mask], causal=causal, bias=given))
    for expected, mine in zip(*found, strict=True):
        assert torch.isfinite(mine).all()
        assert_close(mine, expected)


@pytest.mark.parametrize("name", EXPLICIT)
def test_a_bias_of_minus_infinity_hides_like_a_mask(name):
    """Catches the NaN of a row whose scores are all -inf."""
    mask = masks("cpu")["a row that sees nothing"]
    bias = torch.zeros(N, S, dtype=torch.float64).masked_fill(~mask, -torch.inf)
    leaves = inputs(requires_grad=True)
    expected, found = run(EXPLICIT[name], *leaves, mask=mask), run(EXPLICIT[name], *leaves, bias=bias.requires_grad_())
    for theirs, mine in zip(expected, found, strict=False):
        assert_close(mine, theirs)


@pytest.mark.parametrize("name", [function.__name__ for function in attention.SOFTMAX])
def test_nan_in_a_bias_shows(name):
    """Catches NaN that is taken for hidden, so that a broken bias trains on unseen."""
    q, k, v = inputs()
    bias = torch.zeros(q.shape[-2], k.shape[-2], dtype=q.dtype)
    bias[0, 0] = torch.nan
    y = getattr(attention, name)(q, k, v, bias=bias)[0]
    assert y[..., 0, :].isnan().all() and y[..., 1:, :].isfinite().all()


@pytest.mark.parametrize("name", ["attend_by_hand", "attend_recomputing"])
def test_torch_func_is_told_to_take_attend(name):
    function = getattr(attention, name)
    with pytest.raises(RuntimeError, match=rf"{name}\b.*torch\.func\b.*Take attend\b"):
        torch.func.grad(lambda q: function(q, q, q)[0].sum())(torch.randn(1, 3, 4))


def test_the_bias_of_attend_is_a_factor_of_the_weights():
    q, k, v = inputs()
    bias = biases("cpu")["all"]
    ratio = attend(q, k, v, bias=bias)[1] / attend(q, k, v)[1]  # e^bias up to one factor for every row
    assert_close((ratio.log() - bias).diff(), torch.zeros(B, H, N, S - 1, dtype=torch.float64))


@pytest.mark.parametrize("function", [attention.attend_by_hand, attention.attend_recomputing])
def test_the_gradient_of_a_gradient_by_hand_is_refused(function):
    """Catches one that is left out in silence, where the incoming gradient is a constant as that of a sum."""
    q, k, v = inputs(requires_grad=True)
    with pytest.raises(RuntimeError, match=r"attend_by_hand, attend_recomputing: create_graph=True\b.*Take attend\b"):
        torch.autograd.grad(function(q, k, v)[0].sum(), q, create_graph=True)


@pytest.mark.parametrize("name", ["by hand", "recomputing", "recomputing, uneven"])
def test_gradients_by_hand_equal_finite_differences(name):
    """Catches an error that autograd through ``attend`` would share."""
    q, k, v = inputs(requires_grad=True)
    mask, bias = masks("cpu")["a row that sees nothing"], biases("cpu")["one for all"].clone().requires_grad_()
    small = (q[:1, :1], k[:1, :1], v[:1, :1], bias)
    assert torch.autograd.gradcheck(lambda q, k, v, bias: VARIANTS[name](q, k, v, mask, bias=bias)[0], small)


@pytest.mark.parametrize("device", DEVICES)
@each_pair(masked=[False, True], n_targets=[1, 4, S], name=EXPLICIT | LINEAR)
def test_causal_is_the_causal_mask(masked, n_targets, name, device):
    """Also for one target and for as many as sources, where some functions take a shorter way."""
    _, k, v = inputs(device=device)
    q = torch.randn(B, H, n_targets, K, dtype=torch.float64).to(device)
    mask = masks(device)["padding"] if masked else None
    seen = causal_mask(n_targets, S, device=q.device)
    plain = attend_linear if name in LINEAR else attend
    expected, _ = plain(q, k, v, seen & mask if masked else seen)
    assert_close((EXPLICIT | LINEAR)[name](q, k, v, mask, causal=True)[0], expected)


@pytest.mark.parametrize("name", EXPLICIT | LINEAR)
def test_causal_with_fewer_sources_than_targets_is_refused(name):
    q, k, v = inputs(torch.float32)
    with pytest.raises(ValueError, match="n_sources=3 is less than n_targets=5"):
        (EXPLICIT | LINEAR)[name](q, k[:, :, :3], v[:, :, :3], causal=True)


@pytest.mark.parametrize("name", EXPLICIT | LINEAR)
def test_a_row_that_sees_nothing_gives_zeros(name):
    mask = torch.zeros(B, 1, 1, S, dtype=torch.bool)
    mask[1] = True
    y, _ = (EXPLICIT | LINEAR)[name](*inputs(torch.float32), mask)
    assert (y[0] == 0).all() and (y[1] != 0).all()


@pytest.mark.parametrize("name", EXPLICIT | LINEAR)
def test_arguments_and_incoming_gradient_are_left_alone(name):
    """Catches an in-place step that lands in what belongs to the caller."""
    leaves, mask = inputs(torch.float32, requires_grad=True), masks("cpu")["padding"]
    y, _ = (EXPLICIT | LINEAR)[name](*leaves, mask)
    given = (*leaves, mask, torch.randn_like(y))
    copies = [tensor.clone() for tensor in given]
    y.backward(given[-1])
    assert all(torch.equal(a, b) for a, b in zip(given, copies, strict=True))


@pytest.mark.parametrize("name", EXPLICIT | LINEAR)
def test_reordering_the_sources_changes_nothing_and_reordering_the_targets_reorders_the_outputs(name):
    function, (q, k, v) = (EXPLICIT | LINEAR)[name], inputs()
    sources, targets = torch.randperm(S), torch.randperm(N)
    y, _ = function(q, k, v)
    assert_close(function(q, k[:, :, sources], v[:, :, sources])[0], y)
    assert_close(function(q[:, :, targets], k, v)[0], y[:, :, targets])


@pytest.mark.parametrize("name", EXPLICIT | LINEAR)
@pytest.mark.parametrize("shape", [(H, N, S), (B, N, S), (B, 1, S)])
def test_a_mask_that_could_mean_heads_or_sequences_is_refused(shape, name):
    """Three axes for scores with four; for B = H nobody could tell which one is meant."""
    with pytest.raises(ValueError, match=rf"mask has shape {re.escape(str(shape))}.*\b1 for an axis"):
        (EXPLICIT | LINEAR)[name](*inputs(), torch.ones(shape, dtype=torch.bool))


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


@pytest.mark.parametrize("function", [attend, attend_linear])
@pytest.mark.parametrize("name", masks("cpu"))
def test_weights_are_an_average_of_what_is_seen(name, function):
    mask = masks("cpu")[name]
    _, weights = function(*inputs(), mask)
    seen = torch.ones(B, H, N, S, dtype=torch.bool) if mask is None else mask.expand(B, H, N, S)
    assert (weights >= 0).all() and (weights[~seen] == 0).all()
    assert_close(weights.sum(-1), seen.any(-1).double())
