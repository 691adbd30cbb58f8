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
    """What failed in the frame of `trace`, `ON_PURPOSE` for a `raise`, or an empty text where that cannot be told."""
    try:
        tree = ast.parse(_failing_text(trace))
        if isinstance(tree.body[0], ast.Raise):
            return ON_PURPOSE
        names = {**trace.tb_frame.f_globals, **trace.tb_frame.f_locals}
        return ast.unparse(_Shapes(names).visit(tree))
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

    def visit_Name(self, node: ast.Name) -> ast.Name:
        value = self.names.get(node.id)
        if type(value) is np.ndarray:
            return ast.Name(f"{value.dtype.kind}{value.shape}")
        if type(value) is getattr(sys.modules.get("torch"), "Tensor", np.ndarray):
            return ast.Name(f"{value.dtype}{tuple(value.shape)}")
        return ast.Name(repr(value)) if type(value) is int else node
