"""Chapter 6 and its closer look: where each kind of position fails, from the numbers of `extrapolation`."""

from tests.claims.chapter_06 import KINDS, PAGE, STEPS, TRAINED, TRAINING, extrapolation, looks_back
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

CLOSER = "chapters/closer/06-where-it-looks.ipynb"
BARE, MASKED, TABLE = "rotary", "rotary, masked", "learned"
WITHIN, BEYOND, END = "positions 2 to 15", "positions 16 to 19", "positions 56 to 63"
SPANS = {WITHIN: (2, 16), BEYOND: (16, 20), END: (56, 64)}


@experiment(
    PAGE,
    contenders={kind: KINDS[kind] for kind in (BARE, MASKED, TABLE)},
    cases=tuple(SPANS),
    budget=TRAINING,
    measured="share of right answers to “first” at some of 64 positions, more is better; a guess is right in 0.1",
    cells=(*TRAINED, "extrapolation-measure:right_answers"),
)
def first_by_place(page, run):
    model = once(page, run._replace(case=""), lambda: page.trained(run.contender, run.seed, STEPS * run.times))
    right = once(page, (run._replace(case=""), "right"), lambda: page.right_answers(model, 64)[1])  # from position 2 on
    start, stop = SPANS[run.case]
    return right[start - 2 : stop - 2].mean()


claim(
    extrapolation,
    "Sinusoids and learned vectors break down where training ended.",
    about=("sinusoids", "learned", "rotary"),
    cell="extrapolation-by-place",
    holds=lambda right: all(
        max(right[who, "two back, 64", times]) < 0.4 < 0.95 < min(right["rotary", "two back, 64", times])
        for who in ("sinusoids", "learned")
        for times in (1, 4)
    ),
    note="All three find “two back” at 16 tokens, and rotary positions without a mask at 64 as well.",
)
claim(
    extrapolation,
    "(Untrained sinusoids are not small, and they fail.)",
    about=("sinusoids", "learned"),
    cell="extrapolation-by-place",
    holds=lambda right: all(
        max(right["sinusoids", "first, 64", times]) < 0.75 < 0.95 < min(right["learned", "first, 64", times])
        for times in (1, 4)
    ),
    note="How many of the answers are still right depends on the start: between a quarter and two thirds.",
)
claim(
    extrapolation,
    'That is why "none, masked" fails above.',
    about=("none, masked", "rotary, masked"),
    cell="extrapolation-measure",
    holds=lambda right: all(
        max(right["none, masked", case, times]) < 0.4 < 0.95 < min(right["rotary, masked", case, times])
        for case in ("two back, 16", "first, 16")
        for times in (1, 4)
    ),
    note="At the trained length. It is still far above a guess, which is right in a tenth: near the start of a row "
    "there are few digits to choose from.",
)
claim(
    extrapolation,
    'With a causal mask it lasts a little longer, but in the end it loses "two back", too.',
    about=("rotary, masked", "rotary"),
    page=CLOSER,
    cell="the-head-for-first",
    holds=lambda right: all(
        min(right["rotary, masked", "first, 64", times]) > 2 * max(right["rotary", "first, 64", times])
        and max(right["rotary, masked", "two back, 64", times])
        < 0.7
        < 0.95
        < min(right["rotary", "two back, 64", times])
        for times in (1, 4)
    ),
    note="Without a mask “two back” is right at every length.",
)
claim(
    looks_back,
    "Token 50 looks somewhat more than 16 positions to its left, and the mask hardly changes that.",
    about=("rotary", "rotary, masked", "learned"),
    page=CLOSER,
    cell="the-head-for-first",
    holds=lambda back: all(
        16 < min(back[who, "", times]) <= max(back[who, "", times]) < 30 < min(back["learned", "", times])
        for who in ("rotary", "rotary, masked")
        for times in (1, 4)
    ),
    note="A learned table looks 50 back, which is the first token.",
)
claim(
    first_by_place,
    'Without a mask, rotary positions lose "first" even within the trained length.',
    about=(BARE, MASKED),
    cell="extrapolation-by-place",
    holds=lambda right: all(
        max(right[BARE, WITHIN, times]) < 0.5 < 0.95 < min(right[MASKED, WITHIN, times]) for times in (1, 4)
    ),
    note="In texts of 64 tokens. The misleading keys stand on the right; a mask hides them.",
)
claim(
    first_by_place,
    "So the masked model is right at every trained position, and a little beyond.",
    about=(MASKED, BARE, TABLE),
    cell="where-it-looks",
    holds=lambda right: all(
        min(right[MASKED, WITHIN, times] + right[MASKED, BEYOND, times]) > 0.9
        and max(right[MASKED, END, times]) < 0.5 < 0.95 < min(right[TABLE, END, times])
        and max(right[BARE, WITHIN, times]) < 0.5
        for times in (1, 4)
    ),
    note="A learned table is right to the end.",
)
