"""What the museum piece of exercise 04 is called with, and the properties that its repair has."""

from dataclasses import replace

import numpy as np
from clearcheck.author.battery import later_tokens
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import equal_in_float32

from .layer_calls import mask_of


def draw_args(rng, rows=2, tokens=5, d_model=12, n_heads=3, mask="", factor=1.0, **options):
    """One projection makes queries, keys and values; the factor multiplies the queries, and so the scores."""
    qkv, bias = rng.normal(size=(3 * d_model, d_model)) / d_model**0.5, rng.normal(size=3 * d_model)
    qkv[:d_model] *= factor
    weights = {"qkv.weight": qkv, "qkv.bias": bias, "out.weight": rng.normal(size=(d_model, d_model)) / d_model**0.5}
    weights["out.bias"] = rng.normal(size=d_model)
    x = rng.normal(size=(rows, tokens, d_model))
    masks = (mask_of(rng, mask, rows, tokens, n_heads),) if mask else ()
    return module_call({"d_model": d_model, "n_heads": n_heads}, (x, *masks), weights=weights, **options)


def draw_causal(rng, factor=1.0):
    return draw_args(rng, mask="causal", factor=factor)


FAR_SCORES = replace(later_tokens("with a mask", draw_causal, scores="qkv.weight"), draw=draw_causal)


def all_tokens(rng):
    given = {}, {"tokens": 1}, {"rows": 4, "tokens": 11, "d_model": 14, "n_heads": 2, "training": True}
    given += (
        {"rows": 3, "tokens": 3, "d_model": 9},
        {"d_model": 7, "n_heads": 1},
        {"tokens": 4, "d_model": 5, "n_heads": 5},
    )
    return [draw_args(rng, **one) for one in given]


def who_may_look(rng):
    kinds = "causal", "any", "padding", "sequences", "heads"
    given = *({"mask": kind} for kind in kinds), {"mask": "heads", "rows": 4, "tokens": 7, "d_model": 10, "n_heads": 2}
    return [draw_args(rng, **one) for one in given]


def large_scores(rng):
    return [draw_args(rng, factor=30.0), draw_args(rng, mask="any", factor=1e3)]


SHAPE = "For x of shape {} the result should have that shape, too; yours has {}."


def order_and_future(ask, rng):
    (plan,) = draw_args(rng)
    ((x,),) = plan["calls"]
    N, order = x.shape[1], np.roll(np.arange(x.shape[1]), int(rng.integers(1, x.shape[1])))
    causal, edited = np.tri(N, dtype=bool), x.copy()
    edited[:, -1] += 1.0
    calls = [(x,), (edited,), (x[:, order],), (x, causal), (edited, causal)]
    whole, moved, reordered, before, after = ask({**plan, "calls": calls})
    for came in (whole, moved, reordered, before, after):
        if np.shape(came) != x.shape:
            return SHAPE.format(x.shape, np.shape(came))
    if equal_in_float32(moved[:, :-1], whole[:, :-1]):
        return "Without a mask an edit of the last token must reach the other outputs; yours stay as they were."
    if not equal_in_float32(reordered, whole[:, order]):
        return "With the tokens in another order your outputs are not the same ones in that order."
    if not equal_in_float32(after[:, :-1], before[:, :-1]):
        return "With the causal mask, and yet an edit of the last token changes your outputs for earlier tokens."
    return None


def heads_apart(ask, rng):
    """What head 1 is made of changes nothing where `out` reads head 0 alone."""
    (plan,) = draw_args(rng)
    (D, H), ((x,),) = plan["sizes"].values(), plan["calls"]
    own, other = slice(D // H), np.arange(D // H, 2 * D // H)
    weights = {**plan["weights"], "out.weight": np.where(np.arange(D) < own.stop, plan["weights"]["out.weight"], 0)}
    changed = weights["qkv.weight"].copy()
    changed[np.concatenate([other, other + D, other + 2 * D])] += 1.0
    before = ask({**plan, "weights": weights})
    after = ask({**plan, "weights": {**weights, "qkv.weight": changed}})
    if np.shape(before) != x.shape:
        return SHAPE.format(x.shape, np.shape(before))
    if not equal_in_float32(before, after):
        return "Where `out` reads head 0 alone, the queries, keys and values of head 1 should change nothing; yours do."
    return None
