"""What the arguments of a question are, so that the rules on what its checks draw can be tried."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

COUNTED = "the arguments are the sizes, and the task names those that may agree"


@dataclass(frozen=True)
class Inputs:
    """`sizes(*args)` gives letters and sizes; `scores(*args)` the numbers that enter a softmax."""

    sizes: Callable[..., dict[str, int]] | None = None
    scores: Callable[..., np.ndarray] | None = None
    alike: tuple[str, ...] = ()  # the checks with a case in which sizes agree on purpose
    only_distinct: str = ""  # why one size may be a multiple of another
    no_sizes: str = ""  # why no sizes are named
    no_softmax: str = ""  # why scores are no scores of a softmax


def axes(*names: str) -> Callable[..., dict[str, int]]:
    """The letters of the axes of the array arguments in turn; the same letter has the same size everywhere."""

    def sizes(*args) -> dict[str, int]:
        found: dict[str, int] = {}
        arrays = [value for value in args if isinstance(value, np.ndarray)]
        for letters, array in zip(names, arrays, strict=True):
            for letter, size in zip(letters, array.shape, strict=True):
                if found.setdefault(letter, size) != size:
                    raise ValueError(f"{letter} is {found[letter]} and {size} in one case")
        return found

    return sizes
