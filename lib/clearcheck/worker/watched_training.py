"""What a training loop does while it runs: the steps of its optimisers, its losses, and where its weights come to."""

import contextlib
import zlib
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

SEEN = 1000  # numbers of a weight by which its values are told from those of another step


class WatchedTraining:
    """The optimiser of each step, which is held, so that no later one gets its id; the loss of each backward pass."""

    def __init__(self):
        self.steps: list[Optimizer] = []
        self.losses: list[float] = []
        self._began: dict[int, tuple[Tensor, Tensor]] = {}  # each weight, and a copy of it after its first step
        self._last: dict[int, int] = {}  # the values of each weight before its first step, then after its last one
        self._moved: set[int] = set()  # the weights that a step has moved
        self._reached: set[int] = set()  # and the values to which

    @property
    def optimizers(self) -> int:
        return len({id(optimizer) for optimizer in self.steps})

    @property
    def moved(self) -> float:
        """How far the weight that moved most is from where it was after its first step."""
        far = [(now.detach() - then).abs().max().item() for now, then in self._began.values() if now.numel()]
        return max(far, default=0.0)

    def trained(self, model: nn.Module) -> bool:
        """Whether a weight of the model is one that a step has moved, or a copy of what it was after such a step."""
        weights = list(model.parameters())
        return any(id(weight) in self._moved or _values_of(weight) in self._reached for weight in weights)

    def note_before(self, optimizer: Optimizer, *_):
        for weight in _weights_of(optimizer):
            if id(weight) not in self._last:
                self._last[id(weight)] = _values_of(weight)

    def note_step(self, optimizer: Optimizer, *_):
        self.steps.append(optimizer)
        for weight in _weights_of(optimizer):
            if id(weight) not in self._began:
                self._began[id(weight)] = weight, weight.detach().clone()
            values = _values_of(weight)
            if self._last.get(id(weight)) != values:
                self._moved.add(id(weight))
                self._reached.add(values)
            self._last[id(weight)] = values

    def note_loss(self, tensors):
        loss = tensors if isinstance(tensors, Tensor) else next(iter(tensors), None)
        if isinstance(loss, Tensor) and loss.numel() == 1:
            self.losses.append(loss.item())


def _weights_of(optimizer: Optimizer) -> Iterator[Tensor]:
    for group in optimizer.param_groups:
        yield from group["params"]


def _values_of(weight: Tensor) -> int:
    return zlib.crc32(weight.detach().flatten()[:SEEN].float().cpu().numpy().tobytes())


@contextlib.contextmanager
def watched_training() -> Iterator[WatchedTraining]:
    watched = WatchedTraining()
    backward = torch.autograd.backward

    def noted_backward(tensors, *args, **kwargs):
        watched.note_loss(tensors)
        return backward(tensors, *args, **kwargs)

    handles = (
        register_optimizer_step_pre_hook(watched.note_before),
        register_optimizer_step_post_hook(watched.note_step),
    )
    torch.autograd.backward = noted_backward
    try:
        yield watched
    finally:
        torch.autograd.backward = backward
        for handle in handles:
            handle.remove()
