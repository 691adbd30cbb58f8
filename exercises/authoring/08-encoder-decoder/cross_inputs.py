"""What the checks of question cross draw and try: two sequences or one, masks, and weights that can be read off."""

import numpy as np
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import equal_in_float32

from .shared import alter, attention, differ, looking_back, padding

RATE, SHARE = 0.4, 0.08  # of dropout, and how far the share of zeros may be from it


def draw_args(rng, rows=2, targets=5, sources=7, d_model=12, n_heads=3, scale=1.0, dropout=None, **options):
    """Without `sources` x looks at itself."""
    x = scale * rng.normal(size=(rows, targets, d_model))
    others = (scale * rng.normal(size=(rows, sources, d_model)),) if sources else ()
    sizes = {"d_model": d_model, "n_heads": n_heads} | ({} if dropout is None else {"dropout": dropout})
    return module_call(sizes, (x, *others), weights=attention(rng, "", d_model), **options)


def with_mask(args, mask):
    """The same call with a mask behind x and the source, or behind x and None."""
    (plan,) = args
    x, source = (*plan["calls"][0], None)[:2]
    return ({**plan, "calls": [(x, source, mask)]},)


def back(rng, **sizes):
    """Self-attention with a causal mask."""
    args = draw_args(rng, sources=0, **sizes)
    return with_mask(args, looking_back(args[0]["calls"][0][0].shape[1]))


def outputs(rng):
    given = {}, {"targets": 1}, {"sources": 1}, {"rows": 3, "targets": 11, "sources": 4, "d_model": 14, "n_heads": 2}
    given += {"targets": 6, "sources": 6}, {"rows": 1, "sources": 140}, {"dropout": RATE}
    cases = [draw_args(rng, **one) for one in (*given, {"training": True})]
    cases[0][0]["calls"][0][1][0, 2] = 0.0  # a source like any other
    return [*cases, *without_a_source(rng), *masked(rng)]


def without_a_source(rng):
    return [draw_args(rng, sources=0), draw_args(rng, sources=0, targets=1), back(rng), back(rng, targets=9, rows=1)]


def masked(rng):
    """Padding of the source, and a table of its own for every row."""
    table = rng.random(size=(3, 1, 6, 6)) < 0.5
    table[..., 2] = True  # every target sees something
    return [
        with_mask(draw_args(rng), padding(2, 7, (4, 7))),
        with_mask(draw_args(rng, rows=3, targets=6, sources=6), table),
    ]


def gradients(rng):
    return [draw_args(rng, gives="gradients"), *(({**one, "gives": "gradients"},) for (one,) in masked(rng))]


def each_target_alone(ask, rng):
    (plan,) = draw_args(rng)
    x, source = plan["calls"][0]
    one, two = ask({**plan, "calls": [(x, source), (alter(x, (slice(None), 2)), source)]})
    moved = differ(one, two) if np.shape(one) == x.shape else None
    if moved is None:
        return f"For x of shape {x.shape} the result should have that shape too; yours has {np.shape(one)}."
    if moved.tolist() != [False, False, True, False, False]:
        return "Target 2 was changed: output 2 should move, and no other."
    return None


def every_source_read(ask, rng):
    (plan,) = draw_args(rng)
    x, source = plan["calls"][0]
    one, two, three = ask(
        {**plan, "calls": [(x, source), (x, alter(source, (slice(None), -1))), (x, source[:, ::-1].copy())]}
    )
    if np.shape(one) != x.shape or not differ(one, two).all():
        return "The last source was changed: every output should move, since each target reads all sources."
    if differ(one, three).any():
        return "The sources in another order are the same sources; your outputs changed."
    hidden = padding(2, 7, (6, 6))
    one, two = ask({**plan, "calls": [(x, source, hidden), (x, alter(source, (slice(None), -1)), hidden)]})
    moved = "The last source was changed, which the mask hides (False), and outputs moved."
    return moved if differ(one, two).any() else None


def weights_dropped(ask, rng):
    """One head whose values say which source they are of, so that the weights can be read off the outputs."""
    turned, _ = np.linalg.qr(rng.normal(size=(12, 12)))
    (plan,) = draw_args(rng, rows=3, targets=20, sources=12, n_heads=1, dropout=RATE)
    x, alone = plan["calls"][0][0], np.repeat(np.eye(12)[None], 3, axis=0)
    weights = plan["weights"] | {"value.weight": np.eye(12), "out.weight": turned}
    weights |= {f"{name}.bias": np.zeros(12) for name in ("value", "out")}
    asked = {**plan, "weights": weights, "calls": [(x, alone)]}
    still, moving = (ask({**asked, "training": training}) for training in (False, True))
    if any(np.shape(y) != x.shape for y in (still, moving)):
        return f"For x of shape {x.shape} the result should have that shape too; yours has {np.shape(moving)}."
    if equal_in_float32(still, moving):
        return "In train() mode your module gives what it gives in eval() mode: there some of the weights are dropped."
    still, moving = still @ turned, moving @ turned
    dropped, kept = np.abs(moving) < 1e-5, np.abs(moving - still / (1 - RATE)) < 1e-5
    if not (dropped | kept).all():
        return (
            f"In train() mode each weight should be 0 or 1/(1 − p) times that of eval() mode, with p = {RATE}; yours "
            "are not: drop the weights, after the softmax, and nothing else."
        )
    if any((dropped.any(axis=axis) == dropped.all(axis=axis)).all() for axis in range(3)):
        return "Your dropout drops the same weights for several targets or rows; each weight is drawn on its own."
    share = dropped.mean()
    return f"With p = {RATE} your module drops {share:.0%} of the weights." if abs(share - RATE) > SHARE else None
