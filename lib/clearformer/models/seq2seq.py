"""The transformer as it was invented: an encoder reads one language, a decoder writes another."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.attention import padding_mask
from clearformer.blocks import Decoder, Encoder
from clearformer.cache import KVCache, cache_dtype
from clearformer.checks import check_real
from clearformer.layers import FeedForward, LayerNorm
from clearformer.models.init import block_parts, glorot, tie_again
from clearformer.models.validate import ID_DTYPES, Presets, check_ids, or_else
from clearformer.multihead import MultiHeadAttention
from clearformer.positions import LearnedPositions, check_positions, sinusoidal
from clearformer.shapes import shaped


@dataclass(frozen=True)
class Seq2SeqConfig(Presets):
    """The sizes of a translator, and its special tokens if it has them.

    Unless given, ``d_ff`` is 4 D and the decoder has the encoder's sizes; embeddings are multiplied by ``scale``,
    :math:`\\sqrt{D}` unless given. ``start`` is what the decoder is given first, ``end`` what it writes last;
    ``interleaved`` is that of ``sinusoidal``. With ``first_position`` positions are learned instead, apart for source
    and target, and counted from there on; with ``norm_embeddings`` what they are added to is normed, both as in BART.

    With ``distances`` nothing is added to the words: ``distances(n_heads, ahead=...)``, as ``DistanceBuckets``, builds
    a bias of the scores for the encoder, which looks ahead, and one for the decoder, and ``n_positions`` is only the
    longest text. Without ``shared_distances`` each layer has a bias of its own, as in UMT5. ``norm``, ``feed_forward``,
    ``attend``, ``d_head``, ``head`` and ``tied`` are those of ``GPTConfig``.
    """

    n_vocab: int
    n_positions: int
    d_model: int
    n_heads: int
    n_layers: int
    d_ff: int | None = None
    n_decoder_layers: int | None = None
    n_decoder_heads: int | None = None
    d_decoder_ff: int | None = None
    padding: int | None = None
    start: int | None = None
    end: int | None = None
    eps: float = 1e-5
    activation: Callable[[Tensor], Tensor] = F.relu
    scale: float | None = None
    interleaved: bool = True
    first_position: int | None = None
    norm_embeddings: bool = False
    norm_first: bool = False
    norm: Callable[..., nn.Module] = LayerNorm
    feed_forward: Callable[..., nn.Module] = FeedForward
    attend: Callable | None = None
    d_head: int | None = None
    distances: Callable[..., nn.Module] | None = None
    shared_distances: bool = True
    head: Callable[..., nn.Module] = nn.Linear
    tied: bool = True

    LEAST: ClassVar = dict.fromkeys(("padding", "start", "end", "first_position"), 0)
    FITS: ClassVar = Presets.FITS | {"scale": (math.isfinite, "which is finite")}

    def __post_init__(self):
        super().__post_init__()
        for name in ("padding", "start", "end"):
            token = getattr(self, name)
            if token is not None and token >= self.n_vocab:
                raise ValueError(
                    f"Seq2SeqConfig: {name}={token}, expected the id of a token, 0 to {self.n_vocab - 1}, or None."
                )

        if self.distances is not None and self.first_position is not None:
            raise ValueError(
                f"Seq2SeqConfig: first_position={self.first_position} with distances, expected one of them: positions "
                "are learned, or the scores are told distances."
            )

    def filled(self) -> "Seq2SeqConfig":
        d_ff = or_else(self.d_ff, 4 * self.d_model)
        return replace(
            self,
            d_ff=d_ff,
            n_decoder_layers=or_else(self.n_decoder_layers, self.n_layers),
            n_decoder_heads=or_else(self.n_decoder_heads, self.n_heads),
            d_decoder_ff=or_else(self.d_decoder_ff, d_ff),
        )


_BASE = {"n_positions": 512, "d_model": 512, "n_heads": 8, "n_layers": 6, "d_ff": 2048}
_MARIAN = {"padding": 58100, "start": 58100, "end": 0, "activation": F.silu, "interleaved": False}
# Vaswani et al. 2017, table 3; Tiedemann and Thottingal 2020, English to German.
Seq2SeqConfig.PRESETS = {
    "transformer-base": _BASE | {"n_vocab": 37000},
    "opus-mt-en-de": _BASE | _MARIAN | {"n_vocab": 58101},
}


class Seq2Seq(nn.Module):
    r"""Encode the source, decode the target with a look at it, compare with every word.

    .. math:: x^{(0)}_n = \sqrt{D}\, e_{w_n} + p_n, \qquad \mathrm{logit}_{n,w} = e_w^\top y_n + c_w

    One embedding serves source, target and, if ``tied``, head; the bias :math:`c` of the head, 0 at first, is Marian's.

    Source: Vaswani et al. 2017, figure 1 and sections 3.1 to 3.5; for learned positions Lewis et al. 2020 (BART), for
    distances Raffel et al. 2020 (T5), section 2.1.
    Cost: 2 FLOPs a token for every weight in a matrix, and attention's over source, target and both.
    """

    def __init__(self, config: Seq2SeqConfig, *, attention: Callable[..., nn.Module] = MultiHeadAttention):
        super().__init__()
        self.config = c = config.filled()
        heads = {"d_head": c.d_head} | ({} if c.attend is None else {"attend": c.attend})
        options = {"norm_first": c.norm_first, **block_parts(c, c.norm, c.feed_forward)}
        options["attention"] = partial(attention, **heads)
        self.scale = math.sqrt(c.d_model) if c.scale is None else c.scale
        self.tokens = nn.Embedding(c.n_vocab, c.d_model)
        self._add_positions()
        norm = options["norm"] if c.norm_embeddings else nn.Identity
        self.source_norm, self.target_norm = norm(c.d_model), norm(c.d_model)
        self.encoder = Encoder(c.n_layers, c.d_model, c.n_heads, c.d_ff, **options)
        own = (c.n_decoder_layers, c.d_model, c.n_decoder_heads, c.d_decoder_ff)
        self.decoder = Decoder(*own, cross=True, **options)
        if c.distances is not None:
            _add_distances(self.encoder, partial(c.distances, c.n_heads, ahead=True), shared=c.shared_distances)
            _add_distances(
                self.decoder, partial(c.distances, c.n_decoder_heads, ahead=False), shared=c.shared_distances
            )
        self.head = c.head(c.d_model, c.n_vocab)
        self.apply(glorot)
        if c.tied:
            self.head.weight = self.tokens.weight
            self.register_load_state_dict_post_hook(tie_again)
        nn.init.normal_(self.tokens.weight, std=1 / math.sqrt(c.d_model))

    def _add_positions(self) -> None:
        """Waves or learned positions, which are added to the words; neither, where the scores are told distances."""
        c = self.config
        self.source_positions = self.target_positions = waves = None
        if c.distances is None and c.first_position is None:
            waves = sinusoidal(c.n_positions, c.d_model, interleaved=c.interleaved)
        elif c.distances is None:
            sizes = c.first_position + c.n_positions, c.d_model
            self.source_positions, self.target_positions = LearnedPositions(*sizes), LearnedPositions(*sizes)
        self.register_buffer("positions", waves, persistent=False)

    def forward(
        self,
        source: Int[Tensor, "B S"],
        target: Int[Tensor, "B N"],
        source_mask: Bool[Tensor, "B 1 1 S"] | None = None,
    ) -> Float[Tensor, "B N V"]:
        """The logits of the next word at every position of the target.

        Without a ``source_mask`` what equals the configuration's ``padding`` is hidden. Padding behind the end of a
        target needs no mask, for nothing looks ahead.

        Raises: TypeError for ids that are no whole numbers; ValueError for unknown, no or too many ids, or other masks.
        """
        source_mask = self.source_mask(source) if source_mask is None else source_mask
        return self.decode(target, self.encode(source, source_mask), source_mask)

    def source_mask(self, source: Int[Tensor, "B S"]) -> Bool[Tensor, "B 1 1 S"] | None:
        """True where the source is not padding; None if the configuration names no padding."""
        return None if self.config.padding is None else padding_mask(source, self.config.padding)

    def encode(self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B 1 1 S"] | None = None) -> Float[Tensor, "B S D"]:
        """What the encoder makes of every token of the source; here padding is hidden by ``mask`` alone."""
        c, device = self.config, self.tokens.weight.device
        check_ids("Seq2Seq source", source, c.n_vocab, c.n_positions, device=device)
        if mask is not None and mask.shape[1:] != (1, 1, source.shape[1]):
            raise ValueError(f"Seq2Seq: mask of shape {tuple(mask.shape)}, expected (B, 1, 1, S): mask[:, None, None].")
        x = self._embedded(source, slice(0, source.shape[1]), self.source_positions)
        return self.encoder(self.source_norm(x), mask)

    def _embedded(self, ids: Tensor, positions: slice | Tensor, learned: nn.Module | None) -> Tensor:
        """Words and where they stand, by the waves or what was learned, unless the scores are told."""
        x, first = self.tokens(ids) * self.scale, self.config.first_position
        if learned is None:
            return x if self.positions is None else x + self.positions[positions]
        if isinstance(positions, slice):
            stop = self.config.n_positions if positions.stop is None else positions.stop
            return x + learned(slice((positions.start or 0) + first, stop + first))
        return x + learned(positions + first)

    def decode(
        self,
        target: Int[Tensor, "B N"],
        memory: Float[Tensor, "B S D"],
        source_mask: Bool[Tensor, "B 1 1 S"] | None = None,
        *,
        cache: KVCache | None = None,
        source_cache: KVCache | None = None,
    ) -> Float[Tensor, "B N V"]:
        """The logits after every token of the target, given what ``encode`` gave; caches as in ``hidden_states``."""
        start = 0 if cache is None else cache.length
        c, device = self.config, self.tokens.weight.device
        check_ids("Seq2Seq target", target, c.n_vocab, c.n_positions, start=start, device=device)
        return self.head(self.hidden_states(target, memory, source_mask, cache=cache, source_cache=source_cache))

    def hidden_states(
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

        With caches from ``new_caches`` the target holds the new tokens only; the memory is read the first time only.
        """
        if not isinstance(target, Tensor) or target.ndim != 2 or target.dtype not in ID_DTYPES:
            check_ids("Seq2Seq target", target, self.config.n_vocab, self.config.n_positions)
        start = 0 if cache is None else cache.length
        positions = slice(start, start + target.shape[1]) if positions is None else positions
        check_positions("Seq2Seq", positions, self.config.n_positions, target.shape[1])
        y = self.target_norm(self._embedded(target, positions, self.target_positions))
        return self.decoder(y, mask, source=memory, source_mask=source_mask, cache=cache, source_cache=source_cache)

    def new_caches(self, batch: int, n_positions: int, n_sources: int) -> tuple[KVCache, KVCache]:
        """Room for ``batch`` targets of ``n_positions`` tokens, and for the sources that they look at."""
        c, options = self.config, {"dtype": cache_dtype(self.tokens.weight), "device": self.tokens.weight.device}
        sizes, width = (c.n_decoder_layers, batch, c.n_decoder_heads), or_else(c.d_head, c.d_model // c.n_decoder_heads)
        own = KVCache(*sizes, n_positions, width, **options)
        return own, KVCache(*sizes, n_sources, width, **options)

    def conditioned_on(
        self, source: Int[Tensor, "B S"], source_mask: Bool[Tensor, "B 1 1 S"] | None = None
    ) -> "SourceConditioned":
        """The model as a writer of targets for this source, which ``generate`` and ``beam_search`` take like a GPT."""
        return SourceConditioned(self, source, self.source_mask(source) if source_mask is None else source_mask)


@shaped
def translation_loss(
    model: nn.Module, source: Int[Tensor, "B S"], target: Int[Tensor, "B N"], *, smoothing: float = 0.0
) -> Float[Tensor, ""]:
    """The mean surprise at every token of the target after its first, in nats a token; padding does not count.

    ``smoothing`` moves that share of the probability from the right token to all.

    Source: Vaswani et al. 2017, sections 3.1 and 5.4.
    Raises: ValueError for a target of fewer than 2 tokens, or of padding alone.
    """
    total, count = translation_total(model, source, target, smoothing=smoothing)
    if count.device.type == "cpu" and not torch.compiler.is_compiling() and count == 0:
        raise ValueError("translation_loss: after their first tokens the targets are padding alone. Leave them out.")
    return total / count


@shaped
def translation_total(
    model: nn.Module, source: Int[Tensor, "B S"], target: Int[Tensor, "B N"], *, smoothing: float = 0.0
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """The sum whose mean ``translation_loss`` is, and how many tokens it counts: for ``train``, where a part of a batch
    with less padding would else weigh as much as one with more. Errors as there, but for padding alone.
    """
    smoothing = check_real("translation_loss", "smoothing", smoothing, lambda share: 0 <= share <= 1, "from 0 to 1")
    if target.shape[1] < 2:
        raise ValueError(f"translation_loss: target of shape {tuple(target.shape)}, expected a start token and more.")
    wanted, padding = target[:, 1:].flatten().long(), model.config.padding
    logits = model(source, target[:, :-1]).flatten(0, 1)
    ignored = -100 if padding is None else padding
    total = F.cross_entropy(logits, wanted, ignore_index=ignored, label_smoothing=smoothing, reduction="sum")
    return total, (wanted != ignored).sum()


def _add_distances(stack: Encoder | Decoder, build: Callable[[], nn.Module], *, shared: bool) -> None:
    """Give the scores of every block a bias by distance: one for all blocks, or each its own."""
    biases = [build()] * len(stack.blocks) if shared else [build() for _ in stack.blocks]
    for block, bias in zip(stack.blocks, biases, strict=True):
        block.attention.relative = bias


class _WithoutPadding(nn.Module):
    """A head whose logits give one word the probability 0."""

    def __init__(self, head: nn.Module, padding: int):
        super().__init__()
        self.head, self.padding = head, padding

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch V"]:
        logits = self.head(x)
        return logits.index_fill(-1, torch.tensor(self.padding, device=logits.device), -math.inf)


class SourceConditioned:
    """A ``Seq2Seq`` whose source is fixed, which ``generate`` takes like a GPT.

    Several targets for each source repeat the sources. Padding gets the probability 0, for no translator means it, and
    those of all other words sum to 1. Beams of ``transformers`` do so with ``renormalize_logits=True``; without it they
    compare texts by sums in which padding keeps its share, and may find another text.
    """

    def __init__(self, model: Seq2Seq, source: Tensor, source_mask: Tensor | None):
        self.model, self.config, self.head = model, model.config, model.head
        with torch.no_grad():
            self.memory, self.source_mask = model.encode(source, source_mask), source_mask
        if self.config.padding is not None:
            self.head = _WithoutPadding(model.head, self.config.padding)
        self.source_cache = None

    def hidden_states(self, ids, mask=None, *, cache=None, positions=None):
        """As ``GPT.hidden_states``. Raises: ValueError for a batch that is no multiple of that of the sources."""
        memory, source_mask = self.memory, self.source_mask
        copies, rest = divmod(len(ids), len(memory))
        if rest:
            raise ValueError(f"conditioned_on: {len(ids)} targets for {len(memory)} sources. Pass a prompt for each.")
        source_cache = None if cache is None else self.source_cache
        if source_cache is not None and source_cache.length:
            memory = memory[:1].expand(len(ids), -1, -1)  # only its shape counts: keys and values are in the cache
        elif copies > 1:
            memory = memory.repeat_interleave(copies, 0)
        if copies > 1 and source_mask is not None:
            source_mask = source_mask.repeat_interleave(copies, 0)
        options = {"cache": cache, "source_cache": source_cache, "positions": positions}
        return self.model.hidden_states(ids, memory, source_mask, mask, **options)

    def new_cache(self, batch: int, n_positions: int) -> KVCache:
        """As ``GPT.new_cache``; the cache of the source begins anew as well."""
        cache, self.source_cache = self.model.new_caches(batch, n_positions, self.memory.shape[1])
        return cache
