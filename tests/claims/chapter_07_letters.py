"""Chapter 7, residuals and normalisation: the letters of a novel, and letters that nobody can predict."""

from statistics import median

from clearbook.ladder import loss_of_model
from torch import nn

from tests.claims.chapter_03 import letters as letters_of_chapter_3
from tests.claims.chapter_07 import BLOCKS, PAGE
from tests.claims.letters import BUDGET, MEASURED, MLP, gain
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

LADDER = (
    "self-attention-from-chapter-3",
    "undivided-from-chapter-3",
    "rotate-from-chapter-6",
    "positioned-from-chapter-6",
    "ladder-parts",
    "ladder-rungs",
)
ONE = "6  with rotary positions"
PLAIN, ADDED, NORMED = "7  two of each, part(x)", "7  two of each, x + part(x)", "7  two of your blocks"
LAST_LETTERS = "MLP, eight letters back"
TRAINING, WRITING = "sequences as in training", "while writing"


@experiment(
    PAGE,
    contenders={
        "LayerNorm": "two blocks of the page, one mean for each token",
        "over tokens": "the same blocks, one mean for each feature, over the tokens of a sequence",
        "no norm": "the same blocks with nothing in the places of the norms",
    },
    cases=(TRAINING, WRITING),
    budget="120 steps of 48 rows of random letters, AdamW at 0.02",
    measured="nats a letter; no honest model gets below ln 4 = 1.386",
    cells=(
        *BLOCKS,
        "deep-training:next_letter_loss",
        "edit-test:standardised",
        "future-model",
        "random-letter-model",
        "future-train",
    ),
)
def random_letters(page, run):
    norms = {"LayerNorm": lambda: nn.LayerNorm(16), "over tokens": page.OverTokens, "no norm": nn.Identity}

    def losses():
        model = page.RandomLetterModel(norms[run.contender])
        page.train_on_random_letters(model, 120 * run.times)
        return page.losses_on_fresh_letters(model)

    return once(page, run._replace(case=""), losses)[int(run.case == WRITING)]


claim(
    letters_of_chapter_3,
    "Four times the steps take the MLP to 1.60 and attention no further than 2.21.",
    about=("MLP", "attention"),
    cell="ladder-run",
    holds=lambda loss: (
        round(median(loss["MLP", "", 4]), 2) == 1.60 and round(median(loss["attention", "", 4]), 2) == 2.21
    ),
    note="More time does not give the first rungs the order of the letters.",
    page=PAGE,
)
claim(
    random_letters,
    "With the norm over the tokens its loss falls far below what is possible, on fresh sequences as well",
    about=("over tokens", "LayerNorm"),
    cell="future-result",
    holds=lambda loss: all(
        max(loss["over tokens", TRAINING, times]) < 1.2 < 1.38 < min(loss["LayerNorm", TRAINING, times])
        for times in (1, 4)
    ),
    note="The same blocks without any norm stay at what is possible, as those with LayerNorm do: it is the mean over "
    "the tokens that leaks.",
)
claim(
    random_letters,
    "A model that writes has only the past, and now the cheat does *worse than guessing*, because what it relied on is "
    "not there yet.",
    about=("over tokens", "LayerNorm"),
    cell="future-result",
    holds=lambda loss: all(
        min(loss["over tokens", WRITING, times]) > 1.5 > max(loss["LayerNorm", WRITING, times]) for times in (1, 4)
    ),
    note="Four times the steps do not cure it.",
)


@experiment(
    PAGE,
    contenders={
        ONE: "four heads with rotary positions and a feed-forward layer",
        PLAIN: "the same twice, without the sum",
        ADDED: "the same twice, with the sum",
        NORMED: "the same twice, with the sum, a norm before each part and one at the end",
        LAST_LETTERS: MLP,
    },
    budget=BUDGET,
    measured=MEASURED,
    cells=(*BLOCKS, *LADDER),
)
def letters(page, run):
    return loss_of_model(page.RUNGS[run.contender], run.seed, times=run.times)


claim(
    letters,
    "Two of each without the sum do worse than one of each with it.",
    about=(ONE, PLAIN),
    cell="ladder-figure",
    holds=lambda loss: all(min(loss[PLAIN, "", times]) > max(loss[ONE, "", times]) for times in (1, 4)),
    note="From every start, and after four times the steps as well, though two of each without the sum are then nearly "
    "level.",
)
claim(
    letters,
    "two pairs of parts without the sum are worse than one pair with it; at this depth more steps make up for much of "
    "that. With the sum it helps, and the model catches up with the MLP.",
    about=(ONE, PLAIN, ADDED, LAST_LETTERS),
    cell="ladder-figure",
    holds=lambda loss: (
        gain(loss, ONE, PLAIN, 1) > 2 * gain(loss, ONE, PLAIN, 4) > 0
        and all(max(loss[ADDED, "", times]) < min(loss[ONE, "", times]) for times in (1, 4))
        and abs(gain(loss, ADDED, LAST_LETTERS, 1)) < 0.02
        and max(loss[ADDED, "", 4]) < min(loss[LAST_LETTERS, "", 4])
    ),
    note="After four times the steps the model with the sum has passed the MLP.",
)
claim(
    letters,
    "The norms bring nothing at a depth of two.",
    about=(NORMED, ADDED),
    cell="ladder-figure",
    holds=lambda loss: all(min(loss[NORMED, "", times]) > max(loss[ADDED, "", times]) for times in (1, 4)),
    note="They cost a little, at either budget. What they do for twelve blocks is another claim of this page.",
)
