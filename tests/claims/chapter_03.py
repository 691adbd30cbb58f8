"""Chapter 3, self-attention: the ladder of scores, the first rung of the letters, the constant that queries need."""

from statistics import median

import torch
import torch.nn.functional as F
from clearbook.ladder import Ladder, LastLetters, loss_of_model, rows
from torch import nn

from tests.claims.compare import below
from tests.claims.letters import BUDGET, MEASURED, MLP, counted, gain
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/03-self-attention.ipynb"
RING_STEPS = 150
FLAG_STEPS = 300


RUNGS = {
    "attention": lambda page: [page.SelfAttention(32, 32)],
    "attention, not divided by √K": lambda page: [page.undivided()],
    "no layer": lambda page: [],
}


@experiment(
    PAGE,
    contenders={
        "attention": "one causal layer of the page, K = 32, in x + part(x)",
        "attention, not divided by √K": "the same with scores that are not divided",
        "no layer": "embedding and head alone: the last letter",
        "MLP": MLP,
        "table, one letter back": "how often each letter followed each other one, counted in the same text",
    },
    budget=BUDGET,
    measured=MEASURED,
    cells=("setup", "self-attention-class", "undivided-attention:undivided"),
)
def letters(page, run):
    if run.contender == "table, one letter back":
        return counted(1)
    if run.contender == "MLP":
        return loss_of_model(LastLetters, run.seed, times=run.times)
    return loss_of_model(lambda: Ladder(RUNGS[run.contender](page), None, True), run.seed, times=run.times)


@experiment(
    PAGE,
    contenders={
        "query–key": "two matrices, one for the one that asks and one for the one that is asked",
        "projected": "one matrix for both, so a symmetric score",
        "dot": "the vectors of the days themselves, so a symmetric score",
        "table": "a free score for every pair of days: no vectors, nothing to generalise with",
    },
    budget="150 steps, Adam at 0.04, the vectors of the days are learned too",
    measured="days of 7 that look at the day before, more is better",
    cells=("setup", "ring-train"),
)
def yesterdays(page, run):
    parameters = [torch.randn(7, 7)] if run.contender == "table" else [torch.randn(7, 8), *torch.randn(2, 8, 8) / 3]
    rung = page.RUNGS.get(run.contender, lambda scores: scores)
    optimizer = torch.optim.Adam([it.requires_grad_() for it in parameters], lr=0.04, fused=True)
    for _ in range(RING_STEPS * run.times):
        scores = rung(*parameters)
        loss = F.cross_entropy(scores, page.yesterday)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return (scores.argmax(dim=-1) == page.yesterday).sum()


AT_ONCE, WRITTEN = "whole rows", "while writing"
MASKED, UNMASKED, NO_LAYER = "attention", "attention without a mask", "no layer"


@experiment(
    PAGE,
    contenders={
        MASKED: "one causal layer of the page, K = 32, in x + part(x)",
        UNMASKED: "the same layer, in which every letter may look at all sixteen",
        NO_LAYER: "embedding and head alone: the last letter",
    },
    cases=(AT_ONCE, WRITTEN),
    budget=BUDGET,
    measured=MEASURED,
    cells=("setup", "self-attention-class"),
)
def peeking(page, run):
    """On whole rows, as in training, or on rows that end before the letter that is to be predicted."""
    return once(page, run._replace(case=""), lambda: two_losses(page, run))[run.case]


def two_losses(page, run):
    kept = []

    def make():
        parts = [] if run.contender == NO_LAYER else [page.SelfAttention(32, 32)]
        kept.append(Ladder(parts, None, True, causal=run.contender != UNMASKED))
        return kept[0]

    found = {AT_ONCE: loss_of_model(make, run.seed, times=run.times)}
    _, unseen = rows()
    with torch.no_grad():
        scores = [kept[0](unseen[:, :n])[:, -1] for n in range(1, unseen.shape[1])]
        found[WRITTEN] = F.cross_entropy(torch.stack(scores, dim=-1), unseen[:, 1:]).item()
    return found


claim(
    yesterdays,
    "With queries and keys every day finds yesterday, from every start. The lower rungs settle on a compromise: each "
    "day looks most at itself, and equally at yesterday and tomorrow.",
    about=("query–key", "projected", "dot"),
    cell="ring-result",
    holds=lambda days: all(
        min(days["query–key", "", times]) == 7 and max(days["projected", "", times] + days["dot", "", times]) == 0
        for times in (1, 4)
    ),
    note="A free table of scores finds yesterday as well: there is nothing here to generalise to. What the experiment "
    "shows is which scores can be told apart at all.",
)
claim(
    yesterdays,
    "Gradient descent did not find the spiral from any of our starts. With queries and keys it finds all seven days, "
    "and needs no trick.",
    about=("query–key", "projected", "dot"),
    cell="spiral",
    holds=lambda days: all(
        min(days["query–key", "", times]) == 7 and max(days["projected", "", times] + days["dot", "", times]) < 6
        for times in (1, 4)
    ),
    note="Four times the steps do not find it either.",
    page="chapters/closer/03-scores.ipynb",
)

UNDIVIDED = "attention, not divided by √K"


claim(
    letters,
    "Attention hears the earlier ones as well, and the loss falls.",
    about=("attention", "no layer"),
    cell="letters-so-far",
    holds=lambda loss: below(loss, "attention", "no layer", by=0.02),
    note="True, and small. A table that counts which letter follows which is nearly as good in the steps of the page, "
    "and the MLP of the PyTorch page, which knows where each of eight letters stood, is far ahead. What this layer "
    "lacks is the order, which comes in chapter 6.",
)
claim(
    letters,
    "Training may still make the scores as large as it likes, but it starts where there is a slope. Not divided, the "
    "attention at the end of this chapter loses more than half of what it gains over no layer at all.",
    about=("attention", UNDIVIDED, "no layer"),
    cell="letters-so-far",
    holds=lambda loss: all(
        0 < gain(loss, UNDIVIDED, "no layer", times) < gain(loss, "attention", "no layer", times) / 2
        for times in (1, 4)
    ),
    note="Nothing on the page is trained without the root. At a width of 32 it matters as much as the layer itself.",
    verdict="changed",
    before="Training may still make the scores as large as it likes, but it starts where there is a slope.",
)


claim(
    letters,
    "The MLP of the PyTorch page is at 1.77 after as many steps: it knows where each of eight letters stood, and this "
    "layer hears a bag.",
    about=("MLP", "attention"),
    cell="letters-so-far",
    holds=lambda loss: round(median(loss["MLP", "", 1]), 2) == 1.77 and below(loss, "MLP", "attention", by=0.4),
    note="After four times the steps the MLP leads by more. The page says so from the start, and chapter 6 gives "
    "attention the order of the letters.",
)


def biased(page):
    layer = page.SelfAttention(4, 2)
    layer.query = nn.Linear(4, 2)
    return layer


class FlagMLP(nn.Module):
    """All six tokens side by side, 64 hidden units, all six answers."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 12))

    def forward(self, x):
        return self.layers(x.flatten(1)).unflatten(1, (6, 2))


@experiment(
    PAGE,
    contenders={
        "attention": "the layer of the page, with a constant 1 in every token",
        "attention, no constant": "the same layer, and 0 in the place of the constant",
        "attention, no constant, a bias": "no constant in the tokens, but a bias in the queries",
        "MLP": "all six tokens side by side, 64 hidden units",
        "fixed average": "one sixth of every token",
    },
    budget="300 steps of 256 sequences, Adam at 0.05",
    measured="share of the variance of the answers that is explained, more is better",
    cells=("setup", "flagged-sequences", "self-attention-class", "train-on-the-flags:train_on_flags"),
)
def flags(page, run):
    one = float(run.contender in ("attention", "MLP"))
    makers = {"attention, no constant, a bias": lambda: biased(page), "MLP": FlagMLP}
    x, wanted = page.flagged_sequences(5000)
    x[..., 3] *= one
    if run.contender == "fixed average":
        return page.explained(x[..., :2].mean(dim=1, keepdim=True), wanted)
    layer = makers.get(run.contender, lambda: page.SelfAttention(d_model=4, d_head=2))()
    page.train_on_flags(layer, FLAG_STEPS * run.times, one)
    with torch.no_grad():
        return page.explained(layer(x), wanted)


claim(
    flags,
    "The flag may be anywhere, so a fixed matrix can do no better than average all six, and a sixth of the answer "
    "survives.",
    about=("fixed average", "attention"),
    cell="fixed-matrix",
    holds=lambda share: all(
        max(abs(it - 1 / 6) for it in share["fixed average", "", times]) < 0.01
        and min(share["attention", "", times]) > 0.99
        for times in (1, 4)
    ),
    note="The page finds the best fixed matrix, and it is this average up to noise.",
)
claim(
    flags,
    "Without something constant in the tokens, they cannot all ask the same question. In GPT-2 a bias does this job.",
    about=("attention", "attention, no constant", "attention, no constant, a bias"),
    cell="train-without-the-one",
    holds=lambda share: all(
        min(share["attention", "", times] + share["attention, no constant, a bias", "", times]) > 0.99
        and max(share["attention, no constant", "", times]) < 0.6
        for times in (1, 4)
    ),
    note="With a bias in the queries the constant in the tokens is not needed. An MLP that gets all six tokens side by "
    "side learns this task, too, for sequences of six.",
)
claim(
    peeking,
    "Without a mask the loss falls furthest among the layers, and that is worth nothing: every target but the last may "
    "look at the very letter that it should predict.",
    about=(UNMASKED, MASKED, NO_LAYER),
    cell="letters-so-far",
    holds=lambda loss: (
        below(loss, UNMASKED, MASKED, NO_LAYER, case=AT_ONCE)
        and below(loss, MASKED, NO_LAYER, case=WRITTEN)
        and below(loss, NO_LAYER, UNMASKED, case=WRITTEN)
    ),
    note="Asked as in use, where the letters to come are not there, it does worse than guessing, and more so after "
    "four times the steps.",
)
