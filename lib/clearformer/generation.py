"""From a model's probabilities to text: choose a token, among all or the likeliest, append it, ask again."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.checks import check_model, check_real, check_whole, shorten
from clearformer.decoding import DecodingState, Ids, LanguageModel
from clearformer.shapes import shaped

SHARES = "above 0, at most 1"
TEMPERATURES = "0 (the likeliest token) or at least 1e-6"  # below it logits overflow when they are divided


def generate(
    model: LanguageModel,
    ids: Ids,
    n_tokens: int,
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    stop: int | Sequence[int] | None = None,
    generator: torch.Generator | None = None,
    cached: bool = True,
) -> Int[Tensor, "B total"] | list[Int[Tensor, "length"]]:
    """Continue every prompt by ``n_tokens`` tokens, or up to and including the token ``stop``, or the first of several.

    ``temperature=0`` takes the likeliest token; above 0 tokens are drawn by ``generator``, after ``keep_top_k`` and
    ``keep_top_p``. A tensor of prompts comes back as a tensor, rows that ended early filled up with what ended them; a
    list, whose prompts may differ in length, as a list. ``cached=False`` computes all again each time, to the same end.

    Cost: with the cache a forward pass of one token for each; without it, of all tokens so far.
    Raises: TypeError or ValueError for prompts that are no whole numbers, empty or outside the vocabulary, more tokens
    than the model has positions, settings out of their range, and a model that cannot write; FloatingPointError where
    the model's logits are NaN.
    """
    temperature = check_real("generate", "temperature", temperature, _is_temperature, TEMPERATURES)
    top_k = None if top_k is None else check_whole("generate", "top_k", top_k)
    top_p = None if top_p is None else check_real("generate", "top_p", top_p, _is_share, SHARES)
    if temperature == 0 and (top_k is not None or top_p is not None):
        raise ValueError(f"generate: top_k={top_k} and top_p={top_p} do nothing at temperature=0. Pass one above 0.")
    if not isinstance(generator, torch.Generator | None):
        raise TypeError(
            f"generate: generator={shorten(generator)}, expected a torch.Generator: torch.Generator().manual_seed(0)."
        )
    state = DecodingState(model, "generate", ids, n_tokens, cached=cached, stop=stop)
    running = torch.ones(len(state.buffer), dtype=torch.bool, device=state.buffer.device)
    with torch.inference_mode():
        for _ in range(state.n_tokens):
            logits = state.read()
            new = draw(logits / temperature, top_k, top_p, generator) if temperature else logits.argmax(-1)
            if state.stops is not None:
                new = new.where(running, state.newest_tokens())
                running = running & ~torch.isin(new, state.stops)
            state.append(new)
            if state.stops is not None and not running.any():
                break
    return state.result()


def prepare_for_generation(model: nn.Module) -> nn.Module:
    """The model itself, with the weights of layers that have more outputs than inputs column-major in memory.

    On a CPU a step of one row reads them up to twice as fast; many rows take as long as before. Values, shapes and
    names stay, and weights that are copied, converted or loaded into keep their layout. ``save_pretrained`` and
    checkpoints write the same files as before. You call it yourself, for ``safetensors.torch`` refuses such weights,
    as does all that flattens one with ``view(-1)``; ``p.data = p.data.contiguous()`` for each undoes it.

    Raises: TypeError for what is no module.
    """
    check_model("prepare_for_generation", model)
    for layer in model.modules():
        if isinstance(layer, nn.Linear) and layer.out_features > layer.in_features:
            layer.weight.data = layer.weight.data.t().contiguous().t()
    return model


def beam_search(
    model: LanguageModel,
    ids: Ids,
    n_tokens: int,
    n_beams: int,
    *,
    length_penalty: float = 1.0,
    stop: int | Sequence[int] | None = None,
    cached: bool = True,
) -> tuple[Int[Tensor, "B total"] | list[Int[Tensor, "length"]], Float[Tensor, "B"]]:
    r"""The best continuation of every prompt that a search with ``n_beams`` candidates finds, and its score.

    .. math:: \mathrm{score}(w_{1:L}) = \frac{1}{L^\alpha} \sum_{l=1}^L \log p(w_l \mid \text{prompt}, w_{1:l-1})

    L counts the new tokens up to and including one of ``stop``; :math:`\alpha` is ``length_penalty``, 0 for plain sums.

    Source: Wu et al. 2016, section 7, with their length penalty in its plain form.
    Cost: that of ``generate`` with ``n_beams`` times the batch.
    Raises: as ``generate``; TypeError or ValueError for fewer than one beam or a penalty beyond -5 to 5, where scores
    could no longer be told apart.
    """
    n_beams = check_whole("beam_search", "n_beams", n_beams)
    length_penalty = check_real("beam_search", "length_penalty", length_penalty, lambda a: -5 <= a <= 5, "from -5 to 5")
    state = DecodingState(model, "beam_search", ids, n_tokens, cached=cached, stop=stop, copies=n_beams)
    with torch.inference_mode():
        total = torch.full((len(state.buffer) // n_beams, n_beams), -math.inf, device=state.buffer.device)
        total[:, 0] = 0.0  # the copies of a prompt are alike: begin with one of them
        first = torch.arange(0, len(state.buffer), n_beams, device=total.device)[:, None]
        length, ended = torch.zeros_like(total), torch.zeros_like(total, dtype=torch.bool)
        for _ in range(state.n_tokens):
            log_p = state.read().log_softmax(-1).unflatten(0, total.shape)  # B beams V
            if state.stops is not None:  # what has ended repeats its end, at no price
                newest = state.newest_tokens().view(*total.shape, 1)
                price = log_p.gather(2, newest).masked_fill(ended[..., None], 0.0)
                log_p = log_p.masked_fill(ended[..., None], -math.inf).scatter(2, newest, price)
            longer = length + ~ended
            totals = total[..., None] + log_p
            order = (totals / longer[..., None] ** length_penalty).flatten(1).topk(n_beams).indices
            beam, new = order // log_p.shape[-1], order % log_p.shape[-1]
            total = totals.flatten(1).gather(1, order)
            length, ended = longer.gather(1, beam), ended.gather(1, beam)
            state.reorder((first + beam).flatten())
            state.append(new.flatten())
            if state.stops is not None:
                ended = ended | torch.isin(new, state.stops)
                if ended.all():
                    break
        scores, best = (total / length**length_penalty).max(1, keepdim=True)
    return state.result((first + best)[:, 0]), scores[:, 0].clone()


@shaped
def keep_top_k(logits: Float[Tensor, "*batch V"], k: int) -> Float[Tensor, "*batch V"]:
    """The ``k`` largest logits of every row (more where several are equal), -inf for the others.

    Source: Fan et al. 2018, section 5.1.
    Raises: TypeError or ValueError for a ``k`` that is no whole number of at least 1.
    """
    k = check_whole("keep_top_k", "k", k)
    least = logits.topk(min(k, logits.shape[-1])).values[..., -1:]
    return logits.masked_fill(logits < least, -math.inf)


@shaped
def keep_top_p(logits: Float[Tensor, "*batch V"], p: float) -> Float[Tensor, "*batch V"]:
    """The fewest of the likeliest tokens whose probabilities together reach ``p``, -inf for the others.

    Source: Holtzman et al. 2020, section 3.1.
    Raises: TypeError or ValueError for a ``p`` that is not above 0 and at most 1.
    """
    p = check_real("keep_top_p", "p", p, _is_share, SHARES)
    ordered, order = logits.sort(descending=True)
    probabilities = ordered.softmax(-1)
    surplus = probabilities.cumsum(-1) - probabilities >= (p if p < 1 else math.inf)  # a rounded sum is 1 too early
    return logits.masked_fill(surplus.scatter(-1, order, surplus), -math.inf)


@shaped
def draw(
    logits: Float[Tensor, "B V"], top_k: int | None = None, top_p: float | None = None, generator=None
) -> Int[Tensor, "B"]:
    """One token for every row, by the probabilities that ``keep_top_k`` and then ``keep_top_p`` leave.

    Raises: as these two.
    """
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None:
        logits = keep_top_p(logits, top_p)
    return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]


def _is_share(p: float) -> bool:
    return 0 < p <= 1


def _is_temperature(temperature: float) -> bool:
    return temperature == 0 or 1e-6 <= temperature < math.inf
