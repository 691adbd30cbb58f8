"""The derivatives of sums, means, extremes and einsum."""

import numpy as np

from clearcheck.tape_nodes import LOST, Traced, noted, value_of


def sum_rule(x, axis=None, dtype=None, out=None, keepdims=False):
    spread = np.sum(x.value, axis=axis, keepdims=True).shape
    back = lambda gradient: np.broadcast_to(gradient.reshape(spread), x.shape)  # noqa: E731
    return noted(np.sum(x.value, axis=axis, keepdims=keepdims), (x.node, back))


def extreme_rule(find):
    def rule(x, axis=None, out=None, keepdims=False, initial=None):
        top = find(x.value, axis=axis, keepdims=True)
        shares = (x.value == top) / (x.value == top).sum(axis=axis, keepdims=True)
        back = lambda gradient: shares * gradient.reshape(top.shape)  # noqa: E731
        return noted(find(x.value, axis=axis, keepdims=keepdims), (x.node, back))

    return rule


def mean_rule(x, axis=None, dtype=None, out=None, keepdims=False):
    total = sum_rule(x, axis=axis, keepdims=keepdims)
    return total / (x.size / total.size)


def var_rule(x, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    distance = x - mean_rule(x, axis=axis, keepdims=True)
    total = sum_rule(distance * distance, axis=axis, keepdims=keepdims)
    return total / (x.size / total.size - ddof)


def einsum_rule(subscripts, *operands, optimize=None):
    if "..." in subscripts or "->" not in subscripts:
        raise TypeError(LOST.format(what=f'np.einsum("{subscripts}"): write every index and the arrow'))
    terms, result = "".join(subscripts.split()).split("->")
    terms, values = terms.split(","), [value_of(x) for x in operands]
    size = {letter: n for term, v in zip(terms, values, strict=True) for letter, n in zip(term, v.shape, strict=True)}

    def back_by(place):
        others = [i for i in range(len(terms)) if i != place]
        known = set(result).union(*(terms[i] for i in others))
        lone = [letter for letter in terms[place] if letter not in known]
        left = ",".join([result, *(terms[i] for i in others), *lone])
        ones = [np.repeat(1.0, size[letter]) for letter in lone]
        return lambda g: np.einsum(f"{left}->{terms[place]}", g, *(values[i] for i in others), *ones)

    pairs = [(x.node, back_by(i)) for i, x in enumerate(operands) if isinstance(x, Traced)]
    return noted(np.einsum(f"{','.join(terms)}->{result}", *values), *pairs)
