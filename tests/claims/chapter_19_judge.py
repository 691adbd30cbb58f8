"""Chapter 19, rewards: SmolLM2 as a judge in one order, in the other, in both, and asked for likelihoods instead."""

from clearbook.weights import gguf_tokenizer, packaged, read_gguf
from clearformer.pretrained import from_tensors

from tests.claims.chapter_19 import PAGE
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

FIRST, SECOND, MEAN, LIKELIER = "right answer first", "right answer second", "mean of both orders", "likelier words"


@experiment(
    PAGE,
    contenders={
        FIRST: "the judge reads the right answer as A",
        SECOND: "the judge reads the right answer as B",
        MEAN: "its log-odds, the mean of both orders",
        LIKELIER: "no judgement: which answer's words are the likelier after the question",
    },
    budget="no training: SmolLM2 and twelve questions",
    measured="how many of twelve it gets right",
    cells=("setup", "judge-pairs", "judge"),
    times=(1,),
    seeds=(0,),
)
def judged(page, run):
    def verdicts():
        options, tensors, vocabulary = read_gguf(packaged("smollm2"))
        loaded = {"judge": from_tensors(options, tensors).eval(), "words": gguf_tokenizer(vocabulary)}
        page.prefers_first.__wrapped__.__globals__.update(loaded)  # below the decorator
        return [
            (
                page.prefers_first(q, good, bad),
                page.prefers_first(q, bad, good),
                page.nats_of(q, good),
                page.nats_of(q, bad),
            )
            for q, good, bad in page.asked
        ]

    rows = once(page, "verdicts", verdicts)
    right = {
        FIRST: sum(a > 0 for a, _, _, _ in rows),
        SECOND: sum(b < 0 for _, b, _, _ in rows),
        MEAN: sum(a > b for a, b, _, _ in rows),
        LIKELIER: sum(good < bad for _, _, good, bad in rows),
    }
    return right[run.contender]


claim(
    judged,
    "It almost always says the same letter. Whichever answer stands in that place wins, right or wrong.",
    about=(FIRST, SECOND),
    cell="judge-table",
    holds=lambda right: right[SECOND, "", 1][0] - right[FIRST, "", 1][0] >= 8,
    note="Nothing is drawn, so there is one number. The page had cited such a liking, and not measured one.",
    verdict="changed",
    before="Such a judge prefers long answers, and the one that it reads first.",
)
claim(
    judged,
    "The mean over both orders takes the liking for a place away, and what is left is no better than a coin. The last "
    "row shows that the model is not that ignorant: asked how likely the words are, it finds the right answer nearly "
    "every time.",
    about=(MEAN, LIKELIER),
    cell="judge-table",
    holds=lambda right: right[MEAN, "", 1][0] <= 8 and right[LIKELIER, "", 1][0] >= 10,
    note="The same model and the same questions; only what is asked of it differs.",
)
