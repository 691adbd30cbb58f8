"""BERT: an encoder that reads the whole sentence and fills the gaps in it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.blocks import Encoder
from clearformer.layers import FeedForward, LayerNorm
from clearformer.linear import Linear
from clearformer.models.checks import check_ids, preset
from clearformer.positions import LearnedPositions

NO_TARGET = -100  # what cross_entropy ignores


@dataclass(frozen=True)
class BERTConfig:
    """The sizes of a BERT; ``d_hidden`` is 4 D unless given, ``n_segments`` the number of kinds of sentence."""

    n_vocab: int
    n_positions: int
    d_model: int
    n_heads: int
    n_layers: int
    d_hidden: int | None = None
    n_segments: int = 2
    eps: float = 1e-12
    activation: Callable[[Tensor], Tensor] = F.gelu

    @classmethod
    def preset(cls, name: str, **changes) -> "BERTConfig":
        """A published model's configuration, ``changes`` made to it.

        Source: Devlin et al. 2019, section 3.
        Raises: ValueError for a name that is not among the presets.
        """
        return replace(preset(cls, _PRESETS, name), **changes)


_PRESETS = {
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
        self.config = config
        D, norm = config.d_model, partial(LayerNorm, eps=config.eps)
        self.tokens = nn.Embedding(config.n_vocab, D)
        self.positions = LearnedPositions(config.n_positions, D)
        self.segments = nn.Embedding(config.n_segments, D)
        self.norm = norm(D)
        feed_forward = partial(FeedForward, activation=config.activation)
        sizes = (config.n_layers, D, config.n_heads, 4 * D if config.d_hidden is None else config.d_hidden)
        self.encoder = Encoder(*sizes, norm_first=False, norm=norm, feed_forward=feed_forward)
        self.transform, self.transform_norm = Linear(D, D), norm(D)
        self.head = Linear(D, config.n_vocab)
        self.apply(truncated_normal)
        self.head.weight = self.tokens.weight

    def forward(
        self,
        ids: Int[Tensor, "B N"],
        mask: Bool[Tensor, "*#batch #N #N"] | None = None,
        segments: Int[Tensor, "B N"] | None = None,
    ) -> Float[Tensor, "B N V"]:
        """The logits of the word at every position; arguments and errors as in ``encode``."""
        x = self.transform(self.encode(ids, mask, segments))
        return self.head(self.transform_norm(self.config.activation(x)))

    def encode(
        self,
        ids: Int[Tensor, "B N"],
        mask: Bool[Tensor, "*#batch #N #N"] | None = None,
        segments: Int[Tensor, "B N"] | None = None,
    ) -> Float[Tensor, "B N D"]:
        """What the model makes of every token; ``segments`` are 0 unless given.

        ``attention.padding_mask`` makes a ``mask`` that hides padding.

        Raises: TypeError for ids that are no whole numbers; ValueError for ids or segments that do not exist, segments
        of another shape, an empty batch, or more tokens than ``n_positions``.
        """
        check_ids("BERT", ids, self.config.n_vocab, self.config.n_positions)
        segments = torch.zeros_like(ids) if segments is None else segments
        check_ids("BERT segments", segments, self.config.n_segments, self.config.n_positions)
        if segments.shape != ids.shape:
            raise ValueError(
                f"BERT: segments of shape {tuple(segments.shape)} for ids of shape {tuple(ids.shape)}. "
                "Pass one segment for every token."
            )
        x = self.tokens(ids) + self.positions(slice(0, ids.shape[1])) + self.segments(segments)
        return self.encoder(self.norm(x), mask)


def mask_tokens(
    ids: Int[Tensor, "B N"],
    *,
    mask_id: int,
    n_vocab: int,
    share: float = 0.15,
    allowed: Bool[Tensor, "B N"] | None = None,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "B N"], Int[Tensor, "B N"]]:
    """Ids with gaps, and the targets: what stood in the gaps, ``NO_TARGET`` elsewhere.

    A ``share`` of the tokens is chosen; 80 % of them become ``mask_id``, 10 % any word, 10 % stay. Only tokens that
    are ``allowed`` are chosen, so that padding and separators stay.

    Source: Devlin et al. 2019, section 3.1, "Masked LM".
    Raises: ValueError for a ``share`` outside 0 to 1 or a ``mask_id`` outside the vocabulary.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"mask_tokens: share={share}, expected a fraction from 0 to 1.")
    if not 0 <= mask_id < n_vocab:
        raise ValueError(f"mask_tokens: mask_id={mask_id} is outside the vocabulary of {n_vocab}.")
    chance, fate = torch.rand(2, *ids.shape, generator=generator, device=ids.device)
    chosen = chance < share if allowed is None else (chance < share) & allowed
    words = torch.randint(n_vocab, ids.shape, generator=generator, device=ids.device, dtype=ids.dtype)
    corrupted = torch.where(chosen & (fate < 0.8), mask_id, ids)
    corrupted = torch.where(chosen & (fate >= 0.8) & (fate < 0.9), words, corrupted)
    return corrupted, torch.where(chosen, ids, NO_TARGET)


def masked_token_loss(
    model: nn.Module,
    ids: Int[Tensor, "B N"],
    targets: Int[Tensor, "B N"],
    mask: Bool[Tensor, "*#batch #N #N"] | None = None,
) -> Float[Tensor, ""]:
    """The mean surprise at what stood in the gaps, in nats a gap; 0 without any gap.

    Source: Devlin et al. 2019, section 3.1, "Masked LM".
    """
    total = F.cross_entropy(model(ids, mask).flatten(0, 1), targets.flatten(), ignore_index=NO_TARGET, reduction="sum")
    return total / (targets != NO_TARGET).sum().clamp(min=1)


def truncated_normal(module: nn.Module) -> None:
    """Weights of a standard deviation of 0.02 within two of it, biases 0; for ``Module.apply``.

    Source: Devlin et al. 2019, as in the published code.
    """
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.trunc_normal_(module.weight, std=0.02, a=-0.04, b=0.04)
        if getattr(module, "bias", None) is not None:
            nn.init.zeros_(module.bias)
