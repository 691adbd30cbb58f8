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
import sys
from collections.abc import Callable
from copy import deepcopy

import numpy as np

from cleartape.nodes import Node, TracedArray
from cleartape.rules import apply_function, apply_ufunc

MADE = {name: getattr(np, name) for name in ("zeros", "ones", "empty", "full", "array", "asarray")}

TracedArray.by_ufunc, TracedArray.by_function = staticmethod(apply_ufunc), staticmethod(apply_function)


def value_and_gradients(function: Callable, parameters, *rest):
    """The number `function(parameters, *rest)`, and its gradients for the floating-point arrays in `parameters`.

    `parameters` is an array, or a dict, list or tuple of such; the gradients come in the same form. Whole numbers and
    whatever is no array have no gradient and stay as they are. The function is called a second time, with plain arrays,
    to see that it gives the same number.

    Raises: TypeError for a function of NumPy that cannot be followed, a result that is not one number, or one that is
    another number without the tape, where the function changes a part that it took out of an array before.
    """
    leaves, arguments, state = [], over_tree(_independent_copy, (parameters, *rest)), np.random.get_state()

    def enter(value):
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            leaves.append(TracedArray(Node(value.copy())))
            return leaves[-1]
        return value

    traced = over_tree(enter, parameters)
    starts = [leaf.node for leaf in leaves]
    with _noting_new_arrays():
        result = function(traced, *rest)
    if not isinstance(result, TracedArray) or result.size != 1:
        came = f"an array of shape {result.shape}" if isinstance(result, TracedArray) else f"a {type(result).__name__}"
        raise TypeError(f"The function should give one number that was computed from the parameters; {came} came.")
    value = float(result.value.reshape(()))
    _check_without_the_tape(value, function, arguments, state)
    gradients = _backward(result.node)
    found = iter([gradients.get(id(node), np.zeros_like(node.value)) for node in starts])
    wanted = over_tree(lambda value: next(found) if _is_parameter(value) else value, parameters)
    return value, wanted


def over_tree(change: Callable, tree):
    """The same dicts, lists and tuples with every leaf changed."""
    if isinstance(tree, dict):
        return {key: over_tree(change, value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        values = [over_tree(change, value) for value in tree]
        return tree._make(values) if hasattr(tree, "_make") else type(tree)(values)  # the first for a namedtuple
    return change(tree)


def _independent_copy(value):
    """What a call could change, for another call to begin with: a copy of an array, a generator in the same state."""
    return deepcopy(value) if isinstance(value, np.ndarray | np.random.Generator) else value


def _check_without_the_tape(value: float, function: Callable, arguments, state) -> None:
    """Call the function with plain arrays and the random numbers that it had, and compare.

    Random numbers from elsewhere are drawn anew, so that two such calls differ, too: then nothing can be said. Those of
    `np.random` go on afterwards as if there had been no such call.

    Raises: TypeError for another number than `value`.
    """

    def call():
        np.random.set_state(state)
        return float(np.reshape(function(*over_tree(_independent_copy, arguments)), ()))

    now = np.random.get_state()
    try:
        plain = call()
        if not np.isclose(value, plain, rtol=1e-4, equal_nan=True) and call() == plain:
            raise TypeError(
                f"The tape came to {value:g}, the function without it to {plain:g}: the tape cannot follow a change of "
                "a part that was taken out before, as in row = Y[0]; row *= 2. Change the array itself: Y[0] *= 2."
            )
    finally:
        np.random.set_state(now)


@contextlib.contextmanager
def _noting_new_arrays():
    """While this lasts, an array that is made empty, to be filled later, and one made of a list can hold notes."""
    try:
        for name in ("zeros", "ones", "empty", "full"):
            setattr(np, name, _traced_constructor(name))
        np.array, np.asarray = _stack_traced(MADE["array"]), _stack_traced(MADE["asarray"])
        yield
    finally:
        for name, function in MADE.items():
            setattr(np, name, function)


def _traced_constructor(name):
    def make(*args, **options):
        """Plain where the caller does not name this function: then compiled code asks, such as that of `np.random`."""
        array = MADE[name](*args, **options)
        named = name in sys._getframe(1).f_code.co_names
        return TracedArray(Node(array)) if named and array.dtype.kind == "f" else array

    return make


def _stack_traced(function):
    def gather(values, *args, **options):
        if isinstance(values, TracedArray):
            return np.copy(values)
        if isinstance(values, list | tuple) and _holds_notes(values):
            return np.stack([gather(value) for value in values])
        return function(values, *args, **options)

    return gather


def _holds_notes(values) -> bool:
    return isinstance(values, TracedArray) or (isinstance(values, list | tuple) and any(map(_holds_notes, values)))


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
