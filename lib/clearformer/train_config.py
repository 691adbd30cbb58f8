"""What a training run is made of: its numbers, each checked for its range."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class TrainConfig:
    """What a run is made of, except for the model and the data.

    One step learns from ``batch_size`` × ``grad_accum_steps`` × number of processes rows. The rate falls towards
    ``min_lr_ratio`` × ``learning_rate``, ``max_grad_norm`` is the largest norm of the gradient (``math.inf`` for
    none). 0 for ``eval_every`` or ``save_every`` means only at the end. ``autocast`` computes in bfloat16 on a GPU.
    ``shard_on="cuda"`` (or ``"cpu"``) splits the model among the processes of ``torchrun``, as ``parallel.shard`` says.

    Raises: ValueError for a number out of its range, or one of NumPy or torch, which a checkpoint could not hold.
    """

    n_steps: int
    batch_size: int
    learning_rate: float = 1e-3
    warmup_steps: int = 0
    min_lr_ratio: float = 0.1
    weight_decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.95)
    max_grad_norm: float = 1.0
    grad_accum_steps: int = 1
    eval_every: int = 0
    save_every: int = 0
    autocast: bool = True
    seed: int = 0
    shard_on: str | None = None

    def __post_init__(self):
        least = {"n_steps": 1, "batch_size": 1, "grad_accum_steps": 1}
        for name, bound in (least | dict.fromkeys(("warmup_steps", "eval_every", "save_every", "seed"), 0)).items():
            value = getattr(self, name)
            self._check(name, isinstance(value, int) and value >= bound, f"a whole number of at least {bound}")
        for name in ("learning_rate", "max_grad_norm", "weight_decay", "min_lr_ratio"):
            self._check(name, isinstance(getattr(self, name), int | float), "a Python number; convert with float(...)")
        self._check("learning_rate", 0 < self.learning_rate < math.inf, "more than 0, and finite")
        self._check("max_grad_norm", self.max_grad_norm > 0, "more than 0")
        self._check("weight_decay", 0 <= self.weight_decay < math.inf, "at least 0, and finite")
        self._check("min_lr_ratio", 0 <= self.min_lr_ratio <= 1, "a fraction from 0 to 1")
        self._check("betas", len(self.betas) == 2 and all(0 <= b < 1 for b in self.betas), "two from 0 to below 1")
        self._check("warmup_steps", self.warmup_steps <= self.n_steps, f"at most n_steps={self.n_steps}")

    def _check(self, name: str, fits: bool, expected: str) -> None:
        if not fits:
            raise ValueError(f"TrainConfig: {name}={getattr(self, name)!r}, expected {expected}.")
