"""From a model's probabilities to text: choose a token, append it, ask again."""

import math
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from clearformer.models.checks import check_ids
from clearformer.sampling import check_sampling, draw

Ids = Int[Tensor, "B N"] | Sequence[Sequence[int] | Int[Tensor, "N"]]


def generate(
    model,
    ids: Ids,
    n_tokens: int,
    *,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    stop: int | None = None,
    generator: torch.Generator | None = None,
    cached: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Int[Tensor, "B total"] | list[Int[Tensor, "length"]]:
    """Continue every prompt by ``n_tokens`` tokens, or up to and including the token ``stop``.

    ``temperature=0`` takes the likeliest token each time; above 0 tokens are drawn by ``generator``, after
    ``sampling.keep_top_k`` and ``keep_top_p``. A tensor of prompts comes back as a tensor, rows that ended early filled
    up with ``stop``; a list of prompts, which may differ in length, comes back as a list. ``cached=False`` computes
    everything again for each token and gives the same. ``progress(done, n_tokens)`` is called after each token.
    ``model`` is a GPT, or ``Seq2Seq.given(source)``.

    Cost: with the cache a forward pass of one token for each; without it, of all tokens so far.
    Raises: TypeError or ValueError for prompts that are no whole numbers, empty or outside the vocabulary, more tokens
    than the model has positions, and settings out of their range.
    """
    check_sampling(temperature, top_k, top_p)
    steps = _Steps(model, "generate", ids, n_tokens, cached)
    running = torch.ones(len(steps.ids), dtype=torch.bool, device=steps.ids.device)
    with torch.inference_mode():
        for done in range(1, n_tokens + 1):
            logits = steps.next_logits()
            new = draw(logits / temperature, top_k, top_p, generator) if temperature else logits.argmax(-1)
            if stop is not None:
                new = new.where(running, stop)
                running = running & (new != stop)
            steps.append(new)
            if progress is not None:
                progress(done, n_tokens)
            if stop is not None and not running.any():
                break
    return steps.result(stop)


def beam_search(
    model,
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
    Raises: as ``generate``; ValueError for fewer than one beam.
    """
    if n_beams < 1:
        raise ValueError(f"beam_search: n_beams={n_beams}, expected at least 1.")
    steps = _Steps(model, "beam_search", ids, n_tokens, cached, copies=n_beams)
    with torch.inference_mode():
        total = torch.full((len(steps.ids) // n_beams, n_beams), -math.inf, device=steps.ids.device)
        total[:, 0] = 0.0  # the copies of a prompt are alike: begin with one of them
        length, ended = torch.zeros_like(total), torch.zeros_like(total, dtype=torch.bool)
        for _ in range(n_tokens):
            log_p = steps.next_logits().log_softmax(-1).unflatten(0, total.shape)  # B beams V
            if stop is not None:
                only_stop = torch.full_like(log_p[0, 0], -math.inf).index_fill(0, log_p.new_tensor([stop]).long(), 0.0)
                log_p = torch.where(ended[..., None], only_stop, log_p)
            longer = length + ~ended
            totals = total[..., None] + log_p
            order = (totals / longer[..., None] ** length_penalty).flatten(1).topk(n_beams).indices
            beam, new = order // log_p.shape[-1], order % log_p.shape[-1]
            total = totals.flatten(1).gather(1, order)
            length, ended = longer.gather(1, beam), ended.gather(1, beam)
            steps.reorder(beam)
            steps.append(new.flatten())
            if stop is not None:
                ended = ended | (new == stop)
                if ended.all():
                    break
        scores = total / length**length_penalty
    best = scores.argmax(1)
    return steps.result(stop, best), scores.clone().gather(1, best[:, None])[:, 0]


class _Steps:
    """The sequences so far, with what the model needs to continue them: cache, mask and positions.

    Shorter prompts are padded at the front, so that all sequences end together; a mask hides the padding, and
    positions count from the first real token.
    """

    def __init__(self, model, caller, ids, n_tokens, cached, copies=1):
        self.model, self.caller, self.as_tensor = model, caller, isinstance(ids, Tensor)
        prompts, n_padding = _pad(caller, ids, model.head.weight.device)
        check_ids(caller, prompts, model.config.n_vocab, model.config.n_positions)
        n_rows, self.n_prompt = prompts.shape
        self.n_total = self.n_prompt + n_tokens
        if n_tokens < 1 or self.n_total > model.config.n_positions:
            raise ValueError(
                f"{caller}: {n_tokens} new tokens after {self.n_prompt} make {self.n_total}, but the model has "
                f"n_positions={model.config.n_positions}. Ask for at least 1 and at most "
                f"{model.config.n_positions - self.n_prompt}, or shorten the prompt."
            )
        self.buffer = prompts.new_zeros(n_rows * copies, self.n_total)
        self.buffer[:, : self.n_prompt] = prompts.repeat_interleave(copies, 0)
        self.length, self.n_padding = self.n_prompt, n_padding.repeat_interleave(copies)
        self.mask = self.positions = None
        if self.n_padding.any():
            self.positions = torch.arange(self.n_total, device=prompts.device) - self.n_padding[:, None]
            self.mask = (self.positions >= 0)[:, None, None, :]
            self.positions = self.positions.clamp(min=0)
        with torch.inference_mode():
            self.cache = model.new_cache(n_rows * copies, self.n_total) if cached else None

    @property
    def ids(self):
        return self.buffer[:, : self.length]

    def next_logits(self):
        start = 0 if self.cache is None else self.cache.length
        positions = slice(start, self.length) if self.positions is None else self.positions[:, start : self.length]
        mask = None if self.mask is None else self.mask[..., : self.length]
        new = self.buffer[:, start : self.length]
        hidden = self.model.hidden(new, mask, cache=self.cache, positions=positions)
        return self.model.head(hidden[:, -1])

    def append(self, new):
        self.buffer[:, self.length] = new
        self.length += 1

    def reorder(self, beam):
        """Beam i of a prompt continues what its beam ``beam[i]`` was."""
        first = torch.arange(len(beam), device=beam.device)[:, None] * beam.shape[1]
        rows = (first + beam).flatten()
        self.buffer = self.buffer[rows]
        if self.cache is not None:
            self.cache.reorder(rows)

    def result(self, stop, best=None):
        """An ordinary tensor again, outside of inference mode, or one row for each prompt of the list."""
        rows, n_padding = self.ids.clone(), self.n_padding
        if best is not None:
            chosen = torch.arange(len(best), device=best.device) * (len(rows) // len(best)) + best
            rows, n_padding = rows[chosen], n_padding[chosen]
        if self.as_tensor:
            return rows
        return [self._trim(row[n:], self.n_prompt - n, stop) for row, n in zip(rows, n_padding.tolist(), strict=True)]

    @staticmethod
    def _trim(row, n_prompt, stop):
        ends = (row[n_prompt:] == stop).nonzero() if stop is not None else ()
        return row[: n_prompt + int(ends[0]) + 1] if len(ends) else row


def _pad(caller, ids, device):
    """Prompts as a tensor, shorter ones with zeros in front, and how many zeros."""
    if isinstance(ids, Tensor):
        return ids, ids.new_zeros(ids.shape[:1])
    prompts = [torch.as_tensor(prompt, device=device) for prompt in ids]
    bad = [tuple(p.shape) for p in prompts if p.ndim != 1 or len(p) == 0 or p.is_floating_point()]
    if bad or not prompts:
        raise ValueError(
            f"{caller}: {f'a prompt of shape {bad[0]}' if bad else 'no prompts'}, expected one row of at least one "
            "whole number for each. Encode each text, and leave empty ones out or begin them with a start token."
        )
    n_longest = max(map(len, prompts))
    rows = torch.stack([torch.cat((p.new_zeros(n_longest - len(p)), p)) for p in prompts])
    return rows, torch.tensor([n_longest - len(p) for p in prompts], device=device)
