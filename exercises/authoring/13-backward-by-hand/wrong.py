"""Named wrong solutions of exercise 13: what learners write, and the sentence that tells them so."""

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()

STEP_1 = "step-1-from-outputs-to-weights"
STEP_2 = "step-2-back-through-the-softmax"
STEP_3 = "step-3-from-scores-to-queries-and-keys"
MASK = "the-causal-mask-read-in-two-ways"
HEADS = "several-heads"
FOURTH = "the-fourth-path"
COST = "faster-than-autograd"
MISTAKES = "common-mistakes"


# softmax


@wrong(
    "softmax",
    says="The second term is missing: a score changes all weights of its column, not its own.",
    section=STEP_2,
)
def second_term_missing(A, dA):
    return A * dA


@wrong(
    "softmax",
    says="Your sum runs over the targets; each column has a sum of its own, over the sources.",
    section=STEP_2,
)
def sum_over_targets(A, dA):
    return A * (dA - (A * dA).sum(axis=1, keepdims=True))


@wrong("softmax", says="There is one sum for the whole matrix; each column needs its own.", section=STEP_2)
def one_sum_for_all(A, dA):
    return A * (dA - (A * dA).sum())


@wrong(
    "softmax",
    says="You subtract the plain mean of the gradients; their mean with the weights as shares is meant.",
    section=STEP_2,
)
def plain_mean(A, dA):
    return A * (dA - dA.mean(axis=0))


@wrong("softmax", says="You subtract the plain sum of the gradients, without the weights.", section=STEP_2)
def plain_sum(A, dA):
    return A * (dA - dA.sum(axis=0))


@wrong(
    "softmax",
    says="This is each weight's slope by its own score alone, as for a sigmoid; the rest of the column is forgotten.",
    section=STEP_2,
)
def only_the_diagonal(A, dA):
    return A * (1 - A) * dA


@wrong("softmax", says="What is subtracted is not multiplied by the weights.", section=STEP_2)
def second_term_without_weight(A, dA):
    return A * dA - (A * dA).sum(axis=0)


@wrong(
    "softmax", says="The distance from the mean is right; it still has to be multiplied by the weight.", section=STEP_2
)
def distance_alone(A, dA):
    return dA - (A * dA).sum(axis=0)


@wrong("softmax", says="The sign is turned round.", section=STEP_2)
def sign_turned(A, dA):
    return A * ((A * dA).sum(axis=0) - dA)


@wrong("softmax", says="The two terms are added; the second has to be subtracted.", section=STEP_2)
def terms_added(A, dA):
    return A * (dA + (A * dA).sum(axis=0))


@wrong("softmax", says="You take the softmax of the weights once more; they are weights already.", section=STEP_2)
def softmax_again(A, dA):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    return back(soft(A), dA)


@wrong("softmax", says="The second term is multiplied by the gradient in place of the weight.", section=STEP_2)
def times_the_gradient(A, dA):
    return A * dA - (A * dA).sum(axis=0) * dA


@wrong("softmax", says="You divide by the size of the columns; nothing is averaged here.", section=STEP_2)
def divided_by_the_sources(A, dA):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    return back(A, dA) / len(A)


@wrong("softmax", says="This is the second term alone, and the first is missing.", section=STEP_2)
def second_term_alone(A, dA):
    return -A * (A * dA).sum(axis=0)


@wrong(
    "softmax",
    says="Your product of two matrices mixes all columns; each column has to do with itself alone.",
    section=STEP_2,
)
def columns_mixed(A, dA):
    return A * (dA - (A.T @ dA).sum(axis=0))


# attend


@wrong("attend", says="The factor 1/√K is missing on the way back.", section=STEP_3)
def no_scale_backwards(Q, K, V, dY, mask=None):
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
    G = back(A, V.T @ dY)
    return K @ G, Q @ G.T, dY @ A.T


@wrong("attend", says="The factor 1/√K is missing in the scores, so that your weights are others.", section=STEP_3)
def no_scale_forwards(Q, K, V, dY, mask=None):
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

    A = masked_weights(Q * np.sqrt(len(Q)), K, mask)
    G = back(A, V.T @ dY) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong(
    "attend",
    says="On the way back you divide by K, not by its root: the factor stands in the forward pass once.",
    section=STEP_3,
)
def scaled_twice(Q, K, V, dY, mask=None):
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
    G = back(A, V.T @ dY) / len(Q)
    return K @ G, Q @ G.T, dY @ A.T


@wrong("attend", says="You scale by the width of the values; the width of queries and keys is meant.", section=STEP_3)
def scaled_by_values(Q, K, V, dY, mask=None):
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

    A = masked_weights(Q * np.sqrt(len(Q) / len(V)), K, mask)
    G = back(A, V.T @ dY) / np.sqrt(len(V))
    return K @ G, Q @ G.T, dY @ A.T


@wrong("attend", says="Only dQ has the factor 1/√K; dK needs it, too.", section=STEP_3)
def keys_not_scaled(Q, K, V, dY, mask=None):
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
    G = back(A, V.T @ dY)
    return K @ G / np.sqrt(len(Q)), Q @ G.T, dY @ A.T


@wrong(
    "attend",
    says="The gradient by the values has a factor 1/√K, but the values are not scaled anywhere.",
    section=STEP_3,
)
def values_scaled(Q, K, V, dY, mask=None):
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
    root = np.sqrt(len(Q))
    G = back(A, V.T @ dY) / root
    return K @ G, Q @ G.T, dY @ A.T / root


@wrong("attend", says="The second term of the softmax's derivative is missing.", section=STEP_2)
def softmax_half(Q, K, V, dY, mask=None):
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
    G = A * (V.T @ dY) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong(
    "attend", says="In the softmax's derivative your sum runs over the targets, not over the sources.", section=STEP_2
)
def softmax_sum_over_targets(Q, K, V, dY, mask=None):
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
    dA = V.T @ dY
    G = A * (dA - (A * dA).sum(axis=1, keepdims=True)) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong(
    "attend",
    says="Your softmax is taken along the rows: each target, a column, needs weights that sum to 1.",
    section="one-head-step-by-step",
)
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


@wrong(
    "attend",
    says="The softmax is left out on the way back: the gradient by the weights is not that by the scores.",
    section=STEP_2,
)
def softmax_skipped(Q, K, V, dY, mask=None):
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
    G = V.T @ dY / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong("attend", says="The transpose of the gradient by the scores is missing in dK.", section=STEP_3)
def transpose_missing_for_keys(Q, K, V, dY, mask=None):
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
    return K @ G, Q @ G, dY @ A.T


@wrong("attend", says="The transpose of the weights is missing in dV.", section=STEP_1)
def transpose_missing_for_values(Q, K, V, dY, mask=None):
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
    return K @ G, Q @ G.T, dY @ A


@wrong(
    "attend",
    says="Keys and queries have changed places in the last step: dQ is made of keys, dK of queries.",
    section=STEP_3,
)
def keys_and_queries_exchanged(Q, K, V, dY, mask=None):
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
    return Q @ G, K @ G.T, dY @ A.T


@wrong("attend", says="Your results are in another order: dQ comes first, then dK.", section="one-head-step-by-step")
def results_exchanged(Q, K, V, dY, mask=None):
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
    return Q @ G.T, K @ G, dY @ A.T


@wrong("attend", says="The mask is never used.", section=MASK)
def mask_ignored(Q, K, V, dY, mask=None):
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

    A = masked_weights(Q, K, None)
    G = back(A, V.T @ dY) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong("attend", says="Your mask comes after the softmax: weights that are left do not sum to 1.", section=MASK)
def mask_after(Q, K, V, dY, mask=None):
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

    A = masked_weights(Q, K, None)
    if mask is not None:
        A = A * mask
    G = back(A, V.T @ dY) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong(
    "attend",
    says="You mask the gradient by the scores alone, while the weights come from a softmax without a mask.",
    section=MASK,
)
def gradient_masked_only(Q, K, V, dY, mask=None):
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

    A = masked_weights(Q, K, None)
    G = back(A, V.T @ dY) / np.sqrt(len(Q))
    return K @ (G if mask is None else G * mask), Q @ (G if mask is None else G * mask).T, dY @ A.T


@wrong("attend", says="Your mask is read the wrong way round: True means that the target may look.", section=MASK)
def mask_inverted(Q, K, V, dY, mask=None):
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

    A = masked_weights(Q, K, None if mask is None else ~mask)
    G = back(A, V.T @ dY) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong(
    "attend",
    says="A target that may look nowhere gives NaN; it should have weights of 0 and hand nothing back.",
    section=MASK,
)
def blind_targets_are_nan(Q, K, V, dY, mask=None):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    scores = K.T @ Q / np.sqrt(len(Q))
    with np.errstate(invalid="ignore"):
        A = soft(scores if mask is None else np.where(mask, scores, -np.inf))
    G = back(A, V.T @ dY) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong(
    "attend",
    says="A target that may look nowhere gets equal weights in your answer, because hidden scores are only very small.",
    section=MASK,
)
def blind_targets_average(Q, K, V, dY, mask=None):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    scores = K.T @ Q / np.sqrt(len(Q))
    A = soft(scores if mask is None else np.where(mask, scores, -1e9))
    G = back(A, V.T @ dY) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong(
    "attend",
    says="Your exponentials overflow: subtract the largest score of each column first.",
    section="one-head-step-by-step",
)
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
    "attend",
    says="The gradient by the values is made of the values' own weights only; the errors belong in it.",
    section=STEP_1,
)
def outputs_for_errors(Q, K, V, dY, mask=None):
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
    return K @ G, Q @ G.T, (V @ A) @ A.T


@wrong("attend", says="Hidden scores are set to 0, and a score of 0 still has an exponential of 1.", section=MASK)
def hidden_scores_are_zero(Q, K, V, dY, mask=None):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    scores = K.T @ Q / np.sqrt(len(Q))
    A = soft(scores if mask is None else scores * mask)
    G = back(A, V.T @ dY) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong("attend", says="You scale by the number of sources; the width of queries and keys is meant.", section=STEP_3)
def scaled_by_sources(Q, K, V, dY, mask=None):
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

    S = K.shape[1]
    A = masked_weights(Q * np.sqrt(len(Q) / S), K, mask)
    G = back(A, V.T @ dY) / np.sqrt(S)
    return K @ G, Q @ G.T, dY @ A.T


@wrong(
    "attend",
    says="The gradients by queries and keys are twice what they should be: the error is counted twice.",
    section=STEP_3,
)
def errors_doubled(Q, K, V, dY, mask=None):
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
    G = back(A, 2 * V.T @ dY) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


@wrong(
    "attend",
    says="Your hidden scores are −10 000, and real scores can be lower: only −∞ is below all of them.",
    section=MASK,
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


@wrong(
    "attend",
    says="You subtract one largest score for all targets, so that others vanish: each column needs its own.",
    section="one-head-step-by-step",
)
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


@wrong("attend", says="The factor 1/√K is missing twice, in the scores and on the way back.", section=STEP_3)
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


@wrong(
    "attend",
    says="Your weights sum to 1 along the rows: each target, a column, needs weights that sum to 1.",
    section="one-head-step-by-step",
)
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
    "attend", says="You derive a mask that comes after the softmax; here hidden scores are −∞ before it.", section=MASK
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


# masks


@wrong(
    "masks",
    says="With the late mask this is the post's formula as it stands: hidden scores are in the denominator, and get 0.",
    section=MASK,
)
def not_modified(C, V, dY, order):
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
    return back(A, V.T @ dY), dY @ A.T


@wrong(
    "masks",
    says="With the late mask hidden weights were set to 0, so the outputs hand no gradient to them; yours do.",
    section=MASK,
)
def gradient_of_weights_not_masked(C, V, dY, order):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def weights_of(C, order):
        return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)

    S = weights_of(C, order)
    return back(S, V.T @ dY), dY @ (S * triangle(C)).T


@wrong("masks", says="You mask before the softmax in both orders.", section=MASK)
def always_before(C, V, dY, order):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    def weights_of(C, order):
        return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)

    A = weights_of(C, "before")
    return back(A, V.T @ dY), dY @ A.T


@wrong("masks", says="You mask after the softmax in both orders.", section=MASK)
def always_after(C, V, dY, order):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def weights_of(C, order):
        return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)

    S = weights_of(C, "after")
    return back(S, triangle(C) * (V.T @ dY)), dY @ (S * triangle(C)).T


@wrong("masks", says="The two orders have changed places.", section=MASK)
def orders_exchanged(C, V, dY, order):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def weights_of(C, order):
        return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)

    S = weights_of(C, "after" if order == "before" else "before")
    return back(S, triangle(C) * (V.T @ dY)), dY @ (S * triangle(C)).T


@wrong(
    "masks",
    says="Your triangle is the other one: a target may look at itself and at sources before it, s ≤ n.",
    section=MASK,
)
def other_triangle(C, V, dY, order):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    M = triangle(C).T
    S = soft(np.where(M, C, -np.inf)) if order == "before" else soft(C)
    return back(S, M * (V.T @ dY)), dY @ (S * M).T


@wrong("masks", says="Your mask hides every target from itself.", section=MASK)
def not_even_itself(C, V, dY, order):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    M = np.triu(np.ones(C.shape, dtype=bool), 1)
    S = soft(np.where(M, C, -1e30)) if order == "before" else soft(C)
    return back(S, M * (V.T @ dY)), dY @ (S * M).T


@wrong("masks", says="For the late mask your gradient by V uses the weights before they were masked.", section=MASK)
def values_see_everything(C, V, dY, order):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def weights_of(C, order):
        return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)

    S = weights_of(C, order)
    return back(S, triangle(C) * (V.T @ dY)), dY @ S.T


@wrong(
    "masks", says="For the late mask you divide the weights by their sum again; that is the other order.", section=MASK
)
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


@wrong(
    "masks",
    says="For the late mask the sum in the softmax's derivative runs over hidden sources, too, whose gradient is 0.",
    section=MASK,
)
def sum_over_hidden(C, V, dY, order):
    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def weights_of(C, order):
        return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)

    S, M, dA = weights_of(C, order), triangle(C), V.T @ dY
    return S * (M * dA - (S * dA).sum(axis=0)), dY @ (S * M).T


@wrong("masks", says="The second term of the softmax's derivative is missing.", section=STEP_2)
def masks_second_term_missing(C, V, dY, order):
    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def weights_of(C, order):
        return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)

    S, M = weights_of(C, order), triangle(C)
    return S * M * (V.T @ dY), dY @ (S * M).T


@wrong("masks", says="You divide by a root; the scores here are handed over as they are.", section=MASK)
def scaled_scores(C, V, dY, order):
    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def weights_of(C, order):
        return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)

    root = np.sqrt(len(V))
    S, M = weights_of(C / root, order), triangle(C)
    return back(S, M * (V.T @ dY)) / root, dY @ (S * M).T


@wrong("masks", says="Your softmax runs along the rows; a target is a column.", section=MASK)
def masks_along_rows(C, V, dY, order):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    M = triangle(C)
    S = soft(np.where(M, C, -np.inf).T).T if order == "before" else soft(C.T).T
    dS = M * (V.T @ dY)
    return S * (dS - (S * dS).sum(axis=1, keepdims=True)), dY @ (S * M).T


@wrong("masks", says="Your results are in another order: the gradient by C comes first.", section=MASK)
def masks_results_exchanged(C, V, dY, order):
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
    return dY @ (S * M).T, back(S, M * (V.T @ dY))


@wrong("masks", says="Your exponentials overflow: subtract the largest score of each column first.", section=MASK)
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


@wrong(
    "masks",
    says="Your first result is the gradient by the weights; the softmax is left out on the way back.",
    section=STEP_2,
)
def masks_softmax_skipped(C, V, dY, order):
    def triangle(C):
        return np.triu(np.ones(C.shape, dtype=bool))

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def weights_of(C, order):
        return soft(np.where(triangle(C), C, -np.inf)) if order == "before" else soft(C)

    S, M = weights_of(C, order), triangle(C)
    return M * (V.T @ dY), dY @ (S * M).T


@wrong("masks", says="The transpose of the weights is missing in the gradient by V.", section=STEP_1)
def masks_transpose_missing(C, V, dY, order):
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
    return back(S, M * (V.T @ dY)), dY @ (S * M)


@wrong("masks", says="Your gradient by V is made of V itself; the errors belong in it.", section=STEP_1)
def values_for_errors(C, V, dY, order):
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
    return back(S, M * (V.T @ dY)), V @ (S * M).T


@wrong("masks", says="You divide the scores by a root; here they are handed over as they are.", section=MASK)
def scaled_forwards(C, V, dY, order):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    M = np.triu(np.ones(C.shape, dtype=bool))
    C = C / np.sqrt(len(V))
    S = soft(np.where(M, C, -np.inf)) if order == "before" else soft(C)
    dS = M * (V.T @ dY)
    return S * (dS - (S * dS).sum(axis=0)), dY @ (S * M).T


# costs


@wrong("costs", says="You count a multiplication and an addition as one operation; they are two.", section=COST)
def one_for_both(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    found = right_costs(N, S, K, Kv, H)
    return found | {name: found[name] // 2 for name in ("forward", "backward", "recomputing")}


@wrong(
    "costs", says="Your backward pass costs as much as the forward pass; each product has two gradients.", section=COST
)
def backward_as_forward(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    found = right_costs(N, S, K, Kv, H)
    scores = 2 * K * H * N * S
    return found | {"backward": found["forward"], "recomputing": found["forward"] + scores}


@wrong("costs", says="Your backward pass holds the forward pass as well; it is counted on its own.", section=COST)
def with_the_forward_pass(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    found = right_costs(N, S, K, Kv, H)
    return found | {name: found[name] + found["forward"] for name in ("backward", "recomputing")}


@wrong(
    "costs",
    says="Recomputing makes the scores again, and not the averages of the values: the outputs were kept.",
    section=COST,
)
def whole_forward_again(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    found = right_costs(N, S, K, Kv, H)
    return found | {"recomputing": found["backward"] + found["forward"]}


@wrong(
    "costs",
    says="Recomputing costs no more than the other backward pass in your answer; the scores are made once more.",
    section=COST,
)
def recomputing_for_nothing(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    found = right_costs(N, S, K, Kv, H)
    return found | {"recomputing": found["backward"]}


@wrong("costs", says="The averages of the values are forgotten: the forward pass has two products.", section=COST)
def scores_alone(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    pairs = H * N * S
    return right_costs(N, S, K, Kv, H) | {
        "forward": 2 * K * pairs,
        "backward": 4 * K * pairs,
        "recomputing": 6 * K * pairs,
    }


@wrong("costs", says="You count values as wide as keys; they have a width of their own.", section=COST)
def one_width(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    return right_costs(N, S, K, K, H)


@wrong("costs", says="You count as many sources as targets.", section=COST)
def square(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    return right_costs(N, N, K, Kv, H)


@wrong("costs", says="This is one head; all together are asked for.", section=COST)
def a_single_head(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    return right_costs(N, S, K, Kv, 1)


@wrong("costs", says="Your operations are those of all heads, but what is kept is counted for one.", section=COST)
def memory_of_one_head(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    one = right_costs(N, S, K, Kv, 1)
    return right_costs(N, S, K, Kv, H) | {name: one[name] for name in ("kept with weights", "kept without")}


@wrong("costs", says="The outputs are kept, too, in both cases.", section=COST)
def outputs_not_kept(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    return right_costs(N, S, K, Kv, H) | {"kept with weights": H * N * S, "kept without": H * N}


@wrong("costs", says="Scores and weights are both in your count; the scores are needed no more.", section=COST)
def scores_kept_too(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    found = right_costs(N, S, K, Kv, H)
    return found | {"kept with weights": found["kept with weights"] + H * N * S}


@wrong("costs", says="The logarithm of the denominator is one number for each target; you leave it out.", section=COST)
def no_logarithms(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    return right_costs(N, S, K, Kv, H) | {"kept without": H * N * Kv}


@wrong("costs", says="There is a denominator for each target, and you count one for each source.", section=COST)
def a_logarithm_for_each_source(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    return right_costs(N, S, K, Kv, H) | {"kept without": H * N * Kv + H * S}


@wrong(
    "costs", says="Queries, keys and values are in your count; what is kept besides them was asked for.", section=COST
)
def inputs_counted(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    found, inputs = right_costs(N, S, K, Kv, H), H * (N * K + S * K + S * Kv)
    return found | {name: found[name] + inputs for name in ("kept with weights", "kept without")}


@wrong("costs", says="These are bytes; numbers are asked for.", section=COST)
def in_bytes(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    found = right_costs(N, S, K, Kv, H)
    return found | {name: 8 * found[name] for name in ("kept with weights", "kept without")}


@wrong(
    "costs",
    says="Recomputing makes the scores again, of width K; you have added the averages of the values.",
    section=COST,
)
def averages_again(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    found = right_costs(N, S, K, Kv, H)
    return found | {"recomputing": found["backward"] + 2 * Kv * H * N * S}


@wrong(
    "costs",
    says="One number for each target is enough: the logarithm holds the largest score and the sum together.",
    section=COST,
)
def largest_score_and_sum(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    found = right_costs(N, S, K, Kv, H)
    return found | {"kept without": found["kept without"] + H * N}


@wrong("costs", says="Outputs are as wide as values; you take the width of the keys.", section=COST)
def outputs_as_wide_as_keys(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    return right_costs(N, S, K, Kv, H) | {"kept with weights": H * N * (S + K), "kept without": H * N * (K + 1)}


@wrong(
    "costs",
    says="Your recomputing pass makes the scores again at half their price: a product costs 2 N S K.",
    section=COST,
)
def half_a_product(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    found = right_costs(N, S, K, Kv, H)
    return found | {"recomputing": found["backward"] + K * H * N * S}


@wrong("costs", says="This is what recomputing adds; the whole backward pass is asked for.", section=COST)
def what_recomputing_adds(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    return right_costs(N, S, K, Kv, H) | {"recomputing": 2 * K * H * N * S}


@wrong(
    "costs",
    says="Weights and denominators are counted once; each head has its own.",
    section=COST,
)
def weights_of_one_head(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    return right_costs(N, S, K, Kv, H) | {"kept with weights": N * S + H * N * Kv, "kept without": H * N * Kv + N}


# layer


@wrong("layer", says="These are the three paths of the post; the residual connection is a fourth.", section=FOURTH)
def three_paths(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    return layer(X, U_q, U_k, U_v, U_o, dY, residual=0.0)


@wrong(
    "layer", says="You add the residual's path once for each head; there is one residual connection.", section=FOURTH
)
def residual_for_each_head(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    return layer(X, U_q, U_k, U_v, U_o, dY, residual=float(len(U_q)))


@wrong(
    "layer",
    says="The residual's path adds the input itself; on the way back it is the gradient that passes.",
    section=FOURTH,
)
def residual_adds_x(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    dX, dU_o = layer(X, U_q, U_k, U_v, U_o, dY, residual=0.0)
    return dX + X, dU_o


@wrong(
    "layer",
    says="Only the path through the values and the residual's are there: queries and keys are made of X, too.",
    section=HEADS,
)
def values_alone(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    return layer(X, U_q, U_k, U_v, U_o, dY, keep=("v",))


@wrong("layer", says="The path through the keys is missing.", section=HEADS)
def no_keys(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    return layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "v"))


@wrong("layer", says="The path through the queries is missing.", section=HEADS)
def no_queries(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    return layer(X, U_q, U_k, U_v, U_o, dY, keep=("k", "v"))


@wrong("layer", says="The path through the values is missing.", section=HEADS)
def no_values(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    return layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k"))


@wrong("layer", says="What comes back from the first head alone arrives at X; all heads add up.", section=HEADS)
def first_head_alone(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    dX, _ = layer(X, U_q[:1], U_k[:1], U_v[:1], U_o[:1], dY)
    return dX, layer(X, U_q, U_k, U_v, U_o, dY)[1]


@wrong(
    "layer",
    says="What comes back from the last head alone arrives at X: each head overwrites what came before.",
    section=HEADS,
)
def last_head_alone(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    dX, _ = layer(X, U_q[-1:], U_k[-1:], U_v[-1:], U_o[-1:], dY)
    return dX, layer(X, U_q, U_k, U_v, U_o, dY)[1]


@wrong("layer", says="The heads are averaged on the way back; in the forward pass they are added.", section=HEADS)
def heads_averaged(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    dX, dU_o = layer(X, U_q, U_k, U_v, U_o, dY, residual=0.0)
    return dY + dX / len(U_q), dU_o


@wrong(
    "layer",
    says="The head gets the gradient by Y itself; between the head and Y stands its output matrix.",
    section=HEADS,
)
def errors_of_the_output(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    dX, dU_o = dY.copy(), np.zeros_like(U_o)
    for h in range(len(U_q)):
        A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], dY)
        dX += U_q[h].T @ dq + U_k[h].T @ dk + U_v[h].T @ dv
        dU_o[h] = dY @ (v @ A).T
    return dX, dU_o


@wrong(
    "layer",
    says="Your gradient by U_o is made of the values; the outputs of the head are what U_o multiplies.",
    section=HEADS,
)
def values_for_outputs(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    dX, _ = layer(X, U_q, U_k, U_v, U_o, dY)
    return dX, np.stack([dY @ (u_v @ X).T for u_v in U_v])


@wrong("layer", says="Your gradient by U_o is transposed.", section=HEADS)
def output_matrix_transposed(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    dX, dU_o = layer(X, U_q, U_k, U_v, U_o, dY)
    return dX, dU_o.transpose(0, 2, 1)


@wrong("layer", says="Your gradient by U_o is the same for all heads; each has outputs of its own.", section=HEADS)
def heads_added_in_the_matrix(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    dX, dU_o = layer(X, U_q, U_k, U_v, U_o, dY)
    return dX, np.broadcast_to(dU_o.sum(axis=0), dU_o.shape).copy()


@wrong(
    "layer",
    says="The projections of queries and keys have changed places where their gradients go to X.",
    section=HEADS,
)
def projections_exchanged(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    dX, dU_o = dY.copy(), np.zeros_like(U_o)
    for h in range(len(U_q)):
        A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
        dX += U_k[h].T @ dq + U_q[h].T @ dk + U_v[h].T @ dv
        dU_o[h] = dY @ (v @ A).T
    return dX, dU_o


@wrong("layer", says="The factor 1/√K is missing on the way back.", section=STEP_3)
def layer_without_scale(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    root = np.sqrt(U_q.shape[1])
    dX, dU_o = layer(X, U_q, U_k, U_v, U_o, dY)
    scores = layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k"), residual=0.0)[0]
    return dX + (root - 1) * scores, dU_o


@wrong("layer", says="All heads get their errors through the first output matrix; each has its own.", section=HEADS)
def first_output_matrix(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    dX, _ = layer(X, U_q, U_k, U_v, np.broadcast_to(U_o[0], U_o.shape), dY)
    return dX, layer(X, U_q, U_k, U_v, U_o, dY)[1]


@wrong("layer", says="The softmax is left out where the gradient goes back to queries and keys.", section=STEP_2)
def layer_softmax_skipped(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    dX, dU_o = dY.copy(), np.zeros_like(U_o)
    for h in range(len(U_q)):
        A, v, _, _, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
        G = v.T @ (U_o[h].T @ dY) / np.sqrt(U_q.shape[1])
        dX += U_q[h].T @ (U_k[h] @ X @ G) + U_k[h].T @ (U_q[h] @ X @ G.T) + U_v[h].T @ dv
        dU_o[h] = dY @ (v @ A).T
    return dX, dU_o


@wrong("layer", says="You add to dY itself, so that the next head gets other errors: begin with a copy.", section=HEADS)
def writes_into_the_errors(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    dX, dU_o = dY, np.zeros_like(U_o)
    for h in range(len(U_q)):
        A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
        dX += U_q[h].T @ dq + U_k[h].T @ dk + U_v[h].T @ dv
        dU_o[h] = dY @ (v @ A).T
    return dX, dU_o


@wrong(
    "layer",
    says="Your outputs of the heads, in the gradient by U_o, are made with the weights transposed.",
    section=HEADS,
)
def outputs_with_weights_transposed(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    def paths(X, u_q, u_k, u_v, e):
        """Weights, values, and what comes back by queries, keys and values."""
        q, k, v = u_q @ X, u_k @ X, u_v @ X
        A = soft(k.T @ q / np.sqrt(len(q)))
        G = back(A, v.T @ e) / np.sqrt(len(q))
        return A, v, k @ G, q @ G.T, e @ A.T

    def layer(X, U_q, U_k, U_v, U_o, dY, keep=("q", "k", "v"), residual=1.0):
        dX, dU_o = residual * dY, np.zeros_like(U_o)
        for h in range(len(U_q)):
            A, v, dq, dk, dv = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
            for name, U, d in (("q", U_q, dq), ("k", U_k, dk), ("v", U_v, dv)):
                if name in keep:
                    dX = dX + U[h].T @ d
            dU_o[h] = dY @ (v @ A).T
        return dX, dU_o

    dX, dU_o = layer(X, U_q, U_k, U_v, U_o, dY)
    for h in range(len(U_q)):
        A, v, _, _, _ = paths(X, U_q[h], U_k[h], U_v[h], U_o[h].T @ dY)
        dU_o[h] = dY @ (v @ A.T).T
    return dX, dU_o


@wrong("layer", says="The residual's path adds ones; what passes through it is dY.", section=FOURTH)
def ones_for_errors(X, U_q, U_k, U_v, U_o, dY):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    dX, dU_o = np.ones_like(X), np.zeros_like(U_o)
    for h in range(len(U_q)):
        q, k, v = U_q[h] @ X, U_k[h] @ X, U_v[h] @ X
        A, e, root = soft(k.T @ q / np.sqrt(len(q))), U_o[h].T @ dY, np.sqrt(len(q))
        G = A * (v.T @ e - (v @ A * e).sum(axis=0)) / root
        dX += U_q[h].T @ k @ G + U_k[h].T @ q @ G.T + U_v[h].T @ e @ A.T
        dU_o[h] = dY @ (v @ A).T
    return dX, dU_o


# blocks


@wrong(
    "blocks",
    says="Each block has a softmax of its own; the denominator runs over all sources, and L knows it.",
    section=COST,
)
def softmax_of_the_block(Q, K, V, Y, L, dY, width):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: soft(scores))


@wrong("blocks", says="Your weights are bare exponentials: L is not used.", section=COST)
def no_denominator(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    with np.errstate(over="ignore", invalid="ignore"):
        return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: np.exp(scores))


@wrong("blocks", says="You divide by L; it is the logarithm of the denominator.", section=COST)
def divided_by_the_logarithm(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: np.exp(scores) / L)


@wrong("blocks", says="Exponential and denominator overflow on their own; subtract the logarithms first.", section=COST)
def exponentials_divided(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: np.exp(scores) / np.exp(L))


@wrong("blocks", says="L is added to the scores; it has to be subtracted.", section=COST)
def logarithm_added(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    with np.errstate(over="ignore", invalid="ignore"):
        return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: np.exp(scores + L))


@wrong(
    "blocks",
    says="The mean that you subtract runs over the block alone; it belongs to all sources, and Y and dY hold it.",
    section=STEP_2,
)
def mean_of_the_block(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    return blockwise(Q, K, V, Y, L, dY, width, inner=lambda A, dA: (A * dA).sum(axis=0))


@wrong("blocks", says="The second term of the softmax's derivative is missing.", section=STEP_2)
def blocks_second_term_missing(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    return blockwise(Q, K, V, Y, L, dY, width, inner=np.zeros(Q.shape[1]))


@wrong("blocks", says="You subtract one number for all targets; each target has its own.", section=STEP_2)
def one_mean_for_all(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    return blockwise(Q, K, V, Y, L, dY, width, inner=(Y * dY).sum())


@wrong(
    "blocks",
    says="The number that you subtract is averaged over the features of the values; it is their sum.",
    section=STEP_2,
)
def inner_averaged(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    return blockwise(Q, K, V, Y, L, dY, width, inner=(Y * dY).mean(axis=0))


@wrong("blocks", says="The factor 1/√K is missing on the way back.", section=STEP_3)
def blocks_without_scale(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    return blockwise(Q, K, V, Y, L, dY, width, scale=1.0)


@wrong(
    "blocks", says="The factor 1/√K is missing in the scores of the blocks, so that they do not fit L.", section=STEP_3
)
def scores_without_scale(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    root = np.sqrt(len(Q))
    with np.errstate(over="ignore", invalid="ignore"):
        return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: np.exp(root * scores - L))


@wrong("blocks", says="dQ is that of the last block: the blocks' shares have to be added.", section=COST)
def queries_overwritten(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    _, dK, dV = blockwise(Q, K, V, Y, L, dY, width)
    start = (K.shape[1] - 1) // width * width
    dQ, _, _ = blockwise(Q, K[:, start:], V[:, start:], Y, L, dY, width)
    return dQ, dK, dV


@wrong("blocks", says="The last sources are left out when the blocks do not come out even.", section=COST)
def ragged_block_dropped(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    whole = K.shape[1] // width * width
    dQ, dK, dV = blockwise(Q, K[:, :whole], V[:, :whole], Y, L, dY, width)
    left = np.zeros((len(K), K.shape[1] - whole)), np.zeros((len(V), V.shape[1] - whole))
    return dQ, np.hstack([dK, left[0]]), np.hstack([dV, left[1]])


@wrong(
    "blocks",
    says="The weights are made of all sources at once and Y and L are not used: this is question 2 again.",
    section=COST,
)
def everything_at_once(Q, K, V, Y, L, dY, width):
    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    def back(A, dA):
        return A * (dA - (A * dA).sum(axis=0))

    root = np.sqrt(len(Q))
    A = soft(K.T @ Q / root)
    G = back(A, V.T @ dY) / root
    return K @ G, Q @ G.T, dY @ A.T


@wrong("blocks", says="You scale by the width of the values; the width of queries and keys is meant.", section=STEP_3)
def blocks_scaled_by_values(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    ratio = np.sqrt(len(Q) / len(V))
    with np.errstate(over="ignore", invalid="ignore"):
        own = blockwise(Q, K, V, Y, L, dY, width, lambda scores, L: np.exp(scores * ratio - L), scale=np.sqrt(len(V)))
    return own


@wrong("blocks", says="Only the first block is visited; the others get nothing.", section=COST)
def first_block_alone(Q, K, V, Y, L, dY, width):
    def blockwise(Q, K, V, Y, L, dY, width, weights=None, inner=None, scale=None):
        root = np.sqrt(len(Q))
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        subtracted = (Y * dY).sum(axis=0) if inner is None else inner
        for start in range(0, K.shape[1], width):
            b = slice(start, start + width)
            scores = K[:, b].T @ Q / root
            A = np.exp(scores - L) if weights is None else weights(scores, L)
            dA = V[:, b].T @ dY
            off = subtracted(A, dA) if callable(subtracted) else subtracted
            G = A * (dA - off) / (root if scale is None else scale)
            dQ += K[:, b] @ G
            dK[:, b], dV[:, b] = Q @ G.T, dY @ A.T
        return dQ, dK, dV

    dQ, dK, dV = blockwise(Q, K[:, :width], V[:, :width], Y, L, dY, width)
    left = max(0, K.shape[1] - width)
    return dQ, np.hstack([dK, np.zeros((len(K), left))]), np.hstack([dV, np.zeros((len(V), left))])


WRONG = wrong


@wrong("blocks", says="You make the outputs again; Y was kept, and is given.", section=COST)
def outputs_made_again(Q, K, V, Y, L, dY, width):
    root = np.sqrt(len(Q))
    A = np.exp(K.T @ Q / root - L)
    G = A * (V.T @ dY - (V @ A * dY).sum(axis=0)) / root
    return K @ G, Q @ G.T, dY @ A.T


@wrong("blocks", says="You make the denominators again; their logarithms L were kept, and are given.", section=COST)
def denominators_made_again(Q, K, V, Y, L, dY, width):
    root = np.sqrt(len(Q))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        e = np.exp(K.T @ Q / root)
        A = np.exp(K.T @ Q / root - np.log(e.sum(axis=0)))
        G = A * (V.T @ dY - (Y * dY).sum(axis=0)) / root
    return K @ G, Q @ G.T, dY @ A.T


@wrong("blocks", says="L is divided by the root, too; it belongs to scores that have been divided.", section=COST)
def logarithm_scaled(Q, K, V, Y, L, dY, width):
    root = np.sqrt(len(Q))
    with np.errstate(over="ignore", invalid="ignore"):
        A = np.exp((K.T @ Q - L) / root)
        G = A * (V.T @ dY - (Y * dY).sum(axis=0)) / root
    return K @ G, Q @ G.T, dY @ A.T
