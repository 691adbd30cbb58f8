"""Several attentions side by side, each with its own small queries, keys and values."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.attention import attend_fused
from clearformer.attention.masks import Mask, Q
from clearformer.cache import LayerCache
from clearformer.shapes import shaped, shaped_module


class MultiHeadAttention(nn.Module):
    r"""Project, attend in every head, join the heads, project.

    .. math:: y = W_o \,[\, y_1; \dots; y_H \,] + b_o, \qquad y_h = \mathrm{attend}(W_{q,h} x, W_{k,h} z, W_{v,h} z)

    with :math:`z = x` in self-attention and :math:`z` = ``source`` in cross-attention. ``n_kv_heads`` below
    ``n_heads`` lets groups of heads share keys and values. In self-attention ``rope(q, positions)`` turns queries and
    keys, ``relative(q, n_sources)`` adds a bias to the scores. ``attend`` is any function of ``clearformer.attention``.

    Source: Vaswani et al. 2017, section 3.2.2; turner-v2, eq. 4 and 5; for shared keys Ainslie et al. 2023.
    Cost: 2 D (2 D + 2 G K) FLOPs for every token with G key-value heads, and those of ``attend``.
    Raises: ValueError if ``n_heads`` does not divide ``d_model``, or ``n_kv_heads`` does not divide ``n_heads``.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        bias: bool = True,
        rope: Callable | None = None,
        relative: Callable | None = None,
        attend: Callable = attend_fused,
    ):
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        check_divides("d_model", d_model, "n_heads", n_heads, "heads")
        check_divides("n_heads", n_heads, "n_kv_heads", n_kv_heads, "groups")
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d_head = d_model // n_heads
        self.widths = (d_model, n_kv_heads * self.d_head, n_kv_heads * self.d_head)  # of queries, keys, values
        self.qkv = nn.Linear(d_model, sum(self.widths), bias=bias)
        self.out = nn.Linear(d_model, d_model, bias=bias)
        self.rope, self.relative, self.attend = rope, relative, attend

    @shaped_module
    def forward(
        self,
        x: Float[Tensor, "B N D"],
        source: Float[Tensor, "B S D"] | None = None,
        mask: Bool[Tensor, "*#batch #N #keys"] | None = None,
        *,
        causal: bool = False,
        cache: LayerCache | None = None,
        positions: slice | Int[Tensor, "#B N"] | None = None,
    ) -> tuple[Float[Tensor, "B N D"], Float[Tensor, "B H N keys"] | None]:
        """Outputs, and the weights if ``attend`` returns them.

        ``positions`` are those of ``x``, needed by ``rope`` only; without them ``x`` continues what the cache
        holds. In cross-attention the first call fills the cache and later ones read it instead of ``source``.

        Raises: ValueError for another width than ``d_model``.
        """
        if source is None:
            q, k, v = map(self._heads, self.qkv(x).split(self.widths, dim=2))  # B N D -> B H N K, twice B G N K
            if self.rope is not None:
                start = 0 if cache is None else cache.length
                positions = slice(start, start + x.shape[1]) if positions is None else positions
                q, k = self.rope(q, positions), self.rope(k, positions)
            k, v = (k, v) if cache is None else cache.append(k, v)
        else:
            q, k, v = self._cross(x, source, cache)
        bias = {} if self.relative is None or source is not None else {"bias": self.relative(q, k.shape[2])}
        attend = self.attend if self.n_kv_heads == self.n_heads else self._in_groups
        y, weights = attend(q, k, v, mask, causal=causal, **bias)
        return self.out(y.transpose(1, 2).flatten(2)), weights  # B H N K -> B N D

    def _cross(self, x, source, cache):
        """Queries from ``x``, keys and values from ``source`` or, once it is filled, from the cache."""
        split = (self.d_model, 2 * self.widths[1])
        weights = self.qkv.weight.split(split)
        biases = (None, None) if self.qkv.bias is None else self.qkv.bias.split(split)
        q = self._heads(F.linear(x, weights[0], biases[0]))
        if cache is not None and cache.length:
            return q, *cache.filled()
        k, v = map(self._heads, F.linear(source, weights[1], biases[1]).chunk(2, dim=2))
        return q, *((k, v) if cache is None else cache.append(k, v))

    def _heads(self, projected):
        """Cut the features into heads; nothing is copied."""
        return projected.view(*projected.shape[:2], -1, self.d_head).transpose(1, 2)  # B N (H K) -> B H N K

    @shaped
    def _in_groups(self, q: Q, k: Float[Tensor, "B G S K"], v, mask: Mask, *, causal, **bias):
        """``attend`` for heads that share keys and values, which are read where they are and never repeated.

        For one target the heads of a group are the rows of one product; for several the heads of a group take turns.
        """
        B, H, N, _ = q.shape
        in_group = H // self.n_kv_heads

        def rows(t):
            return t.reshape(t.shape[0], -1, in_group, t.shape[3]) if _by_head(t, H) else t  # B H 1 K -> B G R K

        def turn(t, r):
            return t[:, r::in_group] if _by_head(t, H) else t  # B H N K -> B G N K

        if N == 1:
            y, weights = self.attend(rows(q), k, v, rows(mask), **{name: rows(t) for name, t in bias.items()})
            seen = weights is not None and weights.shape[2:] == (in_group, k.shape[2])  # attend_recurrent has a state
            return y.reshape(B, H, 1, -1), weights.reshape(B, H, 1, -1) if seen else None
        turns = []
        for r in range(in_group):
            options = {name: turn(t, r) for name, t in bias.items()}
            turns.append(self.attend(turn(q, r), k, v, turn(mask, r), causal=causal, **options))
        y, weights = zip(*turns, strict=True)
        return torch.stack(y, 2).flatten(1, 2), None if weights[0] is None else torch.stack(weights, 2).flatten(1, 2)


def check_divides(whole: str, n: int, part: str, n_parts: int, kind: str) -> None:
    """Raises: ValueError if ``n`` of what ``whole`` names does not make ``n_parts`` equal parts."""
    if n_parts < 1 or n % n_parts:
        raise ValueError(
            f"MultiHeadAttention: {whole}={n} cannot be split into {part}={n_parts} equal {kind}. "
            f"Choose {part} from {[d for d in range(1, n + 1) if n % d == 0]} or change {whole}."
        )


def _by_head(t, n_heads):
    """Whether a mask, a bias or queries differ from head to head."""
    return t is not None and t.ndim == 4 and t.shape[1] == n_heads
