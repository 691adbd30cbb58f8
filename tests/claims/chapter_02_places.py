"""Chapter 2, attention: which of the twenty cards each player has learned to find."""

from statistics import mean

from tests.claims.chapter_02 import BUDGET, MAKERS, MEASURED, PAGE, PLAYERS, STEPS, WHO
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

LAST, FIRST, BEST, WORST = "the last three cards", "the first ten cards", "the best card", "the worst card"
N_LAST, N_FIRST = 3, 10
BAG = "attention without positions"


@experiment(
    PAGE,
    contenders={who: WHO[who] for who in ("attention", BAG, "MLP", "RNN", "GRU")},
    cases=(LAST, FIRST, BEST, WORST),
    budget=BUDGET,
    measured=MEASURED,
    cells=PLAYERS,
)
def places(page, run):
    won = once(page, run._replace(case=""), lambda: share_by_place(page, run))
    return {LAST: mean(won[-N_LAST:]), FIRST: mean(won[:N_FIRST]), BEST: max(won), WORST: min(won)}[run.case]


def share_by_place(page, run):
    """The share of games that a contender wins after its training, for each card that may be asked for."""
    player = MAKERS[run.contender](page)
    page.train_on_games(player, STEPS * run.times)
    return [page.share_right(player, place) for place in range(page.CARDS)]


claim(
    places,
    "The recurrent networks rise well above it for the last few cards only.",
    about=("RNN", "GRU", BAG),
    cell="tournament-figure",
    holds=lambda won: (
        all(max(won[who, FIRST, times]) < 0.4 for who in ("RNN", "GRU") for times in (1, 4))
        and all(min(won[who, LAST, 4]) > 0.5 > max(won[BAG, LAST, 4]) for who in ("RNN", "GRU"))
        and all(min(won[who, LAST, 1]) > max(won[BAG, LAST, 1]) for who in ("RNN", "GRU"))
    ),
    note="The commonest suit wins 0.37. For the last three cards they do better, far better after four times the "
    "steps; for the first ten never.",
)
claim(
    places,
    "The MLP has to learn each question by itself: which places to let through, and which to shut out. (The peaks of "
    "its line are questions that it has learned already.)",
    about=("MLP", "attention"),
    cell="tournament-figure",
    holds=lambda won: (
        min(won["MLP", BEST, 4]) > 0.75
        and max(won["MLP", WORST, 4]) < 0.4
        and all(min(won["attention", WORST, times]) > 0.95 for times in (1, 4))
    ),
    note="After four times the steps it wins most games about one card, and about another no more than a bag "
    "does. Attention has found all cards at once.",
)
