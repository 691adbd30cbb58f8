"""Chapter 19, rewards: notes that are read again, against dots with the same labels."""

import torch

from tests.claims.chapter_19 import PAGE
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

NOTES, HIDDEN, DOTS = "notes", "dots, five labels", "dots, one label"
SWAPS, BLOCKS = range(1, 6), (1, 2, 4)


@experiment(
    PAGE,
    contenders={
        NOTES: "the place after each swap is written, and read again",
        HIDDEN: "asked for the place after each swap as well, but what stands there is a dot",
        DOTS: "the same dots, asked at the end alone",
    },
    cases=tuple(f"{blocks} block{'s' * (blocks > 1)}, swap {k}" for blocks in BLOCKS for k in SWAPS),
    budget="120 steps of 32 games of five swaps, rate 0.006",
    measured="per cent of the balls that are found, 33 by guessing",
    cells=("setup", "fit", "shell-game", "follower", "noted", "followed"),
)
def shell_game(page, run):
    blocks, swap = (int(word) for word in run.case.replace(",", "").split() if word.isdigit())

    def train():
        torch.manual_seed(run.seed)
        model = page.follower(run.contender, blocks, 120 * run.times)
        return [round(100 * float(share), 1) for share in page.followed(model, run.contender)]

    return once(page, (run.contender, blocks, run.times, run.seed), train)[swap - 1]


claim(
    shell_game,
    "With notes to read, two blocks find nearly every ball after five swaps. With the same five labels and dots to "
    "read, they follow two swaps and guess after the fifth.",
    about=(NOTES, HIDDEN),
    cell="followed-run",
    holds=lambda found: (
        min(found[NOTES, "2 blocks, swap 5", 1]) > 90
        and min(found[HIDDEN, "2 blocks, swap 2", 1]) > 70
        and max(found[HIDDEN, "2 blocks, swap 5", 1]) < 40
    ),
    note="The page had compared five labels a game with one, so that the labels could have made the difference. They "
    "do not.",
    verdict="changed",
    before="With notes each step is a look-up of the last note and one swap, and the balls are found. After as many "
    "steps the dots still guess: here more tokens alone do not help.",
)
claim(
    shell_game,
    "With four times the steps they get much of a third swap, and still guess after the fifth.",
    about=(NOTES, HIDDEN),
    cell="followed-run",
    holds=lambda found: (
        min(found[HIDDEN, "2 blocks, swap 3", 4]) > max(found[HIDDEN, "2 blocks, swap 3", 1])
        and min(found[HIDDEN, "2 blocks, swap 2", 4]) > 95
        and max(found[HIDDEN, "2 blocks, swap 5", 4]) < 40
        and min(found[NOTES, "2 blocks, swap 5", 4]) > 95
    ),
    note="How much of the third swap differs from seed to seed.",
)
claim(
    shell_game,
    "[One block and four blocks](claims.md) follow the same two swaps, and guess after the fifth, too.",
    about=(NOTES, HIDDEN),
    cell="followed-run",
    holds=lambda found: all(
        min(found[HIDDEN, f"{blocks}, swap 2", 1]) > 70
        and max(found[HIDDEN, f"{blocks}, swap 5", n] + found[HIDDEN, f"{blocks}, swap 4", n]) < 45
        and min(found[NOTES, f"{blocks}, swap 5", 4]) > 95
        for blocks in ("1 block", "4 blocks")
        for n in (1, 4)
    ),
    note="With four times the steps each gets some of the third swap, more blocks more of it, and none the fourth. So "
    "the number of swaps that fit is not that of the blocks.",
)
claim(
    shell_game,
    "Asked at the end alone, the dots teach nothing at all: one label a game is too little.",
    about=(HIDDEN, DOTS),
    cell="followed-run",
    holds=lambda found: (
        max(max(found[DOTS, f"2 blocks, swap {k}", n]) for k in SWAPS for n in (1, 4)) < 40
        and min(found[HIDDEN, "2 blocks, swap 1", 1]) > 95
    ),
    note="After four times the steps it guesses as well.",
)


GREEDY_CHAIN, ONE_CHAIN, VOTE = "one greedy chain", "one drawn chain", "64 drawn chains, and a vote"


@experiment(
    PAGE,
    contenders={
        GREEDY_CHAIN: "the likeliest note after each swap",
        ONE_CHAIN: "notes that are drawn",
        VOTE: "64 chains of drawn notes, and the ball where most of them end",
    },
    budget="the notes of a follower of two blocks that was stopped after 70 steps, on 200 games",
    measured="per cent of the balls that are found after the fifth swap, more is better",
    cells=("setup", "fit", "shell-game", "follower", "noted"),
    times=(1,),
)
def chain_votes(page, run):
    def shares():
        torch.manual_seed(run.seed)
        model = page.follower(NOTES, 2, 70)
        torch.manual_seed(99)
        stays, places = page.games(200)
        greedy = page.noted(model, stays)[:, -1]
        drawn = page.noted(model, stays.repeat_interleave(64, 0), 1.0)[:, -1].view(200, 64)
        found = {
            GREEDY_CHAIN: greedy == places[:, -1],
            ONE_CHAIN: drawn == places[:, -1:],
            VOTE: drawn.mode(dim=1).values == places[:, -1],
        }
        return {name: round(100 * float(it.float().mean()), 1) for name, it in found.items()}

    return once(page, run.seed, shares)[run.contender]


claim(
    chain_votes,
    "Chains alone do not make a vote pay: over the notes of a follower that was stopped early, sixty-four votes find "
    "as many balls as one greedy chain.",
    about=(VOTE, GREEDY_CHAIN, ONE_CHAIN),
    cell="chains",
    holds=lambda found: all(
        abs(vote - greedy) < 3 and min(vote, greedy) > drawn + 5
        for vote, greedy, drawn in zip(*(found[who, "", 1] for who in (VOTE, GREEDY_CHAIN, ONE_CHAIN)), strict=True)
    ),
    note="Both beat one drawn chain. A game has one right way: its likeliest chain is its likeliest answer, too.",
    verdict="changed",
    before="A vote finds the likeliest answer: that gains where answers are reasoned, and costs where they are not.",
)
