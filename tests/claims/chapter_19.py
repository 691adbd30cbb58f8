"""Chapter 19, rewards: right attempts alone against GRPO and against sums that are given away."""

from functools import partial
from statistics import mean

import torch
from clearbook.assistant import pass_at
from clearformer.models.gpt import GPT

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/19-rewards.ipynb"
GRPO, RIGHT, WRONG, BOTH, GIVEN = (
    "GRPO",
    "right attempts alone",
    "wrong attempts alone",
    "against the mean",
    "given sums",
)
ONE, MANY, GREEDY = "pass@1", "pass@64", "greedy"
LOSSES = {
    GRPO: "on_advantages",
    RIGHT: "on_right_attempts",
    WRONG: "on_wrong_attempts",
    BOTH: "on_both",
}
STEPS, RATE = 100, 1e-3
CELLS = ("setup", "fit", "sums", "adder:until", "tries", "right-attempts", "grpo", "wrong-attempts")


def begun(page, share: float, n_steps: int) -> dict:
    """The weights of an adder of which this share of attempts is right, the same for every contender."""

    def train():
        torch.manual_seed(0)
        model = GPT(page.small)
        return page.fit(model, page.on_given_sums, 4e-3, n_steps=n_steps, look=page.until(share)).state_dict()

    return once(page, ("adder", share), train)


def measured(page, model) -> dict[str, float]:
    """In per cent of the page's 120 problems."""
    torch.manual_seed(99)
    written, likeliest = page.tried(model)
    right = (written == page.wanted[:, None]).sum(dim=1)
    found = {ONE: pass_at(1, right, 64).mean(), MANY: pass_at(64, right, 64).mean()}
    found[GREEDY] = (likeliest == page.wanted).float().mean()
    return {name: round(100 * float(value), 1) for name, value in found.items()}


def trained(page, run, weights: dict, key: object) -> dict[str, float]:
    def train():
        model = GPT(page.small)
        model.load_state_dict(weights)
        loss_of = partial(page.on_given_sums, n=16) if run.contender == GIVEN else getattr(page, LOSSES[run.contender])
        torch.manual_seed(run.seed)
        return measured(page, page.fit(model, loss_of, RATE, STEPS * run.times))

    return once(page, (run.contender, key, run.times, run.seed), train)


@experiment(
    PAGE,
    contenders={
        GRPO: "every attempt, weighed by its advantage in its group",
        RIGHT: "the same attempts, those that were right, each counting alike",
        BOTH: "every attempt, weighed by its reward less the mean of its group",
        GIVEN: "as many problems, their sums given away",
    },
    cases=(ONE, MANY, GREEDY),
    budget="100 steps of 16 problems with 8 attempts each, rate 0.001, from the page's adder",
    measured="per cent of the page's 120 problems, more is better",
    cells=CELLS,
)
def rewards(page, run):
    weights = begun(page, 1 / 3, 800)
    return trained(page, run, weights, "page")[run.case]


def ahead(found, better: str, other: str, case: str, times: int, by: float = 0.0) -> bool:
    """Whether every seed of the one is above every seed of the other."""
    return min(found[better, case, times]) > max(found[other, case, times]) + by


claim(
    rewards,
    "From each of three seeds, the right attempts alone are ahead of GRPO, and level with the sums that were given "
    "away.",
    about=(RIGHT, GRPO, GIVEN),
    cell="grpo-runs",
    holds=lambda found: (
        ahead(found, RIGHT, GRPO, ONE, 1) and abs(mean(found[RIGHT, ONE, 1]) - mean(found[GIVEN, ONE, 1])) < 3
    ),
    note="The page had compared GRPO with given sums alone. Rejection sampling uses the same attempts and the same "
    "rewards, and is shorter by a line.",
    verdict="changed",
    before="One attempt does more than two did before: what best-of-n found at every use, RL has moved into the "
    "weights.",
)
claim(
    rewards,
    "With four times the steps they are no worse than GRPO, and the given sums are ahead of both.",
    about=(RIGHT, GRPO, GIVEN),
    cell="grpo-runs",
    holds=lambda found: (
        mean(found[RIGHT, ONE, 4]) > mean(found[GRPO, ONE, 4])
        and ahead(found, RIGHT, GRPO, ONE, 4, by=-3)
        and all(ahead(found, GIVEN, way, ONE, 4) for way in (RIGHT, GRPO))
    ),
    note="By then all have most attempts right, and the seeds of the two that learn from rewards overlap.",
    verdict="changed",
    before="With four times the steps they are no worse than GRPO.",
)
claim(
    rewards,
    "Nor does GRPO's division by the deviation show: without it the same attempts teach about as much.",
    about=(BOTH, GRPO, RIGHT),
    cell="grpo-runs",
    holds=lambda found: (
        all(abs(mean(found[BOTH, ONE, n]) - mean(found[GRPO, ONE, n])) < 4 for n in (1, 4))
        and ahead(found, RIGHT, GRPO, ONE, 1)
        and ahead(found, RIGHT, BOTH, ONE, 1)
    ),
    note="Less the mean of the group, divided by its deviation and not: both stay behind the right attempts alone.",
)
claim(
    rewards,
    "With four times the steps fewer problems are solved in sixty-four attempts by whatever learned from rewards than "
    "by the given sums, which solve all of them.",
    about=(RIGHT, GRPO, GIVEN),
    cell="grpo-runs",
    holds=lambda found: all(ahead(found, GIVEN, way, MANY, 4) for way in (RIGHT, GRPO)),
    note="The page had said that rewards make likelier what the model could already do. Here they make some of it less "
    "likely.",
    verdict="changed",
    before="Rewards make likelier what the model could already do, now and then; where no attempt is right, there is "
    "nothing to reward.",
)
