"""The small ways in which a printed equation can be broken: swapped indices, dropped factors, shortened sums."""

import ast
import copy
from collections.abc import Callable, Iterator

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


def calls(node: ast.AST, indices: tuple[str, ...] = ()) -> Iterator[tuple[ast.Call, tuple[str, ...]]]:
    """Every call of ``table`` with a lambda, in a fixed order, and the names that run over an axis around it."""
    indices = _with_running(node, indices)
    if isinstance(node, ast.Call) and _callee(node) == "table" and isinstance(node.args[0], ast.Lambda):
        yield node, indices
    else:
        for child in ast.iter_child_nodes(node):
            yield from calls(child, indices)


def variants(node: ast.AST, indices: tuple[str, ...]) -> Iterator[tuple[ast.expr, ast.expr, ast.AST]]:
    """An expression in `node`, what takes its place, and `node` with it, of which all else is shared."""
    indices = _with_running(node, indices)
    for field, value in ast.iter_fields(node):
        for i, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST):
                continue
            changes = _changes(child, indices) if isinstance(child, ast.expr) else ()
            changed = [(child, after, after) for after in (_place_like(change(child), child) for change in changes)]
            for before, after, new in [*changed, *variants(child, indices)]:
                around = copy.copy(node)
                setattr(around, field, [*value[:i], new, *value[i + 1 :]] if isinstance(value, list) else new)
                yield before, after, around


def _place_like(after: ast.expr, before: ast.expr) -> ast.expr:
    return ast.fix_missing_locations(ast.copy_location(after, before))


def _with_running(node: ast.AST, indices: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*indices, *_running_names(node))))


def _running_names(node: ast.AST) -> list[str]:
    """The arguments of a lambda, the variables of a sum."""
    if isinstance(node, ast.Lambda):
        return [argument.arg for argument in node.args.args]
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return [g.target.id for g in node.generators if isinstance(g.target, ast.Name)]
    return []


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
    elif isinstance(node, ast.Call) and len(node.args) == 1 and _callee(node) not in KEPT_CALLS:
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


def _callee(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
