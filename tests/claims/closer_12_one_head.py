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
