"""The expression of the learner's code that raised, with shapes in place of names: `K @ Q` is "f(4, 7) @ f(4, 5)".

Two answers that hold the same mistake seldom use the same names. Nothing of the learner's is run again: the text of
the expression and the values of its names are only looked at.
"""

import ast
import itertools
import linecache
import sys
from collections.abc import Mapping
from types import TracebackType

import numpy as np

ON_PURPOSE = "raise"


def failing_operation(trace: TracebackType | None) -> str:
    """What failed in the frame of `trace`: `ON_PURPOSE` for a `raise`, an empty text where no array takes part."""
    try:
        tree = ast.parse(_failing_text(trace))
        if isinstance(tree.body[0], ast.Raise):
            return ON_PURPOSE
        shapes = _Shapes({**trace.tb_frame.f_globals, **trace.tb_frame.f_locals})
        told = ast.unparse(shapes.visit(tree))
        return told if shapes.found else ""
    except Exception:  # no frame, no source, a part of a statement, or something odd of the learner's
        return ""


def _failing_text(trace: TracebackType) -> str:
    """The source of the failing instruction, from the positions that Python keeps for its tracebacks."""
    code = trace.tb_frame.f_code
    first, last, left, right = next(itertools.islice(code.co_positions(), trace.tb_lasti // 2, None))
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(first, last + 1)]
    lines[-1] = lines[-1][:right]  # the columns count bytes
    lines[0] = lines[0][left:]
    return b"".join(lines).decode()


class _Shapes(ast.NodeTransformer):
    """Puts what a name holds, an array's kind and shape or a whole number, in the place of the name."""

    def __init__(self, names: Mapping):
        self.names = names
        self.found = False  # any array

    def visit_Name(self, node: ast.Name) -> ast.Name:
        value = self.names.get(node.id)
        if type(value) is int:
            return ast.Name(repr(value))
        if type(value) not in (np.ndarray, getattr(sys.modules.get("torch"), "Tensor", np.ndarray)):
            return node
        self.found = True
        kind = value.dtype.kind if isinstance(value, np.ndarray) else value.dtype
        return ast.Name(f"{kind}{tuple(value.shape)}")

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`np.matmul(a, b)` and `torch.matmul(a, b)` as `a @ b`."""
        match self.generic_visit(node):
            case ast.Call(ast.Attribute(attr="matmul" | "dot"), [left, right]):
                return ast.BinOp(left, ast.MatMult(), right)
            case other:
                return other
