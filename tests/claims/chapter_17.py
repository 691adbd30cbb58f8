"""Chapter 17, long memory: what a state recalls untrained, with gates that are learned, and in a stack."""

from statistics import mean

import torch

from tests.claims.pages import once
from tests.claims.registry import Numbers, claim, experiment

PAGE = "chapters/17-long-memory.ipynb"
TRAINING = ("setup", "in-one-chunk", "memories", "memory", "recaller", "lists", "train-recaller")
UNTRAINED = {
    "softmax attention": "keeps every pair, and prefers the later of two equal keys",
    "delta rule": "a state of 32 × 32 that clears a key before it writes, β = 1",
    "delta rule, β = ½": "the same, which clears and writes half",
    "sum": "a state of 32 × 32 to which every pair is added",
}
KEYS = ("4 keys", "16 keys", "32 keys", "64 keys", "128 keys")


@experiment(
    PAGE,
    contenders=UNTRAINED,
    cases=KEYS,
    budget="no training: random keys and values in 32 dimensions, half of the keys with a new value",
    measured="share of the latest values that are found, a mean over 8 lists, more is better",
    cells=("setup", "gated-delta", "recall"),
    times=(1,),
)
def untrained(page, run):
    found = once(
        page,
        (run.case, run.seed),
        lambda: [page.recall(int(run.case.split()[0]), 8 * run.seed + i) for i in range(8)],
    )
    return mean(one[run.contender] for one in found)


LEARNED = {
    "sum": "adds every value to its state",
    "sum with gates": "the same, with a learned α and β for each token",
    "delta rule": "clears a key before it writes, α = β = 1",
    "gated delta rule": "the same, with a learned α and β for each token",
    "softmax attention": "keeps every pair; α makes it prefer what is recent",
}


@experiment(
    PAGE,
    contenders=LEARNED,
    cases=("8 keys", "32 keys"),
    budget="300 steps of 32 lists with 8 keys, one block of width 64, AdamW, a rate that falls from 0.005 to zero",
    measured="share of the questions to 256 new lists that are answered right, more is better",
    cells=TRAINING,
)
def memories(page, run):
    model = once(
        page,
        (run.contender, run.times, run.seed),
        lambda: page.trained([page.MEMORIES[run.contender]], run.seed, 300 * run.times),
    )
    return page.right_answers(model, int(run.case.split()[0]))


MARKS = ("fact", "rumour", "question")


@experiment(
    PAGE,
    contenders={f"{gate} at a {mark}": f"mean {gate} of the gated delta rule" for gate in "αβ" for mark in MARKS},
    budget="300 steps as in the comparison of memories",
    measured="mean of a gate over 64 new lists",
    cells=(*TRAINING, "gates-read:mean_gates"),
    times=(1,),
)
def gates(page, run):
    read = once(page, run.seed, lambda: gates_after(page, run.seed))
    gate, mark = run.contender.split(" at a ")
    return read["αβ".index(gate)][MARKS.index(mark)]


def gates_after(page, seed):
    model = page.trained([page.MEMORIES["gated delta rule"]], seed, 300)
    torch.manual_seed(2000 + seed)
    return page.mean_gates(model)


STACKS = {
    "four states": "the gated delta rule in four blocks",
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
    return page.trained(page.STACKS[run.contender], run.seed, 120 * run.times, sizes=(8, 8, 8, 16, 32))
