"""Closer look at one head: the circuit by itself, the model without it, and the heads that step in."""

import torch

from tests.claims.closer_12_one_head import CELLS, PAGE
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

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
    "In the whole model the exchange takes nothing away above block 24. Without the heads of block 24 it takes all or "
    "nearly all of what was left.",
    about=(WHOLE_MODEL, NO_BLOCK),
    cell="backup",
    holds=lambda left: (
        all(
            below < -5 and above > 0.98 * whole
            for whole, below, above in zip(
                *(left[WHOLE_MODEL, case, 1] for case in (AS_IT_IS, ABOVE_23, ABOVE_24)), strict=True
            )
        )
        and all(
            above < whole / 4
            for whole, above in zip(*(left[NO_BLOCK, case, 1] for case in (AS_IT_IS, ABOVE_24)), strict=True)
        )
    ),
    note="On each half of the countries. Such heads are called backup heads.",
)
