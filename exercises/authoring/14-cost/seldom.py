"""Exercise 14, question seldom: the old sum is corrected only when it has to be."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import close, draw_sizes

from .shared import LIMIT, blocks_forgotten, shapes_slip


def attend_seldom(Q, blocks, slack):
    m = sums = products = moves = None
    for keys, values in blocks:
        C = keys.T @ Q / np.sqrt(len(Q))
        own = C.max(axis=0)
        if m is None:
            m, sums, moves = own, np.zeros(len(own)), np.zeros(len(own), dtype=int)
            products = np.zeros((len(values), len(own)))
        rises = own > m + slack
        base = np.where(rises, own, m)
        shrink, e = np.exp(m - base), np.exp(C - base)
        sums, products = shrink * sums + e.sum(axis=0), shrink * products + values @ e
        m, moves = base, moves + rises
    return products / sums, m + np.log(sums), moves


def draw_blocks(rng, slack, scale=1.0, n_targets=None, rising=True):
    """Some blocks whose scores grow, so that some targets move and others do not."""
    width, V, N = draw_sizes(rng, 3, (4, 5, 7, 11))
    N = n_targets or N
    sizes = [2, 3, 1, int(rng.integers(4, 7)), 2]
    Q, blocks = rng.normal(size=(width, N)), []
    for place, size in enumerate(sizes):
        strength = scale * (0.5 + 0.8 * place) if rising else scale
        blocks.append((strength * rng.normal(size=(width, size)), rng.normal(size=(V, size))))
    return Q, blocks, slack


def small_steps(rng):
    return [draw_blocks(rng, 3.0), draw_blocks(rng, 1.0), draw_blocks(rng, 2.0, n_targets=1)]


def no_slack(rng):
    """With 0 each new maximum moves m; with 20 hardly one does."""
    return [draw_blocks(rng, 0.0), draw_blocks(rng, 20.0), draw_blocks(rng, 0.5, rising=False)]


def huge_scores(rng):
    """In the last two all scores are far below or far above 0."""
    cases = [draw_blocks(rng, 5.0, 60.0), draw_blocks(rng, 20.0, 1e4)]
    for sign in (-1, 1):
        Q, blocks, _ = draw_blocks(rng, 3.0)
        shifted = [(sign * 2e4 + keys, values) for keys, values in blocks]
        cases.append((np.abs(Q) / np.abs(Q).sum(axis=0), shifted, 3.0))
    return cases


def exactly_the_slack(rng):
    """Whole scores: one above m by the slack itself, then two that rise by less at a time and by more in all."""
    values, first = rng.normal(size=(5, 4)), np.array([[1.0], [0], [0], [0]])
    Q = first * [2.0, 4.0, -2.0]
    steps = [1.0, 2.0, 2.5, 3.5]
    blocks = [(2 * step * first, values[:, [i]]) for i, step in enumerate(steps)]
    return [(Q, blocks, 2.0), (Q, blocks, 4.0), (Q, blocks, 3.0)]


def the_same_as_attention(ask, rng):
    for slack in (0.0, 2.0, 20.0):
        Q, blocks, _ = draw_blocks(rng, slack, 2.0)
        found = ask(Q, blocks, slack)
        shapes = ((len(blocks[0][1]), Q.shape[1]), (Q.shape[1],), (Q.shape[1],))
        if slip := shapes_slip(found, shapes):
            return slip
        K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
        C = K.T @ Q / np.sqrt(len(Q))
        e = np.exp(C - C.max(axis=0))
        if not close(found[0], V @ e / e.sum(axis=0), LIMIT):
            return f"With slack {slack:g}, Y is not attention over all sources; whatever m is, it should be."
        if not close(found[1], C.max(axis=0) + np.log(e.sum(axis=0)), LIMIT):
            return f"With slack {slack:g}, L is not ln Σ exp(score) over all sources; whatever m is, it should be."
    return None


def sizes_of(Q, blocks, slack):
    return {"K": Q.shape[0], "N": Q.shape[1], "V": len(blocks[0][1])}


def scores_of(Q, blocks, slack):
    return np.concatenate([keys for keys, _ in blocks], axis=1).T @ Q / np.sqrt(len(Q))


QUESTION = Question(
    id="seldom",
    title="Correct seldom",
    name="attend_seldom",
    minutes=20,
    difficulty=3,
    checks=with_battery(
        holds("the same as attention", 2, the_same_as_attention),
        equals("small steps", 2, small_steps, attend_seldom),
        equals("hardly ever and always", 2, no_slack, attend_seldom),
        equals("exactly the slack", 1, exactly_the_slack, attend_seldom),
        equals("huge scores", 2, huge_scores, attend_seldom),
        holds("blocks forgotten", 2, blocks_forgotten(attend_seldom, 1.0)),
        more={"boundary": in_cases_of("exactly the slack")},
    ),
    measured=True,
    hints=(
        "Take your answer to question 4 and look at the one line where the new maximum is made. For each target it is "
        "either the largest score of the block or the m that was there.",
        "Everything after that line stays: old sums times exp(old m − new m), and exponentials of score − new m. Where "
        "m has not moved the factor is 1 by itself.",
        "Compare for each target on its own; `np.where` then chooses. The same comparison, added up, counts the moves. "
        "The first block gives m its first value, which is no move.",
    ),
    section="four-versions",
    inputs=Inputs(sizes_of, scores_of),
)

right, wrong = answers_to(QUESTION)


@right
def block_by_block(Q, blocks, slack):
    N = Q.shape[1]
    m, sums, products, moves = np.full(N, -np.inf), np.zeros(N), 0.0, np.zeros(N, dtype=int)
    for number, (keys, values) in enumerate(blocks):
        C = keys.T @ Q / np.sqrt(len(Q))
        own = C.max(axis=0)
        moved = own > m + slack
        base = np.where(moved, own, m)
        shrink, e = np.exp(m - base), np.exp(C - base)
        sums = shrink * sums + e.sum(axis=0)
        products = shrink * products + values @ e
        moves += moved & (number > 0)
        m = base
    return products / sums, m + np.log(sums), moves


@right
def only_where_it_moves(Q, blocks, slack):
    (keys, values), *rest = blocks
    C = keys.T @ Q * len(Q) ** -0.5
    m = np.max(C, axis=0)
    e = np.exp(C - m)
    sums, products, moves = np.sum(e, axis=0), values @ e, np.zeros(Q.shape[1], dtype=int)
    for keys, values in rest:
        C = keys.T @ Q * len(Q) ** -0.5
        highest = np.max(C, axis=0)
        for n in np.flatnonzero(highest > m + slack):
            shrink = np.exp(m[n] - highest[n])
            sums[n], products[:, n], m[n] = sums[n] * shrink, products[:, n] * shrink, highest[n]
            moves[n] += 1
        e = np.exp(C - m)
        sums, products = sums + np.sum(e, axis=0), products + values @ e
    return products / sums, m + np.log(sums), moves


@right
def target_by_target(Q, blocks, slack):
    outputs, logs, moves = [], [], []
    for q in Q.T:
        m, total, o, moved = None, 0.0, 0.0, 0
        for keys, values in blocks:
            c = keys.T @ q / np.sqrt(len(q))
            if m is None:
                m = c.max()
            elif c.max() - m > slack:
                total, o, moved = total * np.exp(m - c.max()), o * np.exp(m - c.max()), moved + 1
                m = c.max()
            total, o = total + np.exp(c - m).sum(), o + values @ np.exp(c - m)
        outputs.append(o / total)
        logs.append(m + np.log(total))
        moves.append(moved)
    return np.array(outputs).T, np.array(logs), np.array(moves)


@wrong("You hold keys, values or scores of all blocks at once; m, l and O of what has gone by are enough.")
def all_at_once(Q, blocks, slack):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C = K.T @ Q / np.sqrt(len(Q))
    ends = np.cumsum([keys.shape[1] for keys, _ in blocks])[:-1]
    m, *others = (part.max(axis=0) for part in np.split(C, ends))
    moves = np.zeros(Q.shape[1], dtype=int)
    for own in others:
        moves += own > m + slack
        m = np.where(own > m + slack, own, m)
    e = np.exp(C - C.max(axis=0))
    return V @ e / e.sum(axis=0), C.max(axis=0) + np.log(e.sum(axis=0)), moves


wrong.edits("""
# block_by_block
## every_maximum: You move m with every new maximum; it should stay while no score exceeds it by more than `slack`.
- moved = own > m + slack
+ moved = own > m
## at_the_slack: You move m where a score exceeds it by exactly `slack`; only one by more than that moves it.
+ moved = own >= m + slack
## below_by_slack: You move m where the largest score of the block is below it; it moves where one is above it.
+ moved = (own < m - slack) | (number == 0)
## in_bits: You take `slack` for a number of bits; it is given in the units of the scores.
+ moved = own > m + slack * np.log(2)
## all_move_together: When one target has to move you move all of them; each has an m of its own.
+ moved = np.full(N, (own > m + slack).any())
## beyond_the_last: You compare with the largest score of the block before; m can be older and smaller, or larger.
- moved = own > m + slack
- base = np.where(moved, own, m)
+ moved = own > (own if number == 0 else last) + slack
+ moved, last = moved | (number == 0), own
+ base = np.where(moved, own, m)
## raised_by_slack: You raise m by `slack`; it becomes the largest score of the block.
- base = np.where(moved, own, m)
+ base = np.where(moved, own if number == 0 else m + slack, m)
## first_is_counted: The first block gives m its first value; you count that as a move.
- moves += moved & (number > 0)
+ moves += moved
## counted_together: You return how often any target moved; `moves` has a number for each target.
+ moves += (moved & (number > 0)).sum()
## maxima_counted: You count the new maxima; `moves` counts how often m moved.
+ moves += (own > m) & (number > 0)
## not_counted: Your `moves` stays at 0.
- moves += moved & (number > 0)
## never_shrunk [what-to-remember-of-a-block]: Where m moves, the old sums have to shrink; yours stay as they were.
- sums = shrink * sums + e.sum(axis=0)
- products = shrink * products + values @ e
+ sums = sums + e.sum(axis=0)
+ products = products + values @ e
## only_the_sums_shrink [what-to-remember-of-a-block]: Where m moves you shrink l and leave O as it was; both were
measured from the same m.
- products = shrink * products + values @ e
+ products = products + values @ e
## always_shrunk: You shrink the old sums by the new maximum even where m stays; there the factor is 1.
- shrink, e = np.exp(m - base), np.exp(C - base)
+ shrink, e = np.exp(np.where(number > 0, m, base) - np.maximum(m, own)), np.exp(C - base)
## measured_from_the_maximum: Where m stays you still take the exponentials of score − largest score; they have to be
measured from m, like the old sums.
+ shrink, e = np.exp(m - base), np.exp(C - np.maximum(base, own))
## largest_in_the_logarithm: Your L begins from the largest score of all; l was measured from m, which may be lower.
- return products / sums, m + np.log(sums), moves
+ top = np.max([(keys.T @ Q / np.sqrt(len(Q))).max(axis=0) for keys, _ in blocks], axis=0)
+ return products / sums, top + np.log(sums), moves
## logarithm_without_m: Your L is the logarithm of l alone; l was measured from m, so add m.
+ return products / sums, np.log(sums), moves
## not_divided: Your outputs are not divided by l, the sum of the exponentials.
+ return products, m + np.log(sums), moves
## unscaled: The scores are not divided by the root of K.
- C = keys.T @ Q / np.sqrt(len(Q))
+ C = keys.T @ Q
## begins_at_zero: Your m begins at 0; where all scores are far below, every exponential vanishes.
- m, sums, products, moves = np.full(N, -np.inf), np.zeros(N), 0.0, np.zeros(N, dtype=int)
+ m, sums, products, moves = np.zeros(N), np.zeros(N), 0.0, np.zeros(N, dtype=int)
## no_maximum [one-pass-is-enough-the-online-softmax]: Your exponentials overflow for scores in the tens of thousands:
subtract m.
- shrink, e = np.exp(m - base), np.exp(C - base)
+ shrink, e = 1.0, np.exp(C)
- return products / sums, m + np.log(sums), moves
+ return products / sums, np.log(sums), moves
""")
