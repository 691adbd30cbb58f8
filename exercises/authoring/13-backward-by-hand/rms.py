"""Exercise 13, question rms: back through RMSNorm."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes, shapes_slip

from .shared import BACKWARD, close, disagreement

SECTION = "norm-feed-forward-a-whole-block"


def forward(x, gain, eps):
    return gain * x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)


def reference(x, gain, e, eps):
    root = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    x_hat, g = x / root, gain * e
    return (g - x_hat * (g * x_hat).mean(axis=-1, keepdims=True)) / root, (e * x_hat).sum(axis=(0, 1))


def draw_args(rng, eps, sizes):
    B, N, D = sizes
    x = rng.normal(size=(B, N, D)) * rng.uniform(0.3, 3, size=(B, N, 1)) + 0.5
    return x, rng.normal(size=D) + 0.5, rng.normal(size=(B, N, D)), eps


def ordinary_cases(rng):
    B, N, D = draw_sizes(rng, 3)
    settings = ((0.1, (B, N, D)), (1e-5, (B, N, D)), (0.3, (1, N, D)), (0.1, (B, 1, D)))
    return [draw_args(rng, *setting) for setting in settings]


def of_equal_sizes(rng):
    return [draw_args(rng, 0.1, 3 * [size]) for size in draw_sizes(rng, 2)]


def tiny_and_huge(rng):
    """A token of zeros, one of size 1e-3 and one of 1e4, with an epsilon that shows in the first two; tokens so small
    that any number added to their squares shows, and that differences over a step of 1e-3 say nothing.
    """
    x, *rest = draw_args(rng, 0.05, draw_sizes(rng, 3))
    x[0, 0], x[1, 0], x[2, 0] = 0.0, 1e-3 * x[1, 0], 1e4 * x[2, 0]
    (faint, gain, e, _), (fainter, *others, _) = (draw_args(rng, 0.0, draw_sizes(rng, 3)) for _ in range(2))
    return [(x, *rest), (1e-4 * faint, gain, e, 0.0), (1e-4 * fainter, *others, 1e-9)]


def by_the_gain(ask, rng):
    """So that it earns its points whatever the gradient for x is."""
    arguments = draw_args(rng, 0.1, draw_sizes(rng, 3))
    found = ask(*arguments)
    if slip := shapes_slip(found, (arguments[0].shape, arguments[1].shape), parts=(1,)):
        return slip
    if not close(found[1], reference(*arguments)[1]):
        return "Your gradient for the gain is not right; the one for x is not looked at here."
    return None


def gradient_check(ask, rng):
    x, gain, e, eps = draw_args(rng, 0.1, draw_sizes(rng, 3))
    found = ask(x, gain, e, eps)
    if slip := shapes_slip(found, (x.shape, gain.shape)):
        return slip
    return disagreement(lambda *both: (e * forward(*both, eps)).sum(), ("x", "gain"), (x, gain), found, rng)


def nothing_along_the_token(ask, rng):
    x, gain, e, eps = draw_args(rng, 1e-12, draw_sizes(rng, 3))
    whole = ask(x, gain, e, eps)
    if slip := shapes_slip(whole, (x.shape, gain.shape)):
        return slip
    if not close((whole[0] * x).sum(axis=-1), np.zeros(x.shape[:2]), 1e-7):
        return "A longer token gives the same output, so its gradient must have nothing along the token; yours has."
    if close(whole[0], 0 * whole[0]):
        return "Your gradient for x is 0 everywhere."
    if close(whole[0].sum(axis=-1), np.zeros(x.shape[:2]), 1e-7):
        return "RMSNorm notices when all features are shifted alike, but your gradient sums to 0 over the features."
    halves = [ask(part, gain, d_part, eps) for part, d_part in zip(np.split(x, [1]), np.split(e, [1]), strict=True)]
    if not close(whole[0], np.concatenate([half[0] for half in halves])):
        return "The gradient for a token depends on that token alone, but yours changes with its company."
    return None


QUESTION = Question(
    id="rms",
    title="Back through RMSNorm",
    name="rms_norm_backward",
    minutes=16,
    difficulty=2,
    checks=with_battery(
        equals("values", 5, ordinary_cases, reference),
        equals("tiny and huge tokens", 2, tiny_and_huge, reference),
        equals("equal sizes", 1, of_equal_sizes, reference),
        holds("by the gain", 3, by_the_gain),
        holds("gradient check", 3, gradient_check),
        holds("nothing along the token", 2, nothing_along_the_token),
    ),
    hints=(
        "Work on one token. Write x̂ = x / r, with r for the root. If x moves by dx, by how much does r move?",
        "r² is the mean of the squares plus ε, so 2 r dr = mean(2 x ⊙ dx), and dr = mean(x̂ ⊙ dx). Put it into "
        "dx̂ = dx / r − x dr / r².",
        "The result looks like that of LayerNorm with one of its two means left out. The gain stands in front of the "
        "error, and gets a sum over all tokens itself.",
    ),
    section=SECTION,
    inputs=Inputs(axes("BND", "D", "BND"), alike=("equal sizes",)),
    forbids=BACKWARD,
)

right, wrong = answers_to(QUESTION)


@right
def one_mean(x, gain, e, eps):
    inverse = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    x_hat = x * inverse
    g = gain * e
    shared = (g * x_hat).mean(axis=-1, keepdims=True)
    return inverse * (g - shared * x_hat), (e * x_hat).sum(axis=(0, 1))


@right
def token_by_token(x, gain, e, eps):
    dx, d_gain = np.zeros_like(x), np.zeros_like(gain)
    for b, n in np.ndindex(x.shape[:2]):
        token, error = x[b, n], e[b, n]
        root = np.sqrt(token @ token / len(token) + eps)
        J = np.diag(gain) @ (np.eye(len(token)) - np.outer(token, token) / (len(token) * root**2)) / root
        dx[b, n] = J.T @ error
        d_gain += error * token / root
    return dx, d_gain


@right
def through_the_square(x, gain, e, eps):
    square = np.einsum("bnd,bnd->bn", x, x) / x.shape[2] + eps
    d_hat = np.einsum("d,bnd->bnd", gain, e)
    d_square = -0.5 * square**-1.5 * np.einsum("bnd,bnd->bn", d_hat, x)
    dx = d_hat * square[..., None] ** -0.5 + 2 * x * d_square[..., None] / x.shape[2]
    return dx, np.einsum("bnd,bnd,bn->d", e, x, square**-0.5)


@wrong("Your gradients are differences of the loss over a step; derive them: for small tokens the step is too long.")
def from_differences(x, gain, e, eps):
    found = []
    for place, array in enumerate((x, gain)):
        slopes = np.zeros(array.size)
        for i in range(array.size):
            losses = []
            for step in (1e-3, -1e-3, 2e-3, -2e-3):
                moved = [x.copy(), gain.copy()]
                moved[place].flat[i] += step
                root = np.sqrt((moved[0] ** 2).mean(axis=-1, keepdims=True) + eps)
                losses.append((e * moved[1] * moved[0] / root).sum())
            slopes[i] = (8 * (losses[0] - losses[1]) - (losses[2] - losses[3])) / 12e-3
        found.append(slopes.reshape(array.shape))
    return tuple(found)


wrong.edits("""
# one_mean
## projected_without_epsilon: Your projection is made with vectors that were scaled without ε; the same scale belongs in
both places.
- return inverse * (g - shared * x_hat), (e * x_hat).sum(axis=(0, 1))
+ plain = x / np.sqrt((x**2).mean(axis=-1, keepdims=True))
+ return inverse * (g - (g * plain).mean(axis=-1, keepdims=True) * plain), (e * x_hat).sum(axis=(0, 1))
## eps_never_small: Your ε is never below 0.000000000001; where it is 0 and tokens are small, that shows.
- inverse = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
+ inverse = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + max(eps, 1e-12))
## mean_taken_out: You take out the mean of the gradient as well, as for LayerNorm; RMSNorm notices a shift.
- return inverse * (g - shared * x_hat), (e * x_hat).sum(axis=(0, 1))
+ return inverse * (g - g.mean(axis=-1, keepdims=True) - shared * x_hat), (e * x_hat).sum(axis=(0, 1))
## root_held_fixed: You treat the root as a constant; it changes with x, too.
+ return inverse * g, (e * x_hat).sum(axis=(0, 1))
## sum_for_mean: You subtract the sum of the products along x̂; use their mean.
- shared = (g * x_hat).mean(axis=-1, keepdims=True)
+ shared = (g * x_hat).sum(axis=-1, keepdims=True)
## over_the_tokens: Your mean runs over the tokens; each token has one of its own, over its features.
+ shared = (g * x_hat).mean(axis=1, keepdims=True)
## gain_forgotten: Your gradient for x lacks the gain.
- g = gain * e
+ g = e
## gain_too_late: Your gain comes after the mean; apply it to the error first.
- g = gain * e
- shared = (g * x_hat).mean(axis=-1, keepdims=True)
- return inverse * (g - shared * x_hat), (e * x_hat).sum(axis=(0, 1))
+ shared = (e * x_hat).mean(axis=-1, keepdims=True)
+ return inverse * gain * (e - shared * x_hat), (e * x_hat).sum(axis=(0, 1))
## not_divided: The division by the root is missing.
- return inverse * (g - shared * x_hat), (e * x_hat).sum(axis=(0, 1))
+ return g - shared * x_hat, (e * x_hat).sum(axis=(0, 1))
## eps_forgotten: ε is not used.
- inverse = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
+ inverse = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-30)
## eps_outside: ε stands behind the root; it belongs under it.
+ inverse = 1 / (np.sqrt((x**2).mean(axis=-1, keepdims=True)) + eps)
## variance_for_square: You use the variance; RMSNorm subtracts no mean.
+ inverse = 1 / np.sqrt(x.var(axis=-1, keepdims=True) + eps)
## sum_of_squares: You divide by the root of the sum of squares; use their mean.
+ inverse = 1 / np.sqrt((x**2).sum(axis=-1, keepdims=True) + eps)
## along_x: What you take out lies along x itself; use x̂ both times.
- return inverse * (g - shared * x_hat), (e * x_hat).sum(axis=(0, 1))
+ return inverse * (g - shared * x), (e * x_hat).sum(axis=(0, 1))
## gain_per_sequence: You do not sum the gradient for the gain over the batch.
+ return inverse * (g - shared * x_hat), (e * x_hat).sum(axis=1)
## gain_gets_x: You make the gain's gradient with x; it multiplies x̂, so use x̂.
+ return inverse * (g - shared * x_hat), (e * x).sum(axis=(0, 1))
## gain_twice: The gain is in its own gradient.
+ return inverse * (g - shared * x_hat), (g * x_hat).sum(axis=(0, 1))
## sign_of_the_second: The second term is added; it has to be subtracted.
+ return inverse * (g + shared * x_hat), (e * x_hat).sum(axis=(0, 1))
## shared_without_gain: Your second term lacks the gain: the mean is one of x̂ times the gradient for x̂.
- shared = (g * x_hat).mean(axis=-1, keepdims=True)
+ shared = (e * x_hat).mean(axis=-1, keepdims=True)
""")
