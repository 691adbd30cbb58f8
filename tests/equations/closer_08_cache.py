"""Check of the display equation of the closer look at one token at a time."""

from clearformer.cache import KVCache

from tests.equations.registry import equation, table


@equation("eq-cache-size", "35b6b4f6cb")
def cache_size(rng):
    b, m, n, heads, width = [2, 1], [3, 4], [5, 7], [2, 3], [4, 2]
    d = [heads[i] * width[i] for i in range(2)]
    printed = table(lambda i: 2 * b[i] * m[i] * n[i] * d[i], 2)
    caches = [KVCache(m[i], b[i], heads[i], n[i], width[i]) for i in range(2)]
    return printed, [sum(layer.k.numel() + layer.v.numel() for layer in cache.layers) for cache in caches]
