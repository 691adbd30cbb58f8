"""Make pages.json anew: python -m tools.play.you_against_the_model.pages

The model's bets are computed here, not in the page: three pages need its probabilities of 120 tokens, a few kilobytes,
and its weights would be seven megabytes. The counts of the trigram come whole for the contexts of the pages, so that
the script in the page knows its probability of every token.
"""

import json

import numpy as np
import torch
from clearbook.data.austen import NOVELS, austen_split, in_chapters
from clearbook.data.text_file import marked_stream
from clearbook.language_model import load_language_model
from clearbook.ngrams import Ngrams
from clearformer.losses import surprisal

from tools.play.you_against_the_model import MODEL, STORED

PAGES = (("Pride and Prejudice", "Chapter 56"), ("Emma", "CHAPTER XVII"), ("Persuasion", "Chapter 23"))
GIVEN, GUESSED = 48, 40  # tokens
OFFERED = 6
MOST_TOLD = 3  # tokens that the model held likeliest
DIGITS = 6


def make() -> dict:
    model, tokenizer = load_language_model(MODEL)
    learned, held_out = austen_split()
    stream = marked_stream(in_chapters(learned), tokenizer).numpy()
    trigram = Ngrams(stream, 3, tokenizer.n_vocab + 1)
    rows = [ids_of(title, heading, held_out, tokenizer) for title, heading in PAGES]
    pages = [
        {"title": title, "heading": heading} | bets(row, model, trigram)
        for (title, heading), row in zip(PAGES, rows, strict=True)
    ]
    return {"n_vocab": tokenizer.n_vocab + 1, "pages": pages, "counts": counts(rows, stream)}


def ids_of(title: str, heading: str, held_out: list[str], tokenizer) -> list[int]:
    """The start token and the first tokens of a chapter of the held-out end of a novel."""
    chapters = in_chapters([held_out[NOVELS.index(title)]])
    text = next(chapter for chapter in chapters if chapter.startswith(heading + "\n"))
    return [tokenizer.n_vocab, *tokenizer.encode(text)[: GIVEN + GUESSED]]


def bets(row: list[int], model, trigram: Ngrams) -> dict:
    """The tokens of a page; for each that is guessed the six on offer, the model's bits, and what it held likeliest."""
    ids = torch.tensor(row)
    with torch.no_grad():
        p = model(ids[None])[0].softmax(-1).numpy()
    bits = surprisal(model, ids)[GIVEN:].tolist()
    offers, likeliest = [], []
    for n in range(GIVEN, GIVEN + GUESSED):
        by_model, by_counts = np.argsort(-p[n]), np.argsort(-trigram.distribution(row[: n + 1]))
        offers.append(offered(by_model, by_counts))
        likeliest.append([[int(i), round(float(p[n][i]), DIGITS)] for i in by_model[:MOST_TOLD]])
    return {
        "given": row[: GIVEN + 1],
        "guessed": row[GIVEN + 1 :],
        "offers": offers,
        "bits": [round(it, DIGITS) for it in bits],
        "likeliest": likeliest,
    }


def offered(by_model: np.ndarray, by_counts: np.ndarray) -> list[int]:
    """The first six of both, taken in turn; the script puts them in the order of the alphabet, which tells nothing."""
    turns = np.stack([by_model[:OFFERED], by_counts[:OFFERED]], axis=1).ravel().tolist()
    return list(dict.fromkeys(turns))[:OFFERED]


def counts(rows: list[list[int]], stream: np.ndarray) -> dict:
    """How often each token occurs, and what followed each context of the pages: [[tokens], [counts]]."""
    n_vocab = max(map(max, rows)) + 1
    places = [(row, n) for row in rows for n in range(GIVEN, GIVEN + GUESSED)]
    one = {str(row[n]): followers(stream, [row[n]]) for row, n in places}
    two = {f"{row[n - 1]},{row[n]}": followers(stream, row[n - 1 : n + 1]) for row, n in places}
    return {"all": np.bincount(stream, minlength=n_vocab).tolist(), "one": one, "two": two}


def followers(stream: np.ndarray, context: list[int]) -> list[list[int]]:
    k = len(context)
    begins = np.all([stream[i : len(stream) - k + i] == context[i] for i in range(k)], axis=0)
    ids, times = np.unique(stream[k:][begins], return_counts=True)
    return [ids.tolist(), times.tolist()]


if __name__ == "__main__":
    STORED.write_text(json.dumps(make(), separators=(",", ":")) + "\n", encoding="utf-8")
