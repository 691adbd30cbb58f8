"""Exercise 13, question blocks: Stretch: without the weights."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.cases import shapes_slip
from clearformer.reference import attention

from .shared import close, disagreement, draw_head


def blockwise_reference(Q, K, V, Y, L, dY, width):
    A = np.exp(K.T @ Q / np.sqrt(len(Q)) - L)
    G = A * (V.T @ dY - (Y * dY).sum(axis=0)) / np.sqrt(len(Q))
    return K @ G, Q @ G.T, dY @ A.T


def kept(Q, keys, V):
    """What the forward pass keeps: outputs and logarithms of denominators."""
    scores = keys.T @ Q / np.sqrt(len(Q))
    top = scores.max(axis=0)
    return attention.attend(Q, keys, V)[0], top + np.log(np.exp(scores - top).sum(axis=0))


def with_kept(Q, keys, V, dY, width):
    return Q, keys, V, *kept(Q, keys, V), dY, width


def ordinary_blocks(rng):
    cases = []
    for n_targets, n_sources, width in ((None, 13, 4), (None, 11, 4), (1, 7, 3), (None, 1, 2)):
        N = n_targets or int(rng.choice((5, 9)))
        K, Kv = (int(size) for size in rng.permutation((2, 17)))
        Q, keys = rng.normal(size=(K, N)), rng.normal(size=(K, n_sources))
        cases.append(with_kept(Q, keys, rng.normal(size=(Kv, n_sources)), rng.normal(size=(Kv, N)), width))
    return cases


def all_widths(rng):
    """Blocks of one source, of all, of more than there are, blocks that do not come out even; once all sizes agree."""
    K, Kv = (int(size) for size in rng.permutation((4, 11)))
    shapes = (K, 5), (K, 7), (Kv, 7), (Kv, 5)
    Q, keys, V, dY = (rng.normal(size=shape) for shape in shapes)
    alike = [rng.normal(size=(4, 4)) for _ in range(4)]
    return [*(with_kept(Q, keys, V, dY, width) for width in (1, 7, 9, 2, 5)), with_kept(*alike, 4)]


def certain_blocks(rng):
    return [with_kept(*draw_head(rng, size=size), 4) for size in (60.0, 3e4)]


def what_was_kept(ask, rng):
    Q, keys, V, dY = draw_head(rng)
    Y, L = kept(Q, keys, V)
    shapes = Q.shape, keys.shape, V.shape
    moves = rng.uniform(0.5, 1, size=L.shape)
    others = ("Y", (Y + rng.normal(size=Y.shape), L)), *(("L", (Y, L + by * moves)) for by in (1, -5, -300))
    answers = [ask(Q, keys, V, *given, dY, 4) for _, given in others]  # all, to tell which of the two is not used
    for (name, given), found in zip(others, answers, strict=True):
        if slip := shapes_slip(found, shapes):
            return slip
        if not all(map(close, found, blockwise_reference(Q, keys, V, *given, dY, 4))):
            return f"With another {name} than that of the forward pass your result is not what the formulas make of it."
    found = ask(Q, keys, V, Y, L, dY, 3)

    def loss(Q, keys, V):
        return (dY * attention.attend(Q, keys, V)[0]).sum()

    return shapes_slip(found, shapes) or disagreement(loss, ("Q", "K", "V"), (Q, keys, V), found, rng)


def blocks_alone(ask, rng):
    """The most numbers that are held at once, where a table of all weights would be far larger than all else."""
    N, S, width = 100, 400, 10
    Q, keys, V, dY = (rng.normal(size=(3, n)) for n in (N, S, S, N))
    args = with_kept(Q, keys, V, dY, width)
    found, _ = ask(*args), ask(*args)  # what is done once in a process, such as an import, is no part of the second
    held = min(call.held for call in ask.calls) // 8
    if slip := shapes_slip(found, (Q.shape, keys.shape, V.shape)):
        return slip
    if not all(map(close, found, blockwise_reference(*args))):
        return f"With N = {N}, S = {S} and width {width} your gradients are not right."
    if held >= N * S:
        return (
            f"With N = {N}, S = {S} and width {width} your function held {held:,} numbers at its worst moment. A table "
            f"of S×N has {N * S:,}, a block {N * width:,}: nothing as large as that table may exist."
        )
    return None


QUESTION = Question(
    id="blocks",
    title="Stretch: without the weights",
    name="blockwise_backward",
    minutes=23,
    difficulty=3,
    checks=(
        equals("values", 5, ordinary_blocks, blockwise_reference),
        equals("all widths", 4, all_widths, blockwise_reference),
        equals("certain and huge scores", 3, certain_blocks, blockwise_reference),
        holds("what was kept", 4, what_was_kept),
        holds("blocks alone", 2, blocks_alone),
    ),
    measured=True,
    hints=(
        "For one block you know its scores, and for each target the logarithm of its denominator. What is an "
        "exponential divided by a denominator, if you have the logarithm of the latter?",
        "Which of the three gradients has a column for each source, so that a block can finish its part, and "
        "which has a column for each target, so that all blocks add to it?",
        "The number to subtract is the mean of the gradients by the weights, with the weights as shares. Write "
        "it with the values, and pull the error out of the sum: what is left is the output.",
    ),
    section="faster-than-autograd",
    inputs=Inputs(
        axes("KN", "KS", "VS", "VN", "N", "VN"),
        lambda Q, K, *rest: K.T @ Q / np.sqrt(len(Q)),
        alike=("all widths",),
    ),
)

right, wrong = answers_to(QUESTION)


@right
def slices_in_turn(Q, K, V, Y, L, dY, width):
    dQ, dK, dV = (np.zeros_like(array) for array in (Q, K, V))
    inner = (Y * dY).sum(axis=0)
    scale = 1 / np.sqrt(len(Q))
    for start in range(0, K.shape[1], width):
        block = slice(start, start + width)
        A = np.exp(scale * K[:, block].T @ Q - L)
        G = scale * A * (V[:, block].T @ dY - inner)
        dQ += K[:, block] @ G
        dK[:, block] = Q @ G.T
        dV[:, block] = dY @ A.T
    return dQ, dK, dV


@right
def while_sources_are_left(Q, K, V, Y, L, dY, width):
    S, done = K.shape[1], 0
    dQ, dK, dV = 0 * Q, [], []
    while done < S:
        k, v = K[:, done : done + width], V[:, done : done + width]
        weights = np.exp((Q.T @ k) / np.sqrt(Q.shape[0]) - L[:, None])  # targets as rows
        d_scores = weights * (dY.T @ v - np.einsum("vn,vn->n", Y, dY)[:, None])
        dQ = dQ + (d_scores @ k.T).T / np.sqrt(Q.shape[0])
        dK.append(Q @ d_scores / np.sqrt(Q.shape[0]))
        dV.append(dY @ weights)
        done += width
    return dQ, np.hstack(dK), np.hstack(dV)


@right
def values_less_outputs(Q, K, V, Y, L, dY, width):
    root = len(Q) ** 0.5
    dQ, dK, dV = np.zeros(Q.shape), np.zeros(K.shape), np.zeros(V.shape)
    for block in np.array_split(np.arange(K.shape[1]), -(-K.shape[1] // width)):
        for s in block:
            a = np.exp(K[:, s] @ Q / root - L)
            g = a * ((V[:, s][:, None] - Y) * dY).sum(axis=0) / root
            dQ += np.outer(K[:, s], g)
            dK[:, s], dV[:, s] = Q @ g, dY @ a
    return dQ, dK, dV


@right
def as_often_written(Q, K, V, Y, L, dY, width):
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

    return blockwise(Q, K, V, Y, L, dY, width)


@wrong("Each block has a softmax of its own; the denominator runs over all sources, and L knows it.")
def softmax_of_the_block(Q, K, V, Y, L, dY, width):
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

    def soft(scores):
        e = np.exp(scores - scores.max(axis=0))
        return e / e.sum(axis=0)

    return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: soft(scores))


@wrong("dQ is that of the last block: the blocks' shares have to be added.")
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


@wrong("The last sources are left out when the blocks do not come out even.")
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


@wrong("The weights are made of all sources at once and Y and L are not used: this is question 2 again.")
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


@wrong(
    "You scale by the width of the values; the width of queries and keys is meant.",
    section="step-3-from-scores-to-queries-and-keys",
)
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


@wrong("You make the outputs again; Y was kept, and is given.")
def outputs_made_again(Q, K, V, Y, L, dY, width):
    root = np.sqrt(len(Q))
    A = np.exp(K.T @ Q / root - L)
    G = A * (V.T @ dY - (V @ A * dY).sum(axis=0)) / root
    return K @ G, Q @ G.T, dY @ A.T


@wrong("You make the denominators again; their logarithms L were kept, and are given.")
def denominators_made_again(Q, K, V, Y, L, dY, width):
    root = np.sqrt(len(Q))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        e = np.exp(K.T @ Q / root)
        A = np.exp(K.T @ Q / root - np.log(e.sum(axis=0)))
        G = A * (V.T @ dY - (Y * dY).sum(axis=0)) / root
    return K @ G, Q @ G.T, dY @ A.T


@wrong("L is divided by the root, too; it belongs to scores that have been divided.")
def logarithm_scaled(Q, K, V, Y, L, dY, width):
    root = np.sqrt(len(Q))
    with np.errstate(over="ignore", invalid="ignore"):
        A = np.exp((K.T @ Q - L) / root)
        G = A * (V.T @ dY - (Y * dY).sum(axis=0)) / root
    return K @ G, Q @ G.T, dY @ A.T


wrong.edits("""
# as_often_written
## no_denominator: Your weights are bare exponentials: L is not used.
- return blockwise(Q, K, V, Y, L, dY, width)
+ with np.errstate(over="ignore", invalid="ignore"):
+     return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: np.exp(scores))
## divided_by_the_logarithm: You divide by L; it is the logarithm of the denominator.
- return blockwise(Q, K, V, Y, L, dY, width)
+ with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
+     return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: np.exp(scores) / L)
## exponentials_divided: Exponential and denominator overflow on their own; subtract the logarithms first.
- return blockwise(Q, K, V, Y, L, dY, width)
+ with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
+     return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: np.exp(scores) / np.exp(L))
## logarithm_added: L is added to the scores; it has to be subtracted.
- return blockwise(Q, K, V, Y, L, dY, width)
+ with np.errstate(over="ignore", invalid="ignore"):
+     return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: np.exp(scores + L))
## mean_of_the_block [step-2-back-through-the-softmax]: The mean that you subtract runs over the block alone; it belongs
to all sources, and Y and dY hold it.
- return blockwise(Q, K, V, Y, L, dY, width)
+ return blockwise(Q, K, V, Y, L, dY, width, inner=lambda A, dA: (A * dA).sum(axis=0))
## blocks_second_term_missing [step-2-back-through-the-softmax]: The second term of the softmax's derivative is missing.
- return blockwise(Q, K, V, Y, L, dY, width)
+ return blockwise(Q, K, V, Y, L, dY, width, inner=np.zeros(Q.shape[1]))
## one_mean_for_all [step-2-back-through-the-softmax]: You subtract one number for all targets; each target has its own.
- return blockwise(Q, K, V, Y, L, dY, width)
+ return blockwise(Q, K, V, Y, L, dY, width, inner=(Y * dY).sum())
## inner_averaged [step-2-back-through-the-softmax]: The number that you subtract is averaged over the features of the
values; it is their sum.
- return blockwise(Q, K, V, Y, L, dY, width)
+ return blockwise(Q, K, V, Y, L, dY, width, inner=(Y * dY).mean(axis=0))
## blocks_without_scale [step-3-from-scores-to-queries-and-keys]: The factor 1/√K is missing on the way back.
- return blockwise(Q, K, V, Y, L, dY, width)
+ return blockwise(Q, K, V, Y, L, dY, width, scale=1.0)
## scores_without_scale [step-3-from-scores-to-queries-and-keys]: The factor 1/√K is missing in the scores of the
blocks, so that they do not fit L.
- return blockwise(Q, K, V, Y, L, dY, width)
+ root = np.sqrt(len(Q))
+ with np.errstate(over="ignore", invalid="ignore"):
+     return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: np.exp(root * scores - L))
## first_block_alone: Only the first block is visited; the others get nothing.
- return blockwise(Q, K, V, Y, L, dY, width)
+ dQ, dK, dV = blockwise(Q, K[:, :width], V[:, :width], Y, L, dY, width)
+ left = max(0, K.shape[1] - width)
+ return dQ, np.hstack([dK, np.zeros((len(K), left))]), np.hstack([dV, np.zeros((len(V), left))])
## one_block_of_all: You make the weights of all sources at once, a table of S×N; only blocks of `width` columns may
exist.
- return blockwise(Q, K, V, Y, L, dY, width)
+ return blockwise(Q, K, V, Y, L, dY, K.shape[1])
## exponents_clipped: You keep every exponent between −50 and 50; with another L the formulas give larger weights.
- return blockwise(Q, K, V, Y, L, dY, width)
+ return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: np.exp(np.clip(scores - L, -50, 50)))
## weights_cut_at_one: You let no weight exceed 1; with another L the formulas give larger ones.
- return blockwise(Q, K, V, Y, L, dY, width)
+ return blockwise(Q, K, V, Y, L, dY, width, weights=lambda scores, L: np.exp(np.minimum(scores - L, 0)))
""")
