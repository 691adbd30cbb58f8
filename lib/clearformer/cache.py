"""Keys and values of the tokens seen so far, so that a new token costs one step and not a whole forward pass."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


class LayerCache:
    """Room for the keys and values of one layer; ``length`` tokens of it are filled."""

    def __init__(self, k: Float[Tensor, "B H N K"], v: Float[Tensor, "B H N Kv"]):
        self.k, self.v, self.length = k, v, 0

    def append(self, k: Float[Tensor, "B H N K"], v: Float[Tensor, "B H N Kv"]) -> tuple[Tensor, Tensor]:
        """Store the keys and values of new tokens; return those of all tokens so far, as views.

        Raises: ValueError if they do not fit the cache or each other, or need a gradient; nothing is stored then.
        """
        start, (*room, capacity, width), n = self.length, self.k.shape, k.shape[2]
        stop = start + n
        if stop > capacity:
            raise ValueError(
                f"KVCache: {n} new tokens after {start} make {stop}, but the capacity is {capacity}. "
                f"Build the cache with n_positions={stop} or more."
            )
        if k.shape != (*room, n, width) or v.shape != (*room, n, self.v.shape[-1]):
            raise ValueError(
                f"KVCache: keys of shape {tuple(k.shape)}, values of shape {tuple(v.shape)} do not fit into a cache of "
                f"shape {tuple(self.k.shape)}. Build it with the model's batch, n_kv_heads and width per head."
            )
        if (k.dtype, v.dtype) != (self.k.dtype, self.v.dtype):
            raise ValueError(
                f"KVCache: keys of {k.dtype} and values of {v.dtype} for a cache of {self.k.dtype}. Build the cache "
                "with their dtype; under torch.autocast build it there, e.g. with model.new_cache(...)."
            )
        if k.requires_grad or v.requires_grad:
            raise ValueError("KVCache: keys and values that need a gradient cannot be kept. Use torch.no_grad().")
        self.k.narrow(2, start, n).copy_(k)
        self.v.narrow(2, start, n).copy_(v)
        self.length = stop
        return self.filled()

    def filled(self) -> tuple[Tensor, Tensor]:
        """The keys and values of all tokens so far, as views."""
        return self.k.narrow(2, 0, self.length), self.v.narrow(2, 0, self.length)


class KVCache:
    """Keys and values of all layers, allocated once by the caller and filled token by token; indexed by layer.

    Use it under ``torch.no_grad()``: it is written in place, and refuses what needs a gradient. A pass of a ``Decoder``
    that raises leaves it as long as it was.

    Source: Shazeer 2019, section 2.4, for the incremental use of keys and values.
    Cost: 2 · layers · batch · kv heads · positions · width per head numbers.
    """

    def __init__(
        self, n_layers: int, batch: int, n_kv_heads: int, n_positions: int, d_head: int, *, dtype=None, device=None
    ):
        shape = (n_layers, 2, batch, n_kv_heads, n_positions, d_head)
        if min(shape) < 1:
            raise ValueError(f"KVCache: layers, 2, batch, kv heads, positions, width = {shape}, expected at least 1.")
        memory = torch.zeros(shape, dtype=dtype, device=device)
        self.layers = [LayerCache(k, v) for k, v in memory]

    def __getitem__(self, layer: int) -> LayerCache:
        return self.layers[layer]

    @property
    def length(self) -> int:
        """How many tokens are stored."""
        return self.layers[0].length

    def reorder(self, rows: Int[Tensor, "B"]) -> None:
        """Sequence i continues what ``rows[i]`` was, as in beam search. Raises: ValueError unless each has its row."""
        batch = len(self.layers[0].k)
        if rows.shape != (batch,):
            raise ValueError(
                f"KVCache: rows of shape {tuple(rows.shape)} in a cache of {batch} sequences, expected a row for each."
            )
        for layer in self.layers:
            for filled in layer.filled():
                filled.copy_(filled[rows])


def cache_dtype(weight: Tensor) -> torch.dtype:
    """The dtype of keys and values that a layer with this weight computes: its own, or that of ``torch.autocast``."""
    kind = weight.device.type
    if weight.dtype == torch.float64 or not torch.amp.is_autocast_available(kind):
        return weight.dtype
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype
