"""Copies that are trained side by side: each as if it were alone."""

import copy

import torch
from clearbook.side_by_side import BETAS, train_copies
from torch import nn

RATES = (0.03, 0.0, 0.02, 0.01)


def fresh(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 7), nn.Tanh(), nn.Linear(7, 2))


def draw(generator):
    x = torch.randn(5, 3, generator=generator)
    return x, x[:, :2] * x[:, 2:]


def measure(model, x, y):
    output = model(x)
    return (output - y).square().mean(), output.abs().amax()


def alone(model, rates, seed=0):
    """The same model trained on the same rows by AdamW itself, and what was watched on the way."""
    generator, watched = torch.Generator().manual_seed(seed), []
    optimizer = torch.optim.AdamW(model.parameters(), betas=BETAS, weight_decay=0.0)
    for rate in rates:
        values = measure(model, *draw(generator))
        watched.append(torch.stack(values).detach())
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        values[0].backward()
        optimizer.step()
    return torch.stack(watched)


def test_each_copy_learns_as_if_it_were_alone():
    models, model = [fresh(seed) for seed in (1, 2, 3)], fresh(2)
    watched = train_copies(models, measure, draw, RATES, seed=4)
    expected = alone(model, RATES, seed=4)
    torch.testing.assert_close(torch.stack(watched, dim=-1)[:, 1], expected)
    torch.testing.assert_close(models[1].state_dict(), model.state_dict())


def test_each_copy_may_have_a_rate_of_its_own():
    models = [fresh(1), fresh(1)]
    train_copies(models, measure, draw, [torch.tensor([rate, 2 * rate]) for rate in RATES])
    for model, factor in zip(models, (1, 2), strict=True):
        expected = fresh(1)
        alone(expected, [factor * rate for rate in RATES])
        torch.testing.assert_close(model.state_dict(), expected.state_dict())


def test_the_trained_models_share_no_memory():
    models = [fresh(1), fresh(2)]
    train_copies(models, measure, draw, RATES)
    expected = copy.deepcopy(models[1].state_dict())
    with torch.no_grad():
        for parameter in models[0].parameters():
            parameter.zero_()
    torch.testing.assert_close(models[1].state_dict(), expected)
