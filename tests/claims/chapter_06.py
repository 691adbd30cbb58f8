"""Chapter 6, positions: what works beyond the trained length, at which question, and the rung of the letters."""

from functools import partial
from statistics import median

from clearbook.ladder import Ladder, LastLetters, loss_of_model

from tests.claims.compare import below
from tests.claims.letters import BUDGET, MEASURED, MLP, gain
from tests.claims.pages import once
from tests.claims.registry import claim, experiment

PAGE = "chapters/06-position.ipynb"
CLASSES = (
    "setup",
    "sinusoids-code",
    "learned-positions-code",
    "alibi-code:alibi",
    "rotate-code",
    "causal-from-chapter-3",
    "multi-head-from-chapter-4",
    "multi-head-with-score",
)
STEPS = 140
KINDS = {
    "learned": "a learned table of 64 positions, of which 16 are trained",
    "sinusoids": "fixed waves, added",
    "ALiBi, masked": "a slope times the distance taken from each score, and a causal mask",
    "rotary": "queries and keys are turned; no mask",
    "rotary, masked": "the same with a causal mask",
    "none, masked": "no positions but the causal mask",
}
TRAINING = "140 steps of 32 sequences of exactly 16 tokens, Adam at 0.01"
TRAINED = (*CLASSES, "extrapolation-model", "extrapolation-kinds", "extrapolation-training:trained")


def others(page):
    """The kinds of `extrapolation` that the page trains later, or not at all."""
    slower = partial(page.rotate, base=500_000.0)
    return {
        "slower, masked": lambda: page.TwoQuestions(turn=slower, masked=True),
        "learned, loud digits": lambda: page.TwoQuestions(page.LearnedPositions(64, 32), std=1.0),
        "rotary, loud digits": lambda: page.TwoQuestions(turn=page.rotate, std=1.0),
    }


@experiment(
    PAGE,
    contenders=KINDS
    | {
        "slower, masked": "rotary with a causal mask and base 500,000",
        "learned, loud digits": "the learned table, beside embeddings of PyTorch's size",
        "rotary, loud digits": "rotary without a mask, with embeddings of PyTorch's size",
    },
    cases=("two back, 16", "two back, 64", "first, 16", "first, 64"),
    budget=TRAINING,
    measured="share of right answers, more is better; a guess is right in 0.1",
    cells=(*TRAINED, "extrapolation-measure:right_answers"),
)
def extrapolation(page, run):
    question, length = run.case.split(", ")
    page.KINDS.update(others(page))
    model = once(page, run._replace(case=""), lambda: page.trained(run.contender, run.seed, STEPS * run.times))
    return page.right_answers(model, int(length))[int(question == "first")].mean()


def middle(right, who, case, times):
    return median(right[who, case, times])


def fall(right, who, times):
    """How much of "two back" is lost from 16 tokens to 64."""
    return middle(right, who, "two back, 16", times) - middle(right, who, "two back, 64", times)


claim(
    extrapolation,
    'On "two back" the positions that are added fall furthest. On "first" the learned table, of which everybody says '
    "that it cannot extrapolate, is right at four times the trained length, and rotary positions without a mask fall "
    "to guessing.",
    about=("learned", "sinusoids", "ALiBi, masked", "rotary", "rotary, masked"),
    cell="extrapolation-measure",
    holds=lambda right: all(
        min(fall(right, who, times) for who in ("learned", "sinusoids"))
        > max(fall(right, who, times) for who in ("ALiBi, masked", "rotary", "rotary, masked"))
        and min(right["learned", "first, 64", times]) > 0.95
        and max(right["rotary", "first, 64", times]) < 0.2
        for times in (1, 4)
    ),
    note="Four times the steps on 16 tokens change none of it.",
)
claim(
    extrapolation,
    'ALiBi loses nothing on "two back" because it never had it: at 16 tokens it is little better than no positions '
    "at all.",
    about=("ALiBi, masked", "none, masked"),
    cell="extrapolation-measure",
    holds=lambda right: all(
        middle(right, "ALiBi, masked", "two back, 16", times) < 0.5
        and middle(right, "ALiBi, masked", "two back, 16", times)
        < middle(right, "none, masked", "two back, 16", times) + 0.1
        and abs(fall(right, "ALiBi, masked", times)) < 0.1
        for times in (1, 4)
    ),
    note="One layer whose heads can only prefer what is near picks out no single distance, however long it is trained.",
)
claim(
    extrapolation,
    'At full size they drown a learned table: in the same steps it does not find "two back".',
    about=("learned", "learned, loud digits", "rotary, loud digits"),
    cell="extrapolation-measure",
    holds=lambda right: (
        max(right["learned, loud digits", "two back, 16", 1]) < 0.6
        and min(right["learned", "two back, 16", 1] + right["rotary, loud digits", "two back, 16", 1]) > 0.9
    ),
    note='It is a matter of steps: after four times as many it finds "two back" all the same.',
)
claim(
    extrapolation,
    '"Two back" is right at every length now, and "first" a little longer; but no base makes a head learn "first" '
    'where "far left" will do.',
    about=("slower, masked", "rotary, masked"),
    cell="slower-hands-training",
    holds=lambda right: all(
        min(right["slower, masked", "two back, 64", times]) > 0.95
        and middle(right, "rotary, masked", "first, 64", times) + 0.1
        < middle(right, "slower, masked", "first, 64", times)
        < 0.9
        for times in (1, 4)
    ),
    note="The base is in the model from the beginning: nothing here says what a change after training does.",
)


LATE_TOKEN = 50


@experiment(
    PAGE,
    contenders={kind: KINDS[kind] for kind in ("rotary", "rotary, masked", "learned")},
    budget=TRAINING,
    measured='how far back token 50 of 64 looks, with the head for "first"; 50 would be right',
    cells=(*TRAINED, "where-it-looks-weights:weights_of"),
)
def looks_back(page, run):
    model = page.trained(run.contender, run.seed, STEPS * run.times)
    return LATE_TOKEN - page.weights_of(model, 0)[LATE_TOKEN].argmax()


claim(
    looks_back,
    "Late tokens look about 22 to their left: there the score is highest, and within 16 tokens only its rise is ever "
    'seen. The head never learned "the first token".',
    about=("rotary", "learned"),
    cell="where-it-looks",
    holds=lambda distance: all(
        20 <= min(distance["rotary", "", times]) <= max(distance["rotary", "", times]) <= 25
        and min(distance["learned", "", times]) == LATE_TOKEN
        for times in (1, 4)
    ),
    note="A learned table did learn it: its head looks at the first token from wherever it is asked.",
)


def parts(page, **doors):
    return [page.PositionedAttention(32, 4, **doors), page.FeedForward(32, 128)]


RUNGS = {
    "rotary": lambda page: Ladder(parts(page, turn=page.rotate), None, True),
    "learned table": lambda page: Ladder(parts(page), page.LearnedPositions(16, 32), True),
    "ALiBi": lambda page: Ladder(parts(page, bias=page.alibi), None, True),
    "no positions": lambda page: Ladder(parts(page), None, True),
    "no layer": lambda page: Ladder([], None, True),
    "MLP": lambda page: LastLetters(),
}


@experiment(
    PAGE,
    contenders={
        "rotary": "four heads whose queries and keys are turned, and a feed-forward layer",
        "learned table": "a learned vector added for each position",
        "ALiBi": "a slope times the distance taken from each score",
        "no positions": "the causal mask alone",
        "no layer": "embedding and head alone: the last letter",
        "MLP": MLP,
    },
    budget=BUDGET,
    measured=MEASURED,
    cells=(*CLASSES, "yours-from-chapter-5"),
)
def letters(page, run):
    return loss_of_model(lambda: RUNGS[run.contender](page), run.seed, times=run.times)


claim(
    letters,
    "Order brings more than all the parts before it together.",
    about=("rotary", "no positions", "no layer"),
    cell="letters-so-far",
    holds=lambda loss: all(
        gain(loss, "rotary", "no positions", times) > gain(loss, "no positions", "no layer", times) > 0
        for times in (1, 4)
    ),
    note="All the parts before it are what leads from no layer at all to attention and a feed-forward layer.",
)
claim(
    letters,
    "Rotary positions come first; a learned table has to be learned, and after four times the steps it is nearly "
    "level. ALiBi hears what is near, and lags behind both.",
    about=("rotary", "learned table", "ALiBi"),
    cell="letters-so-far",
    holds=lambda loss: (
        below(loss, "rotary", "learned table", times=(1,))
        and gain(loss, "rotary", "learned table", 4) < gain(loss, "rotary", "learned table", 1) / 2
        and all(below(loss, who, "ALiBi") for who in ("rotary", "learned table"))
    ),
    note="On rows of sixteen letters a table has little to learn.",
)
claim(
    letters,
    "And the MLP of the PyTorch page stays ahead, after four times the steps, too, though by less.",
    about=("MLP", "rotary"),
    cell="letters-so-far",
    holds=lambda loss: below(loss, "MLP", "rotary") and gain(loss, "MLP", "rotary", 4) < gain(loss, "MLP", "rotary", 1),
    note="One layer of four heads, against weights of its own for each of eight places.",
)
claim(
    letters,
    "The MLP of the PyTorch page is a feed-forward layer, too, and far ahead.",
    about=("MLP", "no positions"),
    cell="letters-so-far",
    holds=lambda loss: below(loss, "MLP", "no positions", by=0.3),
    note="Heads and feed-forward layer lack the order of the letters, and no number of steps makes up for it.",
    page="chapters/05-feed-forward.ipynb",
)
claim(
    letters,
    "Until the order of the letters comes in with chapter 6, no rung gets near the MLP.",
    about=("MLP", "no positions", "rotary"),
    cell="ladder-figure",
    holds=lambda loss: (
        all(max(loss["rotary", "", times]) < max(loss["MLP", "", times]) + 0.1 for times in (1, 4))
        and below(loss, "MLP", "no positions", by=0.3)
    ),
    note="The best of the rungs without positions stays as far away after four times the steps.",
    page="chapters/07-residual-norm.ipynb",
)
