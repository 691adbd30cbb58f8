"""Blocks and stacks: parity with torch.nn, counts, causality, symmetry."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from clearformer.attention import attend_blockwise, causal_mask
from clearformer.blocks import Block, Decoder, Encoder
from clearformer.encoder_decoder import EncoderDecoder
from clearformer.layers import FeedForward, GatedFeedForward, RMSNorm
from clearformer.multihead import MultiHeadAttention
from torch import nn

from tests.clearformer.devices import DEVICES
from tests.clearformer.models import random_module
from tests.clearformer.tolerance import assert_close

M, B, N, S, D, H, HIDDEN = 3, 2, 5, 7, 24, 6, 20
RELU = partial(FeedForward, activation=F.relu)


def copy_attention(theirs, ours):
    theirs.in_proj_weight.copy_(ours.qkv.weight)
    theirs.in_proj_bias.copy_(ours.qkv.bias)
    theirs.out_proj.load_state_dict(ours.out.state_dict())


@torch.no_grad()
def copy_block(theirs, ours):
    """Our weights into a layer of torch.nn, whose norms are numbered in the order of use."""
    copy_attention(theirs.self_attn, ours.attention)
    norms = [ours.attention_norm, ours.feed_forward_norm]
    if ours.cross is not None:
        copy_attention(theirs.multihead_attn, ours.cross)
        norms.insert(1, ours.cross_norm)
    for i, norm in enumerate(norms, start=1):
        getattr(theirs, f"norm{i}").load_state_dict(norm.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.up.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.down.state_dict())
    return theirs


def pair(cross, norm_first, activation, dtype, device):
    kind = nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer
    feed_forward = partial(FeedForward, activation=activation)
    ours = Block(D, H, HIDDEN, cross=cross, norm_first=norm_first, feed_forward=feed_forward)
    options = {"dropout": 0.0, "activation": activation, "batch_first": True, "norm_first": norm_first}
    theirs = kind(D, H, HIDDEN, **options, dtype=dtype, device=device)
    return random_module(ours, dtype, device), copy_block(theirs, ours)


def tokens(n, dtype=torch.float64, device="cpu"):
    return torch.randn(B, n, D, dtype=torch.float64).to(device, dtype)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("activation", [F.relu, F.gelu])
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("cross", [True, False])
def test_a_block_equals_the_layer_of_torch_nn(cross, norm_first, activation, dtype, device):
    ours, theirs = pair(cross, norm_first, activation, dtype, device)
    x, source = tokens(N, dtype, device), tokens(S, dtype, device)
    seen = causal_mask(N, device=x.device)
    padding = torch.arange(S, device=device) < torch.tensor([[S], [3]], device=device)
    if cross:
        expected = theirs(x, source, tgt_mask=~seen, memory_key_padding_mask=~padding)
        mine = ours(x, causal=True, source=source, source_mask=padding[:, None, None])
    else:
        expected, mine = theirs(x, src_mask=~seen), ours(x, seen)
    # values of random blocks without a last norm reach some hundreds: compare on the scale of the result
    scale = expected.abs().max()
    assert_close(mine / scale, expected / scale)


@pytest.mark.parametrize("norm_first", [True, False])
def test_encoder_and_decoder_equal_the_stacks_of_torch_nn(norm_first):
    options = {"norm_first": norm_first, "feed_forward": RELU}
    ours = random_module(
        EncoderDecoder(Encoder(M, D, H, HIDDEN, **options), Decoder(M, D, H, HIDDEN, cross=True, **options))
    )
    sizes = {"d_model": D, "nhead": H, "dim_feedforward": HIDDEN, "dropout": 0.0, "batch_first": True}
    sizes |= {"norm_first": norm_first, "dtype": torch.float64}
    encoder, decoder = (
        [copy_block(kind(**sizes), block) for block in stack.blocks]
        for kind, stack in ((nn.TransformerEncoderLayer, ours.encoder), (nn.TransformerDecoderLayer, ours.decoder))
    )
    source, target = tokens(S), tokens(N)
    padding = torch.arange(S) < torch.tensor([[S], [3]])
    memory = source
    for layer in encoder:
        memory = layer(memory, src_key_padding_mask=~padding)
    memory, y = ours.encoder.norm(memory), target
    for layer in decoder:
        y = layer(y, memory, tgt_mask=~causal_mask(N), memory_key_padding_mask=~padding)
    assert_close(ours(source, target, padding[:, None, None]), ours.decoder.norm(y))


def test_the_number_of_parameters_is_that_of_the_formula():
    attention, feed_forward, norm = 4 * (D * D + D), 2 * D * HIDDEN + D + HIDDEN, 2 * D
    counts = {
        Encoder(M, D, H, HIDDEN): M * (attention + feed_forward + 2 * norm) + norm,
        Encoder(M, D, H, HIDDEN, norm_first=False): M * (attention + feed_forward + 2 * norm),
        Decoder(M, D, H, HIDDEN, cross=True): M * (2 * attention + feed_forward + 3 * norm) + norm,
    }
    for model, expected in counts.items():
        assert sum(p.numel() for p in model.parameters()) == expected


@pytest.mark.parametrize("norm_first", [True, False])
def test_editing_the_future_changes_nothing_before_it(norm_first):
    decoder = random_module(Decoder(M, D, H, HIDDEN, norm_first=norm_first, cross=True))
    x, source = tokens(N), tokens(S)
    edited = x.clone()
    edited[:, 3:] *= -1  # adding a constant would vanish in the norms
    y, z = (decoder(t, source=source) for t in (x, edited))
    assert torch.equal(y[:, :3], z[:, :3]) and not torch.allclose(y[:, 3:], z[:, 3:])
    assert not torch.allclose(decoder(x, source=source.flip(1) * 2), y)


def test_an_encoder_is_equivariant_and_hides_padding():
    encoder, x, order = random_module(Encoder(M, D, H, HIDDEN)), tokens(N), torch.tensor([2, 4, 0, 1, 3])
    assert_close(encoder(x[:, order]), encoder(x)[:, order])
    mask = (torch.arange(N) < 3).expand(B, 1, 1, N)
    assert_close(encoder(x, mask)[:, :3], encoder(x[:, :3]))


def test_parts_enter_as_callables():
    """A block of the kind of Llama: RMSNorm, SwiGLU, shared heads, another attention."""
    parts = {
        "norm": RMSNorm,
        "feed_forward": GatedFeedForward,
        "attention": partial(MultiHeadAttention, n_kv_heads=2, bias=False, attend=attend_blockwise),
    }
    block, x = random_module(Block(D, H, HIDDEN, **parts)), tokens(N)
    y = x + block.attention(block.attention_norm(x))[0]
    assert_close(block(x), y + block.feed_forward(block.feed_forward_norm(y)))
    assert not [name for name, _ in block.named_parameters() if "bias" in name]


@pytest.mark.parametrize("cross", [True, False])
def test_a_source_is_given_exactly_to_cross_attention(cross):
    with pytest.raises(ValueError, match=f"cross={cross} .*{'without' if cross else 'with'} a source"):
        Block(D, H, HIDDEN, cross=cross)(tokens(N), source=None if cross else tokens(S))
