"""Checks of the display equations of the closer look at Muon, against the optimiser of torch."""

from unittest.mock import patch

import numpy as np
import torch

from tests.equations.registry import equation, table

ROWS, COLUMNS = 4, 6
JORDAN = (3.4445, -4.7750, 2.0315)
CONVERGING = (15 / 8, -10 / 8, 3 / 8)  # slow, and ends at 1


def step_of_torch(G, coefficients, n_steps):
    """The step that Muon makes for a first gradient G, in float64, where torch would round it to bfloat16."""
    W = torch.nn.Parameter(torch.zeros(G.shape, dtype=torch.float64))
    W.grad = torch.as_tensor(G)
    plain = {"lr": 1.0, "weight_decay": 0.0, "momentum": 0.0}
    with patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone):
        torch.optim.Muon([W], ns_coefficients=coefficients, ns_steps=n_steps, **plain).step()
    return -W.detach().numpy()


@equation("eq-orthogonal-update", "122608e701")
def orthogonal_update(rng):
    G = rng.normal(size=(ROWS, COLUMNS))
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    V, S, R = Vt.T, np.diag(s), len(s)
    by_matrices = table(lambda i, j: sum(U[i, k] * S[k, r] * V[j, r] for k in range(R) for r in range(R)), *G.shape)
    by_directions = table(lambda i, j: sum(s[k] * U[i, k] * V[j, k] for k in range(R)), *G.shape)
    after = table(lambda i, j: sum(U[i, k] * V[j, k] for k in range(R)), *G.shape)
    return [(by_matrices, G), (by_directions, G), (after, step_of_torch(G, CONVERGING, 60))]


@equation("eq-newton-schulz", "8567c4bac0")
def newton_schulz(rng):
    """One step and all five, and what they make of the singular values."""
    G = rng.normal(size=(ROWS, COLUMNS))
    a, b, c = JORDAN
    X = G / np.sqrt((G**2).sum())
    s = np.linalg.svd(X, compute_uv=False)
    pairs = []
    for n in range(1, 6):
        XX = table(lambda i, k, X=X: sum(X[i, j] * X[k, j] for j in range(COLUMNS)), ROWS, ROWS)
        twice = table(lambda i, k, XX=XX: sum(XX[i, r] * XX[r, k] for r in range(ROWS)), ROWS, ROWS)
        X = table(
            lambda i, j, X=X, XX=XX, twice=twice: (
                a * X[i, j] + sum(b * XX[i, k] * X[k, j] + c * twice[i, k] * X[k, j] for k in range(ROWS))
            ),
            *G.shape,
        )
        s = table(lambda i, s=s: a * s[i] + b * s[i] ** 3 + c * s[i] ** 5, ROWS)
        library = step_of_torch(G, JORDAN, n)
        pairs += [(X, library), (np.sort(s)[::-1], np.linalg.svd(library, compute_uv=False))]
    return pairs
