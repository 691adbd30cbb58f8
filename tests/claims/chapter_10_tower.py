"""Chapter 10, images: what a published tower, asked as it is, says about 300 labelled digits."""

from types import SimpleNamespace

import torch
from clearbook.data.course_files import find_kept_files
from torch import Tensor

from tests.claims.chapter_10 import PAGE, apart
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

find_kept_files()  # the page imports the reader's transformer.py

PROBED, VECTORS, PIXELS = "linear probe", "1-NN on vectors", "1-NN on pixels"
N_BLOCKS, STEPS = 6, 100


def vectors(page: SimpleNamespace, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """What the blocks make of the labelled digits, their labels, and the vectors of the held-out ones."""
    tower = once(page, "tower", lambda: page.load_tower(4))
    images, labels = page.labelled(300, seed)
    with torch.no_grad():
        new = once(page, "new", lambda: page.vectors_after(tower, page.x_new)[N_BLOCKS])
        return once(page, seed, lambda: page.vectors_after(tower, images)[N_BLOCKS]), labels, new


def answers(page: SimpleNamespace, contender: str, n_steps: int, seed: int) -> Tensor:
    """The labels that it gives to the held-out digits."""
    if contender == PIXELS:
        return page.nearest(*page.labelled(300, seed))
    known, labels, new = vectors(page, seed)
    if contender == VECTORS:
        return page.nearest_vector(known, labels, new)
    return page.probe(known, labels, n_steps)(new).argmax(dim=1)


@experiment(
    PAGE,
    contenders={
        PROBED: "a softmax regression on what the tower says after six of its twelve blocks",
        VECTORS: "the label of the digit whose vector after six blocks is closest",
        PIXELS: "the label of the digit whose pixels are closest",
    },
    cases=("300",),
    budget="300 labels, and 100 steps for the softmax regression",
    measured="held-out digits read correctly, in per cent, more is better",
    cells=(
        "setup",
        "setup-library",
        "digits",
        "cut",
        "vision-transformer",
        "baselines",
        "draw",
        "load-tower",
        "find-again:found_again",
        "enlarge",
        "vectors",
    ),
)
def a_tower_as_it_is(page, run):
    found = answers(page, run.contender, STEPS * run.times, run.seed)
    return 100 * (found == page.y_new).double().mean().item()


claim(
    a_tower_as_it_is,
    "In the middle a softmax regression gets more out of the tower than the nearest neighbour gets out of the pixels",
    about=(PROBED, PIXELS),
    cell="probe-table",
    holds=lambda numbers: all(min(apart(numbers, (PROBED, "300", n), (PIXELS, "300", n))) > 5 for n in (1, 4)),
    note="By more than five points, for each of three draws of the labels, after 100 steps and after 400.",
)
claim(
    a_tower_as_it_is,
    "The nearest neighbour on the same vectors stays behind the probe",
    about=(PROBED, VECTORS),
    cell="probe-table",
    holds=lambda numbers: all(min(apart(numbers, (PROBED, "300", n), (VECTORS, "300", n))) > 5 for n in (1, 4)),
    note="It is no better there than on the pixels.",
)
