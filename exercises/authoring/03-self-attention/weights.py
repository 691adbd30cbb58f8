"""Exercise 03, question weights: attention weights and their axis."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes, shape_slip
from clearcheck.author.torch_checks import equal_in_float32
from clearcheck.worker.forbidden_names import SOFTMAX

from .shared import LARGE


def attention_weights(scores):
    return torch.softmax(scores.double(), dim=-1).float()


def ordinary_scores(rng):
    B, N, S = draw_sizes(rng, 3)
    shapes = (N, S), (B, N, S), (S, N), (1, S), (N, 1), (S, S), (1, N, S), (S, S, S)
    return [(rng.normal(size=shape),) for shape in shapes]


def large_scores(rng):
    B, N, S = draw_sizes(rng, 3)
    saturated, huge = 30 * rng.normal(size=(N, S)), 1e4 * rng.normal(size=(B, N, S))
    shifted = rng.normal(size=(N, S)) + 1e4 * np.where(np.arange(N) % 2, 1.0, -1.0)[:, None]
    levels = [(rng.normal(size=(N, S)) + level,) for level in (-800.0, 800.0)]
    return [(saturated,), (huge,), (shifted,), *levels]


def rows_are_shares(ask, rng):
    N, S = draw_sizes(rng, 2)
    scores = rng.normal(size=(N, S))
    weights = ask(scores)
    if slip := shape_slip(weights, (N, S)):
        return slip
    sums = weights.sum(axis=1)
    if not equal_in_float32(sums, np.ones(N)):
        n = int(np.argmax(np.abs(sums - 1)))
        return f"The weights of one target must sum to 1; in your row {n} they sum to {sums[n]:.4g}."
    if (weights <= 0).any():
        return "Every weight must be above 0: exp never gives 0 for scores of this size."
    steep = np.array([[0.0, -15.0, -30.0]])
    small = ask(steep)
    if slip := shape_slip(small, steep.shape):
        return slip
    if not equal_in_float32(small * np.exp(-steep), np.full_like(steep, small[0, 0])):
        return "A score that lies 30 below another has a tiny weight, but the ratio of the two must still be exp(−30)."
    if not equal_in_float32(ask(scores + rng.normal(size=(N, 1))), weights):
        return "Adding one number to all scores of a target must leave its weights as they are; yours change."
    edited = scores.copy()
    edited[2, 1] += 1.5
    others = np.arange(N) != 2
    if not equal_in_float32(ask(edited)[others], weights[others]):
        return "After an edit of scores[2, 1] only row 2 of the weights may change; yours change elsewhere."
    if ask(edited)[2, 1] <= weights[2, 1]:
        return "A higher score must mean a larger weight, but yours did not grow."
    return None


QUESTION = Question(
    id="weights",
    title="Attention weights and their axis",
    name="attention_weights",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("values", 6, ordinary_scores, attention_weights),
        equals("large scores", 2, large_scores, attention_weights, atol=LARGE),
        holds("shares of one target", 2, rows_are_shares),
    ),
    hints=(
        "A row belongs to one target. Say in words which entries of the table compete with each other.",
        "Which index disappears when you sum over the things that compete? `dim` names exactly that index, and counted "
        "from the end it is the same with a batch in front and without.",
        "For huge scores: what can you subtract from all entries of a row without changing any share? `keepdim=True` "
        "keeps the result ready for broadcasting.",
    ),
    section="where-the-softmax-goes",
    inputs=Inputs(
        lambda scores: dict(zip("BNS"[-scores.ndim :], scores.shape, strict=True)),
        lambda scores: scores,
        alike=("values",),
    ),
    how="tensors",
    forbids=SOFTMAX,
)

right, wrong = answers_to(QUESTION)


@right
def with_keepdim(scores):
    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)


@right
def target_by_target(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        powers = torch.exp(row - max(row))
        rows.append(powers / sum(powers))
    return torch.stack(rows).reshape(scores.shape)


@right
def through_the_logarithm(scores):
    total = torch.logsumexp(scores, -1)
    return torch.exp(scores - total[..., None])


@right
def in_columns_and_back(scores):
    columns = scores.mT - scores.mT.max(dim=-2, keepdim=True).values
    columns = columns.exp()
    return (columns / columns.sum(-2, keepdim=True)).mT


wrong.edits("""
# with_keepdim
## softmax_over_queries: The softmax runs over the targets: your columns sum to 1, not your rows.
- powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
- return powers / powers.sum(dim=-1, keepdim=True)
+ powers = torch.exp(scores - scores.amax(dim=-2, keepdim=True))
+ return powers / powers.sum(dim=-2, keepdim=True)
## over_the_first_axis: The softmax runs over the first axis: without a batch that is the axis of the targets, with one
it is the batch.
+ powers = torch.exp(scores - scores.amax(dim=0, keepdim=True))
+ return powers / powers.sum(dim=0, keepdim=True)
## axis_counted_from_the_left: You call the axis of the sources number 1; with a batch in front number 1 is that of the
targets. Count from the end.
+ powers = torch.exp(scores - scores.amax(dim=1, keepdim=True))
+ return powers / powers.sum(dim=1, keepdim=True)
## columns_of_a_square: In a square table your softmax runs over the targets; the axis does not follow from the shape.
+ dim = -2 if scores.shape[-1] == scores.shape[-2] else -1
+ powers = torch.exp(scores - scores.amax(dim=dim, keepdim=True))
+ return powers / powers.sum(dim=dim, keepdim=True)
## softmax_over_everything: The softmax runs over the whole table: all weights of all targets together sum to 1.
+ powers = torch.exp(scores - scores.max())
+ return powers / powers.sum()
## no_exponential: You divide the scores themselves by their sum; the exponential is missing.
+ return scores / scores.sum(dim=-1, keepdim=True)
## never_divided: You take the exponentials and never divide them by their sum.
+ return torch.exp(scores - scores.amax(dim=-1, keepdim=True))
## sigmoid_of_each: You put every score through a sigmoid of its own; the sources should compete for the target.
+ return torch.sigmoid(scores)
## hard_maximum: You give the whole weight to the largest score; a soft maximum shares it out.
+ return (scores == scores.amax(dim=-1, keepdim=True)).float()
## lowest_score_wins: The sign is turned round: the lowest score gets the largest weight.
+ powers = torch.exp(scores.amin(dim=-1, keepdim=True) - scores)
+ return powers / powers.sum(dim=-1, keepdim=True)
## logarithms: Your weights are the logarithms of the weights.
+ return scores - torch.logsumexp(scores, dim=-1, keepdim=True)
## transposed_result: You return the table lying on its side: one column per target instead of one row.
+ powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
+ return (powers / powers.sum(dim=-1, keepdim=True)).mT
## scaled_once_more [why-divide-by-the-square-root-of-k]: You scale the scores inside the softmax, but this function
gets scores that are ready to use.
+ scaled = scores / scores.shape[-1] ** 0.5
+ powers = torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
+ return powers / powers.sum(dim=-1, keepdim=True)
## no_maximum: Your exponentials overflow: subtract the largest score first.
+ powers = torch.exp(scores)
+ return powers / powers.sum(dim=-1, keepdim=True)
## maximum_if_huge: You subtract the maximum from huge scores only, but exp overflows from 89 on in float32, and far
below 0 all exponentials are 0.
- powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
+ powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True) * (scores.max() > 1000))
## one_maximum_for_all: You subtract one maximum of the whole table: for a target whose scores all lie far below it
every exponential becomes 0.
- powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
- return powers / powers.sum(dim=-1, keepdim=True)
+ powers = torch.exp(scores - scores.max())
+ return powers / powers.sum(dim=-1, keepdim=True)
## lost_axis: Your sums lose the axis that they run over, so that a row is divided by the sums of all rows: keep it with
`keepdim=True`.
+ powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
+ return powers / powers.sum(dim=-1)
## lost_axes: Your maxima and your sums both lose the axis that they run over: keep it with `keepdim=True`.
+ powers = torch.exp(scores - scores.amax(dim=-1))
+ return powers / powers.sum(dim=-1)
## changes_its_argument: You work inside the tensor that came in, so the caller's scores are gone afterwards.
+ scores -= scores.amax(dim=-1, keepdim=True)
+ scores.exp_()
+ return scores / scores.sum(dim=-1, keepdim=True)
## half_precision: Your weights go through half precision and lose most of their digits.
+ powers = torch.exp((scores - scores.amax(dim=-1, keepdim=True)).half())
+ return (powers / powers.sum(dim=-1, keepdim=True)).float()
## padded_denominator: A number is added to the denominator, so no row sums to 1 exactly.
+ powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
+ return powers / (powers.sum(dim=-1, keepdim=True) + 1e-3)
## rounded_weights: You round the weights; leave them as they are, for rounding adds up over many tokens.
- return powers / powers.sum(dim=-1, keepdim=True)
+ return torch.round(powers / powers.sum(dim=-1, keepdim=True), decimals=3)
## cut_off: No gradient comes back through your weights: leave `detach` and NumPy out.
+ return (powers / powers.sum(dim=-1, keepdim=True)).detach()
## called_from_torch: PyTorch's own softmax does the work that is asked for.
+ return torch.softmax(scores, dim=-1)
""")
