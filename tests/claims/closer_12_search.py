"""Closer look at texts in classes of one's own: what few labels are worth, by meaning and by words."""

from statistics import mean

import torch

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/12-search.ipynb"
MEANING, WORDS, BOTH, COMMONEST = "meaning", "words", "both", "the commonest chapter"
SHOTS = (1, 2, 4, 8)


@experiment(
    PAGE,
    contenders={
        MEANING: "vectors of all-MiniLM-L6-v2",
        WORDS: "rows of tf-idf",
        BOTH: "the two end to end",
        COMMONEST: "the same answer for every text",
    },
    cases=tuple(f"{n} labels" for n in SHOTS),
    budget="30 steps of one linear layer on up to eight labelled texts a chapter, drawn ten times for each seed",
    measured="per cent of the other texts that are sent to their chapter, more is better",
    cells=("setup", "paragraphs", "probe"),
)
def probe(page, run):
    rows = once(
        page,
        "rows",
        lambda: (
            {MEANING: page.by_meaning, WORDS: page.by_words}
            | {BOTH: torch.cat([page.by_meaning, page.by_words], dim=1)}
        ),
    )
    draws = once(page, ("draws", run.seed), lambda: [page.drawn() for _ in range(10)])
    n = int(run.case.split()[0])
    found = []
    for labelled, rest in draws:
        if run.contender == COMMONEST:
            found.append(float(page.labels[rest].bincount().max() / len(rest)))
        else:
            found.append(float(fitted(page, rows[run.contender], labelled[:, :n].flatten(), rest, run.times)))
    return 100 * mean(found)


def fitted(page, x, train, test, times):
    """The probe of the page, with as many times its steps."""
    W = torch.zeros(x.shape[1], len(page.PART), requires_grad=True)
    optimizer = torch.optim.SGD([W], lr=10)
    for _ in range(30 * times):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(x[train] @ W, page.labels[train]).backward()
        optimizer.step()
    return (page.labels[test] == (x[test] @ W).argmax(dim=1)).float().mean()


def over_all(right, who: str, times: int) -> float:
    return mean(mean(right[who, f"{n} labels", times]) for n in SHOTS)


claim(
    probe,
    "Joining the two adds a few points on average.",
    about=(MEANING, WORDS, BOTH),
    cell="probe-scores",
    holds=lambda right: all(
        over_all(right, BOTH, times) > 1 + max(over_all(right, MEANING, times), over_all(right, WORDS, times))
        for times in (1, 4)
    ),
    note="The same in four times the steps. Each alone is far above the same answer for every text.",
)


FROZEN, MATRIX = "as they are", "by W"
LEARNED, HELD = "learned from", "held out"


@experiment(
    PAGE,
    contenders={
        FROZEN: "vectors of all-MiniLM-L6-v2",
        MATRIX: "these, times a matrix that starts as the identity",
    },
    cases=(LEARNED, HELD),
    budget="100 steps of Adam, with 64 pairs of a heading and its paragraph in each; the seed draws the chapters held "
    "out",
    measured="per cent of the headings that find their own paragraph first, more is better",
    cells=("setup", "paragraphs", "pairs", "contrast"),
)
def matrix_from_pairs(page, run):
    def vectors():
        pairs = page.heading_pairs()
        texts = [pair.heading for pair in pairs], [pair.text for pair in pairs]
        return pairs, *(page.sentence_vectors(page.minilm, page.pieces, each) for each in texts)

    pairs, heads, paragraphs = once(page, "pairs", vectors)
    held = page.held_out(pairs, run.seed)
    W = torch.eye(heads.shape[1])
    if run.contender == MATRIX:
        key = MATRIX, run.times, run.seed
        W = once(page, key, lambda: page.learned(heads[~held], paragraphs[~held], 100 * run.times))
    part = held if run.case == HELD else ~held
    return 100 * page.found(page.cosines(heads[part] @ W, paragraphs[part] @ W))


claim(
    matrix_from_pairs,
    "It knows the pairs that it has learned from nearly by heart. On the chapters that were held out, it finds about "
    "as many paragraphs as the vectors do as they are.",
    about=(FROZEN, MATRIX),
    cell="contrast-scores",
    holds=lambda right: all(
        min(right[MATRIX, LEARNED, times]) > 95
        and all(
            abs(by_matrix - before) < 5
            for by_matrix, before in zip(right[MATRIX, HELD, times], right[FROZEN, HELD, times], strict=True)
        )
        for times in (1, 4)
    ),
    note="From each of three seeds, which draw other chapters, a few points more or less; four times the steps, too.",
)
