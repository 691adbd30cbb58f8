"""Exercise 13, question groups: back through grouped queries, with a causal mask."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import SIZES, draw_sizes, shapes_slip

from .shared import BACKWARD, close, disagreement, softmax

SECTION = "step-4-to-the-matrices-and-the-input"


def grouped_scores(q, k):
    m = q.shape[1] // k.shape[1]
    return q @ k.repeat(m, axis=1).swapaxes(2, 3) / np.sqrt(q.shape[3])


def hidden_later(scores):
    return np.where(np.tri(scores.shape[2], dtype=bool), scores, -np.inf)


def forward(q, k, v):
    return softmax(hidden_later(grouped_scores(q, k))) @ v.repeat(q.shape[1] // v.shape[1], axis=1)


def reference(q, k, v, e):
    B, G, K = q.shape[0], k.shape[1], q.shape[3]
    m = q.shape[1] // G
    A = softmax(hidden_later(grouped_scores(q, k)))
    dA = e @ v.repeat(m, axis=1).swapaxes(2, 3)
    dC = A * (dA - (A * dA).sum(axis=3, keepdims=True)) / np.sqrt(K)
    dk, dv = dC.swapaxes(2, 3) @ q, A.swapaxes(2, 3) @ e
    shared = (each.reshape(B, G, m, *each.shape[2:]).sum(axis=2) for each in (dk, dv))
    return dC @ k.repeat(m, axis=1), *shared


def draw_args(rng, m=2, G=3, N=None, size=1.0, sizes=None):
    """G groups of m heads: m · G is one of the sizes, and the other sizes do not divide it."""
    B, some_N, K, V = sizes or draw_sizes(rng, 4, [one for one in SIZES if one != m * G])
    N = N or some_N
    q, k = np.sqrt(size) * rng.normal(size=(B, m * G, N, K)), np.sqrt(size) * rng.normal(size=(B, G, N, K))
    return q, k, rng.normal(size=(B, G, N, V)), rng.normal(size=(B, m * G, N, V))


def ordinary_cases(rng):
    return [draw_args(rng), draw_args(rng, 3, 2), draw_args(rng, N=1), draw_args(rng, sizes=(6, 6, 6, 6))]


def all_or_one(rng):
    return [draw_args(rng, 1, 5), draw_args(rng, 5, 1), draw_args(rng, 5, 1, N=1)]


def large_cases(rng):
    """Scores that saturate the softmax, that would overflow, and that are all far below any number for −∞."""
    *cases, (q, k, *rest) = (draw_args(rng, size=size) for size in (60.0, 1e3, 1e5))
    return [*cases, (np.abs(q), -np.abs(k), *rest)]


def by_the_values(ask, rng):
    """So that it earns its points whatever the others are: values do not pass through the softmax."""
    arguments = draw_args(rng)
    found = ask(*arguments)
    if slip := shapes_slip(found, [each.shape for each in arguments[:3]], parts=(2,)):
        return slip
    if not close(found[2], reference(*arguments)[2]):
        return "Your gradient for v is not right; the others are not looked at here."
    return None


def gradient_check(ask, rng):
    q, k, v, e = draw_args(rng, 3, 2)
    found = ask(q, k, v, e)
    if slip := shapes_slip(found, (q.shape, k.shape, v.shape)):
        return slip
    return disagreement(lambda *qkv: (e * forward(*qkv)).sum(), ("q", "k", "v"), (q, k, v), found, rng)


def errors_of_one_head(ask, rng):
    """An error at one output of one head reaches its own group alone, and no later source."""
    q, k, v, e = draw_args(rng)
    head, target = 3, 1
    alone = np.zeros_like(e)
    alone[:, head, target] = e[:, head, target]
    found = ask(q, k, v, alone)
    if slip := shapes_slip(found, (q.shape, k.shape, v.shape)):
        return slip
    if close(found[2], 0 * found[2]):
        return "Your gradient for v is 0 everywhere."
    for name, array, own in zip("qkv", found, (head, head // 2, head // 2), strict=True):
        others = np.arange(array.shape[1]) != own
        if not close(array[:, others], 0):
            kind = "heads" if name == "q" else "groups"
            return (
                f"Of 6 heads in 3 groups head {head} (counted from 0) had an error: it reaches other {kind} of d{name}."
            )
        if name != "q" and not close(array[:, :, target + 1 :], 0):
            return f"An error at output {target} (counted from 0) reaches later tokens of your d{name}."
    return None


def group_sizes(q, k, v, e):
    return {"B": q.shape[0], "H": q.shape[1], "N": q.shape[2], "K": q.shape[3], "V": v.shape[3]}


QUESTION = Question(
    id="groups",
    title="Grouped queries",
    name="grouped_backward",
    minutes=18,
    difficulty=2,
    checks=with_battery(
        equals("values", 5, ordinary_cases, reference),
        equals("one group, or one each", 2, all_or_one, reference),
        equals("certain and huge scores", 2, large_cases, reference, atol=1e-07),
        holds("by the values", 3, by_the_values),
        holds("gradient check", 2, gradient_check),
        holds("errors of one head", 2, errors_of_one_head),
        off={"one of each": "the heads come in groups, all of the same size"},
    ),
    hints=(
        "Give every head its own copy of the keys and values of its group, and go back as for ordinary heads. What "
        "has then become of the gradients of the originals?",
        "What is used several times gets the sum of its gradients: the copies of one original stand side by side "
        "on the axis of the heads. Split this axis into groups and members, and add up the members.",
        "`repeat(m, axis=1)` puts copies next to each other, so the axis splits into (G, m), in this order. The mask "
        "is needed for the weights alone.",
    ),
    section=SECTION,
    inputs=Inputs(group_sizes, lambda q, k, v, e: grouped_scores(q, k), alike=("values",)),
    forbids=BACKWARD,
)

right, wrong = answers_to(QUESTION)


@right
def copies_and_sums(q, k, v, e):
    B, H, N, K = q.shape
    G = k.shape[1]
    copies = H // G
    keys, values = np.repeat(k, copies, axis=1), np.repeat(v, copies, axis=1)
    table = np.einsum("bhnk,bhsk->bhns", q, keys) / K**0.5
    table = np.where(np.arange(N)[:, None] >= np.arange(N), table, -np.inf)
    powers = np.exp(table - table.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    pulled = np.einsum("bhnv,bhsv->bhns", e, values)
    push = weights * (pulled - (weights * pulled).sum(axis=-1, keepdims=True)) / K**0.5
    by_keys = np.einsum("bhns,bhnk->bhsk", push, q).reshape(B, G, copies, N, K)
    by_values = np.einsum("bhns,bhnv->bhsv", weights, e).reshape(B, G, copies, N, -1)
    return np.einsum("bhns,bhsk->bhnk", push, keys), by_keys.sum(axis=2), by_values.sum(axis=2)


@right
def head_by_head(q, k, v, e):
    dq, dk, dv = (np.zeros_like(each) for each in (q, k, v))
    members = q.shape[1] // k.shape[1]
    later = np.triu(np.ones(2 * (q.shape[2],), dtype=bool), 1)
    for b, h in np.ndindex(q.shape[:2]):
        g = h // members
        c = q[b, h] @ k[b, g].T / np.sqrt(q.shape[3])
        c[later] = -np.inf
        A = np.exp(c - c.max(axis=1)[:, None])
        A /= A.sum(axis=1)[:, None]
        dc = A * (e[b, h] @ v[b, g].T - ((A @ v[b, g]) * e[b, h]).sum(axis=1)[:, None]) / np.sqrt(q.shape[3])
        dq[b, h] = dc @ k[b, g]
        dk[b, g] += dc.T @ q[b, h]
        dv[b, g] += A.T @ e[b, h]
    return dq, dk, dv


@right
def an_axis_of_groups(q, k, v, e):
    B, _, N, K = q.shape
    asked, errors = (each.reshape(B, k.shape[1], -1, N, each.shape[3]) for each in (q, e))
    c = np.einsum("bgmnk,bgsk->bgmns", asked, k) / np.sqrt(K)
    seen = np.tri(N, dtype=bool)
    A = np.exp(np.where(seen, c - np.where(seen, c, -np.inf).max(axis=-1, keepdims=True), -np.inf))
    A = A / A.sum(axis=-1, keepdims=True)
    dA = np.einsum("bgmnv,bgsv->bgmns", errors, v)
    dc = (A * dA - A * np.einsum("bgmns,bgmns->bgmn", A, dA)[..., None]) / np.sqrt(K)
    dq = np.einsum("bgmns,bgsk->bgmnk", dc, k).reshape(q.shape)
    return dq, np.einsum("bgmns,bgmnk->bgsk", dc, asked), np.einsum("bgmns,bgmnv->bgsv", A, errors)


wrong.edits("""
# copies_and_sums
## averaged: You average over the heads of a group; what is used several times gets the sum.
- return np.einsum("bhns,bhsk->bhnk", push, keys), by_keys.sum(axis=2), by_values.sum(axis=2)
+ return np.einsum("bhns,bhsk->bhnk", push, keys), by_keys.mean(axis=2), by_values.mean(axis=2)
## first_member: You hand on only the first head of each group; add up all of them.
+ return np.einsum("bhns,bhsk->bhnk", push, keys), by_keys[:, :, 0], by_values[:, :, 0]
## last_member: The heads of a group overwrite each other: only the last one is left.
+ return np.einsum("bhns,bhsk->bhnk", push, keys), by_keys[:, :, -1], by_values[:, :, -1]
## axis_split_the_other_way: You split the heads' axis as (members, groups); neighbours belong to one group.
- by_keys = np.einsum("bhns,bhnk->bhsk", push, q).reshape(B, G, copies, N, K)
- by_values = np.einsum("bhns,bhnv->bhsv", weights, e).reshape(B, G, copies, N, -1)
- return np.einsum("bhns,bhsk->bhnk", push, keys), by_keys.sum(axis=2), by_values.sum(axis=2)
+ by_keys = np.einsum("bhns,bhnk->bhsk", push, q).reshape(B, copies, G, N, K)
+ by_values = np.einsum("bhns,bhnv->bhsv", weights, e).reshape(B, copies, G, N, -1)
+ return np.einsum("bhns,bhsk->bhnk", push, keys), by_keys.sum(axis=1), by_values.sum(axis=1)
## groups_in_turn [in-rows]: Your heads take groups in turn; neighbours share one.
- keys, values = np.repeat(k, copies, axis=1), np.repeat(v, copies, axis=1)
+ keys, values = np.tile(k, (1, copies, 1, 1)), np.tile(v, (1, copies, 1, 1))
## values_not_added: You average the gradient for v; sum it, as for k.
- return np.einsum("bhns,bhsk->bhnk", push, keys), by_keys.sum(axis=2), by_values.sum(axis=2)
+ return np.einsum("bhns,bhsk->bhnk", push, keys), by_keys.sum(axis=2), by_values.mean(axis=2)
## queries_added_too: You add up a group's gradients for q, too; each head has its own.
+ dq = np.einsum("bhns,bhsk->bhnk", push, keys).reshape(B, G, copies, N, K).sum(axis=2)
+ return np.repeat(dq, copies, axis=1), by_keys.sum(axis=2), by_values.sum(axis=2)
## no_mask [the-mask-and-two-free-tests]: Later sources are not hidden.
- table = np.where(np.arange(N)[:, None] >= np.arange(N), table, -np.inf)
+ pass
## wrong_triangle [the-mask-and-two-free-tests]: The mask is turned round: a target sees itself and later sources.
+ table = np.where(np.arange(N)[:, None] <= np.arange(N), table, -np.inf)
## ten_thousand_for_infinity [the-mask-and-two-free-tests]: Your hidden scores are −10 000, and one in sight can be as
low: only −∞ is below all of them.
+ table = np.where(np.arange(N)[:, None] >= np.arange(N), table, -1e4)
## second_term_missing [step-2-back-through-the-softmax]: The second term of the softmax's derivative is missing.
- push = weights * (pulled - (weights * pulled).sum(axis=-1, keepdims=True)) / K**0.5
+ push = weights * pulled / K**0.5
## over_the_targets [step-2-back-through-the-softmax]: Your average runs over the targets, not the sources.
+ push = weights * (pulled - (weights * pulled).sum(axis=-2, keepdims=True)) / K**0.5
## unscaled_back [step-3-from-scores-to-queries-and-keys]: The factor 1/√K is missing on the way back.
+ push = weights * (pulled - (weights * pulled).sum(axis=-1, keepdims=True))
## scaled_by_all_heads [step-3-from-scores-to-queries-and-keys]: You divide by the root of the width of all heads
together; use that of one head.
+ push = weights * (pulled - (weights * pulled).sum(axis=-1, keepdims=True)) / (H * K) ** 0.5
## transpose_forgotten [step-3-from-scores-to-queries-and-keys]: In your gradient for the keys the scores' targets and
sources are swapped.
- by_keys = np.einsum("bhns,bhnk->bhsk", push, q).reshape(B, G, copies, N, K)
+ by_keys = np.einsum("bhns,bhsk->bhnk", push, q).reshape(B, G, copies, N, K)
## overflow: Your exponentials overflow: subtract the largest score of each target first.
- powers = np.exp(table - table.max(axis=-1, keepdims=True))
- weights = powers / powers.sum(axis=-1, keepdims=True)
+ with np.errstate(over="ignore", invalid="ignore"):
+     powers = np.exp(table)
+     weights = powers / powers.sum(axis=-1, keepdims=True)
## one_copy_for_all: You give each head's copy its own gradient; add them up in each group.
- return np.einsum("bhns,bhsk->bhnk", push, keys), by_keys.sum(axis=2), by_values.sum(axis=2)
+ by_keys, by_values = (each.reshape(B, H, N, -1) for each in (by_keys, by_values))
+ return np.einsum("bhns,bhsk->bhnk", push, keys), by_keys, by_values
# head_by_head
## in_turn_throughout [in-rows]: Your head h belongs to group h mod G, there and back; neighbours share a group.
- g = h // members
+ g = h % k.shape[1]
""")
