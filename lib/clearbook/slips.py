"""What goes wrong when the weights of a GPT are loaded: each slip changes a model in place, and raises nothing."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from clearformer.layers import gelu_tanh
from clearformer.models.gpt import GPT
from clearformer.positions import Rotary
from torch import Tensor, nn

Slip = Callable[[GPT], object]
Parts = list[Tensor]  # the rows for the queries, for the keys, for the values


def _blocks(model: GPT) -> list[nn.Module]:
    return list(model.decoder.blocks)


def _qkv(model: GPT, change: Callable[[Parts, int], Parts], kinds: tuple[str, ...] = ("weight", "bias")) -> None:
    """Put what ``change(parts, heads)`` gives in place of the rows for queries, keys and values, in every block."""
    for attention in (block.attention for block in _blocks(model)):
        for kind in kinds:
            stacked = getattr(attention.qkv, kind)
            stacked.copy_(torch.cat(change([part.clone() for part in stacked.chunk(3)], attention.n_heads)))


def _transpose_outputs(model: GPT) -> None:
    for block in _blocks(model):
        block.attention.out.weight.copy_(block.attention.out.weight.t().clone())


def pairs_as_neighbours(rows: Tensor, n_heads: int) -> Tensor:
    """Rows of queries or keys in the order that pairs neighbours: the first of one half, the first of the other, …"""
    return rows.unflatten(0, (n_heads, 2, -1)).transpose(1, 2).flatten(0, 2)


def _renumber_heads(model: GPT, *, out: bool) -> None:
    """The heads in another order; with ``out`` the matrix behind them, too."""

    def roll_heads(rows: Tensor, n_heads: int) -> Tensor:
        return rows.unflatten(0, (n_heads, -1)).roll(1, 0).flatten(0, 1)

    _qkv(model, lambda parts, n_heads: [roll_heads(part, n_heads) for part in parts])
    for attention in (block.attention for block in _blocks(model)) if out else ():
        attention.out.weight.copy_(roll_heads(attention.out.weight.t().clone(), attention.n_heads).t())


def _without_bias(part: int) -> Slip:
    return lambda m: [block.attention.qkv.bias.chunk(3)[part].zero_() for block in _blocks(m)]


def _untie_head(model: GPT) -> None:
    torch.manual_seed(0)
    model.head.weight = nn.Parameter(0.02 * torch.randn_like(model.tokens.weight), requires_grad=False)


def _norms(model: GPT) -> list[nn.Module]:
    return [module for module in model.modules() if isinstance(module, nn.Module) and hasattr(module, "eps")]


def _plain_norms(model: GPT) -> None:
    for norm in _norms(model):
        norm.weight.fill_(1)
        norm.bias.zero_()


def _set(modules: Sequence[object], **values: object) -> None:
    for module in modules:
        for name, value in values.items():
            setattr(module, name, value)


def _activation(function: Callable[[Tensor], Tensor]) -> Slip:
    return lambda m: _set([block.feed_forward for block in _blocks(m)], activation=function)


def _rope(model: GPT, base: float = 10_000.0, first: int = 0) -> None:
    """Other angles: of another base, or of positions that are counted from ``first``."""
    c = model.config
    rope = Rotary(c.d_head, c.n_positions + first, base=base)
    rope.cos, rope.sin = rope.cos[first:], rope.sin[first:]
    _set([block.attention for block in _blocks(model)], rope=rope)


def _round_to_bfloat16(model: GPT) -> None:
    for weight in model.parameters():
        weight.copy_(weight.bfloat16())


SLIPS: dict[str, dict[str, Slip]] = {
    "misplaced": {
        "square matrix not transposed": _transpose_outputs,
        "queries and keys swapped": partial(_qkv, change=lambda ps, _: [ps[1], ps[0], ps[2]]),
        "keys and values swapped": partial(_qkv, change=lambda ps, _: [ps[0], ps[2], ps[1]]),
        "rotary pairs: neighbours for halves": partial(
            _qkv, change=lambda ps, h: [pairs_as_neighbours(ps[0], h), pairs_as_neighbours(ps[1], h), ps[2]]
        ),
        "heads renumbered, not in out": partial(_renumber_heads, out=False),
        "heads renumbered everywhere": partial(_renumber_heads, out=True),
        "two blocks exchanged": lambda m: _set(
            [m.decoder], blocks=nn.ModuleList([m.decoder.blocks[i] for i in (0, 2, 1, 3)])
        ),
    },
    "forgotten": {
        "head not tied": _untie_head,
        "no last norm": lambda m: _set([m.decoder], norm=nn.Identity()),
        "norms without scale and shift": _plain_norms,
        "no rotary positions": lambda m: _set([block.attention for block in _blocks(m)], rope=None),
        "no bias of the queries": _without_bias(0),
        "no bias of the keys": _without_bias(1),
        "no bias of the values": _without_bias(2),
    },
    "another choice": {
        "norm after instead of first": lambda m: _set(_blocks(m), norm_first=False),
        "ReLU for GELU": _activation(F.relu),
        "SiLU for GELU": _activation(F.silu),
        "tanh GELU for exact GELU": _activation(gelu_tanh),
        "rotary base 100,000 for 10,000": partial(_rope, base=100_000.0),
        "positions counted from 1": partial(_rope, first=1),
        "ε = 1e-3 for 1e-5": lambda m: _set(_norms(m), eps=1e-3),
        "ε = 1e-12 for 1e-5": lambda m: _set(_norms(m), eps=1e-12),
        "weights rounded to bfloat16": _round_to_bfloat16,
    },
}
