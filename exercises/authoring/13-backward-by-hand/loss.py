"""Exercise 13, question loss: the first error signal, smoothed and with padding."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import draw_sizes, shape_slip

from .shared import BACKWARD, close, softmax

SECTION = "from-p--one-hot-to-the-embedding"


def reference(logits, targets, smoothing):
    V, counted = logits.shape[-1], targets >= 0
    wanted = smoothing / V + (1 - smoothing) * (np.arange(V) == targets[..., None])
    return np.where(counted[..., None], softmax(logits) - wanted, 0.0) / max(1, counted.sum())


def draw_args(rng, B=None, N=None, smoothing=0.1, size=1.0, padding=0.3):
    some_B, some_N, V = draw_sizes(rng, 3)
    shape = B or some_B, N or some_N
    targets = rng.integers(V, size=shape)
    targets[rng.random(shape) < padding] = -100
    if padding < 1:
        targets[0, 0] = 1
    return size * rng.normal(size=(*shape, V)), targets, smoothing


def without_smoothing(rng):
    return [draw_args(rng, smoothing=0.0, padding=0.0), draw_args(rng, N=1, smoothing=0.0, padding=0.0)]


def smoothed_cases(rng):
    return [
        draw_args(rng, padding=0.0),
        draw_args(rng, smoothing=0.35, padding=0.0),
        draw_args(rng, B=1, smoothing=1.0, padding=0.0),
    ]


def padded_cases(rng):
    return [
        draw_args(rng),
        draw_args(rng, smoothing=0.0, padding=0.6),
        draw_args(rng, padding=1.0),
        draw_args(rng, B=1, N=1),
    ]


def large_cases(rng):
    return [draw_args(rng, size=60.0), draw_args(rng, size=2e4, smoothing=0.0)]


def of_equal_sizes(rng):
    size = draw_sizes(rng, 1)[0]
    """Two in a row, so that nothing may be left over from the one before."""
    targets = rng.integers(size, size=(2, size, size))
    targets[:, 0, :2] = -100
    return [(rng.normal(size=(size, size, size)), each, 0.2) for each in targets]


def nothing_in_all(ask, rng):
    logits, targets, smoothing = draw_args(rng)
    found = ask(logits, targets, smoothing)
    if slip := shape_slip(found, logits.shape):
        return slip
    if close(found, 0 * found):
        return "Your gradient is 0 everywhere."
    if not close(found.sum(axis=-1), np.zeros(targets.shape)):
        return "A number added to all logits of a position changes nothing, so a row of the gradient must sum to 0."
    if not close(found[targets < 0], 0):
        return "At a position whose target is -100 nothing was asked, so its row must be 0."
    return None


QUESTION = Question(
    id="loss",
    title="The first error signal, smoothed",
    name="smoothed_backward",
    minutes=12,
    difficulty=1,
    checks=with_battery(
        equals("without smoothing", 3, without_smoothing, reference),
        equals("smoothed", 3, smoothed_cases, reference),
        equals("padding", 2, padded_cases, reference),
        equals("large logits", 1, large_cases, reference),
        equals("equal sizes", 1, of_equal_sizes, reference),
        holds("rows that sum to 0", 2, nothing_in_all),
        off=dict.fromkeys(("one of each", "odd sizes"), "the targets lie within the vocabulary"),
        more={"boundary": in_cases_of("padding")},
    ),
    hints=(
        "Without smoothing and padding this is p minus one-hot, divided by the number of positions. What does the loss "
        "ask for when it is smoothed, in place of the one-hot vector?",
        "A mixture: 1 − smoothing at the target, and smoothing shared by all V tokens, the target among them.",
        "A position with -100 has no loss. Its row is 0, it is not counted in the mean, and -100 is no index.",
    ),
    section=SECTION,
    inputs=Inputs(axes("BNV", "BN"), lambda logits, *rest: logits, alike=("equal sizes",)),
    forbids=BACKWARD,
)

right, wrong = answers_to(QUESTION)


@right
def one_hot_rows(logits, targets, smoothing):
    vocabulary = logits.shape[-1]
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    p = powers / powers.sum(axis=-1, keepdims=True)
    asked = targets != -100
    hot = np.eye(vocabulary)[np.where(asked, targets, 0)]
    rows = p - (1 - smoothing) * hot - smoothing / vocabulary
    rows[~asked] = 0
    return rows / max(asked.sum(), 1)


@right
def place_by_place(logits, targets, smoothing):
    result, places = np.zeros_like(logits), np.argwhere(targets >= 0)
    for b, n in places:
        row = np.exp(logits[b, n] - logits[b, n].max())
        row /= row.sum()
        row -= smoothing / len(row)
        row[targets[b, n]] -= 1 - smoothing
        result[b, n] = row / len(places)
    return result


@right
def two_losses_mixed(logits, targets, smoothing):
    flat, wanted = logits.reshape(-1, logits.shape[-1]), targets.ravel()
    kept = np.flatnonzero(wanted >= 0)
    e = np.exp(flat[kept] - flat[kept].max(axis=1)[:, None])
    p = e / e.sum(axis=1)[:, None]
    sharp = p.copy()
    sharp[np.arange(len(kept)), wanted[kept]] -= 1
    result = np.zeros_like(flat)
    result[kept] = ((1 - smoothing) * sharp + smoothing * (p - 1 / p.shape[1])) / max(len(kept), 1)
    return result.reshape(logits.shape)


wrong.edits("""
# one_hot_rows
## sums_over_the_positions: Your shares are divided by sums over the positions; each position has a softmax of its own.
- p = powers / powers.sum(axis=-1, keepdims=True)
+ p = powers / powers.sum(axis=1, keepdims=True)
## nothing_even_for_the_target: The even share of the smoothing goes to every word, to the one that is asked for, too.
- rows = p - (1 - smoothing) * hot - smoothing / vocabulary
+ rows = p - (1 - smoothing) * hot - smoothing / vocabulary * (1 - hot)
## sign_turned: The sign is turned round: this leads uphill.
- rows = p - (1 - smoothing) * hot - smoothing / vocabulary
+ rows = (1 - smoothing) * hot + smoothing / vocabulary - p
## smoothing_ignored: The smoothing is not used.
+ rows = p - hot
## target_gets_no_share: You share the smoothing among the other tokens only; the target gets its share, too.
+ rows = p - (1 - smoothing) * hot - smoothing / (vocabulary - 1) * (1 - hot)
## smoothing_not_shared: You give each token all the smoothing; share it out.
+ rows = p - (1 - smoothing) * hot - smoothing
## target_not_lowered: The target still asks for the whole 1, so that more than 1 is asked for in all.
+ rows = p - hot - smoothing / vocabulary
## probabilities_smoothed: You smooth the probabilities; smooth the targets instead.
+ rows = (1 - smoothing) * p + smoothing / vocabulary - hot
## padding_counted: Your mean counts positions with -100, too.
- return rows / max(asked.sum(), 1)
+ return rows / asked.size
## not_a_mean: Yours is the gradient of a sum; divide by the number of positions asked for.
+ return rows
## mean_over_the_batch: You divide by the rows of the batch; the mean runs over all positions that are asked for.
+ return rows / len(logits)
## padding_asked: Your rows at -100 should all be 0.
- rows[~asked] = 0
+ pass
## nothing_asked: Where no position is asked for you divide by 0; the gradient is 0 then.
- return rows / max(asked.sum(), 1)
+ with np.errstate(invalid="ignore", divide="ignore"):
+     return rows / asked.sum()
## over_the_places: Your softmax runs over the positions, not over the tokens.
- powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
- p = powers / powers.sum(axis=-1, keepdims=True)
+ powers = np.exp(logits - logits.max(axis=1, keepdims=True))
+ p = powers / powers.sum(axis=1, keepdims=True)
## overflow: Your exponentials overflow: subtract the largest logit of each position first.
+ with np.errstate(over="ignore", invalid="ignore"):
+     powers = np.exp(logits)
+     p = powers / powers.sum(axis=-1, keepdims=True)
## logits_for_probabilities: You subtract from the logits; subtract from their softmax.
- p = powers / powers.sum(axis=-1, keepdims=True)
+ p = logits
## hot_after_the_mean: You divide only the one-hot part by the number of positions.
- return rows / max(asked.sum(), 1)
+ return np.where(asked[..., None], p - smoothing / vocabulary - (1 - smoothing) * hot / max(asked.sum(), 1), 0.0)
## token_zero_is_padding: You take token 0 for padding; −100 alone marks it, and 0 is a token like any other.
- asked = targets != -100
+ asked = targets > 0
## mean_of_means: You average over each sequence, then over the sequences: positions of a short one count for more.
- return rows / max(asked.sum(), 1)
+ return rows / np.maximum(asked.sum(axis=1), 1)[:, None, None] / len(rows)
## one_maximum_for_all: You subtract one maximum of all logits: at a position far below it every exponential becomes 0.
- powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
+ powers = np.exp(logits - logits.max())
""")
