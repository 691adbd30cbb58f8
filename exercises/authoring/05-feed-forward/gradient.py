"""Exercise 05, question gradient: Stretch: the backward pass by hand."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import close, draw_sizes, shapes_slip


def forward(x, W_1, b_1, W_2, b_2):
    return np.maximum(x @ W_1.T + b_1, 0) @ W_2.T + b_2


def reference(x, W_1, b_1, W_2, dy):
    z = x @ W_1.T + b_1
    dz = (dy @ W_2) * (z > 0)
    by_W_1, by_W_2 = torch.einsum("bnf,bnd->fd", dz, x), torch.einsum("bnd,bnf->df", dy, z.clamp(min=0))
    return dz @ W_1, by_W_1, dz.sum((0, 1)), by_W_2, dy.sum((0, 1))


def draw_args(rng, B, N, D, F):
    W_1, b_1, W_2 = rng.normal(size=(F, D)) / np.sqrt(D), rng.normal(size=F), rng.normal(size=(D, F)) / np.sqrt(F)
    x = rng.normal(size=(B, N, D))
    while np.abs(x @ W_1.T + b_1).min() < 1e-3:  # no number at the corner
        x = rng.normal(size=(B, N, D))
    return x, W_1, b_1, W_2, rng.normal(size=(B, N, D))


def ordinary_gradients(rng):
    B, N, D, F = draw_sizes(rng, 4)
    sizes = [(B, N, D, F), (1, N, D, F), (B, 1, F, D), (B, N, 1, F), (B, N, D, 1)]
    return [*[draw_args(rng, *each) for each in sizes], at_the_corner(rng)]


def at_the_corner(rng):
    """Whole numbers, so that some sums are exactly 0: there the slope is 0."""
    B, N, D, F = draw_sizes(rng, 4)
    x, W_1 = rng.integers(1, 4, size=(B, N, D)) * 1.0, rng.integers(1, 4, size=(F, D)) * 1.0
    return x, W_1, -W_1 @ x[0, 1], rng.normal(size=(D, F)), rng.normal(size=(B, N, D))


def gradients_of_equal_sizes(rng):
    return [draw_args(rng, *4 * [size]) for size in draw_sizes(rng, 2)]


def shapes_of(x, W_1, b_1, W_2, dy):
    return x.shape, W_1.shape, b_1.shape, W_2.shape, x.shape[-1:]


def second_map(ask, rng):
    """The two gradients that need no slope of the bend."""
    arguments = draw_args(rng, *draw_sizes(rng, 4))
    found = ask(*arguments)
    if slip := shapes_slip(found, shapes_of(*arguments), parts=(3, 4)):
        return slip
    expected = [each.numpy() for each in reference(*map(torch.from_numpy, arguments))]
    for place, name in ((3, "W_2"), (4, "b_2")):
        if not close(found[place], expected[place], 1e-3):
            return f"Your gradient for {name} is not right; the others are not looked at here."
    return None


def gradient_check(ask, rng):
    x, W_1, b_1, W_2, dy = arguments = draw_args(rng, *draw_sizes(rng, 4))
    values, step = [x, W_1, b_1, W_2, rng.normal(size=x.shape[-1])], 1e-6
    found = ask(*arguments)
    if slip := shapes_slip(found, shapes_of(*arguments)):
        return slip
    for place, name in enumerate(("x", "W_1", "b_1", "W_2", "b_2")):
        direction = rng.normal(size=values[place].shape)
        moved = [[*values[:place], values[place] + sign * step * direction, *values[place + 1 :]] for sign in (1, -1)]
        up, down = ((dy * forward(*each)).sum() for each in moved)
        measured, claimed = (up - down) / (2 * step), (found[place] * direction).sum()
        if abs(measured - claimed) > 1e-3 * max(1.0, abs(measured), np.abs(found[place]).max()):
            return (
                f"Along a random direction of {name} the loss changes by {measured:.4g} for each unit of the step, "
                f"but your gradient says {claimed:.4g}."
            )
    return None


def tokens_add_up(ask, rng):
    x, W_1, b_1, W_2, dy = arguments = draw_args(rng, *draw_sizes(rng, 4))
    whole = ask(*arguments)
    if slip := shapes_slip(whole, shapes_of(*arguments)):
        return slip
    for name, axis in (("rows of the batch", 0), ("tokens", 1)):
        halves = [np.array_split(array, 2, axis) for array in (x, dy)]
        one, other = (ask(part, W_1, b_1, W_2, d_part) for part, d_part in zip(*halves, strict=True))
        for place, of in enumerate(("W_1", "b_1", "W_2", "b_2"), 1):
            if not close(whole[place], one[place] + other[place], 1e-3):
                return f"All tokens share one {of}, so gradients from two parts of the {name} add up; yours do not."
            if close(whole[place], 0 * whole[place]):
                return f"Your gradient for {of} is 0 everywhere."
        if not close(whole[0], np.concatenate([one[0], other[0]], axis), 1e-3):
            return f"The gradient for a token depends on that token alone, but yours changes with other {name}."
    return None


QUESTION = Question(
    id="gradient",
    title="Stretch: the backward pass by hand",
    name="feed_forward_backward",
    minutes=25,
    difficulty=3,
    checks=with_battery(
        holds("second map", 3, second_map),
        equals("values", 5, ordinary_gradients, reference),
        equals("equal sizes", 2, gradients_of_equal_sizes, reference),
        holds("gradient check", 4, gradient_check),
        holds("tokens add up", 4, tokens_add_up),
        more={"boundary": in_cases_of("values")},
    ),
    hints=(
        "Name the stages of the way forward: what goes into the ReLU, what comes out of it. Each of the two maps is a "
        "`z = x @ W.T + b`, with another x.",
        "Go backwards. The rule for a map gives you three gradients for the second one; what arrives at its input then "
        "goes through the ReLU. By how much does ReLU(z) grow when z grows a little, for z above and for z below 0?",
        "All tokens of all rows share one matrix, so its gradient is a sum over both axes. Flatten the first two axes "
        "of both factors, or write the product with `torch.einsum`.",
    ),
    section="the-layer-in-pytorch",
    inputs=Inputs(axes("BND", "FD", "F", "DF", "BND"), alike=("equal sizes",)),
    how="tensors",
    forbids=("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward"),
)

right, wrong = answers_to(QUESTION)


@right
def chain_rule(x, W_1, b_1, W_2, dy):
    before = x @ W_1.T + b_1
    d_before = (dy @ W_2) * (before > 0)
    tokens, units = x.flatten(0, 1), before.clamp(min=0).flatten(0, 1)
    above, below = dy.flatten(0, 1), d_before.flatten(0, 1)
    return d_before @ W_1, below.T @ tokens, below.sum(0), above.T @ units, above.sum(0)


@right
def token_for_token(x, W_1, b_1, W_2, dy):
    dx, (dW_1, db_1, dW_2) = torch.zeros_like(x), map(torch.zeros_like, (W_1, b_1, W_2))
    for b in range(len(x)):
        for n in range(x.shape[1]):
            h = (W_1 @ x[b, n] + b_1).clamp(min=0)
            g = torch.where(h > 0, dy[b, n] @ W_2, 0.0)
            dx[b, n] = g @ W_1
            dW_1 += torch.outer(g, x[b, n])
            db_1 += g
            dW_2 += torch.outer(dy[b, n], h)
    return dx, dW_1, db_1, dW_2, dy.sum(dim=(0, 1))


@right
def as_often_written(x, W_1, b_1, W_2, dy):
    z = torch.nn.functional.linear(x, W_1, b_1)
    h = torch.relu(z)
    g = (dy @ W_2) * (z > 0)
    dW_1, dW_2 = torch.einsum("bnf,bnd->fd", g, x), torch.einsum("bnd,bnf->df", dy, h)
    return g @ W_1, dW_1, g.sum((0, 1)), dW_2, dy.sum((0, 1))


@wrong("PyTorch's autograd does the work; this question asks for the five gradients by hand.")
def by_autograd(x, W_1, b_1, W_2, dy):
    b_2 = torch.zeros(x.shape[-1])
    leaves = [value.clone().requires_grad_() for value in (x, W_1, b_1, W_2, b_2)]
    x, W_1, b_1, W_2, b_2 = leaves
    return torch.autograd.grad((dy * (torch.relu(x @ W_1.T + b_1) @ W_2.T + b_2)).sum(), leaves)


wrong.edits("""
# as_often_written
## not_stopped_for_x: On the way to x your gradient passes every unit, also those that the ReLU has set to 0.
- return g @ W_1, dW_1, g.sum((0, 1)), dW_2, dy.sum((0, 1))
+ return dy @ W_2 @ W_1, dW_1, g.sum((0, 1)), dW_2, dy.sum((0, 1))
## relu_of_the_gradient: Your gradient goes through a ReLU of its own; only the sign of what went in decides.
- g = (dy @ W_2) * (z > 0)
+ g = torch.relu(dy @ W_2) * (z > 0)
## value_for_slope: You multiply by what the ReLU gives; the chain rule asks how fast it grows.
- g = (dy @ W_2) * (z > 0)
+ g = (dy @ W_2) * h
## no_slope: You pass the gradient through the ReLU as if it did nothing.
+ g = dy @ W_2
## slope_of_one_place: You let the sign of the incoming gradient decide, not that of the number that went into the ReLU.
+ g = torch.relu(dy @ W_2)
## threshold_forgotten: You ask whether a unit was on without its bias.
+ g = (dy @ W_2) * (x @ W_1.T > 0)
## slope_turned_round: You pass the gradient where the ReLU is off and stop it where it is on.
+ g = (dy @ W_2) * (z <= 0)
## second_matrix_skipped: Your gradient reaches the hidden units without going through W_2.
+ g = dy.sum(-1, keepdim=True) * (z > 0)
## slope_one_at_zero: You take the slope 1 where exactly 0 goes into the ReLU; the task takes 0 there.
+ g = (dy @ W_2) * (z >= 0)
## half_slope_at_zero: You take the slope ½ where exactly 0 goes into the ReLU; the task takes 0 there.
+ g = (dy @ W_2) * torch.heaviside(z, torch.tensor(0.5))
## before_the_bend: Your gradient by W_2 uses the hidden numbers before the bend, but W_2 never sees those.
- dW_1, dW_2 = torch.einsum("bnf,bnd->fd", g, x), torch.einsum("bnd,bnf->df", dy, h)
+ dW_1, dW_2 = torch.einsum("bnf,bnd->fd", g, x), torch.einsum("bnd,bnf->df", dy, z)
## on_or_off [hidden-units-are-questions]: Your gradient by W_2 knows which units were on, but not how much they gave.
+ dW_1, dW_2 = torch.einsum("bnf,bnd->fd", g, x), torch.einsum("bnd,bnf->df", dy, (z > 0) * 1.0)
## matrices_transposed: Your gradients for the matrices lie on their sides: a gradient has the shape of its parameter.
+ dW_1, dW_2 = torch.einsum("bnf,bnd->df", g, x), torch.einsum("bnd,bnf->fd", dy, h)
## first_row_alone: Your gradients for the matrices come from the first row of the batch alone.
+ dW_1, dW_2 = g[0].T @ x[0], dy[0].T @ h[0]
## mean_for_sum: Your gradient by b_1 is a mean over the tokens, but each of them adds to the loss.
- return g @ W_1, dW_1, g.sum((0, 1)), dW_2, dy.sum((0, 1))
+ return g @ W_1, dW_1, g.mean((0, 1)), dW_2, dy.sum((0, 1))
## means_over_the_batch: Your gradients by parameters are means over the rows of the batch; add the rows up instead.
+ return g @ W_1, dW_1 / len(x), g.sum((0, 1)) / len(x), dW_2 / len(x), dy.sum((0, 1)) / len(x)
## means_over_the_tokens: Your gradients by parameters are means over all tokens; each of them adds to the loss.
+ n = x[..., 0].numel()
+ return g @ W_1, dW_1 / n, g.sum((0, 1)) / n, dW_2 / n, dy.sum((0, 1)) / n
## biases_for_each_row: Your gradients for the biases have a row for each sequence, but all of them share one bias.
+ return g @ W_1, dW_1, g.sum(1), dW_2, dy.sum(1)
## sum_over_the_units: Your gradient by b_1 sums over the hidden units; it is the tokens that share a bias.
+ return g @ W_1, dW_1, g.sum((0, 2)), dW_2, dy.sum((0, 1))
## map_not_turned: You apply W_1 as on the way forward, but the way back runs from hidden units to tokens.
+ return g @ W_1.T, dW_1, g.sum((0, 1)), dW_2, dy.sum((0, 1))
## another_order: Your five gradients are not in the order that the task asks for.
+ return g @ W_1, dW_2, dy.sum((0, 1)), dW_1, g.sum((0, 1))
## gradient_with_a_residual: Your gradient for x includes the path around the layer as well, but this layer has no
residual connection.
+ return g @ W_1 + dy, dW_1, g.sum((0, 1)), dW_2, dy.sum((0, 1))
## loss_forgotten: You put 1 in place of dy, as if every output counted the same.
  def as_often_written(x, W_1, b_1, W_2, dy):
+     dy = torch.ones_like(dy)
## no_input_gradient: You return the gradients of the parameters alone; the layers below need the one for x.
- return g @ W_1, dW_1, g.sum((0, 1)), dW_2, dy.sum((0, 1))
+ return dW_1, g.sum((0, 1)), dW_2, dy.sum((0, 1))
## slope_missing_at_W_1: Your gradient by W_1 goes past the bend: it lacks the slope of the ReLU.
- dW_1, dW_2 = torch.einsum("bnf,bnd->fd", g, x), torch.einsum("bnd,bnf->df", dy, h)
+ dW_1, dW_2 = torch.einsum("bnf,bnd->fd", dy @ W_2, x), torch.einsum("bnd,bnf->df", dy, h)
""")
