"""Gradients of functions that were written with plain NumPy, and that need not be changed for it.

`value_and_gradients` calls the function with arrays that note every operation, and walks the notes backwards. Whatever
only moves or copies entries (reshape, transpose, split, stack, indexing, …) is handled by one rule: the same function,
applied to the numbers of the entries, says where each came from.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

LOST = (
    "The tape cannot follow {what}: the gradient would be lost there. Arrays made by np.zeros or np.array hold plain "
    "numbers only; collect the parts in a list and use np.stack, or begin with np.zeros_like of an argument."
)


@dataclass(eq=False)
class Node:
    """A value, and for each node it was made from the function that hands the gradient back."""

    value: np.ndarray
    parents: list = field(default_factory=list)


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that notes what happens to it."""

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
        from clearcheck.tape_rules import apply_ufunc

        return apply_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function, types, args, options):
        from clearcheck.tape_rules import apply_function

        return apply_function(function, args, options)

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
        return moved(lambda numbers: numbers[_plain(key)], self)

    def __setitem__(self, key, new):
        def put(numbers, others):
            numbers = numbers.copy()
            numbers[_plain(key)] = others
            return numbers

        self.node = moved(put, self, new).node

    def reshape(self, *shape, **options):
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, **options)

    def transpose(self, *axes):
        return np.transpose(self, axes[0] if len(axes) == 1 else axes or None)

    def flatten(self):
        return np.reshape(self, -1)

    def astype(self, dtype, **options):
        return self + 0.0

    def dot(self, other):
        return self @ other

    def item(self):
        return np.reshape(self, ())


def value_and_gradients(function: Callable, parameters, *rest):
    """The number `function(parameters, *rest)`, and its gradient by every floating-point array in `parameters`.

    `parameters` is an array, or a dict, list or tuple of such; the gradients come in the same form. Whole numbers and
    whatever is no array have no gradient and stay as they are.
    """
    leaves = []

    def enter(value):
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            leaves.append(Traced(Node(value.copy())))
            return leaves[-1]
        return value

    starts = []
    traced = over_tree(enter, parameters)
    starts = [leaf.node for leaf in leaves]
    result = function(traced, *rest)
    if not isinstance(result, Traced) or result.size != 1:
        came = f"an array of shape {result.shape}" if isinstance(result, Traced) else f"a {type(result).__name__}"
        raise TypeError(f"The function should give one number that was computed from the parameters; {came} came.")
    gradients = _backward(result.node)
    found = iter([gradients.get(id(node), np.zeros_like(node.value)) for node in starts])
    wanted = over_tree(lambda value: next(found) if _is_parameter(value) else value, parameters)
    return float(result.value.reshape(())), wanted


def over_tree(change: Callable, tree):
    """The same dicts, lists and tuples with every leaf changed."""
    if isinstance(tree, dict):
        return {key: over_tree(change, value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(over_tree(change, value) for value in tree)
    return change(tree)


def node_of(value) -> Node:
    return value.node if isinstance(value, Traced) else Node(np.asarray(value, dtype=float))


def noted(value, *parents) -> Traced:
    """A value made from pairs of a node and the function that hands the gradient back to it."""
    return Traced(Node(np.asarray(value), list(parents)))


def moved(function: Callable, *inputs):
    """Apply a function that only moves, copies or drops entries; entries that it makes itself are zeros."""
    nodes, numbers, first = [node_of(value) for value in inputs], [], 1
    for node in nodes:
        numbers.append(np.arange(first, first + node.value.size).reshape(node.value.shape))
        first += node.value.size
    everything = np.concatenate([np.zeros(1), *(node.value.ravel() for node in nodes)])
    came = function(*numbers)
    if isinstance(came, list | tuple):
        return [_gathered(part, nodes, numbers, everything) for part in came]
    return _gathered(came, nodes, numbers, everything)


def _gathered(places, nodes, numbers, everything) -> Traced:
    places = np.asarray(places)

    def back_to(node, own):
        low = int(own.ravel()[0]) if own.size else 0

        def back(gradient):
            sums = np.bincount(places.ravel(), gradient.ravel(), minlength=len(everything))
            return sums[low : low + own.size].reshape(node.value.shape)

        return back

    pairs = [(node, back_to(node, own)) for node, own in zip(nodes, numbers, strict=True)]
    return noted(everything[places], *pairs)


def _backward(last: Node) -> dict[int, np.ndarray]:
    gradients = {id(last): np.ones_like(last.value)}
    for node in reversed(_in_order(last)):
        gradient = gradients.get(id(node))
        for parent, back in node.parents if gradient is not None else ():
            part = back(gradient)
            gradients[id(parent)] = gradients[id(parent)] + part if id(parent) in gradients else part
    return gradients


def _in_order(last: Node) -> list[Node]:
    """Every node after those it was made from, without recursion."""
    order, seen, waiting = [], set(), [(last, False)]
    while waiting:
        node, done = waiting.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            waiting.append((node, True))
            waiting.extend((parent, False) for parent, _ in node.parents)
    return order


def _is_parameter(value) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _plain(key):
    if isinstance(key, tuple):
        return tuple(_plain(part) for part in key)
    return key.value if isinstance(key, Traced) else key
