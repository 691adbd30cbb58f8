"""Checks of the display equations of chapter 18, tuning."""

from math import exp, log

import torch
from clearbook.assistant import LowRank, counted_loss, preference_loss

from tests.equations.registry import equation, table

N, V, D, E, R = 5, 7, 4, 6, 3  # R is the rank


@equation("eq-answer-loss", "6b6af21e4e")
def answers_alone(rng):
    logits, w = rng.normal(size=(1, N, V)), rng.integers(V, size=N)
    m = [0.0, 1.0, 0.0, 1.0, 1.0]
    p = torch.tensor(logits[0]).softmax(-1).numpy()
    printed = table(lambda: -sum(m[n] * log(p[n, w[n]]) for n in range(N)) / sum(m[n] for n in range(N)))
    found = counted_loss(torch.tensor(logits), torch.tensor(w)[None], torch.tensor([m], dtype=torch.float64))
    return printed, found


@equation("eq-lora", "c924bc6980")
def low_rank(rng):
    W, b, A, B = rng.normal(size=(E, D)), rng.normal(size=E), rng.normal(size=(R, D)), rng.normal(size=(E, R))
    x, layer = rng.normal(size=D), LowRank(torch.nn.Linear(D, E), R).double()
    with torch.no_grad():
        for parameter, values in ((layer.linear.weight, W), (layer.linear.bias, b), (layer.A, A), (layer.B, B)):
            parameter.copy_(torch.tensor(values))
        found = layer(torch.tensor(x)).numpy()
        merged = layer.merged()(torch.tensor(x)).numpy()
    printed = table(
        lambda e: (
            sum(W[e, d] * x[d] for d in range(D))
            + b[e]
            + sum(B[e, r] * A[r, d] * x[d] for r in range(R) for d in range(D))
        ),
        E,
    )
    return [(printed, found), (printed, merged)]


@equation("eq-dpo", "05bbe94f6a")
def preference(rng):
    pi_c, pi_r, rho_c, rho_r = (float(p) for p in rng.uniform(0.1, 0.9, size=4))
    beta = 0.3

    def sigma(z):
        return 1 / (1 + exp(-z))

    printed = table(lambda: -log(sigma(beta * (log(pi_c / rho_c) - log(pi_r / rho_r)))))
    logs = (torch.tensor([log(p)], dtype=torch.float64) for p in (pi_c, pi_r, rho_c, rho_r))
    return printed, preference_loss(*logs, beta)
