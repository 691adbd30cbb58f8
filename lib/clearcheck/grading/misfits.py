"""Words for an operation that shapes forbid, as `failing_operation` tells it: "(4, 7) @ (4, 5) cannot be"."""

import ast
import itertools

from clearcheck.worker.failing_operation import shapes_alone
from clearcheck.worker.shapes import CANNOT_BE, Shape, broadcast

BY_CALL = {
    "reshape": "A reshape asks for more numbers, or for fewer, than there are.",
    "concatenate": "What is joined differs along an axis that is not the one of the joint.",
    "where": "A mask and what it hides have shapes that do not fit: look at which axes the mask should have.",
    "einsum": "A letter of einsum stands for two sizes, or there are not as many letters as axes.",
}
NO_AXIS = "An axis is named that the array does not have."
NO_PRODUCT = "The two sizes that meet in a product are not equal"


def why_shapes_misfit(operation: str, how: str = "function") -> str:
    """A sentence without sizes, the same in every call; an empty text where shapes are not to blame."""
    if not shapes_alone(operation):
        return ""
    told = operation.removesuffix(CANNOT_BE)
    name, bracket, _ = told.partition("(")
    if bracket and name:
        return BY_CALL.get(name, NO_AXIS)
    match ast.parse(told, mode="eval").body:
        case ast.BinOp(left, ast.MatMult(), right):
            return _product(ast.literal_eval(left), ast.literal_eval(right))
        case ast.BinOp(left, _, right):
            return _entry_by_entry(ast.literal_eval(left), ast.literal_eval(right), how)
    return ""


def _product(left: Shape, right: Shape) -> str:
    if len(left) < 2 or len(right) < 2:
        return f"{NO_PRODUCT}."
    (n, k), (m, p) = left[-2:], right[-2:]
    ways = {
        "its second factor transposed": k == p,
        "its first factor transposed": n == m,
        "its factors exchanged": p == n,
    }
    fits = [way for way, fit in ways.items() if fit]
    return f"{NO_PRODUCT}; they would be with {' or with '.join(fits)}." if fits else f"{NO_PRODUCT}."


def _entry_by_entry(left: Shape, right: Shape, how: str) -> str:
    long, short = (left, right) if len(left) >= len(right) else (right, left)
    missing = len(long) - len(short)
    for places in itertools.combinations(range(len(long)), missing) if missing else ():
        sizes = iter(short)
        if broadcast(long, tuple(1 if place in places else next(sizes) for place in range(len(long)))) == long:
            word = "keepdims" if how == "function" else "keepdim"
            return f"The two do not fit, since one of them has lost an axis: {word}=True keeps it, with length 1."
    if len(left) > 1 and left[:-2] == right[:-2] and left[-2:] == right[-2:][::-1]:
        return "The two would fit with one of them transposed."
    return "Two arrays meet entry by entry whose shapes do not fit."
