"""A cache that never ends: when it is full, half of what it holds is forgotten, and what stays moves to the front."""

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from clearformer.cache import KVCache
from clearformer.checks import check_whole
from clearformer.positions import Rotary


class Rolling:
    r"""How a model with rotary positions writes on beyond the last of them.

    A full cache keeps the first ``n_sinks`` tokens of each text and the newer half of the others. These get the
    positions that follow, so that no distance is larger than in training: a key at position n that moves by m is turned
    once more,

    .. math:: R_{n-m} \, k = R_{-m} \, R_n \, k.

    What was computed from a forgotten token stays in the keys and values of those that saw it.

    Source: Xiao et al. 2024, section 3.2, for sinks and for positions within the cache; to move many tokens at once and
    seldom is what llama.cpp does.
    Cost: moving half of the cache once in as many tokens, so that a token costs as much as before.
    Raises: TypeError or ValueError for fewer than 0 sinks, or so many that nothing else has room; for a model whose
    positions are not rotary alone; without a cache.
    """

    def __init__(self, model: Any, caller: str, n_sinks: Any, cached: bool):
        self.n_positions = model.config.n_positions
        self.n_sinks = check_whole(caller, "n_sinks", n_sinks, 0, max(self.n_positions - 2, 0))
        self.n_dropped = (self.n_positions - self.n_sinks) // 2
        if not cached:
            raise ValueError(f"{caller}: n_sinks={self.n_sinks} is about the cache. Leave cached=False out.")
        self.ropes = _ropes(model, caller, self.n_sinks)

    @torch.no_grad()
    def forget(self, cache: KVCache, n_padding: Int[Tensor, "B"]) -> Int[Tensor, "B"]:
        """Drop ``n_dropped`` tokens of each sequence, padding first; returns how much padding is left in front."""
        dropped_padding = n_padding.clamp(max=self.n_dropped)
        n_left = n_padding - dropped_padding
        places = torch.arange(cache.length - self.n_dropped, device=n_padding.device)
        stays = places < (n_left + self.n_sinks)[:, None]  # B kept: padding and sinks
        came_from = places + torch.where(stays, dropped_padding[:, None], self.n_dropped)
        steps = torch.where(stays, 0, (dropped_padding - self.n_dropped)[:, None])
        for layer, rope in zip(cache.layers, self.ropes, strict=True):
            rows = came_from[:, None, :, None]
            k, v = (it.take_along_dim(rows, 2) for it in layer.filled())
            layer.length = 0
            layer.append(k if rope is None else rope.moved(k, steps), v)
        return n_left


def _ropes(model: Any, caller: str, n_sinks: int) -> list[Rotary | None]:
    """What turns the keys of each layer; None where nothing does."""
    attentions = [block.attention for block in getattr(getattr(model, "decoder", None), "blocks", ())]
    ropes: list[Any] = [getattr(attention, "rope", "unknown") for attention in attentions]
    fits = all(rope is None or isinstance(rope, Rotary) for rope in ropes) and any(ropes)
    if not fits or getattr(model, "positions", None) is not None:
        raise ValueError(
            f"{caller}: n_sinks={n_sinks} needs a model whose only positions are Rotary, for turned keys can be turned "
            f"back and learned or added positions cannot. Leave n_sinks out: this {type(model).__name__} writes up to "
            f"n_positions={model.config.n_positions} tokens; then go on with the last of them as a new prompt."
        )
    return ropes
