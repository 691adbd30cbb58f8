"""Keys and values of the tokens seen so far, so that a new token costs one step and not a whole forward pass."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.checks import check_whole
from clearformer.shapes import extremes


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
    that raises leaves it as long as it was. Values have the width of keys unless ``d_value`` is given.

    Source: Shazeer 2019, section 2.4, for the incremental use of keys and values.
    Cost: 2 · layers · batch · kv heads · positions · width per head numbers.
    """

    def __init__(
        self,
        n_layers: int,
        batch: int,
        n_kv_heads: int,
        n_positions: int,
        d_head: int,
        *,
        d_value: int | None = None,
        dtype=None,
        device=None,
    ):
        sizes = {"n_layers": n_layers, "batch": batch, "n_kv_heads": n_kv_heads, "n_positions": n_positions}
        sizes |= {"d_head": d_head, "d_value": d_head if d_value is None else d_value}
        layers, *rest, d_head, d_value = (check_whole("KVCache", name, size) for name, size in sizes.items())
        widths = [math.prod(rest) * width for width in (d_head, d_value)]
        memory = torch.zeros(layers, sum(widths), dtype=dtype, device=device)
        parts = (row.split(widths) for row in memory)
        self.layers = [LayerCache(k.view(*rest, d_head), v.view(*rest, d_value)) for k, v in parts]

    def __getitem__(self, layer: int) -> LayerCache:
        return self.layers[layer]

    @property
    def length(self) -> int:
        """How many tokens are stored."""
        return self.layers[0].length

    def truncate(self, length: int) -> None:
        """Forget all but the first ``length`` tokens. Raises: ValueError for more than a layer holds."""
        length = check_whole("KVCache", "length", length, 0, max(layer.length for layer in self.layers))
        for layer in self.layers:
            layer.length = min(layer.length, length)

    def reorder(self, rows: Int[Tensor, "B"]) -> None:
        """Sequence i continues what ``rows[i]`` was, as in beam search. Raises: ValueError unless each has its row."""
        batch = len(self.layers[0].k)
        if not isinstance(rows, Tensor) or rows.dtype not in (torch.int64, torch.int32) or rows.shape != (batch,):
            came = f"{rows.dtype} of shape {tuple(rows.shape)}" if isinstance(rows, Tensor) else type(rows).__name__
            raise ValueError(
                f"KVCache: rows are {came} in a cache of {batch} sequences, expected the number of a sequence for each."
            )
        low, high = extremes(rows) or (0, 0)
        if low < 0 or high >= batch:
            raise ValueError(
                f"KVCache: row {low if low < 0 else high} of {batch} sequences, expected 0 to {batch - 1}."
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
