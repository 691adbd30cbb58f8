"""Exercise 07, question backward: Stretch: the gradient of LayerNorm, by hand and in NumPy, with tokens in rows."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes, shapes_slip
from clearformer.reference import layers

from .shared import EPS, draw_tokens


def forward(X, gamma, beta, eps=EPS):
    return layers.layer_norm(X.T, gamma, beta, eps).T


def reference(X, gamma, dY, eps=EPS):
    dX, dgamma, dbeta = layers.layer_norm_backward(X.T, gamma, dY.T, eps)
    return dX.T, dgamma, dbeta


def with_gradient(rng, N, D, *eps):
    return draw_tokens(rng, (N, D)), rng.normal(size=D) + 0.5, rng.normal(size=(N, D)), *eps


def ordinary_gradients(rng):
    cases = []
    for n_tokens, eps in ((None, [0.1]), (None, []), (1, [0.5]), (None, [0.02])):
        N, D = draw_sizes(rng, 2)
        cases.append(with_gradient(rng, n_tokens or N, D, *eps))
    N, D = draw_sizes(rng, 2)
    X, *rest = with_gradient(rng, N, D)
    X[1] = float(rng.integers(2, 9))
    X[2] *= 1e-5
    return [*cases, (X, *rest, 1e-8)]  # a constant token, and one that is nearly so


def gradients_of_equal_sizes(rng):
    return [with_gradient(rng, size, size, eps) for size, eps in zip(draw_sizes(rng, 2), (0.1, EPS), strict=True)]


def scale_and_shift(ask, rng):
    """The two gradients of the parameters, so that they earn their points whatever the one for X is."""
    N, D = draw_sizes(rng, 2)
    arguments = with_gradient(rng, N, D, 0.1)
    found = ask(*arguments)
    if slip := shapes_slip(found, ((N, D), (D,), (D,)), parts=(1, 2)):
        return slip
    expected = reference(*arguments)
    for place, name in ((1, "gamma"), (2, "beta")):
        if not close(found[place], expected[place], 1e-8):
            return f"Your gradient for {name} is not right; the others are not looked at here."
    return None


def gradient_check(ask, rng):
    N, D = draw_sizes(rng, 2)
    X, gamma, dY, eps = with_gradient(rng, N, D, 0.1)
    values, step = [X, gamma, rng.normal(size=D)], 1e-5
    found = ask(X, gamma, dY, eps)
    if slip := shapes_slip(found, [value.shape for value in values]):
        return slip
    for place, name in enumerate(("X", "gamma", "beta")):
        direction = rng.normal(size=values[place].shape)
        moved = [[*values[:place], values[place] + sign * step * direction, *values[place + 1 :]] for sign in (1, -1)]
        up, down = ((dY * forward(*arguments, eps)).sum() for arguments in moved)
        measured, claimed = (up - down) / (2 * step), (found[place] * direction).sum()
        if abs(measured - claimed) > 1e-5 * max(1.0, abs(measured)):
            return (
                f"Along a random direction of {name} the loss changes by {measured:.4g} for each unit of the step, "
                f"but your gradient says {claimed:.4g}."
            )
    return None


def nothing_along_the_mean(ask, rng):
    N, D = draw_sizes(rng, 2)
    X, gamma, dY, eps = with_gradient(rng, N, D, 0.1)
    whole = ask(X, gamma, dY, eps)
    if slip := shapes_slip(whole, ((N, D), (D,), (D,))):
        return slip
    if not close(whole[0].sum(axis=1), np.zeros(N), 1e-8):
        return (
            "A shift of a whole token changes nothing, so its gradient must sum to 0 over the features; yours does not."
        )
    halves = [ask(X[part].copy(), gamma, dY[part].copy(), eps) for part in (slice(0, 2), slice(2, N))]
    if not close(whole[0], np.concatenate([halves[0][0], halves[1][0]]), 1e-8):
        return "The gradient for a token depends on that token alone, but yours changes with its company."
    if not close(whole[1], halves[0][1] + halves[1][1], 1e-8):
        return "All tokens share one gamma, so its gradients from two parts of the sequence add up; yours do not."
    if any(close(array, 0 * array) for array in whole):
        return "One of your gradients is 0 everywhere."
    return None


QUESTION = Question(
    id="backward",
    title="Stretch: the gradient of LayerNorm",
    name="layer_norm_backward",
    minutes=45,
    difficulty=3,
    checks=with_battery(
        holds("scale and shift", 3, scale_and_shift),
        equals("values", 6, ordinary_gradients, reference),
        equals("equal sizes", 2, gradients_of_equal_sizes, reference),
        holds("gradient check", 4, gradient_check),
        holds("what has no gradient", 3, nothing_along_the_mean),
    ),
    hints=(
        "Work on one token. Name what stands before scale and shift x̂, and the gradient that arrives there; γ "
        "has a part in it. The gradients for γ and β need no more than this: which axis do they sum over?",
        "A small change of x changes x̂ in three ways: directly, through the mean, and through the standard "
        "deviation. The last is σ = √(var + ε), and its slope in x_d is x̂_d / D.",
        "Each of the last two ways takes something out of the arriving gradient: its mean, and its mean "
        "product with x̂, along x̂. All three share one factor; it belongs to the token.",
    ),
    section="one-token-at-a-time-layernorm",
    inputs=Inputs(axes("ND", "D", "ND"), alike=("equal sizes",)),
)

right, wrong = answers_to(QUESTION)


@right
def three_terms(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=1, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma * dY
    dX = inverse * (g - g.mean(axis=1, keepdims=True) - X_hat * (g * X_hat).mean(axis=1, keepdims=True))
    return dX, (dY * X_hat).sum(axis=0), dY.sum(axis=0)


@right
def jacobian_of_a_token(X, gamma, dY, eps=1e-5):
    N, D = X.shape
    dX, dgamma = np.zeros((N, D)), np.zeros(D)
    for n in range(N):
        s = np.sqrt(X[n].var() + eps)
        x_hat = (X[n] - X[n].mean()) / s
        J = (np.eye(D) - 1 / D - np.outer(x_hat, x_hat) / D) / s
        dX[n] = J.T @ (gamma * dY[n])
        dgamma += dY[n] * x_hat
    return dX, dgamma, np.ones(N) @ dY


@right
def through_mean_and_variance(X, gamma, dY, eps=1e-5):
    D = X.shape[1]
    mu, var = X.mean(axis=1)[:, None], X.var(axis=1)[:, None]
    root = np.sqrt(var + eps)
    d_hat = dY * gamma
    d_var = (d_hat * (X - mu)).sum(axis=1)[:, None] * -0.5 * root**-3
    d_mu = -(d_hat / root).sum(axis=1)[:, None] + d_var * (-2 * (X - mu)).mean(axis=1)[:, None]
    dX = d_hat / root + d_var * 2 * (X - mu) / D + d_mu / D
    return dX, ((X - mu) / root * dY).sum(axis=0), dY.sum(axis=0)


@right
def as_often_written(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(1, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(1, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma * dY
    dX = inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True))
    return dX, (dY * X_hat).sum(axis=0), dY.sum(axis=0)


@wrong("Your variance divides by D − 1, unlike that of the norm itself.", section="common-mistakes")
def degrees_of_freedom(X, gamma, dY, eps=1e-5):
    inverse = 1 / np.sqrt(X.var(axis=1, keepdims=True, ddof=1) + eps)
    X_hat, g = (X - X.mean(axis=1, keepdims=True)) * inverse, gamma * dY
    dX = inverse * (g - g.mean(axis=1, keepdims=True) - X_hat * (g * X_hat).mean(axis=1, keepdims=True))
    return dX, (dY * X_hat).sum(axis=0), dY.sum(axis=0)


wrong.edits("""
# three_terms
## spread_without_epsilon: In the last term of your gradient the spread lacks its ε.
- dX = inverse * (g - g.mean(axis=1, keepdims=True) - X_hat * (g * X_hat).mean(axis=1, keepdims=True))
+ bare = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True))
+ dX = inverse * (g - g.mean(axis=1, keepdims=True) - bare * (g * X_hat).mean(axis=1, keepdims=True))
## statistics_over_the_tokens [the-norm-that-sees-the-future]: You average over the tokens: this is the gradient of the
norm that sees the future.
- centred = X - X.mean(axis=1, keepdims=True)
- inverse = 1 / np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps)
+ centred = X - X.mean(axis=0)
+ inverse = 1 / np.sqrt((centred**2).mean(axis=0) + eps)
- dX = inverse * (g - g.mean(axis=1, keepdims=True) - X_hat * (g * X_hat).mean(axis=1, keepdims=True))
+ dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))

# as_often_written
## statistics_held_fixed: You treat mean and variance as constants, but a feature moves both of them.
- dX = inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True))
+ dX = inverse * g
## mean_held_fixed: The path through the mean is missing from your gradient for X.
+ dX = inverse * (g - X_hat * (g * X_hat).mean(1, keepdims=True))
## spread_held_fixed: The path through the standard deviation is missing from your gradient for X.
+ dX = inverse * (g - g.mean(1, keepdims=True))
## sums_for_means: Your two corrections are sums over the features where they should be means.
+ dX = inverse * (g - g.sum(1, keepdims=True) - X_hat * (g * X_hat).sum(1, keepdims=True))
## wrong_sign: The path through the standard deviation has the wrong sign: a larger spread makes every output smaller.
+ dX = inverse * (g - g.mean(1, keepdims=True) + X_hat * (g * X_hat).mean(1, keepdims=True))
## gamma_missing: γ is missing from your gradient for X.
- g = gamma * dY
+ g = dY
## gamma_last: You multiply by γ at the end; it has to enter before the means are taken.
- g = gamma * dY
- dX = inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True))
+ g = dY
+ dX = gamma * inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True))
## gamma_twice: γ enters your gradient for X twice.
- dX = inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True))
+ dX = gamma * inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True))
## inverse_missing: The factor of one over the standard deviation is missing from your gradient for X.
+ dX = g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True)
## root_missing_throughout: The root is missing: you divide by the variance, in the standardised features and in your
gradient for X.
- inverse = 1 / np.sqrt((centred**2).mean(1, keepdims=True) + eps)
+ inverse = 1 / ((centred**2).mean(1, keepdims=True) + eps)
## inverse_squared: You divide by the variance: one factor too many stands before your gradient for X.
- dX = inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True))
+ dX = inverse * inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True))
## centred_for_standard: Your path through the standard deviation takes centred features, not yet divided by it.
+ dX = inverse * (g - g.mean(1, keepdims=True) - centred * (g * centred).mean(1, keepdims=True))
## spread_once: In the path through the standard deviation you leave out one division by it.
+ dX = inverse * (g - g.mean(1, keepdims=True) - centred * (g * X_hat).mean(1, keepdims=True))
## means_over_the_tokens: The statistics are those of each token, but the corrections of your gradient average over the
tokens.
+ dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
## gamma_from_raw_tokens: The gradient for γ needs the standardised features; yours takes those of X.
- return dX, (dY * X_hat).sum(axis=0), dY.sum(axis=0)
+ return dX, (dY * X).sum(axis=0), dY.sum(axis=0)
## gamma_from_centred_tokens: Your gradient for γ takes centred features; divide them by the standard deviation, too.
+ return dX, (dY * centred).sum(axis=0), dY.sum(axis=0)
## gamma_from_its_own_product: Your gradient for γ has γ in it; γ x̂ has the slope x̂.
+ return dX, (g * X_hat).sum(axis=0), dY.sum(axis=0)
## parameters_averaged: Your gradients for γ and β are means over the tokens; every token adds its own share.
+ return dX, (dY * X_hat).mean(axis=0), dY.mean(axis=0)
## parameters_over_features: Your gradients for γ and β sum over the features and have one number a token.
+ return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)
## beta_scaled: Your gradient by β has γ in it; the shift is added after the scale.
+ return dX, (dY * X_hat).sum(axis=0), g.sum(axis=0)
## gamma_and_beta_exchanged: Your gradients for γ and β are swapped.
+ return dX, dY.sum(axis=0), (dY * X_hat).sum(axis=0)
## eps_always_small [one-token-at-a-time-layernorm]: Your ε is 0.00001 whatever the caller passes.
- inverse = 1 / np.sqrt((centred**2).mean(1, keepdims=True) + eps)
+ inverse = 1 / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
## eps_forgotten [one-token-at-a-time-layernorm]: There is no ε in your standard deviation.
+ inverse = 1 / np.sqrt((centred**2).mean(1, keepdims=True) + 0)
## forward_scaling: This scales dY by γ over the standard deviation and centres the result: half of the chain rule.
- dX = inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True))
+ dX = inverse * g - (inverse * g).mean()
## one_sum_for_a_mean: In the path through the standard deviation you sum over features; take the mean.
+ dX = inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).sum(1, keepdims=True))
## mean_of_all_tokens: You take out the mean of the whole matrix; use each token's own.
+ dX = inverse * (g - g.mean() - X_hat * (g * X_hat).mean(1, keepdims=True))
## along_nothing: The mean product with x̂ is taken out of every feature alike; it belongs along x̂.
+ dX = inverse * (g - g.mean(1, keepdims=True) - (g * X_hat).mean(1, keepdims=True))
## no_mean_in_the_spread: In the path through the standard deviation the mean is missing: each feature looks at its own
product only.
+ dX = inverse * (g - g.mean(1, keepdims=True) - X_hat * g * X_hat)
## spread_without_gamma: γ is missing in the path through the standard deviation.
+ dX = inverse * (g - g.mean(1, keepdims=True) - X_hat * (dY * X_hat).mean(1, keepdims=True))
## mean_without_gamma: γ is missing in the path through the mean.
+ dX = inverse * (g - dY.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True))
## spread_doubled: The path through the standard deviation is doubled: the ½ from the slope of the root is missing.
+ dX = inverse * (g - g.mean(1, keepdims=True) - 2 * X_hat * (g * X_hat).mean(1, keepdims=True))
## divided_by_gamma: You divide by γ on the way back; the slope of γ x̂ by x̂ is γ.
- g = gamma * dY
+ g = dY / gamma
## factor_on_one_term: The factor of one over the standard deviation stands before the direct path only; all three have
it.
- dX = inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True))
+ dX = inverse * g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True)
## not_summed: Your gradients for γ and β have one row for each token; sum them over the tokens.
- return dX, (dY * X_hat).sum(axis=0), dY.sum(axis=0)
+ return dX, dY * X_hat, dY
## parameters_as_matrices: Your gradients for γ and β are matrices of one row; both should have the shape (D,).
+ return dX, (dY * X_hat).sum(axis=0, keepdims=True), dY.sum(axis=0, keepdims=True)
## another_default [one-token-at-a-time-layernorm]: Your default for ε is 0.000001; in the task it is 0.00001.
- def as_often_written(X, gamma, dY, eps=1e-5):
+ def as_often_written(X, gamma, dY, eps=1e-6):
## constant_token_without_gradient: You give a constant token no gradient; ε keeps its spread above 0, and its features
still move its outputs.
- dX = inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True))
+ dX = inverse * (g - g.mean(1, keepdims=True) - X_hat * (g * X_hat).mean(1, keepdims=True)) * centred.any(1)[:, None]
## difference_quotient: You measure the gradient with small steps, which are not small for a token that is nearly
constant; the chain rule gives a formula.
+ step = 1e-6 * np.eye(X.shape[1])[:, None]
+ up, down = ((Z - Z.mean(2)[..., None]) / np.sqrt(Z.var(2) + eps)[..., None] for Z in (X + step, X - step))
+ dX = (g * (up - down)).sum(axis=2).T / 2e-6
## tokens_standardised_by_columns [the-norm-that-sees-the-future]: Your mean and your variance run over the tokens; each
token has its own.
- centred = X - X.mean(1, keepdims=True)
- inverse = 1 / np.sqrt((centred**2).mean(1, keepdims=True) + eps)
+ centred = X - X.mean(0, keepdims=True)
+ inverse = 1 / np.sqrt((centred**2).mean(0, keepdims=True) + eps)
## gamma_not_summed: Your gradient for γ has one row for each token; sum it over the tokens.
- return dX, (dY * X_hat).sum(axis=0), dY.sum(axis=0)
+ return dX, dY * X_hat, dY.sum(axis=0)
""")
