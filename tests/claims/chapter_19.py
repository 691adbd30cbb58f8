"""Chapter 19, rewards: right attempts alone against GRPO, wrong attempts, notes against dots with the same labels."""

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


EARLY, LATE = "begun at 8 %", "begun at 80 %"
STARTS = {EARLY: (0.08, 800), LATE: (0.8, 2400)}


@experiment(
    PAGE,
    contenders={
        RIGHT: "the right attempts, each counting alike",
        WRONG: "the same attempts, the wrong ones alone, made less likely",
        BOTH: "every attempt, weighed by its reward less the mean of its group",
    },
    cases=tuple(f"{start}, {what}" for start in STARTS for what in (ONE, MANY)),
    budget="50 steps of 16 problems with 8 attempts each, rate 0.001",
    measured="per cent of the page's 120 problems, more is better",
    cells=CELLS,
)
def wrong_attempts(page, run):
    start, _, what = run.case.partition(", ")
    weights = begun(page, *STARTS[start])

    def train():
        model = GPT(page.small)
        model.load_state_dict(weights)
        torch.manual_seed(run.seed)
        return measured(page, page.fit(model, getattr(page, LOSSES[run.contender]), RATE, 50 * run.times))

    return once(page, (run.contender, start, run.times, run.seed), train)[what]


OTHERS = "against the others"
TWO, THREE, THOUSAND = "2 answers", "3 answers", "1,000 answers"


@experiment(
    PAGE,
    contenders={
        RIGHT: "the right attempts, raised",
        WRONG: "the wrong attempts, lowered",
        OTHERS: "each attempt by its reward less the mean of the others' in its group",
    },
    cases=(TWO, THREE, THOUSAND),
    budget="10 steps of 4 attempts at each of 64 problems, rate 1, from one chance in ten",
    measured="per cent: the mean chance of the right answer, more is better",
    cells=("setup", "guessers"),
)
def guessing(page, run):
    n_answers = int(run.case.split()[0].replace(",", ""))
    return 100 * page.guessers(n_answers, page.BASELINES[run.contender], 10 * run.times)


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
claim(
    guessing,
    "With two answers the wrong attempts alone are ahead after ten steps. With three they are no longer, and with a "
    "thousand the right ones are. With four times the steps all three arrive at the same chance, to a few in a "
    "hundred.",
    about=(WRONG, RIGHT),
    cell="guessers-run",
    holds=lambda found: (
        ahead(found, WRONG, RIGHT, TWO, 1)
        and mean(found[RIGHT, THREE, 1]) > mean(found[WRONG, THREE, 1])
        and ahead(found, RIGHT, WRONG, THOUSAND, 1)
        and all(
            abs(one - other) < 3
            for case in (TWO, THREE, THOUSAND)
            for way in (WRONG, OTHERS)
            for one in found[way, case, 4]
            for other in found[RIGHT, case, 4]
        )
    ),
    note="All follow the same slope on average; what differs is the noise, which the page works out.",
)
claim(
    wrong_attempts,
    "Begun early or late, the right attempts alone get further than the wrong ones alone. Begun late, the wrong ones "
    "teach as well, and with four times the steps they are not far behind.",
    about=(RIGHT, WRONG),
    cell="wrong-attempts",
    holds=lambda found: (
        ahead(found, RIGHT, WRONG, f"{EARLY}, {ONE}", 1)
        and ahead(found, RIGHT, WRONG, f"{EARLY}, {ONE}", 4)
        and ahead(found, RIGHT, WRONG, f"{LATE}, {ONE}", 1)
        and min(found[WRONG, f"{LATE}, {ONE}", 4]) > max(found[WRONG, f"{LATE}, {ONE}", 1])
        and 0 < mean(found[RIGHT, f"{LATE}, {ONE}", 4]) - mean(found[WRONG, f"{LATE}, {ONE}", 4]) < 5
    ),
    note="From one adder that is right in 8 per cent of its attempts and one that is right in 80.",
)
claim(
    wrong_attempts,
    "Lowering the wrong ones alone makes an early adder worse, and the longer it goes on the worse.",
    about=(WRONG, RIGHT),
    cell="wrong-attempts",
    holds=lambda found: all(
        max(found[WRONG, f"{EARLY}, {what}", 4]) < min(found[WRONG, f"{EARLY}, {what}", 1])
        and min(found[RIGHT, f"{EARLY}, {what}", 4]) > max(found[WRONG, f"{EARLY}, {what}", 1])
        for what in (ONE, MANY)
    ),
    note="By one attempt as by sixty-four. The page had given a reason, that the chance goes to other wrong answers; "
    "on average it goes to the right one as well, and it was the noise.",
    verdict="changed",
    before="Lowering the wrong ones alone makes an early adder worse, and the longer it goes on the worse: the chance "
    "goes to other wrong answers.",
)


START, MANY_PROBLEMS = "the adder as it began", "wrong attempts alone, of eight times as many problems a step"


@experiment(
    PAGE,
    contenders={
        START: "no step",
        WRONG: "the wrong attempts alone, made less likely",
        MANY_PROBLEMS: "the same with 128 problems a step in place of 16",
    },
    cases=(EARLY,),
    budget="50 steps with 8 attempts at each problem, rate 0.001, from the early adder",
    measured="right attempts in per cent on the page's 120 problems, more is better",
    cells=CELLS,
)
def enough_attempts(page, run):
    weights = begun(page, *STARTS[EARLY])
    n_problems = 128 if run.contender == MANY_PROBLEMS else 16

    def on_wrong_attempts(model):
        rows, rewards = page.own_attempts(model, n_problems)
        return ((1 - rewards).flatten() * page.digit_log_probability(model, rows)).mean()

    model = GPT(page.small)
    model.load_state_dict(weights)
    torch.manual_seed(run.seed)
    steps = 0 if run.contender == START else 50 * run.times
    return measured(page, page.fit(model, on_wrong_attempts, RATE, steps) if steps else model)[ONE]


claim(
    enough_attempts,
    "It is the noise: with eight times as many problems a step the same wrong attempts teach the early adder, from "
    "each of three seeds.",
    about=(MANY_PROBLEMS, WRONG, START),
    cell="wrong-attempts",
    holds=lambda found: all(
        ahead(found, MANY_PROBLEMS, START, EARLY, n) and ahead(found, START, WRONG, EARLY, n) for n in (1, 4)
    ),
    note="The mean gradient is the same; what differs is how far one step's lies from it.",
)


KINDS = {  # of the answers: how many, and how many of the wrong attempts are one and the same
    TWO: (2, None),
    THREE: (3, None),
    THOUSAND: (1000, None),
    "10 answers, one of which 95 % of the wrong attempts give": (10, 0.95),
}
SHARES = {"10 %": 0.1, "30 %": 0.3, "36 %": 0.36, "50 %": 0.5, "90 %": 0.9}


@experiment(
    PAGE,
    contenders={
        RIGHT: "the right attempts, raised",
        WRONG: "the wrong attempts, lowered",
        BOTH: "each attempt by its reward less the chance of the right answer",
    },
    cases=tuple(f"{kind}, {share} right" for kind in KINDS for share in SHARES),
    budget="no training: worked out from the probabilities",
    measured="the variance of one attempt's pull, in squares of the mean pull, less is better",
    cells=("setup", "noise", "noise-table:chances"),
    times=(1,),
    seeds=(0,),
)
def pulls(page, run):
    kind, _, share = run.case.removesuffix(" right").rpartition(", ")
    n_answers, likely = KINDS[kind]
    p = SHARES[share]
    return page.noise(page.chances(p, n_answers, likely), {RIGHT: 0, WRONG: 1, BOTH: p}[run.contender])


def quieter(found, one: str, other: str, kind: str, share: str) -> bool:
    return found[one, f"{kind}, {share} right", 1][0] < found[other, f"{kind}, {share} right", 1][0]


claim(
    pulls,
    "With three answers the right attempts are the better teacher at every share in the table, and so they are with a "
    "thousand.",
    about=(RIGHT, WRONG),
    cell="noise-table",
    holds=lambda found: (
        all(quieter(found, RIGHT, WRONG, kind, share) for kind in (THREE, THOUSAND) for share in SHARES)
        and quieter(found, WRONG, RIGHT, TWO, "10 %")
    ),
    note="The table had gone from two answers to ten, and the page had said that wrong attempts teach where few other "
    "answers are left.",
    verdict="changed",
    before="A wrong attempt teaches where few other answers are left.",
)
claim(
    pulls,
    "With a thousand answers it helps while less than a third of the attempts are right, and costs where more are.",
    about=(RIGHT, BOTH),
    cell="noise-table",
    holds=lambda found: all(
        quieter(found, BOTH, RIGHT, THOUSAND, share) == (p < 1 / 3) for share, p in SHARES.items()
    ),
    note="The two are equal at a third where there are very many answers, at two thirds where there are two.",
    verdict="changed",
    before="Taking the mean away, as GRPO does, then helps a little while few attempts are right, and costs once most "
    "are.",
)
