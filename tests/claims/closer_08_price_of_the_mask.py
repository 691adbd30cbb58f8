"""Closer look at the price of the mask: a gap in a palindrome, filled with and without a look ahead."""

import torch
from clearformer.blocks import Decoder, Encoder
from clearformer.training import TrainConfig, train

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/08-price-of-the-mask.ipynb"
N_STEPS, N_ASKED = 100, 4000
AHEAD, BACK = "gap in the first half", "gap in the second half"
SEES, MASKED, DEEP = "encoder", "decoder", "decoder, three blocks"
BODIES = {SEES: (Encoder, 1), MASKED: (Decoder, 1), DEEP: (Decoder, 3)}


@experiment(
    PAGE,
    contenders={
        SEES: "one block that sees all eight places",
        MASKED: "the same block with a causal mask",
        DEEP: "three such blocks with a causal mask",
    },
    cases=(AHEAD, BACK),
    budget="100 steps of 64 palindromes, AdamW at 0.01",
    measured="share of the gaps that are filled rightly, more is better; a guess is right in 0.20",
    cells=("setup", "palindromes", "palindrome-training:gap_loss"),
)
def gaps(page, run):
    return once(page, run._replace(case=""), lambda: filled(page, run))[run.case]


def filled(page, run):
    """The share of right answers for gaps in either half, of palindromes that no training has seen."""
    body, n_blocks = BODIES[run.contender]
    model = page.FillGap(body(n_blocks, 32, 4, 64))
    config = TrainConfig(
        n_steps=N_STEPS * run.times,
        batch_size=64,
        learning_rate=1e-2,
        warmup_steps=20,
        weight_decay=0,
        seed=run.seed,
    )
    train(model, page.gap_loss, page.gapped, config, progress=False)
    letters, gap, answer = page.gapped(N_ASKED, torch.Generator().manual_seed(99))
    with torch.no_grad():
        right = (model(letters, gap).argmax(dim=-1) == answer).float()
    first = gap < page.LENGTH // 2
    return {AHEAD: right[first].mean().item(), BACK: right[~first].mean().item()}


claim(
    gaps,
    "The decoder can only guess there, one in five; the encoder sees both sides.",
    about=(SEES, MASKED),
    cell="palindrome-figure",
    holds=lambda right: all(
        max(right[MASKED, AHEAD, times]) < 0.25
        and min(right[MASKED, BACK, times] + right[SEES, AHEAD, times] + right[SEES, BACK, times]) > 0.95
        for times in (1, 4)
    ),
    note="From every start, and four times the steps change nothing.",
)
claim(
    gaps,
    "No width and no depth would help the decoder in the first half.",
    about=(SEES, MASKED, DEEP),
    cell="palindrome-results",
    holds=lambda right: all(
        max(right[MASKED, AHEAD, times] + right[DEEP, AHEAD, times]) < 0.25 < min(right[SEES, AHEAD, times])
        for times in (1, 4)
    ),
    note="Proven on the page by the incremental property. Three blocks guess as one does.",
)
