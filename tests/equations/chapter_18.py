"""Checks of the display equations of chapter 17, from model to assistant."""

from math import exp, log, sqrt

import torch
from clearbook.assistant import LowRank, counted_loss, group_advantages, preference_loss

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


@equation("eq-best-of-n", "805019386d")
def best_of_n(rng):
    """Against attempts that were all listed: a deck with a quarter of right cards, put back each time."""
    p, n = [0.25, 0.4], [3, 5]
    printed = table(lambda i: 1 - (1 - p[i]) ** n[i], 2)
    return printed, [chance_by_enumeration(q, attempts) for q, attempts in zip(p, n, strict=True)]


def chance_by_enumeration(p, n):
    """The chance that at least one of n is right, added up over all rows of right and wrong that have one."""
    rows = [[bool(number >> place & 1) for place in range(n)] for number in range(1, 2**n)]
    return sum(p ** sum(row) * (1 - p) ** (n - sum(row)) for row in rows)


@equation("eq-advantage", "749759021c")
def advantage(rng):
    s, G = rng.integers(2, size=8).astype(float) + rng.normal(size=8), 8

    def std(values):
        centre = sum(values) / len(values)
        return sqrt(sum((value - centre) ** 2 for value in values) / len(values))

    mean = table(lambda: 1 / G * sum(s[j] for j in range(G)))
    printed = table(lambda i: (s[i] - float(mean)) / (std(s) + 1e-4), G)  # the library keeps alike groups finite
    return [(mean, s.mean()), (printed, group_advantages(torch.tensor(s)[None])[0].numpy())]


@equation("eq-policy-gradient", "977a7647d0")
def policy_gradient(rng):
    """Its gradient by the logits is that of the answers' surprises, weighed by the advantages."""
    G, logits = 6, torch.tensor(rng.normal(size=(1, 4)), requires_grad=True)
    a, y = group_advantages(torch.tensor(rng.normal(size=(1, G))))[0].numpy(), rng.integers(4, size=G)
    p = logits.detach().softmax(-1).numpy()[0]
    printed = table(lambda: -1 / G * sum(a[i] * log(p[y[i]]) for i in range(G)))
    surprise = torch.nn.functional.cross_entropy(logits.expand(G, 4), torch.tensor(y), reduction="none")
    return printed, float((torch.tensor(a) * surprise).mean().detach())
