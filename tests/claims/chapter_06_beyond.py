"""Chapter 6 and its closer look: where each kind of position fails, from the numbers of `extrapolation`."""

from tests.claims.chapter_06 import extrapolation, looks_back
from tests.claims.registry import claim

CLOSER = "chapters/closer/06-where-it-looks.ipynb"


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
    note="At the length that both were trained on. It is far above a guess, which is right in a tenth: near the start "
    "of a row there are few digits to choose from.",
)
claim(
    extrapolation,
    'With a causal mask it knows a little longer, but in the end it loses "two back", too.',
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
