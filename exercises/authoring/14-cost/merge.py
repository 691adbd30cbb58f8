"""Exercise 14, question merge: merge two partial results."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes

from .shared import LIMIT, shapes_slip


def merge(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    base = np.where(np.isfinite(m), m, 0.0)
    s_1, s_2 = np.exp(m_1 - base), np.exp(m_2 - base)
    return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


def summary(C, V):
    """m, l and O of one block; all three are those of an empty one where every score is −∞."""
    m = C.max(axis=0)
    e = np.exp(C - np.where(np.isfinite(m), m, 0.0))
    return m, e.sum(axis=0), V @ e


def draw_parts(rng, N=None, how_many=2, scale=1.0, hide=False, V=None):
    """Summaries of blocks for the same targets; with `hide` some targets see nothing of the first, second or both."""
    S, width, n_targets = draw_sizes(rng, 3)
    n_targets, width = N or n_targets, V or width
    parts = []
    for _ in range(how_many):
        C = scale * rng.normal(size=(S, n_targets))
        if hide:
            C[0, :] = -np.inf
        parts.append([C, rng.normal(size=(width, S))])
    if hide:
        parts[0][0][:, 0] = parts[1][0][:, 1] = -np.inf
        for C, _ in parts:
            C[:, 2] = -np.inf
    return [summary(*part) for part in parts]


def joined_parts(rng, **settings):
    one, two = draw_parts(rng, **settings)
    return *one, *two


def ordinary_blocks(rng):
    return [joined_parts(rng), joined_parts(rng), joined_parts(rng, N=1), joined_parts(rng, N=7, V=7)]


def large_scores(rng):
    """Then some that are all far below 0, and a part far below the other whose values are so large that it counts."""
    *cases, (m_1, l_1, O_1, m_2, l_2, O_2) = (joined_parts(rng, scale=scale) for scale in (30.0, 1e4, 3.0))
    return [*cases, (m_1 - 8e4, l_1, O_1, m_2 - 8e4, l_2, O_2), (m_1, l_1, O_1, m_1 - 25, l_2, 1e9 * O_2)]


def hidden_blocks(rng):
    return [joined_parts(rng, hide=True), joined_parts(rng, hide=True, scale=1e3)]


def order_of_blocks(ask, rng):
    a, b, c = draw_parts(rng, how_many=3, scale=3.0)
    shapes = [part.shape for part in a]
    if slip := shapes_slip(ask(*a, *b), shapes):
        return slip
    one, other = ask(*a, *b), ask(*b, *a)
    if not all(close(x, y, LIMIT) for x, y in zip(one, other, strict=True)):
        return "Merged the other way round, two blocks give something else with your function."
    left, right = ask(*ask(*a, *b), *c), ask(*a, *ask(*b, *c))
    if not all(close(x, y, LIMIT * max(1.0, np.abs(y).max())) for x, y in zip(left, right, strict=True)):
        return "Of three blocks it should not matter which two are merged first; with your function it does."
    return None


def average_in_the_end(ask, rng):
    S, width, N = draw_sizes(rng, 3)
    C, V = 2 * rng.normal(size=(S, N)), rng.normal(size=(width, S))
    found = ask(*summary(C[:2], V[:, :2]), *summary(C[2:], V[:, 2:]))
    if slip := shapes_slip(found, ((N,), (N,), (width, N))):
        return slip
    A = np.exp(C) / np.exp(C).sum(axis=0)
    if not close(found[2] / found[1], V @ A, LIMIT):
        return "O divided by l should be the average of all values with the softmax of all scores; yours is not."
    return None


QUESTION = Question(
    id="merge",
    title="Merge two partial results",
    name="merge",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("ordinary blocks", 3, ordinary_blocks, merge),
        equals("large scores", 2, large_scores, merge),
        equals("hidden blocks", 3, hidden_blocks, merge, atol=1e-12),
        holds("order of the blocks", 2, order_of_blocks),
        holds("the average in the end", 2, average_in_the_end),
    ),
    hints=(
        "Each part measured its exponentials from its own largest score. To which common score can both be "
        "brought without the danger of an overflow?",
        "One factor for each part and target does it, and the factor is the same for l and for O. Along which "
        "axis of O do the targets lie?",
        "If both parts are empty, the larger of the two maxima is −∞ as well, and −∞ minus −∞ is not defined. "
        "Subtract something finite there; the factors of an empty part have to come out as 0.",
    ),
    section="what-to-remember-of-a-block",
    inputs=Inputs(axes("N", "N", "VN", "N", "N", "VN"), alike=("ordinary blocks",)),
)

right, wrong = answers_to(QUESTION)


@right
def with_a_finite_level(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    level = np.where(np.isneginf(m), 0, m)
    return m, *(np.exp(m_1 - level) * one + np.exp(m_2 - level) * two for one, two in ((l_1, l_2), (O_1, O_2)))


@right
def warnings_and_all(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    s_1, s_2 = np.nan_to_num(np.exp(m_1 - m)), np.nan_to_num(np.exp(m_2 - m))
    return m, s_1 * l_1 + s_2 * l_2, O_1 * s_1[None, :] + O_2 * s_2[None, :]


@right
def target_by_target(m_1, l_1, O_1, m_2, l_2, O_2):
    m, sums, products = m_1.copy(), l_1.copy(), O_1.copy()
    for n in range(len(m)):
        if m_2[n] > m[n]:
            shrink = np.exp(m[n] - m_2[n])
            m[n], sums[n], products[:, n] = m_2[n], shrink * sums[n] + l_2[n], shrink * products[:, n] + O_2[:, n]
        elif m_2[n] > -np.inf:
            shrink = np.exp(m_2[n] - m[n])
            sums[n] += shrink * l_2[n]
            products[:, n] += shrink * O_2[:, n]
    return m, sums, products


@right
def by_the_difference(m_1, l_1, O_1, m_2, l_2, O_2):
    apart = np.where(np.isneginf(m_1) & np.isneginf(m_2), 0.0, m_1 - m_2)
    s_1, s_2 = np.exp(np.minimum(apart, 0)), np.exp(-np.maximum(apart, 0))
    return np.maximum(m_1, m_2), s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


@right
def as_often_written(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    top = np.maximum(m, -1e300)
    s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
    return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


@wrong("An `if` decides once for all targets; here each target has maxima of its own.")
def one_decision(m_1, l_1, O_1, m_2, l_2, O_2):
    if m_1 > m_2:
        shrink = np.exp(m_2 - m_1)
        return m_1, l_1 + shrink * l_2, O_1 + shrink * O_2
    shrink = np.exp(m_1 - m_2)
    return m_2, shrink * l_1 + l_2, shrink * O_1 + O_2


wrong.edits("""
# with_a_finite_level
## absolute_exponentials [one-pass-is-enough-the-online-softmax]: You go back to exponentials without a subtracted
maximum, and these overflow or vanish for large scores.
- return m, *(np.exp(m_1 - level) * one + np.exp(m_2 - level) * two for one, two in ((l_1, l_2), (O_1, O_2)))
+ back = np.exp(-level)
+ return m, *(back * (np.exp(m_1) * one + np.exp(m_2) * two) for one, two in ((l_1, l_2), (O_1, O_2)))
## added_as_they_are: You add the sums as they are, though each was measured from a largest score of its own.
- m = np.maximum(m_1, m_2)
- level = np.where(np.isneginf(m), 0, m)
- return m, *(np.exp(m_1 - level) * one + np.exp(m_2 - level) * two for one, two in ((l_1, l_2), (O_1, O_2)))
+ return np.maximum(m_1, m_2), l_1 + l_2, O_1 + O_2
## first_maximum_kept: You keep the first part's largest score as the common one; where the second is larger, its factor
explodes.
+ shrink = np.exp(m_2 - np.where(np.isneginf(m_1), 0.0, m_1))
+ return m_1, l_1 + shrink * l_2, O_1 + shrink * O_2
## second_maximum_taken: You take the second part's largest score as the common one; where the first is larger, its
factor explodes.
+ grow = np.exp(m_1 - np.where(np.isneginf(m_2), 0.0, m_2))
+ return m_2, grow * l_1 + l_2, grow * O_1 + O_2
## finite_for_nothing: The m of a target that has seen nothing yet stays −∞; yours has become a finite number.
  def with_a_finite_level(m_1, l_1, O_1, m_2, l_2, O_2):
+     least = np.finfo(float).min
+     m_1, m_2 = np.maximum(m_1, least), np.maximum(m_2, least)
## zero_for_nothing: You replace −∞ by 0 in m, and 0 is a score like any other; a target that has seen nothing keeps −∞.
+     m_1, m_2 = np.where(np.isneginf(m_1), 0.0, m_1), np.where(np.isneginf(m_2), 0.0, m_2)
## level_not_low_enough: You never subtract less than −10 000; where both maxima are lower, all exponentials vanish.
- level = np.where(np.isneginf(m), 0, m)
+ level = np.maximum(m, -1e4)
# as_often_written
## factors_upside_down: Your factors have the wrong sign: a part with smaller scores has to shrink, and yours grows.
- s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
+ s_1, s_2 = np.exp(top - m_1), np.exp(top - m_2)
## only_the_sums_corrected: You correct l and leave O as it was; both were measured from the same score.
- return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2
+ return m, s_1 * l_1 + s_2 * l_2, O_1 + O_2
## only_the_products_corrected: You correct O and leave l as it was; both were measured from the same score.
+ return m, l_1 + l_2, s_1 * O_1 + s_2 * O_2
## only_the_first_shrinks: You shrink the first part only, as if the second always had the larger score.
- s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
- return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2
+ s_1 = np.exp(m_1 - top)
+ return m, s_1 * l_1 + l_2, s_1 * O_1 + O_2
## second_products_as_they_are: You leave the second part's O as it was; bring it, like its l, to the common score.
- return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2
+ return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + O_2
## smaller_maximum [one-pass-is-enough-the-online-softmax]: You take the smaller of the two maxima, so that factors are
above 1 and overflow for large scores.
- m = np.maximum(m_1, m_2)
- top = np.maximum(m, -1e300)
+ m = np.minimum(m_1, m_2)
+ top = np.where(np.isneginf(m), 0.0, m)
## maxima_added: The largest score of both blocks is the larger of the two, not their sum.
- return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2
+ return m_1 + m_2, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2
## nothing_for_empty_blocks: Where both blocks are hidden from a target you subtract −∞ from −∞, which is not a number.
- top = np.maximum(m, -1e300)
- s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
+ s_1, s_2 = np.exp(m_1 - m), np.exp(m_2 - m)
## divided_too_soon: You divide O by l. The division comes at the very end, else the next merge weighs it wrongly.
- return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2
+ sums = s_1 * l_1 + s_2 * l_2
+ return m, sums, (s_1 * O_1 + s_2 * O_2) / np.where(sums > 0, sums, 1)
## products_weighted_by_sums [merging-is-attention]: You weight O by l as well; O holds a sum already, and no average.
+ return m, s_1 * l_1 + s_2 * l_2, s_1 * l_1 * O_1 + s_2 * l_2 * O_2
## one_maximum_for_all: You subtract the largest score of all targets; each target has its own.
- top = np.maximum(m, -1e300)
+ top = np.full_like(m, np.where(np.isneginf(m), 0.0, m).max())
- return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2
+ return top, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2
## base_two: Your factors use the base 2, and the sums were made with the base e.
- s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
+ s_1, s_2 = 2.0 ** (m_1 - top), 2.0 ** (m_2 - top)
## logarithm_for_maximum [merging-is-attention]: Your m is the logarithm of the whole sum; what is kept is the largest
score.
- return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2
+ sums = s_1 * l_1 + s_2 * l_2
+ return m + np.log(np.where(sums > 0, sums, 1)), sums, s_1 * O_1 + s_2 * O_2
## factors_along_the_features: You lay the factors along the features of O; there is one for each target, and targets
are columns.
+ return m, s_1 * l_1 + s_2 * l_2, s_1[:, None] * O_1 + s_2[:, None] * O_2
## sums_taken_for_averages [merging-is-attention]: You treat O as an average and weight it by shares of the whole; O is
a sum that was never divided.
+ sums = s_1 * l_1 + s_2 * l_2
+ whole = np.where(sums > 0, sums, 1)
+ return m, sums, s_1 * l_1 / whole * O_1 + s_2 * l_2 / whole * O_2
""")
