"""Chapter 19, rewards: a policy that fools a reward model, one that is held, and the best of several texts."""

import torch

from tests.claims.chapter_19 import PAGE
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

SCORE, HELD, BEST = "steps on the score", "steps with a KL penalty", "best by the score"
BY_SCORE, PLEASED = "score", "pleased"


@experiment(
    PAGE,
    contenders={
        SCORE: "the reader's GPT, 20 steps on the reward model's score",
        HELD: "the same steps, less a tenth of the KL to what it was",
        BEST: "no training: the best of 16 texts by the score",
    },
    cases=(BY_SCORE, PLEASED),
    budget="20 steps of 48 texts, or 16 texts for each that is kept; a reward model of its own for each seed",
    measured="the reward model's score, or per cent of texts that please the person; more is better",
    cells=("setup", "grpo", "own-gpt", "person", "write", "read-back", "reward-model", "raised"),
)
def fooled(page, run):
    def made():
        torch.manual_seed(run.seed)
        w, _ = once(page, ("reward model", run.seed), page.reward_model)
        torch.manual_seed(run.seed)
        if run.contender == BEST:
            texts = page.write(page.mine, 100 * 16 * run.times)
            with torch.no_grad():
                scores = torch.cat([page.summary(page.mine, part) @ w for part in texts.split(200)])
            texts = texts.view(100, -1, texts.shape[1])[torch.arange(100), scores.view(100, -1).argmax(dim=1)]
        else:
            beta = 0.1 if run.contender == HELD else 0.0
            model = page.raised(page.copy.deepcopy(page.mine), w, beta, 20 * run.times)
            texts = page.write(model, 200)
        with torch.no_grad():
            score = float((page.summary(page.mine, texts) @ w).mean())
        pleased = 100 * sum(page.pleases(ids) for ids in texts) / len(texts)
        return {BY_SCORE: round(score, 2), PLEASED: round(pleased, 1)}

    return once(page, (run.contender, run.times, run.seed), made)[run.case]


claim(
    fooled,
    "The score rises less, and after eighty steps more texts please than without it, with each of [three reward "
    "models](claims.md).",
    about=(HELD, SCORE),
    cell="fooled-run",
    holds=lambda found: all(
        found[HELD, PLEASED, 4][seed] > found[SCORE, PLEASED, 4][seed]
        and found[HELD, BY_SCORE, 4][seed] < found[SCORE, BY_SCORE, 4][seed]
        for seed in range(3)
    ),
    note="The classic road had been told on the page, and not walked.",
    verdict="changed",
    before="InstructGPT added to pretraining three steps: examples, a model of the reward, RL for that reward.",
)
claim(
    fooled,
    "Of these three, two are fooled completely without the penalty by then, and one is not.",
    about=(SCORE, HELD),
    cell="fooled-run",
    holds=lambda found: (
        sorted(share > 50 for share in found[SCORE, PLEASED, 4]) == [False, False, True]
        and sum(share < 1 for share in found[SCORE, PLEASED, 4]) == 2
        and min(found[HELD, PLEASED, 4]) > 10
    ),
    note="Each has learned from pairs of its own. The score is highest where the policy is not fooled, and second "
    "highest where it is: it does not tell.",
)
claim(
    fooled,
    "With the penalty the share has fallen again by then for the one that you see, and goes on rising for the other "
    "two: it delays, it does not cure.",
    about=(HELD, SCORE),
    cell="fooled-run",
    holds=lambda found: (
        [late > early for early, late in zip(found[HELD, PLEASED, 1], found[HELD, PLEASED, 4], strict=True)]
        == [False, True, True]
    ),
    note="The page's own run is that of the first seed.",
)
claim(
    fooled,
    "With more texts to choose from more of the chosen ones please, and none of the three reward models is fooled, "
    "because all texts are English of a kind. But sixty-four texts are written for one, and for two of the three more "
    "please after eighty steps with the penalty.",
    about=(BEST, HELD, SCORE),
    cell="fooled-run",
    holds=lambda found: (
        min(found[BEST, PLEASED, 4]) > max(found[BEST, PLEASED, 1])
        and sum(a > b for a, b in zip(found[HELD, PLEASED, 4], found[BEST, PLEASED, 4], strict=True)) == 2
        and min(found[BEST, PLEASED, 4]) > sorted(found[SCORE, PLEASED, 4])[1] + 10
    ),
    note="The best of 16, and of 64, beside 20 steps and 80.",
)
