"""One update of a training: rows in parts, gradients added up and scaled, clipped and applied."""

import math
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn

from clearformer.optimization import learning_rate
from clearformer.parallel import gather_tensor, sending_gradients
from clearformer.train_config import TrainConfig


class Step:
    """One update after another, from this process's share of each step's rows."""

    def __init__(
        self, loss_of: nn.Module, optimizer: torch.optim.Optimizer, config: TrainConfig, rank: int, n_processes: int
    ):
        self.loss_of, self.optimizer, self.config = loss_of, optimizer, config
        self.rank, self.n_processes = rank, n_processes
        self.parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self.device = self.parameters[0].device

    def __call__(self, step: int, rows: tuple) -> Tensor:
        """The mean loss of all processes, before the update; NaN where loss or gradient is not finite."""
        c = self.config
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(step, c)
        _check_rows(rows, c.batch_size * c.grad_accum_steps * self.n_processes)
        self.loss_of.train()
        total, count = self._backward(step, rows)
        if all(p.grad is None for p in self.parameters):
            raise ValueError(
                "train: no trainable parameter of the model has a part in loss(...). Compute it from the output of the "
                "model it is given, without .detach(), .item() or torch.no_grad()."
            )
        if self.n_processes > 1:
            both = torch.stack((total, torch.as_tensor(count, dtype=total.dtype, device=total.device)))
            dist.all_reduce(both)
            total, count = both
        if getattr(count, "device", torch.device("cpu")).type == "cpu" and count == 0:
            raise ValueError(
                f"train: loss(...) counted nothing in the rows of step {step}, expected at least one token. Leave out "
                "rows that are padding alone."
            )
        self._scale_gradients(self.n_processes / count)  # added up over parts, and averaged over processes
        norm = gather_tensor(nn.utils.clip_grad_norm_(self.parameters, c.max_grad_norm))
        self.optimizer.step()
        self.optimizer.zero_grad()
        return (total / count).where(norm.isfinite(), math.nan)  # read by ``_check_finite``, without waiting for a GPU

    def close(self) -> None:
        """Let go of the module. What sends its gradients must be gone before the processes part: else it would end
        their connection with Python's lock held, and wait for a thread that waits for the lock.
        """
        del self.loss_of

    def _scale_gradients(self, factor: float | Tensor) -> None:
        if isinstance(factor, float) and factor == 1.0:
            return
        for p in self.parameters:
            if p.grad is not None:
                p.grad.mul_(factor)

    def _backward(self, step: int, rows: tuple[Tensor, ...]) -> tuple[Tensor, Tensor | int]:
        """The sum of the losses of this process's parts, and how many they count; their gradients are added up."""
        c = self.config
        total = torch.zeros((), device=self.device)
        count: Tensor | int = 0
        autocast = torch.autocast(self.device.type, torch.bfloat16, enabled=c.autocast and self.device.type == "cuda")
        last = (self.rank + 1) * c.grad_accum_steps - 1
        for part in range(self.rank * c.grad_accum_steps, last + 1):
            seed_dropout(self.device, mixed_seed(c.seed, step, part))
            chosen = slice(part * c.batch_size, (part + 1) * c.batch_size)
            with sending_gradients(self.loss_of, now=part == last):
                with autocast:
                    mine = (tensor[chosen].to(self.device, non_blocking=True) for tensor in rows)
                    value, counted = _sum_and_count(self.loss_of(*mine))
                if value.requires_grad:
                    value.backward()
            total = total + value.detach()
            count = count + counted
        return total, count


def _sum_and_count(value: Any) -> tuple[Tensor, Tensor | int]:
    """A mean counts once, whatever it is the mean of."""
    total, count = value if isinstance(value, tuple) and len(value) == 2 else (value, 1)
    if not isinstance(total, Tensor) or total.dim():
        came = f"{type(value).__name__} of shape {tuple(getattr(total, 'shape', ()))}"
        raise ValueError(
            f"train: loss(...) gave {came}, expected a Tensor of shape (), or a sum and how many it counts. "
            "Take the mean."
        )
    return total, count


def _check_rows(rows: Any, n_rows: int) -> None:
    if not isinstance(rows, tuple):
        raise TypeError(f"train: batch(...) gave a {type(rows).__name__}, expected a tuple of tensors, such as (x,).")
    for index, tensor in enumerate(rows):
        if isinstance(tensor, Tensor) and tensor.device.type == "meta":
            raise ValueError(f'train: batch(...) gave a tensor on "meta" at index {index}, expected one with numbers.')
        if not isinstance(tensor, Tensor) or tensor.shape[:1] != (n_rows,):
            came = f"{type(tensor).__name__} of shape {tuple(getattr(tensor, 'shape', ()))} at index {index}"
            raise ValueError(
                f"train: batch({n_rows}, ...) gave {came}, expected a Tensor whose first axis is {n_rows}."
            )


def seed_dropout(device: torch.device, seed: int) -> None:
    """Seed the generators that dropout draws from here, none of another GPU: ``_own_randomness`` puts back no more."""
    if device.type not in ("cpu", "cuda"):
        torch.manual_seed(seed)
        return
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        index = torch.cuda.current_device() if device.index is None else device.index
        torch.cuda.default_generators[index].manual_seed(seed)


def mixed_seed(*numbers: int) -> int:
    """One seed from several numbers, well mixed: neighbours give unrelated streams."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
