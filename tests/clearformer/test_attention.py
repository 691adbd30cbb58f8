"""Every way to attend, by one battery: values, gradients, masks, bias, causality, empty rows, half precision.

Parameters of a test that could matter together are not combined in every way: any two values of two of them meet.
``VARIANTS`` equal ``attend``; linear attention is another function, and its two forms are compared with each other. A
new variant goes into one of the two tables and has passed when this file has.
"""

import inspect
from functools import partial

import numpy as np
import pytest
import torch
from clearbook.columns import to_reference, to_torch
from clearformer import attention
from clearformer.attention import (
    attend,
    attend_blockwise,
    attend_by_hand,
    attend_fused,
    attend_linear,
    attend_recomputing,
    attend_recurrent,
    causal_mask,
)
from clearformer.reference import attention as reference

from benchmarks.memory import peak_bytes
from tests.clearformer.devices import DEVICES
from tests.clearformer.pairwise import each_pair
from tests.clearformer.tolerance import assert_close

B, H, N, S, K, Kv = 2, 3, 5, 7, 4, 6
UNEVEN = {"query_block": 2, "key_block": 3}
VARIANTS = {
    "fused": attend_fused,
    "blockwise": attend_blockwise,
    "blockwise, single": partial(attend_blockwise, query_block=1, key_block=1),
    "blockwise, uneven": partial(attend_blockwise, **UNEVEN),
    "blockwise, exactly one": partial(attend_blockwise, query_block=N, key_block=S),
    "by hand": attend_by_hand,
    "recomputing": attend_recomputing,
    "recomputing, uneven": partial(attend_recomputing, **UNEVEN),
}
EXPLICIT = {"attend": attend} | VARIANTS
LINEAR = {"linear": attend_linear, "recurrent": attend_recurrent}
EVERY = [name for name in attention.__all__ if name.startswith("attend")]
COMMON = list(inspect.signature(attend).parameters)


def inputs(dtype=torch.float64, device="cpu", requires_grad=False):
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


def biases(device, dtype=torch.float64):
    generator = torch.Generator().manual_seed(3)
    full = torch.randn(B, H, N, S, generator=generator, dtype=torch.float64).to(device, dtype)
    return {"none": None, "one for all": full[0, 0], "per head": full[:1], "a row": full[:, :1, :1], "all": full}


GIVEN = [name for name in biases("cpu") if name != "none"]


def run(function, *leaves, mask=None, causal=False, bias=None):
    """Outputs, and the gradients by everything that is given."""
    options = {} if bias is None else {"bias": bias}
    y, _ = function(*leaves, mask, causal=causal, **options)
    return [y, *torch.autograd.grad(y.sin().sum(), [*leaves, *options.values()])]


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


@pytest.mark.parametrize("name", [function.__name__ for function in attention.SOFTMAX])
def test_a_product_beyond_float16_is_no_nan(name):
    """Catches scores of 5,625 whose sum over the width was above 65,504 before it was divided."""
    q = torch.full((1, 3, 64), 300.0, dtype=torch.float16)
    v = torch.arange(12.0).reshape(1, 3, 4).half()
    assert_close(getattr(attention, name)(q, q, v)[0].float(), v.float().mean(1, keepdim=True).expand(1, 3, 4))


@pytest.mark.parametrize("name", ["attend_by_hand", "attend_recomputing"])
def test_torch_func_is_told_to_take_attend(name):
    function = getattr(attention, name)
    with pytest.raises(RuntimeError, match=r"torch\.func, .* expected neither\. Take attend for it"):
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
    with pytest.raises(RuntimeError, match=r"attend_by_hand, attend_recomputing: create_graph=True, .* Take attend"):
        torch.autograd.grad(function(q, k, v)[0].sum(), q, create_graph=True)


@pytest.mark.parametrize("name", ["by hand", "recomputing", "recomputing, uneven"])
def test_gradients_by_hand_equal_finite_differences(name):
    """Catches an error that autograd through ``attend`` would share."""
    q, k, v = inputs(requires_grad=True)
    mask, bias = masks("cpu")["a row that sees nothing"], biases("cpu")["one for all"].clone().requires_grad_()
    small = (q[:1, :1], k[:1, :1], v[:1, :1], bias)
    assert torch.autograd.gradcheck(lambda q, k, v, bias: VARIANTS[name](q, k, v, mask, bias=bias)[0], small)


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
    with pytest.raises(ValueError, match=r"mask has shape \(.* Write 1 for an axis that all share"):
        (EXPLICIT | LINEAR)[name](*inputs(), torch.ones(shape, dtype=torch.bool))


# ------------------------------------------------------------------ the explicit one against others


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


# ------------------------------------------------------------------------------------ memory


def largest_allocation(function):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        function()
    return max(event.cpu_memory_usage for event in profile.events())


def test_by_tiles_nothing_of_n_by_n_is_allocated():
    """Memory linear in N, for the backward pass by tiles as well; the explicit one shows that the measure works."""
    n_tokens, width, sizes = 350, 8, {"query_block": 50, "key_block": 40}
    q, k, v = (torch.randn(1, n_tokens, width, requires_grad=True) for _ in range(3))
    linear = n_tokens * width * q.element_size()
    with torch.no_grad():
        assert 0 < largest_allocation(lambda: attend_blockwise(q, k, v, causal=True, **sizes)) <= linear
        assert largest_allocation(lambda: attend(q, k, v, causal=True)) > 10 * linear
    y, _ = attend_recomputing(q, k, v, causal=True, **sizes)
    assert 0 < largest_allocation(lambda: y.sum().backward()) <= 4 * linear  # three gradients


@pytest.mark.parametrize("name", ["by hand", "recomputing", "recomputing, uneven"])
def test_of_the_hand_written_ones_only_the_stored_keeps_a_matrix_of_weights(name):
    """Catches a recomputing pass that saves N × S numbers after all."""
    sizes = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.shape) or t, lambda t: t):
        VARIANTS[name](*inputs(torch.float32, requires_grad=True))
    assert any(shape[-2:] == (N, S) for shape in sizes) == (name == "by hand")


@pytest.mark.parametrize("function", [attend_blockwise, attend_recomputing])
@pytest.mark.parametrize("sizes", [(0, 3), (2, -1)])
def test_a_block_of_no_tokens_is_refused(sizes, function):
    with pytest.raises(ValueError, match=f"{sizes[0]} × {sizes[1]}"):
        function(*inputs(torch.float32), query_block=sizes[0], key_block=sizes[1])


# ---------------------------------------------------------------------------- linear attention


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", ["none", "padding"])
def test_both_forms_of_linear_attention_have_the_same_values_and_gradients(mask, causal, dtype, device):
    found = []
    for function in LINEAR.values():
        leaves = inputs(dtype, device, requires_grad=True)
        found.append(run(function, *leaves, mask=masks(device)[mask], causal=causal))
    for parallel, recurrent in zip(*found, strict=True):
        assert_close(recurrent, parallel)


def test_the_state_is_all_that_is_needed_to_go_on():
    """Catches a state that leaves something out: the sequence in two chunks, also one of a single token."""
    _, k, v = inputs()
    q = torch.randn_like(k)
    whole, last = attend_recurrent(q, k, v, causal=True)
    for cut in (1, 4, S - 1):
        first, state = attend_recurrent(*(t[:, :, :cut] for t in (q, k, v)), causal=True)
        second, end = attend_recurrent(*(t[:, :, cut:] for t in (q, k, v)), causal=True, state=state)
        assert_close(torch.cat((first, second), dim=2), whole)
        assert_close(end, last)


@pytest.mark.parametrize("name", LINEAR)
def test_linear_attention_refuses_a_bias(name):
    with pytest.raises(ValueError, match=rf"attend_{name}: a bias of shape \(5, 7\).*no softmax"):
        LINEAR[name](*inputs(), bias=biases("cpu")["one for all"])


def test_one_state_for_all_targets_refuses_a_mask_for_each():
    with pytest.raises(
        ValueError, match=r"mask of shape \(5, 7\), expected one row, \(\.\.\., 1, sources\), for all targets"
    ):
        attend_recurrent(*inputs(), masks("cpu")["causal"])


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


def test_the_hand_written_backward_makes_one_matrix_of_weights():
    """Catches zeros, N × S of them, that PyTorch makes as the gradient of weights of which nobody asked one."""
    q, k, v = (torch.randn(2, 64, 4, requires_grad=True) for _ in range(3))
    y = attend_by_hand(q, k, v)[0]
    one = 2 * 64 * 64 * y.element_size()
    held = peak_bytes(lambda: torch.autograd.grad(y, (q, k, v), y.detach(), retain_graph=True))
    assert one <= held < 2 * one
