"""What a training run is made of: its numbers, each checked for its range."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from clearformer.checks import check_real, check_whole, shorten


@dataclass(frozen=True)
class TrainConfig:
    """What a run is made of, except for the model and the data.

    One step learns from ``batch_size`` × ``grad_accum_steps`` × number of processes rows. The rate falls towards
    ``min_lr_ratio`` × ``learning_rate``, ``max_grad_norm`` is the largest norm of the gradient (``math.inf`` for
    none). 0 for ``eval_every`` or ``save_every`` means only at the end. ``autocast`` computes in bfloat16 on a GPU.
    ``shard_on="cuda"`` (or ``"cpu"``) splits the model among the processes of ``torchrun``, as ``parallel.shard`` says.

    Raises: TypeError for what is no number; ValueError for one out of its range.
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
        for name in ("n_steps", "batch_size", "grad_accum_steps"):
            self._settle(name, check_whole("TrainConfig", name, getattr(self, name)))
        for name in ("warmup_steps", "eval_every", "save_every", "seed"):
            self._settle(name, check_whole("TrainConfig", name, getattr(self, name), least=0))
        self._settle_real("learning_rate", lambda rate: 0 < rate < math.inf, "more than 0, and finite")
        self._settle_real("max_grad_norm", lambda norm: norm > 0, "more than 0")
        self._settle_real("weight_decay", lambda decay: 0 <= decay < math.inf, "at least 0, and finite")
        self._settle_real("min_lr_ratio", lambda ratio: 0 <= ratio <= 1, "a fraction from 0 to 1")
        self._settle("betas", self._two_betas())
        if self.warmup_steps > self.n_steps:
            raise ValueError(
                f"TrainConfig: warmup_steps={self.warmup_steps}, expected at most n_steps={self.n_steps}. "
                "Train for more steps, or warm up for fewer."
            )
        if not isinstance(self.autocast, bool):
            raise TypeError(f"TrainConfig: autocast={shorten(self.autocast)}, expected True or False.")
        if not isinstance(self.shard_on, str | None):
            raise TypeError(f'TrainConfig: shard_on={shorten(self.shard_on)}, expected "cuda", "cpu" or None.')

    def _settle(self, name: str, value) -> None:
        """Keep a checked number as Python's own, which a checkpoint can hold."""
        object.__setattr__(self, name, value)

    def _settle_real(self, name: str, fits: Callable[[float], bool], expected: str) -> None:
        self._settle(name, check_real("TrainConfig", name, getattr(self, name), fits, expected))

    def _two_betas(self) -> tuple[float, float]:
        betas = self.betas
        if not isinstance(betas, tuple | list) or len(betas) != 2:
            raise TypeError(f"TrainConfig: betas={shorten(betas)}, expected two numbers, such as (0.9, 0.95).")
        first, second = (
            check_real("TrainConfig", "betas", b, lambda beta: 0 <= beta < 1, "from 0 to below 1") for b in betas
        )
        return first, second
