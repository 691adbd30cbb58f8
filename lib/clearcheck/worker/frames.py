"""Frames on a pipe: a length and a packed dict, checked on arrival."""

from typing import BinaryIO

from clearcheck.worker.limits import MAX_FRAME
from clearcheck.worker.values import LENGTH, pack, unpack


def write_frame(pipe: BinaryIO, message: dict):
    data = pack(message)
    pipe.write(len(data).to_bytes(LENGTH, "big") + data)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> dict | None:
    """The next message, or None where the pipe has ended.

    Raises: ValueError on bytes that are no frame.
    """
    size = pipe.read(LENGTH)
    if len(size) < LENGTH:
        return None
    length = int.from_bytes(size, "big")
    if length > MAX_FRAME:
        raise ValueError(f"a frame of {length} bytes")
    message = unpack(pipe.read(length))
    if not isinstance(message, dict):
        raise ValueError("a frame that is no dict")
    return message
