"""What the layer of exercise 04 is called with: tokens in rows, weights by name, and masks of every shape."""

import numpy as np
from clearcheck.author.cases import draw_mask
from clearcheck.author.torch_arguments import module_call

MAPS = ("query", "key", "value", "out")


def mask_of(rng, kind, rows, tokens, n_heads):
    """A mask that fits B × H × N × N: the same for all, of the padding, or another for each sequence or head."""
    tables = {
        "causal": np.tri(tokens, dtype=bool),
        "any": draw_mask(rng, tokens, tokens),
        "padding": draw_mask(rng, rows, 1, 1, tokens),
        "sequences": draw_mask(rng, rows, 1, tokens, tokens),
        "heads": draw_mask(rng, rows, n_heads, tokens, tokens),
    }
    return tables[kind]


def draw_args(rng, rows=2, tokens=5, d_model=12, n_heads=3, mask="", scale=1.0, **options):
    weights = {f"{name}.weight": rng.normal(size=(d_model, d_model)) / d_model**0.5 for name in MAPS}
    weights |= {f"{name}.bias": rng.normal(size=d_model) for name in MAPS}
    x = scale * rng.normal(size=(rows, tokens, d_model))
    masks = (mask_of(rng, mask, rows, tokens, n_heads),) if mask else ()
    return module_call({"d_model": d_model, "n_heads": n_heads}, (x, *masks), weights=weights, **options)


def draw_causal(rng, **options):
    return draw_args(rng, mask="causal", **options)


def draw_large_causal(rng):
    return draw_causal(rng, rows=9, scale=1e3)


def all_tokens(rng):
    given = {}, {"tokens": 1}, {"rows": 3, "tokens": 11, "d_model": 14, "n_heads": 2, "training": True}
    alike, thin = {"rows": 3, "tokens": 3, "d_model": 9}, {"d_model": 5, "n_heads": 5}
    return [draw_args(rng, **one) for one in (*given, alike, thin)]


def large_scores(rng):
    return [draw_args(rng, scale=30.0)]


def who_may_look(rng):
    wide = {"rows": 4, "tokens": 7, "d_model": 10, "n_heads": 2, "training": True}
    given = {"mask": "any"}, {"mask": "padding"}, {"mask": "sequences"}, {"mask": "heads"}, {"mask": "causal"}
    given += {"mask": "heads", **wide}, {"mask": "padding", **wide}, {"mask": "any", "rows": 1, "n_heads": 1}
    given += ({"mask": "causal", "d_model": 20, "n_heads": 5, "scale": 10.0},)
    given += ({"mask": "causal", "rows": 1, "tokens": 270, "d_model": 6},)
    return [*(draw_args(rng, **one) for one in given), with_and_without(rng), far_below(rng), scores_of_0(rng)]


def with_and_without(rng):
    """One layer that gets a mask, then none, and then another one for fewer tokens."""
    (plan,) = draw_args(rng, mask="any")
    ((x, mask),) = plan["calls"]
    return ({**plan, "calls": [(x, mask), (x,), (x[:, :4], draw_mask(rng, 4, 4))]},)


def far_below(rng):
    """All scores are about −112: below a mask of −100, and near enough to 0 for a logarithm in float32."""
    (plan,) = draw_causal(rng, d_model=8, n_heads=2)
    weights = {name: rng.integers(-1, 2, size=values.shape).astype(float) for name, values in plan["weights"].items()}
    for h in (0, 4):  # the first number of each head
        weights["query.bias"][h], weights["key.bias"][h], weights["key.weight"][h] = -224.0, 1.0, 0.0
    x, mask = plan["calls"][0]
    return ({**plan, "calls": [(rng.integers(-2, 3, size=x.shape).astype(float), mask)], "weights": weights},)


def scores_of_0(rng):
    (plan,) = draw_args(rng, mask="any")
    plan["weights"] |= {"query.weight": np.zeros((12, 12)), "query.bias": np.zeros(12)}
    return (plan,)


def gradients(rng):
    return [draw_args(rng, gives="gradients"), draw_args(rng, mask="any", gives="gradients")]
