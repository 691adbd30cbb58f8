"""Exercise 03, question weights: attention weights and their axis."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import CLOSE, close, draw_sizes, shape_slip
from clearformer.reference import attention


def first_bad_column(value, expected):
    return int(np.flatnonzero(~np.isclose(value, expected, rtol=0, atol=CLOSE).all(axis=0))[0])


def ordinary_scores(rng):
    S, N = draw_sizes(rng, 2)
    return [(rng.normal(size=shape),) for shape in ((S, N), (N, S), (1, N), (S, 1), (S, S))]


def large_scores(rng):
    S, N = draw_sizes(rng, 2)
    saturated, huge = 30 * rng.normal(size=(S, N)), 1e4 * rng.normal(size=(N, S))
    shifted = rng.normal(size=(S, N)) + 1e4 * np.where(np.arange(N) % 2, 1.0, -1.0)
    levels = [(rng.normal(size=(S, N)) + level,) for level in (-800.0, 800.0)]
    return [(saturated,), (huge,), (shifted,), *levels]


def columns_are_shares(ask, rng):
    S, N = draw_sizes(rng, 2)
    scores = rng.normal(size=(S, N))
    weights = ask(scores)
    if slip := shape_slip(weights, (S, N)):
        return slip
    sums = weights.sum(axis=0)
    if not close(sums, np.ones(N)):
        n = first_bad_column(sums[None], 1.0)
        return f"The weights of one query must sum to 1; in your column {n} they sum to {sums[n]:.4g}."
    if (weights <= 0).any():
        return "Every weight must be above 0: exp never gives 0 for scores of this size."
    steep = np.array([[0.0], [-15.0], [-30.0]])
    small = ask(steep)
    if slip := shape_slip(small, steep.shape):
        return slip
    if not close(small * np.exp(-steep), np.full_like(steep, small[0, 0])):
        return "A score that lies 30 below another has a tiny weight, but the ratio of the two must still be exp(−30)."
    if not close(ask(scores + rng.normal(size=N)), weights):
        return "Adding one number to all scores of a query must leave its weights as they are; yours change."
    edited = scores.copy()
    edited[1, 2] += 1.5
    others = np.arange(N) != 2
    if not close(ask(edited)[:, others], weights[:, others]):
        return "After an edit of scores[1, 2] only column 2 of the weights may change; yours change elsewhere."
    if ask(edited)[1, 2] <= weights[1, 2]:
        return "A higher score must mean a larger weight, but yours did not grow."
    return None


QUESTION = Question(
    id="weights",
    title="Attention weights and their axis",
    name="attention_weights",
    minutes=10,
    difficulty=1,
    checks=with_battery(
        equals("values", 6, ordinary_scores, attention.attention_weights, atol=1e-12),
        equals("large scores", 2, large_scores, attention.attention_weights),
        holds("shares of one query", 2, columns_are_shares),
    ),
    hints=(
        "A column belongs to one query. Say in words which entries of the table compete with each other.",
        "Which index disappears when you sum over the things that compete? NumPy's `axis` names exactly that index.",
        "For huge scores: what can you subtract from all entries of a column without changing any "
        "share? "
        "`keepdims=True` keeps the result ready for broadcasting.",
    ),
    section="where-the-softmax-goes",
    inputs=Inputs(axes("SN"), lambda scores: scores, alike=("values",)),
)

right, wrong = answers_to(QUESTION)


@right
def with_keepdims(scores):
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    return powers / powers.sum(axis=0, keepdims=True)


@right
def column_by_column(scores):
    weights = np.empty_like(scores)
    for n in range(scores.shape[1]):
        powers = np.exp(scores[:, n] - max(scores[:, n]))
        weights[:, n] = powers / sum(powers)
    return weights


@right
def through_the_logarithm(scores):
    top = np.max(scores, axis=0)
    log_total = top + np.log(np.einsum("sn->n", np.exp(scores - top)))
    return np.exp(scores - log_total)


@right
def softmax_of_the_transpose(scores):
    rows = scores.T - scores.T.max(axis=-1)[:, None]
    rows = np.exp(rows)
    return (rows / rows.sum(axis=-1)[:, None]).T


wrong.edits("""
# with_keepdims
## softmax_over_queries: The softmax runs over the queries: your rows sum to 1, not your columns.
- powers = np.exp(scores - scores.max(axis=0, keepdims=True))
- return powers / powers.sum(axis=0, keepdims=True)
+ powers = np.exp(scores - scores.max(axis=1, keepdims=True))
+ return powers / powers.sum(axis=1, keepdims=True)
## rows_of_a_square: In a square table your softmax runs over the queries; the axis does not follow from the shape.
+ axis = 1 if scores.shape[0] == scores.shape[1] else 0
+ powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
+ return powers / powers.sum(axis=axis, keepdims=True)
## softmax_over_everything: The softmax runs over the whole table: all weights of all queries together sum to 1.
+ powers = np.exp(scores - scores.max())
+ return powers / powers.sum()
## no_exponential: You divide the scores themselves by their sum; the exponential is missing.
+ return scores / scores.sum(axis=0)
## never_divided: You take the exponentials and never divide them by their sum.
+ return np.exp(scores - scores.max(axis=0))
## sigmoid_of_each: You put every score through a sigmoid of its own; the tokens should compete for the query.
+ return 1 / (1 + np.exp(-scores))
## hard_maximum: You give the whole weight to the largest score; a soft maximum shares it out.
+ return (scores == scores.max(axis=0)).astype(float)
## lowest_score_wins: The sign is turned round: the lowest score gets the largest weight.
+ powers = np.exp(scores.min(axis=0) - scores)
+ return powers / powers.sum(axis=0)
## logarithms: Your weights are the logarithms of the weights.
+ shifted = scores - scores.max(axis=0)
+ return shifted - np.log(np.exp(shifted).sum(axis=0))
## transposed_result: You return the table lying on its side: one row per query instead of one column.
+ powers = np.exp(scores - scores.max(axis=0))
+ return (powers / powers.sum(axis=0)).T
## scaled_once_more [why-divide-by-the-square-root-of-k]: You scale the scores inside the softmax, but this function
gets scores that are ready to use.
+ scaled = scores / np.sqrt(scores.shape[0])
+ powers = np.exp(scaled - scaled.max(axis=0))
+ return powers / powers.sum(axis=0)
## padded_denominator: A small number is added to the denominator, so no column sums to 1 exactly.
+ powers = np.exp(scores - scores.max(axis=0))
+ return powers / (powers.sum(axis=0) + 1e-5)
## no_maximum: Your exponentials overflow: subtract the largest score first.
+ powers = np.exp(scores)
+ return powers / powers.sum(axis=0)
## maximum_if_huge: You subtract the maximum from huge scores only, but exp overflows from 710 on, and far below 0 all
exponentials are 0.
- powers = np.exp(scores - scores.max(axis=0, keepdims=True))
+ powers = np.exp(scores - scores.max(axis=0, keepdims=True) * (scores.max() > 1000))
## one_maximum_for_all: You subtract one maximum of the whole table: for a query whose scores all lie far below it every
exponential becomes 0.
- powers = np.exp(scores - scores.max(axis=0, keepdims=True))
- return powers / powers.sum(axis=0, keepdims=True)
+ powers = np.exp(scores - scores.max())
+ return powers / powers.sum(axis=0)
## lost_axis: Your maxima and sums run along the rows and lose that axis; every column should have its own.
+ powers = np.exp(scores - scores.max(axis=1))
+ return powers / powers.sum(axis=1)
## changes_its_argument: You work inside the array that came in, so the caller's scores are gone afterwards.
+ scores -= scores.max(axis=0)
+ np.exp(scores, out=scores)
+ return scores / scores.sum(axis=0)
## single_precision: Your weights go through single precision and lose half of the digits.
+ powers = np.exp((scores - scores.max(axis=0)).astype(np.float32))
+ return powers / powers.sum(axis=0)
## padded_by_less: You add 1e-8 to the sums against a division by 0 that cannot happen: the largest exponential is 1.
- return powers / powers.sum(axis=0, keepdims=True)
+ return powers / (powers.sum(axis=0, keepdims=True) + 1e-8)
## padded_weights: You add a small number to every weight, so no column sums to 1 exactly.
+ return powers / powers.sum(axis=0, keepdims=True) + 1e-8
## rounded_weights: You round the weights; leave them as they are, for rounding adds up over many tokens.
+ return np.round(powers / powers.sum(axis=0, keepdims=True), 3)
""")
