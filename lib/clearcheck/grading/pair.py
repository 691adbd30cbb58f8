"""A wrong result beside the right one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clearcheck.grading.replies import CLOSE, CLOSE_IN_FLOAT32

FEW = 4  # entries: below, any two results stand in one relation or another


@dataclass(frozen=True)
class Pair:
    """A wrong result, the right one, the arrays among the arguments, and the sizes by the letters of the task."""

    came: np.ndarray
    right: np.ndarray
    given: Sequence[np.ndarray] = ()
    sizes: Mapping[str, int] | None = None

    @property
    def close(self) -> float:
        return CLOSE_IN_FLOAT32 if np.dtype(np.float32) in (self.came.dtype, self.right.dtype) else CLOSE

    @property
    def floats(self) -> bool:
        return self.came.dtype.kind == self.right.dtype.kind == "f"

    @property
    def comparable(self) -> bool:
        """Floats of one shape, all finite."""
        alike = self.came.shape == self.right.shape and self.floats
        return alike and bool(np.isfinite(self.came).all() and np.isfinite(self.right).all())

    @property
    def telling(self) -> bool:
        """Whether there are so many different numbers that a relation of all of them is none by chance."""
        return self.right.size >= FEW and not (self.right == self.right.flat[0]).all()

    def same(self, one, other) -> bool:
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape:
            return False
        if one.dtype.kind in "iub" and other.dtype.kind in "iub":
            return bool((one == other).all())
        finite = np.abs(other[np.isfinite(other)])
        atol = self.close * max(1e-3, float(finite.max(initial=0)))
        return bool(np.allclose(one, other, rtol=self.close, atol=atol, equal_nan=True))
