"""Arrays that note what happens to them, and the one rule for all that only moves entries; the others are `rules`."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

LOST = (
    "The tape cannot follow {what}: the gradient would be lost there. Use another function of NumPy in that place, one "
    "that works on whole arrays."
)
PLAIN_ARRAY = np.asarray  # as it is while nothing is noted
MOVING = {
    "reshape",
    "ravel",
    "transpose",
    "swapaxes",
    "moveaxis",
    "rollaxis",
    "expand_dims",
    "squeeze",
    "broadcast_to",
    "repeat",
    "tile",
    "take",
    "take_along_axis",
    "split",
    "array_split",
    "hsplit",
    "vsplit",
    "flip",
    "fliplr",
    "flipud",
    "roll",
    "rot90",
    "tril",
    "triu",
    "diag",
    "diagonal",
    "copy",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "matrix_transpose",
    "permute_dims",
    "delete",
    "compress",
}
JOINING = {"concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"}


@dataclass(eq=False)
class Node:
    """A value, and for each node it was made from the function that hands the gradient back."""

    value: np.ndarray
    parents: list = field(default_factory=list)


class TracedArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that notes what happens to it."""

    by_ufunc: Callable  # what to do for a function of NumPy: `gradients` puts the rules here
    by_function: Callable

    def __init__(self, node: Node):
        self.node = node

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    dtype = property(lambda self: self.value.dtype)
    value = property(lambda self: self.node.value)
    T = property(lambda self: np.transpose(self))
    mT = property(lambda self: np.swapaxes(self, -1, -2))

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return self.by_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function, types, args, options):
        if function.__name__ in MOVING:
            return move_entries(lambda numbers: function(numbers, *args[1:], **options), args[0])
        if function.__name__ in JOINING:
            return move_entries(lambda *numbers: function(list(numbers), *args[1:], **options), *args[0])
        return self.by_function(function, args, options)

    def __array__(self, dtype=None, copy=None):
        raise TypeError(LOST.format(what="an array that is turned into plain numbers"))

    def __getattr__(self, name: str):
        if name.startswith("_") or not callable(getattr(np, name, None)):
            raise AttributeError(f"The tape cannot follow the attribute {name!r} of an array.")
        return lambda *args, **options: getattr(np, name)(self, *args, **options)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    def __float__(self) -> float:
        raise TypeError(LOST.format(what="a single entry that is turned into a plain number"))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __getitem__(self, key):
        return move_entries(lambda numbers: numbers[_plain_key(key)], self)

    def __setitem__(self, key, new):
        def put(numbers, others):
            numbers = numbers.copy()
            numbers[_plain_key(key)] = others
            return numbers

        self.node = move_entries(put, self, new).node

    def reshape(self, *shape, **options):
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, **options)

    def transpose(self, *axes):
        return np.transpose(self, axes[0] if len(axes) == 1 else axes or None)

    def flatten(self):
        return np.reshape(self, -1)

    def astype(self, dtype, **options):
        """The same numbers with their notes; masks and whole numbers, which have no gradient, as a plain array."""
        return self + 0.0 if np.dtype(dtype).kind == "f" else self.value.astype(dtype, **options)

    def dot(self, other):
        return self @ other

    def item(self):
        return np.reshape(self, ())


def _plain_key(key):
    if isinstance(key, tuple):
        return tuple(_plain_key(part) for part in key)
    return key.value if isinstance(key, TracedArray) else key


def value_of(value):
    return value.value if isinstance(value, TracedArray) else value


def traced_array(value, *parents) -> TracedArray:
    """A value made from pairs of a node and the function that hands the gradient back to it."""
    return TracedArray(Node(PLAIN_ARRAY(value), list(parents)))


def move_entries(function: Callable, *inputs):
    """Apply a function that only moves, copies or drops entries; entries that it makes itself are zeros."""
    nodes, numbers, first = [node_of(value) for value in inputs], [], 1
    for node in nodes:
        numbers.append(np.arange(first, first + node.value.size).reshape(node.value.shape))
        first += node.value.size
    everything = np.concatenate([[0.0], *(node.value.ravel() for node in nodes)])
    came = function(*numbers)
    if isinstance(came, list | tuple):
        return [_trace_places(part, nodes, numbers, everything) for part in came]
    return _trace_places(came, nodes, numbers, everything)


def _trace_places(places, nodes, numbers, everything) -> TracedArray:
    places = PLAIN_ARRAY(places)

    def back_to(node, own):
        low = int(own.ravel()[0]) if own.size else 0

        def back(gradient):
            sums = np.bincount(places.ravel(), gradient.ravel(), minlength=len(everything))
            return sums[low : low + own.size].reshape(node.value.shape)

        return back

    pairs = [(node, back_to(node, own)) for node, own in zip(nodes, numbers, strict=True)]
    return traced_array(everything[places], *pairs)


def node_of(value) -> Node:
    return value.node if isinstance(value, TracedArray) else Node(PLAIN_ARRAY(value, dtype=float))
