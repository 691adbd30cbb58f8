"""The weights of a model in an ONNX file, by the names that its layers had, read without a package for ONNX."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

# Numbers of the fields in onnx.proto
MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_TENSOR = 1, 5
NODE_INPUT, NODE_NAME, NODE_KIND = 1, 3, 4
TENSOR_SIDES, TENSOR_TYPE, TENSOR_NAME, TENSOR_BYTES = 1, 2, 8, 9
FLOAT32 = 1
NUMBER, BYTES = 0, 2  # how the value of a field is written
FIXED = {1: 8, 5: 4}  # bytes of what is neither


def read_onnx(path: Path) -> dict[str, Tensor]:
    """Every float32 tensor of the file by its name.

    A matrix of a linear layer has lost its name in the export. It is named after the product that it enters, and turned
    round, so that it is the ``weight`` of an `nn.Linear`.

    Raises: ValueError for a file that is cut off, or that is not ONNX.
    """
    try:
        graph = dict(_fields(memoryview(path.read_bytes())))[MODEL_GRAPH]
        parts = list(_fields(graph))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"read_onnx: {path.name} is not a whole ONNX file: {error}.") from error
    tensors = dict(filter(None, (_tensor(part) for kind, part in parts if kind == GRAPH_TENSOR)))
    for kind, part in parts:
        if kind == GRAPH_NODE and (renamed := _matrix_of(part)):
            old, new = renamed
            if old in tensors:
                tensors[new] = tensors.pop(old).T.contiguous()
    return tensors


def _tensor(part: memoryview) -> tuple[str, Tensor] | None:
    sides: list[int] = []
    found: dict[int, Any] = {}
    for kind, value in _fields(part):
        if kind == TENSOR_SIDES:
            sides.append(value)
        else:
            found[kind] = value
    if found.get(TENSOR_TYPE) != FLOAT32 or TENSOR_BYTES not in found:
        return None
    numbers = np.frombuffer(found[TENSOR_BYTES], dtype="<f4").reshape(sides)
    return bytes(found[TENSOR_NAME]).decode(), torch.from_numpy(numbers.copy())


def _matrix_of(part: memoryview) -> tuple[str, str] | None:
    """For a product such as ``/layer.0/query/MatMul`` the tensor that it takes, and ``layer.0.query.weight``."""
    inputs: list[str] = []
    found: dict[int, str] = {}
    for kind, value in _fields(part):
        if kind == NODE_INPUT:
            inputs.append(bytes(value).decode())
        elif kind in (NODE_NAME, NODE_KIND):
            found[kind] = bytes(value).decode()
    if found.get(NODE_KIND) != "MatMul" or len(inputs) != 2:
        return None
    layer = found[NODE_NAME].strip("/").replace("/", ".").removesuffix(".MatMul")
    return inputs[1], f"{layer}.weight"


def _fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a protobuf message: number and value, a whole number or bytes."""
    at = 0
    while at < len(data):
        key, at = _number(data, at)
        kind = key & 7
        if kind == NUMBER:
            value, at = _number(data, at)
            yield key >> 3, value
            continue
        if kind == BYTES:
            size, at = _number(data, at)
        elif kind in FIXED:
            size = FIXED[kind]
        else:
            raise ValueError(f"a field of the unknown kind {kind}")
        if at + size > len(data):
            raise ValueError(f"it ends {at + size - len(data):,} bytes early")
        yield key >> 3, data[at : at + size]
        at += size


def _number(data: memoryview, at: int) -> tuple[int, int]:
    """A whole number, written seven bits a byte, and where it ends."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
