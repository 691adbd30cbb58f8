"""Exercise 09, question induction: a score for any text."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import CLOSE, close, shape_slip

from .shared import draw_sizes


def induction_reference(A, ids):
    """Over all pairs of a token and an earlier one, by hand."""
    H, N = A.shape[0], len(ids)
    totals, chance, targets = np.zeros(H), 0.0, 0
    for n in range(N):
        followers = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if followers:
            targets += 1
            chance += len(followers) / (n + 1)
            for s in followers:
                totals += A[:, n, s]
    if targets == 0:
        return totals, 0.0
    return totals / targets, chance / targets


def draw_weights(rng, H, N):
    """Rows that sum to 1, with nothing above the diagonal: a target n looks at the sources 0 to n."""
    scores = np.where(np.tri(N, dtype=bool), 1.5 * rng.normal(size=(H, N, N)), -np.inf)
    powers = np.exp(scores)
    return powers / powers.sum(axis=2, keepdims=True)


def heads_and_text(rng, n_tokens=None, n_vocab=3):
    H, N = draw_sizes(rng, 2, (5, 7, 11, 13))
    N = n_tokens or max(N, 11) if H != 11 else n_tokens or 13
    ids = rng.integers(n_vocab, size=N)
    if N > 5:
        ids[3] = ids[2]  # a token right after itself
        ids[-1] = ids[0]
    return draw_weights(rng, H, N), ids


def ordinary_heads(rng):
    return [heads_and_text(rng), heads_and_text(rng, n_vocab=4), heads_and_text(rng, n_vocab=6)]


def nothing_repeats(rng):
    """Or one token alone, at the end, or, for a single head, at the beginning."""
    A, _ = heads_and_text(rng)
    ids = rng.permutation(A.shape[2] + 4)[: A.shape[2]]
    single = (A[:1], np.append(ids[0], ids[:-1]))
    return [(A, ids), (A, np.append(ids[:-1], ids[1])), single, heads_and_text(rng, n_tokens=1)]


def repeated_texts(rng):
    """A text of different tokens, written twice and three times."""
    cases = []
    for L, times in ((7, 2), (5, 3), (29, 2)):
        ids = np.tile(rng.permutation(3 * L)[:L], times)
        cases.append((draw_weights(rng, 4, L * times), ids))
    return cases


def what_a_score_is(ask, rng):
    A, ids = heads_and_text(rng)
    before = ask(A, ids)
    if not isinstance(before, tuple | list) or len(before) != 2:
        return "A pair is expected."
    if slip := shape_slip(before[0], (len(A),)):
        return slip
    renamed = ask(A, rng.permutation(20)[ids])
    if not close(renamed[0], before[0]) or abs(float(renamed[1]) - float(before[1])) > CLOSE:
        return "Other ids for the same tokens, with the same tokens equal, must give the same pair; yours changes."
    order = np.roll(np.arange(len(A)), 1)
    if not close(ask(A[order], ids)[0], before[0][order]):
        return "The heads in another order must give the same scores in that order."
    N = len(ids)
    level = np.tri(N)[None] / np.arange(1, N + 1)[:, None]
    if not close(np.ravel(ask(level, ids)[0]), [float(before[1])]):
        return "A head that looks at all tokens up to its own equally should have exactly the score of chance."
    return None


QUESTION = Question(
    id="induction",
    title="Stretch: a score for any text",
    name="induction_scores",
    minutes=25,
    difficulty=3,
    checks=with_battery(
        equals("values", 4, ordinary_heads, induction_reference),
        equals("written twice", 2, repeated_texts, induction_reference),
        equals("nothing repeats", 2, nothing_repeats, induction_reference),
        holds("what a score is", 2, what_a_score_is),
    ),
    hints=(
        "For one target: at which positions did its token stand before, and which positions come right after these?",
        "Two tables of truth values help: which token equals which, and which one is the earlier. The positions "
        "that follow are the same table, moved on by one source.",
        "The mean runs over the targets that have such a position, and over no others; several positions of one "
        "target are summed. What does a head give each of them that spreads its weight over n + 1 tokens?",
    ),
    section="an-induction-head",
    inputs=Inputs(lambda A, ids: {"H": len(A), "N": len(ids)}),
)

right, wrong = answers_to(QUESTION)


@right
def table_of_followers(A, ids):
    N = len(ids)
    same = (ids[:, None] == ids[None, :]) & (np.arange(N) < np.arange(N)[:, None])
    follows = np.hstack([np.zeros((N, 1), dtype=bool), same[:, :-1]])
    has = follows.any(axis=1)
    if has.sum() == 0:
        return np.zeros(A.shape[0]), 0.0
    scores = np.einsum("hns,ns->h", A, follows) / has.sum()
    return scores, (follows.sum(axis=1) / (1 + np.arange(N))).sum() / has.sum()


@right
def target_after_target(A, ids):
    found, chance = [], []
    for n in range(1, len(ids)):
        places = 1 + np.flatnonzero(ids[:n] == ids[n])
        if len(places):
            found.append(A[:, n, places].sum(axis=1))
            chance.append(len(places) / (n + 1))
    if not found:
        return np.zeros(len(A)), 0.0
    return np.mean(found, axis=0), np.mean(chance)


@right
def remembers_places(A, ids):
    seen, totals, chance, n_targets = {}, np.zeros(len(A)), 0.0, 0
    for n, token in enumerate(ids.tolist()):
        places = seen.setdefault(token, [])
        if places:
            n_targets += 1
            totals = totals + sum(A[:, n, s] for s in places)
            chance += len(places) / (n + 1)
        places.append(n + 1)
    return (totals / max(n_targets, 1), chance / max(n_targets, 1))


@right
def as_often_written(A, ids):
    scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            n_targets += 1
            scores = scores + A[:, n, places].sum(axis=1)
            chance += len(places) / (n + 1)
    return scores / max(n_targets, 1), chance / max(n_targets, 1)


@wrong("Where no token comes twice you take the mean of nothing, which is no number.")
def mean_of_nothing(A, ids):
    scores, chance = [], []
    for n in range(len(ids)):
        places = [j + 1 for j in range(n) if ids[j] == ids[n]]
        if places:
            scores.append(A[:, n, places].sum(axis=1))
            chance.append(len(places) / (n + 1))
    return np.mean(scores, axis=0), np.mean(chance)


wrong.edits("""
# as_often_written
## targets_in_columns: You read the targets in the columns, as in the chapter's formula; here a row belongs to a target.
- scores = scores + A[:, n, places].sum(axis=1)
+ scores = scores + A[:, places, n].sum(axis=1)
## the_same_token: You take the weight on the earlier position itself; an induction head looks at what came after it.
- places = [j + 1 for j in range(n) if ids[j] == ids[n]]
+ places = [j for j in range(n) if ids[j] == ids[n]]
## the_token_before: You take the position before the earlier one; what followed stands after it.
+ places = [j - 1 for j in range(1, n) if ids[j] == ids[n]]
## last_time_only: You count only the last earlier position; all should count, together.
  places = [j + 1 for j in range(n) if ids[j] == ids[n]]
+ places = places[-1:]
## first_time_only: You count only the first earlier position; all should count, together.
+ places = places[:1]
## mean_over_all_targets: You divide by the number of all targets; those whose token is new have no such position.
- return scores / max(n_targets, 1), chance / max(n_targets, 1)
+ return scores / len(ids), chance / len(ids)
## scores_over_all_targets: Your scores are divided by the number of all targets; like chance they should be a mean over
those targets alone that have such a position.
+ return scores / len(ids), chance / max(n_targets, 1)
## mean_over_the_places: Where a token stood before several times you take the mean over positions; add their weights.
- scores = scores + A[:, n, places].sum(axis=1)
- chance += len(places) / (n + 1)
+ scores = scores + A[:, n, places].mean(axis=1)
+ chance += 1 / (n + 1)
## mean_over_the_pairs: You divide by the number of pairs, so that a target counts once for each of its positions.
- n_targets += 1
+ n_targets += len(places)
## one_source_short: Your chance leaves the target itself out; target n, counted from 0, has n + 1 sources.
- chance += len(places) / (n + 1)
+ chance += len(places) / n
## all_sources_alike: Your chance is that of a head that sees the whole text; a target sees nothing that comes after it.
+ chance += len(places) / len(ids)
## one_place_by_chance: Your chance is that of a single position; where there are several, each of them may be hit.
+ chance += 1 / (n + 1)
## itself_left_out: Where a token follows itself, the position after it is that of the target. You leave it out.
- places = [j + 1 for j in range(n) if ids[j] == ids[n]]
+ places = [j + 1 for j in range(n - 1) if ids[j] == ids[n]]
## later_ones_too: You also take positions where the token comes again later, which the target cannot know.
+ places = [j + 1 for j in range(len(ids) - 1) if j != n and ids[j] == ids[n]]
## from_the_third_on: You begin with the third token; in a text that begins with `xx` the second has a position, too.
- for n in range(len(ids)):
+ for n in range(2, len(ids)):
## nothing_by_nothing: Where no token comes twice you divide 0 by 0.
- return scores / max(n_targets, 1), chance / max(n_targets, 1)
+ return scores / n_targets, float(np.float64(chance) / n_targets)
## scores_over_the_pairs: Your scores are divided by the number of pairs of equal tokens, while chance is a mean over
targets, as both should be.
- scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
+ scores, chance, n_targets, n_pairs = np.zeros(len(A)), 0.0, 0, 0
- n_targets += 1
+ n_targets, n_pairs = n_targets + 1, n_pairs + len(places)
- return scores / max(n_targets, 1), chance / max(n_targets, 1)
+ return scores / max(n_pairs, 1), chance / max(n_targets, 1)
## sum_over_the_targets: You add up over the targets where the mean is asked for.
- return scores / max(n_targets, 1), chance / max(n_targets, 1)
+ return scores, chance
## itself_as_earlier: You count the target's own token as an earlier one, so that every target has a position, the one
right after it.
  scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
+ A = np.concatenate([A, 0 * A[:, :, :1]], axis=2)
- places = [j + 1 for j in range(n) if ids[j] == ids[n]]
+ places = [j + 1 for j in range(n + 1) if ids[j] == ids[n]]
## same_token_before: You look up the token before: that finds what followed it, not what followed the target's own
token.
- places = [j + 1 for j in range(n) if ids[j] == ids[n]]
+ places = [j + 1 for j in range(n - 1) if ids[j] == ids[n - 1]]
## chance_of_the_heads: Your chance is the mean of the heads' scores; it should not depend on them.
- return scores / max(n_targets, 1), chance / max(n_targets, 1)
+ return scores / max(n_targets, 1), float(scores.mean()) / max(n_targets, 1)
## heads_averaged: You average over the heads; each has a score of its own.
+ return float(scores.mean()) / max(n_targets, 1), chance / max(n_targets, 1)
## chance_as_one_quotient: Your chance divides all positions by all sources; like the score it should be a mean over the
targets.
- scores, chance, n_targets = np.zeros(len(A)), 0.0, 0
+ scores, n_places, n_sources, n_targets = np.zeros(len(A)), 0, 0, 0
-         chance += len(places) / (n + 1)
- return scores / max(n_targets, 1), chance / max(n_targets, 1)
+         n_places, n_sources = n_places + len(places), n_sources + n + 1
+ return scores / max(n_targets, 1), n_places / max(n_sources, 1)
""")
