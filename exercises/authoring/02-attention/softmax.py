"""Exercise 02, question softmax: softmax along an axis, in PyTorch."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes, shape_slip

CLOSE = 2e-6  # a sum of float32 has at most so much of rounding
ROUNDED = 1e-3  # what float32 rounds of a logarithm like 10,000


def reference(scores, dim):  # in double precision, so that rounding is counted once
    return torch.softmax(torch.as_tensor(scores).double(), dim=dim).float()


def ordinary_scores(rng):
    S, N = draw_sizes(rng, 2)
    shapes = (((S, N), 0), ((S, N), 1), ((N, S), -1), ((N, S), -2), ((1, N), 0), ((1, N), 1), ((S, 1), 1))
    shapes += ((S, S), 0), ((N, N), 1)
    return [*((rng.normal(size=shape), dim) for shape, dim in shapes), (np.full((S, N), 0.5), 1)]


def large_scores(rng):
    S, N = draw_sizes(rng, 2)
    cases = []
    for dim in (0, 1):
        saturated, huge = 30 * rng.normal(size=(S, N)), 1e4 * rng.normal(size=(N, S))
        far_apart = 1e4 * np.where(np.arange((N, S)[dim]) % 2, 1.0, -1.0)
        shifted = rng.normal(size=(S, N)) + np.expand_dims(far_apart, dim)
        cases += [(saturated, dim), (huge, dim), (shifted, dim)]
    return [*cases, *((rng.normal(size=(S, N)) + level, 0) for level in (-300.0, 300.0))]


def shares_along_the_axis(ask, rng):
    S, N = draw_sizes(rng, 2)
    vector, table = rng.normal(size=S), rng.normal(size=(S, N))
    whole = np.arange(S * N).reshape(S, N) % 5  # whole numbers are scores, too
    steep = np.array([0.0, -15.0, -30.0])
    for scores, dim in ((vector, 0), (vector, -1), (table, 0), (table, 1), (whole, 0), (steep, 0)):
        weights = ask(scores, dim)
        if slip := shape_slip(weights, scores.shape):
            return slip
        sums = weights.sum(axis=dim, dtype=float)
        if not close(np.atleast_1d(sums), np.ones(np.size(sums)), CLOSE):
            return f"Along axis {dim} of a tensor of shape {scores.shape} your weights do not sum to 1."
        if (weights <= 0).any():
            return "Every weight must be above 0: exp never gives 0 for scores of this size."
        moved = np.expand_dims(rng.normal(size=np.shape(sums)), dim)
        if not close(ask(scores + moved, dim), weights, CLOSE):
            return "One number added to all scores that compete must leave their weights as they are; yours change."
        ratios = weights * np.exp(-scores.astype(float))
        largest = np.broadcast_to(ratios.max(dim, keepdims=True), scores.shape)
        if not close(ratios / largest, np.ones(scores.shape), 1e-4):
            return "Two weights must have the ratio of the exponentials of their scores; yours have another."
    return None


QUESTION = Question(
    id="softmax",
    title="Softmax along an axis",
    name="softmax",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("values", 5, ordinary_scores, reference, atol=CLOSE),
        equals("large scores", 3, large_scores, reference, atol=ROUNDED),
        holds("shares along the axis", 2, shares_along_the_axis),
    ),
    hints=(
        "Entries that differ only in their index along `dim` compete with each other; all others must not meet.",
        "Which number can you subtract from all competitors without changing a share, so that no exponential "
        "overflows, and is it the same number for all groups of competitors?",
        "A maximum or a sum along an axis loses that axis, and PyTorch then lines the rest up from the right. "
        "There is a keyword that keeps it with length 1. `amax` gives the maximum alone, `max` also where it stands.",
    ),
    section="a-soft-lookup-table",
    inputs=Inputs(axes("SN"), lambda scores, dim: scores, alike=("values",)),
    how="tensors",
    forbids=("torch.softmax", "torch.log_softmax"),
)

right, wrong = answers_to(QUESTION)


@right
def with_kept_axes(scores, dim):
    powers = torch.exp(scores - torch.amax(scores, dim=dim, keepdim=True))
    return powers / torch.sum(powers, dim=dim, keepdim=True)


@right
def group_by_group(scores, dim):
    def one(group):
        powers = (group - group.max()).exp()
        return powers / powers.sum()

    if scores.ndim == 1:
        return one(scores)
    rows = scores.movedim(dim, 1)
    return torch.stack([one(row) for row in rows]).movedim(1, dim)


@right
def axis_to_the_front(scores, dim):
    moved = scores.movedim(dim, 0)
    moved = torch.exp(moved - moved.max(dim=0).values)
    return (moved / moved.sum(dim=0)).movedim(0, dim)


@right
def by_log_sum_exp(scores, dim):
    return (scores - scores.logsumexp(dim, keepdim=True)).exp()


@right
def as_often_written(scores, dim):
    powers = torch.exp(scores - scores.amax(dim=dim, keepdim=True))
    return powers / powers.sum(dim=dim, keepdim=True)


wrong.edits("""
# with_kept_axes
## always_the_first_axis [what-the-sums-of-a-say]: You always go down the columns, whatever the axis is.
- powers = torch.exp(scores - torch.amax(scores, dim=dim, keepdim=True))
- return powers / torch.sum(powers, dim=dim, keepdim=True)
+ powers = torch.exp(scores - scores.amax(dim=0, keepdim=True))
+ return powers / powers.sum(dim=0, keepdim=True)
## always_the_last_axis [what-the-sums-of-a-say]: You always go along the last axis, whatever axis is asked for.
+ powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
+ return powers / powers.sum(dim=-1, keepdim=True)
## over_everything [what-the-sums-of-a-say]: You let all scores of the table compete: all weights together sum to 1.
+ powers = torch.exp(scores - scores.max())
+ return powers / powers.sum()
## lost_axis: Your maxima and sums have lost their axis and are stretched along the wrong one: `keepdim=True` keeps it.
+ powers = torch.exp(scores - scores.amax(dim=dim))
+ return powers / powers.sum(dim=dim)
## axis_of_the_sum_lost: Your sum has lost its axis and is stretched along the wrong one: `keepdim=True` keeps it.
+ powers = torch.exp(scores - torch.amax(scores, dim=dim, keepdim=True))
+ return powers / torch.sum(powers, dim=dim)
## no_exponential: You divide the scores themselves by their sum; the exponential is missing.
+ return scores / scores.sum(dim=dim, keepdim=True)
## never_divided: You take the exponentials and never divide them by their sum.
+ return torch.exp(scores - scores.amax(dim=dim, keepdim=True))
## hard_maximum [from-soft-back-to-hard]: You give the whole weight to the largest score; that is the dictionary and not
the soft lookup.
+ return (scores == scores.amax(dim=dim, keepdim=True)).float()
## changes_its_argument: You work inside the tensor that came in, so the caller's scores are gone afterwards.
+ scores -= scores.amax(dim=dim, keepdim=True)
+ scores = scores.exp_() if scores.is_floating_point() else scores.exp()
+ return scores / scores.sum(dim=dim, keepdim=True)

# as_often_written
## the_other_axis [what-the-sums-of-a-say]: You go along the other axis: the sums over the given one are not 1.
  def as_often_written(scores, dim):
+     dim = (dim + 1) % scores.ndim
## the_other_of_two [what-the-sums-of-a-say]: You go along the other axis, and a vector has no other one.
+     dim = 1 - dim
## two_axes_assumed: You assume two axes when the axis is negative; there may be one.
+     dim = dim % 2
## pair_of_max: `max` along an axis gives a pair in PyTorch, the largest numbers and where they stand; `amax` gives the
numbers alone.
- powers = torch.exp(scores - scores.amax(dim=dim, keepdim=True))
+ powers = torch.exp(scores - scores.max(dim=dim, keepdim=True))
## kept_as_whole_numbers: You write the weights into a tensor of the scores' own kind: where the scores are whole
numbers, every weight is cut off to 0 or 1.
- return powers / powers.sum(dim=dim, keepdim=True)
+ return (powers / powers.sum(dim=dim, keepdim=True)).to(scores.dtype)
## maximum_if_huge: You subtract the maximum from huge scores only, but exp overflows from 89 on, and far below 0 all
exponentials are 0.
- powers = torch.exp(scores - scores.amax(dim=dim, keepdim=True))
+ powers = torch.exp(scores - scores.amax(dim=dim, keepdim=True) * (scores.abs().max() > 1000))
## no_maximum: Your exponentials overflow: subtract the largest score first.
+ powers = torch.exp(scores)
## one_maximum_for_all: You subtract one maximum of the whole table: where a group of scores lies far below it every
exponential becomes 0.
+ powers = torch.exp(scores - scores.max())
## mean_subtracted: You subtract the mean, which keeps the shares but leaves large scores far above it to overflow.
+ powers = torch.exp(scores - scores.mean(dim=dim, keepdim=True, dtype=torch.float32))
## scores_cut_off: You cut large scores off to avoid an overflow, and so all large scores become equal.
+ powers = torch.exp(scores.clamp(-50, 50))
## divided_by_the_maximum: You divide the scores by the largest one instead of subtracting it, which changes their
differences.
+ powers = torch.exp(scores / scores.abs().amax(dim=dim, keepdim=True))
## euclidean_length: You divide by the length of the vector of exponentials, the root of the sum of squares, instead of
by their sum.
- return powers / powers.sum(dim=dim, keepdim=True)
+ return powers / powers.norm(dim=dim, keepdim=True)
## lowest_score_wins: The sign is turned round: the lowest score gets the largest weight.
- powers = torch.exp(scores - scores.amax(dim=dim, keepdim=True))
+ powers = torch.exp(scores.amin(dim=dim, keepdim=True) - scores)
## padded_denominator [what-the-sums-of-a-say]: A small number is added to the denominator, so the weights do not sum to
1 exactly.
- return powers / powers.sum(dim=dim, keepdim=True)
+ return powers / (powers.sum(dim=dim, keepdim=True) + 1e-5)
## nan_hidden: You turn the NaN of an overflow into 0, so large scores get no weight: subtract their maximum first.
- powers = torch.exp(scores - scores.amax(dim=dim, keepdim=True))
- return powers / powers.sum(dim=dim, keepdim=True)
+ powers = torch.exp(scores)
+ return torch.nan_to_num(powers / powers.sum(dim=dim, keepdim=True))
## cut_off: No gradient reaches the scores: your weights are detached from them.
- powers = torch.exp(scores - scores.amax(dim=dim, keepdim=True))
+ powers = torch.exp(scores - scores.amax(dim=dim, keepdim=True)).detach()
""")
