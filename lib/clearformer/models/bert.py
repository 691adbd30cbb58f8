"""BERT: an encoder that reads the whole sentence and fills the gaps in it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.blocks import Encoder
from clearformer.models.init import block_parts, tie_again, truncated_normal
from clearformer.models.validate import Presets, check_ids, or_else
from clearformer.positions import LearnedPositions

Ids, Mask = Int[Tensor, "B N"], Bool[Tensor, "*#batch #N #N"] | None


@dataclass(frozen=True)
class BERTConfig(Presets):
    """The sizes of a BERT; ``d_ff`` is 4 D unless given, ``n_segments`` the number of kinds of sentence, 0 for none.

    With ``padding``, the id of the padding, positions count the other tokens, from ``padding + 1`` on, as in RoBERTa.

    Raises: TypeError or ValueError for sizes that cannot be, or a ``padding`` behind which no position is left.
    """

    n_vocab: int
    n_positions: int
    d_model: int
    n_heads: int
    n_layers: int
    d_ff: int | None = None
    n_segments: int = 2
    eps: float = 1e-12
    activation: Callable[[Tensor], Tensor] = F.gelu
    padding: int | None = None

    LEAST: ClassVar = {"n_segments": 0, "padding": 0}

    def __post_init__(self):
        super().__post_init__()
        if self.longest < 1:
            raise ValueError(
                f"BERTConfig: padding={self.padding} with n_positions={self.n_positions}, expected at least "
                f"{self.padding + 2} positions: the first {self.padding + 1} are left out."
            )

    @property
    def longest(self) -> int:
        """How many tokens fit."""
        return self.n_positions if self.padding is None else self.n_positions - self.padding - 1

    def filled(self) -> "BERTConfig":
        return replace(self, d_ff=or_else(self.d_ff, 4 * self.d_model))


# Devlin et al. 2019, section 3.
BERTConfig.PRESETS = {
    name: {"n_vocab": 30522, "n_positions": 512, "d_model": D, "n_heads": H, "n_layers": M}
    for name, D, H, M in (("bert-base-uncased", 768, 12, 12), ("bert-large-uncased", 1024, 16, 24))
}


class BERT(nn.Module):
    r"""Add word, position and segment, encode with the norm after, and compare with every word of the vocabulary.

    .. math:: x^{(0)}_n = \mathrm{norm}(e_{w_n} + p_n + s_n), \qquad
              \mathrm{logit}_{n,w} = e_w^\top \, \mathrm{norm}\bigl(\phi(W x^{(M)}_n + b)\bigr) + c_w

    Source: Devlin et al. 2019, sections 3 and 3.1.
    Cost: 2 FLOPs a token for every weight in a matrix, and 4 D N M for attention over N tokens.
    """

    def __init__(self, config: BERTConfig):
        super().__init__()
        self.config = config = config.filled()
        D, built_with = config.d_model, block_parts(config)
        self.tokens = nn.Embedding(config.n_vocab, D)
        self.positions = LearnedPositions(config.n_positions, D)
        self.segments = nn.Embedding(config.n_segments, D) if config.n_segments else None
        self.norm = built_with["norm"](D)
        self.encoder = Encoder(config.n_layers, D, config.n_heads, config.d_ff, norm_first=False, **built_with)
        self.transform, self.transform_norm = nn.Linear(D, D), built_with["norm"](D)
        self.head = nn.Linear(D, config.n_vocab)
        self.apply(truncated_normal)
        self.head.weight = self.tokens.weight
        self.register_load_state_dict_post_hook(tie_again)

    def forward(self, ids: Ids, mask: Mask = None, segments: Ids | None = None) -> Float[Tensor, "B N V"]:
        """The logits of the word at every position; arguments and errors as in ``encode``."""
        x = self.transform(self.encode(ids, mask, segments))
        return self.head(self.transform_norm(self.config.activation(x)))

    def encode(self, ids: Ids, mask: Mask = None, segments: Ids | None = None) -> Float[Tensor, "B N D"]:
        """What the model makes of every token; ``segments`` are 0 unless given.

        ``attention.padding_mask`` makes a ``mask`` that hides padding.

        Raises: TypeError for ids that are no whole numbers; ValueError for ids or segments that do not exist, segments
        of another shape, an empty batch, or more tokens than ``n_positions``.
        """
        c, device = self.config, self.tokens.weight.device
        check_ids("BERT", ids, c.n_vocab, c.longest, device=device)
        x = self.tokens(ids) + self.positions(self._positions(ids))
        if self.segments is not None:
            x = x + self.segments(self._checked_segments(ids, segments))
        elif segments is not None:
            raise ValueError("BERT: segments, but the model was built with n_segments=0. Leave them out.")
        return self.encoder(self.norm(x), mask)

    def _positions(self, ids: Tensor) -> slice | Tensor:
        """From 0 on, or behind the number of the padding, which itself is not counted."""
        if self.config.padding is None:
            return slice(0, ids.shape[1])
        counted = ids != self.config.padding
        return counted.cumsum(1) * counted + self.config.padding

    def _checked_segments(self, ids: Tensor, segments: Tensor | None) -> Tensor:
        c, segments = self.config, torch.zeros_like(ids) if segments is None else segments
        check_ids("BERT segments", segments, c.n_segments, c.longest, device=ids.device, of="the kinds of sentence")
        if segments.shape != ids.shape:
            raise ValueError(
                f"BERT: segments of shape {tuple(segments.shape)}, expected {tuple(ids.shape)}. Pass one for each id."
            )
        return segments
