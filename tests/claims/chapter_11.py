"""Chapter 11, translation: your translator and a prompted SmolLM2 on the same sentences."""

import contextlib
import io
import random
from types import SimpleNamespace

import torch
from clearbook.overlap import chrf
from torch import nn

from tests.claims import smollm2
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/11-translation.ipynb"
LESSONS = ("setup", "data", "pieces-learned", "tokens", "batches-padded", "own-transformer", "cure")
TRAINING = (*LESSONS, "loss-by-hand:pair_loss", "training-loop", "exact-match-code", "exact-match-table:translate")
SIZES = {"n_layers": 1, "d_model": 64, "n_heads": 4, "d_ff": 256}
BUDGET = "400 steps of 48 of 24,000 pairs"
EVENLY, BY_LENGTH = "drawn evenly", "a quarter drawn by length"
TRAINED: dict[tuple[str, int, int], nn.Module] = {}  # one answers for several experiments


def trained(page: SimpleNamespace, contender: str, times: int, seed: int) -> nn.Module:
    """A translator of the page, from lessons that are drawn evenly or with a quarter of the numbers by length."""
    if (key := (contender, times, seed)) not in TRAINED:
        random.seed(seed)
        lessons = page.by_length_too() if contender == BY_LENGTH else page.lessons
        torch.manual_seed(seed)
        model = page.Transformer(len(page.vocabulary), len(page.vocabulary), **SIZES)
        with contextlib.redirect_stdout(io.StringIO()):
            page.fit(model, page.pair_loss, page.as_tensors(lessons), 400 * times)
        TRAINED[key] = model.eval()
    return TRAINED[key]


OURS, SMOLLM2, COPIED = "your translator", "SmolLM2, prompted", "the nearest pair, copied"
EXACT, OVERLAP = "exactly right", "chrF"


def sentences(page: SimpleNamespace, contender: str, times: int, seed: int) -> dict[str, float]:
    """What is right of the 200 German sentences of the test, and how much the letters overlap, both in per cent."""
    pairs, known = page.tests["de", "sentences"], page.lessons["de", "sentences"]
    if contender == OURS:
        texts = page.translate(trained(page, EVENLY, times, seed), pairs, "de")
    elif contender == COPIED:
        texts = [page.nearest(english, 1, known)[0][1] for english, _ in pairs]
    else:
        prompts = [page.few_shot(english, page.nearest(english, 2 * times, known)) for english, _ in pairs]
        texts = smollm2.lines(prompts)
    return {EXACT: 100 * page.exact_match(texts, pairs), OVERLAP: 100 * chrf(texts, [german for _, german in pairs])}


@experiment(
    PAGE,
    contenders={
        OURS: "195 thousand weights, trained on 24,000 pairs",
        SMOLLM2: "shown the two of these pairs that share most words with the sentence",
        COPIED: "nothing is trained: the German of the pair that shares most words",
    },
    cases=(EXACT,),
    times=(1,),
    budget=f"{BUDGET}, or two pairs in the prompt",
    measured="per cent of the 200 German sentences of the test that are exactly right, more is better",
    cells=(*TRAINING, "few-shot"),
)
def beside_smollm2(page, run):
    seed = run.seed if run.contender == OURS else 0  # nothing else is drawn
    key = run.contender, run.times, seed
    return once(page, key, lambda: sentences(page, *key))[run.case]


claim(
    beside_smollm2,
    "Of all 200 sentences of the test SmolLM2 gets about half right, and yours nearly all, from each of three starts.",
    about=(OURS, SMOLLM2),
    cell="beside-smollm2",
    holds=lambda numbers: (
        min(numbers[OURS, EXACT, 1]) > 95 and all(45 < right < 60 for right in numbers[SMOLLM2, EXACT, 1])
    ),
    note="SmolLM2 draws nothing, so its numbers are the same. The nearest pair alone is never the translation.",
)
