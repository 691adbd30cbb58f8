"""Exercise 14, question paged: Stretch: a cache in pages."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import close, draw_sizes, shape_slip
from clearformer.reference import attention

from .shared import LIMIT


def paged_attend(Q, pool_K, pool_V, tables, lengths):
    heads, groups = Q.shape[1], pool_K.shape[1]
    Y = np.zeros((len(Q), heads, pool_V.shape[2]))
    for i, (table, length) in enumerate(zip(tables, lengths, strict=True)):
        K, V = (np.concatenate(list(pool[table]), axis=2)[:, :, :length] for pool in (pool_K, pool_V))
        for h in range(heads):
            g = h // (heads // groups)
            Y[i, h] = attention.attend(Q[i, h][:, None], K[g], V[g])[0][:, 0]
    return Y


def draw_pool(rng, groups, share, scale=1.0, shared=False, full=False, sequences=None, old=False, endless=False):
    """A pool of pages in which sequences lie scattered; unused places hold NaN, numbers of old, or infinity."""
    K, V, R = draw_sizes(rng, 3, (4, 5, 7, 9))
    B = sequences or 3
    lengths = [int(rng.integers(1, 3)) * R + (0 if full else int(rng.integers(1, R))) for _ in range(B)]
    if not full:
        lengths[0] = int(rng.integers(1, R))
    wanted = [-(-length // R) for length in lengths]
    pages = rng.permutation(sum(wanted) + 2).tolist()
    tables = []
    for n_pages in wanted:
        tables.append([pages.pop() for _ in range(n_pages)])
    pool_K, pool_V = (np.full((sum(wanted) + 2, groups, size, R), np.nan) for size in (K, V))
    if shared:  # the last sequence begins with the page of the one before
        tables[-1][0], lengths[-2] = tables[-2][0], max(lengths[-2], R)
    for table, length in zip(tables, lengths, strict=True):
        for place, page in enumerate(table):
            filled = min(R, length - place * R)
            for pool, factor in ((pool_K, scale), (pool_V, 1e7 if full else 1.0)):
                new = np.isnan(pool[page, 0, 0, :filled])
                drawn = factor * rng.normal(size=(groups, pool.shape[2], filled))
                pool[page, :, :, :filled] = np.where(new, drawn, pool[page, :, :, :filled])
    if old:
        for pool in (pool_K, pool_V):
            pool[:] = np.where(np.isnan(pool), rng.normal(size=pool.shape), pool)
    if endless:
        for pool in (pool_K, pool_V):
            pool[:] = np.where(np.isnan(pool), rng.choice([-np.inf, np.inf], size=pool.shape), pool)
    return rng.normal(size=(B, groups * share, K)), pool_K, pool_V, tables, lengths


def own_heads(rng):
    return [
        draw_pool(rng, 1, 1, old=True),
        draw_pool(rng, 3, 1),
        draw_pool(rng, 2, 1, full=True),
        draw_pool(rng, 2, 1, endless=True),
    ]


def shared_keys(rng):
    return [draw_pool(rng, 2, 3, old=True), draw_pool(rng, 3, 2), draw_pool(rng, 1, 4, sequences=1)]


def shared_pages(rng):
    return [draw_pool(rng, 2, 2, shared=True, old=True), draw_pool(rng, 1, 3, shared=True)]


def strong_keys(rng):
    """In one all scores are far below 0, in another they are far above it where nothing is in use."""
    Q, pool_K, *low = draw_pool(rng, 2, 3)
    Q_too, pool_K_too, *old = draw_pool(rng, 3, 2)
    others = (
        (1 + np.abs(Q), np.where(np.isnan(pool_K), 0.0, -1e4 * (1 + np.abs(pool_K))), *low),
        (1 + np.abs(Q_too), np.where(np.isnan(pool_K_too), 9e4, pool_K_too), *old),
    )
    return [*(draw_pool(rng, 2, 3, scale, old=True) for scale in (60.0, 1e4)), *others]


def moving_house(ask, rng):
    """The pages may lie anywhere in the pool."""
    Q, pool_K, pool_V, tables, lengths = draw_pool(rng, 2, 2, old=True)
    found = ask(Q, pool_K, pool_V, tables, lengths)
    if slip := shape_slip(found, (len(Q), Q.shape[1], pool_V.shape[2])):
        return slip
    new = rng.permutation(len(pool_K))
    order = np.argsort(new)
    moved = [[int(new[page]) for page in table] for table in tables]
    if not close(ask(Q, pool_K[order], pool_V[order], moved, lengths), found, LIMIT):
        return "When the pages move to other places of the pool, and the tables with them, your outputs change."
    other_way = list(reversed(range(len(Q))))
    turned = ask(Q[other_way], pool_K, pool_V, [tables[i] for i in other_way], [lengths[i] for i in other_way])
    if not close(turned, found[other_way], LIMIT):
        return "With the sequences in another order, their outputs should be the same in that order; yours are not."
    return None


def scores_of_pages(Q, pool_K, pool_V, tables, lengths):
    """Each query with each key of its own group in the pool; places that hold nothing are left out."""
    share = Q.shape[1] // pool_K.shape[1]
    table = np.einsum("bghk,pgkr->bghpr", Q.reshape(len(Q), -1, share, Q.shape[2]), pool_K) / np.sqrt(Q.shape[2])
    return table[np.isfinite(table)]


QUESTION = Question(
    id="paged",
    title="Stretch: a cache in pages",
    name="paged_attend",
    minutes=25,
    difficulty=3,
    checks=with_battery(
        equals("heads with keys of their own", 3, own_heads, paged_attend),
        equals("shared keys", 3, shared_keys, paged_attend),
        equals("shared pages", 3, shared_pages, paged_attend),
        equals("strong keys", 2, strong_keys, paged_attend),
        holds("moving house", 3, moving_house),
        more={"extremes": in_cases_of("heads with keys of their own")},
        off=dict.fromkeys(("one of each", "odd sizes"), "the tables and the lengths belong to the size of a page"),
    ),
    hints=(
        "Take one sequence and one head. Which pages belong to it, in which order, and how many places of the "
        "last one are in use?",
        "Lay the pages of a sequence side by side, along the axis of the tokens, and cut off what lies beyond "
        "its length, before any number is used. Nothing times NaN is 0.",
        "The H heads come in G groups of neighbours: the first H / G heads use group 0. Find the group of head "
        "h with a whole-number division, and check it with three heads in each of two groups.",
    ),
    section="a-cache-in-pages-paged-attention",
    inputs=Inputs(
        lambda Q, pool_K, pool_V, *rest: {"K": Q.shape[2], "V": pool_V.shape[2], "R": pool_V.shape[3]}, scores_of_pages
    ),
)

right, wrong = answers_to(QUESTION)


@right
def pages_side_by_side(Q, pool_K, pool_V, tables, lengths):
    B, H, width = Q.shape
    outputs = []
    for i in range(B):
        K = np.concatenate([pool_K[page] for page in tables[i]], axis=2)[:, :, : lengths[i]]
        V = np.concatenate([pool_V[page] for page in tables[i]], axis=2)[:, :, : lengths[i]]
        K, V = K.repeat(H // len(K), axis=0), V.repeat(H // len(V), axis=0)
        C = np.einsum("hks,hk->hs", K, Q[i]) / np.sqrt(width)
        E = np.exp(C - C.max(axis=1, keepdims=True))
        outputs.append(np.einsum("hvs,hs->hv", V, E / E.sum(axis=1, keepdims=True)))
    return np.stack(outputs)


@right
def page_after_page(Q, pool_K, pool_V, tables, lengths):
    (B, H, width), (_, G, V, R) = Q.shape, pool_V.shape
    result = np.empty((B, H, V))
    for i in range(B):
        for h in range(H):
            g = h * G // H
            m, total, product = -np.inf, 0.0, np.zeros(V)
            for place, page in enumerate(tables[i]):
                used = min(R, lengths[i] - place * R)
                c = Q[i, h] @ pool_K[page, g, :, :used] / np.sqrt(width)
                higher = max(m, c.max())
                e, shrink = np.exp(c - higher), np.exp(m - higher)
                product = shrink * product + pool_V[page, g, :, :used] @ e
                m, total = higher, shrink * total + e.sum()
            result[i, h] = product / total
    return result


@right
def token_by_token_in_pages(Q, pool_K, pool_V, tables, lengths):
    R, share = pool_K.shape[-1], Q.shape[1] // pool_K.shape[1]
    result = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i, (table, length) in enumerate(zip(tables, lengths, strict=True)):
        where = [(table[s // R], s % R) for s in range(length)]
        for h in range(Q.shape[1]):
            scores = [Q[i, h] @ pool_K[page, h // share, :, r] / Q.shape[2] ** 0.5 for page, r in where]
            weights = np.exp(np.array(scores) - max(scores))
            for w, (page, r) in zip(weights / weights.sum(), where, strict=True):
                result[i, h] += w * pool_V[page, h // share, :, r]
    return result


@right
def as_often_written(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i], slice(0, lengths[i])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@right
def as_often_written_too(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i, h in np.ndindex(*Q.shape[:2]):
        K, V = (
            np.concatenate([pool[page, h // share] for page in tables[i]], axis=1)[:, : lengths[i]]
            for pool in (pool_K, pool_V)
        )
        scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
        scores[lengths[i] :] = -np.inf
        e = np.exp(scores - scores.max())
        outputs[i, h] = V @ e / e.sum()
    return outputs


wrong.edits("""
# page_after_page
## mean_of_the_pages [merging-is-attention]: You average the outputs of the pages as if all pages weighed the same.
- higher = max(m, c.max())
+ higher = c.max()
- product = shrink * product + pool_V[page, g, :, :used] @ e
- m, total = higher, shrink * total + e.sum()
+ product = product + pool_V[page, g, :, :used] @ e / e.sum()
+ m, total = higher, total + 1
## never_shrunk [merging-is-attention]: The sums of the pages before are not shrunk when a page has a larger score.
- product = shrink * product + pool_V[page, g, :, :used] @ e
- m, total = higher, shrink * total + e.sum()
+ product = product + pool_V[page, g, :, :used] @ e
+ m, total = higher, total + e.sum()
# as_often_written
## largest_from_zero: Your largest score is never below 0; where all scores are, every exponential vanishes.
- e = np.exp(scores - scores.max())
+ e = np.exp(scores - max(scores.max(), 0))
## whole_pages: You use the whole last page, with places in it that hold nothing yet.
- own, seen = tables[i], slice(0, lengths[i])
+ own = tables[i]
+ seen = slice(0, len(own) * pool_K.shape[3])
## nothing_as_zero: You replace NaN by 0 and let the empty places take part; a score of 0 has a weight.
  def as_often_written(Q, pool_K, pool_V, tables, lengths):
+     pool_K, pool_V = np.nan_to_num(pool_K), np.nan_to_num(pool_V)
- own, seen = tables[i], slice(0, lengths[i])
+ own = tables[i]
+ seen = slice(0, len(own) * pool_K.shape[3])
## full_pages_only: You leave out the last page where it is partly filled, and with it the newest tokens.
  def as_often_written(Q, pool_K, pool_V, tables, lengths):
+     R = pool_K.shape[3]
- own, seen = tables[i], slice(0, lengths[i])
+ own, seen = tables[i], slice(0, max(lengths[i] // R * R, min(R, lengths[i])))
## first_pages: You take pages of the pool from the front, one by one; the table says which belong to a sequence.
- own, seen = tables[i], slice(0, lengths[i])
+ own, seen = range(len(tables[i])), slice(0, lengths[i])
## sorted_pages: You sort the pages by their numbers; their order in the table is that of the text, and the last is not
full.
+ own, seen = sorted(tables[i]), slice(0, lengths[i])
## first_table: Every sequence reads the table of the first one.
  def as_often_written(Q, pool_K, pool_V, tables, lengths):
+     R = pool_K.shape[3]
- own, seen = tables[i], slice(0, lengths[i])
+ own, seen = tables[0], slice(0, max(1, min(lengths[i], len(tables[0]) * R)))
## first_length: Every sequence gets the length of the first one.
- own, seen = tables[i], slice(0, lengths[i])
+ own, seen = tables[i], slice(0, lengths[0])
## last_page_alone: You read only the last page of each sequence.
  def as_often_written(Q, pool_K, pool_V, tables, lengths):
+     R = pool_K.shape[3]
- own, seen = tables[i], slice(0, lengths[i])
+ own, seen = tables[i][-1:], slice(0, lengths[i] - (len(tables[i]) - 1) * R)
## newest_left_out: The newest token is missing: it is stored already and counted in the length.
- own, seen = tables[i], slice(0, lengths[i])
+ own, seen = tables[i], slice(0, max(1, lengths[i] - 1))
## heads_in_turn: You deal the heads out in turn; neighbours should share a group, h // (H/G).
- np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
+ np.concatenate([pool[page, h % pool_K.shape[1]] for page in own], axis=1)[:, seen]
+ for pool in (pool_K, pool_V)
## first_group: All heads use the first group.
- K, V = (
-     np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
- )
+ K, V = (np.concatenate([pool[page, 0] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V))
## groups_run_out: You give the first heads a group each, and all others the last group.
- np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
+ np.concatenate([pool[page, min(h, pool_K.shape[1] - 1)] for page in own], axis=1)[:, seen]
+ for pool in (pool_K, pool_V)
## no_scale: The scores lack their division by the root of K.
- scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
+ scores = Q[i, h] @ K
## scaled_by_the_page: You divide the scores by the root of the page size; keys have K entries.
+ scores = Q[i, h] @ K / np.sqrt(pool_K.shape[3])
## scaled_by_the_values: You divide the scores by the root of the width of the values; it is that of the keys.
+ scores = Q[i, h] @ K / np.sqrt(len(V))
## overflowing [one-pass-is-enough-the-online-softmax]: You subtract no maximum, and large scores overflow.
- e = np.exp(scores - scores.max())
+ e = np.exp(scores)
## divided_by_the_groups: You divide the number of the head by the number of groups; a group has H/G heads, and that is
the divisor.
- share = Q.shape[1] // pool_K.shape[1]
...
- np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
+ np.concatenate([pool[page, h // pool_K.shape[1]] for page in own], axis=1)[:, seen]
+ for pool in (pool_K, pool_V)
## full_page_lost: You take length mod R places of the last page, which is none where the page is full.
  def as_often_written(Q, pool_K, pool_V, tables, lengths):
+     R = pool_K.shape[3]
- own, seen = tables[i], slice(0, lengths[i])
+ own, seen = tables[i], slice(0, max(1, (len(tables[i]) - 1) * R + lengths[i] % R))
## reversed_pages: You read the pages of a sequence in reverse order, and cut the end off the wrong one.
- own, seen = tables[i], slice(0, lengths[i])
+ own, seen = tables[i][::-1], slice(0, lengths[i])
## groups_poured_out: You pour the pages out by a reshape, groups and all; first move the axis of pages to the tokens.
- K, V = (
-     np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
- )
+ K, V = (p[own].reshape(*p.shape[1:3], -1)[h // share][:, seen] for p in (pool_K, pool_V))
# as_often_written_too
## pages_poured_out: A reshape pours the pages out in the order of memory; the pages' axis must move beside the tokens.
- np.concatenate([pool[page, h // share] for page in tables[i]], axis=1)[:, : lengths[i]]
+ pool[tables[i]][:, h // share].reshape(pool.shape[2], -1)[:, : lengths[i]]
## hidden_by_weight_zero: A weight of 0 does not remove what a place holds: 0 times NaN is NaN. Cut before you multiply.
- np.concatenate([pool[page, h // share] for page in tables[i]], axis=1)[:, : lengths[i]]
+ np.concatenate([pool[page, h // share] for page in tables[i]], axis=1)
- scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
+ scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
+ scores[lengths[i] :] = -np.inf
## cleaned_of_nan_alone: You replace NaN, and multiply the rest by 0; a place may hold infinity, too. Cut before you
multiply.
- np.concatenate([pool[page, h // share] for page in tables[i]], axis=1)[:, : lengths[i]]
+ np.nan_to_num(np.concatenate([pool[page, h // share] for page in tables[i]], axis=1), posinf=np.inf, neginf=-np.inf)
## largest_of_all_places: The largest score that you subtract may stand in a place that is not in use.
- np.concatenate([pool[page, h // share] for page in tables[i]], axis=1)[:, : lengths[i]]
+ np.nan_to_num(np.concatenate([pool[page, h // share] for page in tables[i]], axis=1))
- scores[lengths[i] :] = -np.inf
- e = np.exp(scores - scores.max())
+ e = np.exp(scores - scores.max()) * (np.arange(len(scores)) < lengths[i])
## scaled_by_the_whole_width: You divide the scores by K, and not by its root.
- scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
- scores[lengths[i] :] = -np.inf
+ scores = Q[i, h] @ K / Q.shape[2]
## not_normalised: You do not divide by the sum of the exponentials.
- scores[lengths[i] :] = -np.inf
- e = np.exp(scores - scores.max())
- outputs[i, h] = V @ e / e.sum()
+ outputs[i, h] = V @ np.exp(scores - scores.max())
""")
