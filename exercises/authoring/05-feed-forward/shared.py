"""Checks of exercise 05: sizes that do not divide each other, and once equal ones, where a lost axis still fits."""

import numpy as np
from clearcheck.author.cases import close, draw_sizes
from clearcheck.author.torch_arguments import module_call

IN_FLOAT32 = 1e-4


def draw_layer(rng, maps=("up",), bias=True, sizes=None, axes=2, tokens=None, scale=1.0, shift=0.0, **options):
    """A call of a layer with `maps` from D to F and `down` back; with ``axes`` 1 the batch has no rows, N × D.

    ``shift`` is taken from what reaches the units, and what they give is multiplied by 30 where it is not 0.
    """
    B, N, width, hidden = sizes or draw_sizes(rng, 4)
    shapes = {**dict.fromkeys(maps, (hidden, width)), "down": (width, hidden)}
    weights = {f"{name}.weight": rng.normal(size=shape) / np.sqrt(shape[1]) for name, shape in shapes.items()}
    if bias:
        weights |= {f"{name}.bias": rng.normal(size=shape[0]) for name, shape in shapes.items()}
    if shift:
        weights["up.bias"] -= shift
        weights["down.weight"] *= 30.0
    x = scale * rng.normal(size=(*(B, tokens or N)[2 - axes :], width))
    return module_call({"d_model": width, "d_ff": hidden}, (x,), weights=weights, **options)


def every_token_alone(draw):
    """A test that an edit stays with its token, and that tokens may be dropped and repeated."""

    def test(ask, rng):
        (plan,) = draw(rng)
        ((x,),) = plan["calls"]
        edited, chosen = x.copy(), [3, 1, 1, 0]
        edited[:, 2] += 1 + rng.uniform(size=edited[:, 2].shape)
        y, y_edited, y_chosen = ask({**plan, "calls": [(x,), (edited,), (x[:, chosen],)]})
        if not isinstance(y, np.ndarray) or y.shape != x.shape:
            return f"The result should be a tensor of shape {x.shape}, like x."
        others = np.arange(x.shape[1]) != 2
        if not close(y_edited[:, others], y[:, others], IN_FLOAT32):
            return "After an edit of token 2 only its own output may change, but others of yours do."
        if close(y_edited[:, 2], y[:, 2], IN_FLOAT32):
            return "After an edit of token 2 its own output must change, but yours does not."
        if not close(y_chosen, y[:, chosen], IN_FLOAT32):
            return "With tokens dropped and repeated your outputs are not the same ones dropped and repeated."
        return None

    return test
