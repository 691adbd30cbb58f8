"""Texts to learn from: read from a file, without repetitions, as one stream of ids with marked ends."""

from collections.abc import Sequence
from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor

LEAST_CHARACTERS = 10_000  # fewer, and even a small model learns them by heart and nothing else


def read_text(path: str | Path, *, encoding: str = "utf-8", least: int = LEAST_CHARACTERS) -> str:
    """The text of a file of your own, with ``\\n`` at the end of a line and without a byte order mark.

    Raises: FileNotFoundError or IsADirectoryError, with what there is instead; ValueError for a file that is no plain
    text, stands in another encoding, or has fewer than ``least`` characters.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"read_text: {path} is a folder, expected a file. {_texts_in(path)}")
    if not path.exists():
        raise FileNotFoundError(f"read_text: there is no file {path}. {_texts_in(path.parent)}")
    try:
        text = path.read_text(encoding=encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"read_text: byte {error.start} of {path.name} is {error.object[error.start]:#04x}, which is no {encoding} "
            'text. Save the file as UTF-8, or name its encoding, for example encoding="latin-1" or "utf-16"; a '
            "document of a word processor has to be exported as plain text first."
        ) from None
    if "\0" in text:
        raise ValueError(
            f"read_text: {path.name} holds a zero character at index {text.index(chr(0))}, so it is no plain text in "
            f"{encoding}. Export it as plain text, or name its encoding, for example encoding='utf-16'."
        )
    if len(text) < least:
        raise ValueError(
            f"read_text: {path.name} has {len(text)} characters, expected at least {least} to learn from. Choose a "
            "longer text, or pass a smaller least= if you know what you do."
        )
    return text


def distinct_paragraphs(text: str) -> list[str]:
    """The paragraphs of ``text``, which empty lines divide, in their order; a repeated one is kept once.

    A paragraph that stands in the text twice may come to be learned and tested on, which flatters a model.
    """
    paragraphs = (paragraph.strip("\n").rstrip() for paragraph in text.replace("\r\n", "\n").split("\n\n"))
    return list(dict.fromkeys(paragraph for paragraph in paragraphs if paragraph.strip()))


def marked_stream(paragraphs: Sequence[str], tokenizer) -> Int[Tensor, "T"]:
    """All paragraphs as one row of ids, with the id ``tokenizer.n_vocab`` before, between and after them.

    This one id, which no text contains, is the end token of a paragraph and the start token of the next.

    Source: Radford et al. 2019, whose model knows it as ``<|endoftext|>``.
    Raises: ValueError if there is no paragraph.
    """
    if not paragraphs:
        raise ValueError("marked_stream: there is no paragraph, expected at least one.")
    ids = [tokenizer.n_vocab]
    for paragraph in paragraphs:
        ids += [*tokenizer.encode(paragraph), tokenizer.n_vocab]
    return torch.tensor(ids)


def count_characters(paragraphs: Sequence[str]) -> int:
    """How many characters there are to predict, the end of each paragraph counted as one."""
    return sum(len(paragraph) + 1 for paragraph in paragraphs)


def _texts_in(folder: Path) -> str:
    if not folder.is_dir():
        return f"There is no folder {folder} either: look at how the path begins."
    names = sorted(path.name for path in folder.iterdir() if path.suffix in (".txt", ".md", ".rst", ".py"))
    shown = ", ".join(names[:5]) + (" and more" if len(names) > 5 else "")
    return f"The folder holds {shown}." if names else "The folder holds no text file (.txt, .md, .rst, .py)."
