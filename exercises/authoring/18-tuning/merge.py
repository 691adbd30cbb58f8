"""Exercise 18, question merge: adapters of several ranks added to one matrix, each with its share."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery


def merge_reference(W, adapters, alpha, shares):
    merged = np.array(W, dtype=float)
    for (A, B), share in zip(adapters, shares, strict=True):
        merged += share * alpha / len(A) * (B @ A)
    return merged


def draw_args(rng, ranks=(2, 3), E=5, D=7, shares=None):
    adapters = [(rng.normal(size=(r, D)), rng.normal(size=(E, r))) for r in ranks]
    shares = rng.uniform(0.2, 1.4, size=len(ranks)) if shares is None else np.array(shares)
    return rng.normal(size=(E, D)), adapters, float(rng.uniform(2, 9)), shares


def several_ranks(rng):
    return [draw_args(rng), draw_args(rng, (1, 4, 2), 6, 3), draw_args(rng, (3, 3), 4, 9)]


def alone_or_none(rng):
    """One adapter, none, a share of 0, and an adapter that is taken out again."""
    return [
        draw_args(rng, (2,)),
        draw_args(rng, ()),
        draw_args(rng, (2, 3), shares=(0.0, 1.0)),
        draw_args(rng, (3, 1), shares=(-1.0, 0.5)),
    ]


def equal_sizes(rng):
    return [draw_args(rng, (4, 4, 4, 4), 4, 4)]


def taken_out_again(ask, rng):
    """Whoever merges an adapter in, and then takes it out, is back where he was."""
    W, adapters, alpha, _ = draw_args(rng, (2,))
    there = np.asarray(ask(W, adapters, alpha, np.array([1.0])))
    if there.shape != W.shape:
        return f"A matrix of the shape of W, {W.shape}, is expected; yours has {there.shape}."
    back = np.asarray(ask(there, adapters, alpha, np.array([-1.0])))
    if np.abs(there - W).max() < 1e-6:
        return "With one adapter and the share 1 your matrix is W itself: nothing was added."
    if np.abs(back - W).max() > 1e-9:
        return "An adapter merged in with the share 1, and then with −1, should leave W as it was; yours does not."
    return None


QUESTION = Question(
    id="merge",
    title="Merge adapters, and take one out again",
    name="merge_adapters",
    minutes=20,
    difficulty=1,
    checks=with_battery(
        equals("several ranks", 5, several_ranks, merge_reference),
        equals("one, none, and less than nothing", 3, alone_or_none, merge_reference),
        equals("all sizes alike", 1, equal_sizes, merge_reference),
        holds("taken out again", 2, taken_out_again),
    ),
    hints=(
        "What does one adapter add to W? Which of its two matrices stands on the left, so that the product has the "
        "shape of W?",
        "Each adapter has a rank of its own: how many rows has its A? The shares are used as they are, and need not "
        "sum to 1.",
        "Begin with a copy of W and add `share * alpha / len(A) * B @ A` for each pair. The product of two sums is "
        "not the sum of the products.",
    ),
    section="weights-that-are-added-lora",
    inputs=Inputs(no_sizes="a list of pairs of matrices, of sizes and ranks that differ"),
)

right, wrong = answers_to(QUESTION)


@right
def one_after_another(W, adapters, alpha, shares):
    merged = W.copy()
    for n, (A, B) in enumerate(adapters):
        merged = merged + shares[n] * (alpha / A.shape[0]) * (B @ A)
    return merged


@right
def as_one_adapter(W, adapters, alpha, shares):
    if len(adapters) == 0:
        return W + 0.0
    A = np.concatenate([A for A, _ in adapters])
    scaled = [share * alpha / B.shape[1] * B for (_, B), share in zip(adapters, shares, strict=True)]
    return W + np.concatenate(scaled, axis=1) @ A


@right
def sum_of_differences(W, adapters, alpha, shares):
    tuned = [W + alpha * np.einsum("er,rd->ed", B, A) / B.shape[-1] for A, B in adapters]
    return W + sum((share * (one - W) for one, share in zip(tuned, shares, strict=True)), np.zeros(W.shape))


wrong.edits("""
# one_after_another
## no_scale: You add BA without the factor alpha / rank.
- merged = merged + shares[n] * (alpha / A.shape[0]) * (B @ A)
+ merged = merged + shares[n] * (B @ A)
## alpha_alone: You multiply by alpha, but never divide by the rank.
+ merged = merged + shares[n] * alpha * (B @ A)
## upside_down: Your factor is rank / alpha; it should be alpha / rank.
+ merged = merged + shares[n] * (A.shape[0] / alpha) * (B @ A)
## divided_by_the_width: You divide by the number of columns of A, which is the width; its rank is the number of rows.
+ merged = merged + shares[n] * (alpha / A.shape[1]) * (B @ A)
## rank_of_the_first: You take the rank of the first adapter for all of them.
+ merged = merged + shares[n] * (alpha / len(adapters[0][0])) * (B @ A)
## divided_by_how_many: You divide by the number of adapters; divide by the rank of each.
+ merged = merged + shares[n] * (alpha / len(adapters)) * (B @ A)
## shares_forgotten: You add every adapter in full; each has its share.
+ merged = merged + (alpha / A.shape[0]) * (B @ A)
## shares_squared: Your factor has the share twice: it belongs to A or to B, not to both.
+ merged = merged + shares[n] ** 2 * (alpha / A.shape[0]) * (B @ A)
## shares_normalised: You divide the shares by their sum; they are used as they are.
- merged = W.copy()
+ merged, shares = W.copy(), shares / max(abs(shares.sum()), 1e-9)
## sizes_of_shares: You take the size of a share and drop its sign: a share below 0 takes the adapter out.
+ merged, shares = W.copy(), np.abs(shares)
## negative_left_out: You leave out shares below 0; such a share takes the adapter out again.
+ merged, shares = W.copy(), np.maximum(shares, 0)
## mean_of_all: You average over the adapters; their changes are added.
- return merged
+ return W + (merged - W) / max(1, len(adapters))
## only_the_change: You return what is added, without W.
+ return merged - W
## subtracted: You subtract what the adapters add.
+ return 2 * W - merged
## base_shrunk: You weigh W, too: what the shares leave of 1. W stays whole.
+ return merged - shares.sum() * W
## only_the_last: Each adapter overwrites the one before: only the last is left.
- merged = merged + shares[n] * (alpha / A.shape[0]) * (B @ A)
+ merged = W + shares[n] * (alpha / A.shape[0]) * (B @ A)
## only_the_first: You return in the loop, after the first adapter.
- return merged
+     return merged
+ return merged
## changed_w: You write into W; leave your arguments as they are.
- merged = W.copy()
+ merged = W
- merged = merged + shares[n] * (alpha / A.shape[0]) * (B @ A)
+ merged += shares[n] * (alpha / A.shape[0]) * (B @ A)
## transposed: You add the transposed change, Aᵀ Bᵀ, squeezed into the shape of W.
- merged = merged + shares[n] * (alpha / A.shape[0]) * (B @ A)
+ merged = merged + shares[n] * (alpha / A.shape[0]) * (B @ A).T.reshape(W.shape)
""")


@wrong("You add up all A and all B, and multiply the sums: each B then meets the A of the others.")
def sums_first(W, adapters, alpha, shares):
    rank = max((len(A) for A, _ in adapters), default=1)
    A_all, B_all = np.zeros((rank, W.shape[1])), np.zeros((W.shape[0], rank))
    for (A, B), share in zip(adapters, shares, strict=True):
        A_all[: len(A)] += A
        B_all[:, : len(A)] += share * alpha / len(A) * B
    return W + B_all @ A_all
