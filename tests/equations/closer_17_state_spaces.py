"""Checks of the display equations of the closer look at state spaces."""

import numpy as np
import torch
from clearbook.state_space import state_space, state_space_kernel

from tests.equations.registry import equation, table

N, D, R = 7, 5, 2


def tensors(*arrays):
    return [torch.as_tensor(array) for array in arrays]


def spaces(rng):
    return rng.normal(size=(D, N)), rng.random((D, R)), rng.normal(size=(D, R)), rng.normal(size=(D, R))


@equation("eq-state-space", "aa939d4193")
def state_space_recurrence(rng):
    x, a, b, c = spaces(rng)
    h, outputs = np.zeros((D, R)), []
    for n in range(N):
        h = table(lambda d, r, h=h, n=n: a[d, r] * h[d, r] + b[d, r] * x[d, n], D, R)
        outputs.append(table(lambda d, h=h: sum(c[d, r] * h[d, r] for r in range(R)), D))
    library = state_space(*tensors(x.T, a[None], b[None], c[None])).T
    return [(y, library[:, n]) for n, y in enumerate(outputs)]


@equation("eq-state-space-kernel", "2050a4feb5")
def kernel_of_state_space(rng):
    x, a, b, c = spaces(rng)
    w = table(lambda d, j: sum(c[d, r] * a[d, r] ** j * b[d, r] for r in range(R)), D, N)
    y = table(lambda d, n: sum(w[d, j] * x[d, n - j] for j in range(n + 1)), D, N)
    library = state_space_kernel(*tensors(a, b, c), N)
    return [(w, library), (y, state_space(*tensors(x.T, a[None], b[None], c[None])).T)]


@equation("eq-selective", "90748562aa")
def selective(rng):
    """Also for gates between 0 and 1."""
    u, g = rng.normal(size=N), rng.random(N)
    a, b = table(lambda n: 1 - g[n], N), table(lambda n: g[n], N)
    h = [np.zeros(1)]
    for n in range(N):
        h.append(table(lambda i, last=h[-1], n=n: a[n] * last[i] + b[n] * u[n], 1))
    parameters = tensors(*(t[:, None, None].copy() for t in (1 - g, g, np.ones(N))))
    library = state_space(torch.as_tensor(u)[:, None], *parameters)
    return [(step, library[n]) for n, step in enumerate(h[1:])]
