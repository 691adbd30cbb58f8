"""The values that may cross between a learner's code and the grader: exact, plain, and without pickle.

A frame is a length, a JSON tree and the raw bytes of its arrays. Whatever is no number, truth value, text, None,
array, tuple, list, dict or `GivenFunction` crosses as `UnsupportedValue`, so that a foreign object never meets a
comparison.
"""

import json
import sys
from dataclasses import dataclass

import numpy as np

from clearcheck.worker.limits import MAX_BYTES, MAX_DEPTH, MAX_NODES, MAX_TEXT, MAX_TEXTS, MAX_TREE

MAX_INT_BITS = 63
LENGTH = 8  # bytes of the length in front of the JSON tree
DTYPES = {"bool", "complex64", "complex128", "float16", "float32", "float64"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
NAMES = {np.dtype(name): name for name in DTYPES}  # a look-up, since dtype.name is slow
GIVEN_FUNCTIONS = ("cos", "sin", "tanh")
LITTLE = {name: np.dtype(name).newbyteorder("<") for name in DTYPES}


@dataclass(frozen=True)
class UnsupportedValue:
    """Stands for a value that cannot cross; `what` completes the sentence "returned …"."""

    what: str


@dataclass(frozen=True)
class GivenFunction:
    """One of NumPy's functions of each number, as an argument of the learner's function; it crosses by its name."""

    name: str

    def __post_init__(self):
        if self.name not in GIVEN_FUNCTIONS:
            raise ValueError(f"GivenFunction({self.name!r}): {', '.join(GIVEN_FUNCTIONS)} can be given.")

    def __call__(self, X):
        return getattr(np, self.name)(X)

    def __repr__(self) -> str:
        return f"np.{self.name}"


def canonical(value):
    """The value as it looks after crossing: fresh base arrays, plain containers, `UnsupportedValue` for the rest."""
    return unpack(pack(value))


def pack(value) -> bytes:
    writer = _Writer()
    try:
        tree = writer.tree(value, MAX_DEPTH)
    except _TooLarge as problem:
        writer = _Writer()
        tree = ["unsupported", str(problem)]
    header = json.dumps(tree).encode()
    return len(header).to_bytes(LENGTH, "big") + header + b"".join(writer.buffers)


def unpack(data: bytes):
    """Raises: ValueError on bytes that `pack` would not write."""
    header_end = LENGTH + int.from_bytes(data[:LENGTH], "big")
    if header_end > LENGTH + MAX_TREE:
        raise ValueError("malformed value (too long)")
    try:
        return _Reader(memoryview(data)[header_end:]).value(json.loads(data[LENGTH:header_end]))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise ValueError(f"malformed value ({type(error).__name__})") from None


class _TooLarge(Exception):
    pass


class _Writer:
    def __init__(self):
        self.buffers: list[bytes] = []
        self.size = 0
        self.characters = 0
        self.nodes = 0

    def tree(self, value, depth: int) -> list:
        self.nodes += 1
        if depth == 0 or self.nodes > MAX_NODES:
            raise _TooLarge("a container with too many or too deeply nested entries")
        if isinstance(value, np.ndarray | np.generic) and (value.dtype in NAMES or _native_order(value.dtype) in NAMES):
            return self._array(value)
        if isinstance(value, np.ndarray) and value.dtype.kind == "U" and value.size <= MAX_NODES:
            return self.tree(np.ndarray.tolist(value), depth)  # an array of texts is a list of texts
        if type(value) is UnsupportedValue:
            return ["unsupported", value.what]
        if type(value) is GivenFunction:
            return ["function", value.name]
        if value is None:
            return ["none"]
        if isinstance(value, bool):
            return ["bool", value is True]
        # The base classes' own methods are called, since a subclass may answer with anything.
        if isinstance(value, int):
            return self._int(value)
        if isinstance(value, float):
            return ["float", float.hex(value)]
        if isinstance(value, complex):
            return self._array(np.complex128(complex.__add__(value, 0)))
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, tuple | list | dict):
            return self._container(value, depth)
        return self._foreign_value(value)

    def _array(self, value) -> list:
        # ndarray.view on the base class drops a subclass without running its code.
        base = np.ndarray.view(value, np.ndarray) if isinstance(value, np.ndarray) else np.asarray(value)
        self._grow(base.nbytes)
        if base.dtype not in NAMES:
            base = base.astype(_native_order(base.dtype))
        data = (base if sys.byteorder == "little" else base.byteswap()).tobytes()
        self.buffers.append(data)
        kind = "scalar" if isinstance(value, np.generic) else "array"
        return [kind, NAMES[base.dtype], list(base.shape), len(data)]

    def _int(self, value: int) -> list:
        if int.bit_length(value) > MAX_INT_BITS:
            return ["unsupported", f"a whole number of more than {MAX_INT_BITS} bits"]
        return ["int", int.__repr__(value)]

    def _text(self, value: str) -> list:
        self.characters += str.__len__(value)
        if self.characters > MAX_TEXTS:
            raise _TooLarge(f"texts of more than {MAX_TEXTS:,} characters")
        return ["str", str.encode(value, errors="replace").decode()]

    def _container(self, value, depth: int) -> list:
        if isinstance(value, dict):
            pairs = list(dict.items(value))
            if not all(type(key) is str for key, _ in pairs):
                return ["unsupported", "a dict with a key that is no text"]
            return ["dict", [[self._text(key)[1], self.tree(entry, depth - 1)] for key, entry in pairs]]
        base = tuple if isinstance(value, tuple) else list
        return [base.__name__, [self.tree(entry, depth - 1) for entry in base.__iter__(value)]]

    def _foreign_value(self, value) -> list:
        kind = type(value)
        if isinstance(value, np.ndarray | np.generic):
            return ["unsupported", f"an array of dtype {value.dtype}"[:80]]
        if kind.__module__.split(".")[0] == "torch" and hasattr(value, "detach"):
            try:
                whole = value.detach() if str(value.layout) == "torch.strided" else value.detach().to_dense()
                return self._array(whole.cpu().numpy())
            except (TypeError, RuntimeError):
                return ["unsupported", f"a torch tensor of {value.dtype}"]
        return ["unsupported", f"an object of type {kind.__name__}"[:80]]

    def _grow(self, size: int):
        self.size += size
        if self.size > MAX_BYTES:
            raise _TooLarge(f"more than {MAX_BYTES // 2**20} MB")


class _Reader:
    def __init__(self, buffers: memoryview):
        self.buffers = buffers
        self.offset = 0

    def value(self, tree: list, depth: int = MAX_DEPTH):
        kind, *rest = tree
        if depth == 0:
            raise ValueError("too deep")
        if kind in ("array", "scalar"):
            array = self._array(*rest)
            return array[()] if kind == "scalar" else array
        if kind == "none":
            return None
        (content,) = rest
        if kind in ("tuple", "list"):
            entries = [self.value(entry, depth - 1) for entry in content]
            return tuple(entries) if kind == "tuple" else entries
        if kind == "dict":
            return {str(key): self.value(entry, depth - 1) for key, entry in content}
        return _SCALARS[kind](content)

    def _array(self, dtype: str, shape: list, size: int) -> np.ndarray:
        if dtype not in DTYPES or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError("array header")
        data = self.buffers[self.offset : self.offset + size]
        self.offset += size
        array = np.frombuffer(data, LITTLE[dtype]).astype(dtype)  # a writable copy
        return array.reshape(shape)


def _native_order(dtype: np.dtype) -> np.dtype:
    """In this machine's order of bytes."""
    return dtype.newbyteorder("=")


def _bool(content) -> bool:
    if type(content) is not bool:
        raise ValueError("bool")
    return content


def _int(content) -> int:
    value = int(content)
    if value.bit_length() > MAX_INT_BITS:
        raise ValueError("int")
    return value


_SCALARS = {
    "bool": _bool,
    "int": _int,
    "float": float.fromhex,
    "str": str,
    "function": GivenFunction,
    "unsupported": lambda what: UnsupportedValue(str(what)[:MAX_TEXT]),
}
