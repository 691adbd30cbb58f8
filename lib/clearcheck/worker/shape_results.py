"""The shape of what an operation gives, for those that are common: an expression as in `shapes`."""

import ast
import math

from clearcheck.worker.shapes import (
    REDUCTIONS,
    SIGNS,
    Shape,
    array_name,
    broadcast,
    kind_of,
    shape_of,
    shape_slip,
    whole_numbers,
)

ENTRY_BY_ENTRY = {"exp", "log", "sqrt", "square", "abs", "tanh", "sigmoid", "relu", "gelu", "tril", "triu", "cumsum"}
ENTRY_BY_ENTRY |= {"float", "double", "long", "softmax", "log_softmax", "argsort"}


def result_of(node: ast.AST) -> ast.Name | None:
    """What stands for the result, where its shape is known and it is an array."""
    match node:
        case ast.BinOp(left, op, right):
            shape = _of_two(left, op, right)
            return None if shape is None else array_name(kind_of(left) or kind_of(right), shape)
        case ast.UnaryOp(_, operand) if shape_of(operand) is not None:
            return array_name(kind_of(operand), shape_of(operand) or ())
        case ast.Call(ast.Name(name), [first, *_], keywords) if shape_of(first) is not None and not shape_slip(node):
            shape = _of_call(name, node.args, {word.arg: word.value for word in keywords})
            return None if shape is None else array_name(kind_of(first), shape)
    return None


def _of_two(left: ast.expr, op: ast.operator, right: ast.expr) -> Shape | None:
    one, other = shape_of(left), shape_of(right)
    if one is not None and other is not None:
        if shape_slip(ast.BinOp(left, op, right)) or type(op) not in SIGNS:
            return None
        return _product(one, other) if isinstance(op, ast.MatMult) else broadcast(one, other)
    if one is None and other is None:
        return None
    number = right if other is None else left
    return (one if other is None else other) if isinstance(number, ast.Constant) else None


def _product(left: Shape, right: Shape) -> Shape | None:
    if len(left) < 2 or len(right) < 2:
        return None
    stacked = broadcast(left[:-2], right[:-2])
    return None if stacked is None else (*stacked, left[-2], right[-1])


def _of_call(name: str, args: list, words: dict) -> Shape | None:
    shape = shape_of(args[0]) or ()
    if name in ENTRY_BY_ENTRY:
        return shape
    if name == "where":
        shapes = [found for found in map(shape_of, args) if found is not None]
        return (
            broadcast(*shapes) if len(shapes) == len(args) or isinstance(args[-1], ast.Constant | ast.UnaryOp) else None
        )
    if name == "reshape" and not words:
        return _reshaped(shape, whole_numbers(args[1:]))
    if name in REDUCTIONS and "axis" in words:
        return _reduced(shape, whole_numbers([words["axis"]]), words)
    return None


def _reshaped(shape: Shape, wanted: Shape | None) -> Shape | None:
    if not wanted or wanted.count(-1) > 1:
        return None
    known = math.prod(size for size in wanted if size != -1)
    return tuple(math.prod(shape) // known if size == -1 else size for size in wanted) if known else None


def _reduced(shape: Shape, axes: Shape | None, words: dict) -> Shape | None:
    kept = words.get("keepdims")
    if axes is None or set(words) - {"axis", "keepdims"} or not (kept is None or isinstance(kept, ast.Constant)):
        return None
    gone = {axis % len(shape) for axis in axes}
    if kept is not None and kept.value is True:
        return tuple(1 if place in gone else size for place, size in enumerate(shape))
    return tuple(size for place, size in enumerate(shape) if place not in gone)
