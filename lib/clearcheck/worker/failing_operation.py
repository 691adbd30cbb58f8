"""The expression of the learner's code that raised, with shapes in place of names: `K @ Q` is "f(4, 7) @ f(4, 5)".

Two answers that hold the same mistake seldom use the same names, and `np.matmul(K, Q)` says what `K @ Q` says: of all
spellings one is told. Where the shapes alone show why it failed, nothing else is told, not even whose arrays they are:
"(4, 7) @ (4, 5) cannot be". Nothing of the learner's is run again: the text of the expression and the values of its
names are only looked at.
"""

import ast
import itertools
import linecache
from types import TracebackType

from clearcheck.worker.one_spelling import OneSpelling
from clearcheck.worker.shapes import CANNOT_BE, shape_of, shape_slip

ON_PURPOSE = "raise"


def failing_operation(trace: TracebackType | None) -> str:
    """What failed in the frame of `trace`: `ON_PURPOSE` for a `raise`, an empty text where no array takes part."""
    try:
        failed = _parse(_failing_text(trace))
        if isinstance(failed, ast.Raise):
            return ON_PURPOSE
        told = OneSpelling({**trace.tb_frame.f_globals, **trace.tb_frame.f_locals}).visit(failed)
        arrays = any(shape_of(node) is not None for node in ast.walk(told))
        return shape_slip(told) or (ast.unparse(told) if arrays else "")
    except Exception:  # no frame, no source, a part of a statement, or something odd of the learner's
        return ""


def shapes_alone(operation: str) -> bool:
    """Whether an operation failed for its shapes, whatever the words and the type of the exception."""
    return operation.endswith(CANNOT_BE)


def _parse(text: str) -> ast.AST:
    """The expression, which may go over several lines, or the statement."""
    try:
        return ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        return ast.parse(text).body[0]


def _failing_text(trace: TracebackType) -> str:
    """The source of the failing instruction, from the positions that Python keeps for its tracebacks."""
    code = trace.tb_frame.f_code
    first, last, left, right = next(itertools.islice(code.co_positions(), trace.tb_lasti // 2, None))
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(first, last + 1)]
    lines[-1] = lines[-1][:right]  # the columns count bytes
    lines[0] = lines[0][left:]
    return b"".join(lines).decode()
