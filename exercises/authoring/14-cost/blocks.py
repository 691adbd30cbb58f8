"""Exercise 14, question blocks: attention in blocks."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes

from .shared import LIMIT, blocks_forgotten, shapes_slip


def attend_in_blocks(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    N, S = Q.shape[1], K.shape[1]
    C = K.T @ Q / np.sqrt(len(Q))
    if causal:
        C = np.where(np.arange(S)[:, None] <= np.arange(N) + S - N, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


def draw_blocks(rng, causal, scale=1.0, n_targets=None):
    """A few blocks of different sizes, the first with the smallest scores."""
    width, V, N = draw_sizes(rng, 3, (4, 5, 7, 11))
    N = n_targets or N
    sizes = [3, 1, 2, int(rng.integers(4, 7))] + ([N] if causal else [])
    order = rng.permutation(len(sizes))
    Q = rng.normal(size=(width, N))
    blocks = []
    for place, i in enumerate(order):
        strength = scale * (0.6 + 0.3 * place)
        blocks.append((strength * rng.normal(size=(width, sizes[i])), rng.normal(size=(V, sizes[i]))))
    return Q, blocks, causal


def full_attention(rng):
    return [draw_blocks(rng, False), draw_blocks(rng, False, n_targets=1)]


def the_past_only(rng):
    """In the last one some hundred sources."""
    return [draw_blocks(rng, True), draw_blocks(rng, True), draw_blocks(rng, True, n_targets=1), draw_long_text(rng)]


def draw_long_text(rng):
    sizes = (170, 90, 140)
    blocks = [(rng.normal(size=(4, size)), rng.normal(size=(3, size))) for size in sizes]
    return rng.normal(size=(4, 7)), blocks, True


def huge_scores(rng):
    """The first two are all below −10 000, the last two below −60 000; in the one between, each source has a far larger
    score than those before it, so that the largest of a block may be hidden.
    """
    cases = [draw_blocks(rng, causal, scale) for scale in (60.0, 1e4) for causal in (False, True)]
    for causal in (True, False):
        Q, blocks, _ = draw_blocks(rng, causal)
        low = [(-5e3 * (1 + np.abs(keys)), values) for keys, values in blocks]
        cases.insert(0, (1 + np.abs(Q), low, causal))
    Q, blocks, _ = draw_blocks(rng, True)
    ends = np.cumsum([keys.shape[1] for keys, _ in blocks]).tolist()
    places = [np.arange(end - keys.shape[1], end) for end, (keys, _) in zip(ends, blocks, strict=True)]
    rising = [(1e3 * place + 0 * keys, values) for place, (keys, values) in zip(places, blocks, strict=True)]
    cases.append((1 + np.abs(Q), rising, True))
    for causal in (True, False):
        Q, blocks, _ = draw_blocks(rng, causal)
        lower = [(-6e4 / np.sqrt(len(Q)) * (1 + 0.1 * np.abs(keys)), values) for keys, values in blocks]
        cases.append((1 + 0.1 * np.abs(Q), lower, causal))
    return cases


def cuts_do_not_matter(ask, rng):
    for causal in (False, True):
        Q, blocks, _ = draw_blocks(rng, causal)
        found = ask(Q, blocks, causal)
        shapes = ((len(blocks[0][1]), Q.shape[1]), (Q.shape[1],))
        if slip := shapes_slip(found, shapes):
            return slip
        K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
        singles = [(K[:, [s]], V[:, [s]]) for s in range(K.shape[1])]
        for other, what in (([(K, V)], "in one block"), (singles, "one by one")):
            if not all(close(x, y, LIMIT) for x, y in zip(ask(Q, other, causal), found, strict=True)):
                return f"The same sources {what} should give the same result; yours changes with the cuts."
    return None


def outputs_alone(ask, rng):
    """Y without L, so that it earns its points whatever the logarithm is."""
    for causal in (False, True):
        args = draw_blocks(rng, causal)
        found = ask(*args)
        Y = attend_in_blocks(*args)[0]
        if not isinstance(found, tuple | list) or len(found) != 2:
            return "The result should be a tuple of 2 arrays."
        if not close(found[0], Y, LIMIT):
            kind = "Of the past alone" if causal else "Without a mask"
            return f"{kind}, your outputs are not those of attention over all blocks; L is not looked at here."
    return None


def blocks_of_text(Q, blocks, causal):
    return {"K": Q.shape[0], "N": Q.shape[1], "V": len(blocks[0][1])}


def scores_of_blocks(Q, blocks, causal):
    return np.concatenate([keys for keys, _ in blocks], axis=1).T @ Q / np.sqrt(len(Q))


QUESTION = Question(
    id="blocks",
    title="Attention in blocks",
    name="attend_in_blocks",
    minutes=20,
    difficulty=3,
    checks=with_battery(
        holds("outputs alone", 2, outputs_alone),
        equals("all sources", 2, full_attention, attend_in_blocks),
        equals("the past only", 2, the_past_only, attend_in_blocks),
        equals("huge scores", 2, huge_scores, attend_in_blocks),
        holds("cuts do not matter", 2, cuts_do_not_matter),
        holds("blocks forgotten", 3, blocks_forgotten(attend_in_blocks, False)),
        off={"boundary": "its only limits are places in the text"},
    ),
    measured=True,
    hints=(
        "Write a function for the summary of one block, m, l and O for all targets, and let your `merge` do "
        "the rest. What is the summary of no source at all?",
        "For the mask you need the number of a source in the whole text, so count the sources of the blocks "
        "that have gone by. And the targets are the last N of all S tokens.",
        "A block that lies wholly in the future of a target has the maximum −∞: give it the sums 0 before "
        "anything is subtracted. L is the maximum plus the logarithm of l, and a maximum alone is not enough.",
    ),
    section="merging-is-attention",
    inputs=Inputs(blocks_of_text, scores_of_blocks),
)

right, wrong = answers_to(QUESTION)


@right
def online(Q, blocks, causal):
    N, S = Q.shape[1], sum(keys.shape[1] for keys, _ in blocks)
    last_seen = np.arange(S - N, S) if causal else np.full(N, S)
    m, sums, products, first = np.full(N, -1e300), np.zeros(N), 0.0, 0
    for keys, values in blocks:
        for key, value in zip(keys.T, values.T, strict=True):
            c = np.where(first <= last_seen, key @ Q / np.sqrt(len(Q)), -np.inf)
            higher = np.maximum(m, c)
            weight, shrink = np.exp(c - higher), np.exp(m - higher)
            m, sums = higher, sums * shrink + weight
            products = products * shrink + np.outer(value, weight)
            first += 1
    return products / sums, m + np.log(sums)


@right
def softmax_of_the_parts(Q, blocks, causal):
    N, S = Q.shape[1], sum(keys.shape[1] for keys, _ in blocks)
    outputs, logs, first = [], [], 0
    for keys, values in blocks:
        C = keys.T @ Q / np.sqrt(len(Q))
        if causal:
            late = (first + np.arange(len(C)))[:, None] > np.arange(N) + S - N
            C = np.where(late, -np.inf, C)
        level = np.maximum(C.max(axis=0), -1e300)
        sums = np.exp(C - level).sum(axis=0)
        seen = sums > 0
        outputs.append(values @ np.exp(C - level) / np.where(seen, sums, 1))
        logs.append(np.where(seen, level + np.log(np.where(seen, sums, 1)), -np.inf))
        first += len(C)
    L = np.logaddexp.reduce(logs)
    return sum(np.exp(part - L) * Y for part, Y in zip(logs, outputs, strict=True)), L


@right
def block_by_block(Q, blocks, causal):
    N, S = Q.shape[1], sum(keys.shape[1] for keys, _ in blocks)
    m, sums, products, first = np.full(N, -np.inf), 0.0, 0.0, 0
    for keys, values in blocks:
        C = keys.T @ Q / np.sqrt(len(Q))
        if causal:
            C[(first + np.arange(len(C)))[:, None] > np.arange(S - N, S)] = -np.inf
        own = C.max(axis=0)
        e = np.exp(C - np.maximum(own, -1e300))
        higher = np.maximum(m, own)
        shrink, factor = (np.exp(part - np.maximum(higher, -1e300)) for part in (m, own))
        sums = shrink * sums + factor * e.sum(axis=0)
        products = shrink * products + factor * (values @ e)
        m, first = higher, first + len(C)
    return products / sums, m + np.log(sums)


@right
def as_often_written(Q, blocks, causal):
    N, S, first, kept = Q.shape[1], sum(K.shape[1] for K, _ in blocks), 0, []
    for K, V in blocks:
        C = K.T @ Q / np.sqrt(len(Q))
        places = first + np.arange(len(C))[:, None]
        if causal:
            C = np.where(places <= np.arange(N) + S - N, C, -np.inf)
        m = np.maximum(C.max(axis=0), -1e300)
        e = np.exp(C - m)
        kept.append((m, e.sum(axis=0), V @ e))
        first += len(C)
    top = np.max([part[0] for part in kept], axis=0)
    total = sum(np.exp(m - top) * sums for m, sums, _ in kept)
    products = sum(np.exp(part[0] - top) * part[2] for part in kept)
    return products / total, top + np.log(total)


@wrong("You hold keys, values or scores of all blocks at once; m, l and O of what has gone by are enough.")
def target_by_target(Q, blocks, causal):
    N, S = Q.shape[1], sum(keys.shape[1] for keys, _ in blocks)
    V, outputs, logs = len(blocks[0][1]), [], []
    for n, q in enumerate(Q.T):
        c = np.concatenate([keys.T @ q for keys, _ in blocks]) / np.sqrt(len(Q))
        if causal:
            c[n + S - N + 1 :] = -np.inf
        e, o, first = np.exp(c - c.max()), np.zeros(V), 0
        for _, values in blocks:
            o, first = o + values @ e[first : first + values.shape[1]], first + values.shape[1]
        outputs.append(o / e.sum())
        logs.append(c.max() + np.log(e.sum()))
    return np.array(outputs).T, np.array(logs)


wrong.edits("""
# softmax_of_the_parts
## mean_of_the_outputs: You average the outputs of the blocks as if all weighed the same; their denominators are the
weights.
- return sum(np.exp(part - L) * Y for part, Y in zip(logs, outputs, strict=True)), L
+ return np.mean(outputs, axis=0), L
## weighted_by_size: You weight the outputs of the blocks by the numbers of their sources; their denominators are the
weights.
+ return np.average(outputs, axis=0, weights=[keys.shape[1] for keys, _ in blocks]), L
# as_often_written
## without_the_last [common-mistakes]: The last block is missing from your result.
- top = np.max([part[0] for part in kept], axis=0)
+ kept = kept[:-1] or kept
+ top = np.max([part[0] for part in kept], axis=0)
## the_last_alone [what-to-remember-of-a-block]: Your result is that of the last block alone.
+ kept = kept[-1:]
+ top = np.max([part[0] for part in kept], axis=0)
## not_divided: Your outputs are not divided by l, the sum of the exponentials.
- return products / total, top + np.log(total)
+ return products, top + np.log(total)
## logarithm_without_maximum: Your L is the logarithm of the sum after the maximum was subtracted; add it again.
+ return products / total, np.log(total)
## maximum_for_logarithm: Your L is the largest score; the logarithm of the sum is missing.
+ return products / total, top
## denominator_itself: You return the denominator and not its logarithm.
+ return products / total, np.exp(top) * total
## logarithm_to_base_two: Your L is a logarithm to base 2; it has to undo the exponential, whose base is e.
+ return products / total, top / np.log(2) + np.log2(total)
## unscaled: The scores are not divided by the root of K.
- C = K.T @ Q / np.sqrt(len(Q))
+ C = K.T @ Q
## scaled_by_k: You divide the scores by K instead of its root.
+ C = K.T @ Q / len(Q)
## scaled_by_the_values: You divide the scores by the root of the width of the values; it is the width of the keys.
+ C = K.T @ Q / np.sqrt(len(V))
## targets_first: You put the targets at the beginning of the text; they are its last N tokens.
- C = np.where(places <= np.arange(N) + S - N, C, -np.inf)
+ C = np.where(places <= np.arange(N), C, -np.inf)
## not_itself: With `causal` your targets do not see themselves.
+ C = np.where(places < np.arange(N) + S - N, C, -np.inf)
## one_ahead: With `causal` your targets see one token of the future.
+ C = np.where(places <= np.arange(N) + S - N + 1, C, -np.inf)
## hidden_by_zero [what-to-remember-of-a-block]: A hidden source still takes part with the score 0; it has to get no
weight at all.
+ C = np.where(places <= np.arange(N) + S - N, C, 0.0)
## hidden_in_the_middle: Your hidden scores are −50 000, and real scores can be lower: only −∞ is below all of them.
+ C = np.where(places <= np.arange(N) + S - N, C, -5e4)
## hidden_not_low_enough: Your hidden scores are −10 000, and real scores can be lower: only −∞ is below all of them.
+ C = np.where(places <= np.arange(N) + S - N, C, -1e4)
## no_mask: You do not look at `causal`: your targets see the future.
- if causal:
-     C = np.where(places <= np.arange(N) + S - N, C, -np.inf)
## always_a_mask: You use the mask without being asked; `causal` false should hide nothing.
- if causal:
-     C = np.where(places <= np.arange(N) + S - N, C, -np.inf)
+ C = np.where(places <= np.arange(N) + max(S - N, 0), C, -np.inf)
## places_restart: You number the sources of each block from 0 again; the mask needs their positions in the whole text.
- places = first + np.arange(len(C))[:, None]
+ places = np.arange(len(C))[:, None]
## mask_of_whole_blocks: You leave out blocks after a target, and show the others whole; the mask goes on in a block.
+ places = first + 0 * np.arange(len(C))[:, None]
## places_in_eight_bits: You number the sources in so few bits that in a long text the numbers begin anew.
+ places = (first + np.arange(len(C))[:, None]).astype(np.int8)
## softmax_over_targets [one-pass-is-enough-the-online-softmax]: You normalise over the targets; the weights of one
target should sum to 1.
- kept.append((m, e.sum(axis=0), V @ e))
+ f = np.exp(C - np.maximum(C.max(axis=1, keepdims=True), -1e300))
+ kept.append((m, e.sum(axis=0), V @ (f / np.maximum(f.sum(axis=1, keepdims=True), 1e-300))))
...
- return products / total, top + np.log(total)
+ return sum(part[2] for part in kept), top + np.log(total)
## no_maximum [one-pass-is-enough-the-online-softmax]: Your exponentials overflow for scores in the tens of thousands:
subtract the largest score first.
- m = np.maximum(C.max(axis=0), -1e300)
+ m = np.zeros(N)
## largest_score_from_zero: Your largest score begins at a fixed number; where all scores are far below it, every
exponential vanishes.
+ m = C.max(axis=0, initial=0)
## largest_may_be_hidden: The largest score that you subtract may be that of a hidden source; then every exponential of
the visible ones vanishes.
+ m = (K.T @ Q / np.sqrt(len(Q))).max(axis=0)
# block_by_block
## never_shrunk [what-to-remember-of-a-block]: The old sums are not shrunk when a later block has a larger score.
- sums = shrink * sums + factor * e.sum(axis=0)
- products = shrink * products + factor * (values @ e)
+ sums = sums + factor * e.sum(axis=0)
+ products = products + factor * (values @ e)
## hidden_blocks_undefined [what-to-remember-of-a-block]: A block that a target may not see at all has no largest score:
you subtract −∞ from −∞ there.
- e = np.exp(C - np.maximum(own, -1e300))
+ e = np.exp(C - own)
## added_as_they_are [what-to-remember-of-a-block]: You add the sums of the blocks as they are, though each was measured
from a largest score of its own.
- sums = shrink * sums + factor * e.sum(axis=0)
- products = shrink * products + factor * (values @ e)
+ sums = sums + e.sum(axis=0)
+ products = products + values @ e
## only_the_sums_shrink [what-to-remember-of-a-block]: Where a later block has a larger score you shrink l and leave O
as it was; both were measured from the same score.
- products = shrink * products + factor * (values @ e)
+ products = products + factor * (values @ e)
""")
