"""A training step (forward, loss, backward, clipping, AdamW) beside the other libraries and the floor."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from clearbook.data.builtin import zen_text
from clearformer.models.gpt import GPT
from clearformer.training import TrainConfig, adamw
from torch import Tensor, nn

from benchmarks.floor import training_floor
from benchmarks.harness import Report, Row, interleave
from benchmarks.lean import plain_adamw
from benchmarks.peers import LEAN, OURS, build, count
from benchmarks.sizes import Options, Size

FLOOR = "floor"
FASTER_THAN_LEAN = 1.05
FASTER_THAN_LIBRARIES = 1.0  # the fastest of them, on any processor: the kernels are the same, PyTorch's own
SHARE_OF_FLOOR = 0.90
CONFIG = TrainConfig(n_steps=1000, batch_size=1, learning_rate=1e-4)


def run(options: Options) -> Report:
    report = Report()
    for size in options.sizes:
        compare(size, options, report)
    return report


def compare(size: Size, options: Options, report: Report) -> None:
    """Raises: ValueError if the loss of one of the models does not fall."""
    models, skipped = build(size)
    report.skipped += [line for line in skipped if line not in report.skipped]
    losses: dict[str, list[float]] = {name: [] for name in models}
    steps: dict[str, Callable] = {name: step(model, size, losses[name]) for name, model in models.items()}
    steps[FLOOR] = training_floor(size, list(models[OURS].parameters()))
    times = interleave(steps, options.rounds, least=options.least)
    first = next(batches(size))
    for name, model in models.items():
        losses[name].append(loss(model, *first).item())
    check_falling(losses)
    work = f"training step, {size.name}"
    report.seconds[work] = times.seconds
    report.facts[work] = {
        "parameters": {name: count(model) for name, model in models.items()},
        "losses": {name: {"first": values[0], "last": values[-1]} for name, values in losses.items()},
    }
    report.rows += rows(work, times, [name for name in models if name != OURS])


def rows(work, times, peers: list[str]) -> list[Row]:
    targets = {
        times.fastest_candidate([peer for peer in peers if peer != LEAN]): FASTER_THAN_LIBRARIES,
        LEAN: FASTER_THAN_LEAN,
    }
    lines = [Row(work, f"faster than {peer}", times.ratio(peer, OURS), targets.get(peer)) for peer in peers]
    return [*lines, Row(work, "of the floor (bests)", times.best_ratio(FLOOR, OURS), SHARE_OF_FLOOR)]


def step(model: nn.Module, size: Size, losses: list[float]) -> Callable[[], None]:
    """One update; the n-th of every model sees the same rows. The loss is kept in ``losses``."""
    optimizer, stream = optimizer_of(model.train()), batches(size)

    def update() -> None:
        ids, targets = next(stream)
        value = loss(model, ids, targets)
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CONFIG.max_grad_norm)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(value.item())

    return update


def optimizer_of(model: nn.Module) -> torch.optim.Optimizer:
    """Ours has the library's own, the others the same one of PyTorch's."""
    c = CONFIG
    ours = isinstance(model, GPT)
    return adamw(model, c) if ours else plain_adamw(model, c.learning_rate, c.weight_decay, c.betas)


def loss(model: nn.Module, ids: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())


def batches(size: Size):
    """Rows of bytes from a text, and the same one byte further; endless, the same for everyone who asks."""
    data = torch.frombuffer(bytearray(zen_text().encode()), dtype=torch.uint8).long()
    generator = torch.Generator().manual_seed(0)
    while True:
        starts = torch.randint(len(data) - size.n_tokens, (size.batch, 1), generator=generator)
        rows: Tensor = data[starts + torch.arange(size.n_tokens + 1)]
        yield rows[:, :-1].contiguous(), rows[:, 1:].contiguous()


def check_falling(losses: dict[str, list[float]]) -> None:
    """The first and the last of each model's losses are those on the same rows, before and after all updates."""
    for name, values in losses.items():
        if not values[-1] < values[0]:
            raise ValueError(
                f"benchmarks: the loss of {name} went from {values[0]:.3f} to {values[-1]:.3f}, expected it to fall. "
                "It does not learn, so its time says nothing."
            )
