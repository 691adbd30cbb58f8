"""Chapter 4, several heads: five forms of one layer, two layers that read the future, the rung of the letters."""

import math

import torch
import torch.nn.functional as F
from clearbook.ladder import Ladder, LastLetters, loss_of_model

from tests.claims.compare import below
from tests.claims.letters import BUDGET, MEASURED, MLP, gain
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/04-multi-head.ipynb"
COPY_STEPS = 150
UNSEEN = "without the future"
LOWEST = 5 / 12 * math.log(16)  # five of twelve tokens are drawn, and the others can be copied
RUNGS = {
    "four heads": lambda page: [page.MultiHeadAttention(32, 4)],
    "one head": lambda page: [page.MultiHeadAttention(32, 1)],
    "attention of chapter 3": lambda page: [page.SelfAttention(32, 32)],
}


@experiment(
    PAGE,
    contenders={
        "four heads": "four heads of width 8 and an output matrix",
        "one head": "one head of width 32 and an output matrix: as many parameters",
        "attention of chapter 3": "one head of width 32 without output matrix and biases",
        "MLP": MLP,
    },
    budget=BUDGET,
    measured=MEASURED,
    cells=("setup", "yours-from-chapter-3", "multi-head-class"),
)
def letters(page, run):
    if run.contender == "MLP":
        return loss_of_model(LastLetters, run.seed, times=run.times)
    return loss_of_model(lambda: Ladder(RUNGS[run.contender](page), None, True), run.seed, times=run.times)


def trained_copier(page, run):
    """The model after its training, and the mean loss of the last twenty steps."""
    layers = {"right": page.MultiHeadAttention, "split by view": page.SplitByView, "join by view": page.JoinByView}
    model, losses = page.Copier(layers[run.contender]), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)
    for _ in range(COPY_STEPS * run.times):
        ids, following = page.repeated(32)
        loss = F.cross_entropy(model(ids).flatten(0, 1), following.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, sum(losses[-20:]) / 20


@experiment(
    PAGE,
    contenders={
        "right": "split and join of the page",
        "split by view": "heads cut by `view`",
        "join by view": "heads joined without the transpose",
    },
    cases=("in training", UNSEEN),
    budget="150 steps of 32 rows, Adam at 0.01",
    measured="nats a token, less is better; guessing costs 2.77, and nobody honest gets below 1.16",
    cells=("setup", "multi-head-class", "view-layers", "copy-train", "copy-honest:honest_loss"),
)
def copiers(page, run):
    model, seen = once(page, run._replace(case=""), lambda: trained_copier(page, run))
    return seen if run.case == "in training" else page.honest_loss(model)


ROUNDS = {"16 tokens": 200, "512 tokens": 8}


@experiment(
    PAGE,
    contenders={
        "list of heads": "one head after the other, then side by side",
        "split and reshape": "the class of the page: heads are a batch axis",
        "einsum": "every axis by its name",
        "one projection": "queries, keys and values from one matrix, attention as a formula",
        "one projection, SDPA": "the same with PyTorch's scaled_dot_product_attention",
    },
    cases=tuple(ROUNDS),
    budget="the best of 200 rounds for 16 tokens and of 8 for 512, all five in turns; D = 256, 8 heads",
    measured="milliseconds of the processor, less is better; of one machine, and larger where it is busy",
    cells=(
        "setup",
        "yours-from-chapter-3",
        "heads-class",
        "multi-head-class",
        "equal-to-heads",
        "equal-to-torch",
        "einsum-form",
        "one-projection-form",
        "five-ways-named",
        "five-ways-clock",
    ),
)
def forms(page, run):
    n_tokens = int(run.case.split()[0])
    rounds = ROUNDS[run.case] * run.times
    least = once(page, (run.case, run.times, run.seed), lambda: page.least_seconds(n_tokens, rounds))
    return 1000 * least[run.contender]


def spread(found):
    """By how much runs differ that have nothing but the seed between them."""
    return max(found) - min(found)


claim(
    letters,
    "Four heads have no parameter more than one. For each letter they take four averages of width 8 in place of one of "
    "width 32, and the loss falls by more than two runs of the same layer differ.",
    about=("four heads", "one head"),
    cell="letters-so-far",
    holds=lambda loss: all(
        min(loss["one head", "", times]) - max(loss["four heads", "", times])
        > max(spread(loss["one head", "", times]), spread(loss["four heads", "", times]))
        for times in (1, 4)
    ),
    note="True, and small. The lead grows with the steps.",
)
claim(
    letters,
    "One head does about as well as the attention of chapter 3: its output matrix and its biases buy nothing here.",
    about=("one head", "attention of chapter 3", "four heads"),
    cell="letters-so-far",
    holds=lambda loss: all(
        abs(gain(loss, "one head", "attention of chapter 3", times)) < gain(loss, "four heads", "one head", times) / 2
        for times in (1, 4)
    ),
    note="At either budget the two differ by less than half of what four heads gain.",
)
claim(
    letters,
    "The MLP of the PyTorch page stays far ahead all the same: it knows where each of its eight letters stood, and "
    "four bags of letters are still bags.",
    about=("MLP", "four heads"),
    cell="letters-so-far",
    holds=lambda loss: below(loss, "MLP", "four heads", by=0.4),
    note="The order of the letters comes in chapter 6.",
)
claim(
    copiers,
    "All losses fall, and the two wrong layers look better than the right one.",
    about=("right", "split by view", "join by view"),
    cell="copy-figure",
    holds=lambda loss: all(
        below(loss, wrong, "right", case="in training") for wrong in ("split by view", "join by view")
    ),
    note="After four times the steps, too; the layer that joins by view has then seen most of what it should predict.",
)
claim(
    copiers,
    "There is one clue: with `view` in the join the loss falls below what is possible. On real text nobody knows that "
    "line. (The right layer comes nearer to it with more steps, and not below.)",
    about=("join by view", "right"),
    cell="copy-figure",
    holds=lambda loss: (
        all(max(loss["join by view", "in training", times]) < LOWEST - 0.3 for times in (1, 4))
        and LOWEST
        < min(loss["right", "in training", 4])
        <= max(loss["right", "in training", 4])
        < min(loss["right", "in training", 1])
    ),
    note="What is possible for those who do not see the future is five twelfths of ln 16.",
)
claim(
    copiers,
    "Now the right layer is far ahead. Both wrong ones had read pieces of *later* tokens, filed under an earlier "
    "position, where no mask could see them.",
    about=("right", "split by view", "join by view"),
    cell="copy-honest",
    holds=lambda loss: below(loss, "right", "split by view", "join by view", by=0.5, case=UNSEEN),
    note="From each seed the layers change places, all three of them; which of the two wrong ones does worse from "
    "different seeds is chance.",
    verdict="changed",
    before="The order is reversed. Both wrong layers had read pieces of *later* tokens, filed under an earlier "
    "position, where no mask could see them.",
)
claim(
    forms,
    "For a short sequence the list is slowest: calling many small functions takes longer than what they compute.",
    about=("list of heads", "split and reshape", "einsum", "one projection", "one projection, SDPA"),
    cell="five-ways",
    holds=lambda time: all(
        below(time, who, "list of heads", case="16 tokens") for who in forms.contenders if who != "list of heads"
    ),
    note="At 16 tokens the loop calls eight times as many functions for the same products.",
)
claim(
    forms,
    "The last form wins at both lengths.",
    about=("one projection, SDPA", "list of heads", "split and reshape", "einsum", "one projection"),
    cell="five-ways",
    holds=lambda time: all(
        below(time, "one projection, SDPA", "list of heads", "split and reshape", "einsum", "one projection", case=case)
        for case in ROUNDS
    ),
    note="At 512 tokens the loop was not the slowest form on this machine.",
)
