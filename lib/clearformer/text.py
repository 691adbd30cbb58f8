"""Tokens as text while they are written: whole characters only, and an end where certain words begin."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from clearformer.checks import check_items, shorten

UNFINISHED = "\ufffd"  # what bytes that make no character yet, or never, are decoded to


def stream_text(tokenizer: Any, tokens: Iterable, *, until: str | Collection[str] = ()) -> Iterator[str]:
    r"""The text of ``tokens`` in pieces, as soon as no later token can change them; joined, they are the whole text.

    ``tokens`` are ids of one text, such as ``stream_tokens`` yields for one prompt, and are asked for one at a time. A
    character that takes several tokens comes when it is whole. With ``until`` the text ends before the first of these
    strings that is complete, also where several tokens make it, and no more tokens are asked for::

        for piece in stream_text(tokenizer, stream_tokens(model, [tokenizer.encode("Once")], 200), until="\n\n"):
            print(piece, end="", flush=True)

    ``tokenizer`` is one of ours, or whatever has a ``decode`` by which the text of some tokens begins that of more.
    Raises: TypeError or ValueError for another, for strings that are none or empty, or for tokens of several texts.
    """
    if isinstance(tokenizer, type | bytes | bytearray) or not callable(getattr(tokenizer, "decode", None)):
        raise TypeError(
            f"stream_text: tokenizer={shorten(tokenizer)} has no decode. Pass the one that encoded the prompt."
        )
    expected = "a text or several, none of them empty"
    ends = [until] if isinstance(until, str) else check_items("stream_text", "until", until, expected)
    if not all(isinstance(end, str) and end for end in ends):
        raise ValueError(f"stream_text: until={shorten(until)}, expected {expected}.")
    try:
        each: Iterator = iter(None if isinstance(tokens, str) else tokens)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"stream_text: tokens={shorten(tokens)}, expected ids, such as stream_tokens(...) yields."
        ) from None
    return _before(ends, _characters(tokenizer, _one_by_one(each)))


def _one_by_one(tokens: Iterator) -> Iterator[int]:
    for token in tokens:
        try:
            ids = token.flatten().tolist() if hasattr(token, "flatten") else [token]
        except RuntimeError as error:  # on "meta", or sparse: there are no numbers to read
            raise TypeError(f"stream_text: a token cannot be read ({error}), expected ids.") from None
        if len(ids) != 1:
            raise ValueError(
                f"stream_text: {len(ids)} tokens at once, expected those of one text. Write one text after another, "
                "or decode the rows of generate(...)."
            )
        yield ids[0]


def _characters(tokenizer: Any, tokens: Iterator[int]) -> Iterator[str]:
    """The text as far as it is settled, token by token: only the last character can still be unfinished."""
    waiting: list[int] = []
    n_given, text = 0, ""
    for token in tokens:
        waiting.append(token)
        text = tokenizer.decode(waiting)
        settled = text.removesuffix(UNFINISHED)
        yield settled[n_given:]
        n_given = len(settled)
        if settled == text:
            waiting, n_given, text = [], 0, ""
    yield text[n_given:]


def _before(ends: list[str], pieces: Iterator[str]) -> Iterator[str]:
    """The text before the first of ``ends`` that is complete; what may be the beginning of one waits."""
    held = ""
    for piece in pieces:
        for character in piece if ends else ():
            held += character
            found = [len(end) for end in ends if held.endswith(end)]
            if found:
                if len(held) > max(found):
                    yield held[: -max(found)]
                return
        if not ends:
            held = piece
        n_open = max((n for end in ends for n in range(1, len(end)) if held.endswith(end[:n])), default=0)
        given = held[: len(held) - n_open]
        if given:
            yield given
        held = held[len(given) :]
    if held:
        yield held
