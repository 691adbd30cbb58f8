"""Exercise 13, question costs: what it costs."""

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals, holds


def costs(N, S, K, Kv, H):
    pairs = H * N * S
    return {
        "forward": 2 * (K + Kv) * pairs,
        "backward": 4 * (K + Kv) * pairs,
        "recomputing": (6 * K + 4 * Kv) * pairs,
        "kept with weights": pairs + H * N * Kv,
        "kept without": H * N * Kv + H * N,
    }


def draw_costs(rng):
    cases = [tuple(int(size) for size in rng.permutation((5, 7, 8, 11, 13))) for _ in range(2)]
    return [*cases, (int(rng.integers(900, 1100)), 2048, 64, 48, 12), (1, 9, 4, 6, 5)]


def some_entries(names):
    def test(ask, rng):
        for sizes in draw_costs(rng):
            found, expected = ask(*sizes), costs(*sizes)
            for name in names:
                if not isinstance(found, dict) or name not in found:
                    return f"The result should be a dict with the key {name!r}."
                value = found[name]
                if isinstance(value, bool) or not isinstance(value, int | np.integer):
                    kind = type(value).__name__
                    return f"Your entry {name!r} should be a whole number, an int; yours is of the type {kind}."
                if value != expected[name]:
                    return f"For N, S, K, Kv, H = {sizes} your entry {name!r} is not right."
        return None

    return test


QUESTION = Question(
    id="costs",
    title="What it costs",
    name="costs",
    minutes=12,
    difficulty=1,
    checks=(
        holds("operations", 5, some_entries(("forward", "backward", "recomputing"))),
        holds("memory", 4, some_entries(("kept with weights", "kept without"))),
        equals("all five", 3, draw_costs, costs, dtype="int"),
    ),
    hints=(
        "A product of an a×b matrix with a b×c matrix has a·c entries. How many multiplications and additions "
        "is each of them?",
        "The forward pass of a head is two products. Each of them has two gradients, and each gradient is one "
        "product of the same three sizes.",
        "Whoever keeps no weights makes the scores once more, and nothing else. What is kept then has no size "
        "in it that counts sources.",
    ),
    section="faster-than-autograd",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def by_formula(N, S, K, Kv, H):
    return {
        "forward": 2 * (K + Kv) * N * S * H,
        "backward": 4 * (K + Kv) * N * S * H,
        "recomputing": (6 * K + 4 * Kv) * N * S * H,
        "kept with weights": H * (N * S + N * Kv),
        "kept without": H * (N * Kv + N),
    }


@right
def product_by_product(N, S, K, Kv, H):
    def flops(rows, inner, columns):
        return 2 * rows * inner * columns

    forward = flops(S, K, N) + flops(Kv, S, N)
    backward = flops(S, Kv, N) + flops(Kv, N, S) + flops(K, S, N) + flops(K, N, S)
    numbers = [forward, backward, backward + flops(S, K, N), S * N + Kv * N, Kv * N + N]
    names = ["forward", "backward", "recomputing", "kept with weights", "kept without"]
    return {name: H * number for name, number in zip(names, numbers, strict=True)}


@right
def head_after_head(N, S, K, Kv, H):
    total = dict.fromkeys(("forward", "backward", "recomputing", "kept with weights", "kept without"), 0)
    for _ in range(H):
        total["forward"] += 2 * N * S * K + 2 * N * S * Kv
        total["kept with weights"] += N * S + N * Kv
        total["kept without"] += N + N * Kv
    total["backward"] = 2 * total["forward"]
    total["recomputing"] = total["backward"] + 2 * N * S * K * H
    return total


@right
def as_often_written(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    found = right_costs(N, S, K, Kv, H)
    return found


@wrong("The averages of the values are forgotten: the forward pass has two products.")
def scores_alone(N, S, K, Kv, H):
    def right_costs(N, S, K, Kv, H):
        pairs = H * N * S
        return {
            "forward": 2 * (K + Kv) * pairs,
            "backward": 4 * (K + Kv) * pairs,
            "recomputing": (6 * K + 4 * Kv) * pairs,
            "kept with weights": pairs + H * N * Kv,
            "kept without": H * N * Kv + H * N,
        }

    pairs = H * N * S
    return right_costs(N, S, K, Kv, H) | {
        "forward": 2 * K * pairs,
        "backward": 4 * K * pairs,
        "recomputing": 6 * K * pairs,
    }


wrong.edits("""
# as_often_written
## one_for_both: You count a multiplication and an addition as one operation; they are two.
- return found
+ return found | {name: found[name] // 2 for name in ("forward", "backward", "recomputing")}
## backward_as_forward: Your backward pass costs as much as the forward pass; each product has two gradients.
- return found
+ scores = 2 * K * H * N * S
+ return found | {"backward": found["forward"], "recomputing": found["forward"] + scores}
## with_the_forward_pass: Your backward pass holds the forward pass as well; it is counted on its own.
- return found
+ return found | {name: found[name] + found["forward"] for name in ("backward", "recomputing")}
## whole_forward_again: Recomputing makes the scores again, and not the averages of the values: the outputs were kept.
- return found
+ return found | {"recomputing": found["backward"] + found["forward"]}
## recomputing_for_nothing: Recomputing costs no more than the other backward pass in your answer; the scores are made
once more.
- return found
+ return found | {"recomputing": found["backward"]}
## one_width: You count values as wide as keys; they have a width of their own.
- found = right_costs(N, S, K, Kv, H)
- return found
+ return right_costs(N, S, K, K, H)
## square: You count as many sources as targets.
- found = right_costs(N, S, K, Kv, H)
- return found
+ return right_costs(N, N, K, Kv, H)
## a_single_head: This is one head; all together are asked for.
- found = right_costs(N, S, K, Kv, H)
- return found
+ return right_costs(N, S, K, Kv, 1)
## memory_of_one_head: Your operations are those of all heads, but what is kept is counted for one.
- found = right_costs(N, S, K, Kv, H)
- return found
+ one = right_costs(N, S, K, Kv, 1)
+ return right_costs(N, S, K, Kv, H) | {name: one[name] for name in ("kept with weights", "kept without")}
## outputs_not_kept: The outputs are kept, too, in both cases.
- found = right_costs(N, S, K, Kv, H)
- return found
+ return right_costs(N, S, K, Kv, H) | {"kept with weights": H * N * S, "kept without": H * N}
## scores_kept_too: Scores and weights are both in your count; the scores are needed no more.
- return found
+ return found | {"kept with weights": found["kept with weights"] + H * N * S}
## no_logarithms: The logarithm of the denominator is one number for each target; you leave it out.
- found = right_costs(N, S, K, Kv, H)
- return found
+ return right_costs(N, S, K, Kv, H) | {"kept without": H * N * Kv}
## a_logarithm_for_each_source: There is a denominator for each target, and you count one for each source.
- found = right_costs(N, S, K, Kv, H)
- return found
+ return right_costs(N, S, K, Kv, H) | {"kept without": H * N * Kv + H * S}
## inputs_counted: Queries, keys and values are in your count; what is kept besides them was asked for.
- found = right_costs(N, S, K, Kv, H)
- return found
+ found, inputs = right_costs(N, S, K, Kv, H), H * (N * K + S * K + S * Kv)
+ return found | {name: found[name] + inputs for name in ("kept with weights", "kept without")}
## in_bytes: These are bytes; numbers are asked for.
- return found
+ return found | {name: 8 * found[name] for name in ("kept with weights", "kept without")}
## averages_again: Recomputing makes the scores again, of width K; you have added the averages of the values.
- return found
+ return found | {"recomputing": found["backward"] + 2 * Kv * H * N * S}
## largest_score_and_sum: One number for each target is enough: the logarithm holds the largest score and the sum
together.
- return found
+ return found | {"kept without": found["kept without"] + H * N}
## outputs_as_wide_as_keys: Outputs are as wide as values; you take the width of the keys.
- found = right_costs(N, S, K, Kv, H)
- return found
+ return right_costs(N, S, K, Kv, H) | {"kept with weights": H * N * (S + K), "kept without": H * N * (K + 1)}
## half_a_product: Your recomputing pass makes the scores again at half their price: a product costs 2 N S K.
- return found
+ return found | {"recomputing": found["backward"] + K * H * N * S}
## what_recomputing_adds: This is what recomputing adds; the whole backward pass is asked for.
- found = right_costs(N, S, K, Kv, H)
- return found
+ return right_costs(N, S, K, Kv, H) | {"recomputing": 2 * K * H * N * S}
## weights_of_one_head: Weights and denominators are counted once; each head has its own.
- found = right_costs(N, S, K, Kv, H)
- return found
+ return right_costs(N, S, K, Kv, H) | {"kept with weights": N * S + H * N * Kv, "kept without": H * N * Kv + N}
""")
