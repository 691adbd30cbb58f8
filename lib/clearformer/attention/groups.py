"""Attention in which groups of heads share keys and values, which are read where they are and never repeated."""

from collections.abc import Callable

import torch
from torch import Tensor

from clearformer.attention import STATEFUL


def norm_heads(norm: Callable | None, heads: Tensor, joint: bool) -> Tensor:
    """Queries or keys after their norm, if there is one: of each head, or ``joint`` over all heads of a token.

    They keep their dtype; under autocast a norm gives float32.

    Source: for the joint norm OLMo Team 2024 (OLMo 2), section 3.
    """
    if norm is None:
        return heads
    if not joint:
        return norm(heads).to(heads.dtype)
    joined = heads.transpose(1, 2).flatten(2)  # B H N K -> B N (H K)
    return norm(joined).to(heads.dtype).unflatten(2, (-1, heads.shape[3])).transpose(1, 2)


def heads_as_rows(
    attend: Callable, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, bias: dict[str, Tensor]
) -> tuple[Tensor, Tensor | None]:
    """One target sees everything: the heads of a group are the rows of one product."""
    B, H, _, _ = q.shape
    in_group = H // k.shape[1]

    def rows(t):
        return t.reshape(t.shape[0], -1, in_group, t.shape[3]) if _by_head(t, H) else t  # B H 1 K -> B G R K

    y, weights = attend(rows(q), k, v, rows(mask), **{name: rows(t) for name, t in bias.items()})
    if weights is None or getattr(attend, "func", attend) in STATEFUL:
        return y.reshape(B, H, 1, -1), None
    return y.reshape(B, H, 1, -1), weights.reshape(B, H, 1, -1)


def heads_in_turns(
    attend: Callable, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, bias: dict[str, Tensor]
) -> tuple[Tensor, Tensor | None]:
    """Several targets: the first heads of all groups, then their second ones, and so on."""
    H = q.shape[1]
    in_group = H // k.shape[1]
    outputs, maps = [], []
    for r in range(in_group):

        def turn(t, r=r):
            return t[:, r::in_group] if _by_head(t, H) else t  # B H N K -> B G N K

        y, weights = attend(turn(q), k, v, turn(mask), causal=causal, **{name: turn(t) for name, t in bias.items()})
        outputs.append(y)
        maps.append(weights)
    weights = None if maps[0] is None else torch.stack(maps, 2).flatten(1, 2)
    return torch.stack(outputs, 2).flatten(1, 2), weights


def _by_head(t: Tensor | None, n_heads: int) -> bool:
    """Whether a mask, a bias or queries differ from head to head."""
    return t is not None and t.ndim == 4 and t.shape[1] == n_heads
