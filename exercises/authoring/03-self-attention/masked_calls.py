"""What the module of exercise 03 is called with: tokens in rows, weights by name, and masks."""

import numpy as np
from clearcheck.author.cases import draw_mask
from clearcheck.author.torch_arguments import module_call

PARTS = ("query", "key", "value")


def draw_args(rng, rows=2, tokens=5, d_model=7, d_head=3, mask="", scale=1.0, **options):
    """A call; the mask is "causal", "any" of N × N or "each", another one for every sequence."""
    weights = {f"{part}.weight": rng.normal(size=(d_head, d_model)) / 2 for part in PARTS}
    x = scale * rng.normal(size=(rows, tokens, d_model))
    tables = {
        "": (),
        "causal": (np.tri(tokens, dtype=bool),),
        "any": (draw_mask(rng, tokens, tokens),),
        "each": (draw_mask(rng, rows, tokens, tokens),),
    }
    sizes = {"d_model": d_model, "d_head": d_head}
    return module_call(sizes, (x, *tables[mask]), weights=weights, **options)


def draw_causal(rng, **options):
    return draw_args(rng, mask="causal", **options)


def draw_large_causal(rng):
    return draw_causal(rng, rows=9, scale=1e3)


def all_tokens(rng):
    wide = draw_args(rng, rows=3, tokens=11, d_model=4, d_head=9, scale=3.0, training=True)
    given = {"tokens": 1}, {"rows": 1, "d_model": 6, "d_head": 6}, {"d_head": 1}
    return [draw_args(rng), wide, *(draw_args(rng, **one) for one in given)]


def who_may_look(rng):
    wide = {"rows": 3, "tokens": 11, "d_model": 4, "d_head": 9, "scale": 3.0, "training": True}
    given = {"mask": "any"}, {"mask": "each"}, {"mask": "causal"}, {"mask": "any", **wide}, {"mask": "each", **wide}
    given += {"mask": "causal", "tokens": 1}, {"mask": "causal", "rows": 1, "tokens": 270, "d_model": 4}
    return [*(draw_args(rng, **one) for one in given), with_and_without(rng), far_below(rng), scores_of_0(rng)]


def with_and_without(rng):
    """One module that gets a mask, then none, and then another one for fewer tokens."""
    (plan,) = draw_args(rng, mask="any")
    ((x, mask),) = plan["calls"]
    return ({**plan, "calls": [(x, mask), (x,), (x[:, :4], draw_mask(rng, 4, 4))]},)


def far_below(rng):
    """All scores are about −112: below a mask of −100, and near enough to 0 for a logarithm in float32."""
    rows, tokens, d_model, d_head = 2, 5, 7, 4
    x = rng.integers(-2, 3, size=(rows, tokens, d_model)).astype(float)
    weights = {f"{part}.weight": rng.integers(-1, 2, size=(d_head, d_model)).astype(float) for part in PARTS}
    x[..., 0] = 1.0
    for part, level in (("query", -224.0), ("key", 1.0)):
        weights[f"{part}.weight"][0] = level * np.eye(d_model)[0]
    sizes = {"d_model": d_model, "d_head": d_head}
    return module_call(sizes, (x, np.tri(tokens, dtype=bool)), weights=weights)


def scores_of_0(rng):
    (plan,) = draw_args(rng, mask="any")
    plan["weights"]["query.weight"] *= 0
    return (plan,)


def gradients(rng):
    return [draw_args(rng, gives="gradients"), draw_args(rng, mask="any", gives="gradients")]
