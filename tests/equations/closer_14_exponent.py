"""Checks of the display equations of the closer look at exponents."""

from functools import cache, partial
from math import log

import numpy as np
import torch
from clearbook.costs import counted_flops
from clearformer.attention import attend
from clearformer.multihead import MultiHeadAttention

from tests.equations.registry import equation, table


@equation("eq-exponent", "117025a2b1")
def exponent(rng):
    N, T = rng.uniform(1, 9, size=(2, 7))
    mean_n, mean_t = (table(lambda _, x=x: sum(log(x[j]) for j in range(7)) / 7, 1)[0] for x in (N, T))
    n, t = table(lambda i: log(N[i]) - mean_n, 7), table(lambda i: log(T[i]) - mean_t, 7)
    printed = table(lambda _: sum(n[i] * t[i] for i in range(7)) / sum(n[i] ** 2 for i in range(7)), 1)
    library = np.log([N, T]) - np.log([N, T]).mean(axis=1, keepdims=True)
    return [(n, library[0]), (t, library[1]), (printed, np.polyfit(np.log(N), np.log(T), 1)[:1])]


@equation("eq-local-exponent", "a68d036b18")
def local_exponent(rng):
    """For the counted work of a layer, against the derivative by autograd."""
    a, b = np.linalg.solve([[5, 25], [7, 49]], [layer_flops(5), layer_flops(7)])
    N = [4, 9, 31]
    middle = table(lambda i: (a * N[i] + 2 * b * N[i] ** 2) / (a * N[i] + b * N[i] ** 2), 3)
    right = table(lambda i: 1 + b * N[i] ** 2 / (a * N[i] + b * N[i] ** 2), 3)
    x = torch.tensor(N, dtype=torch.float64).log().requires_grad_()
    (slopes,) = torch.autograd.grad((a * x.exp() + b * (2 * x).exp()).log().sum(), x)
    return [(middle, slopes), (right, slopes)]


@cache
def layer_flops(n):
    layer = MultiHeadAttention(6, 2, attend=attend)
    with torch.no_grad():
        return counted_flops(partial(layer, torch.ones(1, n, 6)))
