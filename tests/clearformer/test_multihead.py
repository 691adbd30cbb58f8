"""Multi-head attention: parity with torch.nn and the reference, symmetries, causality, shared heads, errors."""

import re
from inspect import unwrap as bare  # without the shape checks of the test run, which would come before ours

import pytest
import torch
from clearbook.columns import to_reference
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
from clearformer.cache import KVCache
from clearformer.layers import RMSNorm
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import RelativeKeys, Rotary
from clearformer.reference import attention as reference
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from tests.clearformer.devices import DEVICES
from tests.clearformer.models import random_module
from tests.clearformer.tolerance import assert_close

B, N, S, D, H = 2, 5, 7, 24, 6
DTYPES = [torch.float64, torch.float32]
FUNCTIONS = [attend, attend_fused, attend_blockwise, attend_by_hand, attend_recomputing]


def pair(dtype, device, bias=True):
    ours = random_module(MultiHeadAttention(D, H, bias=bias), dtype, device)
    theirs = nn.MultiheadAttention(D, H, bias=bias, batch_first=True, dtype=dtype, device=device)
    names = {"in_proj_": ours.qkv, "out_proj.": ours.out}
    theirs.load_state_dict({old + k: v for old, new in names.items() for k, v in new.state_dict().items()})
    return ours, theirs


def tokens(n, dtype=torch.float64, device="cpu"):
    return torch.randn(B, n, D, dtype=torch.float64).to(device, dtype)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("cross", [True, False])
@pytest.mark.parametrize("mask", ["none", "causal", "padding"])
def test_equals_torch_nn(mask, cross, bias, dtype, device):
    ours, theirs = pair(dtype, device, bias)
    x, source = tokens(N, dtype, device), tokens(S, dtype, device) if cross else None
    n_sources = S if cross else N
    hidden = {"none": None, "causal": causal_mask(N, n_sources, device=x.device)}.get(mask)
    padding = torch.arange(n_sources, device=device) < torch.tensor([[n_sources], [3]], device=device)
    options = {
        "attn_mask": ~hidden if hidden is not None else None,
        "key_padding_mask": ~padding if mask == "padding" else None,
    }
    z = source if cross else x
    expected, weights = theirs(x, z, z, average_attn_weights=False, **options)
    ours_mask = padding[:, None, None] if mask == "padding" else hidden
    y, nothing = ours(x, source, ours_mask)
    assert nothing is None
    assert_close(y, expected)
    ours.attend = attend
    assert_close(ours(x, source, ours_mask)[1], weights)


def test_equals_the_reference_head_by_head():
    layer = random_module(MultiHeadAttention(D, H, bias=False))
    x, source = tokens(N)[:1], tokens(S)[:1]
    W_q, W_k, W_v = (w.detach().numpy().reshape(H, D // H, D) for w in layer.qkv.weight.split(D))
    W_o = layer.out.weight.detach().numpy().reshape(D, H, D // H)
    X, Z = to_reference(x), to_reference(source)
    Y = sum(W_o[:, h] @ reference.attend(W_q[h] @ X, W_k[h] @ Z, W_v[h] @ Z)[0] for h in range(H))
    assert_close(layer(x, source)[0], torch.as_tensor(Y.T)[None])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
def test_every_attention_gives_the_same_values_and_gradients(n_kv_heads, function, device):
    layer = random_module(MultiHeadAttention(D, H, n_kv_heads=n_kv_heads), device=device)
    x, found = tokens(N, device=device), []
    mask = torch.rand(B, 1, N, N, device=device) > 0.3
    for layer.attend in (attend, function):
        y, _ = layer(x, None, mask, causal=True)
        found.append([y, *torch.autograd.grad(y.sin().sum(), list(layer.parameters()))])
    for expected, mine in zip(*found, strict=True):
        assert_close(mine, expected)


@pytest.mark.parametrize("n_kv_heads", [1, 2, 3])
def test_shared_heads_are_repeated_heads(n_kv_heads):
    """Catches heads dealt out in turn, where neighbours have to share."""
    shared = random_module(MultiHeadAttention(D, H, n_kv_heads=n_kv_heads))
    full = MultiHeadAttention(D, H).double()
    width = D // H
    with torch.no_grad():
        for mine, theirs in zip(shared.qkv.parameters(), full.qkv.parameters(), strict=True):
            q, k, v = mine.split(shared.widths)
            k, v = (
                t.unflatten(0, (n_kv_heads, width)).repeat_interleave(H // n_kv_heads, 0).flatten(0, 1) for t in (k, v)
            )
            theirs.copy_(torch.cat((q, k, v)))
        full.out.load_state_dict(shared.out.state_dict())
    x, source = tokens(N), tokens(S)
    assert_close(shared(x)[0], full(x)[0])
    assert_close(shared(x, source)[0], full(x, source)[0])
    assert sum(p.numel() for p in shared.parameters()) == 2 * (D * D + D) + 2 * n_kv_heads * width * (D + 1)


def variants():
    rope = Rotary(D // H, 50, dtype=torch.float64)
    relative = RelativeKeys(D // H, max_distance=2)
    return {
        "plain": MultiHeadAttention(D, H),
        "grouped": MultiHeadAttention(D, H, n_kv_heads=2),
        "wide and normed": MultiHeadAttention(D, 5, d_head=10, qk_norm=RMSNorm),
        "rotary": MultiHeadAttention(D, H, rope=rope),
        "relative": MultiHeadAttention(D, H, relative=relative),
        "linear": MultiHeadAttention(D, H, attend=attend_linear),
    }


@pytest.mark.parametrize("name", variants())
def test_editing_the_future_changes_nothing_before_it(name):
    layer, x = random_module(variants()[name]), tokens(N)
    edited = x.clone()
    edited[:, 3:] += 1
    assert torch.equal(layer(x, causal=True)[0][:, :3], layer(edited, causal=True)[0][:, :3])
    assert not torch.allclose(layer(x)[0][:, :3], layer(edited)[0][:, :3])


@pytest.mark.parametrize("name", variants())
def test_reordering_tokens_reorders_outputs_unless_positions_enter(name):
    layer, x, order = random_module(variants()[name]), tokens(N), torch.tensor([2, 4, 0, 1, 3])
    same = torch.allclose(layer(x[:, order])[0], layer(x)[0][:, order], atol=1e-10)
    assert same == (name in ("plain", "grouped", "wide and normed", "linear"))


@pytest.mark.parametrize("positions", [slice(30, 30 + N), torch.arange(30, 30 + N)[None]])
def test_with_rotary_only_distances_count(positions):
    layer, x = random_module(variants()["rotary"]), tokens(N)
    assert_close(layer(x, positions=positions)[0], layer(x)[0])


def test_with_relative_keys_every_attention_agrees():
    layer, x = random_module(variants()["relative"]), tokens(N)
    expected, _ = layer(x, causal=True)
    for layer.attend in (attend, attend_blockwise):
        assert_close(layer(x, causal=True)[0], expected)


@pytest.mark.parametrize("name", ["rotary", "relative"])
def test_a_source_has_positions_of_its_own(name):
    """Catches distances between a target and a source, which are two texts."""
    layer, plain = random_module(variants()[name]), MultiHeadAttention(D, H).double()
    plain.load_state_dict({k: w for k, w in layer.state_dict().items() if "relative" not in k})
    x, source = tokens(N), tokens(S)
    assert_close(layer(x, source)[0], plain(x, source)[0])
    assert not torch.allclose(layer(x)[0], plain(x)[0])


def test_a_token_that_sees_nothing_gets_the_output_bias():
    layer, x = random_module(MultiHeadAttention(D, H)), tokens(N)
    mask = torch.ones(N, N, dtype=torch.bool)
    mask[2] = False
    assert_close(layer(x, None, mask)[0][:, 2], layer.out.bias.expand(B, D))


def test_queries_keys_and_values_are_views_of_one_product():
    """Catches copies when the product is cut into heads."""
    layer, seen = MultiHeadAttention(D, H, n_kv_heads=H), []
    layer.attend = lambda q, k, v, mask, causal: seen.extend((q, k, v)) or attend_fused(q, k, v, mask, causal=causal)
    layer(tokens(N, torch.float32))
    assert len({t.untyped_storage().data_ptr() for t in seen}) == 1


ERRORS = {
    "heads": (
        lambda: MultiHeadAttention(10, 3),
        "MultiHeadAttention: d_model=10 cannot be split into n_heads=3 equal heads. "
        r"Choose n_heads from \[1, 2, 5, 10\] or change d_model\.",
    ),
    "no heads": (lambda: MultiHeadAttention(10, 0), "n_heads=0"),
    "no width": (lambda: MultiHeadAttention(D, 5, d_head=0), "d_head=0, expected a whole number of at least 1"),
    "groups": (lambda: MultiHeadAttention(D, 6, n_kv_heads=4), r"n_kv_heads=4 .* \[1, 2, 3, 6\]"),
    "width": (lambda: MultiHeadAttention(D, H)(torch.randn(B, N, 23)), r"x has shape \(2, 5, 23\).*24"),
    "axes": (lambda: MultiHeadAttention(D, H)(torch.randn(N, D)), r"x has shape \(5, 24\)"),
    "source": (
        lambda: MultiHeadAttention(D, H)(torch.randn(B, N, D), torch.randn(B, S, 25)),
        r"source has shape \(2, 7, 25\)",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_does_not_fit_is_named(case):
    call, message = ERRORS[case]
    with pytest.raises(ValueError, match=message):
        call()


class Operations(TorchDispatchMode):
    """The largest tensor that an operation makes anew from keys and values, in numbers."""

    def __init__(self):
        super().__init__()
        self.names, self.largest = [], 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        inputs = {a.untyped_storage().data_ptr() for a in args if isinstance(a, torch.Tensor)}
        output = operation(*args, **(kwargs or {}))
        self.names.append(str(operation))
        for made in output if isinstance(output, tuple | list) else [output]:
            if isinstance(made, torch.Tensor) and made.untyped_storage().data_ptr() not in inputs:
                self.largest = max(self.largest, made.numel())
        return output


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("n_kv_heads", [1, 2])
def test_shared_keys_are_not_copied(n_kv_heads, n_targets):
    """Catches keys repeated for each head: in a step over a long cache, nothing is made that is as large as they."""
    n_cached = 400
    layer = MultiHeadAttention(D, H, n_kv_heads=n_kv_heads)
    cache = KVCache(1, B, n_kv_heads, n_cached + n_targets, D // H)[0]
    with torch.no_grad():
        layer(tokens(n_cached, torch.float32), causal=True, cache=cache)
        with Operations() as seen:
            layer(tokens(n_targets, torch.float32), causal=True, cache=cache)
    assert "aten.repeat_interleave.self_int" not in seen.names and "aten._scaled_dot_product" in " ".join(seen.names)
    assert 0 < seen.largest < B * n_kv_heads * n_cached * (D // H)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", [(N, N), (B, 1, N, N), (B, H, N, N)])
@pytest.mark.parametrize("n_targets", [1, N])
def test_in_groups_a_mask_and_a_bias_reach_their_heads(n_targets, shape, function):
    """Catches heads of a group that get the mask or the bias of their neighbours."""
    shape = (*shape[:-2], n_targets, N)
    mask, bias = torch.rand(shape) > 0.3, torch.randn(shape, dtype=torch.float64)
    layer = MultiHeadAttention(D, H, n_kv_heads=2)
    q, k, v = (torch.randn(B, heads, n, D // H, dtype=torch.float64) for heads, n in ((H, n_targets), (2, N), (2, N)))
    layer.attend = function
    y, _ = layer._in_groups(q, k, v, mask, causal=True, bias=bias)
    k, v = (t.repeat_interleave(3, 1) for t in (k, v))
    assert_close(y, attend(q, k, v, mask, causal=True, bias=bias)[0])


@pytest.mark.parametrize("n_kv_heads", [2, H])
@pytest.mark.parametrize(("n", "shape"), [(1, (3, 1)), (1, (1, 1, 3, 1)), (1, (B, 2, 1, 1)), (N, (B, 2, N, N))])
def test_a_mask_that_does_not_fit_is_refused_in_groups_too(shape, n, n_kv_heads):
    """Catches rows of a mask that count as the heads of a group, and a row for each group."""
    layer, x = MultiHeadAttention(D, H, n_kv_heads=n_kv_heads), tokens(n, torch.float32)
    with pytest.raises(ValueError, match=rf"mask has shape {re.escape(str(shape))}.*axes"):
        bare(layer.forward)(layer, x, None, torch.ones(shape, dtype=torch.bool))


@pytest.mark.parametrize("n_kv_heads", [1, 2, 3])
def test_the_recurrent_form_continues_token_by_token_in_groups(n_kv_heads):
    """Catches a state, which is no row of weights for each head, cut into heads."""
    layer = random_module(MultiHeadAttention(D, H, n_kv_heads=n_kv_heads, attend=attend_recurrent))
    cache, x = KVCache(1, B, n_kv_heads, N, D // H, dtype=torch.float64)[0], tokens(N)
    with torch.no_grad():
        whole = bare(layer.forward)(layer, x, causal=True)[0]
        steps = [bare(layer.forward)(layer, x[:, n : n + 1], causal=True, cache=cache)[0] for n in range(N)]
    assert_close(torch.cat(steps, 1), whole)
