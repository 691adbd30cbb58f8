"""Chapter 11, translation: whether turned queries and keys cure the numbers that fail."""

import contextlib
import io
import math
import random
from types import SimpleNamespace
from typing import Any

import torch
from clearformer.positions import Rotary
from torch import Tensor, nn

from tests.claims.chapter_11 import BUDGET, EVENLY, PAGE, SIZES, trained
from tests.claims.chapter_11_failures import BEFORE, FAILING, LENGTHS, RIGHT, RUNS_ON
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

ADDED, TURNED = "sinusoids, added", "rotary, nothing added"


class TurnedAttention(nn.Module):
    """Self-attention of the page whose queries and keys are turned by their positions."""

    inner: Any  # the attention of the page

    def __init__(self, attention: Any):
        super().__init__()
        self.inner = attention
        self.rotary = Rotary(attention.query.out_features // attention.n_heads, 512)

    def forward(self, x: Tensor, mask: Tensor | None = None, cache: dict | None = None) -> Tensor:
        cache, split = {} if cache is None else cache, self.inner.split
        past = cache[self][0].shape[2] if self in cache else 0
        places = slice(past, past + x.shape[1])
        q, k = (self.rotary(split(layer(x)), places) for layer in (self.inner.query, self.inner.key))
        v = split(self.inner.value(x))
        if past:
            k, v = (torch.cat(pair, dim=2) for pair in zip(cache[self], (k, v), strict=True))
        cache[self] = k, v
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return self.inner.out((scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2))


def trained_turned(page: SimpleNamespace, times: int, seed: int) -> nn.Module:
    """The translator of the page, from the same start and the same pairs, without positions in its embeddings."""
    random.seed(seed)
    torch.manual_seed(seed)
    model = page.Transformer(len(page.vocabulary), len(page.vocabulary), **SIZES)
    for embedding in (model.embed_source, model.embed_target):
        embedding.waves.zero_()
    for block in (*model.encoder, *model.decoder):
        block.attention = TurnedAttention(block.attention)
    with contextlib.redirect_stdout(io.StringIO()):
        page.fit(model, page.pair_loss, page.as_tensors(page.lessons), 400 * times)
    return model.eval()


def outcomes(page: SimpleNamespace, contender: str, times: int, seed: int, digits: int) -> dict[str, float]:
    """How new numbers of so many digits come out in both languages, in per cent."""

    def model() -> nn.Module:
        return trained(page, EVENLY, times, seed) if contender == ADDED else trained_turned(page, times, seed)

    found = page.outcomes(once(page, (contender, times, seed), model), digits)
    return {name: 100 * share for name, share in zip(page.OUTCOMES, found, strict=True)}


@experiment(
    PAGE,
    contenders={
        ADDED: "the translator of the page",
        TURNED: "queries and keys of self-attention are turned by their positions instead",
    },
    cases=tuple(f"{name}, {how}" for name in LENGTHS for how in (RIGHT, BEFORE, RUNS_ON)),
    budget=BUDGET,
    measured="per cent of new numbers of this length, both languages, that come out so",
    cells=FAILING,
)
def turned(page, run):
    name, how = run.case.split(", ")
    key = run.contender, run.times, run.seed, LENGTHS[name]
    return once(page, ("outcomes", *key), lambda: outcomes(page, *key))[how]


claim(
    turned,
    "With queries and keys turned ([chapter 6](06-position.ipynb)) instead of sinusoids added, numbers of five digits "
    "come out right more often from two of three starts, and those of three digits less often from all.",
    about=(ADDED, TURNED),
    cell="cure-figure",
    holds=lambda numbers: (
        sum(
            turned > added
            for added, turned in zip(*(numbers[who, f"5 digits, {RIGHT}", 1] for who in (ADDED, TURNED)), strict=True)
        )
        == 2
        and all(
            turned < added
            for times in (1, 4)
            for added, turned in zip(
                *(numbers[who, f"3 digits, {RIGHT}", times] for who in (ADDED, TURNED)), strict=True
            )
        )
    ),
    note="After four times the steps nearly all of five digits are right either way.",
)
