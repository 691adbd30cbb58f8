"""Exercise 16, question selected: attention to the tokens that an indexer selects."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import close, draw_sizes

from .result_parts import parts_slip


def selected_reference(q, k, v, index_q, index_k, w, top):
    """Token by token: the index scores of those before it, sorted with the later of equal ones first."""
    N, H = w.shape
    y, read = np.zeros((N, v.shape[1])), np.zeros(N, dtype=int)
    for n in range(N):
        index = [sum(w[n, h] * max(0.0, index_q[n, h] @ index_k[s]) for h in range(H)) for s in range(n + 1)]
        chosen = sorted(range(n + 1), key=lambda s: (-index[s], -s))[:top]
        scores = np.array([q[n] @ k[s] for s in chosen]) / np.sqrt(q.shape[1])
        shares = np.exp(scores - scores.max())
        y[n] = shares @ v[chosen] / shares.sum()
        read[chosen] += 1
    return y, read


def draw_args(rng, top, sizes=None, factor=1.0):
    N, K, V, H, width = sizes or draw_sizes(rng, 5)
    q, k = (np.sqrt(factor) * rng.normal(size=(N, K)) for _ in range(2))
    index_q, index_k = rng.normal(size=(N, H, width)), rng.normal(size=(N, width))
    w = rng.uniform(0.5, 2.0, size=(N, H))
    return q, k, rng.normal(size=(N, V)), index_q, index_k, w, top


def long_texts(rng):
    return [draw_args(rng, top, sizes) for top, sizes in ((3, (23, 5, 7, 4, 6)), (4, (17, 3, 2, 5, 7)))]


def short_texts(rng):
    """As many tokens as may be read, fewer, one, one that each may read, and sizes that agree."""
    sizes = (
        (5, (5, 3, 4, 2, 7)),
        (9, (6, 4, 3, 5, 2)),
        (3, (1, 4, 5, 3, 2)),
        (1, (8, 3, 5, 4, 6)),
        (2, (6, 6, 6, 6, 6)),
    )
    return [draw_args(rng, top, size) for top, size in sizes]


def negative_weights(rng):
    """Weights of heads of both signs, so that what no head hits may be the best."""
    cases = []
    for top, sizes in ((3, (19, 4, 3, 5, 7)), (2, (11, 7, 5, 3, 4))):
        *args, w, _ = draw_args(rng, top, sizes)
        cases.append((*args, rng.normal(size=w.shape), top))
    return cases


def equal_scores(rng):
    """One head that hits about every second token, and one that hits none, with more equal scores than are read."""
    one = draw_args(rng, 6, (37, 3, 4, 1, 5))
    q, k, v, index_q, index_k, w, top = draw_args(rng, 4, (29, 5, 3, 2, 7))
    return [one, (q, k, v, np.abs(index_q), -np.abs(index_k), w, top)]


def large_scores(rng):
    return [draw_args(rng, 3, (13, 7, 5, 3, 2), factor) for factor in (100.0, 1e4)]


def later_tokens_do_not_count(ask, rng):
    args = draw_args(rng, 3, (12, 4, 3, 5, 2))
    before = ask(*args)
    if slip := parts_slip(before, (12, 3), (12,)):
        return slip
    q, k, v, index_q, index_k, w, top = (np.copy(it) for it in args)
    for it in (q, k, v, index_k):
        it[7:] = 9 * rng.normal(size=it[7:].shape)
    after = ask(q, k, v, index_q, index_k, w, int(top))
    if slip := parts_slip(after, (12, 3), (12,)):
        return slip
    if not close(after[0][:7], before[0][:7]):
        return "With other tokens behind it an output changes; a token selects among itself and those before it."
    return None


QUESTION = Question(
    id="selected",
    title="Stretch: attention to selected tokens",
    name="selected_attention",
    minutes=25,
    difficulty=3,
    checks=with_battery(
        equals("the outputs", 5, long_texts, selected_reference, parts=(0,)),
        equals("how often each is read", 4, long_texts, selected_reference, parts=(1,)),
        equals("short texts", 3, short_texts, selected_reference),
        equals("equal scores", 3, equal_scores, selected_reference),
        equals("weights below zero", 2, negative_weights, selected_reference),
        equals("large scores", 2, large_scores, selected_reference, parts=(0,)),
        holds("later tokens do not count", 2, later_tokens_do_not_count),
        more={"ties": in_cases_of("equal scores"), "boundary": in_cases_of("short texts")},
        off={"mask": "the check of the later tokens draws a mask of its own, and all others lie behind a choice"},
    ),
    hints=(
        "Two sets of scores take part. The index scores decide who is read, and nothing else; the scores of q and k "
        "decide what those who are read weigh. Make a table of targets and sources that is 1 where a source is read.",
        "A token that has fewer than `top` tokens before it reads them all. What must the index scores of later "
        "tokens be, so that none of them is ever chosen, and what happens to them when a row is too short?",
        "A sort that keeps the order of equal numbers puts the *earlier* one first. Which way round must the tokens "
        "stand when they are sorted, so that the later one comes first?",
    ),
    section="read-only-what-matters-sparse-attention",
    inputs=Inputs(axes("NK", "NK", "NV", "NHI", "NI", "NH"), alike=("short texts",)),
)

right, wrong = answers_to(QUESTION)


@right
def with_a_table(q, k, v, index_q, index_k, w, top):
    N, K = q.shape
    hits = np.maximum(np.einsum("nhi,si->nhs", index_q, index_k), 0)
    index = np.einsum("nh,nhs->ns", w, hits)
    later = np.triu(np.ones((N, N), dtype=bool), 1)
    index = np.where(later, -np.inf, index)
    order = N - 1 - np.argsort(-index[:, ::-1], axis=1, kind="stable")
    chosen = np.zeros((N, N), dtype=bool)
    np.put_along_axis(chosen, order[:, :top], True, axis=1)
    chosen &= ~later
    scores = np.where(chosen, q @ k.T / np.sqrt(K), -np.inf)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = shares / shares.sum(axis=1, keepdims=True)
    return shares @ v, chosen.sum(axis=0)


@right
def token_by_token(q, k, v, index_q, index_k, w, top):
    y, read = np.zeros(v.shape), np.zeros(len(q), dtype=int)
    for n in range(len(q)):
        hits = index_q[n] @ index_k[: n + 1].T
        index = w[n] @ np.where(hits > 0, hits, 0.0)
        order = np.lexsort((np.arange(n + 1), index))[::-1]
        chosen = order[:top]
        scores = k[chosen] @ q[n] / q.shape[1] ** 0.5
        shares = np.exp(scores - scores.max())
        y[n] = shares / shares.sum() @ v[chosen]
        read[chosen] += 1
    return y, read


@right
def best_one_after_another(q, k, v, index_q, index_k, w, top):
    N = len(q)
    index = sum(w[:, h, None] * np.clip(index_q[:, h] @ index_k.T, 0, None) for h in range(w.shape[1]))
    open_ = np.tril(np.ones((N, N), dtype=bool))
    chosen = np.zeros((N, N), dtype=bool)
    for _ in range(min(top, N)):
        left = np.where(open_, index, -np.inf)
        s = N - 1 - np.argmax(left[:, ::-1], axis=1)
        rows = np.flatnonzero(open_.any(axis=1))
        chosen[rows, s[rows]] = True
        open_[rows, s[rows]] = False
    scores = q @ k.T / np.sqrt(q.shape[1])
    scores = scores - np.where(chosen, scores, -np.inf).max(axis=1)[:, None]
    shares = np.exp(np.where(chosen, scores, -np.inf))
    return shares / shares.sum(axis=1)[:, None] @ v, chosen.sum(axis=0)


wrong.edits("""
# with_a_table
## heads_not_cut: Your index heads count below zero, too; cut each off at 0 before the weight.
- hits = np.maximum(np.einsum("nhi,si->nhs", index_q, index_k), 0)
+ hits = np.einsum("nhi,si->nhs", index_q, index_k)
## cut_after_the_sum: You cut the sum off at 0; it is each head that is cut off.
- index = np.einsum("nh,nhs->ns", w, hits)
+ index = np.maximum(np.einsum("nh,nhs->ns", w, np.einsum("nhi,si->nhs", index_q, index_k)), 0)
## weights_of_the_source: Your heads have the weights of the token that is read; take those of the token that reads.
+ index = np.einsum("sh,nhs->ns", w, hits)
## weights_left_out: You leave the weights of the heads out.
+ index = hits.sum(axis=1)
## looks_ahead: Your tokens select later ones.
- index = np.where(later, -np.inf, index)
+ later = np.zeros((N, N), dtype=bool)
## later_as_zero: Later tokens have the index score 0 in your function; where others are below, they push those out.
+ index = np.where(later, 0.0, index)
## not_itself: Your token does not select itself.
- index = np.where(later, -np.inf, index)
+ index = np.where(later | (np.eye(N) > np.eye(N)[0]), -np.inf, index)
## earlier_of_equals: Of equal index scores you take the earlier token; take the later.
- order = N - 1 - np.argsort(-index[:, ::-1], axis=1, kind="stable")
+ order = np.argsort(-index, axis=1, kind="stable")
## the_worst: You select the smallest index scores.
+ order = N - 1 - np.argsort(np.where(later, np.inf, index)[:, ::-1], axis=1, kind="stable")
## one_too_many: You select top + 1 tokens.
- np.put_along_axis(chosen, order[:, :top], True, axis=1)
+ np.put_along_axis(chosen, order[:, : top + 1], True, axis=1)
## later_when_short: Where there are fewer than `top` tokens, yours selects later ones.
- chosen &= ~later
## by_the_scores: You select by q and k; it is the index scores that select.
- index = np.where(later, -np.inf, index)
+ index = np.where(later, -np.inf, q @ k.T)
## weighed_by_the_index: Your weights are a softmax of the index scores; they come from q and k.
- scores = np.where(chosen, q @ k.T / np.sqrt(K), -np.inf)
+ scores = np.where(chosen, index, -np.inf)
## both_scores: You add the index scores to those of q and k; they only select.
+ scores = np.where(chosen, q @ k.T / np.sqrt(K) + np.where(later, 0.0, index), -np.inf)
## not_divided: You leave √K out.
+ scores = np.where(chosen, q @ k.T, -np.inf)
## divided_by_the_index: You divide by the root of the index width; divide by that of q.
+ scores = np.where(chosen, q @ k.T / np.sqrt(index_k.shape[1]), -np.inf)
## softmax_of_all: Your weights are a softmax over all earlier tokens; take it over the selected alone.
- shares = shares / shares.sum(axis=1, keepdims=True)
+ every = np.where(later, -np.inf, q @ k.T / np.sqrt(K))
+ shares = np.where(chosen, np.exp(every - every.max(axis=1, keepdims=True)), 0.0)
+ shares = shares / np.exp(every - every.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)
## zero_for_hidden: A token that is not selected has the score 0 in your softmax.
- scores = np.where(chosen, q @ k.T / np.sqrt(K), -np.inf)
+ scores = np.where(chosen, q @ k.T / np.sqrt(K), 0.0)
## overflow: With large scores your exponentials overflow; take the largest score away first.
- shares = np.exp(scores - scores.max(axis=1, keepdims=True))
+ shares = np.exp(scores)
## read_by_row: You count how many tokens a token reads; the question is by how many it is read.
- return shares @ v, chosen.sum(axis=0)
+ return shares @ v, chosen.sum(axis=1)
## read_by_weight: You add up weights; count the tokens that select it.
+ return shares @ v, shares.sum(axis=0)
## itself_not_counted: A token that selects itself counts as well.
+ return shares @ v, chosen.sum(axis=0) - np.diag(chosen)
""")
