"""Exercise 11, question align: who translates whom."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.cases import draw_sizes

from .shared import near, tuple_slip


def align_reference(maps, links, n_choose):
    def mean_on_links(h, some):
        return np.mean([maps[m][h, n, s] for m in some for n, s in links[m]])

    first, rest = range(n_choose), range(n_choose, len(maps))
    head = max(range(maps[0].shape[0]), key=lambda h: mean_on_links(h, first))
    shares = []
    for m in rest:
        most = [int(np.argmax(row)) for row in maps[m][head]]
        pairs = [(i, j) for j in range(len(most)) for i in range(j)]
        shares.append(sum(most[i] > most[j] for i, j in pairs) / len(pairs) if pairs else 0.0)
    return head, float(mean_on_links(head, rest)), float(np.mean(shares))


def draw_sentence(rng, H, good, lengths=None, pull=3.0):
    """Maps of one sentence: head `good` leans towards the links, the others follow places of their own."""
    N, S = lengths or draw_sizes(rng, 2)
    n_links = int(rng.integers(1, min(N, S) + 1))
    words, sources = (rng.permutation(size)[:n_links] for size in (N, S))
    scores = rng.normal(size=(H, N, S))
    scores[good, words, sources] += pull
    weights = np.exp(scores)
    return weights / weights.sum(axis=2, keepdims=True), np.stack([words, sources], axis=1)


def draw_maps(rng, n_choose=None, lengths=None):
    """Sentences of different lengths; in the reporting ones another head may be the better."""
    (H,), (M,) = draw_sizes(rng, 1, (4, 5, 6)), draw_sizes(rng, 1, (7, 8))
    good, better_later = rng.permutation(H)[:2]
    n_choose = n_choose or int(rng.integers(2, M - 1))
    found = [draw_sentence(rng, H, good if m < n_choose else better_later, (lengths or {}).get(m)) for m in range(M)]
    maps, links = map(list, zip(*found, strict=True))
    return maps, links, n_choose


def on_the_diagonal(weights):
    """Maps whose H heads give these weights (H×P) to the links (0, 0), (1, 1) and so on, and the rest to all alike."""
    n = np.arange(weights.shape[1])
    A = np.repeat((1 - weights)[:, :, None] / len(n), len(n) + 1, axis=2)
    A[:, n, n] = weights
    return A, np.stack([n, n], axis=1)


def one_link_and_five(rng):
    """The best head over all links is neither the best in the mean over the sentences nor by its median."""
    maps, links, _ = draw_maps(rng)
    H = len(maps[0])
    heads, one, five = rng.permutation(H)[:3], np.zeros((H, 1)), np.zeros((H, 5))
    one[heads, 0], five[heads] = (0.9, 0.1, 0.0), [[0.2] * 5, [1.0, 1.0, 0.0, 0.0, 0.0], [0.3] * 5]
    maps[:-2], links[:-2] = zip(*map(on_the_diagonal, (one, five)), strict=True)
    return maps, links, 2


def short_sentences(rng):
    return [draw_maps(rng, 3, lengths={4: (1, 4), 3: (4, 1)}), draw_maps(rng, n_choose=1), one_link_and_five(rng)]


REPORT = ("the head", "the score", "the crossing")


def report_slip(came):
    if slip := tuple_slip(came, REPORT):
        return slip
    head, score, crossing = came
    if isinstance(head, bool) or not isinstance(head, int | np.integer):
        return "The head should be a whole number."
    return (
        None
        if all(isinstance(x, float | np.floating) for x in (score, crossing))
        else "Score and crossing should be numbers."
    )


def heads_in_another_order(ask, rng):
    maps, links, n_choose = draw_maps(rng)
    before = ask(maps, links, n_choose)
    if slip := report_slip(before):
        return slip
    order = np.roll(np.arange(len(maps[0])), 2)
    after = ask([A[order] for A in maps], links, n_choose)
    if slip := report_slip(after):
        return slip
    if not 0 <= after[0] < len(order) or order[after[0]] != before[0]:
        return "When the heads come in another order, the same head must be found in its new place; yours is another."
    if not near(np.array(after[1:]), np.array(before[1:])):
        return "When the heads come in another order, score and crossing must stay as they are; yours change."
    return None


def choosing_and_reporting(ask, rng):
    maps, links, n_choose = draw_maps(rng)
    before = ask(maps, links, n_choose)
    if slip := report_slip(before):
        return slip
    mirrored = [A if m < n_choose else A[::-1].copy() for m, A in enumerate(maps)]
    after = ask(mirrored, links, n_choose)
    if slip := report_slip(after):
        return slip
    if after[0] != before[0]:
        return "The reporting sentences were changed, and with them the head that you choose."
    order = [*range(n_choose)][::-1] + [*range(n_choose, len(maps))][::-1]
    turned = ask([maps[m] for m in order], [links[m] for m in order], n_choose)
    if slip := report_slip(turned):
        return slip
    if turned[0] != before[0] or not near(np.array(turned[1:]), np.array(before[1:])):
        return "The order of the sentences within each group must not matter, but with another one your results change."
    return None


QUESTION = Question(
    id="align",
    title="Who translates whom",
    name="aligning_head",
    minutes=20,
    difficulty=2,
    checks=(
        equals("values", 5, lambda rng: [draw_maps(rng) for _ in range(2)], align_reference),
        equals("short sentences", 3, short_sentences, align_reference),
        holds("heads in another order", 3, heads_in_another_order),
        holds("choosing and reporting", 3, choosing_and_reporting),
    ),
    hints=(
        "Take one sentence, one head and one link, and say which entry of which array it means. Then let the "
        "head be all heads.",
        "The means run over links, not over sentences: gather the weights of all links of a group first.",
        "For the crossing, find for each row the source that it looks at most, and compare each row with "
        "every later one. How many such pairs are there?",
    ),
    section="who-looks-at-whom",
    inputs=Inputs(no_sizes="each sentence has lengths of its own"),
)

right, wrong = answers_to(QUESTION)


@right
def gathered(maps, links, n_choose):
    weights = [[A[:, n, s] for n, s in link] for A, link in zip(maps, links, strict=True)]
    choosing = np.array([line for found in weights[:n_choose] for line in found])
    reporting = np.array([line for found in weights[n_choose:] for line in found])
    head = int(np.argmax(choosing.mean(axis=0)))
    shares = []
    for A in maps[n_choose:]:
        a = np.argmax(A[head], axis=-1)
        i, j = np.triu_indices(len(a), 1)
        shares.append((a[i] > a[j]).mean() if len(a) > 1 else 0.0)
    return head, float(reporting[:, head].mean()), float(np.mean(shares))


@right
def sums_and_counts(maps, links, n_choose):
    H = len(maps[0])
    sums, counts, crossed = np.zeros((2, H)), np.zeros(2), []
    for m, (A, link) in enumerate(zip(maps, links, strict=True)):
        group = int(m >= n_choose)
        for n, s in link:
            sums[group] += A[:, n, s]
            counts[group] += 1
    head = int(sums[0].argmax())
    for A in maps[n_choose:]:
        a = [int(row.argmax()) for row in A[head]]
        found = [earlier > later for j, later in enumerate(a) for earlier in a[:j]]
        crossed.append(sum(found) / len(found) if found else 0.0)
    return head, float(sums[1, head] / counts[1]), sum(crossed) / len(crossed)


@right
def by_tables(maps, links, n_choose):
    def share(A):
        a = A.argmax(axis=1)
        N = len(a)
        above = np.triu(a[:, None] > a[None, :], k=1)
        return above.sum() / max(1, N * (N - 1) / 2)

    def means(some):
        table = np.hstack([maps[m][:, links[m][:, 0], links[m][:, 1]] for m in some])
        return table.mean(axis=1)

    groups = range(n_choose), range(n_choose, len(maps))
    head = int(means(groups[0]).argmax())
    return head, float(means(groups[1])[head]), float(np.mean([share(maps[m][head]) for m in groups[1]]))


@right
def as_often_written(maps, links, n_choose):
    def on_links(some_maps, some_links):
        found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
        return np.concatenate(found, axis=1).mean(axis=1)

    def crossing(A):
        most = A.argmax(axis=1)
        later, earlier = np.tril_indices(len(most), k=-1)
        return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0

    head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
    rest = maps[n_choose:]
    score = on_links(rest, links[n_choose:])[head]
    return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))


wrong.edits("""
# as_often_written
## whole_table_of_links: You take the weights of all rows in the links at all columns in the links, not of each link.
- found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
+ both = zip(some_maps, some_links, strict=True)
+ found = [A[:, link[:, 0]][:, :, link[:, 1]].reshape(len(A), -1) for A, link in both]
## hits_counted: You count how often a head looks most at the right source; its weight there is asked for.
- found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
+ both = zip(some_maps, some_links, strict=True)
+ found = [(A.argmax(axis=2)[:, link[:, 0]] == link[:, 1]).astype(float) for A, link in both]
## only_links_cross [the-reordering]: You look for crossings among the links alone; all pairs of rows count.
- return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))
+ both = zip(rest, links[n_choose:], strict=True)
+ return head, float(score), float(np.mean([crossing(A[head][np.sort(link[:, 0])]) for A, link in both]))
## order_of_the_links [the-reordering]: You compare the rows of the links, in the order in which the links come; all
rows count, in their own order.
- return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))
+ both = zip(rest, links[n_choose:], strict=True)
+ return head, float(score), float(np.mean([crossing(A[head][link[:, 0]]) for A, link in both]))
## chosen_on_all: The head is chosen on all sentences; those that report must have no part in it.
- head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
+ head = int(on_links(maps, links).argmax())
## chosen_by_sentences: To choose, you average in each sentence first; all links of the choosing sentences count alike.
- head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
+ head = int(sum(on_links([A], [link]) for A, link in zip(maps[:n_choose], links, strict=False)).argmax())
## chosen_where_reported: The head is chosen on the sentences that report, where it then looks better than it is.
- head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
+ head = int(on_links(maps[n_choose:], links[n_choose:]).argmax())
## reported_where_chosen: The score is that of the choosing sentences; the others report.
- score = on_links(rest, links[n_choose:])[head]
+ score = on_links(maps[:n_choose], links[:n_choose])[head]
## score_of_all: Your score is a mean over all sentences; only the reporting ones count.
- score = on_links(rest, links[n_choose:])[head]
+ score = on_links(maps, links)[head]
## crossing_of_all [the-reordering]: Your crossing is a mean over all sentences; only the reporting ones count.
- return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))
+ return head, float(score), float(np.mean([crossing(A[head]) for A in maps]))
## best_score_of_all_heads: The score is the best of all heads on the reporting sentences; it belongs to the head that
was chosen.
- score = on_links(rest, links[n_choose:])[head]
+ score = on_links(rest, links[n_choose:]).max()
## means_of_sentences: You average in each sentence and then over the sentences; every link counts alike.
- return np.concatenate(found, axis=1).mean(axis=1)
+ return np.mean([weights.mean(axis=1) for weights in found], axis=0)
## sums_of_links: Your score is a sum over the links; a mean is asked for.
- return np.concatenate(found, axis=1).mean(axis=1)
+ return np.concatenate(found, axis=1).sum(axis=1)
## links_reversed: You read a link the wrong way round: first the written word, then the source.
- found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
+ found = [A[:, link[:, 1], link[:, 0]] for A, link in zip(some_maps, some_links, strict=True)]
## one_row_late [common-mistakes]: You look one row further down: word 0 is written at the place of the start token,
which is row 0.
- found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
+ found = [A[:, (link[:, 0] + 1) % A.shape[1], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
## one_row_late_and_out [common-mistakes]: You look one row further down, beyond the last one: word 0 is written at the
place of the start token, which is row 0.
- found = [A[:, link[:, 0], link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
+ found = [A[:, link[:, 0] + 1, link[:, 1]] for A, link in zip(some_maps, some_links, strict=True)]
## largest_weight: You take a head's largest weight on a link; its mean weight is asked for.
- return np.concatenate(found, axis=1).mean(axis=1)
+ return np.concatenate(found, axis=1).max(axis=1)
## head_counted_from_one: Your heads are counted from 1; they are counted from 0.
- return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))
+ return head + 1, float(score), float(np.mean([crossing(A[head]) for A in rest]))
## heads_averaged: You average over the heads; one of them is to be found.
- score = on_links(rest, links[n_choose:])[head]
+ score = on_links(rest, links[n_choose:]).mean()
## wrong_axis_for_most [the-reordering]: You ask which row looks most at a source; for each row the source is wanted
that it looks at most.
- most = A.argmax(axis=1)
+ most = A.argmax(axis=0)
## same_source_crosses [the-reordering]: Rows that look most at the same source cross for you; they do not.
- return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0
+ return np.mean(most[earlier] >= most[later]) if len(most) > 1 else 0.0
## straight_ones_counted [the-reordering]: You count the pairs that do not cross: the earlier row looks at the earlier
source.
- return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0
+ return np.mean(most[earlier] < most[later]) if len(most) > 1 else 0.0
## neighbours_only [the-reordering]: You compare each row with the next one only; all pairs count.
- later, earlier = np.tril_indices(len(most), k=-1)
+ earlier, later = np.arange(len(most) - 1), np.arange(1, len(most))
## divided_by_all_pairs [the-reordering]: You divide by N², or N(N − 1), as if each pair were there twice; there are N(N
− 1)/2 pairs.
- return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0
+ return np.sum(most[earlier] > most[later]) / (len(most) * (len(most) - 1)) if len(most) > 1 else 0.0
## divided_by_square [the-reordering]: You divide the crossing pairs by N²; there are N(N − 1)/2 pairs.
- return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0
+ return np.sum(most[earlier] > most[later]) / len(most) ** 2 if len(most) > 1 else 0.0
## pairs_over_sentences [the-reordering]: You divide all crossing pairs by all pairs of all sentences; the mean runs
over the sentences' shares.
- return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0
+ return np.sum(most[earlier] > most[later]), len(later)
- return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))
+ return head, float(score), float(np.divide(*np.sum([crossing(A[head]) for A in rest], axis=0)))
## single_rows_left_out [the-reordering]: Sentences with one row are left out of your mean; their share is 0, and they
count.
- return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))
+ return head, float(score), float(np.mean([crossing(A[head]) for A in rest if A.shape[1] > 1]))
## nothing_for_single_rows [the-reordering]: For a sentence with one row you take the mean of nothing.
- return np.mean(most[earlier] > most[later]) if len(most) > 1 else 0.0
+ return np.mean(most[earlier] > most[later])
## crossing_of_all_heads [the-reordering]: The crossing is averaged over all heads; it belongs to the one that was
chosen.
- return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))
+ return head, float(score), float(np.mean([crossing(one) for A in rest for one in A]))
## crossing_of_the_mean_map [the-reordering]: You average the maps of all heads and look at the crossing of that; it
belongs to the chosen head.
- return head, float(score), float(np.mean([crossing(A[head]) for A in rest]))
+ return head, float(score), float(np.mean([crossing(A.mean(axis=0)) for A in rest]))
## worst_head: You choose the head with the smallest weight on the links.
- head = int(on_links(maps[:n_choose], links[:n_choose]).argmax())
+ head = int(on_links(maps[:n_choose], links[:n_choose]).argmin())
## neighbours_and_all [the-reordering]: You compare each row with the next one only, and your score is a mean over all
sentences.
- later, earlier = np.tril_indices(len(most), k=-1)
+ earlier, later = np.arange(len(most) - 1), np.arange(1, len(most))
- score = on_links(rest, links[n_choose:])[head]
+ score = on_links(maps, links)[head]
""")
