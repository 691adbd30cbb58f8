"""What a question asks of a learner's code: the one thing that goes with the arguments to wherever it is called."""

from dataclasses import dataclass, replace

import numpy as np

HOWS = ("function", "tensors", "module", "training", "generation")


class Misfit(Exception):
    """The learner's code is not of the form that the task prescribes; the text goes on from "your module"."""


@dataclass(frozen=True)
class Asked:
    """The name to call, the limit of one call in seconds, how it is driven, and the dotted names it must not call.

    "function" calls it on the arguments as they are; the others are the drivers of `torch_calls`. Where the memory is
    `measured`, the reply says how much was "held".
    """

    name: str
    seconds: float
    how: str = "function"
    forbids: tuple[str, ...] = ()
    measured: bool = False

    def of_known(self, source: str) -> "Asked":
        """What is asked of a solution of the author's: a name that its source does not hold is not watched for, which
        makes its calls faster.
        """
        named = tuple(name for name in self.forbids if not source or name.rpartition(".")[2] in source)
        return replace(self, forbids=named)

    def sent(self, args: tuple) -> tuple:
        """The arguments as they travel: PyTorch is asked in float32, the precision that a learner's own code has."""
        return args if self.how == "function" else _single(args)


def _single(value):
    if isinstance(value, np.ndarray | np.generic) and value.dtype == np.float64:
        return value.astype(np.float32)
    if isinstance(value, tuple | list):
        return type(value)(map(_single, value))
    if isinstance(value, dict):
        return {key: _single(entry) for key, entry in value.items()}
    return value
