"""Closer look at how far a window sees: what a stack of windows uses of what it could see."""

from functools import partial

import numpy as np
import torch
from clearformer.blocks import Block, Decoder

from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/14-reach.ipynb"
WIDE = 8
RESIDUAL, BARE = "blocks as they are", "without the residual path around attention"
DEPTHS = {"1 layer": 1, "4 layers": 4, "16 layers": 16}


@experiment(
    PAGE,
    contenders={RESIDUAL: "attention adds to what is there", BARE: "attention's output takes its place"},
    cases=tuple(DEPTHS),
    times=(1,),
    budget="decoders of width 32 with random weights and a window of 8 tokens; nothing is trained",
    measured="within how many tokens 99 % of the influence of others lies",
    cells=("setup", "reach-by-editing", "reach-counted:Bare"),
)
def tokens_in_use(page, run):
    n_layers = DEPTHS[run.case]
    decoder = Decoder(n_layers, 32, 4, 64).double()
    for block in decoder.blocks:
        block.__class__ = page.Bare if run.contender == BARE else Block
    moved, _ = page.influence(decoder, n_layers * (WIDE - 1) + 11, WIDE)
    share = np.cumsum(moved[1:]) / moved[1:].sum()
    return float(np.searchsorted(share, 0.99) + 2)


claim(
    tokens_in_use,
    "Sixteen layers reach sixteen times as far as one, and 99 % of the influence stays within a few windows. The "
    "reason is the residual path.",
    about=(RESIDUAL, BARE),
    cell="reach-counted",
    holds=lambda within: (
        max(within[RESIDUAL, "16 layers", 1]) <= 5 * WIDE
        and 2 * max(within[RESIDUAL, "16 layers", 1]) < min(within[BARE, "16 layers", 1])
    ),
    note="Of three decoders with random weights each.",
)

STACKED, CUT = "a stack of windows", "the last W characters and nothing else"
WINDOWS = {"W = 4": 4, "W = 8": 8, "W = 16": 16, "W = 32": 32}


@experiment(
    PAGE,
    contenders={STACKED: "four layers, each with a window", CUT: "the same model on W characters"},
    cases=tuple(WINDOWS),
    times=(1,),
    budget="one model, trained to look back by up to 255 characters, and 2,100 characters of held-out text to predict",
    measured="bits per character, less is better; a seed is a place in the text",
    cells=("setup", "model", "reading"),
)
def stack_against_cut(page, run):
    width, ids = WINDOWS[run.case], page.held_out[8000 * run.seed : 8000 * run.seed + 6600]
    positions = torch.arange(300, 6599, 3)
    if run.contender == STACKED:
        page.read_with(page.long_model, partial(page.windowed, W=width))
        return float(page.bits_of_each(page.long_model, ids)[positions].mean())
    with torch.no_grad():
        seen = ids[positions[:, None] + torch.arange(-width + 1, 1)]
        log_p = page.model(seen)[:, -1].log_softmax(dim=-1)
    return float(-log_p.gather(1, ids[positions + 1, None]).mean()) / np.log(2)


def gained(found, case):
    """By the stack, at each place of the text."""
    return [cut - stacked for stacked, cut in zip(found[STACKED, case, 1], found[CUT, case, 1], strict=True)]


claim(
    stack_against_cut,
    "With a window of four characters the stack helps: there is much to be had just beyond the window, and one or two "
    "steps carry it over.",
    about=(STACKED, CUT),
    cell="stack-against-cut",
    holds=lambda found: all(gain > 0.05 for gain in gained(found, "W = 4")),
    note="By a tenth to a fifth of a bit, each place by itself; from eight characters on by next to nothing.",
)
