"""Chapter 10, images: what a published tower is worth on 300 labels: asked as it is, probed, and trained on."""

from types import SimpleNamespace

import torch
from clearbook.data.course_files import find_kept_files
from torch import Tensor

from tests.claims.chapter_10 import CONVOLUTION, PAGE, PATCHES, READERS, apart, percent_right
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

find_kept_files()  # the page imports the reader's transformer.py

TUNED, PROBED = "tower, fine-tuned", "tower, probed"
VECTORS, PIXELS = "1-NN on the vectors", "1-NN on the pixels"
N_BLOCKS, STEPS, STEPS_FROM_NOTHING, STEPS_OF_THE_PROBE = 6, 40, 200, 100
TOWER = (
    "setup-library", "load-tower", "find-again:found_again", "enlarge", "tuned", "tune", "vectors"
)  # fmt: skip


def vectors(page: SimpleNamespace, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """What the frozen blocks make of the labelled digits, their labels, and the vectors of the held-out ones."""
    tower = once(page, "tower", lambda: page.Tuned().tower)
    images, labels = page.labelled(300, seed)
    new = once(page, "new", lambda: page.vectors_after(tower, page.x_new)[N_BLOCKS])
    return once(page, seed, lambda: page.vectors_after(tower, images)[N_BLOCKS]), labels, new


def answers(page: SimpleNamespace, contender: str, times: int, seed: int) -> Tensor:
    """The labels that it gives to the held-out digits."""
    images, labels = page.labelled(300, seed)
    if contender == PIXELS:
        return page.nearest(images, labels)
    if contender == TUNED:
        model = page.tune(page.Tuned(), images, labels, STEPS * times, seed)
        with torch.no_grad():
            return model(page.x_new).argmax(dim=1)
    known, labels, new = vectors(page, seed)
    if contender == VECTORS:
        return page.nearest_vector(known, labels, new)
    return page.probe(known, labels, STEPS_OF_THE_PROBE * times)(new).argmax(dim=1)


@experiment(
    PAGE,
    contenders={
        TUNED: "the first six blocks of the tower, the last two trained on for 40 steps of 32 shifted digits",
        PROBED: "a softmax regression on what these blocks say, frozen; 100 steps of all 300",
        VECTORS: "the label of the digit whose vector is closest",
        PIXELS: "the label of the digit whose pixels are closest",
        PATCHES: "from nothing, 200 steps of 64 shifted digits: ten times as many pictures as the tower sees",
        CONVOLUTION: "from nothing, the same",
    },
    cases=("300",),
    budget="the steps that stand beside each",
    measured="held-out digits read correctly, in per cent, more is better",
    cells=(*READERS, *TOWER),
)
def a_tower_at_work(page, run):
    if run.contender in (PATCHES, CONVOLUTION):
        return percent_right(page, run.contender, 300, STEPS_FROM_NOTHING * run.times, run.seed)
    found = answers(page, run.contender, run.times, run.seed)
    return 100 * (found == page.y_new).double().mean().item()
