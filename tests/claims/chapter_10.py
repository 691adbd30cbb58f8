"""Chapter 10, images: what steps, shifts and drawing first are worth beside a convolutional network and 1-NN."""

from functools import partial
from itertools import product
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from clearbook.data.course_files import course_file, find_kept_files
from safetensors.torch import load_file
from torch import Tensor

from tests.claims.pages import once
from tests.claims.registry import experiment

find_kept_files()  # the page imports the reader's transformer.py

PAGE = "chapters/10-images.ipynb"
CLOSER = "chapters/closer/10-class-token.ipynb"
READERS = ("setup", "digits", "cut", "vision-transformer", "baselines", "learning", "draw", "shifted")
FEW_STEPS, MANY_STEPS = 200, 800
NEAREST, PATCHES, CONVOLUTION = "1-NN, all shifts", "ViT, shifts", "CNN, shifts"
UNMOVED, DRAWN = "ViT", "ViT, drew first, shifts"


def copies_nearby(images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Each picture at all 25 places that two pixels of shifting can bring it to."""
    padded = F.pad(images, (2, 2, 2, 2), value=images.min().item())
    moved = [padded[:, :, down : down + 28, right : right + 28] for down, right in product(range(5), repeat=2)]
    return torch.cat(moved), labels.repeat(len(moved))


def untrained(page: SimpleNamespace, contender: str):
    if contender == CONVOLUTION:
        return page.cnn()
    if contender != DRAWN:
        return page.VisionTransformer()
    autoencoder = page.MaskedAutoencoder(page.VisionTransformer())
    autoencoder.load_state_dict(load_file(course_file("models/digits/model.safetensors")))
    return autoencoder.vit


def percent_right(page: SimpleNamespace, contender: str, n_labels: int, n_steps: int, seed: int) -> float:
    """How many of the 1,000 held-out digits are read correctly, in per cent."""
    images, labels = page.labelled(n_labels, seed)
    if contender == NEAREST:
        found = page.nearest(*copies_nearby(images, labels))
        return 100 * (found == page.y_new).double().mean().item()
    change = None if contender == UNMOVED else page.shifted
    return 100 * page.accuracy(page.fit(untrained(page, contender), images, labels, n_steps, seed, change))


@experiment(
    PAGE,
    contenders={
        PATCHES: "each picture moved by up to two pixels whenever it is drawn",
        UNMOVED: "the same, with no picture moved",
        DRAWN: "begins as the auto-encoder that 600 steps without labels have made",
        CONVOLUTION: "as many parameters, the same shifts",
        NEAREST: "nothing is trained; every labelled picture at all 25 places",
    },
    cases=("30", "100", "300"),
    budget="200 steps of 64 labelled pictures",
    measured="held-out digits read correctly, in per cent, more is better",
    cells=(*READERS, "masked-autoencoder"),
)
def labels_and_steps(page, run):
    return percent_right(page, run.contender, int(run.case), FEW_STEPS * run.times, run.seed)


@experiment(
    PAGE,
    contenders={
        PATCHES: "each picture moved by up to two pixels whenever it is drawn",
        CONVOLUTION: "as many parameters, the same shifts",
        NEAREST: "nothing is trained; every labelled picture at all 25 places",
    },
    cases=("1000",),
    budget="800 steps of 64 labelled pictures",
    measured="held-out digits read correctly, in per cent, more is better",
    cells=READERS,
)
def level_with_the_cnn(page, run):
    return percent_right(page, run.contender, int(run.case), MANY_STEPS * run.times, run.seed)


TOWERS, WORDS_APART = "two towers", "classifier"
PAIRS = ("captions", "caption-encoder", "beside", "contrastive", "fit-pairs", "choosing")


def trained_on_pairs(page: SimpleNamespace, contender: str, n_steps: int, seed: int):
    """A model that has seen pairs of digits under the captions that are shown."""
    if contender == TOWERS:
        return page.fit_pairs(
            page.TwoTowers(), lambda model, pairs: page.contrastive_loss(model(pairs, page.shown)), n_steps, seed
        )
    classifier = page.VisionTransformer(n_patches=8, n_labels=20)
    return page.fit_pairs(classifier, lambda model, pairs: page.word_loss(model(pairs), page.shown), n_steps, seed)


@experiment(
    PAGE,
    contenders={
        TOWERS: "an encoder of pictures and one of captions, with the contrastive loss",
        WORDS_APART: "the same encoder of pictures with ten outputs for either side, with the cross-entropy",
    },
    cases=("shown", "kept back"),
    budget="250 steps of 80 pairs, one of each caption that is shown",
    measured="pairs of held-out digits that get the right one of 100 captions, in per cent, more is better",
    cells=(*READERS, *PAIRS),
)
def image_and_text(page, run):
    steps = 250 * run.times
    model = once(
        page, (run.contender, steps, run.seed), partial(trained_on_pairs, page, run.contender, steps, run.seed)
    )
    group = page.kept_back if run.case == "kept back" else ~page.kept_back
    return 100 * page.captions_right(model, *page.new_pairs(group)).double().mean().item()


CLASS_TOKEN, MEAN = "class token", "mean"


def pooled_by(page: SimpleNamespace, contender: str):
    class MeanPooled(page.VisionTransformer):
        def forward(self, images):
            return self.head(self.encode(images)[:, 1:].mean(dim=1))

    return page.VisionTransformer() if contender == CLASS_TOKEN else MeanPooled()


@experiment(
    PAGE,
    contenders={CLASS_TOKEN: "the head reads the class token alone", MEAN: "the head reads the mean over the patches"},
    budget="200 steps of 64 of 300 labelled pictures, with shifts",
    measured="held-out digits read correctly, in per cent, more is better",
    cells=READERS,
)
def pooling(page, run):
    model = pooled_by(page, run.contender)
    model = page.fit(model, *page.labelled(300, run.seed), FEW_STEPS * run.times, run.seed, page.shifted)
    return 100 * page.accuracy(model)
