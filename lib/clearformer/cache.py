"""Keys and values of the tokens seen so far, so that a new token costs one step and not a whole forward pass."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


class LayerCache:
    """Room for the keys and values of one layer; ``length`` tokens of it are filled."""

    def __init__(self, k: Float[Tensor, "B H N K"], v: Float[Tensor, "B H N Kv"]):
        self.k, self.v, self.length = k, v, 0
        self.batch, self.heads, self.room, self.width = k.shape

    def append(self, k: Float[Tensor, "B H N K"], v: Float[Tensor, "B H N Kv"]) -> tuple[Tensor, Tensor]:
        """Store the keys and values of new tokens; return those of all tokens so far, as views.

        Raises: ValueError if they do not fit, for another batch size or other heads; nothing is stored then.
        """
        start = self.length
        batch, heads, n, width = k.shape
        stop = start + n
        if stop > self.room:
            raise ValueError(
                f"KVCache: {n} new tokens after {start} make {stop}, but there is room for {self.room}. "
                f"Build the cache with n_positions={stop} or more."
            )
        if (batch, heads, width) != (self.batch, self.heads, self.width):
            raise ValueError(
                f"KVCache: keys of shape {tuple(k.shape)} do not fit into a cache of shape {tuple(self.k.shape)}. "
                "Build the cache with the model's batch, n_kv_heads and width per head."
            )
        self.k.narrow(2, start, n).copy_(k)
        self.v.narrow(2, start, n).copy_(v)
        self.length = stop
        return self.filled()

    def filled(self) -> tuple[Tensor, Tensor]:
        """The keys and values of all tokens so far, as views."""
        return self.k.narrow(2, 0, self.length), self.v.narrow(2, 0, self.length)


class KVCache:
    """Keys and values of all layers, allocated once by the caller and filled token by token; indexed by layer.

    Use it under ``torch.no_grad()``: it is written in place.

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
        dtype: torch.dtype | None = None,
        device: torch.device | None = None,
    ):
        shape = (n_layers, 2, batch, n_kv_heads, n_positions, d_head)
        if min(shape) < 1:
            raise ValueError(
                f"KVCache: layers, 2, batch, kv heads, positions, width = {shape}: all must be at least 1."
            )
        memory = torch.zeros(shape, dtype=dtype, device=device)
        self.layers = [LayerCache(k, v) for k, v in memory]

    def __getitem__(self, layer: int) -> LayerCache:
        return self.layers[layer]

    @property
    def length(self) -> int:
        """How many tokens are stored."""
        return self.layers[0].length

    def reorder(self, rows: Int[Tensor, "B"]) -> None:
        """Sequence i continues what sequence ``rows[i]`` was; for beam search."""
        for layer in self.layers:
            for filled in layer.filled():
                filled.copy_(filled[rows])

    def reset(self) -> None:
        """Forget all tokens and keep the memory."""
        for layer in self.layers:
            layer.length = 0
