"""Closer look at a window: a model beyond its trained length, in four ways, and what a window saves."""

from functools import partial

import torch
from clearbook.costs import seconds_of

from tests.claims.compare import below
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/closer/14-window.ipynb"
ALL, CLIPPED, WINDOW, PIECES = "all of the past", "farther is 255", "a window of 256", "pieces of 256, afresh"
LARGE, SMALL = "a window of 1,024", "a window of 32"
WIDTHS = {LARGE: 1024, WINDOW: 256, SMALL: 32}

ONCE = (1,)  # nothing is trained


def bits(page, contender, seed):
    """Beyond the 256th of 4,096 characters, from three places of the held-out text."""
    ids = page.held_out[5000 * seed : 5000 * seed + 4097]
    if contender == PIECES:
        return page.surprisal(page.model, ids, stride=64)[page.trained :].mean().item()
    ways = {ALL: page.attend_fused, CLIPPED: page.clipped}
    ways |= {name: partial(page.my_window, W=W) for name, W in WIDTHS.items()}
    for block in page.long_model.decoder.blocks:
        block.attention.attend = ways[contender]
    return float(page.bits_of_each(page.long_model, ids)[page.trained :].mean())


@experiment(
    PAGE,
    contenders={
        ALL: "every character before it, at its true distance",
        CLIPPED: "every character before it; a distance beyond 255 counts as 255",
        LARGE: "the last 1,024 characters, in one pass",
        WINDOW: "the last 256 characters, in one pass",
        SMALL: "the last 32 characters, in one pass",
        PIECES: "the last 193 to 256 characters, read anew for every 64",
    },
    times=ONCE,
    budget="one model, trained on pieces of 256 characters, and 4,096 characters that it has not seen",
    measured="bits per character beyond the 256th, less is better; a seed is a place in the text",
    cells=("setup", "my-window", "long-model", "clipped-distances"),
)
def beyond_the_trained_length(page, run):
    return once(page, (run.contender, run.seed), lambda: bits(page, run.contender, run.seed))


claim(
    beyond_the_trained_length,
    "With all of the past the model is lost. The distances do it.",
    about=(ALL, CLIPPED, WINDOW),
    cell="window-of-a-model",
    holds=lambda found: below(found, CLIPPED, ALL, by=2, times=ONCE) and below(found, WINDOW, ALL, by=2, times=ONCE),
    note="The control keeps the crowd and caps the distances alone.",
)
claim(
    beyond_the_trained_length,
    "With a window no longer than what it was trained on the model reads about as well as with fresh pieces, one for "
    "every 64 characters.",
    about=(WINDOW, PIECES, ALL),
    cell="window-of-a-model",
    holds=lambda found: (
        all(abs(one - other) < 0.06 for one, other in zip(found[WINDOW, "", 1], found[PIECES, "", 1], strict=True))
        and below(found, PIECES, ALL, by=2, times=ONCE)
    ),
    note="At each of three places of the text within a few hundredths of a bit.",
)

claim(
    beyond_the_trained_length,
    "With a window of 1,024 it is lost, too: three quarters of what it shows stand at distances that training never "
    "had.",
    about=(LARGE, WINDOW),
    cell="window-of-a-model",
    holds=lambda found: below(found, WINDOW, LARGE, by=2, times=ONCE),
    note="At each of three places of the text, at one of them less than with all of the past.",
)
claim(
    beyond_the_trained_length,
    "Even a window of 32 costs little, since most of what a character needs stands close by.",
    about=(SMALL, WINDOW, ALL),
    cell="window-of-a-model",
    holds=lambda found: (
        all(one - other < 0.15 for one, other in zip(found[SMALL, "", 1], found[WINDOW, "", 1], strict=True))
        and below(found, SMALL, ALL, by=2, times=ONCE)
    ),
    note="Four layers of it look back over more than a hundred characters.",
)

EVERYTHING = "all of 32,768 tokens"


@experiment(
    PAGE,
    contenders={EVERYTHING: "PyTorch's fused kernel, causal", WINDOW: "blocks of 256 targets in a loop"},
    times=ONCE,
    budget="one head of width 32 and 32,768 tokens on one thread, the fastest of some calls",
    measured="milliseconds of the processor, less is better; of one machine, and larger where it is busy",
    cells=("setup", "my-window"),
)
def seconds_of_a_window(page, run):
    q, k, v = torch.randn(3, 1, 1, 32_768, 32)
    if run.contender == EVERYTHING:
        return 1000 * seconds_of(partial(page.attend_fused, q, k, v, causal=True))
    return 1000 * seconds_of(partial(page.my_window, q, k, v))


claim(
    seconds_of_a_window,
    "Still a window of 256 makes it many times faster.",
    about=(EVERYTHING, WINDOW),
    cell="window-timed",
    holds=lambda spent: 5 * max(spent[WINDOW, "", 1]) < min(spent[EVERYTHING, "", 1]),
    note="The work is 32 times less; masks and calls take the rest.",
)
