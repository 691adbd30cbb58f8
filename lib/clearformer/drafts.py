"""Guesses of the next tokens that cost nothing, to be checked by a model all at once."""

import contextlib
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from clearformer.checks import check_function, check_whole
from clearformer.shapes import shaped

Draft = Callable[[Int[Tensor, "N"]], Int[Tensor, "k"]]


@shaped
def prompt_lookup(ids: Int[Tensor, "N"], *, n_matched: int = 2, n_drafted: int = 8) -> Int[Tensor, "k"]:
    """What followed the last ``n_matched`` tokens where they stood before, the last time: up to ``n_drafted`` tokens.

    Where they never stood before, fewer are looked for, and no token is guessed where the last one is new. A text that
    repeats much of its prompt, such as a summary or changed code, is guessed well. For ``generate(..., draft=...)``;
    other numbers come in with ``functools.partial``.

    Source: Saxena 2023 (prompt lookup decoding).
    Raises: TypeError or ValueError for numbers that are no whole ones from 1 on.
    """
    n_matched = check_whole("prompt_lookup", "n_matched", n_matched)
    n_drafted = check_whole("prompt_lookup", "n_drafted", n_drafted)
    for n in range(min(n_matched, len(ids) - 1), 0, -1):
        before = ids[:-1].unfold(0, n, 1)  # all runs of n tokens but the last one
        found = (before == ids[-n:]).all(1).nonzero()
        if len(found):
            start = int(found[-1]) + n
            return ids[start : start + n_drafted]
    return ids[:0]


def check_draft(caller: str, draft: Any, state: Any) -> Draft | None:
    """``draft`` as it is. Raises: TypeError or ValueError unless it can be called and there is one text."""
    if draft is None:
        return None
    if len(state.buffer) != 1:
        raise ValueError(
            f"{caller}: draft guesses for one text at a time, and there are {len(state.buffer)}: of each, another "
            "number of guesses would be right. Write them one after another."
        )
    return check_function(caller, "draft", draft, "clearformer.drafts.prompt_lookup")


def checked_guesses(caller: str, guesses: Any, like: Tensor, n_vocab: int, most: int) -> Tensor:
    """The first ``most`` guesses. Raises: TypeError or ValueError for what is no row of ids of the vocabulary."""
    row = like[:0]
    with contextlib.suppress(TypeError, ValueError, RuntimeError):
        row = torch.as_tensor(guesses, device=like.device)
        if row.numel() == 0:
            return like[:0]
    whole = row.ndim == 1 and len(row) > 0 and row.dtype in (torch.int64, torch.int32)
    if not whole or not 0 <= int(row.min()) <= int(row.max()) < n_vocab:
        raise ValueError(f"{caller}: draft gave {guesses!r}, expected a row of ids from 0 to {n_vocab - 1}, or none.")
    return row[:most].to(like.dtype)
