"""Training: one loop for every model, which can be killed and resumed at any moment, in one process or in many."""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from clearformer import checkpoint
from clearformer.parallel import average, copy_from_first, processes

READ_EVERY = 10  # steps between two looks at the loss: on a GPU each look waits for all work under way


@dataclass(frozen=True)
class TrainConfig:
    """What a run is made of, except for the model and the data.

    One step learns from ``batch_size`` × ``accumulate`` × number of processes rows. ``warmup`` counts steps,
    ``final`` is the last learning rate as a fraction of ``learning_rate``, ``clip`` the largest norm of the gradient
    (``math.inf`` for none). 0 for ``eval_every`` or ``save_every`` means only at the end.

    Raises: ValueError for a number out of its range.
    """

    n_steps: int
    batch_size: int
    learning_rate: float = 1e-3
    warmup: int = 0
    final: float = 0.1
    weight_decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float = 1.0
    accumulate: int = 1
    eval_every: int = 0
    save_every: int = 0
    bfloat16: bool = True
    seed: int = 0

    def __post_init__(self):
        least = {"n_steps": 1, "batch_size": 1, "warmup": 0, "final": 0, "weight_decay": 0, "accumulate": 1}
        for name, bound in (least | {"eval_every": 0, "save_every": 0, "seed": 0}).items():
            if not getattr(self, name) >= bound:
                raise ValueError(f"TrainConfig: {name}={getattr(self, name)}, expected at least {bound}.")
        for name in ("learning_rate", "clip"):
            if not getattr(self, name) > 0:
                raise ValueError(f"TrainConfig: {name}={getattr(self, name)}, expected more than 0.")
        if self.warmup > self.n_steps:
            raise ValueError(f"TrainConfig: warmup={self.warmup} is more than n_steps={self.n_steps}. Shorten it.")


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

    ``batch(n, generator)`` draws n rows for a step; ``loss(model, *rows)`` is their mean. All randomness of a step
    follows from the seed and the step's number, so a resumed run meets the same data and the same dropout.
    ``tokens_per_row`` only tells the bar its tokens/s. The model is left in evaluation mode.

    Under ``torchrun`` every process takes its share of the step's rows and the gradients are averaged: without
    dropout the losses are those of one process with a batch as many times as large.

    Raises: as ``checkpoint.begin``; ValueError for rows or losses of a wrong shape; FloatingPointError if the loss is
    no longer finite.
    """
    device = next(model.parameters()).device
    with processes(device) as (rank, n_processes), torch.random.fork_rng([device] if device.type == "cuda" else []):
        optimizer = adamw(model, config)
        n_rows = config.batch_size * config.accumulate * n_processes
        facts = {"config": asdict(config) | {"betas": list(config.betas)}, "n_processes": n_processes}
        if n_processes > 1:
            copy_from_first(model.state_dict().values())
        losses, evaluations = checkpoint.begin(folder, model, optimizer, facts, resume=resume)
        began, start = time.perf_counter(), len(losses)
        with tqdm(total=config.n_steps, initial=start, unit="step", disable=not progress or rank != 0) as bar:
            for done in range(start + 1, config.n_steps + 1):
                losses.append(_step(model, optimizer, loss, batch, config, done - 1, rank, n_processes))
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
                if folder is not None and save and rank == 0:
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

    W is ``warmup``, T ``n_steps``, f ``final``.

    Source: Loshchilov and Hutter 2017 (SGDR), eq. 5, one period; Vaswani et al. 2017, section 5.3 for the warm-up.
    """
    if step < config.warmup:
        return config.learning_rate * (step + 1) / config.warmup
    u = (step - config.warmup) / max(config.n_steps - config.warmup, 1)
    return config.learning_rate * (config.final + (1 - config.final) * (1 + math.cos(math.pi * u)) / 2)


def adamw(model: nn.Module, config: TrainConfig) -> torch.optim.AdamW:
    """AdamW whose weight decay spares what has fewer than two axes: biases and the scales of norms.

    Source: Loshchilov and Hutter 2019, algorithm 2.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    fused = parameters[0].device.type in ("cpu", "cuda")  # elsewhere PyTorch chooses
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=config.betas, fused=fused or None)


def _step(model, optimizer, loss, batch, config, step, rank, n_processes) -> Tensor:
    """One update from this process's share of the step's rows; returns the mean loss of all processes."""
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(step, config)
    device = next(model.parameters()).device
    autocast = torch.autocast(device.type, torch.bfloat16, enabled=config.bfloat16 and device.type == "cuda")
    n_rows = config.batch_size * config.accumulate * n_processes
    rows = batch(n_rows, torch.Generator().manual_seed(_seed(config.seed, step)))
    _check_rows(rows, n_rows)
    model.train()
    total = torch.zeros((), device=device)
    for part in range(rank * config.accumulate, (rank + 1) * config.accumulate):
        torch.manual_seed(_seed(config.seed, step, part))  # for dropout
        chosen = slice(part * config.batch_size, (part + 1) * config.batch_size)
        with autocast:
            value = loss(model, *(tensor[chosen].to(device, non_blocking=True) for tensor in rows))
        if value.dim():
            raise ValueError(f"train: loss(...) has shape {tuple(value.shape)}, expected one number. Take the mean.")
        (value / config.accumulate).backward()
        total = total + value.detach() / config.accumulate
    parameters = [p for p in model.parameters() if p.grad is not None]
    if n_processes > 1:
        average([total, *(p.grad for p in parameters)], n_processes)
    nn.utils.clip_grad_norm_(parameters, config.clip)
    optimizer.step()
    optimizer.zero_grad()
    return total


def _check_rows(rows: tuple[Tensor, ...], n_rows: int) -> None:
    if not isinstance(rows, tuple):
        raise TypeError(f"train: batch(...) gave a {type(rows).__name__}, expected a tuple of tensors, such as (x,).")
    for index, tensor in enumerate(rows):
        if len(tensor) != n_rows:
            raise ValueError(
                f"train: batch({n_rows}, ...) gave {len(tensor)} rows in tensor {index}, of shape "
                f"{tuple(tensor.shape)}, expected {n_rows}. The first axis counts the rows."
            )


def _check_finite(losses: list, done: int) -> None:
    for step, value in enumerate(losses, start=done - len(losses)):
        if not math.isfinite(value):
            raise FloatingPointError(
                f"train: the loss of step {step} is {float(value)}. Lower the learning rate or lengthen the warm-up."
            )


def _seed(*numbers: int) -> int:
    """One seed from several numbers, well mixed: neighbours give unrelated streams."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
