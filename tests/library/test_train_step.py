"""One update: which rows a process reads and what it sends, as if others took part; and weights that lie apart."""

import dataclasses

import pytest
import torch
from clearformer import train_step
from clearformer.optimization import adamw
from clearformer.parallel import LossOf
from clearformer.train_config import TrainConfig
from clearformer.train_step import Step, mixed_seed
from torch import nn

CONFIG = TrainConfig(n_steps=9, batch_size=2, grad_accum_steps=2, seed=5)


def rows(n=8):
    x = torch.randn(n, 3, generator=torch.Generator().manual_seed(4))
    return x, x.sin()


def network():
    torch.manual_seed(1)
    return nn.Linear(3, 3)


def loss(model, x, y):
    return (model(x) - y).square().mean()


def step_of(rank, n_processes, model=None, loss=loss, config=CONFIG):
    model = model or network()
    return Step(LossOf(model, loss), adamw(model, config), config, rank, n_processes)


@pytest.mark.parametrize("rank", [0, 1])
def test_each_process_reads_its_own_rows_in_parts_and_sends_with_the_last(rank, monkeypatch):
    """Catches rows that two processes read, or none, dropout that two parts share, and gradients that are sent early."""
    seeds, sent, seen = [], [], []
    sending = train_step.sending_gradients
    monkeypatch.setattr(train_step.dist, "all_reduce", lambda both: None)
    monkeypatch.setattr(train_step, "seed_dropout", lambda device, seed: seeds.append(seed))
    monkeypatch.setattr(train_step, "sending_gradients", lambda of, now: sent.append(now) or sending(of, now))
    x, y = rows()
    step_of(rank, 2, loss=lambda model, x, y: seen.append(x) or loss(model, x, y))(3, (x, y))
    assert len(seen) == 2 and torch.equal(torch.cat(seen), x[4 * rank : 4 * rank + 4])
    assert sent == [False, True]
    assert seeds == [mixed_seed(5, 3, 2 * rank), mixed_seed(5, 3, 2 * rank + 1)]


def test_two_processes_with_the_same_rows_step_as_one(monkeypatch):
    """Catches a mean over processes that is a sum, or is taken twice."""
    x, y = rows(4)
    alone, together = network(), network()
    expected = [step_of(0, 1, alone)(number, (x, y)).item() for number in range(2)]
    monkeypatch.setattr(train_step.dist, "all_reduce", lambda both: both.mul_(2))
    twice = tuple(torch.cat((tensor, tensor)) for tensor in (x, y))
    found = [step_of(1, 2, together)(number, twice).item() for number in range(2)]
    assert found == pytest.approx(expected, abs=1e-6)
    for mine, theirs in zip(together.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-6)


def test_a_weight_without_a_part_in_the_loss_stays():
    """Catches a gradient that is asked for, scaled or clipped where there is none."""
    model = nn.ModuleList([network(), network()])
    before = model[1].weight.detach().clone()
    config = dataclasses.replace(CONFIG, weight_decay=0.5)
    step = step_of(0, 1, model, lambda model, x, y: (loss(model[0], x, y) * 4, 4), config)
    step(0, rows(4))
    assert torch.equal(model[1].weight, before)
    assert not torch.equal(model[0].weight, before)
