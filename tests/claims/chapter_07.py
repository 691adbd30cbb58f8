"""Chapter 7, residuals and normalisation: where the norm may stand, and what happens without one."""

from statistics import median

import torch
from clearbook.stacked_models import train_copies
from torch import nn

from tests.claims.registry import claim, experiment

PAGE = "chapters/07-residual-norm.ipynb"
BLOCKS = ("setup", "yours-from-before", "yours-from-before-too", "layer-norm-class", "block-class")
WARM_UP = 45
STARTS = (0, 1, 2, 3, 4)


def without_norms(page):
    """A block of the page that leaves its norms out."""

    class NoNormBlock(page.Block):
        def forward(self, x):
            x = x + self.attention(x)
            return x + self.feed_forward(x)

    return NoNormBlock


def race_results(page, run):
    """The loss over the last ten steps for all starts, trained side by side as on the page."""
    kept, key = page.__dict__.setdefault("kept", {}), run._replace(seed=0)
    if key not in kept:
        kept[key] = race(page, run)
    return kept[key]


def race(page, run):
    kinds = {"pre-norm": page.Block, "no norm": without_norms(page)}
    block, models = kinds.get(run.contender, page.PostNormBlock), []
    for seed in STARTS:
        torch.manual_seed(seed)
        models.append(page.Reverser(block, int(run.case.split()[0])))
        for one in models[-1].blocks:
            one.norm_1, one.norm_2 = nn.LayerNorm(page.WIDTH), nn.LayerNorm(page.WIDTH)
    warm_up = WARM_UP if run.contender.endswith("warm-up") else 1
    rates = [page.RATE * min(1, (step + 1) / warm_up) for step in range(page.N_STEPS * run.times)]
    return train_copies(models, page.measure, page.reversal, rates)[0][-10:].mean(dim=0)


@experiment(
    PAGE,
    contenders={
        "pre-norm": "a norm before each part, and one at the end",
        "post-norm": "a norm after each sum",
        "post-norm, warm-up": "the same, and a rate that rises for 45 steps",
        "no norm": "the same blocks without any norm",
    },
    cases=("2 blocks", "4 blocks", "6 blocks", "12 blocks"),
    budget="60 steps of 16 sequences, Adam at 0.0275",
    measured="loss over the last ten steps, less is better; guessing costs 2.30",
    cells=(*BLOCKS, "race-model", "race-function"),
    seeds=STARTS,
)
def norms_in_a_race(page, run):
    return race_results(page, run)[run.seed]


claim(
    norms_in_a_race,
    "With two blocks the place of the norm does not matter. With six, most starts of post-norm learn next to nothing "
    "without a warm-up.",
    about=("pre-norm", "post-norm", "post-norm, warm-up"),
    cell="race-figure",
    holds=lambda loss: (
        max(max(loss[who, "2 blocks", 1]) for who in ("pre-norm", "post-norm", "post-norm, warm-up")) < 0.1
        and all(median(loss["post-norm", "6 blocks", times]) > 2.2 for times in (1, 4))
        and all(max(loss["post-norm, warm-up", "6 blocks", times]) < 1 for times in (1, 4))
        and all(max(loss["pre-norm", "6 blocks", times]) < 0.2 for times in (1, 4))
    ),
    note="Post-norm with six blocks is stuck after four times as many steps, too.",
)
claim(
    norms_in_a_race,
    "The cure is to hand every part tokens of the same size: we **normalise** them.",
    about=("pre-norm", "no norm"),
    cell="race-run",
    holds=lambda loss: all(
        max(loss["pre-norm", "6 blocks", times]) < 0.2 and not any(it < 1 for it in loss["no norm", "6 blocks", times])
        for times in (1, 4)
    ),
    note="The control that the page does not draw: six blocks without any norm do not learn the task at this rate, and "
    "run away when they are trained for longer. With two blocks they need no norm.",
)
claim(
    norms_in_a_race,
    "With six, post-norm runs are stuck near guessing ($\\ln 10 \\approx 2.30$), even after four times as many steps, "
    "and pre-norm hardly notices the depth. With twelve, some pre-norm runs lag behind, and catch up in the longer "
    "training.",
    about=("pre-norm", "post-norm"),
    cell="race-run",
    holds=lambda loss: (
        min(min(loss["post-norm", "6 blocks", times]) for times in (1, 4)) > 2.2
        and max(loss["pre-norm", "6 blocks", 1]) < 0.2
        and sum(it > 0.5 for it in loss["pre-norm", "12 blocks", 1]) in (1, 2)
        and max(loss["pre-norm", "12 blocks", 4]) < 0.1
    ),
    note="Pre-norm does notice the depth, only later: at twelve blocks two of five starts are far behind after 60 "
    "steps.",
    verdict="changed",
    before="With six, most post-norm runs are stuck near guessing ($\\ln 10 \\approx 2.30$), and pre-norm does not "
    "notice the depth.",
    pending=True,
)
claim(
    norms_in_a_race,
    "With six blocks a warm-up saves post-norm. With twelve, one of 45 steps does not, even in four times the steps.",
    about=("post-norm", "post-norm, warm-up"),
    cell="race-run",
    holds=lambda loss: (
        all(max(loss["post-norm, warm-up", "6 blocks", times]) < 1 for times in (1, 4))
        and all(min(loss["post-norm", "6 blocks", times]) > 2.2 for times in (1, 4))
        and all(min(loss["post-norm, warm-up", "12 blocks", times]) > 2 for times in (1, 4))
    ),
    note="The sentence named no depth. At twelve blocks the same warm-up leaves every start at guessing.",
    verdict="changed",
    before="A warm-up saves post-norm (so does a third of the rate)",
    pending=True,
)
