"""A translator at work on one batch of sources, in the form in which ``generate`` takes a GPT."""

import math

import torch
from torch import Tensor, nn

from clearformer.cache import KVCache
from clearformer.linear import Linear


class Given:
    """A ``Seq2Seq`` whose source is fixed; a batch with several targets for each source repeats the sources.

    It gives padding the probability 0, for padding is never what a translator means.
    """

    def __init__(self, model, source: Tensor, source_mask: Tensor | None):
        self.model, self.config, self.head = model, model.config, model.head
        with torch.no_grad():
            self.memory, self.source_mask = model.encode(source, source_mask), source_mask
            if self.config.padding is not None:
                self.head = _without(self.config.padding, model.head)
        self.source_cache = None

    def hidden(self, ids, mask=None, *, cache=None, positions=None):
        """As ``GPT.hidden``. Raises: ValueError for a batch that is no multiple of that of the sources."""
        memory, source_mask = self.memory, self.source_mask
        if len(ids) % len(memory):
            raise ValueError(
                f"Seq2Seq.given: {len(ids)} targets for {len(memory)} sources. Pass one prompt for each source."
            )
        if len(ids) > len(memory):
            copies = len(ids) // len(memory)
            memory = memory.repeat_interleave(copies, 0)
            source_mask = None if source_mask is None else source_mask.repeat_interleave(copies, 0)
        source_cache = None if cache is None else self.source_cache
        options = {"cache": cache, "source_cache": source_cache, "positions": positions}
        return self.model.hidden(ids, memory, source_mask, mask, **options)

    def new_cache(self, batch: int, n_positions: int) -> KVCache:
        """As ``GPT.new_cache``; the cache of the source begins anew as well."""
        cache, self.source_cache = self.model.new_caches(batch, n_positions, self.memory.shape[1])
        return cache


def _without(token, head):
    """The same head, sharing its weight, that never gives ``token``."""
    other = Linear(head.in_features, head.out_features, device="meta")
    other.weight, other.bias = head.weight, nn.Parameter(head.bias.detach().clone())
    other.bias[token] = -math.inf
    return other
