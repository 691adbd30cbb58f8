"""Attention and feed-forward network joined by residuals and norms; blocks stacked to an encoder and a decoder."""

from collections.abc import Callable, Sequence

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.cache import KVCache, LayerCache
from clearformer.checks import check_callable, check_flag, check_whole
from clearformer.layers import FeedForward, LayerNorm
from clearformer.multihead import MultiHeadAttention
from clearformer.shapes import shaped_module

Parts = list[tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]]  # what a block does, each with its norm


class Block(nn.Module):
    r"""Tokens exchange information, then every token thinks for itself; both are added to what was there.

    .. math:: x \leftarrow x + f(\mathrm{norm}(x)) \quad \text{(norm first)}, \qquad
              x \leftarrow \mathrm{norm}(x + f(x)) \quad \text{(norm after)}

    with :math:`f` self-attention, then cross-attention if ``cross``, then the feed-forward network. ``norm``,
    ``attention`` and ``feed_forward`` build the parts from their sizes: ``partial(MultiHeadAttention, n_kv_heads=2)``.

    Source: turner-v2, section 2.3, norm first; Vaswani et al. 2017, section 3.1, norm after.
    Cost: with F = 4 D about 24 D² FLOPs for every token, and 4 D for every pair of tokens.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        norm_first: bool = True,
        cross: bool = False,
        norm: Callable[[int], nn.Module] = LayerNorm,
        attention: Callable[[int, int], nn.Module] = MultiHeadAttention,
        feed_forward: Callable[[int, int], nn.Module] = FeedForward,
    ):
        super().__init__()
        for name, part in (("norm", norm), ("attention", attention), ("feed_forward", feed_forward)):
            check_callable("Block", name, part, "a class of modules, or a partial of one")
        self.d_model = check_whole("Block", "d_model", d_model)
        self.norm_first = check_flag("Block", "norm_first", norm_first)
        self.attention, self.attention_norm = attention(d_model, n_heads), norm(d_model)
        self.cross = attention(d_model, n_heads) if cross else None
        self.cross_norm = norm(d_model) if cross else None
        self.feed_forward, self.feed_forward_norm = feed_forward(d_model, d_ff), norm(d_model)

    @shaped_module
    def forward(
        self,
        x: Float[Tensor, "B N D"],
        mask: Bool[Tensor, "*#batch #N #keys"] | None = None,
        *,
        causal: bool = False,
        source: Float[Tensor, "B S D"] | None = None,
        source_mask: Bool[Tensor, "*#batch2 #N #S"] | None = None,
        cache: LayerCache | None = None,
        source_cache: LayerCache | None = None,
        positions: slice | Int[Tensor, "#B N"] | None = None,
    ) -> Float[Tensor, "B N D"]:
        """``source`` and what is named after it go to the cross-attention, everything else to the self-attention.

        Raises: ValueError for a source without cross-attention, or the reverse.
        """
        if (source is None) != (self.cross is None):
            raise ValueError(
                f"Block: built with cross={self.cross is not None} but called "
                f"{'without' if source is None else 'with'} a source. "
                "Pass a source exactly if the block has cross-attention."
            )
        own = {"causal": causal, "cache": cache, "positions": positions}
        parts: Parts = [(lambda y: self.attention(y, None, mask, **own)[0], self.attention_norm)]
        if source is not None:
            parts.append((lambda y: self.cross(y, source, source_mask, cache=source_cache)[0], self.cross_norm))
        return self.joined(x, [*parts, (self.feed_forward, self.feed_forward_norm)])

    def joined(self, x: Tensor, parts: Parts) -> Tensor:
        """``x`` and what each part writes, one part after the other; ``block_variants`` has other ways."""
        for part, norm in parts:
            x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return x


class _Stack(nn.Module):
    """``n_layers`` blocks, built with the other arguments, and with ``norm_first`` one more norm at the end.

    ``by_layer`` has for each block the arguments that it gets besides, or in place of those for all.
    """

    def __init__(
        self,
        n_layers: int,
        d_model: int,
        *sizes: int,
        norm: Callable[[int], nn.Module] = LayerNorm,
        block: Callable[..., nn.Module] = Block,
        by_layer: Sequence[dict] = (),
        **parts,
    ):
        super().__init__()
        n_layers = check_whole(type(self).__name__, "n_layers", n_layers)
        check_callable(type(self).__name__, "norm", norm, "LayerNorm")
        self.d_model = d_model = check_whole(type(self).__name__, "d_model", d_model)
        own = by_layer or [{}] * n_layers
        self.blocks = nn.ModuleList(block(d_model, *sizes, norm=norm, **parts | own[i]) for i in range(n_layers))
        self.norm = norm(d_model) if self.blocks[0].norm_first else nn.Identity()


class Encoder(_Stack):
    """Blocks in which every token sees every token; with ``norm_first`` one more norm at the end.

    ``n_layers``, then the arguments of ``Block``.

    Source: Vaswani et al. 2017, section 3.1; Devlin et al. 2019 (norm after); Dosovitskiy et al. 2021 (norm first).
    """

    @shaped_module
    def forward(
        self, x: Float[Tensor, "B N D"], mask: Bool[Tensor, "*#batch #N #N"] | None = None
    ) -> Float[Tensor, "B N D"]:
        """``mask`` is True where a token may look; for padding of shape (batch, 1, 1, tokens)."""
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)


class Decoder(_Stack):
    """Blocks in which a token sees itself and what came before, and with ``cross`` a whole source.

    ``n_layers``, then the arguments of ``Block``.

    Source: Vaswani et al. 2017, section 3.1 (norm after, cross); Radford et al. 2019 (norm first, no cross).
    """

    @shaped_module
    def forward(
        self,
        x: Float[Tensor, "B N D"],
        mask: Bool[Tensor, "*#batch #N #keys"] | None = None,
        *,
        source: Float[Tensor, "B S D"] | None = None,
        source_mask: Bool[Tensor, "*#batch2 #N #S"] | None = None,
        cache: KVCache | None = None,
        source_cache: KVCache | None = None,
        positions: slice | Int[Tensor, "#B N"] | None = None,
    ) -> Float[Tensor, "B N D"]:
        """The causal mask is always on, ``mask`` can only hide more. With a cache ``x`` holds the new tokens only."""
        options = {"causal": True, "source": source, "source_mask": source_mask, "positions": positions}
        before = [(c, c.length) for c in (cache, source_cache) if isinstance(c, KVCache)]
        try:
            for i, block in enumerate(self.blocks):
                options["cache"] = None if cache is None else cache[i]
                options["source_cache"] = None if source_cache is None else source_cache[i]
                x = block(x, mask, **options)
            return self.norm(x)
        except BaseException:
            for filled, length in before:
                filled.truncate(length)
            raise
