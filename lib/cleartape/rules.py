"""What the tape knows about NumPy: the derivative of each operation that computes something."""

import inspect

import numpy as np

from cleartape.nodes import LOST, PLAIN_ARRAY, TracedArray, node_of, traced_array, value_of

# The derivative by each input, from the inputs and the result.
DERIVATIVES = {
    np.add: (lambda a, b, y: 1.0, lambda a, b, y: 1.0),
    np.subtract: (lambda a, b, y: 1.0, lambda a, b, y: -1.0),
    np.multiply: (lambda a, b, y: b, lambda a, b, y: a),
    np.divide: (lambda a, b, y: 1 / b, lambda a, b, y: -y / b),
    np.power: (lambda a, b, y: b * a ** (b - 1), lambda a, b, y: y * np.log(a)),
    np.maximum: (lambda a, b, y: (a > b) + 0.5 * (a == b), lambda a, b, y: (b > a) + 0.5 * (a == b)),
    np.minimum: (lambda a, b, y: (a < b) + 0.5 * (a == b), lambda a, b, y: (b < a) + 0.5 * (a == b)),
    np.negative: (lambda a, y: -1.0,),
    np.positive: (lambda a, y: 1.0,),
    np.square: (lambda a, y: 2 * a,),
    np.sqrt: (lambda a, y: 0.5 / y,),
    np.reciprocal: (lambda a, y: -y * y,),
    np.exp: (lambda a, y: y,),
    np.log: (lambda a, y: 1 / a,),
    np.expm1: (lambda a, y: y + 1,),
    np.log1p: (lambda a, y: 1 / (1 + a),),
    np.tanh: (lambda a, y: 1 - y * y,),
    np.sin: (lambda a, y: np.cos(a),),
    np.cos: (lambda a, y: -np.sin(a),),
    np.absolute: (lambda a, y: np.sign(a),),
}
ANSWERS = {  # numbers without a gradient
    "argmax",
    "argmin",
    "argsort",
    "shape",
    "ndim",
    "size",
    "isclose",
    "allclose",
    "any",
    "all",
    "array_equal",
}
LIKE = {"zeros_like": 0.0, "empty_like": 0.0, "ones_like": 1.0}


def apply_ufunc(ufunc, method, inputs, options):
    out, where = options.pop("out", (None,))[0], options.pop("where", True)
    if method == "reduce" and ufunc in REDUCED and where is True:
        result = _apply_rule(f"{ufunc.__name__}.reduce", REDUCED[ufunc], inputs, {"axis": 0} | options)
    elif method != "__call__":
        raise TypeError(LOST.format(what=f"np.{ufunc.__name__}.{method}"))
    else:
        if where is not True:
            inputs = [np.where(where, value, 1.0) for value in inputs]
        result = _call_ufunc(ufunc, inputs)
    if where is not True and out is not None:
        result = np.where(where, result, out)
    if out is None:
        return result
    if not isinstance(out, TracedArray):
        raise TypeError(LOST.format(what=f"np.{ufunc.__name__}, which writes into an array of plain numbers"))
    out.node = node_of(result)
    return out


def apply_function(function, args, options):
    name = function.__name__
    if name in LIKE:
        return _full_like(args[0], LIKE[name], *args[1:], **options)
    if function in RULES:
        return _apply_rule(name, RULES[function], args, options)
    values = [value_of(value) for value in args]
    if name in ANSWERS:
        return function(*values, **{key: value_of(value) for key, value in options.items()})
    raise TypeError(LOST.format(what=f"np.{name}"))


def _apply_rule(name, rule, args, options):
    """Follow a rule. Raises: TypeError for an option that it does not know, or a place to write the result to."""
    try:
        given = inspect.signature(rule).bind(*args, **options).arguments
    except TypeError:
        given = {"out": args}
    if given.get("out") is not None:
        told = ", ".join(options) or f"{len(args)} arguments"
        raise TypeError(LOST.format(what=f"np.{name} with {told}"))
    return rule(*args, **options)


def _call_ufunc(ufunc, inputs):
    if ufunc is np.matmul:
        return _matmul(*inputs)
    values = [value_of(value) for value in inputs]
    result = ufunc(*values)
    if ufunc not in DERIVATIVES:
        if PLAIN_ARRAY(result).dtype.kind == "f" and ufunc not in (np.sign, np.floor, np.ceil, np.rint):
            raise TypeError(LOST.format(what=f"np.{ufunc.__name__}"))
        return result  # comparisons and the like: no gradient

    def back_by(derivative, value):
        return lambda gradient: _summed_to(gradient * derivative(*values, result), np.shape(value))

    pairs = zip(inputs, DERIVATIVES[ufunc], values, strict=True)
    return traced_array(result, *((x.node, back_by(d, value)) for x, d, value in pairs if isinstance(x, TracedArray)))


def _summed_to(gradient, shape):
    """Undo broadcasting: what was stretched is summed."""
    gradient = PLAIN_ARRAY(gradient)
    if gradient.shape == shape:
        return gradient
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    stretched = tuple(i for i, size in enumerate(shape) if size == 1 and gradient.shape[i] != 1)
    return gradient.sum(axis=stretched, keepdims=True).reshape(shape)


def _matmul(a, b):
    if a.ndim == b.ndim == 1:
        return (a * b).sum()
    if a.ndim == 1:
        return (a[None] @ b)[..., 0, :]
    if b.ndim == 1:
        return (a @ b[:, None])[..., 0]
    A, B = value_of(a), value_of(b)
    backs = (
        (a, lambda gradient: _summed_to(gradient @ np.swapaxes(B, -1, -2), A.shape)),
        (b, lambda gradient: _summed_to(np.swapaxes(A, -1, -2) @ gradient, B.shape)),
    )
    return traced_array(A @ B, *((x.node, back) for x, back in backs if isinstance(x, TracedArray)))


def _where(condition, *choices):
    if not choices:
        return np.where(value_of(condition))
    condition, (a, b) = value_of(condition), choices
    values = value_of(a), value_of(b)
    sides = (condition, ~PLAIN_ARRAY(condition, dtype=bool))

    def back_by(side, value):
        return lambda gradient: _summed_to(np.where(side, gradient, 0.0), np.shape(value))

    triples = zip(choices, sides, values, strict=True)
    return traced_array(
        np.where(condition, *values), *((x.node, back_by(s, v)) for x, s, v in triples if isinstance(x, TracedArray))
    )


def _append(a, b, axis=None):
    parts = (np.ravel(a), np.ravel(b)) if axis is None else (a, b)
    return np.concatenate(parts, axis=0 if axis is None else axis)


def _clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    low, high = a_min if min is None else min, a_max if max is None else max
    if low is not None:
        a = np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


def _outer(a, b):
    return np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1))


def _full_like(a, fill_value, *args, **options):
    made = np.full_like(a.value, fill_value, *args, **options)
    return traced_array(made) if made.dtype.kind == "f" else made  # a mask or whole numbers have no gradient


def _sum(a, axis=None, dtype=None, out=None, keepdims=False):
    spread = np.sum(a.value, axis=axis, keepdims=True).shape
    back = lambda gradient: np.broadcast_to(gradient.reshape(spread), a.shape)  # noqa: E731
    return traced_array(np.sum(a.value, axis=axis, keepdims=keepdims), (a.node, back))


def _extreme_rule(find):
    def rule(a, axis=None, out=None, keepdims=False):
        top = find(a.value, axis=axis, keepdims=True)
        shares = (a.value == top) / (a.value == top).sum(axis=axis, keepdims=True)
        back = lambda gradient: shares * gradient.reshape(top.shape)  # noqa: E731
        return traced_array(find(a.value, axis=axis, keepdims=keepdims), (a.node, back))

    return rule


def _mean(a, axis=None, dtype=None, out=None, keepdims=False):
    total = _sum(a, axis=axis, keepdims=keepdims)
    return total / (a.size / total.size)


def _var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    distance = a - _mean(a, axis=axis, keepdims=True)
    total = _sum(distance * distance, axis=axis, keepdims=keepdims)
    return total / (a.size / total.size - ddof)


def _std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    return np.sqrt(_var(a, axis=axis, ddof=ddof, keepdims=keepdims))


def _dot(a, b):
    return a * b if 0 in (np.ndim(a), np.ndim(b)) else a @ b


def ein_sum(subscripts, *operands, optimize=None):
    twice = any(len(set(term)) < len(term) for term in "".join(str(subscripts).split()).replace("->", ",").split(","))
    if not isinstance(subscripts, str) or "..." in subscripts or "->" not in subscripts or twice:
        told = "write every index, once in each term, and the arrow"
        raise TypeError(LOST.format(what=f"np.einsum({subscripts!r}); {told}"))
    joined, result = "".join(subscripts.split()).split("->")
    terms, values = joined.split(","), [value_of(x) for x in operands]
    size = {letter: n for term, v in zip(terms, values, strict=True) for letter, n in zip(term, v.shape, strict=True)}

    def back_by(place):
        others = [i for i in range(len(terms)) if i != place]
        known = set(result).union(*(terms[i] for i in others))
        lone = [letter for letter in terms[place] if letter not in known]
        left = ",".join([result, *(terms[i] for i in others), *lone])
        ones = [np.repeat(1.0, size[letter]) for letter in lone]
        return lambda g: np.einsum(f"{left}->{terms[place]}", g, *(values[i] for i in others), *ones)

    pairs = [(x.node, back_by(i)) for i, x in enumerate(operands) if isinstance(x, TracedArray)]
    return traced_array(np.einsum(f"{','.join(terms)}->{result}", *values), *pairs)


REDUCED = {np.add: _sum, np.maximum: _extreme_rule(np.max), np.minimum: _extreme_rule(np.min)}
RULES = {
    np.sum: _sum,
    np.mean: _mean,
    np.var: _var,
    np.std: _std,
    np.max: _extreme_rule(np.max),
    np.amax: _extreme_rule(np.max),
    np.min: _extreme_rule(np.min),
    np.amin: _extreme_rule(np.min),
    np.where: _where,
    np.append: _append,
    np.einsum: ein_sum,
    np.clip: _clip,
    np.dot: _dot,
    np.outer: _outer,
    np.full_like: _full_like,
}
