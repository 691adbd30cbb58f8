"""Break a printed equation on purpose, in every small way, to see whether its check notices.

Most checks hand what `table` gave them straight to the comparison, and what the library gives does not depend on it.
There the first entry that is off tells, and neither the other entries nor the library are computed again.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, product

import numpy as np

from tests.equations.registry import TOLERANCE, both_sides, registered, table

SWAPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.MatMult: ast.Add}
KEPT_CALLS = {
    "sum",
    "range",
    "len",
    "min",
    "max",
    "table",
    "float",
    "int",
    "abs",
    "all",
    "any",
    "list",
    "tuple",
}


class Noticed(Exception):
    """An entry is off that the comparison would see."""


def mutants(check: Callable) -> Iterator[tuple[str, Callable]]:
    """Every mutant of the lambdas that ``check`` hands to ``table``: what was changed, and the changed check."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(check)))
    tree.body[0].decorator_list = []
    expected = _expected(tree, check)
    for node, put, indices in _printed_nodes(tree):
        for change in _changes(node, indices):
            after = ast.copy_location(change(node), node)
            put(after)
            broken = _compile(tree, after, check, _impatient(expected))
            put(node)
            yield f"{ast.unparse(node)}  →  {ast.unparse(after)}", broken


def tried() -> tuple[int, list[str], list[str]]:
    """How many mutants of all registered checks were caught, those that were not, the checks that have none."""
    caught, survivors, idle = 0, [], []
    for entry in registered().values():
        results = [(change, survives(mutant)) for change, mutant in mutants(entry.check)]
        if not results:
            idle.append(entry.label)
        caught += sum(not alive for _, alive in results)
        survivors += [f"{entry.label}: {change}" for change, alive in results if alive]
    return caught, survivors, idle


def survives(mutant: Callable) -> bool:
    """Whether the broken equation still passes its check; what is unequal in `run` is so here, without its report."""
    near = partial(np.allclose, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    try:
        return all(one.shape == other.shape and near(one, other) for one, other in both_sides(mutant))
    except Exception:
        return False


def _expected(tree: ast.AST, check: Callable) -> dict[int, np.ndarray]:
    """What the library gives for the tables that are compared as they are, by the number of the call of ``table``;
    nothing where the library's side is another one when the tables are."""

    def recorded(off: float) -> tuple[list[np.ndarray], list[tuple[np.ndarray, np.ndarray]]]:
        made: list[np.ndarray] = []

        def recording(entry: Callable, *sizes: int) -> np.ndarray:
            made.append(table(entry, *sizes) + off * np.arange(1, 1 + np.prod(sizes, dtype=int)).reshape(sizes))
            return made[-1]

        return made, both_sides(_compile(tree, tree, check, recording))

    made, pairs = recorded(0.0)
    try:
        others = [library for _, library in recorded(0.01)[1]]
    except Exception:
        return {}
    if not all(np.array_equal(one, other, equal_nan=True) for (_, one), other in zip(pairs, others, strict=True)):
        return {}
    return {n: library for n, one in enumerate(made) for printed, library in pairs if printed is one}


def _impatient(expected: dict[int, np.ndarray]) -> Callable:
    """A ``table`` that raises `Noticed` at the first entry of an expected one that is off."""
    calls = count()

    def impatient(entry: Callable, *sizes: int) -> np.ndarray:
        library = expected.get(next(calls))
        if library is None:
            return table(entry, *sizes)
        found = []
        for index, right in zip(product(*map(range, sizes)), library.flat, strict=True):
            found.append(float(entry(*index)))
            if abs(found[-1] - right) > TOLERANCE * (1 + abs(right)):
                raise Noticed
        return np.array(found).reshape(sizes)

    return impatient


def _printed_nodes(node: ast.AST, indices: tuple = (), inside: bool = False) -> Iterator[tuple]:
    """Every expression inside a lambda that is an argument of ``table``, in a fixed order: with a function that puts
    another in its place, and with the names that run over an axis around it."""
    indices = tuple(dict.fromkeys((*indices, *_running(node))))
    table = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "table"
    for child, put in _children(node):
        if inside and isinstance(child, ast.expr):
            yield child, put, indices
        yield from _printed_nodes(child, indices, inside or (table and isinstance(child, ast.Lambda)))


def _running(node: ast.AST) -> list[str]:
    """The arguments of a lambda, the variables of a sum."""
    if isinstance(node, ast.Lambda):
        return [argument.arg for argument in node.args.args]
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return [g.target.id for g in node.generators if isinstance(g.target, ast.Name)]
    return []


def _children(node: ast.AST) -> Iterator[tuple[ast.AST, Callable]]:
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield value, partial(setattr, node, field)
        for i, entry in enumerate(value if isinstance(value, list) else []):
            if isinstance(entry, ast.AST):
                yield entry, partial(value.__setitem__, i)


def _changes(node: ast.expr, indices: tuple[str, ...]) -> Iterator[Callable[[ast.expr], ast.expr]]:
    """The ways in which one expression can be broken."""
    if isinstance(node, ast.Subscript):
        yield from _index_changes(node, indices)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Pow):
        yield lambda n: n.left  # a missing 1/√K, a missing denominator, a missing square
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED:
        yield lambda n: ast.BinOp(n.left, SWAPPED[type(n.op)](), n.right)
        yield lambda n: n.left
        yield lambda n: n.right
    elif isinstance(node, ast.Attribute) and node.attr == "T":
        yield lambda n: n.value  # a missing transpose
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        yield lambda n: ast.Call(n.func, [ast.BinOp(n.args[-1], ast.Sub(), ast.Constant(1))], [])
    elif isinstance(node, ast.Call) and len(node.args) == 1 and _called(node) not in KEPT_CALLS:
        yield lambda n: n.args[0]  # a missing exp, square root or tanh
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield lambda n: n.operand


def _index_changes(node: ast.Subscript, indices: tuple[str, ...]) -> Iterator[Callable[[ast.expr], ast.expr]]:
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(parts) == 2 and ast.dump(parts[0]) != ast.dump(parts[1]):
        yield lambda n: ast.Subscript(n.value, ast.Tuple(n.slice.elts[::-1], ast.Load()), n.ctx)
    for i, part in enumerate(parts):
        for name in indices:
            if isinstance(part, ast.Name) and name != part.id and part.id in indices:
                yield lambda n, i=i, name=name: _with_index(n, i, name)


def _with_index(node: ast.Subscript, i: int, name: str) -> ast.Subscript:
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    parts[i] = ast.Name(name, ast.Load())
    index = ast.Tuple(parts, ast.Load()) if isinstance(node.slice, ast.Tuple) else parts[0]
    return ast.Subscript(node.value, index, node.ctx)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _compile(tree: ast.AST, new: ast.AST, check: Callable, table: Callable) -> Callable:
    """The check with another ``table``, from a tree whose `new` part may lack its places in the source."""
    scope = {**check.__globals__, "table": table}
    ast.fix_missing_locations(new)
    exec(compile(tree, f"<mutant of {check.__name__}>", "exec"), scope)
    return scope[check.__name__]
