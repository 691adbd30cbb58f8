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


FADING = ("sum with gates", "gated delta rule", "softmax attention")


@experiment(
    PAGE,
    contenders={name: LEARNED[name] for name in FADING},
    budget="300 steps as in the comparison of memories",
    measured="mean α at facts, over 64 new lists of 8 keys",
    cells=(*TRAINING, "gates-read:mean_gates"),
)
def fading(page, run):
    model = page.trained([page.MEMORIES[run.contender]], run.seed, 300 * run.times)
    torch.manual_seed(2000 + run.seed)
    return page.mean_gates(model)[0][0]


def gains(right: Numbers, case: str) -> list[float]:
    """What the delta rule gains by gates in each start, after four times the budget."""
    pairs = zip(right["gated delta rule", case, 4], right["delta rule", case, 4], strict=True)
    return [gated - plain for gated, plain in pairs]


def both(numbers: Numbers, who: str, case: str) -> list[float]:
    """The numbers of all starts after either budget."""
    return numbers[who, case, 1] + numbers[who, case, 4]


claim(
    untrained,
    "Up to 16 keys the delta rule finds nearly everything, where the sum has lost about a quarter.",
    about=("delta rule", "sum", "softmax attention"),
    cell="recall-figure",
    holds=lambda found: all(
        min(found["delta rule", keys, 1]) > 0.95
        and 0.7 < mean(found["sum", keys, 1]) < 0.78
        and min(found["softmax attention", keys, 1]) == 1
        for keys in KEYS[:2]
    ),
    note="Means over 8 lists, three times, with 4 and with 16 keys in 32 dimensions.",
)
claim(
    untrained,
    "With 64 keys, twice as many as there are dimensions, it has fallen below the sum",
    about=("delta rule", "sum"),
    cell="recall-figure",
    holds=lambda found: all(
        max(found["delta rule", it, 1]) < min(found["sum", it, 1]) for it in ("64 keys", "128 keys")
    ),
    note="With 32 keys, as many as dimensions, it is still ahead.",
    verdict="changed",
    before="With β = 1 the delta rule falls below the sum beyond 32 keys, lower still if all fades; with β = ½ it "
    "stays above.",
)
claim(
    untrained,
    "With $\\beta = ½$ it stays ahead of the sum throughout.",
    about=("delta rule, β = ½", "sum", "delta rule"),
    cell="recall-figure",
    holds=lambda found: all(min(found["delta rule, β = ½", it, 1]) > max(found["sum", it, 1]) + 0.1 for it in KEYS),
    note="From 32 keys on it is also ahead of the rule that clears a key whole.",
)
claim(
    memories,
    "The sum stays at three quarters.",
    about=("sum", "gated delta rule", "softmax attention"),
    cell="memories-run",
    holds=lambda right: max(both(right, "sum", "8 keys")) < 0.76 < 0.9 < min(both(right, "gated delta rule", "8 keys")),
    note="Half of the keys have two facts, and a sum cannot tell which is the later one.",
)
claim(
    memories,
    "Gates let it prefer what is recent, and with more steps they close most of the gap.",
    about=("sum with gates", "sum", "delta rule"),
    cell="memories-run",
    holds=lambda right: (
        min(right["sum with gates", "8 keys", 4]) > max(right["sum", "8 keys", 4]) + 0.1
        and max(right["sum with gates", "8 keys", 4]) < min(right["delta rule", "8 keys", 4]) - 0.04
    ),
    note="From 74 to 92 %, where the others have more than 99 %.",
)
claim(
    memories,
    "The delta rule closes it, with gates or without, and remembers as well as attention.",
    about=("delta rule", "gated delta rule", "softmax attention", "sum"),
    cell="memories-run",
    holds=lambda right: all(
        abs(mean(right[who, "8 keys", times]) - mean(right["softmax attention", "8 keys", times])) < 0.02
        and min(right[who, "8 keys", 4]) > 0.99
        for who in ("delta rule", "gated delta rule")
        for times in (1, 4)
    ),
    note="With lists as long as those in training.",
)
claim(
    memories,
    "Worst of all, after 1,200 steps, are the two that find the later fact by fading alone: the sum with gates, and "
    "attention, though it keeps every pair.",
    about=tuple(LEARNED),
    cell="memories-run",
    holds=lambda right: (
        max(right["sum with gates", "32 keys", 4] + right["softmax attention", "32 keys", 4])
        < min(it for who in ("sum", "delta rule", "gated delta rule") for it in right[who, "32 keys", 4]) - 0.03
    ),
    note="For attention it is not room that is lacking: nobody has met such long lists in training.",
)
claim(
    memories,
    "Only here do gates help the delta rule, by six to eight in a hundred after 1,200 steps.",
    about=("gated delta rule", "delta rule"),
    cell="memories-run",
    holds=lambda right: (
        all(0.055 < gain < 0.085 for gain in gains(right, "32 keys"))
        and all(abs(gain) < 0.01 for gain in gains(right, "8 keys"))
    ),
    note="With 8 keys the rule without gates is as good: the mark is a part of the token, and so of the key.",
)
claim(
    memories,
    "The best, in two starts of three, is the plain sum, which has no gate to fit to the length of a list.",
    about=tuple(LEARNED),
    cell="memories-run",
    holds=lambda right: (
        sorted(right["sum", "32 keys", 4])[1]
        > max(it for who in LEARNED if who != "sum" for it in right[who, "32 keys", 4])
    ),
    note="68 % in two starts and 53 % in the third, where the gated delta rule has 56 to 60 %.",
)
claim(
    fading,
    "Attention fades fastest, and with more training faster still.",
    about=FADING,
    cell="memories-run",
    holds=lambda alpha: (
        max(alpha["softmax attention", "", 4]) < min(alpha["softmax attention", "", 1])
        and max(both(alpha, "softmax attention", "")) < min(both(alpha, "sum with gates", "")) - 0.1
        and max(both(alpha, "sum with gates", "")) < min(both(alpha, "gated delta rule", "")) - 0.05
    ),
    note="From 0.76 to 0.64; the gated delta rule stays above 0.99.",
)
claim(
    gates,
    "It writes facts, and leaves rumours alone.",
    about=("β at a fact", "β at a rumour"),
    cell="gates-read",
    holds=lambda mean_of: min(mean_of["β at a fact", "", 1]) > max(mean_of["β at a rumour", "", 1]) + 0.2,
    note="The other gate, α, stays above 0.99: nothing has to fade in this game.",
)
