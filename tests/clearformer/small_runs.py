"""A network of a few numbers, its rows, its loss and its runs: what tests of training share."""

import torch
from clearformer.training import TrainConfig, train
from torch import nn

CONFIG = TrainConfig(n_steps=7, batch_size=6, learning_rate=0.02, warmup_steps=3)


def network(n_hidden=5, dropout=0.0, dtype=torch.float64):
    torch.manual_seed(2)
    return nn.Sequential(
        nn.Linear(3, n_hidden), nn.LayerNorm(n_hidden), nn.Tanh(), nn.Dropout(dropout), nn.Linear(n_hidden, 2)
    ).to(dtype)


def batch(n, generator):
    x = torch.randn(n, 3, generator=generator, dtype=torch.float64)
    return x, x[:, :2].sin()


def loss(model, x, y):
    return (model(x) - y).square().mean()


def run(config=CONFIG, model=None, **options):
    model = network() if model is None else model
    return model, train(model, loss, batch, config, **{"progress": False} | options)


FROZEN = ("0.weight", "0.bias")


def partly_frozen(seed=2):
    """A network whose first layer does not learn; ``seed`` is that of this layer's numbers."""
    model, other = network(), torch.Generator().manual_seed(seed)
    for name in FROZEN:
        weight = model.get_parameter(name).requires_grad_(False)
        torch.nn.init.normal_(weight, generator=other)
    return model
