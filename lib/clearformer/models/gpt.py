"""GPT: a decoder alone, which reads tokens from left to right and predicts the next one everywhere."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.blocks import Decoder
from clearformer.cache import KVCache, cache_dtype
from clearformer.layers import FeedForward, LayerNorm, gelu_tanh
from clearformer.models.init import block_parts, small_normal, tie_again
from clearformer.models.validate import Presets, check_ids
from clearformer.multihead import MultiHeadAttention, check_divides
from clearformer.positions import LearnedPositions, check_positions
from clearformer.shapes import shaped


@dataclass(frozen=True)
class GPTConfig(Presets):
    """The sizes of a GPT and its parts; ``d_ff`` is 4 D and ``n_kv_heads`` is ``n_heads`` unless given.

    With ``rope`` (``positions.Rotary``) queries and keys are turned and nothing is added to the tokens.
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
    that write into the residual stream, except those of experts, with :math:`0.02 / \sqrt{2 M}`.

    Source: Radford et al. 2019, section 2.3; turner-v2, section 4.1.
    Cost: 2 FLOPs a token for every weight in a matrix, and 4 D N M for attention over N tokens.
    """

    def __init__(self, config: GPTConfig, *, attention: Callable[..., nn.Module] = MultiHeadAttention):
        super().__init__()
        self.config = config
        D = config.d_model
        check_divides("d_model", D, "n_heads", config.n_heads, "heads")
        rope = None if config.rope is None else config.rope(D // config.n_heads, config.n_positions)
        self.tokens = nn.Embedding(config.n_vocab, D)
        self.positions = LearnedPositions(config.n_positions, D) if rope is None else None
        self.decoder = Decoder(
            *(config.n_layers, D, config.n_heads, config.d_ff or 4 * D),
            attention=partial(attention, n_kv_heads=config.n_kv_heads, rope=rope),
            **block_parts(config, config.norm, config.feed_forward),
        )
        self.head = nn.Linear(D, config.n_vocab, bias=False)
        self.apply(small_normal)
        for name, weight in self.named_parameters():
            if name.endswith(("attention.out.weight", "feed_forward.down.weight")):
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * config.n_layers))
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
        check_ids("GPT", ids, self.config.n_vocab, self.config.n_positions, start=start)
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
        start = 0 if cache is None else cache.length
        positions = slice(start, start + ids.shape[1]) if positions is None else positions
        check_positions("GPT", positions, self.config.n_positions, ids.shape[1])
        x = self.tokens(ids)
        if self.positions is not None:
            x = x + self.positions(positions)
        return self.decoder(x, mask, cache=cache, positions=positions)

    def new_cache(self, batch: int, n_positions: int) -> KVCache:
        """Room for the keys and values of ``batch`` sequences, in the dtype and on the device of their layers."""
        c, weight = self.config, self.tokens.weight
        sizes = (c.n_layers, batch, c.n_kv_heads or c.n_heads, n_positions, c.d_model // c.n_heads)
        return KVCache(*sizes, dtype=cache_dtype(weight), device=weight.device)


@shaped
def next_token_loss(model: nn.Module, ids: Int[Tensor, "B N"], targets: Int[Tensor, "B N"]) -> Float[Tensor, ""]:
    r"""The mean surprise at what came next, in nats a token.

    .. math:: -\frac{1}{B N} \sum_{b, n} \log p(w_{b, n+1} \mid w_{b, 1:n})

    Source: turner-v2, section 4.1.
    """
    return F.cross_entropy(model(ids).flatten(0, 1), targets.flatten().long())


@torch.no_grad()
def surprisal(
    model: nn.Module, ids: Int[Tensor, "T"], *, stride: int | None = None, batch: int = 32
) -> Float[Tensor, "T-1"]:
    """-log2 p of every token of ``ids`` but the first, given the tokens before it, in bits.

    Windows of ``n_positions`` tokens move on by ``stride``, half of it unless given. A token counts in the first
    window that reaches it, so beyond that window it is predicted from at least ``n_positions - stride`` tokens.

    Cost: a forward pass of about ``len(ids) * n_positions / stride`` tokens.
    Raises: ValueError for fewer than two ids, or a stride that is not from 1 to ``n_positions``.
    """
    length = min(model.config.n_positions, len(ids) - 1)
    stride = max(model.config.n_positions // 2, 1) if stride is None else stride
    if length < 1 or not 1 <= stride <= model.config.n_positions:
        raise ValueError(
            f"surprisal: {len(ids)} ids with stride={stride}, expected at least 2 ids and a stride from 1 to "
            f"n_positions={model.config.n_positions}, else tokens would be left out."
        )
    last = len(ids) - 1 - length
    starts = torch.tensor([*range(0, last, stride), last])
    rows = starts[:, None] + torch.arange(length)
    dtype = torch.promote_types(next(model.parameters()).dtype, torch.float32)
    bits = ids.new_zeros(len(ids) - 1, dtype=dtype)
    for part in rows.flip(0).split(batch):  # from the end, so that earlier windows have the last word
        log_p = model(ids[part]).log_softmax(-1, dtype=dtype).gather(2, ids[part + 1][..., None])[..., 0]
        for row, values in zip(part, log_p, strict=True):
            bits[row[0] :][: len(row)] = values
    return -bits / math.log(2)
