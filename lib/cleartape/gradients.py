"""Gradients of functions that were written with plain NumPy, and that need not be changed for it.

`value_and_gradients` calls the function with arrays that note every operation, and walks the notes backwards. Whatever
only moves or copies entries (reshape, transpose, split, stack, indexing, …) is handled by one rule: the same function,
applied to the numbers of the entries, says where each came from.

While the function runs, `np.zeros`, `np.ones`, `np.empty`, `np.full`, `np.array` and `np.asarray` are replaced, in the
whole process, by versions whose arrays can hold notes; afterwards they are NumPy's own again.

Why not the library autograd (HIPS): it asks for `import autograd.numpy`, and it knows no assignment to entries, such as
`A[i, j] = x` or `scores[mask] = -np.inf`. An answer to an exercise is written in plain NumPy, and may assign.
"""

import contextlib
from collections.abc import Callable

import numpy as np

from cleartape.nodes import Node, Traced
from cleartape.rules import apply_function, apply_ufunc

MADE = {name: getattr(np, name) for name in ("zeros", "ones", "empty", "full", "array", "asarray")}

Traced.by_ufunc, Traced.by_function = staticmethod(apply_ufunc), staticmethod(apply_function)


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

    traced = over_tree(enter, parameters)
    starts = [leaf.node for leaf in leaves]
    with _noting_new_arrays():
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


@contextlib.contextmanager
def _noting_new_arrays():
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
