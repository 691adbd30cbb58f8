"""What a training loop does while it runs: the steps of its optimisers, its losses, and how far its weights move."""

import contextlib
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook


class WatchedTraining:
    """The optimiser of each step, which is held, so that no later one gets its id; the loss of each backward pass."""

    def __init__(self):
        self.steps: list[Optimizer] = []
        self.losses: list[float] = []
        self._began: dict[int, tuple[Tensor, Tensor]] = {}  # each weight, and a copy of it after its first step

    @property
    def optimizers(self) -> int:
        return len({id(optimizer) for optimizer in self.steps})

    @property
    def moved(self) -> float:
        """How far the weight that moved most is from where it was after its first step."""
        far = [(now.detach() - then).abs().max().item() for now, then in self._began.values() if now.numel()]
        return max(far, default=0.0)

    def note_step(self, optimizer: Optimizer, *_):
        self.steps.append(optimizer)
        for group in optimizer.param_groups:
            for weight in group["params"]:
                if id(weight) not in self._began:
                    self._began[id(weight)] = weight, weight.detach().clone()

    def note_loss(self, tensors):
        loss = tensors if isinstance(tensors, Tensor) else next(iter(tensors), None)
        if isinstance(loss, Tensor) and loss.numel() == 1:
            self.losses.append(loss.item())


@contextlib.contextmanager
def watched_training() -> Iterator[WatchedTraining]:
    watched = WatchedTraining()
    backward = torch.autograd.backward

    def noted_backward(tensors, *args, **kwargs):
        watched.note_loss(tensors)
        return backward(tensors, *args, **kwargs)

    handle = register_optimizer_step_post_hook(watched.note_step)
    torch.autograd.backward = noted_backward
    try:
        yield watched
    finally:
        torch.autograd.backward = backward
        handle.remove()
