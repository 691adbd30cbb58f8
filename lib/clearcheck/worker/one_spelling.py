"""An expression in one of its spellings: shapes for arrays, numbers for sizes, `a @ b` for `np.matmul(a, b)`."""

import ast
import operator
import sys
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np

from clearcheck.worker.shape_results import result_of
from clearcheck.worker.shapes import REDUCTIONS, Shape, array_name, kind_of, shape_of, shape_slip, whole_numbers

LIBRARIES = ("numpy", "torch")
OPERATORS: dict[str, type[ast.operator]] = {
    **dict.fromkeys(("matmul", "mm", "bmm", "__matmul__"), ast.MatMult),
    **dict.fromkeys(("add", "__add__"), ast.Add),
    **dict.fromkeys(("sub", "subtract", "__sub__"), ast.Sub),
    **dict.fromkeys(("mul", "multiply", "__mul__"), ast.Mult),
    **dict.fromkeys(("div", "divide", "true_divide", "__truediv__"), ast.Div),
}
ONE_NAME = {"view": "reshape", "cat": "concatenate", "concat": "concatenate"}
SAME = {"contiguous", "copy", "clone", "detach", "asarray", "ascontiguousarray"}  # nothing is computed
FIRST, SECOND = ("input", "a", "x1", "x", "tensors"), ("other", "b", "x2", "mat2")  # what libraries call operands
WORDS = {"dim": "axis", "keepdim": "keepdims"}
FOLDED: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class OneSpelling(ast.NodeTransformer):
    """Puts what a name holds, an array's kind and shape or a whole number, in its place, and a call into one form."""

    def __init__(self, names: Mapping):
        self.names = names
        torch = sys.modules.get("torch")
        self._depth = 0
        self.arrays = {np.ndarray} | ({torch.Tensor, torch.nn.Parameter} if torch else set())

    def visit(self, node: ast.AST) -> ast.AST:
        """A part of what failed has not failed itself: where its shape is known, that is told."""
        self._depth += 1
        made = super().visit(node)
        self._depth -= 1
        return (result_of(made) if self._depth else None) or made

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.names.get(node.id)
        if _is_from_a_library(value):
            return ast.Name(value.__name__)
        return self._stand_in(value) or node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        stand_in = self._stand_in(self._held(node))
        if stand_in is not None:
            return stand_in
        self.generic_visit(node)
        shape = shape_of(node.value)
        if shape is None:
            return node
        if node.attr in ("T", "mT") and len(shape) > 1:
            return array_name(kind_of(node.value), _turned(shape, node.attr == "mT"))
        if node.attr == "shape":
            return ast.Tuple([ast.Constant(size) for size in shape])
        return ast.Constant(len(shape)) if node.attr == "ndim" else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """A size, or some of them, out of a shape."""
        self.generic_visit(node)
        if not isinstance(node.value, ast.Tuple):
            return node
        if isinstance(node.slice, ast.Constant):
            sizes, place = node.value.elts, node.slice.value
            if -len(sizes) <= place < len(sizes):
                return sizes[place]
            return ast.Subscript(array_name("shape", whole_numbers(sizes) or ()), node.slice)
        if isinstance(node.slice, ast.Slice) and node.slice.step is None:
            ends = (node.slice.lower, node.slice.upper)
            start, stop = (end.value if isinstance(end, ast.Constant) else None for end in ends)
            return ast.Tuple(node.value.elts[start:stop])
        return node

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        self.generic_visit(node)
        return ast.Tuple(_without_stars(node.elts))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        number = whole_numbers([node.operand])
        return ast.Constant(-number[0]) if number and isinstance(node.op, ast.USub) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        numbers, fold = whole_numbers([node.left, node.right]), FOLDED.get(type(node.op))
        return ast.Constant(fold(*numbers)) if numbers and fold else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """As an array, where one is compared with a number."""
        self.generic_visit(node)
        shapes = [shape_of(part) for part in (node.left, *node.comparators)]
        found = [shape for shape in shapes if shape is not None]
        return array_name("b", found[0]) if len(found) == 1 else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        of_a_library = self._is_module(node.func.value) if isinstance(node.func, ast.Attribute) else False
        self.generic_visit(node)
        args = _without_stars(node.args)
        match node.func:
            case ast.Attribute(_, name) if of_a_library:
                pass
            case ast.Attribute(value, name) if shape_of(value) is not None:
                args.insert(0, value)
            case ast.Name(name):
                pass
            case _:
                return node
        words = {WORDS.get(word.arg or "", word.arg): word.value for word in node.keywords}
        return _one_form(ONE_NAME.get(name, name), args, words)

    def _is_module(self, node: ast.AST) -> bool:
        held = self._held(node)
        return isinstance(held, ModuleType) and held.__name__.split(".")[0] in LIBRARIES

    def _held(self, node: ast.AST) -> object:
        """What stands under a name or an attribute, as far as it can be seen without running any code."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if not isinstance(node, ast.Attribute):
            return None
        owner = self._held(node.value)
        try:
            inside = object.__getattribute__(owner, "__dict__")
        except AttributeError:
            return None
        places = [inside, *(inside.get(name) for name in ("_parameters", "_buffers", "_modules"))]
        return next((place[node.attr] for place in places if type(place) is dict and node.attr in place), None)

    def _stand_in(self, value: object) -> ast.expr | None:
        if type(value) is int:
            return ast.Constant(value)
        if type(value) not in self.arrays:
            return None
        kind = value.dtype.kind if isinstance(value, np.ndarray) else value.dtype
        return array_name(str(kind), tuple(value.shape))


def _is_from_a_library(value) -> bool:
    if isinstance(value, BuiltinFunctionType | np.ufunc):
        return True
    kind = (FunctionType, type(np.concatenate))
    return isinstance(value, kind) and (value.__module__ or "").split(".")[0] in LIBRARIES


def _one_form(name: str, args: list, words: dict) -> ast.expr:
    """A call with its operands in front, and as an operator where there is one."""
    for place, known in enumerate((FIRST, SECOND)):
        given = [word for word in words if word in known]
        if len(args) == place and len(given) == 1:
            args.append(words.pop(given[0]))
    if name in SAME and len(args) == 1:
        return args[0]
    if name in ("size", "len") and (counted := _sizes(name, args)) is not None:
        return counted
    if not words:
        operation = _operation(name, args)
        if operation is not None:
            return operation
        shape = _moved(name, args)
        if shape is not None:
            return array_name(kind_of(args[0]), shape)
    if name == "masked_fill" and len(args) > 1:
        name, args = "where", [args[1], args[0], *args[2:]]
    if name in REDUCTIONS | {"concatenate"} and len(args) == 2:
        words = {**words, "axis": args.pop()}
    if name == "reshape" and (sizes := whole_numbers(args[1:])):
        args = [args[0], ast.Tuple([ast.Constant(size) for size in sizes])]
    return ast.Call(ast.Name(name), args, [ast.keyword(word, value) for word, value in sorted(words.items())])


def _without_stars(nodes: list[ast.expr]) -> list[ast.expr]:
    """`*x.shape[:2], 4` as three numbers."""
    opened = [
        node.value.elts if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple) else [node]
        for node in nodes
    ]
    return [node for part in opened for node in part]


def _sizes(name: str, args: list) -> ast.expr | None:
    """What `len(x)`, `x.size()` and `x.size(1)` give."""
    shape, axis = shape_of(args[0]) if args else None, whole_numbers(args[1:])
    if not shape or axis is None or any(not -len(shape) <= place < len(shape) for place in axis):
        return None
    if name == "size" and not axis:
        return ast.Tuple([ast.Constant(size) for size in shape])
    return ast.Constant(shape[axis[0] if axis else 0])


def _operation(name: str, args: list) -> ast.expr | None:
    """The operator that a function of two operands is, or the product that fails in a linear map."""
    if name == "linear" and len(args) in (2, 3) and len(shape_of(args[1]) or ()) == 2:
        product = ast.BinOp(args[0], ast.MatMult(), array_name(kind_of(args[1]), _turned(shape_of(args[1]) or ())))
        return product if shape_slip(product) else None
    if len(args) != 2:
        return None
    if name == "dot" and all(len(shape_of(arg) or ()) < 3 for arg in args):
        name = "matmul"
    return ast.BinOp(args[0], OPERATORS[name](), args[1]) if name in OPERATORS else None


def _moved(name: str, args: list) -> Shape | None:
    """The shape of an array whose axes a function exchanges; None where it is no such function."""
    shape, axes = shape_of(args[0]) if args else None, whole_numbers(args[1:])
    if shape is None or axes is None or any(not -len(shape) <= axis < len(shape) for axis in axes):
        return None
    axes = tuple(axis % len(shape) for axis in axes)
    if name in ("t", "transpose") and not axes:
        return _turned(shape)
    exchanges = name in ("swapaxes", "swapdims") or (name == "transpose" and kind_of(args[0]).startswith("torch"))
    if exchanges and len(axes) == 2:
        order = list(range(len(shape)))
        order[axes[0]], order[axes[1]] = axes[1], axes[0]
        return tuple(shape[place] for place in order)
    if name in ("transpose", "permute") and sorted(axes) == list(range(len(shape))):
        return tuple(shape[axis] for axis in axes)
    return None


def _turned(shape: Shape, last: bool = False) -> Shape:
    """With the axes in the inverse order, or the last two exchanged."""
    return (*shape[:-2], shape[-1], shape[-2]) if last else shape[::-1]
