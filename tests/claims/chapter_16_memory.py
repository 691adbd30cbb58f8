"""Chapter 16, today's decoder: longer texts, keys and values of low rank, and an indexer that selects."""

import torch
from clearbook.data.course_files import find_kept_files

from tests.claims.chapter_16 import PAGE, SETUP, gaps
from tests.claims.pages import once
from tests.claims.registry import Numbers, claim, experiment

find_kept_files()


SHIPPED = (*SETUP, "shipped-model", "rescaled", "rescaled-by-hand", "longer-data")
FIRST, LAST = "the first 256 tokens", "the last 256 of 1,024"
READERS = {
    "as trained": "the angles of the trained model",
    "interpolated, ℓ = 4": "all angles a quarter",
    "NTK, ℓ = 4": "a changed base, the slowest angle a quarter",
    "NTK, ℓ = 16": "a changed base, the slowest angle a sixteenth",
    "NTK, ℓ = 32": "a changed base, the slowest angle a thirty-second",
    "window of 256": "the angles of the trained model, and the last 256 tokens alone",
}


@experiment(
    PAGE,
    contenders=READERS,
    cases=(FIRST, LAST),
    budget="no training: the shipped model reads a text of 1,024 tokens from each of three novels",
    measured="bits per character on these tokens, less is better",
    cells=(*SHIPPED, "longer-run:bits_by_position"),
    times=(1,),
)
def longer(page, run):
    read = once(page, run.contender, lambda: read_by(page, run.contender))
    return read[run.seed, :256].mean() if run.case == FIRST else read[run.seed, -256:].mean()


def read_by(page, who):
    back = torch.arange(page.LONG)[:, None] - torch.arange(page.LONG)
    times = float(who.rpartition("= ")[2]) if "ℓ" in who else 1.0
    squeeze, stretch = (times, 1) if who.startswith("interpolated") else (1, times)
    rope = page.rescaled(page.LONG, squeeze=squeeze, stretch=stretch)
    return page.bits_by_position(rope, back < 256 if who.startswith("window") else None)


@experiment(
    PAGE,
    contenders={
        "full": "keys and values as they were trained, 512 numbers a token",
        "rank 64": "their best approximation of rank 64, 64 numbers a token",
        "rank 32": "their best approximation of rank 32, 32 numbers a token",
        "two heads for four": "pairs of heads averaged, 256 numbers a token",
    },
    budget="no training: the shipped model reads 256 tokens from each of three novels",
    measured="bits per character, less is better",
    cells=(*SHIPPED, "low-rank", "shared-heads:shared"),
    times=(1,),
)
def ranks(page, run):
    changes = {
        "full": lambda weight, bias: (weight, bias),
        "rank 64": page.low_rank(64),
        "rank 32": page.low_rank(32),
        "two heads for four": page.shared(2),
    }
    return page.bits_after(changes[run.contender], page.texts[3 + run.seed][None])


READ = {
    "all 512 facts": "attention over everything",
    "a window of 16": "attention over the 16 newest",
    "the indexer's best 16": "attention over the 16 that the indexer scores highest",
    "the indexer's best one": "what the indexer scores highest",
    "16 at random": "attention over 16 facts that nobody has chosen",
}


@experiment(
    PAGE,
    contenders=READ,
    budget="100 steps of 4 memories of 128 facts, AdamW at 0.01, for the indexer; the others learn nothing",
    measured="share of 512 questions that are answered right, more is better",
    cells=(*SETUP, "indexer", "facts", "train-indexer", "recall"),
)
def recall(page, run):
    if run.contender == "16 at random":
        return page.recalled(lambda asked, keys: torch.rand(*asked.shape[:2], keys.shape[1]), 16, run.seed)
    trained = once(page, (run.times, run.seed), lambda: page.train_indexer(run.seed, 100 * run.times))
    chosen_by, k = {
        "all 512 facts": (page.attention_scores, 512),
        "a window of 16": (page.newest, 16),
        "the indexer's best 16": (trained, 16),
        "the indexer's best one": (trained, 1),
    }[run.contender]
    return page.recalled(chosen_by, k, run.seed)


def lost(bits: Numbers, who: str) -> list[float]:
    """How much worse one reads the last tokens than the first, text by text."""
    return [b - a for a, b in zip(bits[who, FIRST, 1], bits[who, LAST, 1], strict=True)]


claim(
    longer,
    "Without further training it is worse than the others at the start, and gets hardly worse later.",
    about=("interpolated, ℓ = 4", "as trained", "NTK, ℓ = 4"),
    cell="longer-figure",
    holds=lambda bits: (
        min(gaps(bits, "as trained", "interpolated, ℓ = 4", FIRST)) > 0.15
        and min(gaps(bits, "NTK, ℓ = 4", "interpolated, ℓ = 4", FIRST)) > 0.15
        and max(lost(bits, "interpolated, ℓ = 4")) < 0.1 < min(lost(bits, "as trained"))
    ),
    note="For each of the three texts.",
)
claim(
    longer,
    "The changed base needs no training, costs next to nothing in short texts, and breaks later.",
    about=("NTK, ℓ = 4", "NTK, ℓ = 16", "as trained"),
    cell="longer-figure",
    holds=lambda bits: (
        all(max(gaps(bits, "as trained", who, FIRST)) < 0.05 for who in ("NTK, ℓ = 4", "NTK, ℓ = 16"))
        and min(gaps(bits, "NTK, ℓ = 16", "as trained", LAST)) > 0.2
    ),
    note="With a sixteenth for the slowest angle the first tokens cost up to 0.04 bits more.",
)
claim(
    longer,
    "with 16 the model reads the last tokens as well as the first.",
    about=("NTK, ℓ = 16", "NTK, ℓ = 4"),
    cell="longer-figure",
    holds=lambda bits: max(lost(bits, "NTK, ℓ = 16")) < 0.02 < 0.2 < min(lost(bits, "NTK, ℓ = 4")),
    note="A thirty-second is no better than a sixteenth.",
)
claim(
    longer,
    "And the simplest thing, a [window](14-cost.ipynb#a-window) over the last 256 tokens, is better still, by one or "
    "two hundredths of a bit in each of the three texts.",
    about=("window of 256", "NTK, ℓ = 16"),
    cell="longer-figure",
    holds=lambda bits: 0.005 < min(lead := gaps(bits, "window of 256", "NTK, ℓ = 16", LAST)) <= max(lead) < 0.025,
    note="The same texts for both, so that the difference counts and not the spread between texts.",
)
claim(
    ranks,
    "The keys and values of all heads together hardly need more than 64 of the 256 directions that there are. "
    "Averaged, the heads lose far more with as many numbers kept: they were trained to differ, so GQA has to be there "
    "from the start of training.",
    about=("rank 64", "full", "two heads for four"),
    cell="low-rank-figure",
    holds=lambda bits: (
        max(gaps(bits, "full", "rank 64")) < 0.03 < 0.2 < min(gaps(bits, "full", "two heads for four"))
        and min(gaps(bits, "rank 64", "rank 32")) > 0.05
    ),
    note="Averaged pairs keep four times as many numbers as rank 64.",
    verdict="changed",
    before="The keys and values of all heads together hardly need more than 64 of the 256 directions that there are. "
    "Heads that were trained to differ cannot be averaged, so GQA has to be trained.",
)
claim(
    recall,
    "The indexer alone, which reads a single fact, is often wrong. But the right fact is nearly always *among* its "
    "best 16, and there the real attention finds it.",
    about=("the indexer's best 16", "the indexer's best one", "all 512 facts"),
    cell="recall-table",
    holds=lambda right: all(
        max(right["the indexer's best one", "", times])
        < 0.93
        < 0.97
        < min(right["the indexer's best 16", "", times] + right["all 512 facts", "", times])
        for times in (1, 4)
    ),
    note="Attention over everything is always right.",
)
claim(
    recall,
    "A window of 16 finds only what was said last.",
    about=("a window of 16", "the indexer's best 16", "16 at random"),
    cell="recall-table",
    holds=lambda right: all(
        max(right["a window of 16", "", times] + right["16 at random", "", times]) < 0.1
        and min(right["the indexer's best 16", "", times]) > 0.97
        for times in (1, 4)
    ),
    note="The facts that are asked for are as often old as new, so a window is no better than chance.",
)
