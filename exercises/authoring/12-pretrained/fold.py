"""Exercise 12, question fold: numbers that nothing depends on."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes, shape_slip

from . import parts
from .shared import HEADS


def draw_layer(rng, gain=1.0):
    H, K = draw_sizes(rng, 2, HEADS)
    D = H * K
    layer = {name: (rng.normal(size=(D, D)) / np.sqrt(D), rng.normal(size=D)) for name in ("q", "k", "v", "out")}
    W, b = layer["q"]
    layer["q"] = gain * W, gain * b
    return {"norm": (rng.uniform(0.5, 1.5, size=D) * rng.choice([-1, 1], size=D), rng.normal(size=D)), **layer}


def fold(layer):
    scale, shift = layer["norm"]
    (q, b_q), (k, _), (v, b_v), (out, b_out) = (layer[name] for name in ("q", "k", "v", "out"))
    nothing = np.zeros(len(scale))
    return {
        "norm": (np.ones(len(scale)), nothing),
        "q": (q * scale, b_q + q @ shift),
        "k": (k * scale, nothing),
        "v": (v * scale, nothing),
        "out": (out, b_out + out @ (v @ shift + b_v)),
    }


def layers_to_fold(rng):
    """In one layer a feature is scaled to nothing, in another nothing is shifted."""
    layers = [draw_layer(rng, gain) for gain in (1.0, 1.0, 1.0, 1e4)]
    layers[1]["norm"][0][0] = 0
    layers[2]["norm"][1][:] = 0
    return [(layer,) for layer in layers]


def run_layer(layer, x, n_heads, may_look):
    pairs = {f"{name}.{kind}": value for name in layer for kind, value in zip(("weight", "bias"), layer[name])}  # noqa: B905
    z = parts.norm(x, pairs, "norm", 1e-5)
    q, k, v = (parts.linear(z, pairs, part) for part in "qkv")
    return parts.linear(parts.attend(q, k, v, n_heads, may_look), pairs, "out")


def layer_slip(found, layer):
    """A sentence when the result has not the form of a layer, else None."""
    if not isinstance(found, dict) or found.keys() != layer.keys():
        return "The result should be a dict with the keys of the layer that came in."
    for name, pair in layer.items():
        if not isinstance(found[name], tuple | list) or len(found[name]) != 2:
            return f"Under {name!r} a pair is expected."
        for what, array, old in zip(("first", "second"), found[name], pair, strict=True):
            if slip := shape_slip(array, old.shape, f"The {what} of your pair {name!r}"):
                return slip
    return None


def folded_part(*names):
    """A check of some entries, so that they earn their points whatever the others are."""

    def test(ask, rng):
        layer = draw_layer(rng)
        found, expected = ask(layer), fold(layer)
        if slip := layer_slip(found, layer):
            return slip
        for name in names:
            for what, array, right in zip(("first", "second"), found[name], expected[name], strict=True):
                if not close(array, right):
                    return f"The {what} of your pair {name!r} is not right; others are not looked at here."
        return None

    return test


def same_function(ask, rng):
    for gain in (1.0, 30.0):
        layer = draw_layer(rng, gain)
        D, N = len(layer["norm"][0]), 5
        n_heads = next(H for H in HEADS if D % H == 0)
        found = ask(layer)
        if slip := layer_slip(found, layer):
            return slip
        x, causal = rng.normal(size=(N, D)) + 2, np.tri(N, dtype=bool)
        before, after = (run_layer(it, x, n_heads, causal) for it in (layer, found))
        if not close(after, before, 1e-8):
            off = np.abs(after - before).max()
            return f"Your layer is another function: on five tokens it differs by up to {off:.3g}."
        for name, expected in (("k", 0.0), ("v", 0.0), ("norm", 0.0)):
            if np.abs(found[name][1] - expected).max() > 0:
                return f"The second of the pair {name!r} should be all zeros, but yours is not."
        if not (found["norm"][0] == 1).all():
            return "The scale of the norm should be all ones, but yours is not."
    return None


QUESTION = Question(
    id="fold",
    title="Numbers that nothing depends on",
    name="fold",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        holds("queries and norm", 3, folded_part("q", "norm")),
        holds("keys", 2, folded_part("k")),
        holds("values and out", 3, folded_part("v", "out")),
        equals("all of it", 2, layers_to_fold, fold),
        holds("the same function", 2, same_function),
    ),
    hints=(
        "Write the norm's output as γ ∘ x̂ + β and put it into `W z + b`. Which part of the result depends "
        "on x̂, and which is a constant that can join the bias?",
        "The scale belongs to the *inputs* of a map, one number for each column of W. The constant that W "
        "makes of the shift uses W as it was, before any scaling.",
        "Of the three biases that you have then, the softmax divides one out. The weights of a target sum to "
        "1, so another reaches `out` unchanged, at every target: what does `out` make of it?",
    ),
    section="a-bias-that-does-nothing-or-does-something",
    inputs=Inputs(no_sizes="all maps are square, of one size"),
)

right, wrong = answers_to(QUESTION)


@right
def one_formula_each(layer):
    scale, shift = layer["norm"]
    zeros = np.zeros_like(shift)
    (W_q, b_q), (W_k, _), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "k", "v", "out"))
    return {
        "norm": (np.ones_like(scale), zeros),
        "q": (W_q * scale, b_q + W_q @ shift),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ (b_v + W_v @ shift)),
    }


@right
def entry_by_entry(layer):
    gamma, beta = layer["norm"]
    D = len(gamma)
    new = {name: (np.array(pair[0]), np.array(pair[1])) for name, pair in layer.items()}
    for name in ("q", "k", "v"):
        W, b = new[name]
        for e in range(D):
            for d in range(D):
                b[e] += W[e, d] * beta[d]
                W[e, d] *= gamma[d]
    for e in range(D):
        new["out"][1][e] += sum(new["out"][0][e, d] * new["v"][1][d] for d in range(D))
    new["k"][1].fill(0)
    new["v"][1].fill(0)
    return {**new, "norm": (np.full(D, 1.0), np.full(D, 0.0))}


@right
def measured_on_tokens(layer):
    """The maps as functions of the normalised token: their value at 0 and at the unit vectors says all."""
    gamma, beta = layer["norm"]
    D = len(gamma)

    def seen(name):
        W, b = layer[name]
        at_zero = W @ beta + b
        return np.stack([W @ (gamma * e + beta) + b - at_zero for e in np.eye(D)], axis=1), at_zero

    q, (k, _), (v, constant) = seen("q"), seen("k"), seen("v")
    none = np.zeros(D)
    out = (layer["out"][0], layer["out"][0] @ constant + layer["out"][1])
    return {"norm": (none + 1, none), "q": q, "k": (k, none), "v": (v, none), "out": out}


@right
def as_often_written(layer):
    scale, shift = layer["norm"]
    (W_q, b_q), (W_v, b_v), (W_o, b_o) = (layer[name] for name in ("q", "v", "out"))
    W_k = layer["k"][0]
    zeros = np.zeros(len(scale))
    b_q = b_q + W_q @ shift
    b_v = b_v + W_v @ shift
    return {
        "norm": (np.ones(len(scale)), zeros),
        "q": (W_q * scale, b_q),
        "k": (W_k * scale, zeros),
        "v": (W_v * scale, zeros),
        "out": (W_o, b_o + W_o @ b_v),
    }


wrong.edits("""
# as_often_written
## rows_scaled: You scale the rows of the matrices, their outputs; scale the columns, their inputs.
- "q": (W_q * scale, b_q),
- "k": (W_k * scale, zeros),
- "v": (W_v * scale, zeros),
+ "q": (W_q * scale[:, None], b_q),
+ "k": (W_k * scale[:, None], zeros),
+ "v": (W_v * scale[:, None], zeros),
## shift_forgotten: The shift of the norm is dropped without a trace in the biases.
- b_q = b_q + W_q @ shift
- b_v = b_v + W_v @ shift
## shift_scaled_too: You put the shift through the scaled matrices; put it through the unscaled ones.
+ b_q = b_q + (W_q * scale) @ shift
+ b_v = b_v + (W_v * scale) @ shift
## shift_over_the_scale: You divide the shift by the scale, and a scale may be 0.
+ b_q = b_q + (W_q * scale) @ (shift / scale)
+ b_v = b_v + (W_v * scale) @ (shift / scale)
## shift_of_the_values_forgotten: Your `out` lacks what the values' matrix makes of the shift.
- b_v = b_v + W_v @ shift
## shift_of_the_queries_forgotten: Your queries' bias lacks what their matrix makes of the shift.
- b_q = b_q + W_q @ shift
## shift_not_multiplied: You add the shift to the biases as it is; multiply by the matrices first.
- b_q = b_q + W_q @ shift
- b_v = b_v + W_v @ shift
+ b_q = b_q + shift
+ b_v = b_v + shift
## norm_left_as_it_was: The norm keeps its scale and shift, so that they are used twice.
- "norm": (np.ones(len(scale)), zeros),
+ "norm": (scale, shift),
## shift_left_in_the_norm: The norm keeps its shift, so that it is used twice.
+ "norm": (np.ones(len(scale)), shift),
## values_bias_dropped: You drop the bias of the values; the weights of a target sum to 1, so it does reach `out`.
- "out": (W_o, b_o + W_o @ b_v),
+ "out": (W_o, b_o),
## values_bias_as_it_is: You add the bias of the values to that of `out` as it is; multiply it by `out` first.
+ "out": (W_o, b_o + b_v),
## out_turned [a-file-that-almost-fits]: The bias of the values goes through `out` the wrong way round; being square, it
does not complain.
+ "out": (W_o, b_o + W_o.T @ b_v),
## maps_turned [a-file-that-almost-fits]: The shift goes through the matrices the wrong way round; being square, they do
not complain.
- b_q = b_q + W_q @ shift
- b_v = b_v + W_v @ shift
+ b_q = b_q + W_q.T @ shift
+ b_v = b_v + W_v.T @ shift
## all_maps_turned [a-file-that-almost-fits]: Shift and bias go through all matrices the wrong way round: a matrix here
is output × input, `W @ b`.
- b_q = b_q + W_q @ shift
- b_v = b_v + W_v @ shift
+ b_q = b_q + shift @ W_q
+ b_v = b_v + shift @ W_v
- "out": (W_o, b_o + W_o @ b_v),
+ "out": (W_o, b_o + b_v @ W_o),
## bias_scaled: You multiply the bias of the queries by the scale; the norm scales before the map, not after it.
- "q": (W_q * scale, b_q),
+ "q": (W_q * scale, b_q * scale),
## values_bias_counted_twice: The bias of the values stays where it was and is folded into `out` as well.
- "v": (W_v * scale, zeros),
+ "v": (W_v * scale, b_v),
## keys_bias_kept: The bias of the keys is still there, but nothing depends on it.
- "k": (W_k * scale, zeros),
+ "k": (W_k * scale, layer["k"][1] + W_k @ shift),
## keys_bias_to_the_queries: The bias of the keys is moved to the queries; it need not go anywhere.
- b_q = b_q + W_q @ shift
+ b_q = b_q + W_q @ shift + layer["k"][1] + W_k @ shift
## queries_bias_dropped: The bias of the queries is dropped with that of the keys, but scores do depend on it.
+ b_q = zeros
## keys_not_scaled: Your keys' matrix is not scaled, but it reads the normalised token, too.
- "k": (W_k * scale, zeros),
+ "k": (W_k, zeros),
## divided_by_the_scale: You divide the matrices by the scale; multiply them by it.
- "q": (W_q * scale, b_q),
- "k": (W_k * scale, zeros),
- "v": (W_v * scale, zeros),
+ "q": (W_q / scale, b_q),
+ "k": (W_k / scale, zeros),
+ "v": (W_v / scale, zeros),
## out_scaled: The matrix of `out` is scaled, too, but it does not read what the norm makes.
- "out": (W_o, b_o + W_o @ b_v),
+ "out": (W_o * scale, b_o + W_o @ b_v),
""")
