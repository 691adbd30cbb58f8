"""What an exception came from: the operation that failed and what went into it, told by shapes and not by names.

Two answers that hold the same mistake seldom spell it alike; `K @ Q` and `keys.dot(queries)` fail at the same
operation, a product of the same two shapes. Only what can be read off a frame without running the learner's code
again is told: names, constants, arithmetic and NumPy functions of plain arrays, the same for tensors, and PyTorch's own
layers by their kind.
"""

import ast
import itertools
import linecache
import math
import operator
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.MatMult: operator.matmul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
PLAIN = (np.ndarray, np.float64, np.int64, np.bool_, int, float, bool, str, slice, type(None), type(...))
LONGEST = 1000  # entries of a list that are looked at
PURE = {
    "abs", "all", "any", "arange", "argmax", "argmin", "argsort", "array", "array_split", "asarray", "astype", "clip",
    "concatenate", "copy", "cumsum", "diag", "dot", "einsum", "exp", "expand_dims", "eye", "flatten", "flip", "full",
    "hstack", "log", "matmul", "max", "maximum", "mean", "min", "minimum", "moveaxis", "ones", "ones_like", "outer",
    "ravel", "repeat", "reshape", "roll", "shape", "split", "sqrt", "square", "squeeze", "stack", "std", "sum",
    "swapaxes", "tanh", "tile", "transpose", "tril", "triu", "var", "vstack", "where", "zeros", "zeros_like",
}  # fmt: skip
MATHS = {"len", *(name for name in vars(math) if not name.startswith("_"))}
FIELDS = ("T", "mT", "shape", "size", "ndim", "dtype")
PRODUCTS, PRODUCT, ON_PURPOSE = ("matmul", "dot", "bmm"), "@", "raise"


class _Unknown(Exception):
    pass


def operation(error: BaseException, scope: dict | None) -> str:
    """The operation of the learner's code that raised, such as "@ f(4, 5) f(7, 4)", or an empty text."""
    try:
        frame, index = _last_place(error, scope)
        return _described(_failing(frame, index), frame)
    except Exception:  # anything odd in the learner's frame means that nothing is told
        return ""


def _last_place(error, scope):
    trace, places = error.__traceback__, []
    while trace is not None:
        places += [(trace.tb_frame, trace.tb_lasti)] if _belongs(trace.tb_frame.f_globals, scope) else []
        trace = trace.tb_next
    return places[-1]


def _belongs(names: dict, scope) -> bool:
    """Whether a frame is of the notebook itself or, for a known mistake, of the folder of its exercise."""
    folders = [Path(found["__file__"]).parent for found in (names, scope or {}) if found.get("__file__")]
    return names is scope or (len(folders) == 2 and folders[0] == folders[1])


def _failing(frame, index: int) -> ast.AST:
    """The syntax tree of what the instruction stands for, from the positions that Python keeps for its tracebacks."""
    first, last, left, right = next(itertools.islice(frame.f_code.co_positions(), index // 2, None))
    lines = [linecache.getline(frame.f_code.co_filename, number).encode() for number in range(first, last + 1)]
    lines[-1] = lines[-1][:right]  # the columns count bytes
    lines[0] = lines[0][left:]
    text = b"".join(lines).decode()
    try:
        return ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        return ast.parse(text).body[0]


def _described(node: ast.AST, frame) -> str:
    if isinstance(node, ast.Raise):
        return ON_PURPOSE
    if isinstance(node, ast.BinOp | ast.AugAssign):
        left, right = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        sign = PRODUCT if isinstance(node.op, ast.MatMult) else type(node.op).__name__
        return _line(sign, [_value(left, frame), _value(right, frame)])
    if isinstance(node, ast.Subscript):
        return _line("[]", [_value(node.value, frame), _value(node.slice, frame)])
    return _call(node, frame)  # anything but a call has no `func`, and is not described


def _call(node: ast.Call, frame) -> str:
    name, owner = _called(node, frame)
    values = [_value(argument, frame) for argument in node.args]
    values += [] if owner is None else [owner]
    if name == "einsum" and isinstance(values[0], str):
        values[0] = _without_letters(values[0])
    if name in PRODUCTS and len(values) == 2:
        return _line(PRODUCT, values if owner is None else [owner, values[0]])
    keywords = [f"{keyword.arg}={_shown(_value(keyword.value, frame))}" for keyword in node.keywords]
    return " ".join([_line(name, values), *sorted(keywords)])


def _called(node: ast.Call, frame) -> tuple[str, object]:
    """The name of a function of NumPy, math or Python, or of a method and the plain value that it belongs to."""
    if isinstance(node.func, ast.Name):
        return _foreign(_named(node.func.id, frame)), None
    if not isinstance(node.func, ast.Attribute):
        raise _Unknown
    owner = _named(node.func.value.id, frame) if isinstance(node.func.value, ast.Name) else None
    if isinstance(owner, ModuleType):
        return _foreign(getattr(owner, node.func.attr)), None
    if _is_torch(owner, "nn", "Module"):
        return _layer(getattr(owner, node.func.attr)), None
    return node.func.attr, _value(node.func.value, frame)


def _foreign(function) -> str:
    """The name of a function that is not the learner's own."""
    if isinstance(function, np.ufunc) or function.__module__.split(".")[0] in ("numpy", "math", "builtins", "torch"):
        return function.__name__
    raise _Unknown


def _layer(module) -> str:
    """The kind of a layer of PyTorch's own."""
    if _is_torch(module, "nn", "Module") and type(module).__module__.startswith("torch.nn."):
        return type(module).__name__
    raise _Unknown


def _is_torch(value, *path: str) -> bool:
    """Whether a value belongs to a class of torch, which is only there when the learner's code imported it."""
    kind = sys.modules.get("torch")
    for name in path:
        kind = getattr(kind, name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def _named(name: str, frame):
    places = (frame.f_locals, frame.f_globals, frame.f_builtins)
    return next(place[name] for place in places if name in place)


def _value(node: ast.AST, frame):
    """What a part of the expression was, computed again from the names of the frame. Raises: _Unknown."""
    value = _computed(node, frame)
    if not _plain(value):
        raise _Unknown
    return value


def _plain(value) -> bool:
    """Whether nothing in a value could run code of the learner."""
    if type(value) in (tuple, list):
        return len(value) <= LONGEST and all(map(_plain, value))
    own_tensor = type(value).__module__.startswith("torch") and _is_torch(value, "Tensor")
    return type(value) in PLAIN or isinstance(value, np.dtype) or own_tensor


def _computed(node: ast.AST, frame):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return _named(node.id, frame)
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_value(entry, frame) for entry in node.elts)
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if end is None else _value(end, frame) for end in ends))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, frame)
    if isinstance(node, ast.BinOp):
        return ARITHMETIC[type(node.op)](_value(node.left, frame), _value(node.right, frame))
    if isinstance(node, ast.Subscript):
        return _value(node.value, frame)[_value(node.slice, frame)]
    if isinstance(node, ast.Attribute) and node.attr in FIELDS:
        return getattr(_value(node.value, frame), node.attr)
    if isinstance(node, ast.Call):
        return _pure(node, frame)
    raise _Unknown


def _pure(node: ast.Call, frame):
    name, owner = _called(node, frame)
    if name not in PURE | MATHS or any(keyword.arg == "out" for keyword in node.keywords):
        raise _Unknown
    values = [_value(argument, frame) for argument in node.args]
    keywords = {keyword.arg: _value(keyword.value, frame) for keyword in node.keywords}
    if owner is not None:
        return getattr(owner, name)(*values, **keywords)
    by_name = isinstance(node.func, ast.Name)
    function = _named(node.func.id, frame) if by_name else getattr(_named(node.func.value.id, frame), node.func.attr)
    return function(*values, **keywords)


def _line(sign: str, values: list) -> str:
    return " ".join([sign, *map(_shown, values)])


def _shown(value) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.kind}{value.shape}"
    if _is_torch(value, "Tensor"):
        return f"{value.dtype}{tuple(value.shape)}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_shown, value))})" if len(value) <= 8 else f"{type(value).__name__} of {len(value)}"
    if isinstance(value, slice):
        return f"{_shown(value.start)}:{_shown(value.stop)}:{_shown(value.step)}"
    return "number" if isinstance(value, float) else repr(value)


def _without_letters(subscripts: str) -> str:
    """Einsum's letters in the order in which they come: "kd,dn->kn" and "ij,jm->im" ask for the same."""
    order: dict[str, str] = {}
    subscripts = subscripts.replace(" ", "")
    return re.sub(r"[A-Za-z]", lambda found: order.setdefault(found[0], chr(97 + len(order))), subscripts)
