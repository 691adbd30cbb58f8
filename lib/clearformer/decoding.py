"""What a model must offer to write, and the state of its writing: sequences so far, cache, mask and positions."""

import contextlib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from clearformer.cache import KVCache
from clearformer.checks import check_flag, check_whole, shorten
from clearformer.drafts import checked_guesses
from clearformer.models.validate import check_ids
from clearformer.rolling import Rolling

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
    With ``n_sinks`` a full cache forgets tokens: what it holds then begins ``n_forgotten`` tokens later than the text.
    """

    def __init__(
        self,
        model: Any,
        caller: str,
        ids: Any,
        n_tokens: Any,
        *,
        cached: Any,
        stop: Any,
        copies: int = 1,
        n_sinks: Any = None,
    ):
        check_writes(model, caller, check_flag(caller, "cached", cached))
        device = next((p.device for p in model.head.parameters()), None)
        prompts, n_padding = pad(caller, ids, device)
        check_ids(caller, prompts, model.config.n_vocab, model.config.n_positions, device=device)
        self.model, self.caller, self.as_tensor = model, caller, isinstance(ids, Tensor)
        self.rolling = None if n_sinks is None else Rolling(model, caller, n_sinks, cached)
        self.n_tokens = _checked_number(model, caller, prompts.shape[1], n_tokens, endless=n_sinks is not None)
        self.stops = _checked_stops(model, caller, stop, prompts)
        self.length = self.n_prompt = prompts.shape[1]
        self.buffer = nn.functional.pad(prompts, (0, self.n_tokens)).repeat_interleave(copies, 0)
        self.n_padding = self.n_front = n_padding.repeat_interleave(copies)  # in the cache, and in the text
        room = min(self.buffer.shape[1], model.config.n_positions)
        self.cache: Any = model.new_cache(len(self.buffer), room) if cached else None
        self.n_cached = self.n_forgotten = 0
        self.nan: Tensor | None = None  # whether any logits so far were
        self.mask, self.positions = hide_padding(self.n_padding, room)

    @property
    def n_left(self) -> int:
        """How many tokens are still to be written."""
        return self.n_prompt + self.n_tokens - self.length

    def read(self, guesses: Any = ()) -> list[Float[Tensor, "B V"]]:
        """The logits after the newest tokens and after each of ``guesses`` of what follows them, in float32 or better.

        Without a cache all tokens are computed again.
        """
        n, last = len(guesses), self.length + len(guesses)
        if n:
            self.buffer[:, self.length : last] = guesses
        self._make_room(1 + n)
        ids = self.buffer[:, self.n_forgotten + self.n_cached : last]
        seen = slice(self.n_cached, self.n_cached + ids.shape[1])
        positions = seen if self.positions is None else self.positions[:, seen]
        mask = None if self.mask is None else self.mask[..., : seen.stop]
        hidden = self.model.hidden_states(ids, mask, cache=self.cache, positions=positions)
        self.n_cached = 0 if self.cache is None else seen.stop
        logits = self.model.head(hidden[:, -1 - n :] if n else hidden[:, -1])
        self._check_nan(logits)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return [*logits.unbind(1)] if n else [logits]

    def _make_room(self, n_new: int) -> None:
        """Forget the guesses that were wrong, and with ``n_sinks`` the older tokens where new ones would not fit."""
        if self.n_cached >= self.length - self.n_forgotten:
            self.n_cached = self.length - self.n_forgotten - 1
            self.cache.truncate(self.n_cached)
        if self.rolling is not None and self.n_cached + n_new > self.rolling.n_positions:
            self.n_padding = self.rolling.forget(self.cache, self.n_padding)
            self.n_cached, self.n_forgotten = self.cache.length, self.n_forgotten + self.rolling.n_dropped
            self.mask, self.positions = hide_padding(self.n_padding, self.rolling.n_positions)

    def guess(self, draft: Callable) -> Tensor:
        """What ``draft`` guesses of the tokens that are left; no more than fit, or tokens would be forgotten sooner."""
        most = self.n_left - 1
        if self.rolling is not None:
            room = self.rolling.n_positions - (self.length - self.n_forgotten)
            most = min(most, room if room >= 0 else room + self.rolling.n_dropped)
        row = self.buffer[0, : self.length]
        return checked_guesses(self.caller, draft(row), row, self.model.config.n_vocab, most)

    def new_tokens(self) -> Tensor:
        """The tokens that were written so far, without the prompts."""
        return self.buffer[:, self.n_prompt : self.length]

    def newest_tokens(self) -> Tensor:
        """The last token of every sequence."""
        return self.buffer[:, self.length - 1]

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
        self.refuse_nan()
        ids = self.buffer[:, : self.length].clone()[rows]
        if self.as_tensor:
            return ids
        texts = []
        for row, n_padding in zip(ids, self.n_front[rows].tolist(), strict=True):
            ends = torch.isin(row[self.n_prompt :], self.stops).nonzero() if self.stops is not None else ()
            texts.append(row[n_padding : self.n_prompt + int(ends[0]) + 1 if len(ends) else None])
        return texts

    def _check_nan(self, logits: Tensor) -> None:
        """At once on a CPU; elsewhere noted, and read at the end, for each look waits for all work under way."""
        nan = logits.isnan().any()
        at_once = nan.device.type == "cpu"
        self.nan = nan if self.nan is None or at_once else self.nan | nan
        if at_once:
            self.refuse_nan()

    def refuse_nan(self) -> None:
        """Raises: FloatingPointError if any logits so far were NaN."""
        if self.nan is not None and self.nan:
            raise FloatingPointError(
                f"{self.caller}: the model's logits are NaN after {self.length} tokens or fewer. Look for NaN among "
                "its weights: a training that went wrong, or half precision that overflows."
            )


def hide_padding(n_padding: Int[Tensor, "B"], n_tokens: int) -> tuple[Tensor | None, Tensor | None]:
    """Mask and positions of sequences whose first ``n_padding`` tokens are padding; None for both where none is."""
    if not n_padding.any():
        return None, None
    positions = torch.arange(n_tokens, device=n_padding.device) - n_padding[:, None]
    return (positions >= 0)[:, None, None, :], positions.clamp(min=0)


def check_writes(model: Any, caller: str, cached: bool) -> None:
    """Raises: TypeError for a model that cannot write."""
    needed = ("config", "head", "hidden_states", *(("new_cache",) if cached else ()))
    if missing := [name for name in needed if not hasattr(model, name)]:
        raise TypeError(
            f"{caller}: a {type(model).__name__} has no {' and no '.join(missing)}, expected a model that writes, such "
            "as a GPT. Of a Seq2Seq pass model.conditioned_on(source)."
        )


def _checked_number(model: Any, caller: str, n_prompt: int, n_tokens: Any, *, endless: bool) -> int:
    n_positions = model.config.n_positions
    n_tokens = check_whole(caller, "n_tokens", n_tokens)
    if n_prompt + n_tokens > n_positions and not endless:
        rotary = "" if caller == "beam_search" else " With rotary positions n_sinks=4 writes on beyond them."
        raise ValueError(
            f"{caller}: {n_tokens} new tokens after {n_prompt} make {n_prompt + n_tokens}, but the model has "
            f"n_positions={n_positions}. Ask for at most {n_positions - n_prompt}, or a shorter prompt.{rotary}"
        )
    return n_tokens


def _checked_stops(model: Any, caller: str, stop: Any, prompts: Tensor) -> Tensor | None:
    """The ids of the tokens that end a text, where the prompts are."""
    if stop is None:
        return None
    if hasattr(stop, "tolist"):  # of NumPy or torch; on "meta" there are no numbers to list
        with contextlib.suppress(RuntimeError):
            stop = stop.tolist()
    several = stop if isinstance(stop, Collection) and not isinstance(stop, str | bytes | Tensor) else [stop]
    if not several:
        raise ValueError(f"{caller}: stop={stop!r} names no token, expected one id, several, or None.")
    return prompts.new_tensor([check_whole(caller, "stop", one, 0, model.config.n_vocab - 1) for one in several])


def pad(caller: str, ids: Any, device: torch.device | None) -> tuple[Tensor, Tensor]:
    """Prompts as a tensor, shorter ones with zeros in front, and how many zeros. Raises: TypeError or ValueError."""
    if isinstance(ids, Tensor):
        return ids, ids.new_zeros(ids.shape[:1])
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise TypeError(
            f"{caller}: ids={shorten(ids)}, expected a tensor of ids or a list with a row of ids for each prompt. "
            "Encode a text with the model's tokenizer: [tokenizer.encode(text)]."
        )
    prompts = [_row(caller, prompt, device) for prompt in ids]
    if not prompts:
        raise ValueError(f"{caller}: no prompts, expected at least one row of ids.")
    rows = pad_sequence(prompts, batch_first=True, padding_side="left")
    return rows, torch.tensor([rows.shape[1] - len(p) for p in prompts], device=device)


def _row(caller: str, prompt: Any, device: torch.device | None) -> Tensor:
    """One prompt as a row of whole numbers."""
    came = shorten(prompt)
    if not isinstance(prompt, str | bytes):
        try:
            row = torch.as_tensor(prompt, device=device)
        except (TypeError, ValueError, RuntimeError):
            pass
        else:
            if row.ndim == 1 and len(row) and row.dtype in (torch.int64, torch.int32):
                return row
            came = f"of {row.dtype} and shape {tuple(row.shape)}"
    raise ValueError(
        f"{caller}: a prompt is {came}, expected a row of at least one whole number. Encode each text, put a single "
        "row of ids into a list, and leave empty texts out or begin them with a start token."
    )
