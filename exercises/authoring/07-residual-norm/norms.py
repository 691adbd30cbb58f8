"""Exercise 07, question norms: three norms for one batch."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import CLOSE, draw_sizes
from clearformer.reference import layers

from .shared import EPS, draw_tokens


def normalise(x, kind, eps):
    if kind == "BatchNorm":
        centred = x - x.mean(axis=(0, 2), keepdims=True)
        return centred / np.sqrt((centred**2).mean(axis=(0, 2), keepdims=True) + eps)
    ones = np.ones(x.shape[1])
    if kind == "LayerNorm":
        return np.stack([layers.layer_norm(X, ones, 0 * ones, eps) for X in x])
    return np.stack([layers.rms_norm(X, ones, eps) for X in x])


def batches(kind):
    def cases(rng):
        found = []
        for n_sequences, n_tokens, eps in ((None, None, 0.1), (None, 1, EPS), (1, None, 0.3), (None, None, EPS)):
            B, D, N = draw_sizes(rng, 3)
            x = draw_tokens(rng, (n_sequences or B, D, n_tokens or N))
            found.append((x + rng.normal(size=(D, 1)), kind, eps))
        found.append((draw_tokens(rng, (3, 7, 7)), kind, 0.2))
        B, D, N = draw_sizes(rng, 3)
        found.append((1e-4 * draw_tokens(rng, (B, D, N)), kind, 1e-9))  # an ε that shows in small tokens alone
        far, alone = 3e5 + draw_tokens(rng, (B, D, N)), draw_tokens(rng, (1, D, 2))
        return [*found, (far, kind, EPS), (alone, kind, 0.2)]

    return cases


def who_notices(ask, rng):
    """One number of one token is edited; only a norm of the whole batch may tell the others."""
    B, D, N = draw_sizes(rng, 3)
    x = draw_tokens(rng, (B, D, N))
    edited, token = x.copy(), np.zeros((B, N), dtype=bool)
    edited[1, 2, 3] += 5.0
    token[1, 3] = True
    for kind in ("LayerNorm", "RMSNorm", "BatchNorm"):
        before, after = ask(x, kind, 0.1), ask(edited, kind, 0.1)
        if not all(isinstance(y, np.ndarray) and y.shape == x.shape for y in (before, after)):
            return f"The result should be an array of shape {x.shape}."
        moved = np.abs(after - before) > CLOSE
        if kind != "BatchNorm":
            if moved.any(axis=1)[~token].any():
                return f"After an edit of one token {kind} may change that token only, but more of your tokens move."
            if not moved[1, :, 3].all():
                return f"After an edit of one feature {kind} must change all features of that token; some stay."
        elif not moved[:, 2].all() or np.delete(moved, 2, axis=1).any():
            return f"After an edit of feature 2 of one token {kind} must change that feature everywhere, and no other."
    return None


QUESTION = Question(
    id="norms",
    title="Three norms for one batch",
    name="normalise",
    minutes=12,
    difficulty=1,
    checks=with_battery(
        equals("LayerNorm", 3, batches("LayerNorm"), normalise),
        equals("RMSNorm", 3, batches("RMSNorm"), normalise),
        equals("BatchNorm", 3, batches("BatchNorm"), normalise),
        holds("who notices", 3, who_notices),
    ),
    hints=(
        "For each of the three ask: which numbers share one mean, or one mean square? Number the axes of a "
        "B × D × N array, and write down those along which they lie.",
        "Let the axes stay in the result with length 1, so that the means line up with x again. An `axis` "
        "may be a pair of numbers.",
        "One of the three subtracts nothing, and averages squares. Another has D means in all, each over "
        "everything in the batch that carries this feature.",
    ),
    section="what-is-averaged",
    inputs=Inputs(axes("BDN"), alike=("LayerNorm", "RMSNorm", "BatchNorm")),
)

right, wrong = answers_to(QUESTION)


@right
def axes_by_name(x, kind, eps):
    axes = {"LayerNorm": (1,), "RMSNorm": (1,), "BatchNorm": (0, 2)}[kind]
    centre = 0.0 if kind == "RMSNorm" else x.mean(axis=axes, keepdims=True)
    return (x - centre) / np.sqrt(np.square(x - centre).mean(axis=axes, keepdims=True) + eps)


@right
def three_branches(x, kind, eps):
    if kind == "LayerNorm":
        return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + eps)
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(1, keepdims=True) + eps)
    mu, var = x.mean((0, 2)), x.var((0, 2))
    return (x - mu[None, :, None]) / np.sqrt(var[None, :, None] + eps)


@right
def group_by_group(x, kind, eps):
    y = np.empty_like(x)
    B, D, N = x.shape
    if kind == "BatchNorm":
        for d in range(D):
            values = x[:, d]
            y[:, d] = (values - values.mean()) / (values.std() ** 2 + eps) ** 0.5
        return y
    for b in range(B):
        for n in range(N):
            token = x[b, :, n]
            if kind == "LayerNorm":
                token = token - token.sum() / D
            y[b, :, n] = token / np.sqrt(token @ token / D + eps)
    return y


@right
def as_often_written(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    axes = 1 if kind == "LayerNorm" else (0, 2)
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)


@wrong("Your BatchNorm averages the variances of the sequences, and the differences between their means are lost.")
def means_of_means(x, kind, eps):
    if kind == "RMSNorm":
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
    if kind == "LayerNorm":
        return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + eps)
    spread = x.var(axis=2, keepdims=True).mean(axis=0, keepdims=True)
    return (x - x.mean(axis=(0, 2), keepdims=True)) / np.sqrt(spread + eps)


wrong.edits("""
# axes_by_name
## all_the_same: All three kinds are a LayerNorm in your function: it does not look at `kind`.
- axes = {"LayerNorm": (1,), "RMSNorm": (1,), "BatchNorm": (0, 2)}[kind]
- centre = 0.0 if kind == "RMSNorm" else x.mean(axis=axes, keepdims=True)
- return (x - centre) / np.sqrt(np.square(x - centre).mean(axis=axes, keepdims=True) + eps)
+ return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + eps)

# as_often_written
## last_axis: You average over the last axis, as one does in PyTorch; in this layout these are the tokens.
-     return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
- axes = 1 if kind == "LayerNorm" else (0, 2)
+     return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
+ axes = -1 if kind == "LayerNorm" else (0, 1)
## layer_over_tokens [the-norm-that-sees-the-future]: Your LayerNorm has one mean for each feature of a sequence: it
sees the future.
- axes = 1 if kind == "LayerNorm" else (0, 2)
+ axes = 2 if kind == "LayerNorm" else (0, 2)
## layer_over_the_sequence [common-mistakes]: Your LayerNorm has one mean for a whole sequence, over features and tokens
together.
+ axes = (1, 2) if kind == "LayerNorm" else (0, 2)
## layer_over_features_and_batch: Your LayerNorm averages over the sequences as well: every token needs a mean of its
own.
+ axes = (0, 1) if kind == "LayerNorm" else (0, 2)
## kinds_exchanged: LayerNorm and BatchNorm are swapped.
+ axes = (0, 2) if kind == "LayerNorm" else 1
## batch_axis_only: Your BatchNorm averages over the sequences only: one mean for every position of every feature.
+ axes = 1 if kind == "LayerNorm" else 0
## batch_as_instance: Your BatchNorm averages over the tokens of each sequence and leaves out the batch.
+ axes = 1 if kind == "LayerNorm" else 2
## batch_by_sequence: Your BatchNorm has one mean per sequence, over its features and tokens; every feature needs its
own.
+ axes = 1 if kind == "LayerNorm" else (1, 2)
## eps_in_rms_only [one-token-at-a-time]: There is no ε where you subtract a mean; all three norms have it under
the root.
- return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)
+ return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True))
## batch_over_everything: Your BatchNorm has one mean for the whole batch; every feature needs its own.
- axes = 1 if kind == "LayerNorm" else (0, 2)
+ axes = 1 if kind == "LayerNorm" else (0, 1, 2)
## batch_over_features: Your BatchNorm averages over features and sequences, and has one mean for every position.
+ axes = 1 if kind == "LayerNorm" else (0, 1)
## rms_less_the_mean [do-we-need-the-mean]: Your RMSNorm subtracts the mean first, and that makes it a LayerNorm.
- return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ return (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + eps)
## rms_by_the_variance [do-we-need-the-mean]: Your RMSNorm divides by the standard deviation, measured from the mean;
its mean square is measured from 0.
+ return x / np.sqrt(x.var(axis=1, keepdims=True) + eps)
## rms_without_the_root: Your RMSNorm divides by the mean square itself: R stands for root.
+ return x / ((x**2).mean(axis=1, keepdims=True) + eps)
## rms_of_the_sum: Your RMSNorm divides by the length of the token: the squares are summed and not averaged.
+ return x / np.sqrt((x**2).sum(axis=1, keepdims=True) + eps)
## rms_of_absolute_values: Your RMSNorm averages absolute values, where it should average squares.
+ return x / (np.abs(x).mean(axis=1, keepdims=True) + eps)
## rms_eps_outside [common-mistakes]: In your RMSNorm ε is added to the root; it belongs under it.
+ return x / (np.sqrt((x**2).mean(axis=1, keepdims=True)) + eps)
## rms_over_tokens: Your RMSNorm averages over the tokens of a sequence; it should take each alone.
+ return x / np.sqrt((x**2).mean(axis=2, keepdims=True) + eps)
## rms_over_the_batch: Your RMSNorm takes its mean square where BatchNorm takes its mean, over all tokens of the batch.
+ return x / np.sqrt((x**2).mean(axis=(0, 2), keepdims=True) + eps)
## eps_ignored [one-token-at-a-time]: All your norms have a fixed ε of 0.00001 and ignore the one that they are given.
- return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5)
- return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)
+ return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + 1e-5)
## eps_outside [common-mistakes]: In all your norms ε stands outside the root.
- return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ return x / (np.sqrt((x**2).mean(axis=1, keepdims=True)) + eps)
- centred = x - x.mean(axis=axes, keepdims=True)
- return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)
+ return (x - x.mean(axis=axes, keepdims=True)) / (x.std(axis=axes, keepdims=True) + eps)
## sample_variances [common-mistakes]: Your variances divide by one less than the number of values; torch's `var` does
that unless told not to.
- return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)
+ return centred / np.sqrt(x.var(axis=axes, keepdims=True, ddof=1) + eps)
## rms_of_the_mean: Your RMSNorm squares the mean; it should average the squares.
- return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+ return x / np.sqrt(x.mean(axis=1, keepdims=True) ** 2 + eps)
## rms_over_the_sequence: Your RMSNorm has one mean square for a sequence; every token needs its own.
+ return x / np.sqrt((x**2).mean(axis=(1, 2), keepdims=True) + eps)
## variances_without_a_root [one-token-at-a-time]: Where you subtract a mean you divide by the variance: the root is
missing.
- centred = x - x.mean(axis=axes, keepdims=True)
- return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)
+ return (x - x.mean(axis=axes, keepdims=True)) / (x.var(axis=axes, keepdims=True) + eps)
## roots_of_roots [one-token-at-a-time]: Where you subtract a mean you divide by the root of a standard deviation.
+ return (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.std(axis=axes, keepdims=True) + eps)
## squares_less_the_square [common-mistakes]: Your variance is the mean square less the square of the mean: far from 0
the two cancel and leave rounding.
- return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)
+ spread = (x**2).mean(axis=axes, keepdims=True) - x.mean(axis=axes, keepdims=True) ** 2
+ return centred / np.sqrt(spread + eps)
## batch_of_one_sequence: Your BatchNorm of a single sequence is a LayerNorm; each feature has a
mean of its own there, too.
- axes = 1 if kind == "LayerNorm" else (0, 2)
+ axes = 1 if kind == "LayerNorm" or len(x) == 1 else (0, 2)
## eps_as_a_floor: In all your norms ε is a floor for what stands under the root; add it instead.
-     return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps)
+     return x / np.sqrt(np.maximum((x**2).mean(axis=1, keepdims=True), eps))
- return centred / np.sqrt((centred**2).mean(axis=axes, keepdims=True) + eps)
+ return centred / np.sqrt(np.maximum((centred**2).mean(axis=axes, keepdims=True), eps))
""")
