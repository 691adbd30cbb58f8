"""GPT: a decoder alone, which reads tokens from left to right and predicts the next one everywhere."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.blocks import Block, Decoder
from clearformer.cache import KVCache, cache_dtype
from clearformer.layers import FeedForward, LayerNorm, gelu_tanh
from clearformer.losses import next_token_loss as next_token_loss  # from here on as before
from clearformer.losses import surprisal as surprisal
from clearformer.models.init import block_parts, residual_writers, small_normal, tie_again
from clearformer.models.options import LayerOptions, parts_by_layer
from clearformer.models.validate import ID_DTYPES, Presets, check_ids, or_else
from clearformer.multihead import MultiHeadAttention, check_divides
from clearformer.positions import LearnedPositions, check_positions


@dataclass(frozen=True)
class GPTConfig(Presets):
    """The sizes of a GPT and its parts; unless given ``d_ff`` is 4 D, ``n_kv_heads`` is ``n_heads``, ``d_head`` D / H.

    With ``rope`` (``positions.Rotary``) queries and keys are turned and nothing is added to the tokens. ``qk_norm``
    (``layers.RMSNorm``) norms the queries and keys of each head before that, with the same ``eps`` as the tokens.
    ``window``, ``joint_norm`` and ``attend`` are those of ``MultiHeadAttention``, ``layers`` lists layers with another
    window or rope, ``block`` and ``head`` build other blocks and logits, ``embedding_scale`` multiplies the embedding.

    Raises: TypeError or ValueError for sizes that are no whole numbers from 1 on, and for parts that cannot be called.
    """

    n_vocab: int
    n_positions: int
    d_model: int
    n_heads: int
    n_layers: int
    d_ff: int | None = None
    n_kv_heads: int | None = None
    eps: float = 1e-5
    activation: Callable[[Tensor], Tensor] = F.gelu
    tied: bool = True
    norm: Callable[..., nn.Module] = LayerNorm
    feed_forward: Callable[..., nn.Module] = FeedForward
    rope: Callable[[int, int], nn.Module] | None = None
    d_head: int | None = None
    qk_norm: Callable[..., nn.Module] | None = None
    joint_norm: bool = False
    window: int | None = None
    attend: Callable | None = None
    layers: tuple[LayerOptions, ...] = ()
    block: Callable[..., nn.Module] = Block
    head: Callable[..., nn.Module] = nn.Linear
    embedding_scale: float = 1.0

    def filled(self) -> "GPTConfig":
        return replace(
            self,
            d_ff=or_else(self.d_ff, 4 * self.d_model),
            n_kv_heads=or_else(self.n_kv_heads, self.n_heads),
            d_head=or_else(self.d_head, self.d_model // self.n_heads),
        )


# Radford et al. 2019, table 2; Brown et al. 2020, table 2.1. Alternating sparse layers are left out.
GPTConfig.PRESETS = {
    name: {"n_vocab": 50257, "n_positions": N, "d_model": D, "n_heads": H, "n_layers": M, "activation": gelu_tanh}
    for name, N, D, H, M in (
        ("gpt2", 1024, 768, 12, 12),
        ("gpt2-medium", 1024, 1024, 16, 24),
        ("gpt2-large", 1024, 1280, 20, 36),
        ("gpt2-xl", 1024, 1600, 25, 48),
        ("gpt3-175b", 2048, 12288, 96, 96),
    )
}


class GPT(nn.Module):
    r"""Embed, decode, and compare with every word of the vocabulary.

    .. math:: x^{(0)}_n = e_{w_n} + p_n, \qquad
              p(w_{n+1} = w \mid w_{1:n}) = \mathrm{softmax}_w \bigl( g_w^\top \, \mathrm{norm}(x^{(M)}_n) \bigr)

    With ``tied`` the head is the embedding, :math:`g_w = e_w`. Weights begin with a standard deviation of 0.02, those
    that write into the residual stream, except those of experts, with :math:`0.02 / \sqrt{2 M}`. An attention of your
    own names that layer as ``MultiHeadAttention`` does, by ``writes``.

    Source: Radford et al. 2019, section 2.3; turner-v2, section 4.1.
    Cost: 2 FLOPs a token for every weight in a matrix, and 4 D N M for attention over N tokens.
    """

    def __init__(self, config: GPTConfig, *, attention: Callable[..., nn.Module] = MultiHeadAttention):
        super().__init__()
        if config.d_head is None:
            check_divides("d_model", config.d_model, "n_heads", config.n_heads, "heads")
        self.config = config = config.filled()
        D = config.d_model
        self.tokens = nn.Embedding(config.n_vocab, D)
        self.positions = LearnedPositions(config.n_positions, D) if config.rope is None else None
        self.decoder = Decoder(
            config.n_layers,
            D,
            config.n_heads,
            config.d_ff,
            block=config.block,
            by_layer=parts_by_layer(config, attention),
            **block_parts(config, config.norm, config.feed_forward),
        )
        self.head = config.head(D, config.n_vocab, bias=False)
        self.apply(small_normal)
        for block in self.decoder.blocks:
            for layer in residual_writers(block):
                nn.init.normal_(layer.weight, std=0.02 / math.sqrt(2 * config.n_layers))
        if config.tied:
            self.head.weight = self.tokens.weight
            self.register_load_state_dict_post_hook(tie_again)

    def forward(
        self,
        ids: Int[Tensor, "B N"],
        mask: Bool[Tensor, "*#batch #N #keys"] | None = None,
        *,
        cache: KVCache | None = None,
        positions: slice | Int[Tensor, "#B N"] | None = None,
    ) -> Float[Tensor, "B N V"]:
        """The logits of the next token at every position; ``mask`` hides more than what lies ahead, as padding.

        With a cache ``ids`` are the new tokens only, and continue what it holds.

        Raises: TypeError for ids that are no whole numbers; ValueError for unknown ids, none or over ``n_positions``.
        """
        start = 0 if cache is None else cache.length
        c, device = self.config, self.tokens.weight.device
        check_ids("GPT", ids, c.n_vocab, c.n_positions, start=start, device=device)
        return self.head(self.hidden_states(ids, mask, cache=cache, positions=positions))

    def hidden_states(
        self,
        ids: Int[Tensor, "B N"],
        mask: Bool[Tensor, "*#batch #N #keys"] | None = None,
        *,
        cache: KVCache | None = None,
        positions: slice | Int[Tensor, "#B N"] | None = None,
    ) -> Float[Tensor, "B N D"]:
        """What the head turns into logits; arguments as in ``forward``."""
        if not isinstance(ids, Tensor) or ids.ndim != 2 or ids.dtype not in ID_DTYPES:
            check_ids("GPT", ids, self.config.n_vocab, self.config.n_positions)
        start = 0 if cache is None else cache.length
        positions = slice(start, start + ids.shape[1]) if positions is None else positions
        check_positions("GPT", positions, self.config.n_positions, ids.shape[1])
        try:
            x = self.tokens(ids)
        except IndexError:  # of an id that is not there
            check_ids("GPT", ids, self.config.n_vocab, self.config.n_positions)
            raise
        if self.config.embedding_scale != 1:
            x = x * x.new_tensor(self.config.embedding_scale)
        if self.positions is not None:
            x = x + self.positions(positions)
        return self.decoder(x, mask, cache=cache, positions=positions)

    def new_cache(self, batch: int, n_positions: int) -> KVCache:
        """Room for the keys and values of ``batch`` sequences, in the dtype and on the device of their layers."""
        c, weight = self.config, self.tokens.weight
        sizes = (c.n_layers, batch, c.n_kv_heads, n_positions, c.d_head)
        return KVCache(*sizes, dtype=cache_dtype(weight), device=weight.device)
