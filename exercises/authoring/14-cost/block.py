"""Exercise 14, question block: the operations of a block with a window."""

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals, holds
from clearcheck.author.cases import entries_right, in_letters


def block_flops(N, D, H, F, W):
    near = min(N, W)
    pairs = near * (near + 1) // 2 + (N - near) * near
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


def draw_block(rng, long):
    H, K = int(rng.choice([2, 3, 5])), int(rng.choice([4, 7, 11]))
    D = H * K
    W = int(rng.integers(10, 40))
    N = int(rng.integers(3 * W, 9 * W)) if long else int(rng.integers(2, W))
    return N, D, H, int(rng.integers(2 * D + 3, 6 * D)), W


def long_texts(rng):
    return [draw_block(rng, True), draw_block(rng, True)]


def short_texts(rng):
    N, D, H, F, _ = draw_block(rng, True)
    return [draw_block(rng, False), (1, D, H, F, 7), (N, D, H, F, 1), (N, D, H, F, N)]


def entries(*names):
    def draw(rng):
        return (draw_block(rng, long) for long in (True, False, True))

    return entries_right(block_flops, draw, *names, shown=in_letters("NDHFW"))


QUESTION = Question(
    id="block",
    title="The operations of a block with a window",
    name="block_flops",
    minutes=15,
    difficulty=2,
    checks=(
        holds("what every token does alone", 3, entries("projections", "feed-forward")),
        holds("pairs", 4, entries("pairs", "scores and averages")),
        holds("overtakes", 3, entries("overtakes")),
        equals("all five, long texts", 2, long_texts, block_flops),
        equals("all five, short texts", 2, short_texts, block_flops),
    ),
    hints=(
        "A product of a p×q and a q×r matrix takes 2pqr operations. List the products of the block, and beside "
        "each the sizes; which of the arguments never appears?",
        "Draw the pairs as a triangle for a text shorter than the window. What does the picture become when "
        "the text goes on?",
        "For the last entry write down the inequality for N tokens and N² pairs, and divide by what both sides "
        "share. Take the first whole number for which it is true, not the one for which both are equal.",
    ),
    section="a-window",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def by_the_formulas(N, D, H, F, W):
    pairs = N * W - W * (W - 1) // 2 if N >= W else N * (N + 1) // 2
    return {
        "projections": 8 * D**2 * N,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * D * F * N,
        "overtakes": 2 * D + F + 1,
    }


@right
def head_by_head(N, D, H, F, W):
    K, pairs = D // H, sum(1 for n in range(N) for s in range(n + 1) if n - s < W)
    scores, averages = H * 2 * K * pairs, H * 2 * K * pairs
    maps, joined = 3 * H * 2 * K * D * N, 2 * D * H * K * N
    longer = 1
    while 4 * D * longer**2 <= 8 * D * D * longer + 4 * D * F * longer:
        longer += 1
    return {
        "projections": maps + joined,
        "pairs": pairs,
        "scores and averages": scores + averages,
        "feed-forward": 2 * F * D * N + 2 * D * F * N,
        "overtakes": longer,
    }


@right
def with_a_mask(N, D, H, F, W):
    n, s = np.indices((N, N))
    seen = int(((s <= n) & (s > n - W)).sum())
    rest = 8 * D**2 + 4 * D * F  # for one token
    return {
        "projections": N * 8 * D**2,
        "pairs": seen,
        "scores and averages": 4 * D * seen,
        "feed-forward": N * 4 * D * F,
        "overtakes": rest // (4 * D) + 1,
    }


@right
def as_often_written(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


wrong.edits("""
# as_often_written
## all_pairs: You count every pair of tokens; a token does not see what comes after it, nor what has left the window.
- pairs = sum(min(n + 1, W) for n in range(N))
+ pairs = N * N
## triangle: You count the causal triangle as if there were no window.
- pairs = sum(min(n + 1, W) for n in range(N))
+ pairs = N * (N + 1) // 2
## full_windows: You give every token a full window; the first ones have fewer tokens before them.
- pairs = sum(min(n + 1, W) for n in range(N))
+ pairs = N * min(N, W)
## formula_for_short_texts: Your formula for the pairs holds for texts of at least W tokens, and you use it for shorter
ones as well.
- pairs = sum(min(n + 1, W) for n in range(N))
+ pairs = N * W - W * (W - 1) // 2
## pairs_in_floats: You divide with /, which always gives a float; pairs are whole numbers.
- pairs = sum(min(n + 1, W) for n in range(N))
+ pairs = sum(min(n + 1, W) for n in range(N)) / 1
## window_plus_one [common-mistakes]: Your window has W tokens besides the token itself; it is one of the W.
- pairs = sum(min(n + 1, W) for n in range(N))
+ pairs = sum(min(n + 1, W + 1) for n in range(N))
## without_itself: Your tokens do not see themselves.
- pairs = sum(min(n + 1, W) for n in range(N))
+ pairs = sum(min(n, W - 1) for n in range(N))
## multiplications_only [counted]: You count multiplications only; each comes with an addition.
- "projections": 8 * N * D * D,
+ "projections": 4 * N * D * D,
- "scores and averages": 4 * D * pairs,
- "feed-forward": 4 * N * D * F,
+ "scores and averages": 2 * D * pairs,
+ "feed-forward": 2 * N * D * F,
## scores_of_full_width [counted]: You count scores and averages once more for each head; a head is only D/H wide.
- "scores and averages": 4 * D * pairs,
+ "scores and averages": 4 * D * pairs * H,
## scores_without_averages [counted]: You count the scores and forget that the values are averaged as well.
- "scores and averages": 4 * D * pairs,
+ "scores and averages": 2 * D * pairs,
## three_maps [counted]: There are four maps: queries, keys, values, and the one behind the heads.
- "projections": 8 * N * D * D,
+ "projections": 6 * N * D * D,
## one_way_feed_forward [counted]: The feed-forward layer has two maps, up and down; you count one.
- "feed-forward": 4 * N * D * F,
+ "feed-forward": 2 * N * D * F,
## where_both_are_equal [counted]: At your last entry both sides are still equal; asked is the first length at which the
scores take more.
- "overtakes": 2 * D + F + 1,
+ "overtakes": 2 * D + F,
## feed_forward_alone [counted]: For your last entry you leave the projections out; they belong to the rest of the
block.
- "overtakes": 2 * D + F + 1,
+ "overtakes": F + 1,
## projections_alone [counted]: For your last entry you compare with the projections alone; the feed-forward layer
belongs to the rest.
- "overtakes": 2 * D + F + 1,
+ "overtakes": 2 * D + 1,
## overtaken_by_the_triangle [counted]: Your last entry takes half of the pairs; all N² of them are to be computed
there.
- "overtakes": 2 * D + F + 1,
+ "overtakes": 2 * (2 * D + F),
## rest_of_this_text [counted]: For your last entry you hold the rest at N tokens while the pairs grow; the rest of a
longer text grows too.
- "overtakes": 2 * D + F + 1,
+ "overtakes": int(np.sqrt(N * (2 * D + F))) + 1,
## pairs_of_all_heads: You count the pairs once for each head; a pair is a target and a source.
- "pairs": pairs,
+ "pairs": H * pairs,
## hidden_width_assumed [counted]: You take a hidden layer four times as wide as the model; here its width is F.
- "overtakes": 2 * D + F + 1,
+ "overtakes": 6 * D + 1,
## corner_too_large: The corner that the first tokens lack has W (W − 1) / 2 pairs; yours has W more.
- pairs = sum(min(n + 1, W) for n in range(N))
+ pairs = N * W - W * (W + 1) // 2 if N >= W else N * (N + 1) // 2
## scores_of_one_head [counted]: You count the scores and averages of a single head.
- "scores and averages": 4 * D * pairs,
+ "scores and averages": 4 * (D // H) * pairs,
""")
