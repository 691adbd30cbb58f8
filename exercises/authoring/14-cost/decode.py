"""Exercise 14, question decode: the time of a decode step."""

import math

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals
from clearcheck.author.battery import in_cases_of, with_battery


def decode_step(P, M, H, K, G, N, b, B, rho, beta, limit):
    flops, moved = 2 * P + 4 * M * H * K * N, 2 * b * M * G * K * N
    arithmetic, traffic = B * flops / rho, (b * P + B * moved) / beta
    most = min(limit * rho / flops, (limit * beta - b * P) / moved)
    rate, most = B / max(arithmetic, traffic), max(0, math.floor(most))
    found = {"seconds": max(arithmetic, traffic), "memory_bound": traffic > arithmetic}
    return found | {"tokens_per_second": rate, "most": most}


def draw_args(rng, busy=False, crowded=None, turns=None, B=None):
    """Sizes and a machine; with `busy` many sequences with short texts, so that arithmetic is what takes the time.

    `crowded` says how many sequences the limit has room for, and a part of one more; `turns`, from how many sequences
    on arithmetic takes longer than fetching.
    """
    M, G, share, K = (int(rng.choice(sizes)) for sizes in ((20, 28, 36), (2, 3, 5), (4, 7), (48, 80, 112)))
    H, b = G * share, int(rng.choice([1, 2]))
    P = float(M * 12 * (H * K) ** 2)
    rho, beta = float(rng.uniform(1, 4)) * 1e14, float(rng.uniform(1, 4)) * 1e12
    N = int(rng.integers(20, 60)) if busy else int(rng.integers(1500, 9000))
    B = B or (int(rng.integers(700, 900)) if busy else int(rng.integers(3, 40)))
    if turns:
        beta = rho * (b * P / turns + 2 * b * M * G * K * N) / (2 * P + 4 * M * H * K * N)
    crowded = int(rng.integers(5, 300)) if crowded is None else crowded
    more = decode_step(P, M, H, K, G, N, b, crowded + 0.5, rho, beta, 1.0)["seconds"]
    return P, M, H, K, G, N, b, B, rho, beta, more


def memory_bound_steps(rng):
    return [draw_args(rng), draw_args(rng), draw_args(rng)]


def both_sides(rng):
    """In one both take exactly a second; in the last one neither weights nor caches alone take longer than the work."""
    even = 1024.0, 1, 1, 8, 1, 4, 2, 4, 8704.0, 2560.0, 1.5
    both = (draw_args(rng, True, turns=200, B=B) for B in (60, 199))
    return [draw_args(rng), draw_args(rng, busy=True), draw_args(rng), draw_args(rng, busy=True), even, *both]


def limits(rng):
    """Room for some by memory, for some by arithmetic, for one, for none, since not even the weights come in time, and
    for exactly three; then steps that memory holds up, and arithmetic the limit, and the other way round.
    """
    cases = [draw_args(rng, crowded=33), draw_args(rng, busy=True, crowded=1200), draw_args(rng, crowded=1)]
    *sizes, rho, beta, _ = draw_args(rng, busy=True)
    weights = sizes[6] * sizes[0] / beta
    by_hand = 100.0, 1, 4, 2, 2, 5, 2, 3, 72.0, 100.0, 15.0
    across = [draw_args(rng, True, 1200, turns=200, B=3), draw_args(rng, True, 20, turns=200)]
    return [*cases, (*sizes, rho, beta, 0.6 * weights), by_hand, *across]


def known_models(rng):
    """Llama 2 with 7 and 70 billion parameters on an H100, with each head's own keys and with shared ones."""
    h100 = 989e12, 3.35e12, float(rng.uniform(0.0501, 0.0509))
    return [(6.6e9, 32, 32, 128, 32, 4000, 2, 8, *h100), (6.9e10, 80, 64, 128, 8, 4000, 2, 64, *h100)]


QUESTION = Question(
    id="decode",
    title="The time of a decode step",
    name="decode_step",
    minutes=12,
    difficulty=2,
    checks=with_battery(
        equals("seconds, held up by memory", 3, memory_bound_steps, decode_step, parts=("seconds",), atol=1e-12),
        equals("seconds, on both sides", 2, both_sides, decode_step, parts=("seconds",), atol=1e-12),
        equals("what holds it up", 1, both_sides, decode_step, parts=("memory_bound",)),
        equals("tokens a second", 1, both_sides, decode_step, parts=("tokens_per_second",)),
        equals("the most sequences", 3, limits, decode_step, parts=("most",)),
        equals("all four, known models", 2, known_models, decode_step),
        more={"boundary": in_cases_of("what holds it up")},
    ),
    hints=(
        "Two sums first: the FLOPs of the step and the bytes it fetches. Which terms of each are multiplied by B?",
        "Every head of a sequence attends, H of them, so FLOPs know H and not G. A cache has keys and "
        "values of G groups.",
        "For the most sequences solve both bounds for B, one for arithmetic and one for memory, where the weights have "
        "to come first. Take the smaller, round it down, and never go below 0.",
    ),
    section="reading-is-fast-writing-is-slow",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def two_sums(P, M, H, K, G, N, b, B, rho, beta, limit):
    flops = B * (2 * P + 4 * M * H * K * N)
    cache = 2 * b * M * G * K * N
    moved = b * P + B * cache
    seconds = max(flops / rho, moved / beta)
    by_arithmetic = limit * rho / (flops / B)
    by_memory = (limit * beta - b * P) / cache
    return {
        "seconds": seconds,
        "memory_bound": moved / beta > flops / rho,
        "tokens_per_second": B / seconds,
        "most": max(0, int(min(by_arithmetic, by_memory))),
    }


@right
def counting_up(P, M, H, K, G, N, b, B, rho, beta, limit):
    def times(batch):
        head = 4 * K * N
        return batch * (2 * P + M * H * head) / rho, b * (P + batch * M * G * 2 * K * N) / beta

    most = 0
    while max(times(most + 1)) <= limit:
        most += 1
    arithmetic, traffic = times(B)
    slower = arithmetic if arithmetic > traffic else traffic
    found = dict(seconds=slower, memory_bound=bool(arithmetic < traffic))
    return found | {"tokens_per_second": 1 / (slower / B), "most": most}


@right
def by_intensity(P, M, H, K, G, N, b, B, rho, beta, limit):
    work = np.array([2.0 * P, 4.0 * M * H * K * N])
    numbers = np.array([float(P), 2.0 * M * G * K * N])
    flops, moved = B * work.sum(), b * numbers @ np.array([1, B])
    starved = flops / moved < rho / beta
    t = moved / beta if starved else flops / rho
    rooms = rho * limit / work.sum(), (beta * limit / b - numbers[0]) / numbers[1]
    most = int(np.floor(min(rooms)))
    found = dict(seconds=float(t), memory_bound=bool(starved), tokens_per_second=float(B / t))
    return found | {"most": most if most > 0 else 0}


wrong.edits("""
# two_sums
## bound_when_even: Where both take the same time your `memory_bound` is True, although fetching takes no longer there.
- "memory_bound": moved / beta > flops / rho,
+ "memory_bound": moved / beta >= flops / rho,
## weights_alone_compared: You compare only the time of the weights with the arithmetic; caches are fetched, too.
+ "memory_bound": b * P / beta > flops / rho,
## caches_alone_compared: You compare only the time of the caches with the arithmetic; the weights are fetched, too.
+ "memory_bound": B * cache / beta > flops / rho,
## weights_for_each: The weights are fetched once for all B sequences; you fetch them for each.
- moved = b * P + B * cache
+ moved = B * (b * P + cache)
## one_cache: Each of the B sequences has a cache of its own; you fetch one.
+ moved = b * P + cache
## no_cache: You forget the cache; its keys and values are fetched in every step.
+ moved = b * P
## no_weights: You forget the weights; each step fetches all of them.
+ moved = B * cache
## heads_in_the_cache [a-budget-for-the-cache]: Your cache has keys for every head; there are only G groups of them.
- cache = 2 * b * M * G * K * N
+ cache = 2 * b * M * H * K * N
## keys_alone [a-budget-for-the-cache]: Your cache has keys or values; it holds both.
+ cache = b * M * G * K * N
## one_token_short [a-budget-for-the-cache]: Your cache has N − 1 tokens; keys and values of all N are fetched.
+ cache = 2 * b * M * G * K * (N - 1)
## one_layer [a-budget-for-the-cache]: Your cache is that of one layer, and there are M.
+ cache = 2 * b * G * K * N
## numbers_for_bytes: You count the weights, not their bytes; each weight takes `b` bytes.
- moved = b * P + B * cache
+ moved = P + B * cache
- by_memory = (limit * beta - b * P) / cache
+ by_memory = (limit * beta - P) / cache
## one_flop_a_weight: You count one FLOP for each weight and token; there are two.
- flops = B * (2 * P + 4 * M * H * K * N)
+ flops = B * (P + 4 * M * H * K * N)
## attention_left_out: You count the FLOPs of the weights alone; each head also attends to all N tokens.
+ flops = B * 2 * P
## groups_attend [keys-fetched-once]: Your attention has the FLOPs of G heads; all H attend, whoever owns the keys.
+ flops = B * (2 * P + 4 * M * G * K * N)
## scores_alone: Your attention has the FLOPs of the scores alone; the averages of the values cost as many.
+ flops = B * (2 * P + 2 * M * H * K * N)
## prefill_counted: Your attention has N² pairs, as in prefill; a step has one target.
+ flops = B * (2 * P + 4 * M * H * K * N * N)
## sum_of_both [arithmetic-or-memory]: You add the two times; both go on at once, and the larger counts.
- seconds = max(flops / rho, moved / beta)
+ seconds = flops / rho + moved / beta
## smaller_of_both [arithmetic-or-memory]: You take the smaller of the two times; the step waits for the slower part.
+ seconds = min(flops / rho, moved / beta)
## always_memory: Your step never takes the time of the arithmetic, which grows with all B sequences; with many it is
the longer one.
- seconds = max(flops / rho, moved / beta)
+ seconds = moved / beta
- "memory_bound": moved / beta > flops / rho,
+ "memory_bound": True,
## turned_round [arithmetic-or-memory]: Your `memory_bound` is True where arithmetic takes longer.
- "memory_bound": moved / beta > flops / rho,
+ "memory_bound": moved / beta < flops / rho,
## steps_per_second: You count steps a second; each brings a token for every one of the B sequences.
- "tokens_per_second": B / seconds,
+ "tokens_per_second": 1 / seconds,
## weights_free: For `most` you leave out the time that fetching the weights takes.
- by_memory = (limit * beta - b * P) / cache
+ by_memory = limit * beta / cache
## memory_alone: For `most` you look at the memory alone; with short texts arithmetic is the limit.
- "most": max(0, int(min(by_arithmetic, by_memory))),
+ "most": max(0, int(by_memory)),
## arithmetic_alone: For `most` you look at arithmetic alone; with long texts the memory is the limit.
+ "most": max(0, int(by_arithmetic)),
## bound_of_this_step: For `most` you look only at what holds up the step of B sequences; with another number of
sequences it can be the other side.
+ "most": max(0, int(by_memory if moved / beta > flops / rho else by_arithmetic)),
## below_none: Where not even the weights come in time, `most` is 0 and not less.
+ "most": int(np.floor(min(by_arithmetic, by_memory))),
## below_none_cut: Where not even the weights come in time, `most` is 0 and not less; you only cut the fraction off.
+ "most": int(min(by_arithmetic, by_memory)),
## rounded_up: You round `most` up: with that many sequences the step takes longer than the limit.
+ "most": max(0, int(np.ceil(min(by_arithmetic, by_memory)))),
## limit_left_out: You leave out a step of exactly `limit` seconds; it should count for `most`.
+ "most": max(0, int(np.ceil(min(by_arithmetic, by_memory))) - 1),
# counting_up
## weights_for_each_throughout: You fetch the weights once for each sequence, in `most` as well; one time serves all.
- return batch * (2 * P + M * H * head) / rho, b * (P + batch * M * G * 2 * K * N) / beta
+ return batch * (2 * P + M * H * head) / rho, batch * b * (P + M * G * 2 * K * N) / beta
## sum_throughout [arithmetic-or-memory]: You add the two times, in `most` as well; the larger of them counts.
- while max(times(most + 1)) <= limit:
+ while sum(times(most + 1)) <= limit:
- slower = arithmetic if arithmetic > traffic else traffic
+ slower = arithmetic + traffic
""")
