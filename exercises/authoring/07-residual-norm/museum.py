"""Exercise 07, question museum: repair the layer that sees the future."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes
from clearcheck.author.torch_checks import equal_in_float32
from torch.nn import functional as F

from .shared import EPS, FAR


def causal_layer(x, W):
    normed = F.layer_norm(x, x.shape[-1:], eps=EPS)
    seen = torch.arange(1, x.shape[1] + 1)[:, None]
    return F.rms_norm(x + normed.cumsum(dim=1) / seen @ W, x.shape[-1:], eps=EPS)


def draw_layer(rng, n_sequences=None, n_tokens=None):
    """Tokens in rows, with a mean that makes the residual visible, and a map."""
    B, N, D = draw_sizes(rng, 3)
    shape = (n_sequences or B, n_tokens or N, D)
    x = rng.normal(size=(*shape[:2], 1)) + 2 + rng.uniform(0.5, 2, size=(*shape[:2], 1)) * rng.normal(size=shape)
    return x, rng.normal(size=(D, D)) / np.sqrt(D)


def ordinary_layers(rng):
    return [draw_layer(rng), draw_layer(rng, n_tokens=1), draw_layer(rng, n_sequences=1), draw_layer(rng, n_tokens=71)]


def extreme_layers(rng):
    """Large tokens, tiny ones (where ε shows), a constant token, and maps that drown the residual."""
    x, W = draw_layer(rng)
    far = x.copy()
    far[:, 1] = float(rng.integers(2, 9))
    return [(FAR + x, W), (1e-3 * x, 1e-3 * W), (far, W), (x, 50 * W), (FAR + x, 1e3 * W)]


def table_slip(y, x):
    if isinstance(y, np.ndarray) and y.shape == x.shape:
        return None
    return f"The result should be a tensor of shape {x.shape}."


def no_future(ask, rng):
    x, W = draw_layer(rng)
    later = x.copy()
    later[:, -1] += rng.normal(size=x.shape[2])
    y, y_later = ask(x, W), ask(later, W)
    if slip := table_slip(y, x) or table_slip(y_later, x):
        return slip
    if not equal_in_float32(y_later[:, :-1], y[:, :-1]):
        return "After an edit of the last token the outputs of earlier ones change: the layer sees the future."
    if equal_in_float32(y_later[:, -1], y[:, -1]):
        return "After an edit of the last token its own output must change, but yours does not."
    earlier = x.copy()
    earlier[:, 0] += rng.normal(size=x.shape[2])
    if equal_in_float32(ask(earlier, W)[:, -1], y[:, -1]):
        return "After an edit of the first token the output of the last must change, but yours does not."
    return None


def no_length(ask, rng):
    x, W = draw_layer(rng)
    y, shorter = ask(x, W), ask(x[:, :-1].copy(), W)
    if slip := table_slip(y, x) or table_slip(shorter, x[:, :-1]):
        return slip
    if not equal_in_float32(shorter, y[:, :-1]):
        return "Without the last token the outputs of the earlier ones are not what they were with it."
    if equal_in_float32(y, ask(x, 2 * W)):
        return "With a map twice as large the outputs must change, but yours do not."
    return None


def silent_map(ask, rng):
    x, W = draw_layer(rng)
    y = ask(x, 0 * W)
    if slip := table_slip(y, x):
        return slip
    alone = x / np.sqrt(np.square(x).mean(axis=2, keepdims=True) + EPS)
    if not equal_in_float32(y, alone):
        return "With a map of zeros only the residual and the final norm are left, but your outputs are others."
    if equal_in_float32(ask(x, W), y):
        return "The map must change the outputs, but yours are those of a map of zeros."
    return None


QUESTION = Question(
    id="museum",
    title="Repair the layer that sees the future",
    name="causal_layer",
    minutes=18,
    difficulty=2,
    checks=with_battery(
        holds("the future", 3, no_future),
        holds("cut off", 3, no_length),
        holds("silent map", 2, silent_map),
        equals("values", 6, ordinary_layers, causal_layer),
        equals("extreme tokens and maps", 2, extreme_layers, causal_layer),
    ),
    hints=(
        "Here tokens are rows, in a batch: write the meaning of axis 0, 1 and 2 beside every line, and compare "
        "with the four sentences of the task, one after the other.",
        "How many tokens has the third one seen, itself included? And how many has it seen according to the "
        "museum piece, if the sequence has ten?",
        "A residual connection adds to the stream, and in a pre-norm layer no norm ever touches that. What "
        "does the museum piece add to, in the line that makes `stream`?",
    ),
    section="the-norm-that-sees-the-future",
    inputs=Inputs(axes("BND", "DD")),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def repaired_line_by_line(x, W):
    centred = x - x.mean(dim=2, keepdim=True)
    normed = centred / torch.sqrt(torch.square(centred).mean(dim=2, keepdim=True) + 1e-5)
    so_far = torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[None, :, None]
    y = x + so_far
    return y / torch.sqrt(torch.square(y).mean(dim=2, keepdim=True) + 1e-5)


@right
def token_by_token(x, W):
    y = torch.zeros_like(x)
    for b, rows in enumerate(x):
        seen = torch.zeros(rows.shape[1])
        for n, token in enumerate(rows):
            seen = seen + (token - token.mean()) / torch.sqrt(token.var(unbiased=False) + 1e-5)
            out = token + seen / (n + 1) @ W
            y[b, n] = out / torch.sqrt((out * out).mean() + 1e-5)
    return y


@right
def with_a_triangle(x, W):
    N = x.shape[1]
    weights = torch.tril(torch.ones(N, N))
    weights /= weights.sum(dim=1, keepdim=True)
    normed = (x - x.mean(-1)[..., None]) / torch.sqrt(x.var(-1, correction=0) + 1e-5)[..., None]
    stream = x + weights @ normed @ W
    return stream / torch.sqrt((stream**2).mean(-1) + 1e-5)[..., None]


@right
def as_often_written(x, W):
    centred = x - x.mean(dim=2, keepdim=True)
    normed = centred / torch.sqrt(torch.square(centred).mean(dim=2, keepdim=True) + 1e-5)
    so_far = torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
    stream = x + so_far
    return stream / torch.sqrt(torch.square(stream).mean(dim=2, keepdim=True) + 1e-5)


@right
def as_often_written_too(x, W):
    centred = x - x.mean(dim=2, keepdim=True)
    normed = centred / torch.sqrt(torch.square(centred).mean(dim=2, keepdim=True) + 1e-5)
    stream = x + torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
    return stream / torch.sqrt(torch.square(stream).mean(dim=2, keepdim=True) + 1e-5)


@wrong("This is the museum piece itself: none of its three mistakes is repaired.")
def museum_piece(x, W):
    centred = x - x.mean(dim=1, keepdim=True)
    normed = centred / torch.sqrt(torch.square(centred).mean(dim=1, keepdim=True) + 1e-5)
    so_far = torch.cumsum(normed @ W, dim=1) / x.shape[1]
    stream = normed + so_far
    return stream / torch.sqrt(torch.square(stream).mean(dim=2, keepdim=True) + 1e-5)


@wrong(
    "Your norm takes its statistics over the past: no leak, and no LayerNorm.",
    section="what-is-averaged",
)
def norm_of_the_past(x, W):
    seen = torch.arange(1, x.shape[1] + 1)[:, None]
    mean = torch.cumsum(x, dim=1) / seen
    var = (torch.cumsum(x**2, dim=1) / seen - mean**2).clamp(min=0)
    stream = x + torch.cumsum((x - mean) / torch.sqrt(var + 1e-5) @ W, dim=1) / seen
    return stream / torch.sqrt(torch.square(stream).mean(dim=2, keepdim=True) + 1e-5)


wrong.edits("""
# as_often_written
## only_the_count: One of three mistakes is repaired, the number by which a sum over the past is divided.
- centred = x - x.mean(dim=2, keepdim=True)
- normed = centred / torch.sqrt(torch.square(centred).mean(dim=2, keepdim=True) + 1e-5)
+ centred = x - x.mean(dim=1, keepdim=True)
+ normed = centred / torch.sqrt(torch.square(centred).mean(dim=1, keepdim=True) + 1e-5)
- stream = x + so_far
+ stream = normed + so_far
## only_the_residual: One of three mistakes is repaired, the start of the residual.
- centred = x - x.mean(dim=2, keepdim=True)
- normed = centred / torch.sqrt(torch.square(centred).mean(dim=2, keepdim=True) + 1e-5)
- so_far = torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
+ centred = x - x.mean(dim=1, keepdim=True)
+ normed = centred / torch.sqrt(torch.square(centred).mean(dim=1, keepdim=True) + 1e-5)
+ so_far = torch.cumsum(normed @ W, dim=1) / x.shape[1]
## residual_left [where-the-norm-goes]: What is left is the residual: yours adds to the normalised tokens, not to x.
- stream = x + so_far
+ stream = normed + so_far
## count_left: What is left is the count: your first token knows how many are still to come.
- so_far = torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
+ so_far = torch.cumsum(normed @ W, dim=1) / x.shape[1]
## axis_left: What is left is the first norm, whose mean still runs over the tokens.
- centred = x - x.mean(dim=2, keepdim=True)
- normed = centred / torch.sqrt(torch.square(centred).mean(dim=2, keepdim=True) + 1e-5)
+ centred = x - x.mean(dim=1, keepdim=True)
+ normed = centred / torch.sqrt(torch.square(centred).mean(dim=1, keepdim=True) + 1e-5)
## norm_over_the_sequence [common-mistakes]: Your first norm has one mean for a whole sequence, over tokens and features
together.
+ centred = x - x.mean(dim=(1, 2), keepdim=True)
+ normed = centred / torch.sqrt(torch.square(centred).mean(dim=(1, 2), keepdim=True) + 1e-5)
## norm_over_the_batch [what-is-averaged]: Your first norm averages over the sequences of the batch.
+ centred = x - x.mean(dim=0, keepdim=True)
+ normed = centred / torch.sqrt(torch.square(centred).mean(dim=0, keepdim=True) + 1e-5)
## final_norm_over_the_sequence: Your final norm takes one mean square for a whole sequence, and so sees the future
itself.
- return stream / torch.sqrt(torch.square(stream).mean(dim=2, keepdim=True) + 1e-5)
+ return stream / torch.sqrt(torch.square(stream).mean(dim=(1, 2), keepdim=True) + 1e-5)
## final_norm_over_tokens: Your final norm averages over the tokens; the museum piece had that axis right.
+ return stream / torch.sqrt(torch.square(stream).mean(dim=1, keepdim=True) + 1e-5)
## without_itself: Your tokens look only at those before them; each should look at itself, too.
- so_far = torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
+ so_far = (torch.cumsum(normed @ W, dim=1) - normed @ W) / torch.arange(x.shape[1]).clamp(min=1)[:, None]
## not_divided: You sum the past without dividing, so that what is added grows from token to token.
+ so_far = torch.cumsum(normed @ W, dim=1)
## mean_of_all: You give every token the mean of the whole sequence; average only up to the token itself.
+ so_far = (normed @ W).mean(dim=1, keepdim=True) + 0 * x
## transposed_map: Your map is transposed: with tokens in rows W stands to the right as it is.
+ so_far = torch.cumsum(normed @ W.T, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
## no_residual [identity-plus-a-bit-the-residual-connection]: There is no residual connection left in your layer.
- stream = x + so_far
+ stream = 0 * x + so_far
## count_along_the_features: You divide by 1, 2, 3 … along the features; the count belongs to the tokens.
- so_far = torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
+ so_far = torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[2] + 1)
## count_from_the_other_end: Your counts begin at the last token; the first token has seen one, the last one all.
+ so_far = torch.cumsum(normed @ W, dim=1) / torch.arange(x.shape[1], 0, -1)[:, None]
## count_from_zero: Your counts begin at 0: the first token has seen itself.
+ so_far = torch.cumsum(normed @ W, dim=1) / torch.arange(x.shape[1])[:, None]
## summed_over_the_features: Your sum runs along the features; the past lies along axis 1.
+ so_far = torch.cumsum(normed @ W, dim=2) / torch.arange(1, x.shape[1] + 1)[:, None]
## summed_over_the_batch: Your sum runs along the batch; the past lies along axis 1.
+ so_far = torch.cumsum(normed @ W, dim=0) / torch.arange(1, x.shape[1] + 1)[:, None]
## centred_residual [where-the-norm-goes]: Your residual starts from the centred tokens, and their means are lost on the
way.
- stream = x + so_far
+ stream = centred + so_far
## two_residuals [identity-plus-a-bit-the-residual-connection]: You add the normalised tokens as well as x; the stream
should gain only what the look back gives.
+ stream = x + normed + so_far
## no_look_back: Your tokens do not look back at all: each is mapped alone.
- so_far = torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
+ so_far = normed @ W

# as_often_written_too
## sample_variance [common-mistakes]: Your variance divides by D − 1; LayerNorm divides by D.
- normed = centred / torch.sqrt(torch.square(centred).mean(dim=2, keepdim=True) + 1e-5)
+ normed = centred / torch.sqrt(torch.square(centred).sum(dim=2, keepdim=True) / (x.shape[2] - 1) + 1e-5)
## only_the_axis: One of three mistakes is repaired, the axis of the first norm.
- stream = x + torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
+ so_far = torch.cumsum(normed @ W, dim=1) / x.shape[1]
+ stream = normed + so_far
## first_norm_removed [where-the-norm-goes]: You removed the first norm: that stops the leak, but the map reads tokens
of any size.
- centred = x - x.mean(dim=2, keepdim=True)
- normed = centred / torch.sqrt(torch.square(centred).mean(dim=2, keepdim=True) + 1e-5)
- stream = x + torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
+ stream = x + torch.cumsum(x @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
## norm_behind_the_look_back [where-the-norm-goes]: You normalise after looking back; the task normalises what the part
reads.
+ past = torch.cumsum(x, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
+ past = (past - past.mean(dim=2, keepdim=True)) / torch.sqrt(past.var(dim=2, keepdim=True, unbiased=False) + 1e-5)
+ stream = x + past @ W
## rms_in_both_places [do-we-need-the-mean-rmsnorm]: Both of your norms are RMSNorm; the first should subtract the mean
of each token.
- centred = x - x.mean(dim=2, keepdim=True)
- normed = centred / torch.sqrt(torch.square(centred).mean(dim=2, keepdim=True) + 1e-5)
+ normed = x / torch.sqrt(torch.square(x).mean(dim=2, keepdim=True) + 1e-5)
## layer_norm_in_both_places [do-we-need-the-mean-rmsnorm]: Your final norm subtracts the mean; it should be an RMSNorm.
- return stream / torch.sqrt(torch.square(stream).mean(dim=2, keepdim=True) + 1e-5)
+ spread = stream.var(dim=2, keepdim=True, unbiased=False)
+ return (stream - stream.mean(dim=2, keepdim=True)) / torch.sqrt(spread + 1e-5)
## no_final_norm [where-the-norm-goes]: The final norm is missing, and the stream leaves the layer at any size.
- stream = x + torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
- return stream / torch.sqrt(torch.square(stream).mean(dim=2, keepdim=True) + 1e-5)
+ return x + torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
## roots_without_eps [one-token-at-a-time-layernorm]: There is no ε under your roots, and a constant token is divided by
0.
- centred = x - x.mean(dim=2, keepdim=True)
- normed = centred / torch.sqrt(torch.square(centred).mean(dim=2, keepdim=True) + 1e-5)
+ normed = (x - x.mean(dim=2, keepdim=True)) / x.std(dim=2, keepdim=True, unbiased=False)
- return stream / torch.sqrt(torch.square(stream).mean(dim=2, keepdim=True) + 1e-5)
+ return stream / torch.sqrt(torch.square(stream).mean(dim=2, keepdim=True))
## half_of_the_axis: In your first norm the mean runs over the features, the mean square still over the tokens.
- normed = centred / torch.sqrt(torch.square(centred).mean(dim=2, keepdim=True) + 1e-5)
+ normed = centred / torch.sqrt(torch.square(centred).mean(dim=1, keepdim=True) + 1e-5)
## other_half_of_the_axis: In your first norm the mean square runs over the features, and the mean still over the
tokens.
- centred = x - x.mean(dim=2, keepdim=True)
+ centred = x - x.mean(dim=1, keepdim=True)
## half_of_itself: Your tokens count themselves and do not look at themselves; take each into its own sum.
- stream = x + torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
+ past = torch.cumsum(normed @ W, dim=1) - normed @ W
+ stream = x + past / torch.arange(1, x.shape[1] + 1)[:, None]
## counts_in_a_row: Your counts lie in a row, along the features; one number for each token is a column, [:, None].
+ stream = x + torch.cumsum(normed @ W, dim=1) / torch.arange(1, x.shape[1] + 1)
## map_to_the_left: Your map stands to the left, as where tokens are columns; for rows its place is to the right.
+ stream = x + torch.cumsum(W @ normed, dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]
""")
