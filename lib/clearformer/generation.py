"""From a model's probabilities to text: choose a token, among all or the likeliest, append it, ask again."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.decoding import DecodingState, Ids, LanguageModel


def generate(
    model: LanguageModel,
    ids: Ids,
    n_tokens: int,
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    stop: int | None = None,
    generator: torch.Generator | None = None,
    cached: bool = True,
) -> Int[Tensor, "B total"] | list[Int[Tensor, "length"]]:
    """Continue every prompt by ``n_tokens`` tokens, or up to and including the token ``stop``.

    ``temperature=0`` takes the likeliest token; above 0 tokens are drawn by ``generator``, after ``keep_top_k`` and
    ``keep_top_p``. A tensor of prompts comes back as a tensor, rows that ended early filled up with ``stop``; a list,
    whose prompts may differ in length, as a list. ``cached=False`` computes all again each time and gives the same.

    Cost: with the cache a forward pass of one token for each; without it, of all tokens so far.
    Raises: TypeError or ValueError for prompts that are no whole numbers, empty or outside the vocabulary, more tokens
    than the model has positions, settings out of their range, and a model that cannot write.
    """
    if not 0 <= temperature < math.inf:
        raise ValueError(f"generate: temperature={temperature}, expected 0 (the likeliest token) or more.")
    if top_k is not None and top_k < 1:
        raise ValueError(f"generate: top_k={top_k}, expected at least 1. Pass None to keep all tokens.")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"generate: top_p={top_p}, expected more than 0 and at most 1. Pass None to keep all tokens.")
    if temperature == 0 and (top_k is not None or top_p is not None):
        raise ValueError(f"generate: top_k={top_k} and top_p={top_p} do nothing at temperature=0. Pass one above 0.")
    state = DecodingState(model, "generate", ids, n_tokens, cached=cached, stop=stop)
    running = torch.ones(len(state.buffer), dtype=torch.bool, device=state.buffer.device)
    with torch.inference_mode():
        for _ in range(n_tokens):
            logits = state.read()
            new = draw(logits / temperature, top_k, top_p, generator) if temperature else logits.argmax(-1)
            if stop is not None:
                new = new.where(running, stop)
                running = running & (new != stop)
            state.append(new)
            if stop is not None and not running.any():
                break
    return state.result()


def beam_search(
    model: LanguageModel,
    ids: Ids,
    n_tokens: int,
    n_beams: int,
    *,
    length_penalty: float = 1.0,
    stop: int | None = None,
    cached: bool = True,
) -> tuple[Int[Tensor, "B total"] | list[Int[Tensor, "length"]], Float[Tensor, "B"]]:
    r"""The best continuation of every prompt that a search with ``n_beams`` candidates finds, and its score.

    .. math:: \mathrm{score}(w_{1:L}) = \frac{1}{L^\alpha} \sum_{l=1}^L \log p(w_l \mid \text{prompt}, w_{1:l-1})

    L counts the new tokens up to and including ``stop``; :math:`\alpha` is ``length_penalty``, 0 for plain sums.

    Source: Wu et al. 2016, section 7, with their length penalty in its plain form.
    Cost: that of ``generate`` with ``n_beams`` times the batch.
    Raises: as ``generate``; ValueError for fewer than one beam or a penalty that is not finite.
    """
    if n_beams < 1 or not math.isfinite(length_penalty):
        raise ValueError(f"beam_search: {n_beams=}, {length_penalty=}, expected at least 1 beam and a finite penalty.")
    state = DecodingState(model, "beam_search", ids, n_tokens, cached=cached, stop=stop, copies=n_beams)
    with torch.inference_mode():
        total = torch.full((len(state.buffer) // n_beams, n_beams), -math.inf, device=state.buffer.device)
        total[:, 0] = 0.0  # the copies of a prompt are alike: begin with one of them
        first = torch.arange(0, len(state.buffer), n_beams, device=total.device)[:, None]
        length, ended = torch.zeros_like(total), torch.zeros_like(total, dtype=torch.bool)
        for _ in range(n_tokens):
            log_p = state.read().log_softmax(-1).unflatten(0, total.shape)  # B beams V
            if stop is not None:
                only_stop = torch.full_like(log_p[0, 0], -math.inf).index_fill(0, log_p.new_tensor([stop]).long(), 0.0)
                log_p = torch.where(ended[..., None], only_stop, log_p)
            longer = length + ~ended
            totals = total[..., None] + log_p
            order = (totals / longer[..., None] ** length_penalty).flatten(1).topk(n_beams).indices
            beam, new = order // log_p.shape[-1], order % log_p.shape[-1]
            total = totals.flatten(1).gather(1, order)
            length, ended = longer.gather(1, beam), ended.gather(1, beam)
            state.reorder((first + beam).flatten())
            state.append(new.flatten())
            if stop is not None:
                ended = ended | (new == stop)
                if ended.all():
                    break
        scores, best = (total / length**length_penalty).max(1, keepdim=True)
    return state.result((first + best)[:, 0]), scores[:, 0].clone()


def keep_top_k(logits: Float[Tensor, "*batch V"], k: int) -> Float[Tensor, "*batch V"]:
    """The ``k`` largest logits of every row (more where several are equal), -inf for the others.

    Source: Fan et al. 2018, section 5.1.
    """
    least = logits.topk(min(k, logits.shape[-1])).values[..., -1:]
    return logits.masked_fill(logits < least, -math.inf)


def keep_top_p(logits: Float[Tensor, "*batch V"], p: float) -> Float[Tensor, "*batch V"]:
    """The fewest of the likeliest tokens whose probabilities together reach ``p``, -inf for the others.

    Source: Holtzman et al. 2020, section 3.1.
    """
    ordered, order = logits.sort(descending=True)
    probabilities = ordered.softmax(-1)
    surplus = probabilities.cumsum(-1) - probabilities >= (p if p < 1 else math.inf)  # a rounded sum is 1 too early
    return logits.masked_fill(surplus.scatter(-1, order, surplus), -math.inf)


def draw(
    logits: Float[Tensor, "B V"], top_k: int | None = None, top_p: float | None = None, generator=None
) -> Int[Tensor, "B"]:
    """One token for every row, by the probabilities that ``keep_top_k`` and then ``keep_top_p`` leave."""
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None:
        logits = keep_top_p(logits, top_p)
    return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]
