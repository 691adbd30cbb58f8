"""What ten chips say of every token, computed with the library's trigram, model and tokenizer."""

from functools import cache

import numpy as np
import torch
from clearbook.data.austen import austen_split, in_chapters
from clearbook.data.text_file import marked_stream
from clearbook.language_model import load_language_model
from clearbook.ngrams import Ngrams
from clearformer.losses import surprisal

from tools.play import you_against_the_model as duel

FLOOR, CHIPS = 0.05, 10


@cache
def model_and_tokenizer():
    return load_language_model(duel.MODEL)


@cache
def trigram() -> Ngrams:
    _, tokenizer = model_and_tokenizer()
    return Ngrams(marked_stream(in_chapters(austen_split()[0]), tokenizer).numpy(), 3, tokenizer.n_vocab + 1)


@cache
def counted(page: int) -> np.ndarray:
    """The trigram's distribution for each token to guess."""
    it = duel.data()["pages"][page]
    ids, n = it["given"] + it["guessed"], len(it["given"])
    return np.stack([trigram().distribution(ids[: n + i]) for i in range(len(it["guessed"]))])


@cache
def read(page: int) -> np.ndarray:
    """The model's bits of each token to guess."""
    it = duel.data()["pages"][page]
    bits = surprisal(model_and_tokenizer()[0], torch.tensor(it["given"] + it["guessed"]))
    return bits[len(it["given"]) - 1 :].numpy()


def characters(ids: list[int]) -> int:
    return len(model_and_tokenizer()[1].decode(ids))


def distribution(bet: dict, offers: list[int], p: np.ndarray) -> np.ndarray:
    """The reader's probability of every token: chips, something else, what is kept, and the floor."""
    table = sorted({*offers, *bet.get("typed", [])})
    chips, other = bet.get("chips", {}), bet.get("other", 0)
    floor = 0 if bet.get("allIn") else FLOOR
    kept = CHIPS - other - sum(chips.values())
    off = p.copy()
    off[table] = 0
    laid = np.zeros_like(p)
    for token, n in chips.items():
        laid[int(token)] = n
    by_hand = (laid + other * off / off.sum() + kept * p) / CHIPS
    return (1 - floor) * by_hand + floor * p


def tempered(q: np.ndarray, table: list[int], temperature: float) -> np.ndarray:
    """Each token of the table, and all others as one part, to the power of 1 / temperature."""
    rest = np.delete(q, table)
    logits = torch.tensor([*q[table], rest.sum()], dtype=torch.float64).log() / temperature
    parts = logits.softmax(0).numpy()
    found = q * parts[-1] / rest.sum()
    found[table] = parts[:-1]
    return found
