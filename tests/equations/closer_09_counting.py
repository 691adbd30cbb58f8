"""Check of the display equation of the closer look at counting."""

from itertools import pairwise

import numpy as np
from clearbook.ngrams import Ngrams

from tests.equations.registry import equation, table


@equation("eq-interpolation", "29bcd8035a")
def interpolation(rng):
    """Counted with loops over a text in which every pair of its four letters occurs, not always with every third."""
    w = [*rng.choice(4, size=60, p=[0.4, 0.3, 0.2, 0.1])]
    c_1 = np.array([w.count(a) for a in range(4)])
    c_2, c_3 = np.zeros((4, 4)), np.zeros((4, 4, 4))
    for a, b in pairwise(w):
        c_2[a, b] += 1
    for a, b, c in zip(w, w[1:], w[2:], strict=False):
        c_3[a, b, c] += 1
    t_1, t_2, t_3 = (c_1 > 0).sum(), (c_2 > 0).sum(axis=1), (c_3 > 0).sum(axis=2)
    n_1, n_2, n_3 = c_1.sum(), c_2.sum(axis=1), c_3.sum(axis=2)
    p_0 = table(lambda a: 1 / 4, 4)
    p_1 = table(lambda a: (c_1[a] + t_1 * p_0[a]) / (n_1 + t_1), 4)
    p_2 = table(lambda a, b: (c_2[a, b] + t_2[a] * p_1[b]) / (n_2[a] + t_2[a]), 4, 4)
    p_3 = table(
        lambda a, b, c: (c_3[a, b, c] + t_3[a, b] * p_2[b, c]) / (n_3[a, b] + t_3[a, b]) if n_3[a, b] else p_2[b, c],
        4,
        4,
        4,
    )
    one, two, three = (Ngrams(w, n, 4) for n in (1, 2, 3))
    return [
        (p_1, one.distribution([])),
        (p_2, [two.distribution([a]) for a in range(4)]),
        (p_3, [[three.distribution([a, b]) for b in range(4)] for a in range(4)]),
    ]
