"""The toy exercise, question masked: a function on tensors."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery

from .shared import SECONDS


def reference(x, mask):
    sums = (x * mask[..., None]).sum(1)
    return sums / mask.sum(1, keepdim=True).clamp(min=1)


def batch(rng, rows, tokens, width):
    """Rows of different lengths; the last one has no token at all."""
    lengths = np.append(rng.permutation(tokens)[: rows - 1] + 1, 0)
    return rng.normal(size=(rows, tokens, width)) + 1, np.arange(tokens) < lengths[:, None]


def batches(rng):
    return [batch(rng, 4, 7, 5), batch(rng, 3, 11, 2), batch(rng, 2, 1, 3)]


def padding_does_not_count(ask, rng):
    x, mask = batch(rng, 4, 7, 5)
    noisy = np.where(mask[..., None], x, 100.0)
    same = np.allclose(ask(x, mask), ask(noisy, mask), atol=1e-4)
    return None if same else "Other numbers where the mask is False must not change the means."


QUESTION = Question(
    id="masked",
    title="Means of the tokens that are there",
    name="masked_means",
    minutes=5,
    difficulty=1,
    checks=with_battery(equals("values", 4, batches, reference), holds("padding", 2, padding_does_not_count)),
    hints=("Which axis holds the tokens?", "Padding must count neither above nor below the fraction line."),
    section="masks",
    seconds=SECONDS,
    inputs=Inputs(axes("BND", "BN")),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def by_product(x, mask):
    sums = (x * mask[..., None]).sum(1)
    counts = mask.sum(1, keepdim=True)
    return sums / counts.clamp(min=1)


@right
def by_filling(x, mask):
    kept = x.masked_fill(~mask[..., None], 0.0)
    return kept.sum(dim=1) / mask.float().sum(dim=1).clamp(min=1.0)[:, None]


@right
def by_weights(x, mask):
    weights = mask.float() / mask.sum(-1, keepdim=True).clamp(min=1)
    return torch.einsum("bn,bnd->bd", weights, x)


@wrong("The caller's tensor is filled in place.")
def in_place(x, mask):
    x.masked_fill_(~mask[..., None], 0.0)
    return x.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


@wrong("The means leave PyTorch for NumPy.")
def in_numpy(x, mask):
    sums = (x * mask[..., None]).sum(1)
    return (sums / mask.sum(1, keepdim=True).clamp(min=1)).numpy()


wrong.edits("""
# by_product
## padding_counted [padding]: The sum is divided by all places, padding too.
- counts = mask.sum(1, keepdim=True)
+ counts = torch.full((len(x), 1), x.shape[1])
## padding_summed: The padding is summed up with the rest.
- sums = (x * mask[..., None]).sum(1)
+ sums = x.sum(1)
## nothing_by_nothing: A row without a token is divided by zero.
- return sums / counts.clamp(min=1)
+ return sums / counts
## over_features: The sum runs over the features, not over the tokens.
- sums = (x * mask[..., None]).sum(1)
+ sums = (x * mask[..., None]).sum(2)
## sums_alone: The sums are not divided.
- return sums / counts.clamp(min=1)
+ return sums
## over_the_batch: The count is that of the whole batch.
- counts = mask.sum(1, keepdim=True)
+ counts = mask.sum()
## upside_down: The mask is turned round.
- sums = (x * mask[..., None]).sum(1)
+ sums = (x * ~mask[..., None]).sum(1)
## in_double: The result has float64, and so twice the memory.
- return sums / counts.clamp(min=1)
+ return sums.double() / counts.clamp(min=1)
""")
