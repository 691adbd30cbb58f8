"""Exercise 02, question softmax: softmax along an axis."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes, shape_slip
from clearformer.reference import functions


def ordinary_scores(rng):
    S, N = draw_sizes(rng, 2)
    shapes = (((S, N), 0), ((S, N), 1), ((N, S), -1), ((N, S), -2), ((1, N), 0), ((1, N), 1), ((S, 1), 1))
    shapes += ((S, S), 0), ((N, N), 1)
    return [*((rng.normal(size=shape), axis) for shape, axis in shapes), (np.full((S, N), 0.5), 1)]


def large_scores(rng):
    S, N = draw_sizes(rng, 2)
    cases = []
    for axis in (0, 1):
        saturated, huge = 30 * rng.normal(size=(S, N)), 1e4 * rng.normal(size=(N, S))
        far_apart = 1e4 * np.where(np.arange((N, S)[axis]) % 2, 1.0, -1.0)
        shifted = rng.normal(size=(S, N)) + np.expand_dims(far_apart, axis)
        cases += [(saturated, axis), (huge, axis), (shifted, axis)]
    return [*cases, *((rng.normal(size=(S, N)) + level, 0) for level in (-800.0, 800.0))]


def shares_along_the_axis(ask, rng):
    S, N = draw_sizes(rng, 2)
    vector, table = rng.normal(size=S), rng.normal(size=(S, N))
    whole = np.arange(S * N).reshape(S, N) % 5  # whole numbers are scores, too
    steep = np.array([0.0, -15.0, -30.0])
    for scores, axis in ((vector, 0), (vector, -1), (table, 0), (table, 1), (whole, 0), (steep, 0)):
        weights = ask(scores, axis)
        if slip := shape_slip(weights, scores.shape):
            return slip
        sums = weights.sum(axis=axis)
        if not close(np.atleast_1d(sums), np.ones(np.size(sums))):
            return f"Along axis {axis} of an array of shape {scores.shape} your weights do not sum to 1."
        if (weights <= 0).any():
            return "Every weight must be above 0: exp never gives 0 for scores of this size."
        moved = np.expand_dims(rng.normal(size=np.shape(sums)), axis)
        if not close(ask(scores + moved, axis), weights):
            return "One number added to all scores that compete must leave their weights as they are; yours change."
        if not close(
            weights * np.exp(-scores),
            np.broadcast_to((weights * np.exp(-scores)).max(axis, keepdims=True), scores.shape),
        ):
            return "Two weights must have the ratio of the exponentials of their scores; yours have another."
    return None


QUESTION = Question(
    id="softmax",
    title="Softmax along an axis",
    name="softmax",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("values", 5, ordinary_scores, functions.softmax, atol=1e-12),
        equals("large scores", 3, large_scores, functions.softmax),
        holds("shares along the axis", 2, shares_along_the_axis),
    ),
    hints=(
        "Entries that differ only in their index along `axis` compete with each other; all others must not meet.",
        "Which number can you subtract from all competitors without changing a share, so that no exponential "
        "overflows, and is it the same number for all groups of competitors?",
        "A maximum or a sum along an axis loses that axis, and NumPy then lines the rest up from the right. "
        "There is a keyword that keeps it with length 1.",
    ),
    section="a-soft-lookup-table",
    inputs=Inputs(axes("SN"), lambda scores, axis: scores, alike=("values",)),
)

right, wrong = answers_to(QUESTION)


@right
def with_kept_axes(scores, axis):
    powers = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


@right
def group_by_group(scores, axis):
    def one(group):
        powers = np.exp(group - group.max())
        return powers / powers.sum()

    return np.apply_along_axis(one, axis, scores)


@right
def axis_to_the_front(scores, axis):
    moved = np.moveaxis(scores, axis, 0)
    moved = np.exp(moved - moved.max(axis=0))
    return np.moveaxis(moved / moved.sum(axis=0), 0, axis)


@right
def by_log_sum_exp(scores, axis):
    total = np.logaddexp.reduce(scores, axis=axis, keepdims=True)
    return np.exp(scores - total)


@right
def as_often_written(scores, axis):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


wrong.edits("""
# with_kept_axes
## always_the_first_axis [what-the-sums-of-a-say]: You always go down the columns, whatever the axis is.
- powers = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
- return powers / np.sum(powers, axis=axis, keepdims=True)
+ powers = np.exp(scores - scores.max(axis=0, keepdims=True))
+ return powers / powers.sum(axis=0, keepdims=True)
## always_the_last_axis [what-the-sums-of-a-say]: You always go along the last axis, whatever axis is asked for.
+ powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
+ return powers / powers.sum(axis=-1, keepdims=True)
## over_everything [what-the-sums-of-a-say]: You let all scores of the table compete: all weights together sum to 1.
+ powers = np.exp(scores - scores.max())
+ return powers / powers.sum()
## lost_axis: Your maxima and sums have lost their axis and are stretched along the wrong one.
+ powers = np.exp(scores - scores.max(axis=axis))
+ return powers / powers.sum(axis=axis)
## no_exponential: You divide the scores themselves by their sum; the exponential is missing.
+ return scores / scores.sum(axis=axis, keepdims=True)
## never_divided: You take the exponentials and never divide them by their sum.
+ return np.exp(scores - scores.max(axis=axis, keepdims=True))
## hard_maximum [from-soft-back-to-hard]: You give the whole weight to the largest score; that is the dictionary and not
the soft lookup.
+ return (scores == scores.max(axis=axis, keepdims=True)).astype(float)
## changes_its_argument: You work inside the array that came in, so the caller's scores are gone afterwards.
+ scores -= scores.max(axis=axis, keepdims=True)
+ np.exp(scores, out=scores)
+ return scores / scores.sum(axis=axis, keepdims=True)

# as_often_written
## the_other_axis [what-the-sums-of-a-say]: You go along the other axis: the sums over the given one are not 1.
  def as_often_written(scores, axis):
+     axis = (axis + 1) % scores.ndim
## the_other_of_two [what-the-sums-of-a-say]: You go along the other axis, and a vector has no other one.
+     axis = 1 - axis
## two_axes_assumed: You assume two axes when the axis is negative; there may be one.
+     axis = axis % 2
## kept_as_whole_numbers: You write the weights into an array of the scores' own kind: where the scores are whole
numbers, every weight is cut off to 0 or 1.
- return powers / powers.sum(axis=axis, keepdims=True)
+ return (powers / powers.sum(axis=axis, keepdims=True)).astype(scores.dtype)
## maximum_if_huge: You subtract the maximum from huge scores only, but exp overflows from 710 on, and far below 0 all
exponentials are 0.
- powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
+ powers = np.exp(scores - scores.max(axis=axis, keepdims=True) * (np.abs(scores).max() > 1000))
## no_maximum: Your exponentials overflow: subtract the largest score first.
+ powers = np.exp(scores)
## one_maximum_for_all: You subtract one maximum of the whole table: where a group of scores lies far below it every
exponential becomes 0.
+ powers = np.exp(scores - scores.max())
## mean_subtracted: You subtract the mean, which keeps the shares but leaves large scores far above it to overflow.
+ powers = np.exp(scores - scores.mean(axis=axis, keepdims=True))
## scores_cut_off: You cut large scores off to avoid an overflow, and so all large scores become equal.
+ powers = np.exp(np.clip(scores, -50, 50))
## divided_by_the_maximum: You divide the scores by the largest one instead of subtracting it, which changes their
differences.
+ powers = np.exp(scores / np.abs(scores).max(axis=axis, keepdims=True))
## euclidean_length: You divide by the length of the vector of exponentials, the root of the sum of squares, instead of
by their sum.
- return powers / powers.sum(axis=axis, keepdims=True)
+ return powers / np.linalg.norm(powers, axis=axis, keepdims=True)
## lowest_score_wins: The sign is turned round: the lowest score gets the largest weight.
- powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
+ powers = np.exp(scores.min(axis=axis, keepdims=True) - scores)
## padded_denominator [what-the-sums-of-a-say]: A small number is added to the denominator, so the weights do not sum to
1 exactly.
- return powers / powers.sum(axis=axis, keepdims=True)
+ return powers / (powers.sum(axis=axis, keepdims=True) + 1e-5)
## single_precision: Your weights go through single precision and lose half of the digits.
- powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
+ powers = np.exp((scores - scores.max(axis=axis, keepdims=True)).astype(np.float32))
## padded_by_less [what-the-sums-of-a-say]: You add 1e-8 to the sum against a division by 0 that cannot happen: the
largest exponential is 1.
- return powers / powers.sum(axis=axis, keepdims=True)
+ return powers / (powers.sum(axis=axis, keepdims=True) + 1e-8)
## rounded_scores: You round the scores to single precision before you begin.
  def as_often_written(scores, axis):
+     scores = scores.astype(np.float32)
## nan_hidden: You turn the NaN of an overflow into 0, so large scores get no weight: subtract their maximum first.
- powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
- return powers / powers.sum(axis=axis, keepdims=True)
+ powers = np.exp(scores)
+ return np.nan_to_num(powers / powers.sum(axis=axis, keepdims=True))
""")
