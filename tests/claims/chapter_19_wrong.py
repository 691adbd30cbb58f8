"""Chapter 19, rewards: when wrong attempts teach: the noise of their pulls, guessers of one token, and the adder."""

from statistics import mean

import torch
from clearformer.models.gpt import GPT

from tests.claims.chapter_19 import BOTH, CELLS, LOSSES, MANY, ONE, PAGE, RATE, RIGHT, WRONG, ahead, begun, measured
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

EARLY, LATE = "begun early", "begun late"
STARTS = {EARLY: (0.08, 800), LATE: (0.8, 2400)}  # stopped once more than this share of 200 attempts is right


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
    cells=("setup", "guessers", "baselines"),
)
def guessing(page, run):
    n_answers = int(run.case.split()[0].replace(",", ""))
    return 100 * page.guessers(n_answers, page.BASELINES[run.contender], 10 * run.times)


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
    note="From one adder that was stopped once 8 per cent of 200 attempts were right, and one that was stopped at 80. "
    "On the page's 120 problems the early one is then right in more, as the next table says.",
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
    holds=lambda found: all(quieter(found, BOTH, RIGHT, THOUSAND, share) == (p < 1 / 3) for share, p in SHARES.items()),
    note="The two are equal at a third where there are very many answers, at two thirds where there are two.",
    verdict="changed",
    before="Taking the mean away, as GRPO does, then helps a little while few attempts are right, and costs once most "
    "are.",
)
