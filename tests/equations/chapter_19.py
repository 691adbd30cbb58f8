"""Checks of the display equations of chapter 19, rewards."""

from math import log, sqrt

import torch
from clearbook.assistant import group_advantages

from tests.equations.registry import equation, table


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
