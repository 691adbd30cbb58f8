"""Several attentions side by side, each with its own small queries, keys and values."""

from collections.abc import Callable

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.attention import attend_fused
from clearformer.cache import LayerCache
from clearformer.linear import Linear, linear


class MultiHeadAttention(nn.Module):
    r"""Project, attend in every head, join the heads, project.

    .. math:: y = W_o \,[\, y_1; \dots; y_H \,] + b_o, \qquad
              y_h = \mathrm{attend}(W_{q,h} x, \; W_{k,h} z, \; W_{v,h} z)

    with :math:`z = x` in self-attention and :math:`z` = ``source`` in cross-attention. ``n_kv_heads`` below
    ``n_heads`` lets groups of heads share keys and values. ``rope(q, positions)`` turns queries and keys,
    ``relative(q, n_sources)`` adds a bias to the scores, ``attend`` is any function of ``clearformer.attention``.

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
        _check_heads(d_model, n_heads, n_kv_heads)
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d_head = d_model // n_heads
        self.heads = (n_heads, n_kv_heads, n_kv_heads)  # of queries, keys, values
        self.qkv = Linear(d_model, sum(self.heads) * self.d_head, bias=bias)
        self.out = Linear(d_model, d_model, bias=bias)
        self.rope, self.relative, self.attend = rope, relative, attend

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

        Raises: ValueError for another width than ``d_model``, or for ``rope`` or ``relative`` with a ``source``.
        """
        self._check("x", x)
        start = 0 if cache is None else cache.length
        if source is None:
            q, k, v = self._split(self.qkv(x), self.heads)
            if self.rope is not None:
                positions = slice(start, start + x.shape[1]) if positions is None else positions
                q, k = self.rope(q, positions), self.rope(k, positions)
            k, v = (k, v) if cache is None else cache.append(k, v)
        else:
            self._check("source", source)
            q, k, v = self._cross(x, source, cache)
        options = {} if self.relative is None else {"bias": self.relative(q, k.shape[2])}
        if self.n_kv_heads != self.n_heads:
            k, v = (t.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1) for t in (k, v))
        y, weights = self.attend(q, k, v, mask, causal=causal, **options)
        return self.out(y.transpose(1, 2).flatten(2)), weights  # B H N K -> B N D

    def _cross(self, x, source, cache):
        """Queries from ``x``, keys and values from ``source`` or, once it is filled, from the cache."""
        if self.rope is not None or self.relative is not None:
            raise ValueError(
                "MultiHeadAttention: rope and relative compare positions within one sequence, but a source was given. "
                "Build the cross-attention without them."
            )
        split = (self.d_model, 2 * self.n_kv_heads * self.d_head)
        weights = self.qkv.weight.split(split)
        biases = (None, None) if self.qkv.bias is None else self.qkv.bias.split(split)
        (q,) = self._split(linear(x, weights[0], biases[0]), self.heads[:1])
        if cache is not None and cache.length:
            return q, *cache.filled()
        k, v = self._split(linear(source, weights[1], biases[1]), self.heads[1:])
        return q, *((k, v) if cache is None else cache.append(k, v))

    def _split(self, projected, heads):
        """Cut a projection into heads, and those into queries, keys and values; nothing is copied."""
        parts = projected.view(*projected.shape[:2], -1, self.d_head).split_with_sizes(heads, dim=2)
        return [part.transpose(1, 2) for part in parts]  # B N H K -> B H N K

    def _check(self, name, x):
        if x.ndim != 3 or x.shape[-1] != self.d_model:
            raise ValueError(
                f"MultiHeadAttention: {name} has shape {tuple(x.shape)}, expected (batch, tokens, d_model="
                f"{self.d_model}). Reshape it or project it to that width."
            )


def _check_heads(d_model, n_heads, n_kv_heads):
    if n_heads < 1 or d_model % n_heads:
        raise ValueError(
            f"MultiHeadAttention: d_model={d_model} cannot be split into n_heads={n_heads} equal heads. "
            f"Choose n_heads from {_divisors(d_model)} or change d_model."
        )
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError(
            f"MultiHeadAttention: n_heads={n_heads} cannot be split into n_kv_heads={n_kv_heads} equal groups. "
            f"Choose n_kv_heads from {_divisors(n_heads)} or change n_heads."
        )


def _divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]
