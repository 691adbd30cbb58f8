"""From a model's probabilities to text: choose a token, append it, ask again; token by token or in several beams."""

import math
from collections.abc import Collection, Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.checks import check_model, check_real, check_whole
from clearformer.decoding import DecodingState, Ids, LanguageModel
from clearformer.drafts import Draft, check_draft
from clearformer.sampling import Adjust, Choice
from clearformer.sampling import draw as draw  # from here on as before
from clearformer.sampling import keep_top_k as keep_top_k
from clearformer.sampling import keep_top_p as keep_top_p


def stream_tokens(
    model: LanguageModel,
    ids: Ids,
    n_tokens: int,
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    adjust: Adjust | None = None,
    stop: int | Collection[int] | None = None,
    draft: Draft | None = None,
    n_sinks: int | None = None,
    generator: torch.Generator | None = None,
    cached: bool = True,
) -> Iterator[Int[Tensor, "B"]]:
    """The tokens that ``generate`` writes with the same arguments, one for every prompt, as soon as they are chosen.

    The arguments are looked at when it is called, a token is computed when it is asked for, and whoever leaves the loop
    ends the text. A row that has ended repeats what ended it. ``text.stream_text`` makes text of the tokens.

    Cost: that of ``generate``.
    Raises: as ``generate``.
    """
    state = DecodingState(model, "stream_tokens", ids, n_tokens, cached=cached, stop=stop, n_sinks=n_sinks)
    choice = Choice("stream_tokens", temperature, top_k, top_p, adjust, generator)
    return (new.clone() for new in _write(state, choice, check_draft("stream_tokens", draft, state)))


def generate(
    model: LanguageModel,
    ids: Ids,
    n_tokens: int,
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    adjust: Adjust | None = None,
    stop: int | Collection[int] | None = None,
    draft: Draft | None = None,
    n_sinks: int | None = None,
    generator: torch.Generator | None = None,
    cached: bool = True,
) -> Int[Tensor, "B total"] | list[Int[Tensor, "length"]]:
    """Continue every prompt by ``n_tokens`` tokens, or up to and including the token ``stop``, or the first of several.

    ``temperature=0`` takes the likeliest token; above 0 tokens are drawn by ``generator``, after ``keep_top_k`` and
    ``keep_top_p``. Before the temperature ``adjust(logits, new)`` may change the logits, given the tokens written so
    far without the prompts. A tensor of prompts comes back as a tensor, rows that ended early filled up with what ended
    them; a list, whose prompts may differ in length, as a list. ``cached=False`` computes all again each time, to the
    same end.

    ``draft(ids)`` guesses tokens that may follow a single text, as ``drafts.prompt_lookup`` does; several that are
    guessed right cost one pass, and what is written is the same. With ``n_sinks`` a model with rotary positions writes
    on beyond ``n_positions``: whenever they are full it keeps the first ``n_sinks`` tokens, forgets half of the others.

    Source: for ``draft`` Leviathan et al. 2023, section 2.3; for ``n_sinks`` Xiao et al. 2024, section 3.2.
    Cost: with the cache a forward pass of one token for each; without it, of all tokens so far.
    Raises: TypeError or ValueError for prompts that are no whole numbers, empty or outside the vocabulary, more tokens
    than the model has positions, settings out of their range, and a model that cannot write; FloatingPointError where
    the model's logits are NaN.
    """
    state = DecodingState(model, "generate", ids, n_tokens, cached=cached, stop=stop, n_sinks=n_sinks)
    choice = Choice("generate", temperature, top_k, top_p, adjust, generator)
    for _ in _write(state, choice, check_draft("generate", draft, state)):
        pass
    return state.result()


def _write(state: DecodingState, choice: Choice, draft: Draft | None) -> Iterator[Tensor]:
    """The one loop: read, choose, append. Inference mode ends before each token is handed out."""
    running = torch.ones(len(state.buffer), dtype=torch.bool, device=state.buffer.device)
    read: list[tuple] = []  # logits that were read and not yet used, and what was guessed to follow
    while state.n_left:
        with torch.inference_mode():
            if not read:
                guesses = () if draft is None else state.guess(draft)
                read = [*zip(state.read(guesses), [*guesses, None], strict=True)]
            logits, guess = read.pop(0)
            new = choice(logits, state, running)
            if state.stops is not None:
                new = new.where(running, state.newest_tokens())
                running = running & ~torch.isin(new, state.stops)
            state.append(new)
            if guess is not None and new != guess:
                read = []
            ended = state.stops is not None and not running.any()
        yield new
        if ended:
            return
    state.refuse_nan()


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
    stop: int | Collection[int] | None = None,
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
            log_p = state.read()[0].log_softmax(-1).unflatten(0, total.shape)  # B beams V
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
