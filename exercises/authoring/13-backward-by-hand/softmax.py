"""Exercise 13, question softmax: back through the softmax."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearformer.reference import functions

from .shared import close, draw_sizes


def softmax_reference(A, dA):
    return functions.softmax_backward(A, dA, axis=0)


def draw_weights(rng, n_sources=None, n_targets=None, spread=1.0):
    S, N = draw_sizes(rng, 2)
    shape = n_sources or S, n_targets or N
    return functions.softmax(spread * rng.normal(size=shape), axis=0), 2 + 3 * rng.normal(size=shape)


def ordinary_weights(rng):
    return [draw_weights(rng), draw_weights(rng, n_targets=1), draw_weights(rng, n_sources=1), draw_weights(rng, 7, 7)]


def certain_weights(rng):
    """Saturated columns, and weights that are exactly 0 and 1."""
    A, dA = draw_weights(rng, spread=30.0)
    hidden, d_hidden = draw_weights(rng)
    hidden[0] = 0.0
    hidden /= hidden.sum(axis=0)
    hidden[:, 1] = np.eye(len(hidden))[1]
    return [(A, dA), (hidden, d_hidden), (hidden, 1e4 * d_hidden)]


def what_one_gains(ask, rng):
    A, dA = draw_weights(rng)
    dC = ask(A, dA)
    if not isinstance(dC, np.ndarray) or dC.shape != A.shape:
        return f"The result should be an array of shape {A.shape}."
    if not close(dC.sum(axis=0), np.zeros(A.shape[1])):
        return (
            "What one source gains others lose: each column of the gradient must sum to 0, and one of yours does not."
        )
    if not close(ask(A, dA + rng.normal(size=A.shape[1])), dC):
        return "The same number added to all gradients of a column must change nothing, since the weights sum to 1."
    if close(dC, 0 * dC):
        return "Your gradient is 0 everywhere."
    edited = dA.copy()
    edited[:, 1] += rng.normal(size=len(A))
    others = np.arange(A.shape[1]) != 1
    if not close(ask(A, edited)[:, others], dC[:, others]):
        return (
            "The columns have nothing to do with each other, but an edit of one column of dA changes others of yours."
        )
    return None


QUESTION = Question(
    id="softmax",
    title="Back through the softmax",
    name="softmax_backward",
    minutes=10,
    difficulty=1,
    checks=(
        equals("values", 5, ordinary_weights, softmax_reference),
        equals("certain and hidden weights", 3, certain_weights, softmax_reference),
        holds("what one source gains", 4, what_one_gains),
    ),
    hints=(
        "In which columns does a score have a say? And which weights of that column does it change: one of "
        "them, or all?",
        "The derivative of weight s by score t is the weight s times (1 if s = t, else 0) minus the product of "
        "the two weights. Multiply by the gradients and add up over s: two terms are left.",
        "One of the terms holds a single number for each column, the mean of its gradients with its weights as "
        "shares. What a score gets is its weight times the distance from that mean.",
    ),
    section="step-2-back-through-the-softmax",
    inputs=Inputs(axes("SN", "SN"), alike=("values",)),
)

right, wrong = answers_to(QUESTION)


@right
def weighted_mean_off(A, dA):
    return A * (dA - (A * dA).sum(axis=0, keepdims=True))


@right
def column_by_column(A, dA):
    result = np.zeros_like(A)
    for n in range(A.shape[1]):
        a, d = A[:, n], dA[:, n]
        result[:, n] = a * d - (a @ d) * a
    return result


@right
def targets_as_rows(A, dA):
    rows, d_rows = A.T, dA.T
    product = rows * d_rows
    return (product - rows * product.sum(axis=1)[:, None]).T


@right
def jacobians(A, dA):
    columns = [(np.diag(a) - np.outer(a, a)) @ d for a, d in zip(A.T, dA.T, strict=True)]
    return np.stack(columns, axis=1)


@wrong("You take the softmax of the weights once more; they are weights already.")
def softmax_again(A, dA):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    return back(soft(A), dA)


wrong.edits("""
# weighted_mean_off
## second_term_missing: The second term is missing: a score changes all weights of its column, not its own.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return A * dA
## sum_over_targets: Your sum runs over the targets; each column has a sum of its own, over the sources.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return A * (dA - (A * dA).sum(axis=1, keepdims=True))
## one_sum_for_all: There is one sum for the whole matrix; each column needs its own.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return A * (dA - (A * dA).sum())
## plain_mean: You subtract the plain mean of the gradients; their mean with the weights as shares is meant.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return A * (dA - dA.mean(axis=0))
## plain_sum: You subtract the plain sum of the gradients, without the weights.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return A * (dA - dA.sum(axis=0))
## only_the_diagonal: This is each weight's slope by its own score alone, as for a sigmoid; the rest of the column is
forgotten.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return A * (1 - A) * dA
## second_term_without_weight: What is subtracted is not multiplied by the weights.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return A * dA - (A * dA).sum(axis=0)
## distance_alone: The distance from the mean is right; it still has to be multiplied by the weight.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return dA - (A * dA).sum(axis=0)
## sign_turned: The sign is turned round.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return A * ((A * dA).sum(axis=0) - dA)
## terms_added: The two terms are added; the second has to be subtracted.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return A * (dA + (A * dA).sum(axis=0))
## times_the_gradient: The second term is multiplied by the gradient in place of the weight.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return A * dA - (A * dA).sum(axis=0) * dA
## divided_by_the_sources: You divide by the size of the columns; nothing is averaged here.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ def back(A, dA):
+     return A * (dA - (A * dA).sum(axis=0))
+
+ return back(A, dA) / len(A)
## second_term_alone: This is the second term alone, and the first is missing.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return -A * (A * dA).sum(axis=0)
## columns_mixed: Your product of two matrices mixes all columns; each column has to do with itself alone.
- return A * (dA - (A * dA).sum(axis=0, keepdims=True))
+ return A * (dA - (A.T @ dA).sum(axis=0))
""")
