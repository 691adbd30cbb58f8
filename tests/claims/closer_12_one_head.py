"""Closer look at one head: which of its inputs carries the country, and which part below writes it."""

import torch

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/12-one-head.ipynb"
CELLS = (
    *(
        "setup",
        "load",
        "attribution-code:apart",
        "qkv",
        "head-writes",
        "with-head-code",
        "inputs:columns",
        "inputs:with_part",
        "terms",
    ),
    "countries",
)
NOTHING = "nothing exchanged"
QUERY, KEY, VALUE = "query of head 5", "key of head 5", "value of head 5"
FOURTH, SIXTH = "value of head 4", "value of head 6"
FIRST, OTHERS, ATTENTION = "feed-forward 1", "the strongest of feed-forward 2 to 23", "all attention below"
REST, ALL = "feed-forward 2 to 23 together", "all feed-forward below"


def exchanged(page):
    """Streams of the countries below block 24 and of the next ones on the list, and what that changes in each term."""
    below = page.go_on(page.model.tokens(page.asked))[23]
    terms = page.terms(page.model.tokens(page.asked))
    return below, below.roll(-1, 0), terms.roll(-1, 1) - terms


def half(page, finished, seed):
    """The mean difference of the two capitals' logits, over half of the countries."""
    apart = page.apart(finished, page.cities, page.cities.roll(-1))
    chosen = torch.randperm(len(apart), generator=torch.Generator().manual_seed(seed))[: len(apart) // 2]
    return apart[chosen].mean().item()


@experiment(
    PAGE,
    contenders={
        NOTHING: "the model as it is",
        QUERY: "of the next country, in block 24",
        KEY: "of the next country, in block 24",
        VALUE: "of the next country, in block 24",
        FOURTH: "the same numbers, read by another head",
        SIXTH: "the same numbers, read by another head",
    },
    budget="no training; 26 countries that the page did not choose the head by, of which each seed draws half",
    measured="logit of the capital less that of the next country's capital",
    cells=CELLS,
    times=(1,),
)
def inputs_of_the_head(page, run):
    below, other, _ = once(page, "exchanged", lambda: exchanged(page))

    def finished():
        if run.contender == NOTHING:
            return page.go_on(below, 23)[-1][:, -1]
        part, _, _, h = run.contender.split()
        return page.with_part(below, other, part, int(h))

    return half(page, once(page, run.contender, finished), run.seed)


claim(
    inputs_of_the_head,
    "The value of head 5 turns the answer round, and neither its query nor its key does anything. The values of heads "
    "4 and 6 move the answer far less, though they read the same numbers.",
    about=(VALUE, QUERY, KEY, FOURTH, SIXTH),
    cell="circuit",
    holds=lambda left: all(
        value < -3 and abs(query - whole) < 0.3 > abs(key - whole) and min(fourth, sixth) > 0.6 * whole
        for whole, query, key, value, fourth, sixth in zip(
            *(left[who, "", 1] for who in (NOTHING, QUERY, KEY, VALUE, FOURTH, SIXTH)), strict=True
        )
    ),
    note="On each half of the countries. The head had been found on France alone.",
)


@experiment(
    PAGE,
    contenders={
        NOTHING: "the model as it is",
        FIRST: "writes the next country into the value of head 5, and nowhere else",
        OTHERS: "likewise, and the one of them that changes most",
        REST: "likewise, all of them together",
        ALL: "likewise, of all 23 blocks together",
        ATTENTION: "likewise, of all 23 blocks together",
    },
    budget="no training; 26 countries that the page did not choose the layer by, of which each seed draws half",
    measured="logit of the capital less that of the next country's capital",
    cells=CELLS,
    times=(1,),
)
def paths_into_the_value(page, run):
    below, _, change = once(page, "exchanged", lambda: exchanged(page))
    changes = {
        NOTHING: [0 * change[0]],
        FIRST: [change[2]],
        OTHERS: list(change[4::2]),
        REST: [change[4::2].sum(0)],
        ALL: [change[2::2].sum(0)],
        ATTENTION: [change[1::2].sum(0)],
    }
    finished = once(page, run.contender, lambda: [page.fed(below, one) for one in changes[run.contender]])
    return min(half(page, one, run.seed) for one in finished)


claim(
    paths_into_the_value,
    "Of the layers below, the first feed-forward layer matters by far the most.",
    about=(FIRST, OTHERS, ATTENTION),
    cell="circuit-layers",
    holds=lambda left: all(
        first < 0.4 * whole and min(others, heads) > 0.8 * whole
        for whole, first, others, heads in zip(
            *(left[who, "", 1] for who in (NOTHING, FIRST, OTHERS, ATTENTION)), strict=True
        )
    ),
    note="On each half of the countries. The page looked for attention that feeds the head directly, from the "
    "country's column, and found none.",
)

claim(
    paths_into_the_value,
    "But it carries about half of what all feed-forward layers carry together, and alone it does not turn the answer "
    "round. The others move it little one by one, and together more than half as much as the first.",
    about=(FIRST, REST, ALL),
    cell="circuit-layers",
    holds=lambda left: all(
        first > 0 > together
        and 0.4 < (whole - first) / (whole - together) < 0.6
        and others > 0.8 * whole
        and 0.5 < (whole - rest) / (whole - first) < 1
        for whole, first, others, rest, together in zip(
            *(left[who, "", 1] for who in (NOTHING, FIRST, OTHERS, REST, ALL)), strict=True
        )
    ),
    note="On each half of the countries.",
    verdict="changed",
    before="So we have a small circuit: the first feed-forward layer, then the value of head 5 in block 24, then the "
    "answer. It holds.",
)

WHOLE, NONE = "everything", "all feed-forward layers and no head"
NAMED, BOTTOM = "head 5 and feed-forward 1", "head 5 and feed-forward 1 to 23"
LAYERS, BLOCK = "head 5 and all feed-forward", "all heads of block 24 and all feed-forward"
EIGHT = "the eight other heads of block 24 and all feed-forward"
STRONGEST = "head 2 of block 30 and all feed-forward"
DRAWN, NEIGHBOUR = "a head drawn by chance and all feed-forward", "the best other head of block 24 and all feed-forward"
WITHOUT, WITHOUT_FIRST = "everything but head 5", "everything but feed-forward 1"
WITHOUT_BOTH = "everything but head 5 and feed-forward 1"
WITHOUT_BLOCK = "everything but all heads of block 24"


def kept_parts(page, contender, seed):
    """The heads and the layers that are kept; for the neighbours one choice after another."""
    drawn = int(torch.randint(269, (), generator=torch.Generator().manual_seed(seed)))
    of_24 = {(24, h) for h in range(1, 10)}
    choices = {
        DRAWN: [({sorted(page.HEADS - {(24, 5)})[drawn]}, page.ALL)],
        NEIGHBOUR: [({(24, h)}, page.ALL) for h in range(1, 10) if h != 5],
        STRONGEST: [({(30, 2)}, page.ALL)],
        NONE: [(set(), page.ALL)],
        NAMED: [({(24, 5)}, {1})],
        BOTTOM: [({(24, 5)}, page.BELOW)],
        LAYERS: [({(24, 5)}, page.ALL)],
        BLOCK: [(of_24, page.ALL)],
        EIGHT: [(of_24 - {(24, 5)}, page.ALL)],
        WITHOUT: [(page.HEADS - {(24, 5)}, page.ALL)],
        WITHOUT_FIRST: [(page.HEADS, page.ALL - {1})],
        WITHOUT_BOTH: [(page.HEADS - {(24, 5)}, page.ALL - {1})],
        WITHOUT_BLOCK: [(page.HEADS - of_24, page.ALL)],
        WHOLE: [(page.HEADS, page.ALL)],
    }
    return choices[contender]


@experiment(
    PAGE,
    contenders={
        WHOLE: "the model as it is",
        LAYERS: "these alone, and everything else at its mean",
        NAMED: "likewise",
        BOTTOM: "likewise",
        NONE: "likewise",
        STRONGEST: "likewise; of all other heads the one of the largest direct logit attribution on the page",
        DRAWN: "likewise; another head for each seed, of the 269 others",
        NEIGHBOUR: "likewise; of the eight the one that keeps most on the countries asked",
        BLOCK: "likewise",
        EIGHT: "likewise",
        WITHOUT: "head 5 alone at its mean",
        WITHOUT_FIRST: "feed-forward 1 alone at its mean",
        WITHOUT_BOTH: "these two alone at their mean",
        WITHOUT_BLOCK: "these nine alone at their mean",
    },
    budget="no training; 26 countries that the page did not choose the head by, of which each seed draws 13 for the "
    "means and asks about the others",
    measured="logit of the capital less that of the next country's capital",
    cells=(*CELLS, "means", "alone", "alone-parts"),
    times=(1,),
)
def left_alone(page, run):
    order = torch.randperm(26, generator=torch.Generator().manual_seed(run.seed))
    means, asked, cities = page.means_over(page.asked[order[:13]]), page.asked[order[13:]], page.cities[order[13:]]
    finished = [page.alone(asked, *parts, means) for parts in kept_parts(page, run.contender, run.seed)]
    return max(page.apart(one, cities, cities.roll(-1)).mean().item() for one in finished)


def share(left, who):
    """What is left of the whole difference, for each seed."""
    return [one / whole for one, whole in zip(left[who, "", 1], left[WHOLE, "", 1], strict=True)]


claim(
    left_alone,
    "One head of 270 keeps four fifths of the difference, if all feed-forward layers are there. A head drawn by chance "
    "keeps nothing, nor does the strongest other one by attribution, and the best of its neighbours in block 24 less "
    "than a fifth.",
    about=(LAYERS, DRAWN, STRONGEST, NEIGHBOUR),
    cell="alone-run",
    holds=lambda left: (
        all(0.75 < one < 0.85 for one in share(left, LAYERS))
        and max(*share(left, DRAWN), *share(left, STRONGEST)) < 0.01
        and all(0.1 < one < 0.2 for one in share(left, NEIGHBOUR))
    ),
    note="On each half of the countries; the best neighbour is chosen on the countries asked. Everything else is at "
    "its mean over the other half.",
)

claim(
    left_alone,
    "But the circuit that we had named, head 5 and the first feed-forward layer, keeps only a fifth by itself, and "
    "somewhat more than a third with all layers below block 24.",
    about=(NAMED, BOTTOM, LAYERS),
    cell="alone-run",
    holds=lambda left: (
        all(0.15 < one < 0.25 for one in share(left, NAMED)) and all(1 / 3 < one < 0.4 for one in share(left, BOTTOM))
    ),
    note="On each half of the countries. The feed-forward layers above block 24 make most of the answer from what the "
    "head brings.",
)

claim(
    left_alone,
    "But it has: without head 5 more than a third of the difference is still there. Most of that comes from the same "
    "block. Its eight other heads keep a third when no other head is left, and with all nine the whole difference is "
    "back.",
    about=(WITHOUT, EIGHT, BLOCK, NONE),
    cell="alone-run",
    holds=lambda left: (
        all(1 / 3 < one < 0.5 for one in share(left, WITHOUT))
        and all(0.28 < one < 0.4 for one in share(left, EIGHT))
        and min(share(left, BLOCK)) > 0.98
        and max(share(left, NONE)) < 0.01
    ),
    note="On each half of the countries. The circuit is not complete: without head 5 it has no head left, and keeps "
    "nothing.",
    verdict="changed",
    before="Other heads bring the country, too, and all of them are late: with the heads of block 24 to 30, and none "
    "from the 23 blocks below, the whole difference is back.",
)

claim(
    left_alone,
    "Without any head of block 24 about a tenth remains",
    about=(WITHOUT_BLOCK, WITHOUT),
    cell="alone-run",
    holds=lambda left: all(0.05 < one < 0.15 for one in share(left, WITHOUT_BLOCK)),
    note="On each half of the countries.",
)

claim(
    left_alone,
    "Take away the first feed-forward layer instead, and nothing is left. The same holds without both.",
    about=(WITHOUT_FIRST, WITHOUT_BOTH, WITHOUT),
    cell="alone-run",
    holds=lambda left: (
        max(abs(one) for who in (WITHOUT_FIRST, WITHOUT_BOTH) for one in share(left, who)) < 0.02
        and min(share(left, WITHOUT)) > 1 / 3
    ),
    note="On each half of the countries. On the average over them: for a single pair it is not 0.",
)

WHOLE_MODEL, NO_BLOCK = "the whole model", "without the heads of block 24"
AS_IT_IS, ABOVE_23, ABOVE_24 = "nothing exchanged", "exchanged above block 23", "exchanged above block 24"


@experiment(
    PAGE,
    contenders={
        WHOLE_MODEL: "all heads and layers as they are",
        NO_BLOCK: "these nine at their mean, and everything else as it is",
    },
    cases=(AS_IT_IS, ABOVE_23, ABOVE_24),
    budget="no training; 26 countries, of which each seed draws 13 for the means, and gives each of the others the "
    "country's column of the next one",
    measured="logit of the capital less that of the next country's capital",
    cells=(*CELLS, "means", "alone", "alone-parts"),
    times=(1,),
)
def country_exchanged(page, run):
    order = torch.randperm(26, generator=torch.Generator().manual_seed(run.seed))
    means = once(page, ("means", run.seed), lambda: page.means_over(page.asked[order[:13]]))
    asked, cities = page.asked[order[13:]], page.cities[order[13:]]
    heads = page.HEADS if run.contender == WHOLE_MODEL else {(m, h) for m, h in page.HEADS if m != 24}

    def next_country(module, inputs, output):
        return torch.cat([output[:, :3], output[:, 3:4].roll(-1, 0), output[:, 4:]], dim=1)

    hooks = []
    if run.case != AS_IT_IS:
        below = 23 if run.case == ABOVE_23 else 24
        hooks = [page.blocks[below - 1].register_forward_hook(next_country)]
    finished = page.alone(asked, heads, page.ALL, means)
    for hook in hooks:
        hook.remove()
    return page.apart(finished, cities, cities.roll(-1)).mean().item()


claim(
    country_exchanged,
    "In the whole model the country's column no longer matters above block 24. Without the heads of block 24 it does, "
    "and what was left turns round.",
    about=(WHOLE_MODEL, NO_BLOCK),
    cell="backup",
    holds=lambda left: (
        all(
            below < -5 and above > 0.95 * whole
            for whole, below, above in zip(
                *(left[WHOLE_MODEL, case, 1] for case in (AS_IT_IS, ABOVE_23, ABOVE_24)), strict=True
            )
        )
        and all(
            above < 0 < whole
            for whole, above in zip(*(left[NO_BLOCK, case, 1] for case in (AS_IT_IS, ABOVE_24)), strict=True)
        )
    ),
    note="On each half of the countries. Such heads are called backup heads.",
)
