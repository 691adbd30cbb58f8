"""Chapter 11, translation: which numbers fail, what cures them, and a prompted SmolLM2 on the same sentences."""

import contextlib
import io
import random
from types import SimpleNamespace

import torch
from clearbook.overlap import chrf
from torch import Tensor, nn

from tests.claims import smollm2
from tests.claims.pages import once
from tests.claims.registry import experiment

PAGE = "chapters/11-translation.ipynb"
LESSONS = ("setup", "data", "pieces-learned", "tokens", "batches-padded", "own-transformer", "cure")
TRAINING = (*LESSONS, "loss-by-hand:pair_loss", "training-loop", "exact-match-code", "exact-match-table:translate")
BY_DIGITS = ("outcomes", "by-digits")
SIZES = {"n_layers": 1, "d_model": 64, "n_heads": 4, "d_ff": 256}
BUDGET = "400 steps of 48 of 24,000 pairs"
EVENLY, BY_LENGTH = "drawn evenly", "a quarter drawn by length"
LENGTHS = tuple(f"{n} digits" for n in range(1, 7))
BEFORE, ON = "5 digits, wrong before thousand", "3 digits, does not stop"
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
        SMOLLM2: "135 million weights, shown the two of these pairs that share most words with the sentence",
        COPIED: "nothing is trained: the German of the pair that shares most words",
    },
    cases=(EXACT, OVERLAP),
    budget=f"{BUDGET}, or two pairs in the prompt",
    measured="of the 200 German sentences of the test: per cent that are exactly right, and chrF; more is better",
    cells=(*TRAINING, "few-shot"),
)
def beside_smollm2(page, run):
    seed = run.seed if run.contender == OURS else 0  # nothing else is drawn
    key = run.contender, run.times, seed
    return once(page, key, lambda: sentences(page, *key))[run.case]


def percents(page: SimpleNamespace, contender: str, times: int, seed: int) -> dict[str, float]:
    """What is right, in per cent, by length; and of all that is wrong in two lengths, how much is of one kind."""
    model = trained(page, contender, times, seed)
    rows = [page.outcomes(model, digits) for digits in range(1, 7)]
    found = {case: 100 * row[0] for case, row in zip(LENGTHS, rows, strict=True)}
    return found | {BEFORE: 100 * rows[4][1] / (1 - rows[4][0] or 1), ON: 100 * rows[2][2] / (1 - rows[2][0] or 1)}


@experiment(
    PAGE,
    contenders={EVENLY: "numbers of all lengths as they fall", BY_LENGTH: "as many, a quarter of them by length"},
    cases=(*LENGTHS, BEFORE, ON),
    budget=BUDGET,
    measured="per cent of new numbers that are exactly right, over two languages, more is better; and in the last two "
    "columns, how many per cent of the wrong ones are wrong in this way alone",
    cells=(*TRAINING, *BY_DIGITS),
)
def lengths(page, run):
    def measure():
        return percents(page, run.contender, run.times, run.seed)

    return once(page, (run.contender, run.times, run.seed), measure)[run.case]


def mean_weight(model: nn.Module, source: Tensor, target: Tensor, places: Tensor) -> Tensor:
    """The weight of the heads of the cross-attention on the first word of each source where a piece is due, B."""
    caught = []
    hook = model.decoder[0].cross.dropout.register_forward_hook(lambda layer, given, out: caught.append(out))
    with torch.no_grad():
        model(source, target[:, :-1])
    hook.remove()
    return caught[0][torch.arange(len(source)), :, places, 1].mean(dim=1)


WEIGHT, RIGHT = "weight on the first word", "right"
AS_IT_IS, FIRST, SECOND = "as it is", "made to look at the first word", "made to look at the second word"
WRITTEN_RIGHT, WRITTEN_WRONG = "where it writes the right number", "where it writes a wrong one"


def five_digits(page: SimpleNamespace, times: int, seed: int) -> dict[str, float]:
    """How often German numbers of five digits are right, and where the heads look, in per cent."""
    model = trained(page, EVENLY, times, seed)
    pairs = page.pairs_of_length(5, "de")
    source, target = page.as_tensors({("de", ""): pairs})
    places = page.place_of_the_first(pairs)
    writers = {
        AS_IT_IS: page.translate(model, pairs, "de"),
        FIRST: page.write_looking(model, pairs, places, 1),
        SECOND: page.write_looking(model, pairs, places, 2),
    }
    right = torch.tensor([text == wanted for text, (_, wanted) in zip(writers[AS_IT_IS], pairs, strict=True)])
    weights = mean_weight(model, source, target, places)
    halves = {WRITTEN_RIGHT: right, WRITTEN_WRONG: ~right}
    found = {name: 100 * page.exact_match(texts, pairs) for name, texts in writers.items()}
    return found | {name: 100 * float(weights[which].mean()) for name, which in halves.items()}


@experiment(
    PAGE,
    contenders={
        WRITTEN_RIGHT: "numbers that come out right",
        WRITTEN_WRONG: "the others of the same 200",
    },
    budget=BUDGET,
    measured="per cent of the weight of all heads that lies on the first English word where its German piece is due",
    cells=(*TRAINING, *BY_DIGITS, "first-word", "made-to-look"),
)
def first_word_weights(page, run):
    return once(page, (run.times, run.seed), lambda: five_digits(page, run.times, run.seed))[run.contender]


@experiment(
    PAGE,
    contenders={
        AS_IT_IS: "the translator writes",
        FIRST: "where the first word is due, all heads have all weight on it",
        SECOND: "the same, on the word behind it",
    },
    budget=BUDGET,
    measured="per cent of new German numbers of five digits that are exactly right, more is better",
    cells=(*TRAINING, *BY_DIGITS, "first-word", "made-to-look"),
)
def made_to_look(page, run):
    return once(page, (run.times, run.seed), lambda: five_digits(page, run.times, run.seed))[run.contender]
