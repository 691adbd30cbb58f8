"""The register of display equations: label → check that evaluates what is printed and compares it with the library."""

import hashlib
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

TOLERANCE = 1e-10  # float64, sums of a few dozen terms
SEED = 20


@dataclass(frozen=True)
class Equation:
    """One display equation of the book and the function that executes it."""

    label: str
    fingerprint: str
    check: Callable

    @property
    def place(self) -> str:
        code = self.check.__code__
        return f"{'/'.join(code.co_filename.split('/')[-3:])}:{code.co_firstlineno}"


REGISTRY: dict[str, Equation] = {}


def registered_equations() -> dict[str, Equation]:
    """All equations of the book, from chapter_NN and closer_NN_slug."""
    for module in sorted(Path(__file__).parent.glob("c[hl]*_*.py")):
        importlib.import_module(f"tests.equations.{module.stem}")
    return REGISTRY


def equation(label: str, fingerprint: str) -> Callable:
    """Register ``check(rng) -> (printed, library)`` (or a list of such pairs) for the equation ``label``.

    ``printed`` evaluates the LaTeX literally, index by index, inside ``table``; ``library`` is what the library
    gives. Sizes are all different, so that a swapped index cannot pass.
    """

    def register(check: Callable) -> Callable:
        if label in REGISTRY:
            raise ValueError(f"equation {label!r} already has a check at {REGISTRY[label].place}; keep one of the two")
        REGISTRY[label] = Equation(label, fingerprint, check)
        return check

    return register


def table(entry: Callable, *sizes: int) -> np.ndarray:
    """The array whose entry (i, j, …) is ``entry(i, j, …)``, computed one by one.

    Only what stands inside the lambda given here is the printed equation; the mutation run changes just that.
    """
    return np.array([entry(*index) for index in product(*map(range, sizes))], dtype=float).reshape(sizes)


def fingerprint(latex: str) -> str:
    """Ten hexadecimal digits that change when anything but white space in the LaTeX changes."""
    return hashlib.sha256("".join(latex.split()).encode()).hexdigest()[:10]


def both_sides(check: Callable) -> list[tuple[np.ndarray, np.ndarray]]:
    """What the printed equation gives and what the library gives, once or several times."""
    result = check(np.random.default_rng(SEED))
    pairs = result if isinstance(result, list) else [result]
    return [(printed, np.asarray(library, dtype=float)) for printed, library in pairs]


def run(check: Callable) -> None:
    """Run one check. Raises: AssertionError where printed equation and library differ."""
    for printed, library in both_sides(check):
        assert printed.shape == library.shape, f"printed {printed.shape}, library {library.shape}"
        np.testing.assert_allclose(printed, library, rtol=TOLERANCE, atol=TOLERANCE)
