"""Exercise 13, question attend: back through attention."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.cases import shapes_slip
from clearformer.reference import attention

from .shared import close, disagreement, draw_head, draw_sizes


def ordinary_heads(rng):
    return [draw_head(rng), draw_head(rng, n_targets=1), draw_head(rng, n_sources=1), draw_head(rng)]


def certain_heads(rng):
    """Scores that are all far below 0, that saturate the softmax, and whose exponentials overflow."""
    *cases, (Q, keys, *rest) = (draw_head(rng, size=size) for size in (60.0, 3e4, 3e4))
    return [(np.abs(Q), -np.abs(keys), *rest), *cases]


def masked_heads(rng):
    """A causal mask, random ones that hide everything from a target, once over scores far below 0; one hides all."""
    K, Kv, N = draw_sizes(rng, 3)
    arrays = (rng.normal(size=(rows, N)) for rows in (K, K, Kv, Kv))
    cases = [(*arrays, np.triu(np.ones((N, N), dtype=bool)))]
    for size in (1.0, 1.0, 3e4):
        Q, keys, V, dY = draw_head(rng, size=size)
        if size > 1:
            Q, keys = np.abs(Q), -np.abs(keys)
        mask = rng.random((keys.shape[1], Q.shape[1])) < 0.6
        mask[:, 1] = False
        mask[0, 0] = True
        cases.append((Q, keys, V, dY, mask))
    return [*cases, (*cases[1][:4], np.zeros_like(cases[1][4]))]


def attend_check(ask, rng):
    Q, keys, V, dY = draw_head(rng)
    found = ask(Q, keys, V, dY)
    if slip := shapes_slip(found, (Q.shape, keys.shape, V.shape)):
        return slip

    def loss(Q, keys, V):
        return (dY * attention.attend(Q, keys, V)[0]).sum()

    return disagreement(loss, ("Q", "K", "V"), (Q, keys, V), found, rng)


def keys_together(ask, rng):
    """A vector added to all keys changes nothing; hidden sources get nothing."""
    Q, keys, V, dY = draw_head(rng)
    found = ask(Q, keys, V, dY)
    if slip := shapes_slip(found, (Q.shape, keys.shape, V.shape)):
        return slip
    if any(close(array, 0 * array) for array in found):
        return "One of your gradients is 0 everywhere."
    if not close(found[1].sum(axis=1), np.zeros(len(keys))):
        return "A vector added to all keys changes no weight, so dK must sum to 0 over the sources; yours does not."
    mask = np.ones((keys.shape[1], Q.shape[1]), dtype=bool)
    mask[2] = False
    hidden = ask(Q, keys, V, dY, mask)
    if slip := shapes_slip(hidden, (Q.shape, keys.shape, V.shape)):
        return slip
    if not close(np.concatenate([hidden[1][:, 2], hidden[2][:, 2]]), np.zeros(len(keys) + len(V))):
        return "A source that no target may see must get no gradient, neither its key nor its value; yours does."
    return None


def axes_of_a_head(Q, K, V, *rest):
    """Under a causal mask there are as many sources as targets, on purpose."""
    sizes = {"K": len(Q), "N": Q.shape[1], "V": len(V)}
    return sizes if K.shape == Q.shape else sizes | {"S": K.shape[1]}


QUESTION = Question(
    id="attend",
    title="Back through attention",
    name="attend_backward",
    minutes=22,
    difficulty=2,
    uses=("softmax",),
    checks=(
        equals("values", 6, ordinary_heads, attention.attend_backward),
        equals("masks", 5, masked_heads, attention.attend_backward),
        equals("certain and huge scores", 3, certain_heads, attention.attend_backward),
        holds("gradient check", 4, attend_check),
        holds("keys together, hidden sources", 4, keys_together),
    ),
    hints=(
        "Write the forward pass as three lines, scores, weights, outputs, and beside each what its gradient "
        "has to have as a shape. Which of the products have that shape?",
        "Backwards: from dY to the values and to the weights, from the weights to the scores, from the scores "
        "to queries and keys. Each product of the forward pass gives two on the way back.",
        "The factor in front of the scores appears once more in dQ and in dK, and not in dV. Where no source "
        "may be seen, subtract 0 instead of −∞, and divide by 1 instead of 0.",
    ),
    section="one-head-step-by-step",
    inputs=Inputs(axes_of_a_head, lambda Q, K, V, *rest: K.T @ Q / np.sqrt(len(Q))),
)

right, wrong = answers_to(QUESTION)


@right
def step_by_step(Q, K, V, dY, mask=None):
    scores = K.T @ Q / np.sqrt(Q.shape[0])
    if mask is not None:
        scores = np.where(mask, scores, -1e300)
    weights = np.exp(scores - scores.max(axis=0))
    if mask is not None:
        weights = weights * mask
    sums = weights.sum(axis=0)
    weights = weights / np.where(sums == 0, 1, sums)
    d_weights = V.T @ dY
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=0)) / np.sqrt(Q.shape[0])
    return K @ d_scores, Q @ d_scores.T, dY @ weights.T


@right
def target_by_target(Q, K, V, dY, mask=None):
    dQ, dK, dV = (np.zeros_like(array) for array in (Q, K, V))
    scale = 1 / len(Q) ** 0.5
    for n in range(Q.shape[1]):
        seen = np.arange(K.shape[1]) if mask is None else np.flatnonzero(mask[:, n])
        if len(seen) == 0:
            continue
        c = scale * (Q[:, n] @ K[:, seen])
        a = np.exp(c - c.max())
        a /= a.sum()
        y = V[:, seen] @ a
        g = scale * a * ((V[:, seen] - y[:, None]).T @ dY[:, n])
        dQ[:, n] = K[:, seen] @ g
        dK[:, seen] += np.outer(Q[:, n], g)
        dV[:, seen] += np.outer(dY[:, n], a)
    return dQ, dK, dV


@right
def with_einsum(Q, K, V, dY, mask=None):
    c = np.einsum("ks,kn->sn", K, Q) / np.sqrt(len(K))
    allowed = np.ones_like(c, dtype=bool) if mask is None else mask
    blind = ~allowed.any(axis=0)
    c = np.where(allowed | blind, c, -np.inf)
    e = np.exp(c - c.max(axis=0))
    A = np.where(blind, 0.0, e / e.sum(axis=0))
    Y = np.einsum("vs,sn->vn", V, A)
    G = A * (np.einsum("vs,vn->sn", V, dY) - np.einsum("vn,vn->n", Y, dY))
    root = np.sqrt(len(K))
    return np.einsum("sn,ks->kn", G, K) / root, np.einsum("sn,kn->ks", G, Q) / root, np.einsum("vn,sn->vs", dY, A)


@right
def as_often_written(Q, K, V, dY, mask=None):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def masked_weights(Q, K, mask):
        scores = K.T @ Q / np.sqrt(len(Q))
        if mask is None:
            return soft(scores)
        blind = ~mask.any(axis=0)
        return np.where(blind, 0.0, soft(np.where(mask | blind, scores, -np.inf)))

    A = masked_weights(Q, K, mask)
    G = back(A, V.T @ dY) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong("Your softmax is taken along the rows: each target, a column, needs weights that sum to 1.")
def softmax_along_rows(Q, K, V, dY, mask=None):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    scores = K.T @ Q / np.sqrt(len(Q))
    if mask is not None:
        scores = np.where(mask, scores, -1e30)
    A = soft(scores.T).T
    dA = V.T @ dY
    G = A * (dA - (A * dA).sum(axis=1, keepdims=True)) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong("Your exponentials overflow: subtract the largest score of each column first.")
def no_largest_score(Q, K, V, dY, mask=None):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    scores = K.T @ Q / np.sqrt(len(Q))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        e = np.exp(scores)
        total = e.sum(axis=0)
        A = e / np.where(total == 0, 1, total)
    G = back(A, V.T @ dY) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong(
    "Your hidden scores are −10 000, and real scores can be lower: only −∞ is below all of them.",
    section="the-causal-mask-read-in-two-ways",
)
def hidden_scores_not_low_enough(Q, K, V, dY, mask=None):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    scores = K.T @ Q / np.sqrt(len(Q))
    e = np.exp(scores - scores.max(axis=0))
    if mask is not None:
        scores = np.where(mask, scores, -1e4)
        e = np.exp(scores - scores.max(axis=0)) * mask
    total = e.sum(axis=0)
    A = e / np.where(total == 0, 1, total)
    G = back(A, V.T @ dY) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong("You subtract one largest score for all targets, so that others vanish: each column needs its own.")
def one_largest_score(Q, K, V, dY, mask=None):
    scores = K.T @ Q / np.sqrt(len(Q))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores - scores.max())
    total = e.sum(axis=0)
    A = e / np.where(total == 0, 1, total)
    dA = V.T @ dY
    G = A * (dA - (A * dA).sum(axis=0)) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong(
    "The factor 1/√K is missing twice, in the scores and on the way back.",
    section="step-3-from-scores-to-queries-and-keys",
)
def no_scale_at_all(Q, K, V, dY, mask=None):
    scores = K.T @ Q
    blind = np.zeros(Q.shape[1], dtype=bool)
    if mask is not None:
        blind = ~mask.any(axis=0)
        scores = np.where(mask | blind, scores, -np.inf)
    e = np.exp(scores - scores.max(axis=0))
    A = np.where(blind, 0.0, e / e.sum(axis=0))
    dA = V.T @ dY
    G = A * (dA - (A * dA).sum(axis=0))
    return K @ G, Q @ G.T, dY @ A.T


@wrong("Your weights sum to 1 along the rows: each target, a column, needs weights that sum to 1.")
def weights_along_rows(Q, K, V, dY, mask=None):
    scores = K.T @ Q / np.sqrt(len(Q))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(axis=1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(axis=1, keepdims=True)
    A = e / np.where(total == 0, 1, total)
    dA = V.T @ dY
    G = A * (dA - (A * dA).sum(axis=0)) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong(
    "You derive a mask that comes after the softmax; here hidden scores are −∞ before it.",
    section="the-causal-mask-read-in-two-ways",
)
def late_mask(Q, K, V, dY, mask=None):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    S = soft(K.T @ Q / np.sqrt(len(Q)))
    M = 1.0 if mask is None else mask
    dS = M * (V.T @ dY)
    G = S * (dS - (S * dS).sum(axis=0)) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ (M * S).T


wrong.edits("""
# as_often_written
## no_scale_backwards [step-3-from-scores-to-queries-and-keys]: The factor 1/√K is missing on the way back.
- G = back(A, V.T @ dY) / np.sqrt(len(Q))
+ G = back(A, V.T @ dY)
## no_scale_forwards [step-3-from-scores-to-queries-and-keys]: The factor 1/√K is missing in the scores, so that your
weights are others.
- A = masked_weights(Q, K, mask)
+ A = masked_weights(Q * np.sqrt(len(Q)), K, mask)
## scaled_twice [step-3-from-scores-to-queries-and-keys]: On the way back you divide by K, not by its root: the factor
stands in the forward pass once.
- G = back(A, V.T @ dY) / np.sqrt(len(Q))
+ G = back(A, V.T @ dY) / len(Q)
## scaled_by_values [step-3-from-scores-to-queries-and-keys]: You scale by the width of the values; the width of queries
and keys is meant.
- A = masked_weights(Q, K, mask)
- G = back(A, V.T @ dY) / np.sqrt(len(Q))
+ A = masked_weights(Q * np.sqrt(len(Q) / len(V)), K, mask)
+ G = back(A, V.T @ dY) / np.sqrt(len(V))
## keys_not_scaled [step-3-from-scores-to-queries-and-keys]: Only dQ has the factor 1/√K; dK needs it, too.
- G = back(A, V.T @ dY) / np.sqrt(len(Q))
- return K @ G, Q @ G.T, dY @ A.T
+ G = back(A, V.T @ dY)
+ return K @ G / np.sqrt(len(Q)), Q @ G.T, dY @ A.T
## values_scaled [step-3-from-scores-to-queries-and-keys]: The gradient by the values has a factor 1/√K, but the values
are not scaled anywhere.
- G = back(A, V.T @ dY) / np.sqrt(len(Q))
- return K @ G, Q @ G.T, dY @ A.T
+ root = np.sqrt(len(Q))
+ G = back(A, V.T @ dY) / root
+ return K @ G, Q @ G.T, dY @ A.T / root
## softmax_half [step-2-back-through-the-softmax]: The second term of the softmax's derivative is missing.
- G = back(A, V.T @ dY) / np.sqrt(len(Q))
+ G = A * (V.T @ dY) / np.sqrt(len(Q))
## softmax_sum_over_targets [step-2-back-through-the-softmax]: In the softmax's derivative your sum runs over the
targets, not over the sources.
- G = back(A, V.T @ dY) / np.sqrt(len(Q))
+ dA = V.T @ dY
+ G = A * (dA - (A * dA).sum(axis=1, keepdims=True)) / np.sqrt(len(Q))
## softmax_skipped [step-2-back-through-the-softmax]: The softmax is left out on the way back: the gradient by the
weights is not that by the scores.
- G = back(A, V.T @ dY) / np.sqrt(len(Q))
+ G = V.T @ dY / np.sqrt(len(Q))
## transpose_missing_for_keys [step-3-from-scores-to-queries-and-keys]: The transpose of the gradient by the scores is
missing in dK.
- return K @ G, Q @ G.T, dY @ A.T
+ return K @ G, Q @ G, dY @ A.T
## transpose_missing_for_values [step-1-from-outputs-to-weights]: The transpose of the weights is missing in dV.
- return K @ G, Q @ G.T, dY @ A.T
+ return K @ G, Q @ G.T, dY @ A
## keys_and_queries_exchanged [step-3-from-scores-to-queries-and-keys]: Keys and queries have changed places in the last
step: dQ is made of keys, dK of queries.
- return K @ G, Q @ G.T, dY @ A.T
+ return Q @ G, K @ G.T, dY @ A.T
## results_exchanged: Your results are in another order: dQ comes first, then dK.
- return K @ G, Q @ G.T, dY @ A.T
+ return Q @ G.T, K @ G, dY @ A.T
## mask_ignored [the-causal-mask-read-in-two-ways]: The mask is never used.
- A = masked_weights(Q, K, mask)
+ A = masked_weights(Q, K, None)
## mask_after [the-causal-mask-read-in-two-ways]: Your mask comes after the softmax: weights that are left do not sum to
1.
- A = masked_weights(Q, K, mask)
+ A = masked_weights(Q, K, None)
+ if mask is not None:
+     A = A * mask
## gradient_masked_only [the-causal-mask-read-in-two-ways]: You mask the gradient by the scores alone, while the weights
come from a softmax without a mask.
- A = masked_weights(Q, K, mask)
+ A = masked_weights(Q, K, None)
- return K @ G, Q @ G.T, dY @ A.T
+ return K @ (G if mask is None else G * mask), Q @ (G if mask is None else G * mask).T, dY @ A.T
## mask_inverted [the-causal-mask-read-in-two-ways]: Your mask is read the wrong way round: True means that the target
may look.
- A = masked_weights(Q, K, mask)
+ A = masked_weights(Q, K, None if mask is None else ~mask)
## blind_targets_are_nan [the-causal-mask-read-in-two-ways]: A target that may look nowhere gives NaN; it should have
weights of 0 and hand nothing back.
- A = masked_weights(Q, K, mask)
+ scores = K.T @ Q / np.sqrt(len(Q))
+ with np.errstate(invalid="ignore"):
+     A = soft(scores if mask is None else np.where(mask, scores, -np.inf))
## blind_targets_average [the-causal-mask-read-in-two-ways]: A target that may look nowhere gets equal weights in your
answer, because hidden scores are only very small.
- A = masked_weights(Q, K, mask)
+ scores = K.T @ Q / np.sqrt(len(Q))
+ A = soft(scores if mask is None else np.where(mask, scores, -1e9))
## outputs_for_errors [step-1-from-outputs-to-weights]: The gradient by the values is made of the values' own weights
only; the errors belong in it.
- return K @ G, Q @ G.T, dY @ A.T
+ return K @ G, Q @ G.T, (V @ A) @ A.T
## hidden_scores_are_zero [the-causal-mask-read-in-two-ways]: Hidden scores are set to 0, and a score of 0 still has an
exponential of 1.
- A = masked_weights(Q, K, mask)
+ scores = K.T @ Q / np.sqrt(len(Q))
+ A = soft(scores if mask is None else scores * mask)
## scaled_by_sources [step-3-from-scores-to-queries-and-keys]: You scale by the number of sources; the width of queries
and keys is meant.
- A = masked_weights(Q, K, mask)
- G = back(A, V.T @ dY) / np.sqrt(len(Q))
+ S = K.shape[1]
+ A = masked_weights(Q * np.sqrt(len(Q) / S), K, mask)
+ G = back(A, V.T @ dY) / np.sqrt(S)
## errors_doubled [step-3-from-scores-to-queries-and-keys]: The gradients by queries and keys are twice what they should
be: the error is counted twice.
- G = back(A, V.T @ dY) / np.sqrt(len(Q))
+ G = back(A, 2 * V.T @ dY) / np.sqrt(len(Q))
## mask_that_hides_all [the-causal-mask-read-in-two-ways]: A mask that hides everything is taken for no mask; under it
every weight is 0.
- A = masked_weights(Q, K, mask)
+ A = masked_weights(Q, K, None if mask is None or not mask.any() else mask)
## largest_score_from_zero: Your largest score is never below 0; where all scores are, every exponential vanishes.
- e = np.exp(scores - scores.max(axis=0))
- return e / e.sum(axis=0)
+ e = np.exp(scores - scores.max(axis=0, initial=0))
+ total = e.sum(axis=0)
+ return e / np.where(total == 0, 1, total)
""")
