"""Arrays in an expression as names such as "f(4, 7)", their shapes, and whether those alone forbid an operation.

An expression here is a syntax tree in the one spelling of `one_spelling`.
"""

import ast
import math
import re
from collections.abc import Sequence

CANNOT_BE = " cannot be"
SIGNS: dict[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@"}
Shape = tuple[int, ...]


def array_name(kind: str, shape: Sequence[int]) -> ast.Name:
    return ast.Name(f"{kind}{tuple(shape)}")


def kind_of(node: ast.AST) -> str:
    return node.id.partition("(")[0] if isinstance(node, ast.Name) else ""


def shape_of(node: ast.AST) -> Shape | None:
    """The shape of an array in the place of a name, None for all else."""
    if isinstance(node, ast.Name) and node.id.endswith(")"):
        return ast.literal_eval(node.id[node.id.index("(") :])
    return None


def whole_numbers(nodes: Sequence[ast.AST]) -> Shape | None:
    """What constants say, or None where one of them is no whole number; a single tuple or list stands for its own."""
    if len(nodes) == 1 and isinstance(nodes[0], ast.Tuple | ast.List):
        nodes = nodes[0].elts
    values = [node.value for node in nodes if isinstance(node, ast.Constant) and type(node.value) is int]
    return tuple(values) if len(values) == len(nodes) else None


def shape_slip(node: ast.AST) -> str:
    """The operation by its shapes alone, where they forbid it; else an empty text."""
    match node:
        case ast.BinOp(left, op, right) | ast.AugAssign(left, op, right) if type(op) in SIGNS:
            told = _binary(shape_of(left), SIGNS[type(op)], shape_of(right))
        case ast.Call(ast.Name(name), args, keywords) if name in CALLS:
            told = CALLS[name](name, args, {word.arg: word.value for word in keywords})
        case _:
            return ""
    return told + CANNOT_BE if told else ""


def _binary(left: Shape | None, sign: str, right: Shape | None) -> str:
    if left is None or right is None:
        return ""
    possible = _has_product(left, right) if sign == "@" else broadcast(left, right) is not None
    return "" if possible else f"{left} {sign} {right}"


def _has_product(left: Shape, right: Shape) -> bool:
    if not left or not right:
        return False
    return left[-1] == right[-2 if len(right) > 1 else 0] and broadcast(left[:-2], right[:-2]) is not None


def broadcast(*shapes: Shape) -> Shape | None:
    """The shape that these give together; None where they do not fit."""
    longest = max(map(len, shapes))
    padded = [(1,) * (longest - len(shape)) + shape for shape in shapes]
    found = [set(sizes) - {1} for sizes in zip(*padded, strict=True)]
    return None if any(len(sizes) > 1 for sizes in found) else tuple(max(sizes, default=1) for sizes in found)


def _reshape(name: str, args: list, options: dict) -> str:
    shape, wanted = shape_of(args[0]), whole_numbers(args[1:])
    if shape is None or wanted is None or options:
        return ""
    known = math.prod(size for size in wanted if size != -1)
    size = math.prod(shape)
    fits = size == known if -1 not in wanted else known and size % known == 0
    return "" if fits else f"reshape({shape}, {wanted})"


def _reduction(name: str, args: list, options: dict) -> str:
    shape, axes = shape_of(args[0]), whole_numbers([options["axis"]] if "axis" in options else [])
    if shape is None or not axes or all(-len(shape) <= axis < len(shape) for axis in axes):
        return ""
    return f"{name}({shape}, {axes})"


def _concatenate(name: str, args: list, options: dict) -> str:
    parts = args[0].elts if isinstance(args[0], ast.Tuple | ast.List) else []
    found = [shape_of(part) for part in parts]
    shapes = [shape for shape in found if shape is not None]
    axes = whole_numbers([options["axis"]]) if "axis" in options else (0,)
    if not found or len(shapes) < len(found) or not axes:
        return ""
    rank, axis = len(shapes[0]), axes[0]
    if -rank <= axis < rank:
        others = {(*shape[: axis % rank], *shape[axis % rank + 1 :]) for shape in shapes}
        if len(others) == 1 and {len(shape) for shape in shapes} == {rank}:
            return ""
    return f"concatenate({', '.join(map(str, shapes))}, axis {axis})"


def _where(name: str, args: list, options: dict) -> str:
    shapes = [shape for shape in map(shape_of, args) if shape is not None]
    return f"where({', '.join(map(str, shapes))})" if len(shapes) > 1 and broadcast(*shapes) is None else ""


def _einsum(name: str, args: list, options: dict) -> str:
    """With the letters in the order of the alphabet, as they come."""
    shapes = [shape_of(arg) for arg in args[1:]]
    if not isinstance(args[0], ast.Constant) or not isinstance(args[0].value, str) or None in shapes:
        return ""
    text = re.sub(r"\s", "", args[0].value)
    letters = dict.fromkeys(re.findall("[A-Za-z]", text))
    renamed = text.translate({ord(letter): 97 + place for place, letter in enumerate(letters)})
    groups = renamed.partition("->")[0].split(",")
    told = f"einsum({renamed}, {', '.join(map(str, shapes))})"
    if len(groups) != len(shapes):
        return told
    sizes: dict[str, set[int]] = {}
    for group, shape in zip(groups, shapes, strict=True):
        if "." in group:
            return ""
        if len(group) != len(shape or ()):
            return told
        for letter, size in zip(group, shape or (), strict=True):
            sizes.setdefault(letter, set()).add(size)
    return told if any(len(found - {1}) > 1 for found in sizes.values()) else ""


REDUCTIONS = {"sum", "mean", "max", "amax", "min", "amin", "var", "std", "prod", "any", "all", "argmax", "argmin"}
REDUCTIONS |= {"argsort", "sort", "cumsum", "softmax", "log_softmax"}
CALLS = {"reshape": _reshape, "concatenate": _concatenate, "where": _where, "einsum": _einsum} | dict.fromkeys(
    REDUCTIONS, _reduction
)
