"""Exercise 09, question filter: what may be drawn."""

import math

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals
from clearcheck.author.battery import in_cases_of, with_battery
from clearformer.reference import functions

from .shared import draw_sizes


def filter_reference(logits, temperature, top_k=None, top_p=None):
    """One row at a time, by a list of tokens in the order in which they are kept."""
    rows = []
    for row in logits:
        order = sorted(range(len(row)), key=lambda w: (-row[w], w))
        if temperature == 0:
            rows.append(np.eye(len(row))[order[0]])
            continue
        kept = order[: len(row) if top_k is None else top_k]
        shares = functions.softmax((row[kept] / temperature)[:, None], axis=0)[:, 0]
        if top_p is not None and top_p < 1:
            count = next(j for j in range(1, len(kept) + 1) if shares[:j].sum() >= top_p - 1e-14)
            kept, shares = kept[:count], shares[:count]
        p = np.zeros(len(row))
        p[kept] = shares / shares.sum()
        rows.append(p)
    return np.stack(rows)


def draw_rows(rng, scale=1.0, B=None):
    B_drawn, V = draw_sizes(rng, 2)
    return scale * rng.normal(size=(B or B_drawn, V))


def temperatures(rng):
    ordinary = [(draw_rows(rng), temperature, None, None) for temperature in (0.7, 1.8, 1.0, 7.0)]
    cold = draw_rows(rng, scale=0.05), 0.05, None, None
    return [*ordinary, cold, (rng.normal(size=(5, 61)), 1.0), (rng.normal(size=(7, 61)), 1.0, None)]


def only_top_k(rng):
    return [(draw_rows(rng), 1.0, k, None) for k in (1, 2, 3)]


def only_top_p(rng):
    """Of a table drawn again where a sum comes too close to p to be told from it."""
    nearly_all = clear_of(rng, 0.9995, V=13, scale=3.0), 1.0, None, 0.9995
    level = clear_of(rng, 0.08, V=61, scale=0.3), 1.0, None, 0.08  # where so small a share takes several tokens
    return [*((clear_of(rng, p), 1.0, None, p) for p in (0.85, 0.5, 0.05)), nearly_all, level]


def clear_of(rng, p, temperature=1.0, top_k=None, V=None, scale=1.0):
    while True:
        rows = scale * rng.normal(size=(5, V)) if V else draw_rows(rng)
        shares = -np.sort(-functions.softmax(rows / temperature, axis=1), axis=1)[:, :top_k]
        sums = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
        if np.abs(sums - p).min() > 1e-6:
            return rows


def all_at_once(rng):
    return [(clear_of(rng, p, t, k, 13), t, k, p) for t, k, p in ((0.5, 4, 0.9), (1.6, 6, 0.75), (1.3, 3, 0.6))]


def equal_logits(rng):
    """Ties in what is kept and at its border, sums that meet top_p exactly, and rows that an unstable sort mixes."""
    level, wide = np.full((3, 8), float(rng.integers(2, 9))), np.round(rng.normal(size=(4, 61)))
    return [(level, 1.0, None, 0.75), (level, 0.5, 4, 0.5), (tied_rows(rng), 0.8, 3, None), (wide, 1.0, 9, None)]


def tied_rows(rng):
    """Two likeliest in every row."""
    rows = np.round(1.5 * draw_rows(rng))
    rows[:, 2] = rows[:, 1] = rows.max(axis=1) + 1.0
    return rows


def at_the_limits(rng):
    """Greedy, as much as there is to keep and more, a rare token, logits of 1e4, and all of them far below 0."""
    rows = draw_rows(rng)
    V = rows.shape[1]
    return [
        *((rows, 1.0, top_k, None) for top_k in (V, V + 1, 2 * V - 1)),
        (tied_rows(rng), 0, None, None),
        (tied_rows(rng), 0.0, 3, 0.9),
        (draw_rows(rng), 0, 2, None),
        (draw_rows(rng), 0.0, None, 0.99),
        (draw_rows(rng), 1.0, 50, 1.0),
        (np.log([[0.7, 0.3, 2e-7]]), 1.0, None, 1.0),
        (draw_rows(rng, 30.0), 1.0, 3, None),
        (draw_rows(rng, 1e4), 0.5, None, None),
        (draw_rows(rng) - 4e4, 1.0, 3, None),
        (draw_rows(rng, B=1), 0.9, 1, None),
        *((draw_rows(rng), 0, None, None) for _ in range(3)),
    ]


QUESTION = Question(
    id="filter",
    title="What may be drawn",
    name="next_probabilities",
    minutes=30,
    difficulty=2,
    checks=with_battery(
        equals("temperature", 2, temperatures, filter_reference),
        equals("top-k", 2, only_top_k, filter_reference),
        equals("top-p", 2, only_top_p, filter_reference),
        equals("all at once", 2, all_at_once, filter_reference),
        equals("equal logits", 1, equal_logits, filter_reference),
        equals("at the limits", 1, at_the_limits, filter_reference),
        more={"ties": in_cases_of("equal logits"), "boundary": in_cases_of("equal logits")},
    ),
    hints=(
        "Put the tokens of a row in order first, the likeliest in front. Then top-k and top-p only say how "
        "many of that order stay.",
        "Top-p asks how much the tokens *before* one sum to: as long as that is less than p, the token is "
        "still needed. For the first one it is always 0.",
        "After top-k what is left sums to 1 again, and top-p looks at these new numbers. For equal logits a "
        "sort that is stable keeps the order of the ids; turning a sorted list round turns that, too.",
    ),
    section="from-probabilities-to-text",
    inputs=Inputs(
        lambda logits, *settings: dict(zip("BV", logits.shape, strict=True)),
        lambda logits, temperature, *cuts: logits / (temperature or 1),
    ),
)

right, wrong = answers_to(QUESTION)


@right
def sort_and_put_back(logits, temperature, top_k=None, top_p=None):
    B, V = logits.shape
    best_first = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        top_k, top_p, temperature = 1, None, 1
    scores = np.take_along_axis(logits, best_first, axis=1)
    scores = (scores - scores.max(axis=1, keepdims=True)) / temperature
    share = np.exp(scores) * (np.arange(V) < (top_k or V))
    share = share / share.sum(axis=1, keepdims=True)
    if top_p is not None and top_p != 1:
        before = np.hstack([np.zeros((B, 1)), np.cumsum(share, axis=1)[:, :-1]])
        share = share * (before < top_p)
        share = share / share.sum(axis=1, keepdims=True)
    back = np.argsort(best_first, axis=1, kind="stable")
    return np.take_along_axis(share, back, axis=1)


@right
def a_row_at_a_time(logits, temperature, top_k=None, top_p=None):
    result = np.zeros_like(logits)
    for row, p in zip(logits, result, strict=True):
        ranked = sorted(range(len(row)), key=lambda w: -row[w])
        if temperature == 0:
            p[ranked[0]] = 1
            continue
        ranked = ranked[:top_k]
        shares = np.array([math.exp((row[w] - row[ranked[0]]) / temperature) for w in ranked])
        shares /= shares.sum()
        if top_p is not None and top_p < 1:
            needed = 1
            while shares[:needed].sum() < top_p:
                needed += 1
            ranked, shares = ranked[:needed], shares[:needed] / shares[:needed].sum()
        p[ranked] = shares
    return result


@right
def minus_infinity_for_what_goes(logits, temperature, top_k=None, top_p=None):
    def shares(z):
        powers = np.exp(z - z.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    V = logits.shape[1]
    ids = np.arange(V)
    above = logits[:, None, :] > logits[:, :, None]
    level = (logits[:, None, :] == logits[:, :, None]) & (ids < ids[:, None])
    rank = (above | level).sum(axis=2)
    if temperature == 0:
        return (rank == 0) * 1.0
    z = logits / temperature
    if top_k is not None:
        z = np.where(rank < top_k, z, -np.inf)
    if top_p is not None and top_p < 1:
        p = shares(z)
        before = (p[:, None, :] * (above | level)).sum(axis=2)
        z = np.where(before < top_p, z, -np.inf)
    return shares(z)


@right
def as_often_written(logits, temperature, top_k=None, top_p=None):
    V = logits.shape[1]
    order = np.argsort(-logits, axis=1, kind="stable")
    if temperature == 0:
        return np.eye(V)[order[:, 0]]
    ranked = np.take_along_axis(logits, order, axis=1)
    powers = np.exp((ranked - ranked[:, :1]) / temperature)
    if top_k is not None:
        powers[:, top_k:] = 0
    powers = powers / powers.sum(axis=1, keepdims=True)
    if top_p is not None and top_p < 1:
        before = np.cumsum(powers, axis=1) - powers
        powers = np.where(before < top_p, powers, 0)
        powers = powers / powers.sum(axis=1, keepdims=True)
    result = np.zeros_like(powers)
    np.put_along_axis(result, order, powers, axis=1)
    return result


wrong.edits("""
# as_often_written
## cold_is_greedy: A small temperature counts as 0 for you; the likeliest token gets everything only at 0.
- if temperature == 0:
+ if temperature < 0.1:
## temperature_multiplied [common-mistakes]: You multiply by the temperature, so that a high one makes the text duller.
- powers = np.exp((ranked - ranked[:, :1]) / temperature)
+ powers = np.exp((ranked - ranked[:, :1]) * temperature)
## temperature_on_probabilities: The temperature changes nothing: if the probabilities are divided by it, scaling them
undoes that. Divide the logits.
+ powers = np.exp(ranked - ranked[:, :1]) / temperature
## temperature_at_the_end: You filter first, and the temperature comes last; top-p then sees other probabilities.
- powers = np.exp((ranked - ranked[:, :1]) / temperature)
+ powers = np.exp(ranked - ranked[:, :1])
      powers = np.where(before < top_p, powers, 0)
      powers = powers / powers.sum(axis=1, keepdims=True)
+ powers = powers ** (1 / temperature)
+ powers = powers / powers.sum(axis=1, keepdims=True)
## crossing_token_dropped [common-mistakes]: You drop the token that crosses the line, and where the first one does,
nothing is left.
- before = np.cumsum(powers, axis=1) - powers
- powers = np.where(before < top_p, powers, 0)
+ powers = np.where(np.cumsum(powers, axis=1) <= top_p, powers, 0)
## reaching_token_dropped [common-mistakes]: You drop the token with which the sum reaches top_p; it is needed, and
where it is the first one, nothing is left.
+ powers = np.where(np.cumsum(powers, axis=1) < top_p, powers, 0)
## crossing_token_dropped_but_one [common-mistakes]: You drop the token that crosses the line, unless it is the only
one; without it the kept ones do not reach top_p.
+ keep = np.cumsum(powers, axis=1) <= top_p
+ keep[:, 0] = True
+ powers = np.where(keep, powers, 0)
## one_more_on_the_line: Where the kept tokens sum to top_p exactly, you keep one more.
- powers = np.where(before < top_p, powers, 0)
+ powers = np.where(before <= top_p, powers, 0)
## rare_tokens_dropped: Your margin for rounding drops tokens that are rarer than it, where top_p is 1, too.
- if top_p is not None and top_p < 1:
+ if top_p is not None:
- powers = np.where(before < top_p, powers, 0)
+ powers = np.where(before < top_p - 1e-6, powers, 0)
## not_scaled_after_top_p: What top-p leaves is not scaled to sum to 1 again.
  powers = np.where(before < top_p, powers, 0)
- powers = powers / powers.sum(axis=1, keepdims=True)
## all_that_are_level: Where several logits are equal you keep more than top_k tokens.
- powers[:, top_k:] = 0
+ powers = np.where(powers >= powers[:, min(top_k, V) - 1, None], powers, 0)
## larger_id_first: Of equal logits you take the larger id first: turning a sorted list round turns them, too.
- order = np.argsort(-logits, axis=1, kind="stable")
+ order = np.argsort(logits, axis=1, kind="stable")[:, ::-1]
## meets_large_logits: The exponential meets large logits as they are and overflows.
- powers = np.exp((ranked - ranked[:, :1]) / temperature)
+ powers = np.exp(ranked / temperature)
## divided_by_zero: At a temperature of 0 you divide by 0.
- if temperature == 0:
-     return np.eye(V)[order[:, 0]]
## least_likely_kept: You keep the least likely tokens: the order is upside down.
- order = np.argsort(-logits, axis=1, kind="stable")
+ order = np.argsort(logits, axis=1, kind="stable")
- powers = np.exp((ranked - ranked[:, :1]) / temperature)
+ powers = np.exp((ranked - ranked[:, -1:]) / temperature)
## still_in_order: The probabilities stand in order of size; each has to go back to its token.
- result = np.zeros_like(powers)
- np.put_along_axis(result, order, powers, axis=1)
- return result
+ return powers
## put_back_the_wrong_way: You put the probabilities back by the order that sorted them; its inverse is needed.
+ return np.take_along_axis(powers, order, axis=1)
## a_least_probability: You keep each token that has some least probability; top-p is about what they reach together.
- before = np.cumsum(powers, axis=1) - powers
- powers = np.where(before < top_p, powers, 0)
+ powers = np.where(powers >= min(1 - top_p, powers.max(axis=1).min()), powers, 0)
## more_than_there_are: top_k may be larger than the vocabulary; you look for a token that is not there.
- powers[:, top_k:] = 0
+ least = powers[:, [top_k - 1]]
+ later = np.arange(V) >= top_k
+ powers = np.where((powers < least) | later, 0, powers)
## from_the_other_end: top_k may be larger than the vocabulary: V − top_k is then negative, and your slice counts from
the other end, so that it drops what should stay.
+ powers[:, ::-1][:, : V - top_k] = 0
## nothing_left: Where top_k is the whole vocabulary you drop the last 0 tokens; a slice that begins at −0 has them all.
+ powers[:, -(V - top_k) :] = 0
## all_level_with_the_last: Where several tokens are as likely as the last one that top-p needs, you keep them all.
- powers = np.where(before < top_p, powers, 0)
+ least = np.where(before < top_p, powers, np.inf).min(axis=1, keepdims=True)
+ powers = np.where(powers >= least, powers, 0)
## greedy_by_the_first_row: At temperature 0 every row gets the token of the first one; each has a likeliest of its own.
- return np.eye(V)[order[:, 0]]
+ return np.eye(V)[np.full(len(logits), order[0, 0])]
## greedy_by_the_whole_table: At temperature 0 you look for the largest logit of the whole table; each row has its own.
+ return np.eye(V)[np.full(len(logits), logits.argmax() % V)]
## one_maximum_for_all: You subtract the largest of all logits; in rows that lie far below it all exponentials become 0.
- powers = np.exp((ranked - ranked[:, :1]) / temperature)
+ powers = np.exp((ranked - ranked.max()) / temperature)
## one_too_many: You keep top_k + 1 tokens.
- powers[:, top_k:] = 0
+ powers[:, top_k + 1 :] = 0
## greedy_shared: At a temperature of 0 you share among the likeliest where several are equal; give the smallest id all.
- return np.eye(V)[order[:, 0]]
+ best = logits == logits.max(axis=1, keepdims=True)
+ return best / best.sum(axis=1, keepdims=True)
## greedy_among_top_k: At a temperature of 0 you share among what top_k keeps; the likeliest token gets all,
whatever the other two settings are.
+ return np.eye(V)[order[:, : top_k or 1]].mean(axis=1)
## greedy_for_each: At a temperature of 0 each of several likeliest tokens gets the probability 1; only the smallest id
should get it.
+ return 1.0 * (logits == logits.max(axis=1, keepdims=True))
## over_the_batch: You scale over the batch: each row has to sum to 1 by itself.
      powers[:, top_k:] = 0
- powers = powers / powers.sum(axis=1, keepdims=True)
+ powers = powers / powers.sum(axis=0, keepdims=True)
## greedy_filtered_away: At a temperature of 0 all tokens get the same probability: 0 stands for greedy, and not for no
preference.
- return np.eye(V)[order[:, 0]]
+ return np.full(logits.shape, 1 / V)
## as_many_as_the_first_row: You keep as many tokens in every row as top-p needs in the first one; each row has its own.
- before = np.cumsum(powers, axis=1) - powers
- powers = np.where(before < top_p, powers, 0)
+ powers[:, int((np.cumsum(powers[0]) - powers[0] < top_p).sum()) :] = 0
## sort_not_stable: Your sort may put equal logits in any order: only kind="stable" keeps that of the ids.
- order = np.argsort(-logits, axis=1, kind="stable")
+ order = np.argsort(-logits, axis=1)
## defaults_that_cut: Your default for top_k is 50; where a caller asks for no cut, every token stays.
- def as_often_written(logits, temperature, top_k=None, top_p=None):
+ def as_often_written(logits, temperature, top_k=50, top_p=None):
## whole_zero_alone: At a temperature of 0.0 you divide by 0; it is greedy as 0 is.
- if temperature == 0:
+ if temperature == 0 and isinstance(temperature, int):
# minus_infinity_for_what_goes
## top_p_first: Top-p looks at the probabilities from before top-k: scale what top-k has left to sum to 1 first.
- p = shares(z)
+ p = shares(logits / temperature)
## logits_of_zero: What is not kept gets the logit 0, and not the probability 0.
- z = np.where(rank < top_k, z, -np.inf)
+ z = np.where(rank < top_k, z, 0)
- z = np.where(before < top_p, z, -np.inf)
+ z = np.where(before < top_p, z, 0)
## never_reached: What top-k has left is not scaled to sum to 1 first, so that it may never reach top_p.
- p = shares(z)
+ p = np.where(rank < (top_k or V), shares(logits / temperature), 0)
- z = np.where(before < top_p, z, -np.inf)
+ reached = p.sum(axis=1, keepdims=True) >= top_p
+ z = np.where((before < top_p) & (reached | (rank == 0)), z, -np.inf)
## minus_ten_thousand: What top-k drops gets the logit −10,000, and all logits of a row may lie below that.
- z = np.where(rank < top_k, z, -np.inf)
+ z = np.where(rank < top_k, z, -1e4)
""")
