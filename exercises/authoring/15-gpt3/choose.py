"""Exercise 15, question choose: the seconds of every split, and the fastest one that fits."""

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals
from clearcheck.author.battery import in_cases_of, with_battery


def compare_splits(splits, P, D, M, N, tokens, rho, inside, between, memory):
    T, L, R = np.asarray(splits).T
    work = 6 * P * tokens / (T * L * R * rho)
    m = tokens / R / N
    bubble = (L - 1) / m * work
    tensor = 4 * M / L * 2 * (T - 1) / T * (2 * D * tokens / R) / inside
    data = 2 * (R - 1) / R * (2 * P / (T * L)) / between
    seconds = np.stack([work, bubble, tensor, data], axis=1)
    fits = memory >= 16 * P / (T * L)
    totals = np.where(fits, seconds.sum(axis=1), np.inf)
    return {"seconds": seconds, "fits": fits, "best": int(totals.argmin()) if fits.any() else -1}


def draw_args(rng, splits, memory=80e9, windows=1536):
    D, M = 512 * int(rng.integers(5, 25)), 48
    P = 12.0 * M * D * D
    N, tokens = 2048, 2048 * windows
    rates = rng.uniform(2e14, 5e14), rng.uniform(2e11, 5e11), rng.uniform(2e10, 6e10)
    return (np.array(splits), P, D, M, N, tokens, *(float(rate) for rate in rates), memory)


WAYS = [(1, 1, 64), (8, 1, 8), (1, 8, 8), (4, 4, 4), (8, 8, 1), (2, 16, 2)]
UNEQUAL = [(1, 1, 1), (1, 24, 3), *WAYS]  # not 64 GPUs each: the work decides, and with few tokens the waiting


def one_way_each(rng):
    """In the last one a group has fewer pieces than boxes."""
    ways = (1, 1, 96), (8, 1, 1), (1, 6, 1), (2, 3, 16), (1, 8, 384)
    return [draw_args(rng, [way]) for way in ways]


def ordinary_cases(rng):
    return [
        draw_args(rng, WAYS),
        draw_args(rng, WAYS[1:4]),
        draw_args(rng, WAYS[::-1]),
        draw_args(rng, UNEQUAL, 1e13, 64),
    ]


def tight_cases(rng):
    """Room for all, for some, for exactly one, and for none; the fastest of all does not fit, or lacks a little; in the
    last ones every split is there many times, and the first of the fastest is asked for.
    """
    cases = [draw_args(rng, UNEQUAL, 1e13, 64), draw_args(rng, UNEQUAL, 1e13, 64)]
    for groups in (1, 7.9, 16.01, 64, 100):
        splits, P, *rest, _ = draw_args(rng, WAYS)
        cases.append((splits, P, *rest, 16 * P / groups))
    many = [[WAYS[way] for way in rng.integers(len(WAYS), size=300)] for _ in range(4)]
    return [*cases, *(draw_args(rng, splits, 1e13) for splits in many)]


QUESTION = Question(
    id="choose",
    title="Choose a split",
    name="compare_splits",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("seconds", 6, one_way_each, compare_splits, parts=("seconds",), atol=1e-12),
        equals("what fits", 3, tight_cases, compare_splits, parts=("fits",)),
        equals("the best", 3, tight_cases, compare_splits, parts=("best",)),
        equals("all of it, several splits", 4, ordinary_cases, compare_splits),
        more={"ties": in_cases_of("the best"), "boundary": in_cases_of("what fits")},
        off={"ids": "the numbers of GPUs are multiplied by others, which do not fit into eight bits"},
    ),
    hints=(
        "Take one split first, (T, L, R), and write its four numbers on four lines. T · L · R GPUs share the work.",
        "Of how many tokens are the sums of one group, and how many blocks does a GPU have? Of how many "
        "parameters is the gradient that it shares with the other groups?",
        "A group has tokens / R tokens, so m = tokens / (R N) micro-batches; waiting takes (L − 1) / m of the time of "
        "the work. For the best, give splits that do not fit an endless time.",
    ),
    section="choosing-a-split",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def split_by_split(splits, P, D, M, N, tokens, rho, inside, between, memory):
    rows, fits, best, least = [], [], -1, float("inf")
    for i, (T, L, R) in enumerate(splits):
        work = 6 * P * tokens / (T * L * R) / rho
        own = tokens / R
        pieces = own / N
        bubble = work * (L - 1) / pieces
        sums = 4 * (M / L)
        tensor = sums * 2 * (T - 1) / T * 2 * D * own / inside
        gradient = 2 * P / (T * L)
        data = 2 * (R - 1) / R * gradient / between
        room = memory >= 16 * P / (T * L)
        rows.append([work, bubble, tensor, data])
        fits.append(room)
        if room and sum(rows[-1]) < least:
            best, least = i, sum(rows[-1])
    return {"seconds": np.array(rows), "fits": np.array(fits), "best": best}


@right
def column_by_column(splits, P, D, M, N, tokens, rho, inside, between, memory):
    splits = splits.astype(float)
    T, L, R = splits[:, 0], splits[:, 1], splits[:, 2]
    seconds = np.empty((len(splits), 4))
    seconds[:, 0] = 6 * P * tokens / rho / splits.prod(axis=1)
    seconds[:, 1] = seconds[:, 0] * N * R * (L - 1) / tokens
    seconds[:, 2] = 16 * M * D * tokens * (1 - 1 / T) / (L * R * inside)
    seconds[:, 3] = 4 * P * (1 - 1 / R) / (T * L * between)
    fits = T * L * memory >= 16 * P
    order = [i for i in np.argsort(seconds.sum(axis=1), kind="stable") if fits[i]]
    return {"seconds": seconds, "fits": fits, "best": int(order[0]) if order else -1}


@right
def with_a_ring(splits, P, D, M, N, tokens, rho, inside, between, memory):
    def all_reduce(Z, workers, beta):
        return 2 * (workers - 1) / workers * Z / beta

    found = []
    for T, L, R in splits.tolist():
        work = 6 * P * tokens / (T * L * R * rho)
        idle = (L - 1) / (tokens / (R * N) + L - 1)
        tensor, data = all_reduce(2 * D * tokens / R, T, inside), all_reduce(2 * P / (T * L), R, between)
        found.append([work, work * idle / (1 - idle), 4 * M / L * tensor, data])
    seconds = np.array(found)
    fits = np.array([memory >= 16 * P / (T * L) for T, L, _ in splits])
    allowed = np.flatnonzero(fits)
    best = int(allowed[seconds[allowed].sum(axis=1).argmin()]) if len(allowed) else -1
    return {"seconds": seconds, "fits": fits, "best": best}


wrong.edits("""
# split_by_split
## pieces_for_all_boxes: You give a group at least as many micro-batches as it has nodes; its tokens may be fewer, and
then the pipeline waits longer than it works.
- pieces = own / N
+ pieces = max(own / N, L)
## rows_before_layers: A row is (T, L, R); you read it as (T, R, L).
- for i, (T, L, R) in enumerate(splits):
+ for i, (T, R, L) in enumerate(splits):
## work_of_one_group: Your work is that of one group with all tokens; the groups share them.
- work = 6 * P * tokens / (T * L * R) / rho
+ work = 6 * P * tokens / (T * L) / rho
## writing_not_training [six-times-the-parameters]: You count two operations as in writing; training has six.
+ work = 2 * P * tokens / (T * L * R) / rho
## pieces_of_the_whole: You give a group the micro-batches of the whole batch; it has only its share of tokens.
- pieces = own / N
+ pieces = tokens / N
## bubble_share [by-layers-pipeline-parallelism]: (L − 1) / (m + L − 1) is the share of the whole time, work and waiting
together; you multiply it by the work alone.
- bubble = work * (L - 1) / pieces
+ bubble = work * (L - 1) / (pieces + L - 1)
## bubble_of_all_workers: You take L for L − 1: one node alone never waits.
+ bubble = work * L / pieces
## no_bubble: Waiting is left out.
+ bubble = 0.0
## sums_forward_only [by-features-tensor-parallelism]: You count two sums a block; the backward pass has two more.
- sums = 4 * (M / L)
+ sums = 2 * (M / L)
## sums_of_all_blocks: A GPU has M / L blocks; you count the sums of all M.
+ sums = 4 * M
## sums_of_all_tokens: The sums of a group have the tokens of the group; you send those of the whole batch.
- tensor = sums * 2 * (T - 1) / T * 2 * D * own / inside
+ tensor = sums * 2 * (T - 1) / T * 2 * D * tokens / inside
## sums_of_one_window: Your sums are those of one window; a step has all tokens of the group.
+ tensor = sums * 2 * (T - 1) / T * 2 * D * N / inside
## one_round [by-rows-data-parallelism]: An all-reduce has two rounds in the ring; yours has one.
- tensor = sums * 2 * (T - 1) / T * 2 * D * own / inside
+ tensor = sums * (T - 1) / T * 2 * D * own / inside
- data = 2 * (R - 1) / R * gradient / between
+ data = (R - 1) / R * gradient / between
## sums_between_boxes: You send sums between nodes; tensor parallelism stays inside a node.
- tensor = sums * 2 * (T - 1) / T * 2 * D * own / inside
+ tensor = sums * 2 * (T - 1) / T * 2 * D * own / between
## whole_gradient: You send the gradient of the whole model; a GPU holds only that of P / (T L) parameters.
- gradient = 2 * P / (T * L)
+ gradient = 2 * P
## gradient_in_32_bits: You send four bytes a number; gradients have 16 bits.
+ gradient = 4 * P / (T * L)
## gradient_inside: You send gradients inside a node; they pass between nodes.
- data = 2 * (R - 1) / R * gradient / between
+ data = 2 * (R - 1) / R * gradient / inside
## as_often_as_workers [by-rows-data-parallelism]: You send whole gradients; a ring sends parts.
+ data = 2 * (R - 1) * gradient / between
## states_cut_by_rows: You divide the states by R, too; without ZeRO each group keeps all.
- room = memory >= 16 * P / (T * L)
+ room = memory >= 16 * P / (T * L * R)
## weights_alone [what-has-to-be-in-memory]: You check only the weights; the states have 16 bytes a parameter.
+ room = memory >= 2 * P / (T * L)
## whole_model_in_one: A GPU holds a part of the model only; you ask for room for all of it.
+ room = memory >= 16 * P
## exactly_full: What fills the memory exactly fits, too.
+ room = memory > 16 * P / (T * L)
## fits_turned_round: Your fits is True where the states do not fit.
- fits.append(room)
+ fits.append(not room)
## best_of_all: Your best is the fastest of all, whether it fits or not.
- if room and sum(rows[-1]) < least:
+ if sum(rows[-1]) < least:
## best_of_all_if_one_fits: You ask whether any split fits, and then give the fastest of all; that one need not fit.
- if room and sum(rows[-1]) < least:
+ if sum(rows[-1]) < least:
- return {"seconds": np.array(rows), "fits": np.array(fits), "best": best}
+ return {"seconds": np.array(rows), "fits": np.array(fits), "best": best if any(fits) else -1}
## none_but_the_fastest: Where the fastest of all does not fit you give −1; give the fastest of those that fit.
- if room and sum(rows[-1]) < least:
+ if sum(rows[-1]) < least:
- return {"seconds": np.array(rows), "fits": np.array(fits), "best": best}
+ return {"seconds": np.array(rows), "fits": np.array(fits), "best": best if fits[best] else -1}
## no_time_for_what_does_not_fit: You give splits that do not fit 0 seconds, and nothing takes less.
- if room and sum(rows[-1]) < least:
-     best, least = i, sum(rows[-1])
+ if room * sum(rows[-1]) < least:
+     best, least = i, room * sum(rows[-1])
- return {"seconds": np.array(rows), "fits": np.array(fits), "best": best}
+ return {"seconds": np.array(rows), "fits": np.array(fits), "best": best if any(fits) else -1}
## last_of_equals: Of several splits that are equally fast you give the last; the first is asked for.
- if room and sum(rows[-1]) < least:
+ if room and sum(rows[-1]) <= least:
## slowest: Your best is the slowest that fits.
- rows, fits, best, least = [], [], -1, float("inf")
+ rows, fits, best, least = [], [], -1, -1.0
- if room and sum(rows[-1]) < least:
+ if room and sum(rows[-1]) > least:
## least_work: Your best has the least work; messages and waiting count, too.
- if room and sum(rows[-1]) < least:
-     best, least = i, sum(rows[-1])
+ if room and rows[-1][0] < least:
+     best, least = i, rows[-1][0]
## total_without_the_work: Your best leaves out the work; it is less where more GPUs share it.
+ if room and sum(rows[-1][1:]) < least:
+     best, least = i, sum(rows[-1][1:])
## total_without_the_waiting: Your best leaves out the bubble; waiting takes time, too.
+ if room and sum(rows[-1]) - bubble < least:
+     best, least = i, sum(rows[-1]) - bubble
## counted_from_one: You number splits from 1, not 0.
- best, least = i, sum(rows[-1])
+ best, least = i + 1, sum(rows[-1])
## zero_for_none: Where nothing fits you give 0, the first split; give −1.
- rows, fits, best, least = [], [], -1, float("inf")
+ rows, fits, best, least = [], [], 0, float("inf")
## one_round_of_gradients [by-rows-data-parallelism]: Your gradients go round once; an all-reduce has two rounds.
- data = 2 * (R - 1) / R * gradient / between
+ data = (R - 1) / R * gradient / between
## states_cut_by_features: You divide the states by T alone; the L GPUs of a pipeline share them, too.
- room = memory >= 16 * P / (T * L)
+ room = memory >= 16 * P / T
## counted_among_the_fitting: Your best is a place among the splits that fit; count among all splits.
- best, least = i, sum(rows[-1])
+ best, least = sum(fits) - 1, sum(rows[-1])
## whole_sums_sent [by-rows-data-parallelism]: You send whole sums inside a node; a round of the ring takes (T − 1) / T.
- tensor = sums * 2 * (T - 1) / T * 2 * D * own / inside
+ tensor = sums * 2 * (T > 1) * 2 * D * own / inside
""")
