"""Named wrong solutions of exercise 07: what learners write, and the sentence that tells them so."""

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()


def look_back(X):
    return np.cumsum(X, axis=1) / np.arange(1, X.shape[1] + 1)


def think(X):
    return np.maximum(X, 0)


# layer norm


@wrong(
    "layer-norm",
    says="Your mean runs over the tokens: every feature has one, and a token learns about all the others.",
    section="the-norm-that-sees-the-future",
)
def over_the_tokens(X, gamma, beta, eps=1e-5):
    centred = X - X.mean(axis=1, keepdims=True)
    return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="There is one mean for the whole matrix; every token needs its own.",
    section="common-mistakes",
)
def over_everything(X, gamma, beta, eps=1e-5):
    centred = X - X.mean()
    return gamma[:, None] * centred / np.sqrt((centred**2).mean() + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="You add ε to the standard deviation, outside the root; it belongs to the variance.",
    section="common-mistakes",
)
def eps_outside_the_root(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * (X - X.mean(axis=0)) / (X.std(axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="You divide by the root of a standard deviation, which is a root already.",
    section="one-token-at-a-time",
)
def root_of_sigma(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.std(axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="You divide by the variance: the root is missing.",
    section="one-token-at-a-time",
)
def divided_by_the_variance(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * (X - X.mean(axis=0)) / (X.var(axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="You subtract the sum of the features where their mean belongs, as the lecture prints it.",
    section="one-token-at-a-time",
)
def sum_for_mean(X, gamma, beta, eps=1e-5):
    centred = X - X.sum(axis=0)
    return gamma[:, None] * centred / np.sqrt((centred**2).mean(axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="Your squares are summed and not averaged, so that wide tokens come out too short.",
    section="one-token-at-a-time",
)
def squares_not_averaged(X, gamma, beta, eps=1e-5):
    centred = X - X.mean(axis=0)
    return gamma[:, None] * centred / np.sqrt((centred**2).sum(axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="Your variance divides by D − 1; LayerNorm describes the token itself and divides by D.",
    section="common-mistakes",
)
def sample_variance(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0, ddof=1) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="You divide by the right spread, and the mean is still in the token.",
    section="one-token-at-a-time",
)
def mean_not_subtracted(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * X / np.sqrt(X.var(axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="This is RMSNorm with a shift: the mean is subtracted nowhere.",
    section="do-we-need-the-mean",
)
def rms_instead(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * X / np.sqrt((X**2).mean(axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="Scale and shift are missing: with γ = 1 and β = 0 nobody would notice.",
    section="common-mistakes",
)
def no_scale_and_shift(X, gamma, beta, eps=1e-5):
    return (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps)


@wrong(
    "layer-norm",
    says="The shift β is missing.",
    section="one-token-at-a-time",
)
def no_shift(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps)


@wrong(
    "layer-norm",
    says="The scale γ is missing.",
    section="one-token-at-a-time",
)
def no_scale(X, gamma, beta, eps=1e-5):
    return (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="You add the shift before the scale, so that β is multiplied by γ.",
    section="one-token-at-a-time",
)
def shift_scaled(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * ((X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) + beta[:, None])


@wrong(
    "layer-norm",
    says="You multiply by 1 + γ; here the scale is γ itself.",
    section="one-token-at-a-time",
)
def one_plus_scale(X, gamma, beta, eps=1e-5):
    return (1 + gamma[:, None]) * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="Scale and shift come first, and the norm takes them away again.",
    section="one-token-at-a-time",
)
def scale_and_shift_first(X, gamma, beta, eps=1e-5):
    Z = gamma[:, None] * X + beta[:, None]
    return (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + eps)


@wrong(
    "layer-norm",
    says="Your ε is always 0.00001, whatever the caller passes.",
    section="ε-and-the-constant-token",
)
def eps_built_in(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + 1e-5) + beta[:, None]


@wrong(
    "layer-norm",
    says="There is no ε: a token of equal numbers is divided by 0.",
    section="ε-and-the-constant-token",
)
def no_eps(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0)) + beta[:, None]


@wrong(
    "layer-norm",
    says="You square ε on its way to the variance; it stands there as it is.",
    section="ε-and-the-constant-token",
)
def eps_squared(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps**2) + beta[:, None]


@wrong(
    "layer-norm",
    says="Your ε is a floor for the variance; in the chapter it is added to every variance.",
    section="ε-and-the-constant-token",
)
def eps_as_a_floor(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(np.maximum(X.var(axis=0), eps)) + beta[:, None]


@wrong(
    "layer-norm",
    says="The mean of the squares less the square of the mean loses its digits for tokens far from 0.",
    section="one-token-at-a-time",
)
def variance_in_one_pass(X, gamma, beta, eps=1e-5):
    mean = X.mean(axis=0)
    var = np.maximum((X**2).mean(axis=0) - mean**2, 0)
    return gamma[:, None] * (X - mean) / np.sqrt(var + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="You divide by the mean size of the differences, not by the root of their mean square.",
    section="one-token-at-a-time",
)
def mean_absolute_deviation(X, gamma, beta, eps=1e-5):
    centred = X - X.mean(axis=0)
    return gamma[:, None] * centred / (np.abs(centred).mean(axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="You bring every token to length 1; its standard deviation should be 1.",
    section="one-token-at-a-time",
)
def length_one(X, gamma, beta, eps=1e-5):
    centred = X - X.mean(axis=0)
    return gamma[:, None] * centred / (np.linalg.norm(centred, axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="You write into X, and the caller's tokens are gone.",
    section="one-token-at-a-time",
)
def written_into_the_argument(X, gamma, beta, eps=1e-5):
    X -= X.mean(axis=0)
    X /= np.sqrt((X**2).mean(axis=0) + eps)
    return gamma[:, None] * X + beta[:, None]


@wrong(
    "layer-norm",
    says="Scale and shift lie along the tokens: each of their numbers belongs to a feature.",
    section="one-token-at-a-time",
)
def scale_along_the_tokens(X, gamma, beta, eps=1e-5):
    return gamma * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) + beta


@wrong(
    "layer-norm",
    says="Your outputs lie in rows; here every token is a column.",
    section="one-token-at-a-time",
)
def outputs_in_rows(X, gamma, beta, eps=1e-5):
    return (gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) + beta[:, None]).T


@wrong(
    "layer-norm",
    says="You add the root of ε to the standard deviation; ε is added first, and the root taken of the sum.",
    section="ε-and-the-constant-token",
)
def root_of_eps_outside(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * (X - X.mean(axis=0)) / (X.std(axis=0) + np.sqrt(eps)) + beta[:, None]


@wrong(
    "layer-norm",
    says="Your shift is divided by the standard deviation, too: it is added at the very end.",
    section="one-token-at-a-time",
)
def shift_divided(X, gamma, beta, eps=1e-5):
    return (gamma[:, None] * (X - X.mean(axis=0)) + beta[:, None]) / np.sqrt(X.var(axis=0) + eps)


@wrong(
    "layer-norm",
    says="Only the mean is divided by the standard deviation in yours: brackets are missing.",
    section="one-token-at-a-time",
)
def brackets_missing(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * X - X.mean(axis=0) / np.sqrt(X.var(axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="You subtract the mean above, but below the line you average the squares of the token as it came.",
    section="one-token-at-a-time",
)
def squares_before_centring(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt((X**2).mean(axis=0) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="Scale and shift are exchanged: γ multiplies and β is added.",
    section="one-token-at-a-time",
)
def scale_and_shift_exchanged(X, gamma, beta, eps=1e-5):
    return beta[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0) + eps) + gamma[:, None]


@wrong(
    "layer-norm",
    says="Your mean is that of the token, but your variance runs over the tokens.",
    section="the-norm-that-sees-the-future",
)
def variance_over_the_tokens(X, gamma, beta, eps=1e-5):
    return gamma[:, None] * (X - X.mean(axis=0)) / np.sqrt(X.var(axis=1, keepdims=True) + eps) + beta[:, None]


@wrong(
    "layer-norm",
    says="You divide by the largest difference from the mean, where the standard deviation belongs.",
    section="one-token-at-a-time",
)
def largest_difference(X, gamma, beta, eps=1e-5):
    centred = X - X.mean(axis=0)
    return gamma[:, None] * centred / (np.abs(centred).max(axis=0) + eps) + beta[:, None]


# norms


@wrong(
    "norms",
    says="You average over the last axis, as one does in PyTorch; in this layout these are the tokens.",
    section="what-is-averaged",
)
def last_axis(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    axes = -1 if kind == "LayerNorm" else (0, 1)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your LayerNorm has one mean for each feature of a sequence: it sees the future.",
    section="the-norm-that-sees-the-future",
)
def layer_over_tokens(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = 2 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your LayerNorm has one mean for a whole sequence, over features and tokens together.",
    section="common-mistakes",
)
def layer_over_the_sequence(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = (1, 2) if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your LayerNorm averages over the sequences as well: every token needs a mean of its own.",
    section="what-is-averaged",
)
def layer_over_features_and_batch(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = (0, 1) if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="LayerNorm and BatchNorm are exchanged.",
    section="what-is-averaged",
)
def kinds_exchanged(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = (0, 2) if kind == "LayerNorm" else 1
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your BatchNorm averages over the sequences only: it has one mean for every place of every feature.",
    section="what-is-averaged",
)
def batch_axis_only(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else 0
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your BatchNorm averages over the tokens of each sequence and leaves out the batch.",
    section="what-is-averaged",
)
def batch_as_instance(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else 2
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your BatchNorm has one mean for every sequence, over its features and tokens; every feature has its own.",
    section="what-is-averaged",
)
def batch_by_sequence(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (1, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="There is no ε where you subtract a mean; all three norms have it under the root.",
    section="ε-and-the-constant-token",
)
def eps_in_rms_only(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True))


@wrong(
    "norms",
    says="Your BatchNorm has a single mean for the whole batch; every feature has its own.",
    section="what-is-averaged",
)
def batch_over_everything(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 1, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your BatchNorm averages over features and sequences, and has one mean for every place.",
    section="what-is-averaged",
)
def batch_over_features(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 1)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your RMSNorm subtracts the mean first, and that makes it a LayerNorm.",
    section="do-we-need-the-mean",
)
def rms_less_the_mean(x, kind, eps):
    if kind == "RMSNorm":
        return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your RMSNorm divides by the standard deviation, measured from the mean; its mean square is measured from 0.",
    section="do-we-need-the-mean",
)
def rms_by_the_variance(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt(x.var(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your RMSNorm divides by the mean square itself: R stands for root.",
    section="what-is-averaged",
)
def rms_without_the_root(x, kind, eps):
    if kind == "RMSNorm":
        return x / ((x**2).mean(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your RMSNorm divides by the length of the token: the squares are summed and not averaged.",
    section="what-is-averaged",
)
def rms_of_the_sum(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).sum(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your RMSNorm averages absolute values, where it should average squares.",
    section="what-is-averaged",
)
def rms_of_absolute_values(x, kind, eps):
    if kind == "RMSNorm":
        return x / (np.abs(x).mean(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="In your RMSNorm ε is added to the root; it belongs under it.",
    section="common-mistakes",
)
def rms_eps_outside(x, kind, eps):
    if kind == "RMSNorm":
        return x / (np.sqrt((x**2).mean(axis=1, keepdims=True)) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your RMSNorm averages over the tokens of a sequence; every token undergoes it alone.",
    section="what-is-averaged",
)
def rms_over_tokens(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=2, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your RMSNorm takes its mean square where BatchNorm takes its mean, over all tokens of the batch.",
    section="what-is-averaged",
)
def rms_over_the_batch(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=(0, 2), keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="All your norms have a fixed ε of 0.00001 and ignore the one that they are given.",
    section="ε-and-the-constant-token",
)
def eps_ignored(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + 1e-5)


@wrong(
    "norms",
    says="In all your norms ε stands outside the root.",
    section="common-mistakes",
)
def eps_outside(x, kind, eps):
    if kind == "RMSNorm":
        return x / (np.sqrt((x**2).mean(axis=1, keepdims=True)) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    return (x - x.mean(axis=axes, keepdims=True)) / (x.std(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your variances divide by one less than the number of values; torch's `var` does that unless told not to.",
    section="common-mistakes",
)
def sample_variances(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt(x.var(axis=axes, keepdims=True, ddof=1) + eps)


@wrong(
    "norms",
    says="All three kinds are a LayerNorm in your function: it does not look at `kind`.",
    section="what-is-averaged",
)
def all_the_same(x, kind, eps):
    return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your BatchNorm averages the variances of the sequences, and the differences between their means are lost.",
    section="what-is-averaged",
)
def means_of_means(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    if kind == "LayerNorm":
        return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + eps)
    spread = x.var(axis=2, keepdims=True).mean(axis=0, keepdims=True)
    return (x - x.mean(axis=(0, 2), keepdims=True)) / np.sqrt(spread + eps)


@wrong(
    "norms",
    says="Your RMSNorm squares the mean; it should average the squares.",
    section="what-is-averaged",
)
def rms_of_the_mean(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt(x.mean(axis=1, keepdims=True) ** 2 + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Your RMSNorm has one mean square for a whole sequence; every token has its own.",
    section="what-is-averaged",
)
def rms_over_the_sequence(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=(1, 2), keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Where you subtract a mean you divide by the variance: the root is missing.",
    section="one-token-at-a-time",
)
def variances_without_a_root(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    return (x - x.mean(axis=axes, keepdims=True)) / (x.var(axis=axes, keepdims=True) + eps)


@wrong(
    "norms",
    says="Where you subtract a mean you divide by the root of a standard deviation.",
    section="one-token-at-a-time",
)
def roots_of_roots(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    return (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.std(axis=axes, keepdims=True) + eps)


# prints


@wrong(
    "prints",
    says="You stop at the first print that fits; several can fit the same numbers.",
    section="what-is-averaged",
)
def only_the_first(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))[:1]


@wrong(
    "prints",
    says="Where several prints fit you return none of them.",
    section="what-is-averaged",
)
def only_one_allowed(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    fits = [name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True)]
    return fits[0] if len(fits) == 1 else ""


@wrong(
    "prints",
    says="NaN is unequal to itself, so that a comparison needs to be told that NaN agrees with NaN.",
    section="ε-and-the-constant-token",
)
def nan_fits_nothing(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3))


@wrong(
    "prints",
    says="You look for a difference above the limit and find none where NaN is compared: so NaN fits every number.",
    section="ε-and-the-constant-token",
)
def nan_fits_everything(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if not (np.abs(made[name] - Y) > 1e-3).any())


@wrong(
    "prints",
    says="You turn NaN into 0, and then 0 / 0 fits the shift of a constant token.",
    section="ε-and-the-constant-token",
)
def nan_as_zero(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    made = {name: np.nan_to_num(Z) for name, Z in made.items()}
    Y = np.nan_to_num(Y)
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="Y is rounded to five decimals, and you leave no room for it.",
    section="common-mistakes",
)
def exact_equality(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.array_equal(made[name], Y, equal_nan=True))


@wrong(
    "prints",
    says="You have corrected print A while typing it: its sums run over n as printed.",
    section="the-norm-that-sees-the-future",
)
def corrected_axis(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        made = {
            "A": (X - mean) / np.sqrt(X.var(axis=0)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="You have corrected the μ of print B while typing it: a factor is missing there, and should stay missing.",
    section="one-token-at-a-time",
)
def corrected_sum(X, Y):
    with np.errstate(all="ignore"):
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - mean) / np.sqrt(X.std(axis=0) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="You have corrected the denominator of print B while typing it.",
    section="one-token-at-a-time",
)
def corrected_root(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(((X - total) ** 2).mean(axis=0) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="Your print B is the chapter's LayerNorm: it has two slips, and you have repaired both.",
    section="one-token-at-a-time",
)
def corrected_all_of_b(X, Y):
    with np.errstate(all="ignore"):
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="In print B σ is measured from the printed μ, and yours from the true mean.",
    section="one-token-at-a-time",
)
def sigma_from_the_mean(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(X.std(axis=0) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="In print B the printed μ is subtracted, too; you use it inside σ only.",
    section="one-token-at-a-time",
)
def true_mean_sum_sigma(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - mean) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="Your print A has an ε, and the printed one has none.",
    section="ε-and-the-constant-token",
)
def eps_in_a(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True) + 1e-5),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="Your print C has no ε, so that a token of equal numbers becomes NaN.",
    section="ε-and-the-constant-token",
)
def no_eps_in_c(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / X.std(axis=0),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="Your μ of print B sums along the tokens; j counts the features of one token.",
    section="one-token-at-a-time",
)
def total_over_the_tokens(X, Y):
    with np.errstate(all="ignore"):
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - X.sum(axis=1, keepdims=True))
            / np.sqrt(np.sqrt(((X - X.sum(axis=1, keepdims=True)) ** 2).mean(axis=1, keepdims=True)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="Only the mean of your print A runs over n; the variance does as well.",
    section="the-norm-that-sees-the-future",
)
def half_of_a(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=0)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="The variance in your print C divides by D − 1.",
    section="common-mistakes",
)
def sample_variance_in_c(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0, ddof=1) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="You compare the first token only; the others have a say, too.",
    section="common-mistakes",
)
def first_token_only(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name][:, 0], Y[:, 0], rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="One entry that agrees is enough for you; all have to.",
    section="common-mistakes",
)
def one_entry_is_enough(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.isclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True).any())


@wrong(
    "prints",
    says="You look at the mean of the differences, in which a single wrong entry disappears.",
    section="common-mistakes",
)
def mean_difference(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(
        name
        for name in made
        if np.array_equal(np.isnan(made[name]), np.isnan(Y))
        and (np.isnan(Y).all() or np.nanmean(np.abs(made[name] - Y)) < 1e-3)
    )


@wrong(
    "prints",
    says="You look at means and spreads of Y only: an output can have the right ones and come from other tokens.",
    section="one-token-at-a-time",
)
def moments_of_y(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        B = (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5)
        rows = np.isnan(Y).any() or (np.abs(Y.mean(axis=1)).max() < 1e-3 and np.abs(Y.std(axis=1) - 1).max() < 1e-3)
        columns = np.abs(Y.mean(axis=0)).max() < 1e-3 and np.abs(Y.std(axis=0) - 1).max() < 1e-3
    return "A" * bool(rows) + "B" * np.allclose(B, Y, rtol=0, atol=1e-3) + "C" * bool(columns)


@wrong(
    "prints",
    says="The squares in print B are averaged, and yours are summed.",
    section="one-token-at-a-time",
)
def sum_in_sigma(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).sum(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="Your print A divides by the root of a standard deviation; it prints the root of the variance.",
    section="one-token-at-a-time",
)
def root_of_sigma_in_a(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt(X.std(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.allclose(made[name], Y, rtol=0, atol=1e-3, equal_nan=True))


@wrong(
    "prints",
    says="A print that gives NaN anywhere fits everything in your function.",
    section="ε-and-the-constant-token",
)
def nan_is_no_objection(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.isnan(made[name]).any() or np.allclose(made[name], Y, rtol=0, atol=1e-3))


@wrong(
    "prints",
    says="You skip the entries that are NaN, and where all of them are, nothing is left to compare.",
    section="ε-and-the-constant-token",
)
def nan_skipped(X, Y):
    with np.errstate(all="ignore"):
        total = X.sum(axis=0)
        mean = X.mean(axis=0)
        rows = X - X.mean(axis=1, keepdims=True)
        made = {
            "A": rows / np.sqrt((rows**2).mean(axis=1, keepdims=True)),
            "B": (X - total) / np.sqrt(np.sqrt(((X - total) ** 2).mean(axis=0)) + 1e-5),
            "C": (X - mean) / np.sqrt(X.var(axis=0) + 1e-5),
        }
    return "".join(name for name in made if np.fmax.reduce(np.abs(made[name] - Y), axis=None) <= 1e-3)


# museum


@wrong(
    "museum",
    says="This is the museum piece itself: none of its three mistakes is repaired.",
    section="the-norm-that-sees-the-future",
)
def museum_piece(x, W):
    centred = x - x.mean(axis=1, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / x.shape[1]
    stream = normed + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="One of three mistakes is repaired, the axis of the first norm.",
    section="the-norm-that-sees-the-future",
)
def only_the_axis(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / x.shape[1]
    stream = normed + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="One of three mistakes is repaired, the number by which a sum over the past is divided.",
    section="the-norm-that-sees-the-future",
)
def only_the_count(x, W):
    centred = x - x.mean(axis=1, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = normed + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="One of three mistakes is repaired, the start of the residual.",
    section="the-norm-that-sees-the-future",
)
def only_the_residual(x, W):
    centred = x - x.mean(axis=1, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / x.shape[1]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="What is left is the residual: yours carries the normalised tokens, and the stream has lost the others.",
    section="where-the-norm-goes",
)
def residual_left(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = normed + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="What is left is the count: your first token knows how many are still to come.",
    section="the-norm-that-sees-the-future",
)
def count_left(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / x.shape[1]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="What is left is the first norm, whose mean still runs over the tokens.",
    section="the-norm-that-sees-the-future",
)
def axis_left(x, W):
    centred = x - x.mean(axis=1, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Your first norm has one mean for a whole sequence, over tokens and features together.",
    section="common-mistakes",
)
def norm_over_the_sequence(x, W):
    centred = x - x.mean(axis=(1, 2), keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=(1, 2), keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Your first norm averages over the sequences of the batch.",
    section="what-is-averaged",
)
def norm_over_the_batch(x, W):
    centred = x - x.mean(axis=0, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=0, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Your final norm takes one mean square for a whole sequence, and so sees the future itself.",
    section="the-norm-that-sees-the-future",
)
def final_norm_over_the_sequence(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=(1, 2), keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Your final norm averages over the tokens; the museum piece had that axis right.",
    section="the-norm-that-sees-the-future",
)
def final_norm_over_tokens(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=1, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Your tokens look at those before them only; the task says up to and including itself.",
    section="the-norm-that-sees-the-future",
)
def without_itself(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = (np.cumsum(normed @ W, axis=1) - normed @ W) / np.maximum(np.arange(x.shape[1]), 1)[:, None]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="You sum the past without dividing, so that what is added grows from token to token.",
    section="the-norm-that-sees-the-future",
)
def not_divided(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1)
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Every token of yours gets the mean of the whole sequence: the past was lost with the division.",
    section="the-norm-that-sees-the-future",
)
def mean_of_all(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = (normed @ W).mean(axis=1, keepdims=True) + 0 * x
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Your map is transposed: with tokens in rows W stands to the right as it is.",
    section="the-norm-that-sees-the-future",
)
def transposed_map(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W.T, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="There is no residual connection left in your layer.",
    section="identity-plus-a-bit",
)
def no_residual(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = 0 * x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="You have removed the first norm: that stops the leak, and what the map reads has any size.",
    section="where-the-norm-goes",
)
def first_norm_removed(x, W):
    stream = x + np.cumsum(x @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="You divide by 1, 2, 3 … along the features; the count belongs to the tokens.",
    section="the-norm-that-sees-the-future",
)
def count_along_the_features(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[2] + 1)
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Your counts begin at the last token; the first token has seen one, the last one all.",
    section="the-norm-that-sees-the-future",
)
def count_from_the_other_end(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(x.shape[1], 0, -1)[:, None]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="You normalise the tokens of the past, statistics over the past included: no leak, and no LayerNorm.",
    section="what-is-averaged",
)
def norm_of_the_past(x, W):
    seen = np.arange(1, x.shape[1] + 1)[:, None]
    mean = np.cumsum(x, axis=1) / seen
    var = np.maximum(np.cumsum(x**2, axis=1) / seen - mean**2, 0)
    stream = x + np.cumsum((x - mean) / np.sqrt(var + 1e-5) @ W, axis=1) / seen
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="You normalise after looking back; the task normalises what the part reads.",
    section="where-the-norm-goes",
)
def norm_behind_the_look_back(x, W):
    past = np.cumsum(x, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    past = (past - past.mean(axis=2, keepdims=True)) / np.sqrt(past.var(axis=2, keepdims=True) + 1e-5)
    stream = x + past @ W
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Both of your norms are RMSNorm; the first should subtract the mean of each token.",
    section="do-we-need-the-mean",
)
def rms_in_both_places(x, W):
    normed = x / np.sqrt(np.square(x).mean(axis=2, keepdims=True) + 1e-5)
    stream = x + np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Your final norm subtracts the mean; it should be an RMSNorm.",
    section="do-we-need-the-mean",
)
def layer_norm_in_both_places(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    stream = x + np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    return (stream - stream.mean(axis=2, keepdims=True)) / np.sqrt(stream.var(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="The final norm is missing, and the stream leaves the layer at any size.",
    section="where-the-norm-goes",
)
def no_final_norm(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    return x + np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]


@wrong(
    "museum",
    says="There is no ε under your roots, and a constant token is divided by 0.",
    section="ε-and-the-constant-token",
)
def roots_without_eps(x, W):
    normed = (x - x.mean(axis=2, keepdims=True)) / x.std(axis=2, keepdims=True)
    stream = x + np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True))


@wrong(
    "museum",
    says="Your counts begin at 0: the first token has seen itself.",
    section="the-norm-that-sees-the-future",
)
def count_from_zero(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(x.shape[1])[:, None]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Your sum runs along the features; the past lies along axis 1.",
    section="the-norm-that-sees-the-future",
)
def summed_over_the_features(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=2) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Your sum runs along the batch; the past lies along axis 1.",
    section="the-norm-that-sees-the-future",
)
def summed_over_the_batch(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=0) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Your residual starts from the centred tokens, and their means are lost on the way.",
    section="where-the-norm-goes",
)
def centred_residual(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = centred + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="You add the normalised tokens as well as x: the stream gains what the look back gives, and nothing else.",
    section="identity-plus-a-bit",
)
def two_residuals(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    stream = x + normed + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="Your tokens do not look back at all: each gets its own map.",
    section="the-norm-that-sees-the-future",
)
def no_look_back(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    so_far = normed @ W
    stream = x + so_far
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="In your first norm the mean runs over the features, the mean square still over the tokens.",
    section="the-norm-that-sees-the-future",
)
def half_of_the_axis(x, W):
    centred = x - x.mean(axis=2, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + 1e-5)
    stream = x + np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


@wrong(
    "museum",
    says="In your first norm the mean square runs over the features, and the mean still over the tokens.",
    section="the-norm-that-sees-the-future",
)
def other_half_of_the_axis(x, W):
    centred = x - x.mean(axis=1, keepdims=True)
    normed = centred / np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + 1e-5)
    stream = x + np.cumsum(normed @ W, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    return stream / np.sqrt(np.square(stream).mean(axis=2, keepdims=True) + 1e-5)


# block


@wrong(
    "block",
    says="Your pre-norm block normalises what a part gives back; it should normalise what the part reads.",
    section="where-the-norm-goes",
)
def pre_is_jiang(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + norm(look_back(X), norm_1)
        return Y + norm(think(Y), norm_2)
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="Your pre-norm block adds to the normalised tokens; the stream should pass beside the norm.",
    section="where-the-norm-goes",
)
def pre_norms_the_stream(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Z = norm(X, norm_1)
        Y = Z + look_back(Z)
        Z = norm(Y, norm_2)
        return Z + think(Z)
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="In the second half of your pre-norm block the stream itself goes through the norm.",
    section="where-the-norm-goes",
)
def pre_second_norms_the_stream(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = norm(X + look_back(norm(X, norm_1)), norm_2)
        return Y + think(Y)
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="Your pre-norm block ends with a norm: the final norm comes once, at the top of the stack.",
    section="where-the-norm-goes",
)
def pre_with_a_final_norm(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return norm(Y + think(norm(Y, norm_2)), norm_2)
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="In your pre-norm block both parts read the same tokens; the second should read what the first has made.",
    section="where-the-norm-goes",
)
def pre_in_parallel(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        return X + look_back(norm(X, norm_1)) + think(norm(X, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The second half of your pre-norm block is added to X, and what the first half added is lost.",
    section="identity-plus-a-bit",
)
def pre_old_residual(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return X + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The second part of your pre-norm block reads the stream without a norm.",
    section="where-the-norm-goes",
)
def pre_second_part_unnormed(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(Y)
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The residual connections are missing: each part takes the place of what it should be added to.",
    section="identity-plus-a-bit",
)
def no_residuals(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        return think(norm(look_back(norm(X, norm_1)), norm_2))
    if form == "post-norm":
        return norm(think(norm(look_back(X), norm_1)), norm_2)
    return think(norm(look_back(X), norm_1))


@wrong(
    "block",
    says="Your post-norm block normalises the part and then adds; it should normalise the sum.",
    section="where-the-norm-goes",
)
def post_norms_the_part(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = X + norm(look_back(X), norm_1)
        return Y + norm(think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="In your post-norm block the parts read normalised tokens as well: every norm is there twice.",
    section="where-the-norm-goes",
)
def post_norms_both_sides(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(norm(X, norm_1)), norm_1)
        return norm(Y + think(norm(Y, norm_2)), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="Your post-norm block has one norm, at its end; the first sum is not normalised.",
    section="where-the-norm-goes",
)
def post_once_at_the_end(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = X + look_back(X)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The second sum of your post-norm block starts from X instead of from what the first half has made.",
    section="identity-plus-a-bit",
)
def post_old_residual(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(X + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="Your post-norm block normalises what a part gets added to, and leaves the sum as it is.",
    section="where-the-norm-goes",
)
def post_norms_the_residual_only(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X, norm_1) + look_back(X)
        return norm(Y, norm_2) + think(Y)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="Pre-norm and post-norm are exchanged.",
    section="where-the-norm-goes",
)
def pre_and_post_exchanged(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    if form == "post-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="Your form of Jiang has a norm at the feed-forward layer, too.",
    section="where-the-norm-goes",
)
def jiang_with_two_norms(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + norm(think(Y), norm_2)


@wrong(
    "block",
    says="In your form of Jiang the norm stands before attention; it normalises what attention gives back.",
    section="where-the-norm-goes",
)
def jiang_is_pre_norm(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + look_back(norm(X, norm_1))
    return Y + think(Y)


@wrong(
    "block",
    says="In your form of Jiang the norm takes the sum; it should take the output of attention alone.",
    section="where-the-norm-goes",
)
def jiang_is_post_norm(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = norm(X + look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The first norm's scale and shift serve both norms of your block.",
    section="common-mistakes",
)
def one_norm_for_both(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_1))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_1)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The two norms are exchanged: the first belongs to the first part.",
    section="where-the-norm-goes",
)
def norms_exchanged(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_2))
        return Y + think(norm(Y, norm_1))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_2)
        return norm(Y + think(Y), norm_1)
    Y = X + norm(look_back(X), norm_2)
    return Y + think(Y)


@wrong(
    "block",
    says="The two parts are exchanged: the first reads the input of the block.",
    section="where-the-norm-goes",
)
def parts_exchanged(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + think(norm(X, norm_1))
        return Y + look_back(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + think(X), norm_1)
        return norm(Y + look_back(Y), norm_2)
    Y = X + norm(think(X), norm_1)
    return Y + look_back(Y)


@wrong(
    "block",
    says="Your norms have no scale and no shift, though both are given.",
    section="common-mistakes",
)
def bare_norms(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5)

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The norms in your block average over the tokens.",
    section="the-norm-that-sees-the-future",
)
def norms_over_the_tokens(X, norm_1, norm_2, form):
    def norm(Z, pair):
        centred = Z - Z.mean(axis=1, keepdims=True)
        return pair[0][:, None] * centred / np.sqrt(Z.var(axis=1, keepdims=True) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="Scale and shift are exchanged: a pair begins with γ.",
    section="one-token-at-a-time",
)
def pairs_the_wrong_way_round(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[1][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[0][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The first residual connection of your pre-norm block is missing.",
    section="identity-plus-a-bit",
)
def pre_first_residual_missing(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The second residual connection of your pre-norm block is missing.",
    section="identity-plus-a-bit",
)
def pre_second_residual_missing(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="In the first half of your pre-norm block the normalised tokens take the place of X.",
    section="where-the-norm-goes",
)
def pre_normed_then_kept(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Z = norm(X, norm_1)
        Y = Z + look_back(Z)
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The first residual connection of your post-norm block is missing.",
    section="identity-plus-a-bit",
)
def post_first_residual_missing(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The second residual connection of your post-norm block is missing.",
    section="identity-plus-a-bit",
)
def post_second_residual_missing(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="In your form of Jiang the norm takes X, and attention is added as it comes.",
    section="where-the-norm-goes",
)
def jiang_norms_the_residual(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = norm(X, norm_1) + look_back(X)
    return Y + think(Y)


@wrong(
    "block",
    says="The second sum of your form of Jiang starts from X.",
    section="identity-plus-a-bit",
)
def jiang_old_residual(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return X + think(Y)


@wrong(
    "block",
    says="Your form of Jiang ends with a norm of the whole sum.",
    section="where-the-norm-goes",
)
def jiang_ends_with_a_norm(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return norm(Y + think(Y), norm_2)


@wrong(
    "block",
    says="There is no ε in the norms of your block.",
    section="ε-and-the-constant-token",
)
def norms_without_eps(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0)) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="In the norms of your block ε stands outside the root. If they are your `layer_norm`, let question 1 pass "
    "first.",
    section="common-mistakes",
)
def norms_with_eps_outside(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / (Z.std(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The norms in your block divide by the root of a standard deviation, which is a root already.",
    section="one-token-at-a-time",
)
def norms_with_two_roots(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.std(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="In your form of Jiang attention reads normalised tokens as well; it reads X itself.",
    section="where-the-norm-goes",
)
def jiang_norms_twice(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(norm(X, norm_1)), norm_1)
    return Y + think(Y)


@wrong(
    "block",
    says="The variances in your block divide by D − 1.",
    section="common-mistakes",
)
def norms_with_d_minus_1(X, norm_1, norm_2, form):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0, ddof=1) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + look_back(norm(X, norm_1))
        return Y + think(norm(Y, norm_2))
    if form == "post-norm":
        Y = norm(X + look_back(X), norm_1)
        return norm(Y + think(Y), norm_2)
    Y = X + norm(look_back(X), norm_1)
    return Y + think(Y)


# depth


@wrong(
    "depth",
    says="You send the gradient through J as if it were a token on its way up; on the way down its transpose acts.",
    section="identity-plus-a-bit",
)
def not_transposed(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J @ g_with, J @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="You begin with the part at the bottom; coming from the top the gradient meets the last part first.",
    section="identity-plus-a-bit",
)
def first_part_first(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your lengths are in the order of the journey: the last one should belong to the top.",
    section="a-stack-that-forgets-its-input",
)
def counted_from_the_top(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows).T, strict=True))


@wrong(
    "depth",
    says="Your lengths are absolute; they should be relative to the gradient at the top.",
    section="a-stack-that-forgets-its-input",
)
def not_relative(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your measured numbers are squares of lengths: a root is missing.",
    section="a-stack-that-forgets-its-input",
)
def squared_lengths(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [g @ g / (top @ top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your stack with residuals has lost the identity: both measured rows are the same.",
    section="identity-plus-a-bit",
)
def residual_forgotten(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="The measured lengths with and without residuals have changed places.",
    section="identity-plus-a-bit",
)
def measured_exchanged(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_without, g_with)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your stack without residuals has them, too.",
    section="identity-plus-a-bit",
)
def residual_in_both(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, g_without + J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="You count on a gradient of 1 through the residual, and forget what the part itself sends back.",
    section="identity-plus-a-bit",
)
def gradient_is_one(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, 1.0, rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="1 + J in NumPy adds 1 to every entry of J; the identity has its ones on the diagonal only.",
    section="identity-plus-a-bit",
)
def one_added_everywhere(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = (1 + J).T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="At every part you add the gradient from the top; what belongs there is the one that arrived at this part.",
    section="identity-plus-a-bit",
)
def top_gradient_again(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = top + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your prediction adds lengths, as if both gradients pointed the same way; at a right angle their squares add.",
    section="identity-plus-a-bit",
)
def lengths_added(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * (1 + np.sqrt(gain)), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your predictions are those of squared lengths: the roots are missing.",
    section="identity-plus-a-bit",
)
def predicted_squares(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * (1 + gain), rows[-1][3] * gain))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your prediction with residuals multiplies squared lengths, and never takes the root.",
    section="identity-plus-a-bit",
)
def squares_without_root(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * (1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="You divide the sum of the squares by the number of entries, D²; the task divides by D.",
    section="a-stack-that-forgets-its-input",
)
def gain_by_all_entries(parts, top):
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).mean()
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your s² is the whole sum of the squares: it is not divided by D.",
    section="a-stack-that-forgets-its-input",
)
def gain_not_divided(parts, top):
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum()
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="You predict with the largest factor by which J stretches a vector; the average over directions is smaller.",
    section="a-stack-that-forgets-its-input",
)
def largest_gain(parts, top):
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = np.linalg.norm(J, 2) ** 2
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="You square the sum of the entries; squares come first.",
    section="a-stack-that-forgets-its-input",
)
def sum_before_the_square(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = J.sum() ** 2 / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your prediction has two paths only, around all parts and through all; some lead through some of them.",
    section="identity-plus-a-bit",
)
def one_path_each(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, np.sqrt(1 + (rows[-1][3] * np.sqrt(gain)) ** 2), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your prediction leaves out the paths through more than one part.",
    section="identity-plus-a-bit",
)
def paths_through_one(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, np.sqrt(rows[-1][2] ** 2 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="You predict with one gain, the mean of all parts; each of them has its own.",
    section="a-stack-that-forgets-its-input",
)
def mean_gain(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (parts**2).sum() / (len(parts) * D)
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your rows have one length a part; the top itself is left out, whose length is 1.",
    section="a-stack-that-forgets-its-input",
)
def top_left_out(parts, top):
    D, g_with, g_without, rows = len(top), top, top, [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        measured = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*measured, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[:0:-1].T, strict=True))


@wrong(
    "depth",
    says="You measure with sums of absolute values; a length is the root of a sum of squares.",
    section="a-stack-that-forgets-its-input",
)
def absolute_sums(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.abs(g).sum() / np.abs(top).sum() for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your s² is squared a second time.",
    section="a-stack-that-forgets-its-input",
)
def gain_squared_twice(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = ((J**2).sum() / D) ** 2
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your s² is the root of the sum of the squares, divided by D: the root comes later.",
    section="a-stack-that-forgets-its-input",
)
def gain_from_a_length(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = np.linalg.norm(J) / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your prediction for the stack with residuals leaves the identity out.",
    section="identity-plus-a-bit",
)
def prediction_without_the_identity(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / np.linalg.norm(top) for g in (g_with, g_without)]
        rows.append((*lengths, rows[-1][2] * np.sqrt(gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


@wrong(
    "depth",
    says="Your measured lengths are relative to the part above; they should be relative to the top.",
    section="a-stack-that-forgets-its-input",
)
def relative_to_the_part_above(parts, top):
    D = len(top)
    g_with = g_without = top
    rows = [(1.0, 1.0, 1.0, 1.0)]
    for J in parts[::-1]:
        gain = (J**2).sum() / D
        g_with, g_without = g_with + J.T @ g_with, J.T @ g_without
        lengths = [np.linalg.norm(g) / rows[-1][i] for i, g in enumerate((g_with, g_without))]
        rows.append((*lengths, rows[-1][2] * np.sqrt(1 + gain), rows[-1][3] * np.sqrt(gain)))
    names = ("measured with", "measured without", "predicted with", "predicted without")
    return dict(zip(names, np.array(rows)[::-1].T, strict=True))


# backward


@wrong(
    "backward",
    says="You treat mean and variance as constants, but a feature moves both of them.",
    section="one-token-at-a-time",
)
def statistics_held_fixed(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * g
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="The path through the mean is missing from your gradient by X.",
    section="one-token-at-a-time",
)
def mean_held_fixed(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="The path through the standard deviation is missing from your gradient by X.",
    section="one-token-at-a-time",
)
def spread_held_fixed(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="Your two corrections are sums over the features where they should be means.",
    section="one-token-at-a-time",
)
def sums_for_means(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.sum(axis=0) - X_hat * (g * X_hat).sum(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="The path through the standard deviation has the wrong sign: a larger spread makes every output smaller.",
    section="one-token-at-a-time",
)
def wrong_sign(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) + X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="γ is missing from your gradient by X.",
    section="one-token-at-a-time",
)
def gamma_missing(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="You multiply by γ at the end; it has to enter before the means are taken.",
    section="one-token-at-a-time",
)
def gamma_last(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = dY
    dX = gamma[:, None] * inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="γ enters your gradient by X twice.",
    section="one-token-at-a-time",
)
def gamma_twice(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = gamma[:, None] * inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="The factor of one over the standard deviation is missing from your gradient by X.",
    section="one-token-at-a-time",
)
def inverse_missing(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0)
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="The root is missing: you divide by the variance, in the standardised features and in your gradient by X.",
    section="one-token-at-a-time",
)
def root_missing_throughout(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / ((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="You divide by the variance: one factor too many stands before your gradient by X.",
    section="one-token-at-a-time",
)
def inverse_squared(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="In the path through the standard deviation stand your centred features, not yet divided by it.",
    section="one-token-at-a-time",
)
def centred_for_standard(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - centred * (g * centred).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="The path through the standard deviation has the standard deviation below it once too few in yours.",
    section="one-token-at-a-time",
)
def spread_once(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - centred * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="You average over the tokens: this is the gradient of the norm that sees the future.",
    section="the-norm-that-sees-the-future",
)
def statistics_over_the_tokens(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=1, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=1, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=1, keepdims=True) - X_hat * (g * X_hat).mean(axis=1, keepdims=True))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="The statistics are those of each token, but the corrections of your gradient average over the tokens.",
    section="one-token-at-a-time",
)
def means_over_the_tokens(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=1, keepdims=True) - X_hat * (g * X_hat).mean(axis=1, keepdims=True))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="The gradient by γ needs the standardised features; yours takes those of X.",
    section="one-token-at-a-time",
)
def gamma_from_raw_tokens(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="The gradient by γ takes features that are centred and not yet divided by the standard deviation.",
    section="one-token-at-a-time",
)
def gamma_from_centred_tokens(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * centred).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="γ enters its own gradient; the product γ x̂ has the slope x̂.",
    section="one-token-at-a-time",
)
def gamma_from_its_own_product(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (g * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="Your gradients by γ and β are means over the tokens; every token adds its own share.",
    section="one-token-at-a-time",
)
def parameters_averaged(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).mean(axis=1), dY.mean(axis=1)


@wrong(
    "backward",
    says="Your gradients by γ and β sum over the features and have one number a token.",
    section="one-token-at-a-time",
)
def parameters_over_features(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=0), dY.sum(axis=0)


@wrong(
    "backward",
    says="Your gradient by β has γ in it; the shift is added after the scale.",
    section="one-token-at-a-time",
)
def beta_scaled(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), g.sum(axis=1)


@wrong(
    "backward",
    says="Your gradients by γ and β are exchanged.",
    section="one-token-at-a-time",
)
def gamma_and_beta_exchanged(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, dY.sum(axis=1), (dY * X_hat).sum(axis=1)


@wrong(
    "backward",
    says="Your ε is 0.00001 whatever the caller passes.",
    section="ε-and-the-constant-token",
)
def eps_always_small(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + 1e-5)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="There is no ε in your standard deviation.",
    section="ε-and-the-constant-token",
)
def eps_forgotten(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + 0)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="Your variance divides by D − 1, unlike that of the norm itself.",
    section="common-mistakes",
)
def degrees_of_freedom(X, gamma, dY, eps=1e-5):
    inverse = 1 / np.sqrt(X.var(axis=0, ddof=1) + eps)
    X_hat, g = (X - X.mean(axis=0)) * inverse, gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="This scales dY by γ over the standard deviation and centres the result: half of the chain rule.",
    section="one-token-at-a-time",
)
def forward_scaling(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * g - (inverse * g).mean()
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="In the path through the standard deviation you sum over the features; it is a mean.",
    section="one-token-at-a-time",
)
def one_sum_for_a_mean(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).sum(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="You take out the mean of the whole matrix; every token has its own.",
    section="one-token-at-a-time",
)
def mean_of_all_tokens(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean() - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="The mean product with x̂ is taken out of every feature alike; it belongs along x̂.",
    section="one-token-at-a-time",
)
def along_nothing(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="In the path through the standard deviation the mean is missing: each feature looks at its own product only.",
    section="one-token-at-a-time",
)
def no_mean_in_the_spread(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * g * X_hat)
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="γ is missing in the path through the standard deviation.",
    section="one-token-at-a-time",
)
def spread_without_gamma(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (dY * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="γ is missing in the path through the mean.",
    section="one-token-at-a-time",
)
def mean_without_gamma(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - dY.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="The path through the standard deviation has a factor of 2 too many: the root takes that of the square away.",
    section="one-token-at-a-time",
)
def spread_doubled(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - 2 * X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="You divide by γ on the way back; the slope of γ x̂ by x̂ is γ.",
    section="one-token-at-a-time",
)
def divided_by_gamma(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = dY / gamma[:, None]
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="The factor of one over the standard deviation stands before the direct path only; all three have it.",
    section="one-token-at-a-time",
)
def factor_on_one_term(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0)
    return dX, (dY * X_hat).sum(axis=1), dY.sum(axis=1)


@wrong(
    "backward",
    says="Your gradients by γ and β have one column for each token; they are sums over the tokens.",
    section="one-token-at-a-time",
)
def not_summed(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, dY * X_hat, dY


@wrong(
    "backward",
    says="Your gradients by γ and β stand upright as columns; both belong to vectors of shape (D,).",
    section="one-token-at-a-time",
)
def upright_parameters(X, gamma, dY, eps=1e-5):
    centred = X - X.mean(axis=0, keepdims=True)
    inverse = 1 / np.sqrt((centred**2).mean(axis=0, keepdims=True) + eps)
    X_hat = centred * inverse
    g = gamma[:, None] * dY
    dX = inverse * (g - g.mean(axis=0) - X_hat * (g * X_hat).mean(axis=0))
    return dX, (dY * X_hat).sum(axis=1, keepdims=True), dY.sum(axis=1, keepdims=True)


WRONG = wrong
