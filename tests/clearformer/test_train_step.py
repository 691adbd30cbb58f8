"""One update: which rows a process reads and what it sends, as if others took part; and weights that lie apart."""

import dataclasses
import inspect
import math

import pytest
import torch
from clearformer import train_step
from clearformer.optimization import adamw
from clearformer.parallel import LossOf
from clearformer.train_config import TrainConfig
from clearformer.train_step import Step, mixed_seed
from inline_snapshot import snapshot
from torch import nn

from tests.clearformer.refusals import refusal

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
    """Catches rows that two processes read, or none, dropout that two parts share, gradients sent early."""
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


def test_what_another_process_has_summed_and_counted_is_in_loss_and_gradient(monkeypatch):
    """Catches a mean of means, a count that is not shared, and a gradient that is averaged twice or never.

    The plain gradient step tells a factor, which AdamW would hide.
    """
    model, (x, y) = network(), rows(8)
    monkeypatch.setattr(train_step.dist, "all_reduce", lambda both: both.add_(torch.tensor([0.75, 3.0])))
    config = dataclasses.replace(CONFIG, learning_rate=0.5, max_grad_norm=math.inf, min_lr_ratio=1.0)
    optimizer = torch.optim.SGD(model.parameters())
    parts = network(), slice(4, 6), slice(6, 8)
    mine = sum(loss(parts[0], x[part], y[part]) for part in parts[1:])
    mine.backward()
    assert Step(LossOf(model, loss), optimizer, config, 1, 2)(0, (x, y)).item() == pytest.approx(
        (mine.item() + 0.75) / 5
    )
    moved = parts[0].weight.detach() - 0.5 * parts[0].weight.grad * 2 / 5
    torch.testing.assert_close(model.weight.detach(), moved, rtol=0, atol=1e-6)


def test_a_weight_without_a_part_in_the_loss_stays():
    """Catches a gradient that is asked for, scaled or clipped where there is none."""
    model = nn.ModuleList([network(), network()])
    before = model[1].weight.detach().clone()
    config = dataclasses.replace(CONFIG, weight_decay=0.5)
    step = step_of(0, 1, model, lambda model, x, y: (loss(model[0], x, y) * 4, 4), config)
    step(0, rows(4))
    assert torch.equal(model[1].weight, before)
    assert not torch.equal(model[0].weight, before)


def test_on_a_processor_nothing_is_rounded_to_bfloat16():
    """Catches autocast where it is slower than float32, and less exact."""
    seen = []
    step_of(0, 1, loss=lambda model, x, y: seen.append(model(x).dtype) or loss(model, x, y))(0, rows(4))
    assert CONFIG.autocast and seen == [torch.float32] * 2


def test_the_optimizer_has_the_rates_of_the_run_and_one_kernel_for_all_weights():
    """Catches settings that are not handed on: a run would go on with PyTorch's."""
    optimizer = adamw(network(), dataclasses.replace(CONFIG, learning_rate=0.25, betas=(0.8, 0.97)))
    assert [(group["lr"], group["betas"], group["fused"]) for group in optimizer.param_groups] == [
        (0.25, (0.8, 0.97), True)
    ] * 2


def test_rows_without_a_tuple_are_named(monkeypatch):
    """Catches a tensor whose rows are taken for several tensors. Without the checks of types that the tests add."""
    monkeypatch.setattr(train_step, "_check_rows", inspect.unwrap(train_step._check_rows))
    assert refusal(TypeError, inspect.unwrap(Step.__call__), step_of(0, 1), 0, torch.zeros(4, 3)) == snapshot(
        "train: batch(...) gave a Tensor, expected a tuple of tensors, such as (x,)."
    )
