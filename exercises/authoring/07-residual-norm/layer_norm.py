"""Exercise 07, question layer-norm: layerNorm."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes
from clearformer.reference import layers

from .shared import EPS, draw_tokens


def with_scale(rng, X, *eps):
    D = len(X)
    return X, rng.normal(size=D), rng.normal(size=D), *eps


def ordinary_tokens(rng):
    cases = []
    for n_tokens, eps in ((None, [0.1]), (None, []), (1, [0.5]), (None, [0.02])):
        D, N = draw_sizes(rng, 2)
        cases.append(with_scale(rng, draw_tokens(rng, (D, n_tokens or N)), *eps))
    return cases


def as_many_tokens_as_features(rng):
    return [with_scale(rng, draw_tokens(rng, (size, size))) for size in draw_sizes(rng, 2)]


def special_tokens(rng):
    """Constant tokens, a token with a variance below ε, huge ones, ones far from 0, of one feature, and with a peak."""
    D, N = draw_sizes(rng, 2)
    mixed = rng.normal(size=(D, N)) * 10.0 ** rng.integers(-4, 4, size=N)
    mixed[:, 1] = float(rng.integers(2, 9))
    mixed[:, 2] = 0.0
    mixed[:, 3] = 1e-3 * rng.normal(size=D)
    far = 3e5 + 3 * rng.normal(size=(D, N))
    tables = mixed, far, 1e4 * rng.normal(size=(D, N)), rng.normal(size=(1, N))
    peaks = rng.normal(size=(59, N))
    peaks[7] += 100.0
    return [with_scale(rng, X, EPS) for X in (*tables, peaks)]


def every_token_alone(ask, rng):
    D, N = draw_sizes(rng, 2)
    X, gamma, beta = with_scale(rng, draw_tokens(rng, (D, N)))
    Y = ask(X, gamma, beta, 0.1)
    if not isinstance(Y, np.ndarray) or Y.shape != (D, N):
        return f"The result should be an array of shape {(D, N)}."
    edited = X.copy()
    edited[:, 2] += rng.normal(size=D)
    others = np.arange(N) != 2
    Y_edited = ask(edited, gamma, beta, 0.1)
    if not close(Y_edited[:, others], Y[:, others]):
        return "After an edit of token 2 only its own output may change, but others of yours do."
    if close(Y_edited[:, 2], Y[:, 2]):
        return "After an edit of token 2 its own output must change, but yours does not."
    stretched = ask(4.0 * X - 3.0, gamma, beta, 1.6)
    if not close(stretched, Y, 1e-8):
        return "Stretch all tokens by 4, shift them by −3 and take 16 times the ε: the output must stay as it was."
    if not close(ask(-X, gamma, beta, 0.1) + Y, np.repeat(2 * beta[:, None], N, axis=1), 1e-8):
        return "Your outputs for X and −X should lie at opposite sides of the shift β."
    return None


QUESTION = Question(
    id="layer-norm",
    title="LayerNorm",
    name="layer_norm",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("values", 4, ordinary_tokens, layers.layer_norm),
        equals("equal sizes", 1, as_many_tokens_as_features, layers.layer_norm),
        equals("constant, huge and far tokens", 3, special_tokens, layers.layer_norm),
        holds("every token alone", 4, every_token_alone),
    ),
    hints=(
        "How many means are there, and over how many numbers does each run? In a D × N matrix, which axis has to "
        "vanish?",
        "The mean and the variance have one number for each column and line up by themselves. The scale and "
        "the shift have one for each row, and have to be stood upright.",
        "Do the centring once, keep its result, and make the variance from that. Then try ε = 3 on the token "
        "of the example: is it inside the root, beside the variance?",
    ),
    section="one-token-at-a-time",
    inputs=Inputs(axes("DN", "D", "D"), alike=("equal sizes",)),
)

right, wrong = answers_to(QUESTION)


@right
def centred_once(X, gamma, beta, eps=1e-5):
    centred = X - X.mean(axis=0)
    return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]


@right
def number_by_number(X, gamma, beta, eps=1e-5):
    D, N = X.shape
    out = np.zeros((D, N))
    for n in range(N):
        mu = sum(X[d, n] for d in range(D)) / D
        spread = sum((X[d, n] - mu) ** 2 for d in range(D)) / D
        for d in range(D):
            out[d, n] = (X[d, n] - mu) / (spread + eps) ** 0.5 * gamma[d] + beta[d]
    return out


@right
def tokens_as_rows(X, gamma, beta, eps=1e-5):
    rows = X.T
    rows = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + eps)
    return (rows * gamma + beta).T


@right
def by_a_projection(X, gamma, beta, eps=1e-5):
    D = len(X)
    apart = (np.eye(D) - np.full((D, D), 1 / D)) @ (X - X[:1])
    return np.diag(gamma) @ apart * (np.einsum("dn,dn->n", apart, apart) / D + eps) ** -0.5 + np.outer(
        beta, X[0] == X[0]
    )


wrong.edits("""
# centred_once
## over_the_tokens [the-norm-that-sees-the-future]: Your mean runs over the tokens: every feature has one, and a token
learns about all the others.
- centred = X - X.mean(axis=0)
- return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]
+ centred = X - X.mean(axis=1, keepdims=True)
+ return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps) + beta[:, None]
## over_everything [common-mistakes]: You take one mean for the whole matrix; every token needs its own.
+ centred = X - X.mean()
+ return gamma[:, None] * centred / np.sqrt((centred**2).mean() + eps) + beta[:, None]
## eps_outside_the_root [common-mistakes]: You add ε to the standard deviation, outside the root; it belongs to the
variance.
- return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]
+ return gamma[:, None] * (X - X.mean(axis=0)) / (X.std(axis=0) + eps) + beta[:, None]
## root_of_sigma: You divide by the root of a standard deviation, which is a root already.
+ return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.std(axis=0) + eps) + beta[:, None]
## divided_by_the_variance: You divide by the variance: the root is missing.
+ return gamma[:, None] * (X - X.mean(axis=0)) / (X.var(axis=0) + eps) + beta[:, None]
## sum_for_mean: You subtract the sum of the features where their mean belongs.
- centred = X - X.mean(axis=0)
+ centred = X - X.sum(axis=0)
## squares_not_averaged: Your squares are summed and not averaged, so that wide tokens come out too short.
- return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]
+ return gamma[:, None] * centred / np.sqrt((centred**2).sum(axis=0) + eps) + beta[:, None]
## sample_variance [common-mistakes]: Your variance divides by D − 1; LayerNorm describes the token itself and divides
by D.
+ return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0, ddof=1) + eps) + beta[:, None]
## sample_deviation_and_eps [common-mistakes]: Two slips at once, as in many tutorials: the deviation divides by D − 1,
and ε is added to it and not to the variance.
+ return gamma[:, None] * (X - X.mean(axis=0)) / (X.std(axis=0, ddof=1) + eps) + beta[:, None]
## mean_not_subtracted: You divide by the right spread, but the mean is still in the token.
+ return gamma[:, None] * X / np.sqrt(X.var(axis=0) + eps) + beta[:, None]
## rms_instead [do-we-need-the-mean]: This is RMSNorm with a shift: the mean is subtracted nowhere.
+ return gamma[:, None] * X / np.sqrt((X**2).mean(axis=0) + eps) + beta[:, None]
## no_scale_and_shift [common-mistakes]: Scale and shift are missing: with γ = 1 and β = 0 nobody would notice.
+ return (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps)
## no_shift: The shift β is missing.
+ return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps)
## no_scale: The scale γ is missing.
+ return (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) + beta[:, None]
## shift_scaled: You add the shift before the scale, so that β is multiplied by γ.
+ return gamma[:, None] * ((X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) + beta[:, None])
## one_plus_scale: You multiply by 1 + γ; here the scale is γ itself.
+ return (1 + gamma[:, None]) * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) + beta[:, None]
## scale_and_shift_first: You scale and shift first; both belong after the norm.
- centred = X - X.mean(axis=0)
- return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]
+ Z = gamma[:, None] * X + beta[:, None]
+ return (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + eps)
## eps_built_in [one-token-at-a-time]: Your ε is always 0.00001, whatever the caller passes.
- return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]
+ return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + 1e-5) + beta[:, None]
## no_eps [one-token-at-a-time]: There is no ε: a token of equal numbers is divided by 0.
+ return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0)) + beta[:, None]
## eps_squared [one-token-at-a-time]: You square ε on its way to the variance; add it as it is.
+ return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps**2) + beta[:, None]
## eps_as_a_floor [one-token-at-a-time]: Your ε is a floor for the variance; add it to every variance.
+ return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(np.maximum(X.var(axis=0), eps)) + beta[:, None]
## constant_below_eps [one-token-at-a-time]: You treat a token whose variance is below ε as constant; ε is added to
every variance.
+ var = X.var(axis=0)
+ return gamma[:, None] * centred * (var > eps) / np.sqrt(var + eps) + beta[:, None]
## undivided_below_eps [one-token-at-a-time]: You do not divide a token whose variance is below ε; divide every token.
+ var = X.var(axis=0)
+ return gamma[:, None] * centred / np.where(var > eps, np.sqrt(var + eps), 1) + beta[:, None]
## variance_in_one_pass: Your variance, mean square less squared mean, loses its digits for tokens far from 0.
- centred = X - X.mean(axis=0)
- return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]
+ mean = X.mean(axis=0)
+ var = np.maximum((X**2).mean(axis=0) - mean**2, 0)
+ return gamma[:, None] * (X - mean) / np.sqrt(var + eps) + beta[:, None]
## mean_absolute_deviation: You divide by the mean size of the differences, not by the root of their mean square.
- return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]
+ return gamma[:, None] * centred / (np.abs(centred).mean(axis=0) + eps) + beta[:, None]
## length_one: You bring every token to length 1; its standard deviation should be 1.
+ return gamma[:, None] * centred / (np.linalg.norm(centred, axis=0) + eps) + beta[:, None]
## written_into_the_argument: You write into X, and the caller's tokens are gone.
- centred = X - X.mean(axis=0)
- return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]
+ X -= X.mean(axis=0)
+ X /= np.sqrt((X**2).mean(axis=0) + eps)
+ return gamma[:, None] * X + beta[:, None]
## scale_along_the_tokens: Scale and shift lie along the tokens: each of their numbers belongs to a feature.
- return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]
+ return gamma * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) + beta
## outputs_in_rows: Your outputs lie in rows; here every token is a column.
+ return (gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) + beta[:, None]).T
## root_of_eps_outside [one-token-at-a-time]: You add the root of ε to the standard deviation; add ε to the variance,
then take the root.
+ return gamma[:, None] * (X - X.mean(axis=0)) / (X.std(axis=0) + np.sqrt(eps)) + beta[:, None]
## shift_divided: Your shift is divided by the standard deviation, too: add it at the very end.
+ return (gamma[:, None] * (X - X.mean(axis=0)) + beta[:, None]) / np.sqrt(X.var(axis=0) + eps)
## brackets_missing: You divide only the mean by the standard deviation: brackets are missing.
+ return gamma[:, None] * X - X.mean(axis=0) / np.sqrt(X.var(axis=0) + eps) + beta[:, None]
## squares_before_centring: You subtract the mean, but divide by the root mean square of the token as it came.
+ return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt((X**2).mean(axis=0) + eps) + beta[:, None]
## scale_and_shift_exchanged: You swap scale and shift: multiply by γ and add β.
+ return beta[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) + gamma[:, None]
## variance_over_the_tokens [the-norm-that-sees-the-future]: Your mean is that of the token, but your variance runs over
the tokens.
+ return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=1, keepdims=True) + eps) + beta[:, None]
## largest_difference: You divide by the largest difference from the mean, where the standard deviation belongs.
+ return gamma[:, None] * centred / (np.abs(centred).max(axis=0) + eps) + beta[:, None]
## another_default [one-token-at-a-time]: Your default for ε is 0.000001; in the task it is 0.00001.
- def centred_once(X, gamma, beta, eps=1e-5):
+ def centred_once(X, gamma, beta, eps=1e-6):
## default_of_bert [one-token-at-a-time]: Your ε is 0.000000000001 where the caller says none, as in BERT; here it is
0.00001.
+ def centred_once(X, gamma, beta, eps=1e-12):
# centred_once
## constant_left_at_zero: Where every token is constant you return zeros; the shift is still to be added.
- return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]
+ if np.allclose(centred, 0):
+     return np.zeros_like(X)
+ return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]
## scale_where_it_fits: With as many tokens as features your scale runs along the tokens; it belongs to the features.
+ scale = gamma if len(gamma) == X.shape[1] else gamma[:, None]
+ return scale * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]
""")
