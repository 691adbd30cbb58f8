"""Chapter 10, images: a published tower trained on with 300 labels, beside its vectors and a CNN."""

from types import SimpleNamespace

import torch
from clearbook.data.course_files import find_kept_files

from tests.claims.chapter_10 import CONVOLUTION, MANY_STEPS, PAGE, READERS, apart, copies_nearby, percent_right
from tests.claims.chapter_10_tower import N_BLOCKS, STEPS
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

find_kept_files()  # the page imports the reader's transformer.py

TUNED, PROBED = "fine-tuned, shifts", "linear probe, all shifts"


def first_blocks(page: SimpleNamespace):
    tower = page.load_tower(4)
    tower.blocks = tower.blocks[:N_BLOCKS]
    return tower


def vectors(page: SimpleNamespace, images: torch.Tensor) -> torch.Tensor:
    """What the first blocks make of the digits, some hundred at a time."""
    tower = once(page, "tower", lambda: first_blocks(page))
    return torch.cat([page.vectors_after(tower, some)[N_BLOCKS] for some in images.split(300)])


def found_by(page: SimpleNamespace, contender: str, times: int, seed: int) -> torch.Tensor:
    """The labels that it gives to the held-out digits, after so many times the page's steps."""
    images, labels = page.labelled(300, seed)
    if contender == TUNED:
        model = page.tune(page.Tuned(), images, labels, 300 * times, seed)
        with torch.no_grad():
            return torch.cat([model(some).argmax(dim=1) for some in page.x_new.split(250)])
    moved, named = copies_nearby(images, labels)
    new = once(page, "new", lambda: vectors(page, page.x_new))
    return page.probe(vectors(page, moved), named, STEPS * times)(new).argmax(dim=1)


@experiment(
    PAGE,
    contenders={
        CONVOLUTION: "from nothing, 800 steps of 64 shifted digits",
        PROBED: "a softmax regression on what the first six blocks say of every digit at all 25 places, 100 steps",
        TUNED: "the first six blocks, the last two of them trained on, 300 steps of 32 shifted digits",
    },
    cases=("300",),
    budget="300 labels, and the steps that stand beside each",
    measured="held-out digits read correctly, in per cent, more is better",
    cells=(*READERS, "setup-library", "load-tower", "enlarge", "vectors", "probe", "tuned", "tune"),
)
def a_tower_at_work(page, run):
    if run.contender == CONVOLUTION:
        return percent_right(page, CONVOLUTION, 300, MANY_STEPS * run.times, run.seed)
    found = found_by(page, run.contender, run.times, run.seed)
    return 100 * (found == page.y_new).double().mean().item()


claim(
    a_tower_at_work,
    "The CNN, which knows no photograph and has only these labels and their shifts, is ahead of the probe all the "
    "same.",
    about=(CONVOLUTION, PROBED),
    cell="probe-rivals",
    holds=lambda numbers: min(apart(numbers, (CONVOLUTION, "300", 1), (PROBED, "300", 1))) > 1,
    note="Even where the probe has the shifts as well: every labelled digit at all 25 places.",
)
claim(
    a_tower_at_work,
    "Fine-tuned, the tower is ahead of the CNN with shifts, even with 800 steps for the CNN, by a point or more, for "
    "each of three draws of the labels, and with four times the steps for both.",
    about=(TUNED, CONVOLUTION),
    cell="tune",
    holds=lambda numbers: all(
        round(min(apart(numbers, (TUNED, "300", times), (CONVOLUTION, "300", times))), 6) >= 1 for times in (1, 4)
    ),
    note="The rate and the number of blocks were tried on the first draw alone, with a fifth of the steps.",
)
