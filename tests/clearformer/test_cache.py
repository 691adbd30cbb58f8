"""The cache: what comes out with it equals the full forward pass, however the tokens are cut into steps."""

import inspect
from functools import partial

import pytest
import torch
from clearformer.attention import attend
from clearformer.blocks import Decoder
from clearformer.cache import KVCache, LayerCache
from clearformer.layers import RMSNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import RelativeKeys, Rotary
from inline_snapshot import snapshot

from tests.clearformer.devices import DEVICES
from tests.clearformer.models import random_module
from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close

M, B, N, S, D, H, F = 3, 2, 9, 7, 24, 6, 20
K = D // H


def decoder(name, device="cpu", dtype=torch.float64):
    rope = Rotary(K, N, dtype=torch.float64)
    options = {
        "plain": {},
        "explicit": {"attend": attend},
        "grouped": {"n_kv_heads": 2},
        "rotary, one shared head": {"rope": rope, "n_kv_heads": 1},
        "relative": {"relative": RelativeKeys(K, 2)},
        "wide and normed": {"d_head": 10, "qk_norm": RMSNorm, "rope": Rotary(10, N, dtype=torch.float64)},
    }[name]
    return random_module(Decoder(M, D, H, F, attention=partial(MultiHeadAttention, **options)), dtype, device)


NAMES = ["plain", "explicit", "grouped", "rotary, one shared head", "relative", "wide and normed"]


def room(model, n_positions=N):
    parameter = next(model.parameters())
    attention = model.blocks[0].attention
    sizes = (M, B, attention.n_kv_heads, n_positions, attention.d_head)
    return KVCache(*sizes, dtype=parameter.dtype, device=parameter.device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("steps", [[1] * N, [4, 1, 3, 1], [N], [2, 7]])
@pytest.mark.parametrize("name", NAMES)
@torch.no_grad()
def test_every_position_equals_the_full_forward_pass(name, steps, dtype, device):
    """Catches a mask aligned with the first token, a wrong offset of positions and layers that share memory."""
    model = decoder(name, device, dtype)
    x, cache = torch.randn(B, N, D, dtype=torch.float64).to(device, dtype), room(model)
    stepwise = torch.cat([model(part, cache=cache) for part in x.split(steps, dim=1)], dim=1)
    assert_close(stepwise, model(x))
    assert cache.length == N and all(layer.length == N for layer in cache.layers)


@torch.no_grad()
def test_left_padding_with_positions_and_mask_equals_each_sequence_alone():
    """Prompts of different length in one batch: padding is hidden, positions count from the first real token."""
    model, x = decoder("rotary, one shared head"), torch.randn(B, N, D, dtype=torch.float64)
    n_padding = torch.tensor([[0], [3]])
    positions = (torch.arange(N) - n_padding).clamp(min=0)
    mask = (torch.arange(N) >= n_padding)[:, None, None]
    cache, found = room(model), []
    for start, stop in ((0, 5), (5, 6), (6, N)):
        found.append(model(x[:, start:stop], mask[..., :stop], cache=cache, positions=positions[:, start:stop]))
    y = torch.cat(found, dim=1)
    assert_close(y[:1], model(x[:1]))
    assert_close(y[1:, 3:], model(x[1:, 3:]))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("rope", [None, Rotary(K, N, dtype=torch.float64)])
@torch.no_grad()
def test_cross_attention_projects_the_source_once(rope, device):
    """And turns nothing in it, for the decoder's own attention may be rotary."""
    attention = partial(MultiHeadAttention, rope=rope)
    model = random_module(Decoder(M, D, H, F, cross=True, attention=attention), device=device)
    x, source = (torch.randn(B, n, D, dtype=torch.float64).to(device) for n in (N, S))
    mask = torch.rand(B, 1, 1, S, device=device) > 0.3
    cache, source_cache = room(model), room(model, S)
    parts = []
    for i, part in enumerate(x.split([2, 1, 6], dim=1)):
        given = source if i == 0 else torch.full_like(source, torch.nan)  # not read again
        parts.append(model(part, source=given, source_mask=mask, cache=cache, source_cache=source_cache))
    assert_close(torch.cat(parts, dim=1), model(x, source=source, source_mask=mask))


@torch.no_grad()
def test_overflow_is_refused_with_the_numbers_and_changes_nothing():
    model, x = decoder("plain"), torch.randn(B, N, D, dtype=torch.float64)
    cache = room(model, n_positions=6)
    model(x[:, :4], cache=cache)
    before = cache[0].k.clone()
    assert refusal(ValueError, model, x[:, 4:7], cache=cache) == snapshot(
        "KVCache: 3 new tokens after 4 make 7, but the capacity is 6. Build the cache with n_positions=7 or more."
    )
    assert cache.length == 4 and torch.equal(cache[0].k, before)
    assert_close(model(x[:, 4:6], cache=cache), model(x[:, :6])[:, 4:])


@pytest.mark.parametrize("where", ["feed-forward network of the second layer", "last norm"])
@torch.no_grad()
def test_a_pass_that_raises_leaves_the_caches_as_long_as_they_were(where):
    """Catches a first layer that goes on as if the pass had been: what is read again would be there twice."""
    model = random_module(Decoder(M, D, H, F, cross=True))
    x, source, other = (torch.randn(B, n, D, dtype=torch.float64) for n in (N, S, S))
    cache, source_cache = room(model), room(model, S)

    def fail(*_):
        raise MemoryError(where)

    hook = (model.norm if where == "last norm" else model.blocks[1].feed_forward).register_forward_pre_hook(fail)
    with pytest.raises(MemoryError, match=where):
        model(x[:, :4], source=other, cache=cache, source_cache=source_cache)
    hook.remove()
    assert [layer.length for some in (cache, source_cache) for layer in some.layers] == [0] * (2 * M)
    found = [model(part, source=source, cache=cache, source_cache=source_cache) for part in x.split(4, dim=1)]
    assert_close(torch.cat(found, dim=1), model(x, source=source))


@torch.no_grad()
def test_a_cache_of_ones_own_is_asked_for_its_layers_and_their_length_only():
    """Catches a look at what only ``KVCache`` has; chapter 14 writes one that rolls."""
    model, x = decoder("rotary, one shared head"), torch.randn(B, N, D, dtype=torch.float64)
    cache, forward = list(room(model).layers), inspect.unwrap(Decoder.forward)  # without the checks of the test run
    assert_close(torch.cat([forward(model, part, cache=cache) for part in x.split(4, dim=1)], dim=1), model(x))


def test_keys_that_need_a_gradient_are_refused():
    """Catches PyTorch's own message, which speaks of views that were written into."""
    model, x = decoder("plain"), torch.randn(B, N, D, dtype=torch.float64)
    assert refusal(ValueError, model, x, cache=room(model)) == snapshot(
        "KVCache: keys and values that need a gradient cannot be kept. Use torch.no_grad()."
    )


@torch.no_grad()
def test_the_memory_is_allocated_once_and_handed_out_as_views():
    cache = KVCache(M, B, H, N, K)
    k, v = cache[1].append(torch.ones(B, H, 2, K), 2 * torch.ones(B, H, 2, K))
    assert k.untyped_storage().data_ptr() == v.untyped_storage().data_ptr() == cache[2].k.untyped_storage().data_ptr()
    assert (k == 1).all() and (v == 2).all() and cache[1].length == 2
    assert not cache[0].k.any() and not cache[2].v.any()


@pytest.mark.parametrize("rows", [[1, 1], [1, 0]])
@torch.no_grad()
def test_reorder(rows):
    """A row repeated, as in beam search, and two exchanged; catches rows overwritten before they were read."""
    model, x = decoder("plain"), torch.randn(B, N, D, dtype=torch.float64)
    cache = room(model)
    model(x[:, :4], cache=cache)
    cache.reorder(torch.tensor(rows))
    assert_close(model(x[rows, 4:], cache=cache), model(x[rows])[:, 4:])


@pytest.mark.parametrize("shape", [(B + 1, H, 2, K), (B, H + 1, 2, K), (B, H, 2, K + 1), (1, H, 2, K)])
def test_keys_of_another_shape_are_refused(shape):
    with pytest.raises(ValueError, match=str(shape).replace("(", r"\(").replace(")", r"\)")):
        KVCache(M, B, H, N, K)[0].append(torch.zeros(shape), torch.zeros(shape))


def test_a_cache_without_room_is_refused():
    with pytest.raises(ValueError, match=r"n_positions=0, .*at least 1\b"):
        KVCache(M, B, H, 0, K)


append = inspect.unwrap(LayerCache.append)  # without the shape checks that the tests add
BAD = {
    "fewer values than keys": (
        lambda c: append(c[0], torch.ones(B, H, 3, K), torch.ones(B, H, 1, K)),
        r"values of shape \(2, 6, 1, 4\)",
    ),
    "wider values": (
        lambda c: c[0].append(torch.ones(B, H, 3, K), torch.ones(B, H, 3, K + 1)),
        r"values of shape \(2, 6, 3, 5\)",
    ),
    "another dtype": (
        lambda c: c[0].append(*torch.ones(2, B, H, 3, K, dtype=torch.float64)),
        "keys of torch.float64 .* torch.float32",
    ),
    "values of another dtype": (
        lambda c: c[0].append(torch.ones(B, H, 3, K), torch.ones(B, H, 3, K).half()),
        "values of torch.float16",
    ),
    "values that need a gradient": (
        lambda c: c[0].append(torch.ones(B, H, 3, K), torch.ones(B, H, 3, K, requires_grad=True)),
        "need a gradient",
    ),
    "too few rows": (lambda c: c.reorder(torch.tensor([1])), r"rows are torch.int64 of shape \(1,\) in a cache of 2"),
    "too many rows": (lambda c: c.reorder(torch.tensor([1, 0, 1])), r"rows are torch.int64 of shape \(3,\)"),
    "rows from behind": (lambda c: c.reorder(torch.tensor([-1, -1])), "row -1 of 2 sequences, expected 0 to 1"),
    "a row that is not there": (lambda c: c.reorder(torch.tensor([0, 2])), "row 2 of 2 sequences"),
    "more than is filled": (lambda c: c.truncate(3), "length=3, expected a whole number from 0 to 2"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_would_be_repeated_or_rounded_in_silence_is_refused(case):
    """PyTorch would repeat the one value, round float64 and copy one sequence over all."""
    call, message = BAD[case]
    cache = KVCache(M, B, H, N, K)
    cache[0].append(torch.zeros(B, H, 2, K), torch.zeros(B, H, 2, K))
    with pytest.raises(ValueError, match=message):
        call(cache)
    assert cache.length == 2 and not cache[0].k.any() and not cache[0].v.any()


def test_a_cache_of_a_model_that_holds_nothing_holds_nothing():
    """Catches a question about autocast that PyTorch answers for real devices only: counts are made on meta."""
    with torch.device("meta"):
        cache = GPT(GPTConfig(11, N, D, H, M)).new_cache(B, N)
    assert all(layer.k.is_meta for layer in cache.layers)
