"""Arrays that a function makes empty and fills later, or makes of a list: they have to hold notes as well."""

import contextlib

import numpy as np

from clearcheck.tape_nodes import Node, Traced

MADE = {name: getattr(np, name) for name in ("zeros", "ones", "empty", "full", "array", "asarray")}


@contextlib.contextmanager
def noting_new_arrays():
    """While this lasts, an array that is made empty, to be filled later, and one made of a list can hold notes."""
    try:
        for name in ("zeros", "ones", "empty", "full"):
            setattr(np, name, _made(MADE[name]))
        np.array, np.asarray = _gathering(MADE["array"]), _gathering(MADE["asarray"])
        yield
    finally:
        for name, function in MADE.items():
            setattr(np, name, function)


def _made(function):
    def make(*args, **options):
        array = function(*args, **options)
        return Traced(Node(array)) if array.dtype.kind == "f" else array

    return make


def _gathering(function):
    def gather(values, *args, **options):
        if isinstance(values, Traced):
            return np.copy(values)
        if isinstance(values, list | tuple) and _holds_notes(values):
            return np.stack([gather(value) for value in values])
        return function(values, *args, **options)

    return gather


def _holds_notes(values) -> bool:
    return isinstance(values, Traced) or (isinstance(values, list | tuple) and any(map(_holds_notes, values)))
