"""Pipeline parallelism: every worker holds some of the layers, and the batch passes through in small pieces."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

FORWARD, BACKWARD = "forward", "backward"
Order = Callable[[int, int, int], list[tuple[str, int]]]


@dataclass(frozen=True)
class Task:
    """One worker busy with one microbatch from ``start`` to ``stop``; ``kind`` is "forward" or "backward"."""

    worker: int
    microbatch: int
    kind: str
    start: float
    stop: float


def all_forward_first(worker: int, n_workers: int, n_microbatches: int) -> list[tuple[str, int]]:
    """Every microbatch forward, then every microbatch backward.

    Source: Huang et al. 2019 (GPipe), figure 2.
    """
    return [(kind, i) for kind in (FORWARD, BACKWARD) for i in range(n_microbatches)]


def one_forward_one_backward(worker: int, n_workers: int, n_microbatches: int) -> list[tuple[str, int]]:
    """As many microbatches forward as there are workers from this one on, then backward and forward in turn.

    Source: Narayanan et al. 2021, section 2.2, after PipeDream-Flush.
    """
    ahead = min(n_workers - worker, n_microbatches)
    order = [(FORWARD, i) for i in range(ahead)]
    for i in range(n_microbatches):
        order.append((BACKWARD, i))
        if ahead + i < n_microbatches:
            order.append((FORWARD, ahead + i))
    return order


def schedule(
    n_workers: int,
    n_microbatches: int,
    *,
    forward: float = 1.0,
    backward: float = 2.0,
    order: Order = all_forward_first,
) -> list[Task]:
    """What each worker does when, if every task begins as soon as the worker is free and its input is there.

    A forward needs that of the worker before, a backward that of the worker after; the last worker's backward needs
    its own forward. ``forward`` and ``backward`` are durations of one microbatch on one worker, ``order`` gives the
    tasks of a worker in their order.

    Source: Huang et al. 2019, section 2.3.
    Raises: ValueError for fewer than one worker or microbatch, and for an order in which all wait for one another.
    """
    if min(n_workers, n_microbatches) < 1:
        raise ValueError(f"schedule: {n_workers} workers and {n_microbatches} microbatches, expected at least 1 each.")
    orders = [
        [(kind, worker, i) for kind, i in order(worker, n_workers, n_microbatches)] for worker in range(n_workers)
    ]
    return _as_early_as_possible(orders, n_workers, {FORWARD: forward, BACKWARD: backward})


def interleaved(
    n_workers: int, n_microbatches: int, n_pieces: int, *, forward: float = 1.0, backward: float = 2.0
) -> list[Task]:
    """One forward, one backward, if each worker has ``n_pieces`` short pieces of the model and not one long one.

    Worker w has the pieces w, w + n_workers, w + 2 n_workers and so on of the model, so a microbatch comes round to it
    ``n_pieces`` times, forward and again backward. ``forward`` and ``backward`` are durations of one microbatch in all
    pieces of a worker.

    Source: Narayanan et al. 2021, section 2.2.2.
    Raises: ValueError for fewer than one worker, microbatch or piece.
    """
    if min(n_workers, n_microbatches, n_pieces) < 1:
        sizes = f"{n_workers} workers, {n_microbatches} microbatches and {n_pieces} pieces"
        raise ValueError(f"interleaved: {sizes}, expected at least 1 each.")
    groups = [range(i, min(i + n_workers, n_microbatches)) for i in range(0, n_microbatches, n_workers)]
    onwards = [(piece, i) for group in groups for piece in range(n_pieces) for i in group]
    back = [(piece, i) for group in groups for piece in reversed(range(n_pieces)) for i in group]
    orders = []
    for worker in range(n_workers):
        ahead = min(2 * (n_workers - worker - 1) + (n_pieces - 1) * n_workers + 1, len(onwards))
        order = [(FORWARD, *one) for one in onwards[:ahead]]
        for k, one in enumerate(back):
            order.append((BACKWARD, *one))
            order += [(FORWARD, *other) for other in onwards[ahead + k : ahead + k + 1]]
        orders.append([(kind, piece * n_workers + worker, i) for kind, piece, i in order])
    durations = {FORWARD: forward / n_pieces, BACKWARD: backward / n_pieces}
    return _as_early_as_possible(orders, n_workers * n_pieces, durations)


def _as_early_as_possible(
    waiting: list[list[tuple[str, int, int]]], n_stages: int, durations: dict[str, float]
) -> list[Task]:
    """Tasks (kind, stage, microbatch) in the order of each worker; stage s is one of worker s modulo their number."""
    n_workers = len(waiting)
    free, tasks = [0.0] * n_workers, []
    finished: dict[tuple[str, int, int] | None, float] = {None: 0.0}
    while any(waiting):
        ready = [w for w in range(n_workers) if waiting[w] and _needs(n_stages, *waiting[w][0]) in finished]
        if not ready:
            raise ValueError(f"schedule: all workers wait for one another, next are {[w[:1] for w in waiting]}.")
        for worker in ready:
            kind, stage, i = waiting[worker].pop(0)
            start = max(free[worker], finished[_needs(n_stages, kind, stage, i)])
            free[worker] = finished[kind, stage, i] = start + durations[kind]
            tasks.append(Task(worker, i, kind, start, free[worker]))
    return tasks


def idle_share(tasks: Sequence[Task]) -> float:
    r"""The share of all workers' time in which they wait, from the first start to the last stop: the bubble.

    .. math:: \frac{w - 1}{m + w - 1}

    for w workers with m microbatches of equal length, in both orders above.

    Source: Narayanan et al. 2021, section 2.2.1, there as a fraction of the busy time, (w - 1) / m.
    """
    n_workers = 1 + max(task.worker for task in tasks)
    length = max(task.stop for task in tasks) - min(task.start for task in tasks)
    return 1 - sum(task.stop - task.start for task in tasks) / (n_workers * length)


def most_stored(tasks: Sequence[Task]) -> list[int]:
    """For every worker, of how many microbatches it has to keep the activations at once, at the worst moment."""
    n_workers = 1 + max(task.worker for task in tasks)
    peaks = []
    for worker in range(n_workers):
        steps = sorted((t.start, 1 if t.kind == FORWARD else -1) for t in tasks if t.worker == worker)
        held = [sum(step for _, step in steps[: i + 1]) for i in range(len(steps))]
        peaks.append(max(held))
    return peaks


def _needs(n_stages: int, kind: str, stage: int, i: int) -> tuple[str, int, int] | None:
    """The task that has to be finished first, or None for the first stage's forward."""
    if kind == FORWARD:
        return (FORWARD, stage - 1, i) if stage else None
    return (BACKWARD, stage + 1, i) if stage + 1 < n_stages else (FORWARD, stage, i)
