"""Exercise 13, question masks: a sentence that is half true."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.cases import shapes_slip
from clearformer.reference import attention, functions

from .shared import close, disagreement, draw_sizes


def causal_reference(C, V, dY, order):
    seen = attention.causal_mask(len(C))
    weights = attention.attention_weights(C, seen if order == "before" else None)
    dC = functions.softmax_backward(weights, seen * (V.T @ dY), axis=0)
    return dC, dY @ (seen * weights).T


def draw_scores(rng, n_tokens=None, size=1.0):
    N, Kv = draw_sizes(rng, 2)
    N = n_tokens or N
    return size * rng.normal(size=(N, N)), 1 + rng.normal(size=(Kv, N)), rng.normal(size=(Kv, N))


def causal_cases(order):
    def cases(rng):
        first = [(*draw_scores(rng), order) for _ in range(2)]
        tables = draw_scores(rng)
        n = min(tables[1].shape)
        return [*first, (*draw_scores(rng, 1), order), (*(table[:n, :n] for table in tables), order)]

    return cases


def certain_scores(rng):
    """The first is far below 0 everywhere, the second where it may be seen, and far above where it is hidden."""
    sizes = (60.0, 60.0, 1e4, 1e4)
    cases = [(*draw_scores(rng, size=size), order) for size, order in zip(sizes, ("before", "after") * 2, strict=True)]
    C, V, dY = draw_scores(rng, size=1e4)
    low = -1e4 - np.abs(C)
    return [(low, V, dY, "after"), (np.where(attention.causal_mask(len(C)), low, -low), V, dY, "before"), *cases]


def both_orders(ask, rng):
    C, V, dY = draw_scores(rng)
    for order in ("before", "after"):
        found = ask(C, V, dY, order)
        if slip := shapes_slip(found, (C.shape, V.shape)):
            return slip

        def loss(C, V, order=order):
            seen = attention.causal_mask(len(C))
            weights = attention.attention_weights(C, seen if order == "before" else None)
            return (dY * (V @ (seen * weights))).sum()

        if slip := disagreement(loss, ("C", "V"), (C, V), found, rng):
            return f'With order="{order}": {slip[0].lower()}{slip[1:]}'
        below = found[0][~attention.causal_mask(len(C))]
        if order == "before" and not close(below, 0 * below):
            return "With the mask before the softmax no gradient may reach a hidden score, but yours does."
        if order == "after" and close(below, 0 * below):
            return "With the mask after the softmax hidden scores stay in the denominator, but yours get no gradient."
    return None


QUESTION = Question(
    id="masks",
    title="A sentence that is half true",
    name="causal_backward",
    minutes=18,
    difficulty=2,
    uses=("softmax",),
    checks=(
        equals("mask before the softmax", 4, causal_cases("before"), causal_reference),
        equals("mask after the softmax", 5, causal_cases("after"), causal_reference),
        equals("certain and huge scores", 3, certain_scores, causal_reference),
        holds("gradient check", 4, both_orders),
    ),
    hints=(
        "Write both forward passes as steps, with a name for each result. One of them has a step more, "
        "between the softmax and the outputs. What does that step do to a gradient on its way back?",
        "The softmax is undone at the point where it was taken: with the weights that came out of it, not with "
        "those that were left after the mask.",
        "With the mask last, a hidden weight is not used, so it gets no gradient; its score still does, "
        "through the sum in the denominator. The values never saw a hidden weight, in both orders.",
    ),
    section="the-causal-mask-read-in-two-ways",
    inputs=Inputs(axes("NN", "VN", "VN"), lambda C, *_: C, alike=("mask before the softmax", "mask after the softmax")),
)

right, wrong = answers_to(QUESTION)


@right
def one_step_more(C, V, dY, order):
    N = len(C)
    M = np.triu(np.ones((N, N)))
    scores = np.where(M == 1, C, -np.inf) if order == "before" else C
    e = np.exp(scores - scores.max(axis=0))
    S = e / e.sum(axis=0)
    d_weights = V.T @ dY
    dS = M * d_weights
    return S * (dS - (S * dS).sum(axis=0)), dY @ (M * S).T


@right
def by_the_outputs(C, V, dY, order):
    s, n = np.indices(C.shape)
    M = (s <= n).astype(float)
    C = C + np.where(M == 1, 0.0, -np.inf) if order == "before" else C
    S = np.exp(C - C.max(axis=0))
    S /= S.sum(axis=0)
    Y = V @ (M * S)
    return S * (M * (V.T @ dY) - (Y * dY).sum(axis=0)), dY @ (M * S).T


@right
def one_target_at_a_time(C, V, dY, order):
    N = len(C)
    dC, dV = np.zeros((N, N)), np.zeros_like(V)
    for n in range(N):
        end = n + 1 if order == "before" else N
        a = np.exp(C[:end, n] - C[:end, n].max())
        a = a / a.sum()
        d = V[:, :end].T @ dY[:, n]
        d[n + 1 :] = 0
        dC[:end, n] = a * (d - a @ d)
        dV[:, : n + 1] += np.outer(dY[:, n], a[: n + 1])
    return dC, dV


@right
def as_often_written(C, V, dY, order):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def weights_of(C, order):
        return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)

    S, M = weights_of(C, order), triangle(C)
    return back(S, M * (V.T @ dY)), dY @ (S * M).T


@wrong("For the late mask you divide the weights by their sum again; that is the other order.")
def renormalised(C, V, dY, order):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def weights_of(C, order):
        return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)

    A = weights_of(C, order) * triangle(C)
    with np.errstate(invalid="ignore"):
        A = A / A.sum(axis=0)
    return back(A, V.T @ dY), dY @ A.T


@wrong("Your softmax runs along the rows; a target is a column.")
def masks_along_rows(C, V, dY, order):
    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    M = triangle(C)
    S = soft(np.where(M, C, -np.inf).T).T if order == "before" else soft(C.T).T
    dS = M * (V.T @ dY)
    return S * (dS - (S * dS).sum(axis=1, keepdims=True)), dY @ (S * M).T


@wrong("Your exponentials overflow: subtract the largest score of each column first.")
def masks_overflow(C, V, dY, order):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    M = triangle(C)
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.exp(np.where(M, C, -np.inf) if order == "before" else C)
        S = e / e.sum(axis=0)
    return back(S, M * (V.T @ dY)), dY @ (S * M).T


@wrong("You divide the scores by a root; here they are handed over as they are.")
def scaled_forwards(C, V, dY, order):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    M = np.triu(np.ones(C.shape, dtype=bool))
    C = C / np.sqrt(len(V))
    S = soft(np.where(M, C, -np.inf)) if order == "before" else soft(C)
    dS = M * (V.T @ dY)
    return S * (dS - (S * dS).sum(axis=0)), dY @ (S * M).T


wrong.edits("""
# as_often_written
## not_modified: With the late mask this is the post's formula as it stands: hidden scores are in the denominator, and
get 0.
- S, M = weights_of(C, order), triangle(C)
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ A = weights_of(C, order) * triangle(C)
+ return back(A, V.T @ dY), dY @ A.T
## gradient_of_weights_not_masked: With the late mask hidden weights were set to 0, so the outputs hand no gradient to
them; yours do.
- S, M = weights_of(C, order), triangle(C)
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ S = weights_of(C, order)
+ return back(S, V.T @ dY), dY @ (S * triangle(C)).T
## always_before: You mask before the softmax in both orders.
- S, M = weights_of(C, order), triangle(C)
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ A = weights_of(C, "before")
+ return back(A, V.T @ dY), dY @ A.T
## always_after: You mask after the softmax in both orders.
- S, M = weights_of(C, order), triangle(C)
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ S = weights_of(C, "after")
+ return back(S, triangle(C) * (V.T @ dY)), dY @ (S * triangle(C)).T
## orders_exchanged: The two orders have changed places.
- S, M = weights_of(C, order), triangle(C)
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ S = weights_of(C, "after" if order == "before" else "before")
+ return back(S, triangle(C) * (V.T @ dY)), dY @ (S * triangle(C)).T
## other_triangle: Your triangle is the other one: a target may look at itself and at sources before it, s ≤ n.
- S, M = weights_of(C, order), triangle(C)
+ M = triangle(C).T
+ S = soft(np.where(M, C, -np.inf)) if order == "before" else soft(C)
## not_even_itself: Your mask hides every target from itself.
- S, M = weights_of(C, order), triangle(C)
+ M = np.triu(np.ones(C.shape, dtype=bool), 1)
+ S = soft(np.where(M, C, -1e30)) if order == "before" else soft(C)
## values_see_everything: For the late mask your gradient by V uses the weights before they were masked.
- S, M = weights_of(C, order), triangle(C)
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ S = weights_of(C, order)
+ return back(S, triangle(C) * (V.T @ dY)), dY @ S.T
## sum_over_hidden: For the late mask the sum in the softmax's derivative runs over hidden sources, too, whose gradient
is 0.
- S, M = weights_of(C, order), triangle(C)
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ S, M, dA = weights_of(C, order), triangle(C), V.T @ dY
+ return S * (M * dA - (S * dA).sum(axis=0)), dY @ (S * M).T
## masks_second_term_missing [step-2-back-through-the-softmax]: The second term of the softmax's derivative is missing.
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ return S * M * (V.T @ dY), dY @ (S * M).T
## scaled_scores: You divide by a root; the scores here are handed over as they are.
- S, M = weights_of(C, order), triangle(C)
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ root = np.sqrt(len(V))
+ S, M = weights_of(C / root, order), triangle(C)
+ return back(S, M * (V.T @ dY)) / root, dY @ (S * M).T
## masks_results_exchanged: Your results are in another order: the gradient by C comes first.
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ return dY @ (S * M).T, back(S, M * (V.T @ dY))
## masks_softmax_skipped [step-2-back-through-the-softmax]: Your first result is the gradient by the weights; the
softmax is left out on the way back.
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ return M * (V.T @ dY), dY @ (S * M).T
## masks_transpose_missing [step-1-from-outputs-to-weights]: The transpose of the weights is missing in the gradient by
V.
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ return back(S, M * (V.T @ dY)), dY @ (S * M)
## values_for_errors [step-1-from-outputs-to-weights]: Your gradient by V is made of V itself; the errors belong in it.
- return back(S, M * (V.T @ dY)), dY @ (S * M).T
+ return back(S, M * (V.T @ dY)), V @ (S * M).T
## masks_largest_from_zero: Your largest score is never below 0; where all scores are, every exponential vanishes.
- e = np.exp(scores - scores.max(axis=0))
+ e = np.exp(scores - scores.max(axis=0, initial=0))
## masks_largest_of_the_hidden: The largest score that you subtract may be a hidden one, beside which all others vanish.
- return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)
+ e = np.exp(C - C.max(axis=0)) * (triangle(C) if order == "before" else 1)
+ return e / e.sum(axis=0)
## masks_not_low_enough: Your hidden scores are −10 000, and real scores can be lower: only −∞ is below all of them.
- return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)
+ return soft(np.where(triangle(C), C, -1e4)) if order == "before" else soft(C)
""")
