"""Several attentions side by side, each with its own small queries, keys and values."""

from collections.abc import Callable

import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.attention import attend_fused
from clearformer.attention.groups import heads_as_rows, heads_in_turns, norm_heads
from clearformer.attention.masks import Mask, Q
from clearformer.attention.window import within_window
from clearformer.cache import LayerCache
from clearformer.checks import check_callable, check_flag, check_whole
from clearformer.shapes import shaped, shaped_module

_PARTS = {  # what messages name
    "rope": "positions.Rotary(d_head, n_positions)",
    "relative": "positions.RelativeKeys(d_head, max_distance)",
    "qk_norm": "layers.RMSNorm",
}


class MultiHeadAttention(nn.Module):
    r"""Project, attend in every head, join the heads, project.

    .. math:: y = W_o \,[\, y_1; \dots; y_H \,] + b_o, \qquad y_h = \mathrm{attend}(W_{q,h} x, W_{k,h} z, W_{v,h} z)

    with :math:`z = x` in self-attention and :math:`z` = ``source`` in cross-attention. ``n_kv_heads`` below
    ``n_heads`` lets groups of heads share keys and values. ``d_head`` is the width of a head, an equal share of
    ``d_model`` unless given. ``qk_norm(d_head)``, as ``RMSNorm``, builds a norm for the queries and one for the keys of
    each head, with ``joint_norm`` of all heads at once. In self-attention ``rope(q, positions)`` then turns queries
    and keys, ``relative(q, n_sources)`` adds a bias to the scores, and a token sees the last ``window`` sources alone,
    itself among them, and unless ``causal`` as many ahead. ``attend`` is any function of ``clearformer.attention``.

    Source: Vaswani et al. 2017, section 3.2.2; turner-v2, eq. 4 and 5; for shared keys Ainslie et al. 2023; for norms
    of queries and keys Dehghani et al. 2023, section 2, and Qwen Team 2025, section 2.
    Cost: 2 D (2 H K + 2 G K) FLOPs for every token with G key-value heads, and those of ``attend``.
    Raises: TypeError or ValueError if ``n_heads`` does not divide ``d_model`` where ``d_head`` is not given, or
    ``n_kv_heads`` not ``n_heads``, or a part cannot be called.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        d_head: int | None = None,
        bias: bool = True,
        qk_norm: Callable[[int], nn.Module] | None = None,
        rope: Callable | None = None,
        relative: Callable | None = None,
        window: int | None = None,
        joint_norm: bool = False,
        attend: Callable = attend_fused,
    ):
        super().__init__()
        self.d_model = d_model = check_whole("MultiHeadAttention", "d_model", d_model)
        self.n_heads = n_heads = check_whole("MultiHeadAttention", "n_heads", n_heads)
        if d_head is None:
            d_head = d_model // check_divides("d_model", d_model, "n_heads", n_heads, "heads")
        self.d_head = check_whole("MultiHeadAttention", "d_head", d_head)
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        self.n_kv_heads = check_divides("n_heads", n_heads, "n_kv_heads", n_kv_heads, "groups")
        self.shares = (n_heads, self.n_kv_heads, self.n_kv_heads)  # heads of queries, keys, values
        self.widths = tuple(n * self.d_head for n in self.shares)
        for name, part in (("rope", rope), ("relative", relative), ("qk_norm", qk_norm)):
            if part is not None:
                check_callable("MultiHeadAttention", name, part, _PARTS[name])
        check_callable("MultiHeadAttention", "attend", attend, "clearformer.attention.attend")
        self.qkv = nn.Linear(d_model, sum(self.widths), bias=check_flag("MultiHeadAttention", "bias", bias))
        self.out = nn.Linear(self.widths[0], d_model, bias=bias)
        self.joint_norm = check_flag("MultiHeadAttention", "joint_norm", joint_norm)
        n_queries, n_keys = self.widths[:2] if joint_norm else (self.d_head, self.d_head)
        self.q_norm = None if qk_norm is None else qk_norm(n_queries)
        self.k_norm = None if qk_norm is None else qk_norm(n_keys)
        self.window = None if window is None else check_whole("MultiHeadAttention", "window", window)
        self.rope, self.relative, self.attend = rope, relative, attend

    @property
    def writes(self) -> nn.Linear:
        """The layer that writes into the residual stream."""
        return self.out

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
            parts = self.qkv(x).unflatten(2, (-1, self.d_head)).split(self.shares, dim=2)  # B N H K, twice B N G K
            q, k, v = (part.transpose(1, 2) for part in parts)  # -> B H N K, twice B G N K
            q, k = norm_heads(self.q_norm, q, self.joint_norm), norm_heads(self.k_norm, k, self.joint_norm)
            if self.rope is not None:
                start = 0 if cache is None else cache.length
                positions = slice(start, start + x.shape[1]) if positions is None else positions
                q, k = self.rope(q, positions), self.rope(k, positions)
            k, v = (k, v) if cache is None else cache.append(k, v)
            if self.window is not None:
                k, v, mask = within_window(k, v, mask, x.shape[1], self.window, causal=causal)
        else:
            q, k, v = self._cross(x, source, cache)
        bias = {} if self.relative is None or source is not None else {"bias": self.relative(q, k.shape[2])}
        y, weights = self.scored(q, k, v, mask, causal=causal, **bias)
        return self.out(y.transpose(1, 2).flatten(2)), weights  # B H N K -> B N D

    def scored(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, **options) -> tuple[Tensor, Tensor | None]:
        """``attend`` for all heads, each with its own keys and values or with those of its group."""
        return (self.attend if self.n_kv_heads == self.n_heads else self._in_groups)(q, k, v, mask, **options)

    def _cross(self, x: Tensor, source: Tensor, cache: LayerCache | None) -> tuple[Tensor, Tensor, Tensor]:
        """Queries from ``x``, keys and values from ``source`` or, once it is filled, from the cache."""
        split = (self.widths[0], 2 * self.widths[1])
        weights = self.qkv.weight.split(split)
        biases = (None, None) if self.qkv.bias is None else self.qkv.bias.split(split)
        q = norm_heads(self.q_norm, self._heads(F.linear(x, weights[0], biases[0])), self.joint_norm)
        if cache is not None and cache.length:
            return q, *cache.filled()
        k, v = map(self._heads, F.linear(source, weights[1], biases[1]).chunk(2, dim=2))
        k = norm_heads(self.k_norm, k, self.joint_norm)
        return q, *((k, v) if cache is None else cache.append(k, v))

    def _heads(self, projected: Tensor) -> Tensor:
        """Cut the features into heads; nothing is copied."""
        return projected.view(*projected.shape[:2], -1, self.d_head).transpose(1, 2)  # B N (H K) -> B H N K

    @shaped
    def _in_groups(self, q: Q, k: Float[Tensor, "B G S K"], v, mask: Mask, *, causal, **bias):
        """``attend`` for heads that share keys and values, which are read where they are and never repeated."""
        if q.shape[2] == 1:
            return heads_as_rows(self.attend, q, k, v, mask, bias)
        return heads_in_turns(self.attend, q, k, v, mask, causal, bias)


def check_divides(total: str, n: int, part: str, n_parts: int, kind: str) -> int:
    """``n_parts``. Raises: TypeError or ValueError unless ``n`` of what ``total`` names makes as many equal parts."""
    n_parts = check_whole("MultiHeadAttention", part, n_parts)
    if n % n_parts:
        raise ValueError(
            f"MultiHeadAttention: {total}={n} cannot be split into {part}={n_parts} equal {kind}. "
            f"Choose {part} from {[d for d in range(1, n + 1) if n % d == 0]} or change {total}."
        )
    return n_parts
