"""Chapter 18, tuning: what each way gains and forgets, what the loss is averaged over, preferences, added weights."""

import copy
import random
from functools import partial
from statistics import mean

from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/18-tuning.ipynb"
DATA = ("setup", "setup-models", "ask", "template", "answer-loss-code", "fit", "examples", "measures")
RIGHT, FORGOTTEN, SURE = "right kinds", "bits forgotten", "sure"

FULL, THIN, WIDE = "all weights", "LoRA, rank 4", "LoRA, rank 32"
RATES = {FULL: (3e-4, 6e-4, 1.2e-3), THIN: (3e-3, 6e-3, 1.2e-2), WIDE: (1e-3, 2e-3, 4e-3)}
HALF = "half way back"


def name(method: str, rate: float) -> str:
    return f"{method}, rate {rate:g}"


def measured(page, model) -> dict[str, float]:
    before = once(page, "before", lambda: page.novel_bits(page.shipped))
    return {RIGHT: 100 * page.right_kinds(model), FORGOTTEN: page.novel_bits(model) - before}


POINTS = {name(method, rate): (method, rate) for method, rates in RATES.items() for rate in rates}


@experiment(
    PAGE,
    contenders={
        **{
            point: "fine-tuned" if method == FULL else "an adapter beside every linear map of the blocks, trained"
            for point, (method, _) in POINTS.items()
        },
        HALF: f"{name(FULL, 1.2e-3)}, and then the mean of its weights and the shipped ones",
    },
    cases=(RIGHT, FORGOTTEN),
    budget="30 steps of 16 conversations",
    times=(1,),
    measured="per cent of 78 held-out words, more is better; bits a character more than before on the ends of the "
    "novels, less is better",
    cells=(*DATA, "with-lora", "merging"),
)
def tuning(page, run):
    return once(page, run._replace(case=""), lambda: point_trained(page, run))[run.case]


def point_trained(page, run):
    method, rate = POINTS.get(run.contender, (FULL, 1.2e-3))

    def train():
        ranks = {THIN: 4, WIDE: 32}
        start = page.with_lora(page.shipped, ranks[method]) if method in ranks else copy.deepcopy(page.shipped)
        return page.tuned(start, rate=rate, n_steps=page.STEPS * run.times, seed=run.seed)

    if run.contender == HALF:
        model = once(page, (run.times, run.seed), train)
        return measured(page, page.merged(page.shipped, 0.5, model, page.shipped))
    if run.contender == name(FULL, 1.2e-3):
        return measured(page, once(page, (run.times, run.seed), train))
    return measured(page, train())


LONGER = (name(FULL, 6e-4), name(WIDE, 2e-3))


@experiment(
    PAGE,
    contenders={LONGER[0]: "fine-tuned", LONGER[1]: "an adapter beside every linear map of the blocks, trained"},
    cases=(RIGHT, FORGOTTEN),
    budget="30 steps of 16 conversations",
    measured="per cent of 78 held-out words, more is better; bits a character more than before on the ends of the "
    "novels, less is better",
    cells=(*DATA, "with-lora", "merging"),
)
def longer(page, run):
    return once(page, run._replace(case=""), lambda: point_trained(page, run))[run.case]


TOKENS, CONVERSATIONS = "averaged over tokens", "averaged by conversation"
REPLAY, HEAD, CONTEXT, NEAREST = "with replay", "the head alone", "examples in context", "nearest embedding"
LOSSES = {TOKENS: "on_answers", CONVERSATIONS: "by_conversation", REPLAY: "on_answers_and_novels"}
MEASURED = (
    "per cent of 78 held-out words, more is better; bits a character more than before on the ends of the novels, less "
    "is better; per cent, how likely it is to be sure after the right kind"
)


@experiment(
    PAGE,
    contenders={
        TOKENS: "all weights, the loss averaged over the tokens of the answers",
        CONVERSATIONS: "all weights, the loss averaged in each conversation first",
        CONTEXT: "no training: four examples in front of each question, and sixteen with four times the budget",
        NEAREST: "no training: the kind of the learned word with the nearest embedding",
    },
    cases=(RIGHT, SURE),
    budget="30 steps of 16 conversations, rate 0.0006",
    measured=MEASURED,
    cells=(*DATA, "averages", "goes-on", "rivals"),
)
def averages(page, run):
    return once(page, run._replace(case=""), lambda: way_taken(page, run))[run.case]


@experiment(
    PAGE,
    contenders={
        TOKENS: "all weights, answers alone",
        REPLAY: "all weights, with four rows of the novels in each batch",
        HEAD: "the head alone, untied from the embedding, at rate 0.004",
    },
    cases=(RIGHT, FORGOTTEN),
    budget="30 steps of 16 conversations, rate 0.0006",
    measured=MEASURED,
    cells=(*DATA, "averages", "goes-on", "rivals", "replay"),
)
def ways(page, run):
    return once(page, run._replace(case=""), lambda: way_taken(page, run))[run.case]


def way_taken(page, run):
    nothing = {FORGOTTEN: 0.0, SURE: float("nan")}
    if run.contender == NEAREST:
        return {RIGHT: 100 * once(page, NEAREST, page.nearest_embedding), **nothing}
    if run.contender == CONTEXT:
        random.seed(run.seed)
        return {RIGHT: 100 * page.in_context(page.shipped, 4 * run.times), **nothing}
    n_steps = page.STEPS * run.times
    if run.contender == HEAD:
        model = page.tuned(page.with_own_head(page.shipped), rate=4e-3, n_steps=n_steps, seed=run.seed)
    else:
        loss_of = getattr(page, LOSSES[run.contender])
        model = page.tuned(copy.deepcopy(page.shipped), loss_of, n_steps=n_steps, seed=run.seed)
    return {**measured(page, model), SURE: 100 * page.goes_on(model)}


BEFORE, DPO, BOTH, CHOSEN = "before", "DPO", "DPO + SFT", "SFT on the chosen"
ADDED, TAKEN = "difference added to another", "difference taken from another"
LN_C, LN_R, KL = "ln π(c)", "ln π(r)", "KL"
WATCHED = (LN_C, LN_R, KL, SURE, RIGHT)


@experiment(
    PAGE,
    contenders={
        BEFORE: "the model tuned on conversations, where the policy begins",
        DPO: "direct preference optimisation",
        BOTH: "the same, and the supervised loss on the chosen answers",
        CHOSEN: "supervised fine-tuning on as many of the chosen answers alone",
        ADDED: "no training: another tuned model, plus what that fine-tuning changed in this one's weights",
        TAKEN: "no training: another tuned model, less what that fine-tuning changed in this one's weights",
    },
    cases=WATCHED,
    budget="8 steps of 24 answers, rate 0.0003, from a model tuned in 30 steps, a seed each",
    measured="on 78 held-out words: nats of both answers; the KL to where it began, along the chosen answers; per "
    "cent for which the sure answer is the likelier; per cent of right kinds, more is better",
    cells=(*DATA, "merging", "dpo", "preferences", "watched"),
)
def preferences(page, run):
    values = once(page, run._replace(case=""), lambda: preferred(page, run))
    return dict(zip(WATCHED, values, strict=True))[run.case] * (100 if run.case in (SURE, RIGHT) else 1)


def chat(page, seed: int):
    return once(page, ("chat", seed), lambda: page.tuned(copy.deepcopy(page.shipped), seed=seed))


def preferred(page, run):
    reference = chat(page, run.seed)

    def trained(loss_of):
        return page.preferred(reference, loss_of, n_steps=8 * run.times, seed=run.seed)

    def on_chosen():
        return once(page, ("chosen", run.times, run.seed), lambda: trained(page.on_chosen))

    if run.contender in (ADDED, TAKEN):
        another, share = chat(page, (run.seed + 1) % 3), 1 if run.contender == ADDED else -1
        return page.watched(page.merged(another, share, on_chosen(), reference), another)
    losses = {
        DPO: partial(page.on_preferences, reference=reference),
        BOTH: partial(page.on_preferences, reference=reference, keep=1),
    }
    if run.contender == BEFORE:
        return page.watched(reference, reference)
    policy = on_chosen() if run.contender == CHOSEN else trained(losses[run.contender])
    return page.watched(policy, reference)
