"""Named wrong solutions of exercise 14: what learners write, and the sentence that tells them so."""

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()


# exponent


@wrong(
    "exponent",
    says="Your slopes are those of the numbers themselves; an exponent is a slope between logarithms.",
    section="what-grows-and-how-fast",
)
def no_logarithms(lengths, costs):
    return np.polyfit(lengths, costs, 1)[0], np.diff(costs) / np.diff(lengths)


@wrong(
    "exponent", says="You take the logarithm of the costs and not of the lengths.", section="what-grows-and-how-fast"
)
def only_costs_logarithmic(lengths, costs):
    return np.polyfit(lengths, np.log(costs), 1)[0], np.diff(np.log(costs)) / np.diff(lengths)


@wrong(
    "exponent", says="You take the logarithm of the lengths and not of the costs.", section="what-grows-and-how-fast"
)
def only_lengths_logarithmic(lengths, costs):
    return np.polyfit(np.log(lengths), costs, 1)[0], np.diff(costs) / np.diff(np.log(lengths))


@wrong(
    "exponent",
    says="You fit the power to the costs themselves, where the largest decides; fit a line to the logarithms.",
    section="what-grows-and-how-fast",
)
def power_fitted_to_the_costs(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    p, height = np.polyfit(n, t, 1)
    for _ in range(100):
        fit = np.exp(height + p * n)
        step, *_ = np.linalg.lstsq(np.stack([n * fit, fit], axis=1), costs - fit, rcond=None)
        p, height = p + step[0], height + step[1]
    return p, np.diff(t) / np.diff(n)


@wrong(
    "exponent",
    says="You have fitted the lengths by the costs, which turns the picture on its side.",
    section="what-grows-and-how-fast",
)
def axes_exchanged(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return np.polyfit(t, n, 1)[0], np.diff(n) / np.diff(t)


@wrong(
    "exponent",
    says="The first of your results is the height of the line at length 1, not its slope.",
    section="what-grows-and-how-fast",
)
def intercept_for_slope(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return np.polyfit(n, t, 1)[1], np.diff(t) / np.diff(n)


@wrong(
    "exponent",
    says="You force the line through the origin: subtract the means before you multiply.",
    section="what-grows-and-how-fast",
)
def through_the_origin(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return n @ t / (n @ n), np.diff(t) / np.diff(n)


@wrong(
    "exponent",
    says="The mean of the exponents between neighbours is not the line that fits all points best.",
    section="what-grows-and-how-fast",
)
def mean_of_the_neighbours(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return (np.diff(t) / np.diff(n)).mean(), np.diff(t) / np.diff(n)


@wrong(
    "exponent",
    says="Your first result joins the first point to the last and does not look at the others.",
    section="what-grows-and-how-fast",
)
def ends_only(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return (t[-1] - t[0]) / (n[-1] - n[0]), np.diff(t) / np.diff(n)


@wrong(
    "exponent",
    says="Between neighbours you give the rise without dividing by the run.",
    section="what-grows-and-how-fast",
)
def rise_without_run(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return np.polyfit(n, t, 1)[0], np.diff(t)


@wrong(
    "exponent",
    says="Between neighbours you take the logarithm to base 2 of the costs as if every length doubled.",
    section="counted",
)
def as_if_doubled(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return np.polyfit(n, t, 1)[0], np.diff(np.log2(costs))


@wrong(
    "exponent",
    says="Between neighbours you divide the factor of the costs by the factor of the lengths; take logarithms of both.",
    section="what-grows-and-how-fast",
)
def ratio_of_ratios(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return np.polyfit(n, t, 1)[0], costs[1:] / costs[:-1] / (lengths[1:] / lengths[:-1])


@wrong("exponent", says="The two logarithms have different bases.", section="what-grows-and-how-fast")
def mixed_bases(lengths, costs):
    n, t = np.log2(lengths), np.log(costs)
    return np.polyfit(n, t, 1)[0], np.diff(t) / np.diff(n)


@wrong(
    "exponent",
    says="Your first result is a correlation, which says how straight the line is and not how steep.",
    section="what-grows-and-how-fast",
)
def correlation(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return np.corrcoef(n, t)[0, 1], np.diff(t) / np.diff(n)


@wrong(
    "exponent",
    says="You give the slope of the plain numbers between neighbours, though your fit uses logarithms.",
    section="what-grows-and-how-fast",
)
def plain_neighbours(lengths, costs):
    return np.polyfit(np.log(lengths), np.log(costs), 1)[0], np.diff(costs) / np.diff(lengths)


@wrong(
    "exponent",
    says="You have fitted a parabola; the exponent is the slope of a straight line.",
    section="what-grows-and-how-fast",
)
def parabola(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return np.polyfit(n, t, 2)[0], np.diff(t) / np.diff(n)


@wrong(
    "exponent",
    says="Your first result is a coefficient of a parabola; fit a straight line.",
    section="what-grows-and-how-fast",
)
def slope_of_a_parabola(lengths, costs):
    n, t = np.log(lengths), np.log(costs)
    return np.polyfit(n, t, 2)[1], np.diff(t) / np.diff(n)


# block


@wrong(
    "block",
    says="You count every pair of tokens; a token does not see what comes after it, nor what has left the window.",
    section="a-window",
)
def all_pairs(N, D, H, F, W):
    pairs = N * N
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong("block", says="You count the causal triangle as if there were no window.", section="a-window")
def triangle(N, D, H, F, W):
    pairs = N * (N + 1) // 2
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong(
    "block",
    says="You give every token a full window; the first ones have fewer tokens before them.",
    section="a-window",
)
def full_windows(N, D, H, F, W):
    pairs = N * min(N, W)
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong(
    "block",
    says="Your formula for the pairs holds for texts of at least W tokens, and you use it for shorter ones as well.",
    section="a-window",
)
def formula_for_short_texts(N, D, H, F, W):
    pairs = N * W - W * (W - 1) // 2
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong(
    "block", says="Your window has W tokens besides the token itself; it is one of the W.", section="common-mistakes"
)
def window_plus_one(N, D, H, F, W):
    pairs = sum(min(n + 1, W + 1) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong("block", says="Your tokens do not see themselves.", section="a-window")
def without_itself(N, D, H, F, W):
    pairs = sum(min(n, W - 1) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong("block", says="You count multiplications only; each comes with an addition.", section="counted")
def multiplications_only(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 4 * N * D * D,
        "pairs": pairs,
        "scores and averages": 2 * D * pairs,
        "feed-forward": 2 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong(
    "block", says="You count scores and averages once more for each head; a head is only D/H wide.", section="counted"
)
def scores_of_full_width(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs * H,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong("block", says="You count the scores and forget that the values are averaged as well.", section="counted")
def scores_without_averages(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 2 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong("block", says="There are four maps: queries, keys, values, and the one behind the heads.", section="counted")
def three_maps(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 6 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong("block", says="The feed-forward layer has two maps, up and down; you count one.", section="counted")
def one_way_feed_forward(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 2 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong(
    "block",
    says="At your last entry both sides are still equal; asked is the first length at which the scores take more.",
    section="counted",
)
def where_both_are_equal(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F,
    }


@wrong(
    "block",
    says="For your last entry you leave the projections out; they belong to the rest of the block.",
    section="counted",
)
def feed_forward_alone(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": F + 1,
    }


@wrong(
    "block",
    says="For your last entry you compare with the projections alone; the feed-forward layer belongs to the rest.",
    section="counted",
)
def projections_alone(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + 1,
    }


@wrong(
    "block", says="Your last entry takes half of the pairs; all N² of them are to be computed there.", section="counted"
)
def overtaken_by_the_triangle(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * (2 * D + F),
    }


@wrong(
    "block",
    says="For your last entry you hold the rest at N tokens while the pairs grow; the rest of a longer text grows too.",
    section="counted",
)
def rest_of_this_text(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": int(np.sqrt(N * (2 * D + F))) + 1,
    }


@wrong("block", says="You count the pairs once for each head; a pair is a target and a source.", section="a-window")
def pairs_of_all_heads(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": H * pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong("block", says="You take a hidden layer four times as wide as the model; here its width is F.", section="counted")
def hidden_width_assumed(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 6 * D + 1,
    }


@wrong(
    "block", says="The corner that the first tokens lack has W (W − 1) / 2 pairs; yours has W more.", section="a-window"
)
def corner_too_large(N, D, H, F, W):
    pairs = N * W - W * (W + 1) // 2 if N >= W else N * (N + 1) // 2
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * D * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


@wrong("block", says="You count the scores and averages of a single head.", section="counted")
def scores_of_one_head(N, D, H, F, W):
    pairs = sum(min(n + 1, W) for n in range(N))
    return {
        "projections": 8 * N * D * D,
        "pairs": pairs,
        "scores and averages": 4 * (D // H) * pairs,
        "feed-forward": 4 * N * D * F,
        "overtakes": 2 * D + F + 1,
    }


# cache


@wrong(
    "cache",
    says="You keep keys and values for every head; there are only G sets of them.",
    section="a-budget-for-the-cache",
)
def a_set_for_each_head(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * D
    return token * min(N, W), 0 if token * W <= budget else budget // token


@wrong(
    "cache", says="You keep the keys and forget the values, or the other way round.", section="a-budget-for-the-cache"
)
def keys_alone(M, D, H, G, W, b, B, N, budget):
    token = b * B * M * G * (D // H)
    return token * min(N, W), 0 if token * W <= budget else budget // token


@wrong("cache", says="You give each group the full width D; a head is D/H wide.", section="a-budget-for-the-cache")
def groups_of_full_width(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * D
    return token * min(N, W), 0 if token * W <= budget else budget // token


@wrong(
    "cache",
    says="You divide the width among the groups; the width of a key is that of a head, D/H.",
    section="a-budget-for-the-cache",
)
def width_of_a_group(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * H * (D // G)
    return token * min(N, W), 0 if token * W <= budget else budget // token


@wrong(
    "cache",
    says="Your cache is that of one sequence; each of the B sequences has its own.",
    section="a-budget-for-the-cache",
)
def one_sequence(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * M * G * (D // H)
    return token * min(N, W), 0 if token * W <= budget else budget // token


@wrong("cache", says="Your budget pays for one sequence, and there are B.", section="a-budget-for-the-cache")
def budget_for_one_sequence(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * M * G * (D // H)
    return B * token * min(N, W), 0 if token * W <= budget else budget // token


@wrong(
    "cache",
    says="Your limit counts the tokens of all B sequences together; asked is how many each of them may have.",
    section="a-budget-for-the-cache",
)
def limit_for_all_together(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * M * G * (D // H)
    return B * token * min(N, W), 0 if B * token * W <= budget else budget // token


@wrong(
    "cache", says="Your cache is that of one layer; each of the M layers has its own.", section="a-budget-for-the-cache"
)
def one_layer(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * G * (D // H)
    return token * min(N, W), 0 if token * W <= budget else budget // token


@wrong("cache", says="You count numbers and not bytes.", section="a-budget-for-the-cache")
def numbers_for_bytes(M, D, H, G, W, b, B, N, budget):
    token = 2 * B * M * G * (D // H)
    return token * min(N, W), 0 if token * W <= budget else budget // token


@wrong("cache", says="You count bits: b is in bytes already.", section="a-budget-for-the-cache")
def bits_for_bytes(M, D, H, G, W, b, B, N, budget):
    token = 16 * b * B * M * G * (D // H)
    return token * min(N, W), 0 if token * W <= budget else budget // token


@wrong("cache", says="You keep every token, also those that have left the window.", section="a-cache-that-rolls")
def nothing_forgotten(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    return token * N, 0 if token * W <= budget else budget // token


@wrong("cache", says="You reserve the whole window for a text that is shorter.", section="a-budget-for-the-cache")
def always_a_full_window(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    return token * W, 0 if token * W <= budget else budget // token


@wrong(
    "cache",
    says="You keep W − 1 tokens; the newest is one of the W, and it lies in the cache as well.",
    section="a-cache-that-rolls",
)
def newest_not_kept(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    return token * min(N, W - 1), 0 if token * (W - 1) <= budget else budget // token


@wrong("cache", says="You keep W tokens besides the newest; it is one of the W.", section="common-mistakes")
def newest_kept_besides(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    return token * min(N, W + 1), 0 if token * (W + 1) <= budget else budget // token


@wrong(
    "cache",
    says="Where the budget holds a full window a text may be as long as it likes; you give a limit all the same.",
    section="a-cache-that-rolls",
)
def a_limit_in_any_case(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    return token * min(N, W), budget // token


@wrong(
    "cache",
    says="A budget that holds the full window exactly holds it; you still give a limit there.",
    section="a-cache-that-rolls",
)
def exactly_a_window_is_too_little(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    return token * min(N, W), 0 if token * W < budget else budget // token


@wrong("cache", says="You round up: the last of your tokens does not fit in full.", section="a-budget-for-the-cache")
def rounded_up(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    return token * min(N, W), 0 if token * W <= budget else -(-budget // token)


@wrong(
    "cache",
    says="Your second result is what is left of the budget when N tokens are stored, not how many it holds.",
    section="a-budget-for-the-cache",
)
def what_is_left(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    return token * min(N, W), 0 if token * W <= budget else max(budget // token - N, 0)


@wrong(
    "cache",
    says="Where the budget holds the whole window you give the window as a limit; there is none, older tokens go.",
    section="a-cache-that-rolls",
)
def window_as_the_limit(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    return token * min(N, W), min(budget // token, W)


@wrong(
    "cache",
    says="You ask whether the budget holds N tokens; there is no limit if it holds the window.",
    section="a-cache-that-rolls",
)
def compared_with_the_text(M, D, H, G, W, b, B, N, budget):
    token = 2 * b * B * M * G * (D // H)
    return token * min(N, W), 0 if budget // token >= N else budget // token


# merge


@wrong(
    "merge",
    says="You add the sums as they are, though each was measured from a largest score of its own.",
    section="what-to-remember-of-a-block",
)
def added_as_they_are(m_1, l_1, O_1, m_2, l_2, O_2):
    return np.maximum(m_1, m_2), l_1 + l_2, O_1 + O_2


@wrong(
    "merge",
    says="Your factors have the wrong sign: a part with smaller scores has to shrink, and yours grows.",
    section="what-to-remember-of-a-block",
)
def factors_upside_down(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    s_1, s_2 = (
        np.exp(np.where(np.isneginf(m), 0.0, m) - np.where(np.isneginf(m_1), 0.0, m_1)),
        np.exp(np.where(np.isneginf(m), 0.0, m) - np.where(np.isneginf(m_2), 0.0, m_2)),
    )
    return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


@wrong(
    "merge",
    says="You correct l and leave O as it was; both were measured from the same score.",
    section="what-to-remember-of-a-block",
)
def only_the_sums_corrected(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    top = np.maximum(m, -1e300)
    s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
    return m, s_1 * l_1 + s_2 * l_2, O_1 + O_2


@wrong(
    "merge",
    says="You correct O and leave l as it was; both were measured from the same score.",
    section="what-to-remember-of-a-block",
)
def only_the_products_corrected(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    top = np.maximum(m, -1e300)
    s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
    return m, l_1 + l_2, s_1 * O_1 + s_2 * O_2


@wrong(
    "merge",
    says="You shrink the first part only, as if the second always had the larger score.",
    section="what-to-remember-of-a-block",
)
def only_the_first_shrinks(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    top = np.maximum(m, -1e300)
    s_1 = np.exp(m_1 - top)
    return m, s_1 * l_1 + l_2, s_1 * O_1 + O_2


@wrong(
    "merge",
    says="You keep the first part's largest score as the common one; where the second is larger, its factor explodes.",
    section="what-to-remember-of-a-block",
)
def first_maximum_kept(m_1, l_1, O_1, m_2, l_2, O_2):
    shrink = np.exp(m_2 - np.where(np.isneginf(m_1), 0.0, m_1))
    return m_1, l_1 + shrink * l_2, O_1 + shrink * O_2


@wrong(
    "merge",
    says="You take the second part's largest score as the common one; where the first is larger, its factor explodes.",
    section="what-to-remember-of-a-block",
)
def second_maximum_taken(m_1, l_1, O_1, m_2, l_2, O_2):
    grow = np.exp(m_1 - np.where(np.isneginf(m_2), 0.0, m_2))
    return m_2, grow * l_1 + l_2, grow * O_1 + O_2


@wrong(
    "merge",
    says="You take the smaller of the two maxima, so that factors are above 1 and overflow for large scores.",
    section="one-pass-is-enough",
)
def smaller_maximum(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.minimum(m_1, m_2)
    top = np.where(np.isneginf(m), 0.0, m)
    s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
    return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


@wrong(
    "merge",
    says="The largest score of both blocks is the larger of the two, not their sum.",
    section="what-to-remember-of-a-block",
)
def maxima_added(m_1, l_1, O_1, m_2, l_2, O_2):
    top = np.maximum(np.maximum(m_1, m_2), -1e300)
    s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
    return m_1 + m_2, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


@wrong(
    "merge",
    says="Where both blocks are hidden from a target you subtract −∞ from −∞, which is not a number.",
    section="what-to-remember-of-a-block",
)
def nothing_for_empty_blocks(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    s_1, s_2 = np.exp(m_1 - m), np.exp(m_2 - m)
    return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


@wrong(
    "merge",
    says="You go back to exponentials without a subtracted maximum, and these overflow or vanish for large scores.",
    section="one-pass-is-enough",
)
def absolute_exponentials(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    sums = np.exp(m_1) * l_1 + np.exp(m_2) * l_2
    products = np.exp(m_1) * O_1 + np.exp(m_2) * O_2
    back = np.exp(-np.where(np.isneginf(m), 0.0, m))
    return m, sums * back, products * back


@wrong(
    "merge",
    says="You divide O by l. The division comes in the very end, else the next merge weighs it wrongly.",
    section="what-to-remember-of-a-block",
)
def divided_too_soon(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    top = np.maximum(m, -1e300)
    s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
    sums = s_1 * l_1 + s_2 * l_2
    return m, sums, (s_1 * O_1 + s_2 * O_2) / np.where(sums > 0, sums, 1)


@wrong(
    "merge", says="You weigh O with l as well; O holds a sum already, and no average.", section="merging-is-attention"
)
def products_weighted_by_sums(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    top = np.maximum(m, -1e300)
    s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
    return m, s_1 * l_1 + s_2 * l_2, s_1 * l_1 * O_1 + s_2 * l_2 * O_2


@wrong(
    "merge",
    says="You subtract the largest score of all targets; each target has its own.",
    section="what-to-remember-of-a-block",
)
def one_maximum_for_all(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    top = np.full_like(m, np.where(np.isneginf(m), 0.0, m).max())
    s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
    return top, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


@wrong(
    "merge",
    says="Your factors use the base 2, and the sums were made with the base e.",
    section="what-to-remember-of-a-block",
)
def base_two(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    top = np.maximum(m, -1e300)
    s_1, s_2 = 2.0 ** (m_1 - top), 2.0 ** (m_2 - top)
    return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


@wrong(
    "merge",
    says="Your m is the logarithm of the whole sum; what is kept is the largest score.",
    section="merging-is-attention",
)
def logarithm_for_maximum(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    top = np.maximum(m, -1e300)
    s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
    sums = s_1 * l_1 + s_2 * l_2
    return m + np.log(np.where(sums > 0, sums, 1)), sums, s_1 * O_1 + s_2 * O_2


@wrong(
    "merge",
    says="The m of a target that has seen nothing yet stays −∞; yours has become a finite number.",
    section="what-to-remember-of-a-block",
)
def finite_for_nothing(m_1, l_1, O_1, m_2, l_2, O_2):
    least = np.finfo(float).min
    m_1, m_2 = np.maximum(m_1, least), np.maximum(m_2, least)
    m = np.maximum(m_1, m_2)
    s_1, s_2 = np.exp(m_1 - m), np.exp(m_2 - m)
    return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


@wrong(
    "merge",
    says="You replace −∞ by 0 in m, and 0 is a score like any other; a target that has seen nothing keeps −∞.",
    section="what-to-remember-of-a-block",
)
def zero_for_nothing(m_1, l_1, O_1, m_2, l_2, O_2):
    m_1, m_2 = np.where(np.isneginf(m_1), 0.0, m_1), np.where(np.isneginf(m_2), 0.0, m_2)
    m = np.maximum(m_1, m_2)
    s_1, s_2 = np.exp(m_1 - m), np.exp(m_2 - m)
    return m, s_1 * l_1 + s_2 * l_2, s_1 * O_1 + s_2 * O_2


@wrong(
    "merge",
    says="You lay the factors along the features of O; there is one for each target, and targets are columns.",
    section="what-to-remember-of-a-block",
)
def factors_along_the_features(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    top = np.maximum(m, -1e300)
    s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
    return m, s_1 * l_1 + s_2 * l_2, s_1[:, None] * O_1 + s_2[:, None] * O_2


@wrong(
    "merge",
    says="You treat O as an average and weigh it with shares of the whole; O is a sum that was never divided.",
    section="merging-is-attention",
)
def sums_taken_for_averages(m_1, l_1, O_1, m_2, l_2, O_2):
    m = np.maximum(m_1, m_2)
    top = np.maximum(m, -1e300)
    s_1, s_2 = np.exp(m_1 - top), np.exp(m_2 - top)
    sums = s_1 * l_1 + s_2 * l_2
    whole = np.where(sums > 0, sums, 1)
    return m, sums, s_1 * l_1 / whole * O_1 + s_2 * l_2 / whole * O_2


@wrong(
    "merge",
    says="An `if` decides once for all targets; here each target has maxima of its own.",
    section="what-to-remember-of-a-block",
)
def one_decision(m_1, l_1, O_1, m_2, l_2, O_2):
    if m_1 > m_2:
        shrink = np.exp(m_2 - m_1)
        return m_1, l_1 + shrink * l_2, O_1 + shrink * O_2
    shrink = np.exp(m_1 - m_2)
    return m_2, shrink * l_1 + l_2, shrink * O_1 + O_2


# blocks


@wrong("blocks", says="The scores are not divided by the root of K.", section="merging-is-attention")
def unscaled(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q, Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


@wrong("blocks", says="You divide the scores by K instead of its root.", section="merging-is-attention")
def scaled_by_k(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / len(Q), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


@wrong(
    "blocks",
    says="You average the outputs of the blocks as if all weighed the same; their denominators are the weights.",
    section="merging-is-attention",
)
def mean_of_the_outputs(Q, blocks, causal):
    K, _ = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    m = C.max(axis=0)
    L = m + np.log(np.exp(C - m).sum(axis=0))
    outputs, first = [], 0
    for keys, values in blocks:
        part = C[first : first + keys.shape[1]]
        e = np.exp(part - np.maximum(part.max(axis=0), -1e300))
        outputs.append(values @ e / np.maximum(e.sum(axis=0), 1e-300))
        first += keys.shape[1]
    return np.mean(outputs, axis=0), L


@wrong(
    "blocks",
    says="You weigh the outputs of the blocks with the numbers of their sources; their denominators are the weights.",
    section="merging-is-attention",
)
def weighted_by_size(Q, blocks, causal):
    K, _ = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    m = C.max(axis=0)
    L = m + np.log(np.exp(C - m).sum(axis=0))
    outputs, first = [], 0
    for keys, values in blocks:
        part = C[first : first + keys.shape[1]]
        e = np.exp(part - np.maximum(part.max(axis=0), -1e300))
        outputs.append(values @ e / np.maximum(e.sum(axis=0), 1e-300))
        first += keys.shape[1]
    sizes = [keys.shape[1] for keys, _ in blocks]
    return np.average(outputs, axis=0, weights=sizes), L


@wrong(
    "blocks",
    says="The old sums are not shrunk when a later block has a larger score.",
    section="what-to-remember-of-a-block",
)
def never_shrunk(Q, blocks, causal):
    K, _ = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    m, sums, products, first = np.full(N, -np.inf), 0.0, 0.0, 0
    for keys, values in blocks:
        part = C[first : first + keys.shape[1]]
        m = np.maximum(m, part.max(axis=0))
        e = np.exp(part - np.maximum(m, -1e300))
        sums, products = sums + e.sum(axis=0), products + values @ e
        first += keys.shape[1]
    return products / sums, m + np.log(sums)


@wrong("blocks", says="The last block is missing from your result.", section="common-mistakes")
def without_the_last(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    if len(blocks) > 1:
        kept = len(C) - blocks[-1][0].shape[1]
        C, V = C[:kept], V[:, :kept]
    m = np.maximum(C.max(axis=0), -1e300)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


@wrong("blocks", says="Your result is that of the last block alone.", section="what-to-remember-of-a-block")
def the_last_alone(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    first = len(C) - blocks[-1][0].shape[1]
    C, V = C[first:], V[:, first:]
    m = np.maximum(C.max(axis=0), -1e300)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


@wrong(
    "blocks",
    says="Your L is the logarithm of the sum after the maximum was subtracted; add the maximum again.",
    section="merging-is-attention",
)
def logarithm_without_maximum(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    e = np.exp(C - C.max(axis=0))
    return V @ e / e.sum(axis=0), np.log(e.sum(axis=0))


@wrong(
    "blocks", says="Your L is the largest score; the logarithm of the sum is missing.", section="merging-is-attention"
)
def maximum_for_logarithm(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m


@wrong("blocks", says="You return the denominator and not its logarithm.", section="merging-is-attention")
def denominator_itself(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), np.exp(m) * e.sum(axis=0)


@wrong(
    "blocks",
    says="You put the targets at the beginning of the text; they are its last N tokens.",
    section="merging-is-attention",
)
def targets_first(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), 0, dtype=bool).T, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


@wrong("blocks", says="With `causal` your targets do not see themselves.", section="merging-is-attention")
def not_itself(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N - 1, dtype=bool).T, C, -np.inf)
    m = np.maximum(C.max(axis=0), -1e300)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


@wrong("blocks", says="With `causal` your targets see one token of the future.", section="merging-is-attention")
def one_ahead(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N + 1, dtype=bool).T, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


@wrong("blocks", says="You do not look at `causal`: your targets see the future.", section="merging-is-attention")
def no_mask(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C = K.T @ Q / np.sqrt(len(Q))
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


@wrong(
    "blocks",
    says="You use the mask without being asked: with `causal` false every target sees everything.",
    section="merging-is-attention",
)
def always_a_mask(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    late = max(len(C) - N, 0)
    C = np.where(np.tri(N, len(C), late, dtype=bool).T, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


@wrong(
    "blocks",
    says="You number the sources of each block from 0 again; the mask needs their places in the whole text.",
    section="merging-is-attention",
)
def places_restart(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        places = np.concatenate([np.arange(keys.shape[1]) for keys, _ in blocks])
        C = np.where(places[:, None] <= np.arange(N) + len(C) - N, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


@wrong(
    "blocks",
    says="You normalise over the targets; the weights of the sources of one target sum to 1.",
    section="one-pass-is-enough",
)
def softmax_over_targets(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    m = C.max(axis=0)
    L = m + np.log(np.exp(C - m).sum(axis=0))
    e = np.exp(C - np.maximum(C.max(axis=1, keepdims=True), -1e300))
    return V @ (e / np.maximum(e.sum(axis=1, keepdims=True), 1e-300)), L


@wrong(
    "blocks",
    says="Your exponentials overflow for scores in the ten thousands: subtract the largest score first.",
    section="one-pass-is-enough",
)
def no_maximum(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    e = np.exp(C)
    return V @ e / e.sum(axis=0), np.log(e.sum(axis=0))


@wrong(
    "blocks",
    says="A hidden source still takes part with the score 0; it has to get no weight at all.",
    section="what-to-remember-of-a-block",
)
def hidden_by_zero(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, 0.0)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


@wrong(
    "blocks",
    says="You leave out blocks that begin after a target, and show the others whole; inside a block the mask goes on.",
    section="merging-is-attention",
)
def mask_of_whole_blocks(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        sizes = [keys.shape[1] for keys, _ in blocks]
        begins = np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
        C = np.where(begins[:, None] <= np.arange(N) + len(C) - N, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


@wrong(
    "blocks",
    says="Your L is a logarithm to base 2; it has to undo the exponential, whose base is e.",
    section="merging-is-attention",
)
def logarithm_to_base_two(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m / np.log(2) + np.log2(e.sum(axis=0))


@wrong(
    "blocks",
    says="A block that a target may not see at all has no largest score: you subtract −∞ from −∞ there.",
    section="what-to-remember-of-a-block",
)
def hidden_blocks_undefined(Q, blocks, causal):
    K, _ = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(Q)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    parts, first = [], 0
    for keys, values in blocks:
        part = C[first : first + keys.shape[1]]
        m = part.max(axis=0)
        e = np.exp(part - m)
        parts.append((m, e.sum(axis=0), values @ e))
        first += keys.shape[1]
    top = np.max([m for m, _, _ in parts], axis=0)
    sums = sum(np.exp(m - top) * total for m, total, _ in parts)
    products = sum(np.exp(m - top) * product for m, _, product in parts)
    return products / sums, top + np.log(sums)


@wrong(
    "blocks",
    says="You divide the scores by the root of the width of the values; it is the width of the keys.",
    section="merging-is-attention",
)
def scaled_by_the_values(Q, blocks, causal):
    K, V = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
    C, N = K.T @ Q / np.sqrt(len(V)), Q.shape[1]
    if causal:
        C = np.where(np.tri(N, len(C), len(C) - N, dtype=bool).T, C, -np.inf)
    m = C.max(axis=0)
    e = np.exp(C - m)
    return V @ e / e.sum(axis=0), m + np.log(e.sum(axis=0))


# rolling


@wrong(
    "rolling",
    says="Once all columns are used, yours goes on replacing the last one; the oldest token lies elsewhere.",
    section="a-cache-that-rolls",
)
def last_column_again(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, min(length, W - 1)], values[:, min(length, W - 1)] = k, v
    seen = slice(0, min(length + 1, W))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong("rolling", says="Columns that were never used take part in your softmax.", section="a-cache-that-rolls")
def empty_columns_count(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    seen = slice(0, W)
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong("rolling", says="Your scores are divided by K instead of its root.", section="a-cache-that-rolls")
def divided_by_k(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    seen = slice(0, min(length + 1, W))
    scores = q @ keys[:, seen] / len(q)
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong("rolling", says="Your scores are not divided by the root of K.", section="a-cache-that-rolls")
def not_divided(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    seen = slice(0, min(length + 1, W))
    scores = q @ keys[:, seen]
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong("rolling", says="The museum piece is unchanged.", section="a-cache-that-rolls")
def as_in_the_museum(k, v, q, keys, values, length):
    keys, values = np.array(keys), np.array(values)
    column = min(length, keys.shape[1] - 1)
    keys[:, column], values[:, column] = k, v
    scores = q @ keys / len(k)
    rises = np.exp(scores - max(scores))
    return (values * rises).sum(axis=1) / rises.sum(), keys, values


@wrong(
    "rolling",
    says="You count the tokens from 1: the first one goes into the first column, whose number is 0.",
    section="a-cache-that-rolls",
)
def one_column_late(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, (length + 1) % W], values[:, (length + 1) % W] = k, v
    seen = slice(0, min(length + 1, W))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong(
    "rolling",
    says="The new token does not see itself: it has to be stored before it looks.",
    section="a-cache-that-rolls",
)
def looks_before_it_stores(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    if length == 0:
        keys[:, length % W], values[:, length % W] = k, v
    seen = slice(0, max(min(length, W), 1))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    y = values[:, seen] @ e / e.sum()
    keys[:, length % W], values[:, length % W] = k, v
    return y, keys, values


@wrong(
    "rolling",
    says="You shut the newest token out: length + 1 columns are in use once it is stored.",
    section="a-cache-that-rolls",
)
def one_column_short(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    seen = slice(0, max(min(length, W), 1))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong(
    "rolling",
    says="You look at the columns up to the new one only; after a round the older tokens lie behind it.",
    section="a-cache-that-rolls",
)
def up_to_the_new_column(k, v, q, keys, values, length):
    column = length % keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, column], values[:, column] = k, v
    seen = slice(0, column + 1)
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong(
    "rolling",
    says="You push all columns one place on and store in the last; a token stays in the column n mod W.",
    section="a-cache-that-rolls",
)
def pushed_along(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    if length < W:
        keys[:, length], values[:, length] = k, v
    else:
        keys, values = np.c_[keys[:, 1:], k], np.c_[values[:, 1:], v]
    seen = slice(0, min(length + 1, W))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong("rolling", says="You attend over the key of the new token alone.", section="a-cache-that-rolls")
def only_the_new_one(k, v, q, keys, values, length):
    column = length % keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, column], values[:, column] = k, v
    seen = slice(column, column + 1)
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong("rolling", says="You store the key and forget the value.", section="a-cache-that-rolls")
def value_not_stored(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, values[:, length % W]
    seen = slice(0, min(length + 1, W))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong("rolling", says="You store the query in the place of the key.", section="a-cache-that-rolls")
def query_stored(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = q, v
    seen = slice(0, min(length + 1, W))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong("rolling", says="You use the key of the new token to ask; the query does that.", section="a-cache-that-rolls")
def key_asks(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    seen = slice(0, min(length + 1, W))
    scores = k @ keys[:, seen] / np.sqrt(len(k))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong(
    "rolling",
    says="The scores overflow when they are large: subtract the largest before you take exponentials.",
    section="one-pass-is-enough",
)
def no_largest_score(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    seen = slice(0, min(length + 1, W))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores)
    return values[:, seen] @ e / e.sum(), keys, values


@wrong(
    "rolling",
    says="You write into the arrays that you were given; the caller still needs them.",
    section="a-cache-that-rolls",
)
def in_place(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys[:, length % W], values[:, length % W] = k, v
    seen = slice(0, min(length + 1, W))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong(
    "rolling",
    says="There are W columns, and token n goes into column n mod W; you count one column too few.",
    section="a-cache-that-rolls",
)
def modulo_one_less(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % max(W - 1, 1)], values[:, length % max(W - 1, 1)] = k, v
    seen = slice(0, min(length + 1, W))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong(
    "rolling",
    says="You set columns that were never used to 0 and let them take part; a score of 0 has a weight.",
    section="a-cache-that-rolls",
)
def empty_columns_zero(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    keys[:, length + 1 :], values[:, length + 1 :] = 0, 0
    scores = q @ keys / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values @ e / e.sum(), keys, values


@wrong(
    "rolling", says="After a round all W columns are in use; you leave the last one out.", section="a-cache-that-rolls"
)
def a_column_less_after_a_round(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    seen = slice(0, length + 1 if length < W else max(W - 1, 1))
    scores = q @ keys[:, seen] / np.sqrt(len(q))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong(
    "rolling",
    says="Your scores are divided by the root of the width of the values; it is that of the keys.",
    section="a-cache-that-rolls",
)
def divided_by_the_values(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    seen = slice(0, min(length + 1, W))
    scores = q @ keys[:, seen] / np.sqrt(len(v))
    e = np.exp(scores - scores.max())
    return values[:, seen] @ e / e.sum(), keys, values


@wrong(
    "rolling",
    says="You hide the column of the newest token with the empty ones, and the first token sees nothing at all.",
    section="a-cache-that-rolls",
)
def newest_hidden(k, v, q, keys, values, length):
    W = keys.shape[1]
    keys, values = keys.copy(), values.copy()
    keys[:, length % W], values[:, length % W] = k, v
    scores = q @ keys / np.sqrt(len(q))
    scores[length:] = -np.inf
    e = np.exp(scores - scores.max())
    return values @ e / e.sum(), keys, values


# paged


@wrong(
    "paged", says="You use the whole last page, with places in it that hold nothing yet.", section="keys-fetched-once"
)
def whole_pages(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own = tables[i]
        seen = slice(0, len(own) * pool_K.shape[3])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong(
    "paged",
    says="You replace NaN by 0 and let the empty places take part; a score of 0 has a weight.",
    section="keys-fetched-once",
)
def nothing_as_zero(Q, pool_K, pool_V, tables, lengths):
    pool_K, pool_V = np.nan_to_num(pool_K), np.nan_to_num(pool_V)
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own = tables[i]
        seen = slice(0, len(own) * pool_K.shape[3])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong(
    "paged",
    says="You leave out the last page where it is partly filled, and with it the newest tokens.",
    section="keys-fetched-once",
)
def full_pages_only(Q, pool_K, pool_V, tables, lengths):
    R = pool_K.shape[3]
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i], slice(0, max(lengths[i] // R * R, min(R, lengths[i])))
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong(
    "paged",
    says="You take pages of the pool from the front, one after the other; the table says which belong to a sequence.",
    section="keys-fetched-once",
)
def first_pages(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = range(len(tables[i])), slice(0, lengths[i])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong(
    "paged",
    says="You sort the pages by their numbers; their order in the table is that of the text, and the last is not full.",
    section="keys-fetched-once",
)
def sorted_pages(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = sorted(tables[i]), slice(0, lengths[i])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong("paged", says="Every sequence reads the table of the first one.", section="keys-fetched-once")
def first_table(Q, pool_K, pool_V, tables, lengths):
    R = pool_K.shape[3]
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[0], slice(0, max(1, min(lengths[i], len(tables[0]) * R)))
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong("paged", says="Every sequence gets the length of the first one.", section="keys-fetched-once")
def first_length(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i], slice(0, lengths[0])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong("paged", says="You read only the last page of each sequence.", section="keys-fetched-once")
def last_page_alone(Q, pool_K, pool_V, tables, lengths):
    R = pool_K.shape[3]
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i][-1:], slice(0, lengths[i] - (len(tables[i]) - 1) * R)
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong(
    "paged",
    says="The newest token is missing: it is stored already and counted in the length.",
    section="keys-fetched-once",
)
def newest_left_out(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i], slice(0, max(1, lengths[i] - 1))
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong(
    "paged",
    says="You deal the heads out in turn: neighbouring heads share a group, h // (H/G).",
    section="keys-fetched-once",
)
def heads_in_turn(Q, pool_K, pool_V, tables, lengths):
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i], slice(0, lengths[i])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h % pool_K.shape[1]] for page in own], axis=1)[:, seen]
                for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong("paged", says="All heads use the first group.", section="keys-fetched-once")
def first_group(Q, pool_K, pool_V, tables, lengths):
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i], slice(0, lengths[i])
        for h in range(Q.shape[1]):
            K, V = (np.concatenate([pool[page, 0] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V))
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong(
    "paged",
    says="You use the first heads' groups in order and then the last group for all others.",
    section="keys-fetched-once",
)
def groups_run_out(Q, pool_K, pool_V, tables, lengths):
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i], slice(0, lengths[i])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, min(h, pool_K.shape[1] - 1)] for page in own], axis=1)[:, seen]
                for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong("paged", says="The scores lack their division by the root of K.", section="keys-fetched-once")
def no_scale(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i], slice(0, lengths[i])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong("paged", says="You divide the scores by K, and not by its root.", section="keys-fetched-once")
def scaled_by_the_whole_width(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i, h in np.ndindex(*Q.shape[:2]):
        K, V = (
            np.concatenate([pool[page, h // share] for page in tables[i]], axis=1)[:, : lengths[i]]
            for pool in (pool_K, pool_V)
        )
        scores = Q[i, h] @ K / Q.shape[2]
        e = np.exp(scores - scores.max())
        outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong(
    "paged",
    says="You divide the scores by the root of the page size; keys have K entries.",
    section="keys-fetched-once",
)
def scaled_by_the_page(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i], slice(0, lengths[i])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(pool_K.shape[3])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong("paged", says="You subtract no maximum, and large scores overflow.", section="one-pass-is-enough")
def overflowing(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i], slice(0, lengths[i])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores)
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong(
    "paged",
    says="You average the outputs of the pages as if all pages weighed the same.",
    section="merging-is-attention",
)
def mean_of_the_pages(Q, pool_K, pool_V, tables, lengths):
    share, R = Q.shape[1] // pool_K.shape[1], pool_K.shape[3]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i, h in np.ndindex(*Q.shape[:2]):
        parts = []
        for place, page in enumerate(tables[i]):
            used = slice(0, min(R, lengths[i] - place * R))
            K, V = pool_K[page, h // share][:, used], pool_V[page, h // share][:, used]
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            parts.append(V @ e / e.sum())
        outputs[i, h] = np.mean(parts, axis=0)
    return outputs


@wrong(
    "paged",
    says="You divide the number of the head by the number of groups; a group has H/G heads, and that is the divisor.",
    section="keys-fetched-once",
)
def divided_by_the_groups(Q, pool_K, pool_V, tables, lengths):
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i], slice(0, lengths[i])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // pool_K.shape[1]] for page in own], axis=1)[:, seen]
                for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong(
    "paged",
    says="A reshape pours the pages out in the order of memory; the axis of pages has to move beside the tokens.",
    section="keys-fetched-once",
)
def pages_poured_out(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i, h in np.ndindex(*Q.shape[:2]):
        K, V = (pool[tables[i]][:, h // share].reshape(pool.shape[2], -1) for pool in (pool_K, pool_V))
        scores = Q[i, h] @ K[:, : lengths[i]] / np.sqrt(Q.shape[2])
        e = np.exp(scores - scores.max())
        outputs[i, h] = V[:, : lengths[i]] @ e / e.sum()
    return outputs


@wrong(
    "paged",
    says="You take length mod R places of the last page, which is none where the page is full.",
    section="keys-fetched-once",
)
def full_page_lost(Q, pool_K, pool_V, tables, lengths):
    R = pool_K.shape[3]
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i], slice(0, max(1, (len(tables[i]) - 1) * R + lengths[i] % R))
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong(
    "paged",
    says="You read the pages of a sequence in reversed order, and cut the end off the wrong one.",
    section="keys-fetched-once",
)
def reversed_pages(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i in range(len(Q)):
        own, seen = tables[i][::-1], slice(0, lengths[i])
        for h in range(Q.shape[1]):
            K, V = (
                np.concatenate([pool[page, h // share] for page in own], axis=1)[:, seen] for pool in (pool_K, pool_V)
            )
            scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
            e = np.exp(scores - scores.max())
            outputs[i, h] = V @ e / e.sum()
    return outputs


@wrong("paged", says="You do not divide by the sum of the exponentials.", section="keys-fetched-once")
def not_normalised(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i, h in np.ndindex(*Q.shape[:2]):
        K, V = (
            np.concatenate([pool[page, h // share] for page in tables[i]], axis=1)[:, : lengths[i]]
            for pool in (pool_K, pool_V)
        )
        scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
        outputs[i, h] = V @ np.exp(scores - scores.max())
    return outputs


@wrong(
    "paged",
    says="A weight of 0 does not remove what a place holds: 0 times NaN is NaN. Cut before you multiply.",
    section="keys-fetched-once",
)
def hidden_by_weight_zero(Q, pool_K, pool_V, tables, lengths):
    share = Q.shape[1] // pool_K.shape[1]
    outputs = np.zeros((*Q.shape[:2], pool_V.shape[2]))
    for i, h in np.ndindex(*Q.shape[:2]):
        K, V = (np.concatenate([pool[page, h // share] for page in tables[i]], axis=1) for pool in (pool_K, pool_V))
        scores = Q[i, h] @ K / np.sqrt(Q.shape[2])
        scores[lengths[i] :] = -np.inf
        e = np.exp(scores - scores.max())
        outputs[i, h] = V @ e / e.sum()
    return outputs


WRONG = wrong
