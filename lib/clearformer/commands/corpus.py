"""A text to learn from: read, cut in two, and in ids; and how far a table of counts comes with it."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from clearformer.ngrams import Ngrams
from clearformer.pretrained.gpt2_words import gpt2_word
from clearformer.tokenizers import N_BYTES, BytePairTokenizer, CharTokenizer

END = "<|endoftext|>"
MOST_HELD_OUT = 100_000  # characters, of which more would tell little and take longer
MOST_FOR_PAIRS = 2_000_000  # characters from which byte pairs are learned, and counted for the table
LONGEST_RUN = 5  # characters in a row that the table counts


@dataclass(frozen=True)
class Text:
    """A file: what is learned, what is held out, and a checksum by which it is known again."""

    name: str
    learned: str
    held_out: str
    checksum: str


def read_text(path: Path) -> Text:
    """The text of a file; the last tenth of it is held out.

    Raises: FileNotFoundError for no file; ValueError for what is no UTF-8, or too short to hold anything out.
    """
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise FileNotFoundError(f"train: {path} {what}, expected a text file, such as my-notes.txt.")
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"train: {path} is not UTF-8: byte {error.start} is {content[error.start]:#04x}. Open it in an editor and "
            "save it as UTF-8, or take a plain text file."
        ) from None
    if "\0" in text:
        raise ValueError(f"train: {path} holds zero bytes, so it is no text. Take a plain text file in UTF-8.")
    n_held_out = min(len(text) // 10, MOST_HELD_OUT)
    if n_held_out < 2:
        raise ValueError(
            f"train: {path} has {len(text):,} characters, expected thousands. Take a longer text: some ten thousand "
            "characters at least, better a book."
        )
    checksum = hashlib.sha256(content).hexdigest()
    return Text(path.name, text[:-n_held_out], text[-n_held_out:], checksum)


def learn_pairs(text: Text, vocabulary: int) -> BytePairTokenizer:
    """Byte pairs of the text, cut into words as GPT-2 cuts them, with a token that ends a text."""
    n_merges = vocabulary - N_BYTES - 1
    if n_merges < 0:
        raise ValueError(f"train: --vocabulary {vocabulary}, expected at least {N_BYTES + 1}: the bytes and the end.")
    return BytePairTokenizer(text.learned[:MOST_FOR_PAIRS], n_merges, pattern=gpt2_word(), special=[END])


def as_ids(text: Text, tokenizer: BytePairTokenizer, end: int | None, context: int) -> tuple[Tensor, Tensor]:
    """What is learned and what is held out as ids, each behind the token that ends a text, if there is one.

    Raises: ValueError for a text that does not fill a window.
    """
    first = [] if end is None else [end]
    learned, held_out = (torch.tensor(first + tokenizer.encode(part)) for part in (text.learned, text.held_out))
    if len(learned) < context + 2 or len(held_out) < 2:
        raise ValueError(
            f"train: {text.name} is {len(learned):,} tokens to learn from and {len(held_out):,} held out, expected "
            f"more than --context {context}. Take a longer text, or a smaller --context."
        )
    return learned, held_out


def counted_bits(text: Text) -> float:
    """Bits a character of what is held out, by a table that counted up to five characters in a row of what is learned.

    The characters themselves are known to it, also those that only the held-out text has.
    """
    learned = text.learned[-MOST_FOR_PAIRS:]
    characters = CharTokenizer(learned + text.held_out)
    n = min(LONGEST_RUN, int(63 / max(1, (characters.n_vocab - 1).bit_length())), len(learned))
    ids, test = characters.encode(learned), characters.encode(text.held_out)
    return float(Ngrams(ids, n, characters.n_vocab).surprisal(test).mean())
