"""Checks of the display equations of the closer look at fewer passes."""

from itertools import product

import numpy as np

from tests.equations.registry import equation, table

N = 7


def laws(rng):
    """The model's law and the draft's."""
    return rng.dirichlet(np.full(N, 0.7)), rng.dirichlet(np.full(N, 0.7))


@equation("eq-residual-law", "5a0c76c514")
def residual_law(rng):
    """The only law with which refused guesses can be replaced so that p comes out: what p has left, scaled to 1."""
    p, draft = laws(rng)
    printed = table(lambda w: max(0, p[w] - draft[w]) / sum(max(0, p[v] - draft[v]) for v in range(N)), N)
    kept = np.minimum(p, draft)
    return printed, (p - kept) / (1 - kept.sum())


@equation("eq-speculative-law", "92d35be0a9")
def speculative_law(rng):
    """Against p, and a also against the share of kept guesses summed over all pairs of a guess and a threshold."""
    p, draft = laws(rng)
    a = table(lambda _: sum(min(p[w], draft[w]) for w in range(N)), 1)
    left = np.clip(p - draft, 0, None)
    rest = left / left.sum()
    printed = table(lambda w: draft[w] * min(1, p[w] / draft[w]) + (1 - a[0]) * rest[w], N)
    return [(printed, p), (a, [draft @ np.clip(p / draft, 0, 1)]), (1 - a, [np.abs(p - draft).sum() / 2])]


@equation("eq-tokens-a-pass", "5d7f71539b")
def tokens_a_pass(rng):
    """Against the mean over all patterns of kept and refused guesses: one more than were kept before a refusal."""
    a, g = rng.uniform(0.2, 0.8), 4
    powers = table(lambda _: sum(a**j for j in range(g + 1)), 1)
    closed = table(lambda _: (1 - a ** (g + 1)) / (1 - a), 1)
    mean = 0.0
    for pattern in product((True, False), repeat=g):
        chance = np.prod([a if kept else 1 - a for kept in pattern])
        mean += chance * (1 + (pattern.index(False) if False in pattern else g))
    return [(powers, [mean]), (closed, [mean])]
