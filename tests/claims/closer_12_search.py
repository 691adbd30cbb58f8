"""Closer look at texts in classes of one's own: what few labels are worth, by meaning and by words."""

from fractions import Fraction
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
        BOTH: "the two end to end, of length 1 again",
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
            | {BOTH: torch.nn.functional.normalize(torch.cat([page.by_meaning, page.by_words], dim=1), dim=1)}
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


FROZEN, MATRIX, DIAGONAL = "as they are", "by W", "by its diagonal"
QUARTER, HALF = "by W from a quarter", "by W from half"
LEARNED, HELD = "learned from", "held out"


@experiment(
    PAGE,
    contenders={
        FROZEN: "vectors of all-MiniLM-L6-v2",
        MATRIX: "these, times a matrix that starts as the identity",
        DIAGONAL: "these, each number times one of its own",
        QUARTER: "the matrix, from a quarter of the pairs",
        HALF: "the matrix, from half of the pairs",
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
    known = (~held).nonzero()[:, 0]
    mixed = known[torch.randperm(len(known), generator=torch.Generator().manual_seed(run.seed))]
    known = mixed[: int(len(mixed) * {QUARTER: 1 / 4, HALF: 1 / 2}.get(run.contender, 1))]
    width = heads.shape[1]
    W = torch.ones(width) if run.contender == DIAGONAL else torch.eye(width)
    if run.contender != FROZEN:
        key = run.contender, run.times, run.seed
        W = once(page, key, lambda: page.learned(heads[known], paragraphs[known], W, 100 * run.times))
    part = held if run.case == HELD else known
    return 100 * page.found(page.cosines(page.by(W, heads[part]), page.by(W, paragraphs[part])))


claim(
    matrix_from_pairs,
    "$W$ knows the pairs that it has learned from nearly by heart. On the chapters that were held out, it finds about "
    "as many paragraphs as the vectors do as they are.",
    about=(FROZEN, MATRIX),
    cell="contrast-scores",
    holds=lambda right: all(
        min(right[MATRIX, LEARNED, times]) > 95
        and abs(mean(right[MATRIX, HELD, times]) - mean(right[FROZEN, HELD, times])) < 3
        and all(
            abs(by_matrix - before) < 6
            for by_matrix, before in zip(right[MATRIX, HELD, times], right[FROZEN, HELD, times], strict=True)
        )
        for times in (1, 4)
    ),
    note="From each of three seeds, which draw other chapters, a few points more or less; four times the steps, too.",
)

claim(
    matrix_from_pairs,
    "Fewer pairs are known by heart as well. A diagonal, which only makes each number larger or smaller, changes "
    "little anywhere",
    about=(QUARTER, DIAGONAL, FROZEN),
    cell="contrast-scores",
    holds=lambda right: all(
        min(right[QUARTER, LEARNED, times]) > 95
        and all(
            abs(mean(right[DIAGONAL, case, times]) - mean(right[FROZEN, case, times])) < 2 for case in (LEARNED, HELD)
        )
        for times in (1, 4)
    ),
    note="From each of three seeds. On the chapters that are held out a quarter of the pairs gives a few points less "
    "than all.",
)

CUT, ANY, PRINCIPAL, ALL_NUMBERS = "the first numbers", "any numbers", "principal components", "all numbers"
INT8, SIGNS, SIGNS_THEN = "eight bits", "signs", "signs, then the best twenty by all numbers"


@experiment(
    PAGE,
    contenders={
        ALL_NUMBERS: "384 numbers of all-MiniLM-L6-v2",
        CUT: "the first half, quarter or eighth of them",
        ANY: "as many others, drawn at random",
        PRINCIPAL: "as many directions in which the paragraphs differ most",
        INT8: "all numbers of the paragraphs, rounded to eight bits",
        SIGNS: "the signs of the numbers of the paragraphs",
        SIGNS_THEN: "these find twenty, which all numbers sort",
    },
    cases=("1/2", "1/4", "1/8"),
    budget="no training; each seed draws half of the headings as queries",
    measured="per cent of the headings that find their own paragraph among all, more is better",
    cells=("setup", "paragraphs", "pairs", "contrast", "short-vectors"),
    times=(1,),
)
def fewer_bytes(page, run):
    def vectors():
        pairs = page.heading_pairs()
        texts = [pair.heading for pair in pairs], [pair.text for pair in pairs]
        return [page.sentence_vectors(page.minilm, page.pieces, each) for each in texts]

    q, t = once(page, "vectors", vectors)
    d = int(float(Fraction(run.case)) * t.shape[1])
    exact, by_sign = page.cosines(q, t), q @ t.sign().T

    def cut(way):
        U = way(t, d)
        return page.cosines(q @ U, t @ U)

    ways = {
        ALL_NUMBERS: lambda: exact,
        CUT: lambda: cut(page.first_numbers),
        ANY: lambda: cut(page.any_numbers),
        PRINCIPAL: lambda: cut(page.principal),
        INT8: lambda: q @ page.in_int8(t).T,
        SIGNS: lambda: by_sign,
        SIGNS_THEN: lambda: page.best_then(by_sign, exact, 20),
    }
    right = ways[run.contender]().argmax(dim=1) == torch.arange(len(q))
    half = torch.randperm(len(q), generator=torch.Generator().manual_seed(run.seed))[: len(q) // 2]
    return 100 * right[half].float().mean().item()


claim(
    fewer_bytes,
    "In eight bits a number nothing is lost. The first numbers of a vector are worth no more than any others. The "
    "principal components are worth more, and down to a quarter of the numbers they find about as many as all.",
    about=(INT8, ALL_NUMBERS, CUT, ANY, PRINCIPAL),
    cell="short-vectors-found",
    holds=lambda found: (
        all(abs(a - b) < 2 for a, b in zip(found[INT8, "1/4", 1], found[ALL_NUMBERS, "1/4", 1], strict=True))
        and all(mean(found[CUT, case, 1]) < mean(found[ANY, case, 1]) + 2 for case in ("1/2", "1/4", "1/8"))
        and all(mean(found[PRINCIPAL, case, 1]) > mean(found[CUT, case, 1]) + 1 for case in ("1/2", "1/4", "1/8"))
        and all(mean(found[PRINCIPAL, case, 1]) > mean(found[ANY, case, 1]) + 1 for case in ("1/2", "1/4", "1/8"))
        and all(mean(found[PRINCIPAL, case, 1]) > mean(found[ALL_NUMBERS, case, 1]) - 2 for case in ("1/2", "1/4"))
    ),
    note="Means of three halves of the headings. The components are those of the paragraphs that are searched.",
)

claim(
    fewer_bytes,
    "The signs of a paragraph's numbers find nearly as many, and if all numbers sort the twenty that they find, the "
    "difference is gone.",
    about=(SIGNS, SIGNS_THEN, ALL_NUMBERS, CUT),
    cell="short-vectors-found",
    holds=lambda found: all(
        mean(found[CUT, case, 1]) + 1 < mean(found[SIGNS, case, 1]) < mean(found[SIGNS_THEN, case, 1])
        and abs(mean(found[SIGNS_THEN, case, 1]) - mean(found[ALL_NUMBERS, case, 1])) < 1
        for case in ("1/8",)
    ),
    note="Means of three halves of the headings. The first eighth of the numbers takes more bytes than the signs.",
)
