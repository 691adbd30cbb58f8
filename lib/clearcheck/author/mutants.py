"""First-order mutants of an answer: its text with one change of its syntax tree, each change once.

`tools/checks/mutations.py` has those of mutmut for the library's own code; here nothing but Python is needed, and the
changes are those of array code: axes, triangles, sums and means.
"""

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass

OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISONS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
PAIRS: tuple[tuple[str, str], ...] = (
    ("min", "max"),
    ("amin", "amax"),
    ("argmin", "argmax"),
    ("minimum", "maximum"),
    ("tril", "triu"),
)
PAIRS += (("sum", "mean"), ("zeros", "ones"), ("zeros_like", "ones_like"), ("any", "all"), ("floor", "ceil"))
NAMES = {**dict(PAIRS), **{other: one for one, other in PAIRS}}

# An exchange of operands or arguments that changes no value is no mutant.
EITHER_WAY = (ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
TEXTS_AND_LISTS = (ast.List, ast.Tuple, ast.JoinedStr, ast.ListComp)
ARGUMENTS_EITHER_WAY = {"max", "min", "maximum", "minimum", "logaddexp", "hypot", "add", "multiply"}
ARGUMENTS_EITHER_WAY |= {"swapaxes", "transpose", "logical_and", "logical_or", "array_equal", "gcd"}


@dataclass(frozen=True)
class Mutant:
    """One changed text; its name says what was changed and outlives edits elsewhere in the answer."""

    name: str
    source: str


def mutants_of(source: str) -> list[Mutant]:
    """Every mutant of the text of a function or class, without those that read the same. Raises: SyntaxError."""
    tree = ast.parse(source)
    before = ast.unparse(tree)
    found: dict[str, Mutant] = {}
    for place, node in enumerate(ast.walk(tree)):
        for changed in _changes(node):
            copy = deepcopy(tree)
            _put(copy, place, changed)
            text = ast.unparse(ast.fix_missing_locations(copy))
            if text != before:
                found.setdefault(text, Mutant(_name(before, text), text))
    return list(found.values())


def _put(tree: ast.AST, place: int, changed: ast.AST):
    """Put a node where the walk through the tree comes to it at this place."""
    old = list(ast.walk(tree))[place]
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, field, changed)
            elif isinstance(value, list):
                value[:] = [changed if entry is old else entry for entry in value]


def _name(before: str, after: str) -> str:
    """The lines that differ, as in an edit of `wrong.edits`."""
    old, new = before.splitlines(), after.splitlines()
    start = next((i for i, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
    end = next(
        (
            i
            for i, (one, other) in enumerate(zip(reversed(old[start:]), reversed(new[start:]), strict=False))
            if one != other
        ),
        0,
    )
    gone, came = old[start : len(old) - end], new[start : len(new) - end]
    line = f"line {start + 1}: " + " / ".join(map(str.strip, gone))
    return f"{line} → {' / '.join(map(str.strip, came))}"


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    for kind, changes in _CHANGES:
        if isinstance(node, kind):
            yield from changes(node)


def _operators(node) -> Iterator[ast.AST]:
    other = OPERATORS.get(type(node.op))
    if other is not None:
        yield _with(node, op=other())
    if isinstance(node, ast.BinOp):
        yield node.left
        if not _is_commutative(node):
            yield _with(node, left=node.right, right=node.left)


def _is_commutative(node: ast.BinOp) -> bool:
    """Whether the operands may change places: a sum of numbers, and no texts or lists that are joined."""
    if not isinstance(node.op, ast.Add):
        return isinstance(node.op, EITHER_WAY)
    sides = [part for side in (node.left, node.right) for part in ast.walk(side)]
    texts = (isinstance(part, ast.Constant) and isinstance(part.value, str) for part in sides)
    return not any(isinstance(part, TEXTS_AND_LISTS) for part in sides) and not any(texts)


def _augmented(node: ast.AugAssign) -> Iterator[ast.AST]:
    if other := OPERATORS.get(type(node.op)):
        yield _with(node, op=other())
    yield ast.Pass()


def _comparison(node: ast.Compare) -> Iterator[ast.AST]:
    if other := COMPARISONS.get(type(node.ops[0])):
        yield _with(node, ops=[other(), *node.ops[1:]])


def _constant(node: ast.Constant) -> Iterator[ast.AST]:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int | float):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)


def _unary(node: ast.UnaryOp) -> Iterator[ast.AST]:
    yield node.operand


def _choice(node: ast.IfExp) -> Iterator[ast.AST]:
    yield node.body
    yield node.orelse


def _either(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())


def _call(node: ast.Call) -> Iterator[ast.AST]:
    """Without itself, without each keyword, with two arguments exchanged."""
    if isinstance(node.func, ast.Attribute):
        yield node.func.value
    if node.args:
        yield node.args[0]
    for left_out in range(len(node.keywords)):
        yield _with(node, keywords=node.keywords[:left_out] + node.keywords[left_out + 1 :])
    if getattr(node.func, "attr", getattr(node.func, "id", "")) in ARGUMENTS_EITHER_WAY:
        return
    for first in range(len(node.args) - 1):
        swapped = list(node.args)
        swapped[first], swapped[first + 1] = swapped[first + 1], swapped[first]
        yield _with(node, args=swapped)


def _attribute(node: ast.Attribute) -> Iterator[ast.AST]:
    if node.attr in NAMES:
        yield _with(node, attr=NAMES[node.attr])
    if node.attr in ("T", "mT"):
        yield node.value


def _name_of_a_pair(node: ast.Name) -> Iterator[ast.AST]:
    if node.id in NAMES and isinstance(node.ctx, ast.Load):
        yield _with(node, id=NAMES[node.id])


def _condition(node) -> Iterator[ast.AST]:
    yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))


def _statement(node: ast.Assign | ast.Expr) -> Iterator[ast.AST]:
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):  # a docstring does nothing
        yield ast.Pass()


def _with(node: ast.AST, **changes) -> ast.AST:
    """The node with other fields; what is put in stands there as a copy."""
    copy = type(node)(**{field: deepcopy(changes.get(field, value)) for field, value in ast.iter_fields(node)})
    return ast.copy_location(copy, node)


_CHANGES: tuple[tuple[type | tuple[type, ...], Callable], ...] = (
    (ast.BinOp, _operators),
    (ast.AugAssign, _augmented),
    (ast.Compare, _comparison),
    (ast.Constant, _constant),
    (ast.UnaryOp, _unary),
    (ast.IfExp, _choice),
    (ast.BoolOp, _either),
    (ast.Call, _call),
    (ast.Attribute, _attribute),
    (ast.Name, _name_of_a_pair),
    ((ast.If,), _condition),
    ((ast.Assign, ast.Expr), _statement),
)
