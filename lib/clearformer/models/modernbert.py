"""ModernBERT: a BERT with rotary positions, gates, no biases, and windows in most layers."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.blocks import Encoder
from clearformer.layers import GatedFeedForward, LayerNorm
from clearformer.models.init import block_parts, tie_again, truncated_normal
from clearformer.models.options import LayerOptions, parts_by_layer
from clearformer.models.validate import Presets, check_ids, or_else
from clearformer.multihead import MultiHeadAttention, check_divides
from clearformer.positions import Rotary

Ids, Mask = Int[Tensor, "B N"], Bool[Tensor, "*#batch #N #N"] | None


@dataclass(frozen=True)
class ModernBERTConfig(Presets):
    """The sizes of a ModernBERT; ``d_ff`` is 4 D unless given. ``window`` and ``layers`` are those of ``GPTConfig``.

    Every layer has rotary positions, and a window of W reaches W - 1 tokens to both sides.
    """

    n_vocab: int
    n_positions: int
    d_model: int
    n_heads: int
    n_layers: int
    d_ff: int | None = None
    eps: float = 1e-5
    activation: Callable[[Tensor], Tensor] = F.gelu
    rope: Callable[[int, int], nn.Module] = Rotary
    window: int | None = None
    layers: tuple[LayerOptions, ...] = ()

    # What a GPT may have besides, and these models never have.
    n_kv_heads: ClassVar = None
    qk_norm: ClassVar = None
    joint_norm: ClassVar = False
    attend: ClassVar = None

    @property
    def d_head(self) -> int:
        return self.d_model // self.n_heads

    def filled(self) -> "ModernBERTConfig":
        return replace(self, d_ff=or_else(self.d_ff, 4 * self.d_model))


class ModernBERT(nn.Module):
    r"""Norm the words, encode with the norm first, and compare with every word of the vocabulary.

    .. math:: x^{(0)}_n = \mathrm{norm}(e_{w_n}), \qquad
              \mathrm{logit}_{n,w} = e_w^\top \, \mathrm{norm}\bigl(\phi(W \, \mathrm{norm}(x^{(M)}_n))\bigr) + c_w

    Source: Warner et al. 2024, section 2.1.
    Cost: 2 FLOPs a token for every weight in a matrix, and attention's over N tokens or the window.
    """

    def __init__(self, config: ModernBERTConfig):
        super().__init__()
        check_divides("d_model", config.d_model, "n_heads", config.n_heads, "heads")
        self.config = config = config.filled()
        D, built_with = config.d_model, block_parts(config, partial(LayerNorm, bias=False), GatedFeedForward)
        self.tokens = nn.Embedding(config.n_vocab, D)
        self.norm = built_with["norm"](D)
        by_layer = parts_by_layer(config, partial(MultiHeadAttention, bias=False))
        self.encoder = Encoder(config.n_layers, D, config.n_heads, config.d_ff, by_layer=by_layer, **built_with)
        self.encoder.blocks[0].attention_norm = nn.Identity()  # the words have just been normed
        self.transform, self.transform_norm = nn.Linear(D, D, bias=False), built_with["norm"](D)
        self.head = nn.Linear(D, config.n_vocab)
        self.apply(truncated_normal)
        self.head.weight = self.tokens.weight
        self.register_load_state_dict_post_hook(tie_again)

    def forward(self, ids: Ids, mask: Mask = None) -> Float[Tensor, "B N V"]:
        """The logits of the word at every position; arguments and errors as in ``encode``."""
        x = self.transform(self.encode(ids, mask))
        return self.head(self.transform_norm(self.config.activation(x)))

    def encode(self, ids: Ids, mask: Mask = None) -> Float[Tensor, "B N D"]:
        """What the model makes of every token; ``attention.padding_mask`` makes a ``mask`` that hides padding.

        Raises: TypeError for ids that are no whole numbers; ValueError for ids that do not exist, an empty batch, or
        more tokens than ``n_positions``.
        """
        c = self.config
        check_ids("ModernBERT", ids, c.n_vocab, c.n_positions, device=self.tokens.weight.device)
        return self.encoder(self.norm(self.tokens(ids)), mask)
