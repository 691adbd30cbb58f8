"""What each head of the shipped GPT looks at, measured on a novel: the names that its heads have in the live model.

.venv/bin/python -m tools.models.heads        writes models/austen/heads.json
"""

import json
import re
from pathlib import Path

import torch
from clearbook.attention_maps import attention_weights
from clearbook.data.austen import austen_novels
from clearbook.language_model import load_language_model
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tools import ROOT

FOLDER, FILE = ROOT / "models" / "austen", "heads.json"
N_PASSAGES, LENGTH = 100, 96  # tokens
SKIPPED = 16  # targets at the beginning of a passage, which have little to choose from
PRONOUNS = {" she", " he", " her", " him", " his"}
NEAR = 8
LEAST = 3  # times an equal share: what a head has to give to be named after it
ALIKE = 0.9  # of the entropy that equal weights would have
NO_JOB = "no single job that we know"

Words = list[str]
Shares = dict[str, tuple[Float[Tensor, "heads"], float]]


def name_heads(folder: Path = FOLDER) -> list[list[dict]]:
    """By layer and head: its name, the share of weight that it gives there, and what an equal share would be."""
    model, tokenizer = load_language_model(folder)
    words = [tokenizer.decode([i]) for i in range(tokenizer.n_vocab)] + ["¶"]
    ids = passages(tokenizer)
    weights = attention_weights(model, ids)
    shares = measure_jobs(torch.cat([*weights.values()], dim=1), ids, words)
    named = choose_names(shares)
    n_heads = model.config.n_heads
    return [named[first : first + n_heads] for first in range(0, len(named), n_heads)]


def passages(tokenizer) -> Int[Tensor, "B N"]:
    """Rows from the second half of *Emma*, each behind the start token."""
    novel = austen_novels()["Emma"]
    length = LENGTH - 1
    stream = tokenizer.encode(novel[len(novel) // 2 :][: 8 * N_PASSAGES * LENGTH])[: N_PASSAGES * length]
    return torch.tensor(
        [[tokenizer.n_vocab, *stream[first : first + length]] for first in range(0, len(stream), length)]
    )


def measure_jobs(weights: Float[Tensor, "B heads N N"], ids: Int[Tensor, "B N"], words: Words) -> Shares:
    """For each job, what every head gives to the sources in question, and what equal weights would give."""
    ways = {**relations(ids, words), "everything about alike": None}
    found: Shares = {}
    for name, wanted in ways.items():
        found[name] = evenness(weights) if wanted is None else share_of(weights, wanted)
    return found


def relations(ids: Int[Tensor, "B N"], words: Words) -> dict[str, Bool[Tensor, "B N N"]]:
    """By job: which source (last axis) is meant for which target. The most particular job comes first."""
    n = ids.shape[1]
    known = set(words)
    name = [bool(re.fullmatch(" [A-Z][a-z]{2,}", word)) and word.lower() not in known for word in words]
    pronoun = [word in PRONOUNS for word in words]
    mark = [bool(re.fullmatch(r"\W+", word)) and bool(word.strip()) for word in words]
    is_name, is_pronoun, is_mark = (torch.tensor(flags)[ids] for flags in (name, pronoun, mark))
    earlier = torch.ones(n, n, dtype=torch.bool).tril(-1)
    near = torch.ones(n, n, dtype=torch.bool).tril().triu(-NEAR)
    return {
        "pronouns look at names": is_name.unsqueeze(1) & is_pronoun.unsqueeze(2),
        "the token before": (earlier & earlier.triu(-1)).expand(len(ids), n, n),
        "names": is_name.unsqueeze(1) & earlier,
        "punctuation": is_mark.unsqueeze(1) & earlier,
        f"the last {NEAR} tokens": near.expand(len(ids), n, n),
    }


def share_of(weights: Float[Tensor, "B heads N N"], wanted: Bool[Tensor, "B N N"]) -> tuple[Tensor, float]:
    """The mean over targets that have such a source: of the weight on them, and of an equal share."""
    n = weights.shape[-1]
    wanted = wanted & torch.ones(n, n, dtype=torch.bool).tril()
    asks = wanted.any(dim=-1) & (torch.arange(n) >= SKIPPED)
    given = (weights * wanted.unsqueeze(1)).sum(dim=-1).transpose(0, 1)[:, asks].mean(dim=-1)
    equal = (wanted.sum(dim=-1) / torch.arange(1, n + 1))[asks].mean()
    return given, equal.item()


def evenness(weights: Float[Tensor, "B heads N N"]) -> tuple[Tensor, float]:
    """The entropy of the weights as a part of the largest possible one, and 1."""
    sources = torch.arange(1, weights.shape[-1] + 1)[SKIPPED:]
    entropy = torch.special.entr(weights).sum(dim=-1)[..., SKIPPED:]
    return (entropy / sources.log()).mean(dim=(0, 2)), 1.0


def choose_names(shares: Shares) -> list[dict]:
    """A particular job goes to the head that does it most; the others are called even, near-sighted, or nothing."""
    *particular, near, alike = shares
    n_heads = len(shares[near][0])
    named: list[dict] = [{} for _ in range(n_heads)]
    for job in particular:
        given, equal = shares[job]
        best = int(given.argmax())
        if given[best] >= LEAST * equal and not named[best]:
            named[best] = entry(job, given[best], equal)
    for head in range(n_heads):
        if named[head]:
            continue
        if shares[alike][0][head] >= ALIKE:
            named[head] = {"name": alike}
        elif shares[near][0][head] >= 0.5:
            named[head] = {"name": near, "share": round(shares[near][0][head].item(), 2)}
        else:
            named[head] = {"name": NO_JOB}
    return named


def entry(name: str, given: Tensor, equal: float) -> dict:
    return {"name": name, "share": round(given.item(), 2), "equal": round(equal, 2)}


if __name__ == "__main__":
    (FOLDER / FILE).write_text(json.dumps(name_heads(), indent=1) + "\n", encoding="utf-8")
