"""What a question asks of a learner's code: the one thing that goes with the arguments to wherever it is called."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from clearcheck.worker.forbidden_names import MEASURING, TORCH, every_way
from clearcheck.worker.limits import NET

HOWS = ("function", "tensors", "module", "training", "generation")

# What takes long to import and is no work of the learner's; the first optimizer of a process imports the last.
IN_TORCH = ("torch", "clearcheck.worker.torch_calls")
NEEDED = {"function": (), "training": (*IN_TORCH, "torch._dynamo")}


class Misfit(Exception):
    """The learner's code is not of the form that the task prescribes; the text goes on from "your module"."""


@dataclass(frozen=True)
class CallRequest:
    """The name to call, for how many seconds one call may compute, how it is driven, the dotted names it must not call
    (of `forbidden_names`, each with all other ways to the same), and how many times as long it may take by the clock.

    "function" calls it on the arguments as they are; the others are the drivers of `torch_calls`. Where the memory is
    `measured`, the reply says how much was "held".
    """

    name: str
    seconds: float
    how: str = "function"
    forbids: tuple[str, ...] = ()
    measured: bool = False
    net: float = NET
    known: bool = False  # whether the code is the author's, which is not looked at for more than its source names

    def for_known_mistake(self, source: str) -> "CallRequest":
        """What is asked of a solution of the author's: a name that its source does not hold is not watched for, which
        makes its calls faster.
        """
        named = (name for name in every_way(self.forbids) if not source or name.rpartition(".")[2] in source)
        return replace(self, forbids=tuple(named), known=True)

    def forbidden_with(self, args: tuple) -> tuple[str, ...]:
        """The dotted names that a call with these arguments may not lead to: with arrays, none of PyTorch."""
        if self.known:
            return self.forbids
        in_numpy = self.how == "function" and _has_array(args)
        return (*every_way(self.forbids), *((TORCH,) if in_numpy else ()), *(MEASURING if self.measured else ()))

    def arguments_to_send(self, args: tuple) -> tuple:
        """The arguments as they travel: PyTorch is asked in float32, the precision that a learner's own code has."""
        return args if self.how == "function" else _to_single_precision(args)


def modules_to_import(hows: Iterable[str]) -> tuple[str, ...]:
    """The modules to import before a learner's code is driven in these ways, so that its time is its own."""
    return tuple(dict.fromkeys(module for how in hows for module in NEEDED.get(how, IN_TORCH)))


def _has_array(value) -> bool:
    if isinstance(value, dict):
        value = tuple(value.values())
    return isinstance(value, np.ndarray) or (isinstance(value, tuple | list) and any(map(_has_array, value)))


def _to_single_precision(value):
    if isinstance(value, np.ndarray | np.generic) and value.dtype == np.float64:
        return value.astype(np.float32)
    if isinstance(value, tuple | list):
        return type(value)(map(_to_single_precision, value))
    if isinstance(value, dict):
        return {key: _to_single_precision(entry) for key, entry in value.items()}
    return value
