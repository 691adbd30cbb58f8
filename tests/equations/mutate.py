"""Break a printed equation on purpose, in every small way, to see whether its check notices.

Most checks hand what `table` gave them straight to the comparison, and what the library gives does not depend on it.
There the broken equations stand beside the printed one: one run of the check computes their entries, each up to the
first that is off. Only those without such an entry run in a check of their own.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count, product

import numpy as np

from tests.equations.breaking import calls, variants
from tests.equations.registry import TOLERANCE, both_sides, registered_equations, table

NONE: Mapping = {}


class MutantNoticed(Exception):
    """An entry is off that the comparison would see."""


def mutants(check: Callable) -> Iterator[tuple[ast.expr, ast.expr, bool]]:
    """Every mutant of the lambdas that ``check`` hands to ``table``: the expression that was changed, what stands in
    its place, and whether the check still passes."""
    changes, run = _with_mutants(check)
    expected = _expected_tables(run)
    noticed = _noticed_mutants(run, expected)
    for number, (before, after) in enumerate(changes):
        yield before, after, number not in noticed and _survives(run, number, expected)


def try_mutants() -> tuple[int, list[str], list[str]]:
    """How many mutants of all registered checks were caught, those that were not, the checks that have none."""
    caught, survivors, idle = 0, [], []
    for entry in registered_equations().values():
        results = list(mutants(entry.check))
        if not results:
            idle.append(entry.label)
        caught += sum(not alive for *_, alive in results)
        alive = [(before, after) for before, after, alive in results if alive]
        survivors += [f"{entry.label}: {ast.unparse(before)}  →  {ast.unparse(after)}" for before, after in alive]
    return caught, survivors, idle


def _with_mutants(check: Callable) -> tuple[list[tuple[ast.expr, ast.expr]], Callable]:
    """All changes; and what runs the check with another ``table``, which is told the mutants of its lambda by their
    numbers, each as a function that makes it: making one may fail, too."""
    tree, changes = ast.parse(textwrap.dedent(inspect.getsource(check))), []
    tree.body[0].decorator_list = []
    for call, indices in list(calls(tree)):
        placed = partial(ast.copy_location, old_node=call)
        keys, makers = [], []
        for before, after, mutant in variants(call.args[0], indices):
            keys.append(placed(ast.Constant(len(changes))))
            makers.append(placed(ast.Lambda(ast.arguments([], [], None, [], [], None, []), mutant)))
            changes.append((before, after))
        call.keywords = [placed(ast.keyword("broken", placed(ast.Dict(keys, makers))))]
    scope = dict(check.__globals__)
    exec(compile(tree, f"<{check.__name__} with its mutants>", "exec"), scope)

    def run(table: Callable) -> list[tuple[np.ndarray, np.ndarray]]:
        scope["table"] = table
        return both_sides(scope[check.__name__])

    return changes, run


def _expected_tables(run: Callable) -> dict[int, np.ndarray]:
    """What the library gives for the tables that are compared as they are, by the number of the call of ``table``;
    nothing where the library's side is another one when the tables are."""

    def record_tables(off: float) -> tuple[list[np.ndarray], list[tuple[np.ndarray, np.ndarray]]]:
        made: list[np.ndarray] = []

        def record_table(entry: Callable, *sizes: int, broken: Mapping = NONE) -> np.ndarray:
            made.append(table(entry, *sizes) + off * np.arange(1, 1 + np.prod(sizes, dtype=int)).reshape(sizes))
            return made[-1]

        return made, run(record_table)

    made, pairs = record_tables(0.0)
    try:
        others = [library for _, library in record_tables(0.01)[1]]
    except Exception:
        return {}
    if not all(np.array_equal(one, other, equal_nan=True) for (_, one), other in zip(pairs, others, strict=True)):
        return {}
    return {n: library for n, one in enumerate(made) for printed, library in pairs if printed is one}


def _noticed_mutants(run: Callable, expected: dict[int, np.ndarray]) -> set[int]:
    """The numbers of the mutants with an entry that is off, where the comparison would see it."""
    noticed, made = set(), count()

    def try_table(entry: Callable, *sizes: int, broken: Mapping = NONE) -> np.ndarray:
        library = expected.get(next(made))
        if library is not None:
            noticed.update(n for n, make in broken.items() if n not in noticed and _is_off(make, sizes, library))
        return table(entry, *sizes)

    return (
        noticed if expected and _all_agree(run(try_table)) else set()
    )  # a mutant may have disturbed what came after it


def _survives(run: Callable, number: int, expected: dict[int, np.ndarray]) -> bool:
    """Whether the check passes with this mutant."""
    made = count()

    def table_until_noticed(entry: Callable, *sizes: int, broken: Mapping = NONE) -> np.ndarray:
        library = expected.get(next(made))
        make = broken.get(number, lambda: entry)
        if library is not None and _is_off(make, sizes, library):
            raise MutantNoticed
        return table(make(), *sizes)

    try:
        return _all_agree(run(table_until_noticed))
    except Exception:
        return False


def _all_agree(pairs: list[tuple[np.ndarray, np.ndarray]]) -> bool:
    """What is unequal in ``registry.run`` is so here, without its report."""
    near = partial(np.allclose, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    return all(one.shape == other.shape and near(one, other) for one, other in pairs)


def _is_off(make: Callable, sizes: tuple[int, ...], library: np.ndarray) -> bool:
    """Whether an entry of what is made is off; what cannot be computed is."""
    try:
        entry = make()
        return any(
            abs(float(entry(*index)) - right) > TOLERANCE * (1 + abs(right))
            for index, right in zip(product(*map(range, sizes)), library.flat, strict=True)
        )
    except Exception:
        return True
