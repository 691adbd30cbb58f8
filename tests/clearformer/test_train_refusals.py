"""What training refuses, with the value that is in the way."""

import dataclasses
import inspect
import math

import numpy as np
import pytest
import torch
from clearformer.training import TrainConfig, train
from torch import nn

from tests.clearformer.small_runs import CONFIG, batch, loss, network, run


def configure(**changes):
    """A configuration without the checks of types that the tests add."""
    config = TrainConfig(5, 2)
    for name, value in changes.items():
        object.__setattr__(config, name, value)
    config.__post_init__()


def start_and_resume(tmp_path):
    run(folder=tmp_path)
    run(folder=tmp_path)


class BareTensors:
    """An iterable whose rows are a tensor each, and no tuple of tensors."""

    def __iter__(self):
        yield torch.zeros(6, 3)


OTHER = network()
BAD = {
    "nothing to resume": (
        lambda folder: run(folder=folder / "empty", resume=True),
        FileNotFoundError,
        "^train: there is no checkpoint.safetensors in .*empty. Start with resume=False",
    ),
    "resume without folder": (lambda _: run(resume=True), ValueError, "resume=True without a folder"),
    "overwriting": (start_and_resume, FileExistsError, "already holds a checkpoint"),
    "too few rows": (
        lambda _: train(network(), loss, lambda n, g: batch(4, g), CONFIG, progress=False),
        ValueError,
        r"batch\(6, ...\) gave Tensor of shape \(4, 3\) at index 0, .* first axis is 6",
    ),
    "rows of NumPy": (
        lambda _: train(network(), loss, lambda n, g: (np.zeros((n, 3)), None), CONFIG, progress=False),
        ValueError,
        r"gave ndarray of shape \(6, 3\) at index 0, expected a Tensor",
    ),
    "a number instead of rows": (
        lambda _: train(network(), loss, lambda n, g: (torch.tensor(1.0),), CONFIG, progress=False),
        ValueError,
        r"gave Tensor of shape \(\) at index 0",
    ),
    "loss not one number": (
        lambda _: train(network(), lambda m, x, y: m(x)[:, 0], batch, CONFIG, progress=False),
        ValueError,
        r"loss\(...\) gave Tensor of shape \(6,\), expected a Tensor",
    ),
    "loss no tensor": (
        lambda _: train(network(), lambda m, x, y: loss(m, x, y).item(), batch, CONFIG, progress=False),
        ValueError,
        r"loss\(...\) gave float of shape \(\), expected a Tensor",
    ),
    "loss not finite": (
        lambda _: train(network(), lambda m, x, y: loss(m, x, y) * math.nan, batch, CONFIG, progress=False),
        FloatingPointError,
        "loss of step 0 or its gradient is nan",
    ),
    "loss of another model": (
        lambda _: train(network(), lambda m, x, y: loss(OTHER, x, y), batch, CONFIG, progress=False),
        ValueError,
        r"no trainable parameter of the model has a part in loss\(...\)",
    ),
    "loss without a gradient": (
        lambda _: train(network(), lambda m, x, y: loss(m, x, y).detach(), batch, CONFIG, progress=False),
        ValueError,
        r"no trainable parameter .*detach",
    ),
    "nothing trainable": (
        lambda _: run(model=network().requires_grad_(False)),
        ValueError,
        "the Sequential has no trainable parameters",
    ),
    "no parameters": (lambda _: run(model=nn.Tanh()), ValueError, "the Tanh has no trainable parameters"),
    "shared by one": (
        lambda _: run(dataclasses.replace(CONFIG, shard_on="cpu")),
        ValueError,
        "shard_on='cpu' .* torchrun",
    ),
    "a rate in words": (lambda _: configure(learning_rate="fast"), TypeError, "learning_rate='fast' is of type str"),
    "a rate that is true": (lambda _: configure(learning_rate=True), TypeError, "learning_rate=True is of type bool"),
    "half a step": (lambda _: configure(n_steps=2.5), TypeError, "n_steps=2.5 is of type float, expected a whole"),
    "a step that is true": (lambda _: configure(n_steps=True), TypeError, "n_steps=True is of type bool"),
    "betas above 1": (lambda _: TrainConfig(5, 2, betas=(2.0, 3.0)), ValueError, "betas=2.0, expected from 0 to below"),
    "one beta": (lambda _: configure(betas=0.9), TypeError, "betas=0.9, expected two numbers"),
    "three betas": (lambda _: configure(betas=(0.9,) * 3), TypeError, r"betas=\(0.9, 0.9, 0.9\), expected two"),
    "a dict as config": (lambda _: inspect.unwrap(train)(network(), loss, batch, {}), TypeError, "config={}, expected"),
    "no module": (lambda _: inspect.unwrap(train)(3, loss, batch, CONFIG), TypeError, "model=3, expected a torch.nn"),
    "folder true": (
        lambda _: inspect.unwrap(train)(network(), loss, batch, CONFIG, folder=True),
        TypeError,
        "folder=True is of type bool, expected the path",
    ),
    "a model on meta": (
        lambda _: run(model=network().to("meta")),
        ValueError,
        "'0.weight' of the model is on \"meta\", which holds no numbers",
    ),
    "rows on meta": (
        lambda _: train(network(), loss, lambda n, g: (torch.zeros(n, 3, device="meta"),) * 2, CONFIG, progress=False),
        ValueError,
        'a tensor on "meta" at index 0, expected one with numbers',
    ),
    "a folder of another kind": (
        lambda _: inspect.unwrap(train)(network(), loss, batch, CONFIG, folder=3),
        TypeError,
        "folder=3 is of type int",
    ),
    "a loss in words": (lambda _: inspect.unwrap(train)(network(), "mean", batch, CONFIG), TypeError, "loss='mean' is"),
    "evaluated by a number": (
        lambda _: inspect.unwrap(train)(network(), loss, batch, CONFIG, evaluate=3),
        TypeError,
        "evaluate=3 is of type",
    ),
    "told to a number": (
        lambda _: inspect.unwrap(train)(network(), loss, batch, CONFIG, after_step=3),
        TypeError,
        "after_step=3 is of type int, expected something to call",
    ),
    "batch of rows": (lambda _: inspect.unwrap(train)(network(), loss, 3, CONFIG), TypeError, "batch=3, expected"),
    "rows that are bare": (lambda _: train(network(), loss, BareTensors(), CONFIG, progress=False), TypeError, "tuple"),
    "an iterator that ends": (
        lambda _: train(network(), loss, iter([batch(6, None)]), CONFIG, progress=False),
        ValueError,
        "gave nothing when it was begun again",
    ),
    "rising at the end": (lambda _: TrainConfig(5, 2, min_lr_ratio=10.0), ValueError, "min_lr_ratio=10.0, expected"),
    "endless rate": (lambda _: TrainConfig(5, 2, learning_rate=math.inf), ValueError, "learning_rate=inf"),
    "no decay": (lambda _: TrainConfig(5, 2, weight_decay=math.nan), ValueError, "weight_decay=nan"),
    "no steps": (lambda _: TrainConfig(n_steps=0, batch_size=2), ValueError, "n_steps=0, expected .* at least 1"),
    "no rate": (lambda _: TrainConfig(5, 2, learning_rate=-0.1), ValueError, "learning_rate=-0.1, expected more"),
    "all warm-up": (lambda _: TrainConfig(5, 2, warmup_steps=6), ValueError, "warmup_steps=6, .* n_steps=5"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case, tmp_path):
    call, error, message = BAD[case]
    with pytest.raises(error, match=message):
        call(tmp_path)
