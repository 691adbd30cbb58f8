"""Chapter 17, long memory: layers with a state and layers of attention in one stack."""

from statistics import mean

from tests.claims.chapter_17 import PAGE, TRAINING
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

STACKS = {
    "four states": "the gated delta rule in four blocks",
    "four states, one wide head": "the same with one table of 64 × 64 in each block, in place of four of 16 × 16",
    "three states, one attention": "the gated delta rule in three blocks, softmax attention in the fourth",
    "four attentions": "softmax attention in four blocks",
}


@experiment(
    PAGE,
    contenders=STACKS,
    cases=("8 keys", "32 keys"),
    budget="120 steps of 32 lists, three fifths of them with 8 keys, then 16, then 32, four blocks of width 64, AdamW, "
    "a rate that falls from 0.005 to zero",
    measured="share of the questions to 256 new lists that are answered right, more is better",
    cells=(*TRAINING, "hybrids-built"),
)
def stacks(page, run):
    model = once(page, (run.contender, run.times, run.seed), lambda: stack_after(page, run))
    return page.right_answers(model, int(run.case.split()[0]))


def stack_after(page, run):
    return page.trained_stack(run.contender, run.seed, 120 * run.times)


claim(
    stacks,
    "With 32 keys, twice as many as a table has columns, they part: four states answer about three quarters, and one "
    "attention among three states is enough for nearly all.",
    about=("four states", "three states, one attention"),
    cell="hybrids-built",
    holds=lambda right: (
        0.7 < min(right["four states", "32 keys", 4]) <= max(right["four states", "32 keys", 4]) < 0.8
        and min(right["three states, one attention", "32 keys", 4]) > 0.97
    ),
    note="After 480 steps. After 120 neither answers more than 16 % of questions to lists of 8 keys.",
)
claim(
    stacks,
    "With about as many weights, but a table of four times as many numbers, they answer nine tenths, and are still "
    "behind the one attention.",
    about=("four states, one wide head", "four states", "three states, one attention"),
    cell="hybrids-built",
    holds=lambda right: (
        0.9 < mean(right["four states, one wide head", "32 keys", 4]) < 0.94
        and min(right["four states, one wide head", "32 keys", 4]) > max(right["four states", "32 keys", 4]) + 0.1
        and max(right["four states, one wide head", "32 keys", 4])
        < min(right["three states, one attention", "32 keys", 4]) - 0.03
    ),
    note="93, 94 and 88 %.",
)
claim(
    stacks,
    "a wide head also learns sooner",
    about=("four states, one wide head", "four states"),
    cell="hybrids-built",
    holds=lambda right: all(
        min(right["four states, one wide head", case, 1]) > max(right["four states", case, 1])
        for case in ("8 keys", "32 keys")
    ),
    note="After 120 steps 63, 39 and 17 % with 8 keys, against 10, 15 and 8 %.",
)
claim(
    stacks,
    "Four attentions are hardly better.",
    about=tuple(STACKS),
    cell="hybrids-built",
    holds=lambda right: (
        0
        < mean(right["four attentions", "32 keys", 4]) - mean(right["three states, one attention", "32 keys", 4])
        < 0.02
        and min(right["four attentions", "32 keys", 4]) > max(right["four states", "32 keys", 4]) + 0.1
    ),
    note="By one in a hundred, with four times the cache.",
)
