"""Training: one loop for every model, which can be killed and resumed at any moment, in one process or in many."""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from clearformer import checkpoint
from clearformer.parallel import LossOf, gathered, processes, sending_gradients, shard
from clearformer.train_config import TrainConfig

READ_EVERY = 10  # steps between two looks at the loss: on a GPU each look waits for all work under way


@dataclass(frozen=True)
class History:
    """The loss of every step, before its update, and by number of steps done what ``evaluate`` gave."""

    losses: list[float]
    evaluations: dict[int, float]


def train(
    model: nn.Module,
    loss: Callable[..., Tensor],
    batch: Callable[[int, torch.Generator], tuple[Tensor, ...]],
    config: TrainConfig,
    *,
    evaluate: Callable[[nn.Module], float] | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    tokens_per_row: int = 0,
    progress: bool = True,
) -> History:
    """Train ``model``, where it is, by AdamW; with a ``folder``, so that it can be resumed exactly.

    ``batch(n, generator)`` draws n rows for a step; ``loss(model, *rows)`` is their mean. For a text of ``ids``::

        def batch(n, generator):
            starts = torch.randint(len(ids) - N, (n, 1), generator=generator)
            rows = ids[starts + torch.arange(N + 1)]
            return rows[:, :N], rows[:, 1:]  # what is read, and what comes next

    All randomness of a step follows from the seed and the step's number, so a resumed run meets the same data and the
    same dropout. ``tokens_per_row`` only tells the bar its tokens/s. The model is left in evaluation mode.

    Under ``torchrun`` every process takes its share of the rows and gradients are averaged: without dropout the losses
    are those of one process with as many times the batch. Every trainable weight must then have a part in the loss.

    Raises: as ``checkpoint.begin``; TypeError or ValueError for rows of another shape, a loss that is no number or not
    the model's, or a model without trainable parameters; FloatingPointError if loss or gradient is no longer finite.
    """
    device = _trainable(model)[0].device
    with (
        processes(device.type, config.shard_on) as (rank, n_processes),
        torch.random.fork_rng([device] if device.type == "cuda" else []),
    ):
        if config.shard_on is not None:
            shard(model, config.shard_on)
        optimizer, loss_of = adamw(model, config), LossOf(model, loss)
        if n_processes > 1 and config.shard_on is None:
            loss_of = DistributedDataParallel(loss_of)
        n_rows = config.batch_size * config.grad_accum_steps * n_processes
        facts = {"config": asdict(config) | {"betas": [*map(float, config.betas)]}, "n_processes": n_processes}
        facts["frozen"] = [name for name, p in model.named_parameters() if not p.requires_grad]
        losses, evaluations = checkpoint.begin(folder, model, optimizer, facts, resume=resume)
        began, start = time.perf_counter(), len(losses)
        with tqdm(total=config.n_steps, initial=start, unit="step", disable=not progress or rank != 0) as bar:
            for done in range(start + 1, config.n_steps + 1):
                losses.append(_step(loss_of, optimizer, batch, config, done - 1, rank, n_processes))
                intervals = (READ_EVERY, config.eval_every, config.save_every)
                show, check, save = (done == config.n_steps or (every > 0 and done % every == 0) for every in intervals)
                if show or save:
                    _check_finite(losses[-READ_EVERY:], done)
                    rate = tokens_per_row * n_rows * (done - start) / (time.perf_counter() - began)
                    bar.set_postfix_str(f"loss {float(losses[-1]):.3f}" + (f", {rate:,.0f} tokens/s" if rate else ""))
                if evaluate is not None and check:
                    model.eval()
                    with torch.no_grad():
                        evaluations[done] = float(evaluate(model))
                if folder is not None and save:
                    losses = [float(value) for value in losses]
                    checkpoint.save(folder, model, optimizer, losses, facts | {"evaluations": evaluations})
                bar.update()
    model.eval()
    return History([float(value) for value in losses], evaluations)


def learning_rate(step: int, config: TrainConfig) -> float:
    r"""The learning rate of a step, counted from 0: a linear rise, then half a cosine down to the final fraction.

    .. math::
        \eta_t = \eta \, \frac{t + 1}{W} \quad (t < W), \qquad
        \eta_t = \eta \left( f + (1 - f) \, \frac{1 + \cos \pi u}{2} \right), \quad u = \frac{t - W}{T - W}

    W is ``warmup_steps``, T ``n_steps``, f ``min_lr_ratio``; from T on the rate stays what it is at T.

    Source: Loshchilov and Hutter 2017 (SGDR), eq. 5, one period; Vaswani et al. 2017, section 5.3 for the warm-up.
    """
    if step < config.warmup_steps:
        return config.learning_rate * (step + 1) / config.warmup_steps
    u = min((step - config.warmup_steps) / max(config.n_steps - config.warmup_steps, 1), 1.0)
    f = config.min_lr_ratio
    return config.learning_rate * (f + (1 - f) * (1 + math.cos(math.pi * u)) / 2)


def adamw(model: nn.Module, config: TrainConfig) -> torch.optim.AdamW:
    """AdamW whose weight decay spares what has fewer than two axes: biases and the scales of norms.

    Source: Loshchilov and Hutter 2019, algorithm 2.
    Raises: ValueError for a model without trainable parameters.
    """
    parameters = _trainable(model)
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    fused = parameters[0].device.type in ("cpu", "cuda")  # elsewhere PyTorch chooses
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=config.betas, fused=fused or None)


def _trainable(model):
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise ValueError(f"train: the {type(model).__name__} has no trainable parameters. Call requires_grad_(True).")
    return parameters


def _step(loss_of, optimizer, batch, config, step, rank, n_processes) -> Tensor:
    """One update from this process's share of the step's rows; returns the mean loss of all processes."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(step, config)
    device, n_parts = parameters[0].device, config.grad_accum_steps
    autocast = torch.autocast(device.type, torch.bfloat16, enabled=config.autocast and device.type == "cuda")
    n_rows = config.batch_size * n_parts * n_processes
    rows = batch(n_rows, torch.Generator().manual_seed(_seed(config.seed, step)))
    _check_rows(rows, n_rows)
    loss_of.train()
    total = torch.zeros((), device=device)
    for part in range(rank * n_parts, (rank + 1) * n_parts):
        (torch.default_generator if device.type == "cpu" else torch).manual_seed(_seed(config.seed, step, part))
        chosen = slice(part * config.batch_size, (part + 1) * config.batch_size)
        with sending_gradients(loss_of, now=part == (rank + 1) * n_parts - 1):
            with autocast:
                value = loss_of(*(tensor[chosen].to(device, non_blocking=True) for tensor in rows))
            if not isinstance(value, Tensor) or value.dim():
                came = f"{type(value).__name__} of shape {tuple(getattr(value, 'shape', ()))}"
                raise ValueError(f"train: loss(...) gave {came}, expected a Tensor of shape (). Take the mean.")
            if value.requires_grad:
                (value / n_parts).backward()
        total = total + value.detach() / n_parts
    if all(p.grad is None for p in parameters):
        raise ValueError(
            "train: no trainable parameter of the model has a part in loss(...). Compute it from the output of the "
            "model it is given, without .detach(), .item() or torch.no_grad()."
        )
    if n_processes > 1:
        dist.all_reduce(total)
        total /= n_processes
    norm = gathered(nn.utils.clip_grad_norm_(parameters, config.max_grad_norm))
    optimizer.step()
    optimizer.zero_grad()
    return total.where(norm.isfinite(), math.nan)  # where ``_check_finite`` finds it, without waiting for a GPU here


def _check_rows(rows: tuple, n_rows: int) -> None:
    if not isinstance(rows, tuple):
        raise TypeError(f"train: batch(...) gave a {type(rows).__name__}, expected a tuple of tensors, such as (x,).")
    for index, tensor in enumerate(rows):
        if not isinstance(tensor, Tensor) or tensor.shape[:1] != (n_rows,):
            came = f"{type(tensor).__name__} of shape {tuple(getattr(tensor, 'shape', ()))} at index {index}"
            raise ValueError(
                f"train: batch({n_rows}, ...) gave {came}, expected a Tensor whose first axis is {n_rows}."
            )


def _check_finite(losses: list, done: int) -> None:
    for step, value in enumerate(losses, start=done - len(losses)):
        if not math.isfinite(value):
            raise FloatingPointError(
                f"train: the loss of step {step} or its gradient is {float(value)}. Lower the learning rate, lengthen "
                "the warm-up, or look for a division by 0."
            )


def _seed(*numbers: int) -> int:
    """One seed from several numbers, well mixed: neighbours give unrelated streams."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
