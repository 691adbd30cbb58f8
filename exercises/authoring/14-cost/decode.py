"""Exercise 14, question decode: the time of a decode step."""

import math

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals
from clearcheck.author.battery import in_cases_of, with_battery


def decode_step(P, M, H, K, G, N, b_w, b_c, B, rho, beta, limit):
    arithmetic, fetched = 2 * P / rho, b_w * P / beta
    work, cache = 4 * M * H * K * N / rho, 2 * b_c * M * G * K * N / beta
    seconds = max(B * arithmetic, fetched) + B * max(work, cache)
    most = min(limit / (arithmetic + max(work, cache)), (limit - fetched) / max(work, cache))
    found = {"seconds": seconds, "weights_waited_for": fetched > B * arithmetic, "caches_waited_for": cache > work}
    return found | {"tokens_per_second": B / seconds, "most": max(0, math.floor(most))}


def draw_args(rng, weights=True, caches=True, crowded=None):
    """Sizes and a machine; ``weights`` and ``caches`` say whether fetching them takes longer than calculating.

    `crowded` says how many texts the limit has room for, and a part of one more.
    """
    M, G, share, K = (int(rng.choice(sizes)) for sizes in ((20, 28, 36), (2, 3, 5), (4, 7), (48, 80, 112)))
    H, b_c = G * share, int(rng.choice([1, 2]))
    b_w = 2 if caches is False else float(rng.choice([0.5, 1, 2]))
    P, rho, N = float(M * 12 * (H * K) ** 2), float(rng.uniform(1, 4)) * 1e14, int(rng.integers(1500, 9000))
    B = int(rng.integers(700, 900)) if not weights else int(rng.integers(3, 40)) if caches else int(rng.integers(1, 3))
    of_weights, of_caches = 2 * B / b_w, 2 * share / b_c  # FLOPs per byte
    ridge = (1.3 if caches else 0.75) * of_caches
    if weights and ridge <= of_weights:
        ridge = 1.7 * of_weights
    elif weights and not caches:
        ridge = math.sqrt(of_weights * of_caches)
    crowded = int(rng.integers(5, 300)) if crowded is None else crowded
    args = P, M, H, K, G, N, b_w, b_c
    more = decode_step(*args, crowded + 0.5, rho, rho / ridge, 1.0)["seconds"]
    return *args, B, rho, rho / ridge, more


def fetched(rng):
    return [draw_args(rng), draw_args(rng), draw_args(rng)]


def all_four(rng):
    """Fetched or calculated, each of the two on its own; then one whose memory is so fast that a single text has to
    wait for arithmetic, and one in which both take exactly as long.
    """
    even, fast = (
        (1024.0, 1, 1, 8, 1, 4, 4, 2, 2, 2048.0, 2048.0, 3.5),
        (1024.0, 1, 1, 8, 1, 4, 1, 2, 3, 1024.0, 4096.0, 9.0),
    )
    sides = ((True, True), (False, True), (True, False), (False, False))
    return [*(draw_args(rng, *sides[i]) for i in (*range(4), 1, 2)), fast, even]


def limits(rng):
    """Room for some by memory, for some by arithmetic, for one, for none, since not even the weights come in time, and
    for exactly three; then steps that wait for weights, and a limit that does for arithmetic, and the other way round.
    """
    cases = [draw_args(rng, crowded=13), draw_args(rng, False, crowded=1200), draw_args(rng, crowded=1)]
    *sizes, rho, beta, _ = draw_args(rng, False)
    weights = sizes[6] * sizes[0] / beta
    by_hand = 128.0, 1, 4, 2, 2, 4, 2, 2, 3, 128.0, 128.0, 9.0
    across = [draw_args(rng, crowded=2500), draw_args(rng, False, crowded=2), draw_args(rng, False, False, crowded=3)]
    return [*cases, (*sizes, rho, beta, 0.6 * weights), by_hand, *across]


def known_models(rng):
    """Llama 2 with 7 and 70 billion parameters on an H100: with each head's own keys, with shared ones, in few bits."""
    h100 = 989e12, 3.35e12, float(rng.uniform(0.0501, 0.0509))
    large = 6.9e10, 80, 64, 128, 8
    few_bits = (*large, 1000, 0.5, 1, 256, *h100)
    return [(6.6e9, 32, 32, 128, 32, 4000, 2, 2, 8, *h100), (*large, 4000, 2, 2, 64, *h100), few_bits]


QUESTION = Question(
    id="decode",
    title="The time of a decode step",
    name="decode_step",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("seconds, all fetched", 2, fetched, decode_step, parts=("seconds",), atol=1e-12),
        equals("seconds, on all sides", 2, all_four, decode_step, parts=("seconds",), atol=1e-12),
        equals("what is waited for", 1, all_four, decode_step, parts=("weights_waited_for", "caches_waited_for")),
        equals("tokens a second", 1, all_four, decode_step, parts=("tokens_per_second",)),
        equals("the most texts", 2, limits, decode_step, parts=("most",)),
        equals("all of it, known models", 2, known_models, decode_step),
        more={"boundary": in_cases_of("what is waited for")},
    ),
    hints=(
        "Four times first: arithmetic and fetching of the matrices, arithmetic and fetching of attention. Which three "
        "of them are multiplied by B?",
        "Each pair has a maximum of its own, and the two maxima are added. All H heads attend; a cache has keys and "
        "values of G groups.",
        "For the most texts: the step keeps the limit where its arithmetic in the matrices plus attention does, and "
        "where the fetched weights plus attention do. Solve both for B, take the smaller, round it down, and never go "
        "below 0.",
    ),
    section="reading-is-fast-writing-is-slow",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def two_summands(P, M, H, K, G, N, b_w, b_c, B, rho, beta, limit):
    arithmetic, fetched = 2 * P / rho, b_w * P / beta
    work, cache = 4 * M * H * K * N / rho, 2 * b_c * M * G * K * N / beta
    matrices, each = max(B * arithmetic, fetched), max(work, cache)
    seconds = matrices + B * each
    room = min(limit / (arithmetic + each), (limit - fetched) / each)
    return {
        "seconds": seconds,
        "weights_waited_for": fetched > B * arithmetic,
        "caches_waited_for": cache > work,
        "tokens_per_second": B / seconds,
        "most": max(0, int(room)),
    }


@right
def counting_up(P, M, H, K, G, N, b_w, b_c, B, rho, beta, limit):
    def times(batch):
        numbers = M * G * 2 * K * N
        matrices = batch * 2 * P / rho, b_w * P / beta
        return matrices, (batch * M * H * 4 * K * N / rho, batch * b_c * numbers / beta)

    def seconds(batch):
        return sum(max(pair) for pair in times(batch))

    most = 0
    while seconds(most + 1) <= limit:
        most += 1
    (arithmetic, weights), (work, caches) = times(B)
    found = dict(seconds=seconds(B), weights_waited_for=bool(weights > arithmetic))
    return found | dict(caches_waited_for=bool(caches > work), tokens_per_second=B / seconds(B), most=most)


@right
def by_intensity(P, M, H, K, G, N, b_w, b_c, B, rho, beta, limit):
    ridge = rho / beta
    starved = np.array([2 * B / b_w, 2 * H / (b_c * G)]) < ridge
    flops = np.array([2.0 * B * P, 4.0 * B * M * H * K * N])
    moved = np.array([b_w * P, 2.0 * b_c * B * M * G * K * N])
    parts = np.where(starved, moved / beta, flops / rho)
    each = parts[1] / B
    rooms = limit / (2 * P / rho + each), (limit - moved[0] / beta) / each
    most = int(np.floor(min(rooms)))
    found = dict(seconds=float(parts.sum()), tokens_per_second=float(B / parts.sum()))
    found |= dict(weights_waited_for=bool(starved[0]), caches_waited_for=bool(starved[1]))
    return found | {"most": most if most > 0 else 0}


wrong.edits("""
# two_summands
## one_maximum: You take one maximum over the whole step. Matrices and attention run one after the other: each has a
maximum of its own, and the two are added.
- seconds = matrices + B * each
+ seconds = max(B * (arithmetic + work), fetched + B * cache)
## larger_summand: You take the larger of matrices and attention; they run one after the other, so their times add up.
+ seconds = max(matrices, B * each)
## attention_once: Each of the B texts has a cache of its own; you count the attention of one.
+ seconds = matrices + each
## no_matrices: You forget the matrices; each step fetches all of them.
+ seconds = B * each
## no_attention: You forget attention; the caches are fetched in every step.
+ seconds = matrices
## all_added [arithmetic-or-memory]: You add calculating and fetching; both go on at once, and the larger one counts.
- matrices, each = max(B * arithmetic, fetched), max(work, cache)
+ matrices, each = B * arithmetic + fetched, work + cache
## smaller_of_both [arithmetic-or-memory]: You take the smaller of two times; a kernel waits for the slower side.
+ matrices, each = min(B * arithmetic, fetched), min(work, cache)
## weights_for_each: The weights are fetched once for all B texts; you fetch them for each.
+ matrices, each = max(B * arithmetic, B * fetched), max(work, cache)
## matrices_for_one: The matrices multiply a token for each of the B texts; you count the arithmetic of one.
+ matrices, each = max(arithmetic, fetched), max(work, cache)
## always_fetched: Your matrices never take the time of their arithmetic, which grows with all B texts; with many it is
the longer one.
+ matrices, each = fetched, max(work, cache)
## cache_always_fetched: Your attention never takes the time of its arithmetic; where many heads share a key it can be
the longer one.
+ matrices, each = max(B * arithmetic, fetched), cache
## heads_in_the_cache [a-budget-for-the-cache]: Your cache has keys for every head; there are only G groups of them.
- work, cache = 4 * M * H * K * N / rho, 2 * b_c * M * G * K * N / beta
+ work, cache = 4 * M * H * K * N / rho, 2 * b_c * M * H * K * N / beta
## keys_alone [a-budget-for-the-cache]: Your cache has keys or values; it holds both.
+ work, cache = 4 * M * H * K * N / rho, b_c * M * G * K * N / beta
## one_token_short [a-budget-for-the-cache]: Your cache has N − 1 tokens; keys and values of all N are fetched.
+ work, cache = 4 * M * H * K * N / rho, 2 * b_c * M * G * K * (N - 1) / beta
## one_layer [a-budget-for-the-cache]: Your cache is that of one layer, and there are M.
+ work, cache = 4 * M * H * K * N / rho, 2 * b_c * G * K * N / beta
## bytes_of_weights: Your cache has the bytes of a weight for a number; `b_c` is for the cache.
+ work, cache = 4 * M * H * K * N / rho, 2 * b_w * M * G * K * N / beta
## cache_in_numbers: You count the numbers of the cache, not their bytes; each takes `b_c`.
+ work, cache = 4 * M * H * K * N / rho, 2 * M * G * K * N / beta
## groups_attend [keys-fetched-once-grouped-queries]: Your attention has the FLOPs of G heads; all H attend, whoever
owns the keys.
+ work, cache = 4 * M * G * K * N / rho, 2 * b_c * M * G * K * N / beta
## scores_alone: Your attention has the FLOPs of the scores alone; the averages of the values cost as many.
+ work, cache = 2 * M * H * K * N / rho, 2 * b_c * M * G * K * N / beta
## prefill_counted: Your attention has N² pairs, as in prefill; a step has one target.
+ work, cache = 4 * M * H * K * N * N / rho, 2 * b_c * M * G * K * N / beta
## bytes_of_the_cache: Your weights have the bytes of a number in the cache; `b_w` is for the weights.
- arithmetic, fetched = 2 * P / rho, b_w * P / beta
+ arithmetic, fetched = 2 * P / rho, b_c * P / beta
## numbers_for_bytes: You count the weights, not their bytes; each weight takes `b_w` bytes.
+ arithmetic, fetched = 2 * P / rho, P / beta
## one_flop_a_weight: You count one FLOP for each weight and token; there are two.
+ arithmetic, fetched = P / rho, b_w * P / beta
## bound_when_even: Where both take the same time yours is waited for, although fetching takes no longer there.
- "weights_waited_for": fetched > B * arithmetic,
- "caches_waited_for": cache > work,
+ "weights_waited_for": fetched >= B * arithmetic,
+ "caches_waited_for": cache >= work,
## turned_round [arithmetic-or-memory]: Yours are True where arithmetic takes longer.
+ "weights_waited_for": fetched < B * arithmetic,
+ "caches_waited_for": cache < work,
## of_one_text: You compare the weights with the arithmetic of one text; the matrices have that of all B.
- "weights_waited_for": fetched > B * arithmetic,
+ "weights_waited_for": fetched > arithmetic,
## of_the_whole_step: You compare all fetching with all arithmetic; matrices and caches are told apart.
- "weights_waited_for": fetched > B * arithmetic,
- "caches_waited_for": cache > work,
+ "weights_waited_for": fetched + B * cache > B * (arithmetic + work),
+ "caches_waited_for": fetched + B * cache > B * (arithmetic + work),
## steps_per_second: You count steps a second; each brings a token for every one of the B texts.
- "tokens_per_second": B / seconds,
+ "tokens_per_second": 1 / seconds,
## matrices_free: For `most` you leave out the matrices; they take their time, too.
- room = min(limit / (arithmetic + each), (limit - fetched) / each)
+ room = limit / each
## memory_alone: For `most` you look at the fetched weights alone; with many texts the arithmetic is the limit.
+ room = (limit - fetched) / each
## arithmetic_alone: For `most` you look at the arithmetic alone; with few texts the weights take longer.
+ room = limit / (arithmetic + each)
## bound_of_this_step: For `most` you look only at what the matrices of B texts wait for; with another number of texts
it can be the other side.
+ room = (limit - fetched) / each if fetched > B * arithmetic else limit / (arithmetic + each)
## below_none: Where not even the weights come in time, `most` is 0 and not less.
- "most": max(0, int(room)),
+ "most": int(np.floor(room)),
## below_none_cut: Where not even the weights come in time, `most` is 0 and not less; you only cut the fraction off.
+ "most": int(room),
## rounded_up: You round `most` up: with that many texts the step takes longer than the limit.
+ "most": max(0, int(np.ceil(room))),
## limit_left_out: You leave out a step of exactly `limit` seconds; it should count for `most`.
+ "most": max(0, int(np.ceil(room)) - 1),
# counting_up
## maximum_throughout: You take one maximum over the whole step, in `most` as well; matrices and attention run one after
the other, and their times add up.
- return sum(max(pair) for pair in times(batch))
+ return max(map(sum, zip(*times(batch), strict=True)))
## weights_for_each_throughout: You fetch the weights once for each text, in `most` as well; one time serves all.
- matrices = batch * 2 * P / rho, b_w * P / beta
+ matrices = batch * 2 * P / rho, batch * b_w * P / beta
""")
