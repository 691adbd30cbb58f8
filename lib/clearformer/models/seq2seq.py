"""The transformer as it was invented: an encoder reads one language, a decoder writes another."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.attention import padding_mask
from clearformer.blocks import Decoder, Encoder
from clearformer.cache import KVCache
from clearformer.layers import FeedForward, LayerNorm
from clearformer.linear import Linear
from clearformer.models.checks import check_ids, preset
from clearformer.models.given import Given
from clearformer.models.mae import glorot
from clearformer.positions import sines_then_cosines, sinusoidal


@dataclass(frozen=True)
class Seq2SeqConfig:
    """The sizes of a translator, and its special tokens if it has them.

    ``d_hidden`` is 4 D and ``n_decoder_layers`` is ``n_layers`` unless given; embeddings are multiplied by ``scale``,
    :math:`\\sqrt{D}` unless given. ``start`` is what the decoder is given first, ``end`` what it writes last.
    """

    n_vocab: int
    n_positions: int
    d_model: int
    n_heads: int
    n_layers: int
    d_hidden: int | None = None
    n_decoder_layers: int | None = None
    padding: int | None = None
    start: int | None = None
    end: int | None = None
    eps: float = 1e-5
    activation: Callable[[Tensor], Tensor] = F.relu
    scale: float | None = None
    waves: Callable[[int, int], Tensor] = sinusoidal

    @classmethod
    def preset(cls, name: str, **changes) -> "Seq2SeqConfig":
        """A published model's configuration, ``changes`` made to it.

        Source: Vaswani et al. 2017, table 3; Tiedemann and Thottingal 2020, English to German.
        Raises: ValueError for a name that is not among the presets.
        """
        return replace(preset(cls, _PRESETS, name), **changes)


_BASE = {"n_positions": 512, "d_model": 512, "n_heads": 8, "n_layers": 6, "d_hidden": 2048}
_MARIAN = {"padding": 58100, "start": 58100, "end": 0, "activation": F.silu, "waves": sines_then_cosines}
_PRESETS = {
    "transformer-base": _BASE | {"n_vocab": 37000},
    "opus-mt-en-de": _BASE | _MARIAN | {"n_vocab": 58101},
}


class Seq2Seq(nn.Module):
    r"""Encode the source, decode the target with a look at it, compare with every word.

    .. math:: x^{(0)}_n = \sqrt{D}\, e_{w_n} + p_n, \qquad
              \mathrm{logit}_{n,w} = e_w^\top y_n + c_w

    One embedding serves source, target and head; the bias :math:`c` of the head, 0 at first, is Marian's.

    Source: Vaswani et al. 2017, figure 1 and sections 3.1 to 3.5.
    Cost: 2 FLOPs a token for every weight in a matrix, and attention's over source, target and both.
    """

    def __init__(self, config: Seq2SeqConfig):
        super().__init__()
        self.config = c = config
        parts = {
            "norm_first": False,
            "norm": partial(LayerNorm, eps=c.eps),
            "feed_forward": partial(FeedForward, activation=c.activation),
        }
        sizes = (c.d_model, c.n_heads, 4 * c.d_model if c.d_hidden is None else c.d_hidden)
        self.scale = math.sqrt(c.d_model) if c.scale is None else c.scale
        self.tokens = nn.Embedding(c.n_vocab, c.d_model)
        self.register_buffer("positions", c.waves(c.n_positions, c.d_model), persistent=False)
        self.encoder = Encoder(c.n_layers, *sizes, **parts)
        self.decoder = Decoder(c.n_decoder_layers or c.n_layers, *sizes, cross=True, **parts)
        self.head = Linear(c.d_model, c.n_vocab)
        self.apply(glorot)
        self.head.weight = self.tokens.weight
        nn.init.normal_(self.tokens.weight, std=1 / math.sqrt(c.d_model))

    def forward(
        self,
        source: Int[Tensor, "B S"],
        target: Int[Tensor, "B N"],
        source_mask: Bool[Tensor, "B 1 1 S"] | None = None,
    ) -> Float[Tensor, "B N V"]:
        """The logits of the next word at every position of the target.

        Without a ``source_mask`` what equals the configuration's ``padding`` is hidden. Padding behind the end of a
        target needs no mask, for nothing looks ahead.

        Raises: TypeError for ids that are no whole numbers; ValueError for ids outside the vocabulary, an empty batch,
        or more tokens than ``n_positions``.
        """
        source_mask = self.source_mask(source) if source_mask is None else source_mask
        return self.decode(target, self.encode(source, source_mask), source_mask)

    def source_mask(self, source: Int[Tensor, "B S"]) -> Bool[Tensor, "B 1 1 S"] | None:
        """True where the source is not padding; None if the configuration names no padding."""
        return None if self.config.padding is None else padding_mask(source, self.config.padding)

    def encode(self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B 1 1 S"] | None = None) -> Float[Tensor, "B S D"]:
        """What the encoder makes of every token of the source; here padding is hidden by ``mask`` alone."""
        check_ids("Seq2Seq source", source, self.config.n_vocab, self.config.n_positions)
        return self.encoder(self.tokens(source) * self.scale + self.positions[: source.shape[1]], mask)

    def decode(
        self,
        target: Int[Tensor, "B N"],
        memory: Float[Tensor, "B S D"],
        source_mask: Bool[Tensor, "B 1 1 S"] | None = None,
        *,
        cache: KVCache | None = None,
        source_cache: KVCache | None = None,
    ) -> Float[Tensor, "B N V"]:
        """The logits after every token of the target, given what ``encode`` returned; caches as in ``hidden``."""
        start = 0 if cache is None else cache.length
        check_ids("Seq2Seq target", target, self.config.n_vocab, self.config.n_positions, start=start)
        return self.head(self.hidden(target, memory, source_mask, cache=cache, source_cache=source_cache))

    def hidden(
        self,
        target: Int[Tensor, "B N"],
        memory: Float[Tensor, "B S D"],
        source_mask: Bool[Tensor, "B 1 1 S"] | None = None,
        mask: Bool[Tensor, "*#batch #N #keys"] | None = None,
        *,
        cache: KVCache | None = None,
        source_cache: KVCache | None = None,
        positions: slice | Int[Tensor, "#B N"] | None = None,
    ) -> Float[Tensor, "B N D"]:
        """What the head turns into logits.

        With caches from ``new_caches`` the target holds the new tokens only, and the memory is read the first time
        only.
        """
        if positions is None:
            start = 0 if cache is None else cache.length
            positions = slice(start, start + target.shape[1])
        y = self.tokens(target) * self.scale + self.positions[positions]
        return self.decoder(y, mask, source=memory, source_mask=source_mask, cache=cache, source_cache=source_cache)

    def new_caches(self, batch: int, n_positions: int, n_sources: int) -> tuple[KVCache, KVCache]:
        """Room for ``batch`` targets of ``n_positions`` tokens, and for the sources that they look at."""
        c, options = self.config, {"dtype": self.head.weight.dtype, "device": self.head.weight.device}
        sizes = (c.n_decoder_layers or c.n_layers, batch, c.n_heads)
        own, source = (KVCache(*sizes, n, c.d_model // c.n_heads, **options) for n in (n_positions, n_sources))
        return own, source

    def given(self, source: Int[Tensor, "B S"], source_mask: Bool[Tensor, "B 1 1 S"] | None = None) -> Given:
        """The model as a writer of targets for this source, which ``generate`` and ``beam_search`` take like a GPT."""
        return Given(self, source, self.source_mask(source) if source_mask is None else source_mask)


def translation_loss(
    model: Seq2Seq, source: Int[Tensor, "B S"], target: Int[Tensor, "B N"], *, smoothing: float = 0.0
) -> Float[Tensor, ""]:
    """The mean surprise at every token of the target after its first, in nats a token; padding does not count.

    ``smoothing`` moves that share of the probability from the right token to all.

    Source: Vaswani et al. 2017, sections 3.1 and 5.4.
    Raises: ValueError for a target of fewer than 2 tokens.
    """
    if target.shape[1] < 2:
        raise ValueError(
            f"translation_loss: a target of shape {tuple(target.shape)}, expected a start token and what follows it."
        )
    logits, padding = model(source, target[:, :-1]), model.config.padding
    options = {} if padding is None else {"ignore_index": padding}
    return F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), label_smoothing=smoothing, **options)
