"""Exercise 07, question norms: three norms for one batch."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes

from .shared import EPS, FAR, draw_tokens

MOVED = 1e-5  # what is more than rounding in float32
NEARLY_ALL = 0.8  # of the numbers that share a mean: for one of them its shift and that of the spread may cancel


def normalise(x, kind, eps):
    shared = (0, 1) if kind == "BatchNorm" else 2
    centred = x if kind == "RMSNorm" else x - x.mean(shared, keepdim=True)
    return centred / (centred.square().mean(shared, keepdim=True) + eps).sqrt()


def batches(kind):
    def cases(rng):
        found = []
        for n_sequences, n_tokens, eps in ((None, None, 0.1), (None, 1, EPS), (1, None, 0.3), (None, None, EPS)):
            B, N, D = draw_sizes(rng, 3)
            x = draw_tokens(rng, (n_sequences or B, n_tokens or N, D))
            found.append((x + rng.normal(size=D), kind, eps))
        found.append((draw_tokens(rng, (3, 7, 7)), kind, 0.2))
        B, N, D = draw_sizes(rng, 3)
        found.append((1e-4 * draw_tokens(rng, (B, N, D)), kind, 1e-9))  # an ε that shows in small tokens alone
        far, alone = FAR + 0.5 * rng.normal(size=(B, N, D)), draw_tokens(rng, (1, 2, D))
        return [*found, (far, kind, EPS), (alone, kind, 0.2)]

    return cases


def who_notices(ask, rng):
    """One number of one token is edited; only a norm of the whole batch may tell the others."""
    B, N, D = draw_sizes(rng, 3)
    x = draw_tokens(rng, (B, N, D))
    edited, others = x.copy(), np.ones((B, N), dtype=bool)
    edited[1, 3, 2] += 5.0
    others[1, 3] = False
    for kind in ("LayerNorm", "RMSNorm", "BatchNorm"):
        before, after = ask(x, kind, 0.1), ask(edited, kind, 0.1)
        if not all(isinstance(y, np.ndarray) and y.shape == x.shape for y in (before, after)):
            return f"The result should be a tensor of shape {x.shape}."
        moved = np.abs(after - before) > MOVED
        if kind != "BatchNorm":
            if moved[others].any():
                return f"After an edit of one token {kind} may change that token only, but more of your tokens move."
            if moved[1, 3].mean() < NEARLY_ALL:
                return f"After an edit of one feature {kind} must change all features of that token; some stay."
        elif moved[..., 2].mean() < NEARLY_ALL or np.delete(moved, 2, axis=2).any():
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
        also=("RMSNorm", "BatchNorm"),
    ),
    hints=(
        "For each of the three ask: which numbers share one mean, or one mean square? Number the axes of a "
        "B × N × D tensor, and write down those along which they lie.",
        "Let the axes stay in the result with length 1, so that the means line up with x again. A `dim` "
        "may be a pair of numbers.",
        "One of the three subtracts nothing, and averages squares. Another has D means in all, each over "
        "everything in the batch that carries this feature.",
    ),
    section="what-is-averaged",
    inputs=Inputs(axes("BND"), alike=("LayerNorm", "RMSNorm", "BatchNorm")),
    how="tensors",
    forbids=(
        "torch.nn.functional.layer_norm",
        "torch.nn.functional.rms_norm",
        "torch.nn.functional.batch_norm",
        "torch.nn.functional.instance_norm",
        "torch.nn.functional.group_norm",
    ),
)

right, wrong = answers_to(QUESTION)


@right
def axes_by_name(x, kind, eps):
    shared = {"LayerNorm": (2,), "RMSNorm": (2,), "BatchNorm": (0, 1)}[kind]
    centre = 0.0 if kind == "RMSNorm" else x.mean(dim=shared, keepdim=True)
    return (x - centre) / torch.sqrt(torch.square(x - centre).mean(dim=shared, keepdim=True) + eps)


@right
def three_branches(x, kind, eps):
    if kind == "LayerNorm":
        return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, correction=0) + eps)
    if kind == "RMSNorm":
        return x * ((x**2).mean(-1, keepdim=True) + eps).rsqrt()
    rows = x.flatten(0, 1)
    return ((rows - rows.mean(0)) / torch.sqrt(rows.var(0, unbiased=False) + eps)).unflatten(0, x.shape[:2])


@right
def group_by_group(x, kind, eps):
    def standard(values):
        apart = values if kind == "RMSNorm" else values - values.sum() / values.numel()
        return apart / ((apart * apart).sum() / apart.numel() + eps) ** 0.5

    if kind == "BatchNorm":
        return torch.stack([standard(x[..., d]) for d in range(x.shape[2])], dim=2)
    return torch.stack([torch.stack([standard(token) for token in rows]) for rows in x])


@right
def as_often_written(x, kind, eps):
    if kind == "RMSNorm":
        return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)
    shared = -1 if kind == "LayerNorm" else (0, 1)
    centred = x - x.mean(dim=shared, keepdim=True)
    return centred / torch.sqrt((centred**2).mean(dim=shared, keepdim=True) + eps)


@wrong("Your BatchNorm averages the variances of the sequences, and the differences between their means are lost.")
def means_of_means(x, kind, eps):
    if kind == "RMSNorm":
        return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)
    if kind == "LayerNorm":
        return (x - x.mean(dim=-1, keepdim=True)) / torch.sqrt(x.var(dim=-1, keepdim=True, unbiased=False) + eps)
    spread = x.var(dim=1, keepdim=True, unbiased=False).mean(dim=0, keepdim=True)
    return (x - x.mean(dim=(0, 1), keepdim=True)) / torch.sqrt(spread + eps)


wrong.edits("""
# axes_by_name
## all_the_same: All three kinds are a LayerNorm in your function: it does not look at `kind`.
- shared = {"LayerNorm": (2,), "RMSNorm": (2,), "BatchNorm": (0, 1)}[kind]
- centre = 0.0 if kind == "RMSNorm" else x.mean(dim=shared, keepdim=True)
+ shared, centre = (2,), x.mean(dim=2, keepdim=True)

# as_often_written
## axis_of_the_formulas: You average over axis 1, as where tokens are columns; in this layout these are the tokens.
-     return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)
- shared = -1 if kind == "LayerNorm" else (0, 1)
+     return x / torch.sqrt((x**2).mean(dim=1, keepdim=True) + eps)
+ shared = 1 if kind == "LayerNorm" else (0, 2)
## layer_over_tokens [the-norm-that-sees-the-future]: Your LayerNorm has one mean for each feature of a sequence: it
sees the future.
- shared = -1 if kind == "LayerNorm" else (0, 1)
+ shared = 1 if kind == "LayerNorm" else (0, 1)
## layer_over_the_sequence [common-mistakes]: Your LayerNorm has one mean for a whole sequence, over features and tokens
together.
+ shared = (1, 2) if kind == "LayerNorm" else (0, 1)
## layer_over_features_and_batch: Your LayerNorm averages over the sequences as well: every token needs a mean of its
own.
+ shared = (0, 2) if kind == "LayerNorm" else (0, 1)
## kinds_exchanged: LayerNorm and BatchNorm are swapped.
+ shared = (0, 1) if kind == "LayerNorm" else -1
## batch_axis_only: Your BatchNorm averages over the sequences only: one mean for every position of every feature.
+ shared = -1 if kind == "LayerNorm" else 0
## batch_as_instance: Your BatchNorm averages over the tokens of each sequence and leaves out the batch.
+ shared = -1 if kind == "LayerNorm" else 1
## batch_by_sequence: Your BatchNorm has one mean per sequence, over its features and tokens; every feature needs its
own.
+ shared = -1 if kind == "LayerNorm" else (1, 2)
## batch_over_everything: Your BatchNorm has one mean for the whole batch; every feature needs its own.
+ shared = -1 if kind == "LayerNorm" else (0, 1, 2)
## batch_over_features: Your BatchNorm averages over features and sequences, and has one mean for every position.
+ shared = -1 if kind == "LayerNorm" else (0, 2)
## batch_of_one_sequence: Your BatchNorm of a single sequence is a LayerNorm; each feature has a mean of its own there,
too.
+ shared = -1 if kind == "LayerNorm" or len(x) == 1 else (0, 1)
## eps_in_rms_only [one-token-at-a-time-layernorm]: There is no ε where you subtract a mean; all three norms have it
under the root.
- return centred / torch.sqrt((centred**2).mean(dim=shared, keepdim=True) + eps)
+ return centred / torch.sqrt((centred**2).mean(dim=shared, keepdim=True))
## sample_variances [common-mistakes]: Your variances divide by one less than the number of values; torch's `var` does
that unless told not to.
+ return centred / torch.sqrt(x.var(dim=shared, keepdim=True) + eps)
## variances_without_a_root [one-token-at-a-time-layernorm]: Where you subtract a mean you divide by the variance: the
root is missing.
+ return centred / ((centred**2).mean(dim=shared, keepdim=True) + eps)
## roots_of_roots [one-token-at-a-time-layernorm]: Where you subtract a mean you divide by the root of a standard
deviation.
+ return centred / torch.sqrt(x.std(dim=shared, keepdim=True, unbiased=False) + eps)
## squares_less_the_square [common-mistakes]: Your variance is the mean square less the square of the mean: far from 0
the two cancel and leave rounding.
+ spread = (x**2).mean(dim=shared, keepdim=True) - x.mean(dim=shared, keepdim=True) ** 2
+ return centred / torch.sqrt(spread + eps)
## rms_less_the_mean [do-we-need-the-mean-rmsnorm]: Your RMSNorm subtracts the mean first, and that makes it a
LayerNorm.
- return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)
+ x = x - x.mean(dim=-1, keepdim=True)
+ return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)
## rms_by_the_variance [do-we-need-the-mean-rmsnorm]: Your RMSNorm divides by the standard deviation, measured from the
mean; its mean square is measured from 0.
+ return x / torch.sqrt(x.var(dim=-1, keepdim=True, unbiased=False) + eps)
## rms_without_the_root: Your RMSNorm divides by the mean square itself: R stands for root.
+ return x / ((x**2).mean(dim=-1, keepdim=True) + eps)
## rms_of_the_sum: Your RMSNorm divides by the length of the token: the squares are summed and not averaged.
+ return x / torch.sqrt((x**2).sum(dim=-1, keepdim=True) + eps)
## rms_of_absolute_values: Your RMSNorm averages absolute values, where it should average squares.
+ return x / (x.abs().mean(dim=-1, keepdim=True) + eps)
## rms_eps_outside [common-mistakes]: In your RMSNorm ε is added to the root; it belongs under it.
+ return x / (torch.sqrt((x**2).mean(dim=-1, keepdim=True)) + eps)
## rms_over_tokens: Your RMSNorm averages over the tokens of a sequence; it should take each alone.
+ return x / torch.sqrt((x**2).mean(dim=1, keepdim=True) + eps)
## rms_over_the_batch: Your RMSNorm takes its mean square where BatchNorm takes its mean, over all tokens of the batch.
+ return x / torch.sqrt((x**2).mean(dim=(0, 1), keepdim=True) + eps)
## rms_over_the_sequence: Your RMSNorm has one mean square for a sequence; every token needs its own.
+ return x / torch.sqrt((x**2).mean(dim=(1, 2), keepdim=True) + eps)
## rms_of_the_mean: Your RMSNorm squares the mean; it should average the squares.
+ return x / torch.sqrt(x.mean(dim=-1, keepdim=True) ** 2 + eps)
## eps_ignored [one-token-at-a-time-layernorm]: All your norms have a fixed ε of 0.00001 and ignore the one that they
are given.
- return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)
+ return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + 1e-5)
- return centred / torch.sqrt((centred**2).mean(dim=shared, keepdim=True) + eps)
+ return centred / torch.sqrt((centred**2).mean(dim=shared, keepdim=True) + 1e-5)
## eps_outside [common-mistakes]: In all your norms ε stands outside the root.
- return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)
+ return x / (torch.sqrt((x**2).mean(dim=-1, keepdim=True)) + eps)
- return centred / torch.sqrt((centred**2).mean(dim=shared, keepdim=True) + eps)
+ return centred / (torch.sqrt((centred**2).mean(dim=shared, keepdim=True)) + eps)
## eps_as_a_floor: In all your norms ε is a floor for what stands under the root; add it instead.
-     return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)
+     return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True).clamp(min=eps))
- return centred / torch.sqrt((centred**2).mean(dim=shared, keepdim=True) + eps)
+ return centred / torch.sqrt((centred**2).mean(dim=shared, keepdim=True).clamp(min=eps))
## batch_sample_variance [common-mistakes]: The variance of your BatchNorm divides by one less than the number of
values; torch's `var` does that unless told not to.
- return centred / torch.sqrt((centred**2).mean(dim=shared, keepdim=True) + eps)
+ spread = x.var(dim=shared, keepdim=True, unbiased=kind == "BatchNorm")
+ return centred / torch.sqrt(spread + eps)
## rms_over_everything: Your RMSNorm has one mean square for the whole batch; every token needs its own.
- return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)
+ return x / torch.sqrt((x**2).mean() + eps)
## rms_by_the_length: Your RMSNorm divides by the length of the token, with ε added to it; average the squares, and put
ε under the root.
+ return x / (x.norm(dim=-1, keepdim=True) + eps)
""")
