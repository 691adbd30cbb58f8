"""What a model must offer to write, and the state of its writing: sequences so far, cache, mask and positions."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from clearformer.cache import KVCache
from clearformer.models.validate import check_ids

Ids = Int[Tensor, "B N"] | Sequence[Sequence[int] | Int[Tensor, "N"]]


@runtime_checkable
class LanguageModel(Protocol):
    """What ``generate`` can continue: a GPT, ``Seq2Seq.conditioned_on(source)``, whatever has these four.

    ``config`` has ``n_vocab`` and ``n_positions``. ``hidden_states`` reads ids, with a cache the new ones only, with a
    ``mask`` (True = may look) and ``positions`` that count from the first real token; ``head``, a module, turns its
    result into logits. ``new_cache`` is not needed with ``cached=False``.
    """

    config: Any
    # No ``head: nn.Module``: since Python 3.12 ``isinstance`` does not see what a module registers.

    def hidden_states(self, ids, mask=None, *, cache=None, positions=None) -> Float[Tensor, "B N D"]: ...

    def new_cache(self, batch: int, n_positions: int) -> KVCache: ...


class DecodingState:
    """The sequences so far; ``read`` reads the prompts, then what ``append`` wrote, a token to each.

    Shorter prompts are padded at the front, so that all sequences end together; a mask hides the padding, and
    positions count from the first real token. With ``copies`` each prompt is there several times, one after another.
    """

    def __init__(self, model, caller, ids, n_tokens, *, cached, stop, copies=1):
        _check_model(model, caller, cached)
        prompts, n_padding = _pad(caller, ids, next((p.device for p in model.head.parameters()), None))
        check_ids(caller, prompts, model.config.n_vocab, model.config.n_positions)
        _check_settings(model, caller, prompts.shape[1], n_tokens, stop)
        self.model, self.stop, self.as_tensor = model, stop, isinstance(ids, Tensor)
        self.length = self.n_prompt = prompts.shape[1]
        self.buffer = nn.functional.pad(prompts, (0, n_tokens)).repeat_interleave(copies, 0)
        self.n_padding = n_padding.repeat_interleave(copies)
        self.cache = model.new_cache(*self.buffer.shape) if cached else None
        self.n_cached, self.mask, self.positions = 0, None, None
        if self.n_padding.any():
            positions = torch.arange(self.buffer.shape[1], device=prompts.device) - self.n_padding[:, None]
            self.mask, self.positions = (positions >= 0)[:, None, None, :], positions.clamp(min=0)

    def read(self) -> Tensor:
        """The logits after the newest tokens, in float32 or better; without a cache all others are computed again."""
        seen = slice(self.n_cached, self.length)
        positions = seen if self.positions is None else self.positions[:, seen]
        mask = None if self.mask is None else self.mask[..., : self.length]
        hidden = self.model.hidden_states(self.buffer[:, seen], mask, cache=self.cache, positions=positions)
        self.n_cached = 0 if self.cache is None else self.length
        logits = self.model.head(hidden[:, -1])
        return logits.to(torch.promote_types(logits.dtype, torch.float32))

    def append(self, new: Tensor) -> None:
        self.buffer[:, self.length] = new
        self.length += 1

    def reorder(self, rows: Tensor) -> None:
        """Sequence i continues what sequence ``rows[i]`` was, a copy of the same prompt."""
        self.buffer = self.buffer[rows]
        if self.cache is not None:
            self.cache.reorder(rows)

    def result(self, rows: Tensor | slice = slice(None)) -> Tensor | list[Tensor]:
        """These rows: an ordinary tensor again, outside of inference mode, or one for each prompt of the list."""
        ids = self.buffer[:, : self.length].clone()[rows]
        if self.as_tensor:
            return ids
        texts = []
        for row, n_padding in zip(ids, self.n_padding[rows].tolist(), strict=True):
            ends = (row[self.n_prompt :] == self.stop).nonzero() if self.stop is not None else ()
            texts.append(row[n_padding : self.n_prompt + int(ends[0]) + 1 if len(ends) else None])
        return texts


def _check_model(model, caller, cached):
    needed = ("config", "head", "hidden_states", *(("new_cache",) if cached else ()))
    if missing := [name for name in needed if not hasattr(model, name)]:
        raise TypeError(
            f"{caller}: a {type(model).__name__} has no {' and no '.join(missing)}, expected a model that writes, such "
            "as a GPT. Of a Seq2Seq pass model.conditioned_on(source)."
        )


def _check_settings(model, caller, n_prompt, n_tokens, stop):
    n_positions, n_vocab = model.config.n_positions, model.config.n_vocab
    if n_tokens < 1 or n_prompt + n_tokens > n_positions:
        raise ValueError(
            f"{caller}: {n_tokens} new tokens after {n_prompt} make {n_prompt + n_tokens}, but the model has "
            f"n_positions={n_positions}. Ask for at least 1 and at most {n_positions - n_prompt}, or a shorter prompt."
        )
    if stop is not None and not (isinstance(stop, int) and 0 <= stop < n_vocab):
        raise ValueError(f"{caller}: stop={stop!r} is no id, expected that of a token, 0 to {n_vocab - 1}, or None.")


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
    rows = pad_sequence(prompts, batch_first=True, padding_side="left")
    return rows, torch.tensor([rows.shape[1] - len(p) for p in prompts], device=device)
