"""Exercise 16, question gated: two switches in one layer: RMSNorm and SwiGLU."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.cases import draw_sizes

from .shared import part_right


def gated_reference(x, gamma, W_gate, W_in, W_out, eps):
    """Token by token, hidden unit by hidden unit."""
    y = np.empty_like(x)
    for n, token in enumerate(x):
        normed = gamma * token / np.sqrt(sum(token**2) / len(token) + eps)
        hidden = []
        for to_gate, to_value in zip(W_gate, W_in, strict=True):
            z = float(to_gate @ normed)
            gate = z / (1 + np.exp(-z)) if z > -700 else 0.0
            hidden.append(gate * float(to_value @ normed))
        y[n] = token + W_out @ np.array(hidden)
    return y, (W_gate.size + W_in.size + W_out.size) // (2 * len(gamma))


def draw_gated(rng, factor=1.0, eps=1e-5, steep=1.0, n_tokens=None, sizes=None):
    N, D, F = sizes or draw_sizes(rng, 3)
    N = n_tokens or N
    W_gate, W_in, W_out = (rng.normal(size=shape) / np.sqrt(shape[1]) for shape in ((F, D), (F, D), (D, F)))
    x = factor * (rng.normal(size=(N, D)) + 0.7)
    return x, rng.uniform(0.5, 2, size=D), steep * W_gate, W_in, W_out, eps


def ordinary_layers(rng):
    return [draw_gated(rng), draw_gated(rng), draw_gated(rng, n_tokens=1), draw_gated(rng, sizes=(7, 7, 7))]


def extreme_layers(rng):
    """ε as large as the tokens, tokens like 10 000, gates that are open or shut."""
    return [draw_gated(rng, eps=0.1, factor=0.3), draw_gated(rng, factor=1e4), draw_gated(rng, steep=2e3)]


def gated_shapes(x, *rest):
    return x.shape, ()


QUESTION = Question(
    id="gated",
    title="Two switches in one layer: RMSNorm and SwiGLU",
    name="gated_layer",
    minutes=12,
    difficulty=1,
    checks=(
        equals("layer and width", 4, ordinary_layers, gated_reference),
        holds("the layer alone", 4, part_right(0, ordinary_layers, gated_reference, gated_shapes)),
        equals("large ε, large tokens, steep gates", 3, extreme_layers, gated_reference),
        holds("the width alone", 3, part_right(1, ordinary_layers, gated_reference, gated_shapes)),
    ),
    hints=(
        "Three steps: norm, gated network, residual. Which of the three sees the token as it came?",
        "RMSNorm divides by the root of the mean of squares, with ε under the root, and takes no mean away. "
        "Of the two matrices that read the token only one has an activation behind it.",
        "Count the numbers of three matrices of D times F, and ask how wide a layer with two matrices may be.",
    ),
    section="one-switch-at-a-time",
    inputs=Inputs(axes("ND", "D", "FD", "FD", "DF"), alike=("layer and width",)),
)

right, wrong = answers_to(QUESTION)


@right
def three_products(x, gamma, W_gate, W_in, W_out, eps):
    size = np.sqrt(np.mean(x * x, axis=1) + eps)
    n = x / size[:, None] * gamma
    before = n @ W_gate.T
    silu = before * 0.5 * (1 + np.tanh(before / 2))
    F, D = W_in.shape
    return x + silu * (n @ W_in.T) @ W_out.T, (3 * F * D) // (2 * D)


@right
def one_token_at_a_time(x, gamma, W_gate, W_in, W_out, eps):
    made = []
    for token in x:
        n = gamma * token / np.sqrt(token @ token / len(token) + eps)
        u = W_gate @ n
        opened = np.exp(-np.logaddexp(0, -u)) * u
        made.append(token + W_out @ (opened * (W_in @ n)))
    width = 0
    while 2 * (width + 1) * len(gamma) <= 3 * W_out.size:
        width += 1
    return np.array(made), width


@right
def columns_inside(x, gamma, W_gate, W_in, W_out, eps):
    X = x.T
    normed = gamma[:, None] * (X * (np.square(X).mean(axis=0) + eps) ** -0.5)
    u = np.clip(W_gate @ normed, -700, None)
    hidden = u * (1 + np.exp(-u)) ** -1.0 * (W_in @ normed)
    Y = X + W_out @ hidden
    total = W_gate.size + W_in.size + W_out.size
    return Y.T.copy(), int(np.floor(total / (2 * X.shape[0])))


@right
def as_often_written(x, gamma, W_gate, W_in, W_out, eps):
    normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    z = normed @ W_gate.T
    gate = z / (1 + np.exp(-z))
    width = 3 * len(W_gate) // 2
    return x + (gate * (normed @ W_in.T)) @ W_out.T, width


@wrong("Your norm stands behind the layer; here it stands before the network, inside the residual.")
def norm_behind(x, gamma, W_gate, W_in, W_out, eps):
    z = x @ W_gate.T
    y = x + (z / (1 + np.exp(-z)) * (x @ W_in.T)) @ W_out.T
    return gamma * y / np.sqrt((y**2).mean(axis=1, keepdims=True) + eps), 3 * len(W_gate) // 2


@wrong("You norm the hidden features; the token is normed before the network reads it.")
def hidden_normed(x, gamma, W_gate, W_in, W_out, eps):
    z = x @ W_gate.T
    hidden = z / (1 + np.exp(-z)) * (x @ W_in.T)
    hidden = hidden / np.sqrt((hidden**2).mean(axis=1, keepdims=True) + eps)
    return x + gamma * (hidden @ W_out.T), 3 * len(W_gate) // 2


wrong.edits("""
# as_often_written
## with_the_mean: You take the mean of the token away first, as LayerNorm does; RMSNorm leaves it in.
- normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ x0 = x - x.mean(axis=1, keepdims=True)
+ normed = gamma * x0 / np.sqrt((x0**2).mean(axis=1, keepdims=True) + eps)
## variance_below: You divide by the spread about the mean; RMSNorm divides by the root of the mean square.
- normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ normed = gamma * x / np.sqrt(x.var(axis=1, keepdims=True) + eps)
## sum_of_squares: You divide by the length of the token; the squares are to be averaged over its features.
- normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ normed = gamma * x / np.sqrt((x**2).sum(axis=1, keepdims=True) + eps)
## over_the_tokens: You average the squares over the tokens; every token has its own norm.
- normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ normed = gamma * x / np.sqrt((x**2).mean(axis=0, keepdims=True) + eps)
## no_root: You divide by the mean square and forget its root.
- normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ normed = gamma * x / ((x**2).mean(axis=1, keepdims=True) + eps)
## epsilon_outside: Your ε is added to the root; it belongs under it.
- normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ normed = gamma * x / (np.sqrt((x**2).mean(axis=1, keepdims=True)) + eps)
## no_epsilon: Your norm ignores ε.
- normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True))
## no_gamma: Your norm ignores γ.
- normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ normed = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
## norm_forgotten: Your network reads the token as it came; it should read the normed one.
- normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ normed = x
## gate_not_normed: Your gate reads the token as it came, and only the value the normed one; both read the normed one.
- z = normed @ W_gate.T
+ z = x @ W_gate.T
## value_not_normed: Your gate reads the normed token, and W_in the one that came; both read the normed one.
- width = 3 * len(W_gate) // 2
- return x + (gate * (normed @ W_in.T)) @ W_out.T, width
+ return x + (gate * (x @ W_in.T)) @ W_out.T, 3 * len(W_gate) // 2
## no_residual: The residual is missing: what the network says is added to the token.
- return x + (gate * (normed @ W_in.T)) @ W_out.T, width
+ return (gate * (normed @ W_in.T)) @ W_out.T, width
## normed_residual: You add the network to the normed token; the residual takes the token as it came.
- return x + (gate * (normed @ W_in.T)) @ W_out.T, width
+ return normed + (gate * (normed @ W_in.T)) @ W_out.T, width
## sigmoid_gate: Your gate is the logistic function alone; SiLU multiplies it by its argument.
- gate = z / (1 + np.exp(-z))
+ gate = 1 / (1 + np.exp(-z))
## silu_turned_round: The exponent of your SiLU has the wrong sign: the gate shuts where its argument is large.
- gate = z / (1 + np.exp(-z))
- width = 3 * len(W_gate) // 2
- return x + (gate * (normed @ W_in.T)) @ W_out.T, width
+ gate = z / (1 + np.exp(z))
+ return x + (gate * (normed @ W_in.T)) @ W_out.T, 3 * len(W_gate) // 2
## relu_gate: Your gate is a ReLU; here it is SiLU.
- gate = z / (1 + np.exp(-z))
+ gate = np.maximum(z, 0)
## tanh_gelu: Your gate is a GELU; here it is SiLU.
- gate = z / (1 + np.exp(-z))
+ gate = z / 2 * (1 + np.tanh(0.7978845608 * (z + 0.044715 * z**3)))
## wrong_half: You put the activation behind W_in; it belongs behind W_gate.
- z = normed @ W_gate.T
+ z = normed @ W_in.T
- return x + (gate * (normed @ W_in.T)) @ W_out.T, width
+ return x + (gate * (normed @ W_gate.T)) @ W_out.T, width
## both_activated: You put an activation behind both matrices; one of the two stays linear.
- return x + (gate * (normed @ W_in.T)) @ W_out.T, width
+ return x + (gate * (normed @ W_in.T) / (1 + np.exp(-normed @ W_in.T))) @ W_out.T, width
## added_gate: You add gate and value; they are multiplied.
- return x + (gate * (normed @ W_in.T)) @ W_out.T, width
+ return x + (gate + (normed @ W_in.T)) @ W_out.T, width
## no_gate: W_gate plays no part in your network.
- return x + (gate * (normed @ W_in.T)) @ W_out.T, width
+ return x + ((normed @ W_in.T) / (1 + np.exp(-normed @ W_in.T))) @ W_out.T, width
## overflowing_gate: Your gate becomes ∞ / ∞ for large arguments; write it with powers that cannot be that large.
- gate = z / (1 + np.exp(-z))
+ gate = z * np.exp(z) / (1 + np.exp(z))
## two_thirds: Your count goes the wrong way: it is the plain network that may be wider.
- width = 3 * len(W_gate) // 2
+ width = 2 * len(W_gate) // 3
## same_width: You return the width of the gated network, but with one matrix less a plain one may be wider.
- width = 3 * len(W_gate) // 2
+ width = len(W_gate)
## rounded_up: You round the count up, and the plain network has more numbers than the gated one.
- width = 3 * len(W_gate) // 2
+ width = -(-3 * len(W_gate) // 2)
## strictly_fewer: Your plain network has fewer numbers than the three matrices; it may have as many.
- width = 3 * len(W_gate) // 2
+ width = 0
+ while 2 * (width + 1) * x.shape[1] < 3 * W_gate.size:
+     width += 1
## numbers_for_width: Your count is the number of entries of the matrices; asked is a width.
- width = 3 * len(W_gate) // 2
+ width = 3 * W_gate.size
## twice_the_width: You count one matrix in the plain network; it has two.
- width = 3 * len(W_gate) // 2
+ width = 3 * len(W_gate)
## half_a_unit: Your count is no whole number; a network has whole hidden units.
- width = 3 * len(W_gate) // 2
+ width = 3 * len(W_gate) / 2
## eight_thirds: Your count is a rule of thumb about D; it follows from the sizes of the three matrices.
- width = 3 * len(W_gate) // 2
+ width = 4 * x.shape[1]
## gamma_behind: You multiply by γ behind the network; it belongs to the norm.
- normed = gamma * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ normed = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
- width = 3 * len(W_gate) // 2
- return x + (gate * (normed @ W_in.T)) @ W_out.T, width
+ return x + gamma * ((gate * (normed @ W_in.T)) @ W_out.T), 3 * len(W_gate) // 2
""")
