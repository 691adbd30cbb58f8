"""Training: one loop for every model, which can be killed and resumed at any moment, in one process or in many."""

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from clearformer import checkpoint
from clearformer.checks import check_callable, check_function, check_model, check_path, shorten
from clearformer.optimization import adamw, trainable
from clearformer.optimization import learning_rate as learning_rate  # from here on as before
from clearformer.parallel import LossOf, join_processes, shard
from clearformer.train_config import TrainConfig
from clearformer.train_step import Step, mixed_seed
from clearformer.training_state import plain_name

WIDE = 76  # columns, which a bar with the loss and the speed takes
READ_EVERY = 10  # steps between two looks at the loss: on a GPU each look waits for all work under way


@dataclass(frozen=True)
class History:
    """The loss of every step, before its update, and by number of steps done what ``evaluate`` gave."""

    losses: list[float]
    evaluations: dict[int, float]


def train(
    model: nn.Module,
    loss: Callable[..., Tensor | tuple[Tensor, Tensor | int]],
    batch: Callable[[int, torch.Generator], tuple[Tensor, ...]] | Iterable[tuple[Tensor, ...]],
    config: TrainConfig,
    *,
    evaluate: Callable[[nn.Module], float] | None = None,
    after_step: Callable[[int, float], object] | None = None,
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
    same dropout. ``batch`` may also be an iterable of rows, such as a DataLoader, begun again when it ends: then
    resuming skips what was read, and is exact if its order is. ``tokens_per_row`` only tells the bar its tokens/s. The
    model is left in evaluation mode, also when the run is stopped.

    ``after_step(n_done, loss)`` is called when a step, and its evaluation, is done: to draw a curve, or to stop early.
    If it gives True the run ends there, with an evaluation and a checkpoint; what it raises ends the run at once. Where
    there are several processes each calls its own, which must give the same.

    A run that has ended goes on with a larger ``n_steps``: the rate then follows the longer schedule. Weights with
    ``requires_grad=False`` stay as they are, and a checkpoint leaves them out: a run is resumed with a model that has
    the same ones.

    Under ``torchrun`` every process takes its share of the rows and gradients are averaged: without dropout the losses
    are those of one process with as many times the batch, if every row weighs the same. Where it does not, as with
    padding, ``loss`` returns a sum and how many it counts, such as ``translation_total``: parts of a batch and
    processes then add up to the whole. Every trainable weight must have a part in the loss.

    Raises: as ``checkpoint.begin``; TypeError or ValueError for settings of another kind, rows of another shape, a loss
    that is no number or not the model's, or a model without trainable parameters; FloatingPointError if loss or
    gradient is no longer finite; OSError where a checkpoint cannot be written.
    """
    _check_arguments(model, loss, batch, config, evaluate, after_step)
    folder = None if folder is None else check_path("train", "folder", folder, "a folder for checkpoints")
    device = trainable(model)[0].device
    with join_processes(device.type, config.shard_on) as (rank, n_processes), _own_randomness(device):
        optimizer = _fresh_optimizer(model, config)
        facts = _facts(model, config, n_processes)
        losses, evaluations = checkpoint.begin(folder, model, optimizer, facts, resume=resume)
        n_rows = config.batch_size * config.grad_accum_steps * n_processes
        step = Step(_loss_module(model, loss, config, n_processes), optimizer, config, rank, n_processes)
        rows = _rows_of(batch, n_rows, config.seed, skip=len(losses))
        bar = _Bar(config.n_steps, len(losses), tokens_per_row * n_rows, shown=progress and rank == 0)
        with contextlib.closing(bar), contextlib.closing(step), _evaluation_mode_afterwards(model):
            for done in range(len(losses) + 1, config.n_steps + 1):
                losses.append(step(done - 1, rows(done - 1)))
                show, check, save = (_is_due(done, every, config) for every in _intervals(config))
                if show or save or after_step is not None:
                    _check_finite(losses[-READ_EVERY:], done)
                    bar.tell(float(losses[-1]), done, now=show or save)
                evaluated, stops = _look(model, evaluate, after_step, done, losses[-1], due=check)
                evaluations |= evaluated
                if folder is not None and (save or stops):
                    losses = [float(value) for value in losses]
                    checkpoint.save(folder, model, optimizer, losses, facts | {"evaluations": evaluations})
                bar.update()
                if stops:
                    break
    return History([float(value) for value in losses], evaluations)


@contextlib.contextmanager
def _evaluation_mode_afterwards(model: nn.Module) -> Iterator[None]:
    try:
        yield
    finally:
        model.eval()


def _check_arguments(
    model: object, loss: object, batch: object, config: object, evaluate: object, after_step: object
) -> None:
    check_model("train", model)
    _check_place(model)
    check_function("train", "loss", loss, "next_token_loss")
    if callable(batch):
        check_function("train", "batch", batch, "lambda n_rows, generator: (inputs, targets)")
    elif not isinstance(batch, Iterable) or isinstance(batch, Tensor | str | bytes):
        raise TypeError(
            f"train: batch={shorten(batch)}, expected a function of (n_rows, generator) that gives a tuple of tensors, "
            "or an iterable of such tuples, such as a DataLoader."
        )
    if not isinstance(config, TrainConfig):
        raise TypeError(f"train: config={shorten(config)}, expected TrainConfig(n_steps=..., batch_size=...).")
    if evaluate is not None:
        check_function("train", "evaluate", evaluate, "lambda model: ...")
    if after_step is not None:
        check_callable("train", "after_step", after_step, "lambda n_done, loss: loss < 0.1")


def _check_place(model: nn.Module) -> None:
    on_meta = [name for name, p in model.named_parameters() if p.device.type == "meta"]
    if on_meta:
        raise ValueError(
            f'train: {shorten(on_meta[0])} of the model is on "meta", which holds no numbers, expected a model with '
            'weights. Build it without torch.device("meta"), or load some with load_state_dict(..., assign=True).'
        )


def _fresh_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.AdamW:
    """The optimiser of the model, or of this process's share of it, and no gradients."""
    if config.shard_on is not None:
        shard(model, config.shard_on)
    optimizer = adamw(model, config)
    optimizer.zero_grad()  # of gradients from before, which would count in the first step
    return optimizer


def _facts(model: nn.Module, config: TrainConfig, n_processes: int) -> dict:
    """What a checkpoint says of the run besides its numbers: what has to be the same when it is resumed."""
    frozen = [plain_name(name) for name, p in model.named_parameters() if not p.requires_grad]
    return {"config": asdict(config) | {"betas": list(config.betas)}, "n_processes": n_processes, "frozen": frozen}


def _loss_module(model: nn.Module, loss: Callable, config: TrainConfig, n_processes: int) -> nn.Module:
    """The loss as a module whose gradients all processes share."""
    loss_of = LossOf(model, loss)
    return loss_of if n_processes == 1 or config.shard_on is not None else DistributedDataParallel(loss_of)


@contextlib.contextmanager
def _own_randomness(device: torch.device) -> Iterator[None]:
    """The caller's random numbers are afterwards what they were before."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        yield


def _rows_of(batch: Any, n_rows: int, seed: int, *, skip: int) -> Callable[[int], tuple[Tensor, ...]]:
    """The rows of a step, by its number, counted from 0: drawn, or the next of an iterable."""
    if callable(batch):
        return lambda step: batch(n_rows, torch.Generator().manual_seed(mixed_seed(seed, step)))
    endless = _endless_batches(batch)
    for _ in range(skip):
        next(endless)
    return lambda step: next(endless)


def _endless_batches(rows: Iterable) -> Iterator[tuple[Tensor, ...]]:
    while True:
        empty = True
        for several in rows:
            empty = False
            yield tuple(several) if isinstance(several, list) else several  # a DataLoader makes lists
        if empty:
            raise ValueError(
                "train: batch, an iterable, gave nothing when it was begun again, expected rows. Pass a DataLoader or "
                "a list and not an iterator, which ends for good."
            )


def _intervals(config: TrainConfig) -> tuple[int, int, int]:
    return READ_EVERY, config.eval_every, config.save_every


def _is_due(done: int, every: int, config: TrainConfig) -> bool:
    return done == config.n_steps or (every > 0 and done % every == 0)


def _look(
    model: nn.Module,
    evaluate: Callable[[nn.Module], float] | None,
    after_step: Callable[[int, float], object] | None,
    done: int,
    loss: Tensor | float,
    *,
    due: bool,
) -> tuple[dict[int, float], bool]:
    """An evaluation, by number of steps done, where it is due or the run ends, and whether ``after_step`` ends it."""
    found = _evaluated(model, evaluate, done) if due else {}
    stops = after_step is not None and after_step(done, float(loss)) is True
    return (_evaluated(model, evaluate, done) if stops and not due else found), stops


def _evaluated(model: nn.Module, evaluate: Callable[[nn.Module], float] | None, done: int) -> dict[int, float]:
    if evaluate is None:
        return {}
    model.eval()
    with torch.no_grad():
        return {done: float(evaluate(model))}


class _Bar:
    """The progress bar, with the loss and, where it is wide enough, the tokens a second."""

    def __init__(self, n_steps: int, start: int, tokens_per_step: int, *, shown: bool):
        self.began, self.start, self.tokens_per_step = time.perf_counter(), start, tokens_per_step
        self.bar = tqdm(total=n_steps, initial=start, unit="step", disable=not shown)
        self.is_wide = (getattr(self.bar, "ncols", None) or WIDE) >= WIDE
        self.update, self.close = self.bar.update, self.bar.close

    def tell(self, loss: float, done: int, *, now: bool) -> None:
        rate = self.tokens_per_step * (done - self.start) / (time.perf_counter() - self.began)
        self.bar.set_postfix_str(
            f"loss {loss:.3f}" + (f", {rate:,.0f} tokens/s" if rate and self.is_wide else ""), refresh=now
        )


def _check_finite(losses: list, done: int) -> None:
    for step, value in enumerate(losses, start=done - len(losses)):
        if not math.isfinite(value):
            raise FloatingPointError(
                f"train: the loss of step {step} or its gradient is {float(value)}. Lower the learning rate, lengthen "
                "the warm-up, or look for a division by 0."
            )
