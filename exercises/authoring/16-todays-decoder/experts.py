"""Exercise 16, question experts: a router with a bias, and the step that balances it."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import draw_sizes


def experts_reference(logits, outputs, b, k, step):
    """Token by token."""
    N, E = logits.shape
    y, load = np.zeros((N, outputs.shape[2])), np.zeros(E)
    for n in range(N):
        r = [1 / (1 + np.exp(-logits[n, e])) for e in range(E)]
        best = sorted(range(E), key=lambda e: -(r[e] + b[e]))[:k]
        for e in best:
            y[n] += r[e] / sum(r[i] for i in best) * outputs[n, e]
            load[e] += 1
    return y, np.array([b[e] + step * np.sign(k * N / E - load[e]) for e in range(E)])


def draw_args(rng, k, spread=1.0, sizes=None, shift=0.0, factor=1.0, step=0.05):
    N, E, D = sizes or draw_sizes(rng, 3)
    logits = 2 * rng.normal(size=(N, E)) + shift
    b = spread * rng.normal(size=E)
    return logits, factor * rng.normal(size=(N, E, D)), b, min(k, E), step


def faint_bias(rng):
    return [draw_args(rng, 2, 1e-6), draw_args(rng, 1, 1e-6, factor=1e4), draw_args(rng, 3, 1e-6)]


def with_bias(rng):
    return [draw_args(rng, 2), draw_args(rng, 3, step=0.2), draw_args(rng, 1, 0.3), draw_args(rng, 2, 5.0)]


def any_load(rng):
    """Also with a faint bias, where few experts get all tokens or none, so that the fair share lies among the loads."""
    return [draw_args(rng, 1, 0.05, sizes=(29, 7, 3)), *with_bias(rng), *faint_bias(rng)]


def faint_and_single(rng):
    """Scores so far below 0 that every r is tiny, one token, all experts chosen, sizes that agree, an even load."""
    faint = draw_args(rng, 2, shift=-12.0, sizes=(7, 5, 3))
    logits = np.log(3) * (np.eye(4) + np.eye(4)[[1, 2, 3, 0]])
    even = logits, rng.normal(size=(4, 4, 3)), np.array([0.01, -0.02, 0.03, -0.01]), 2, 0.1
    return [
        faint,
        draw_args(rng, 2, sizes=(1, 5, 3)),
        draw_args(rng, 4, sizes=(6, 4, 9)),
        draw_args(rng, 2, sizes=(5, 5, 5)),
        even,
    ]


QUESTION = Question(
    id="experts",
    title="A router that balances itself",
    name="balanced_experts",
    minutes=16,
    difficulty=2,
    checks=with_battery(
        equals("the sum, a faint bias", 3, faint_bias, experts_reference, parts=(0,)),
        equals("the sum, with bias", 4, with_bias, experts_reference, parts=(0,)),
        equals("the new bias", 4, any_load, experts_reference, parts=(1,)),
        equals("faint scores, one token, an even load", 3, faint_and_single, experts_reference),
        more={"boundary": in_cases_of("faint scores, one token, an even load")},
        off={"one of each": "two or three experts are chosen", "ties": "the task says that no two are equal"},
    ),
    hints=(
        "Make a table of tokens and experts that is 1 where an expert was chosen and 0 elsewhere. Both parts of the "
        "result can be read off that table and r.",
        "The bias has one task: it says who is chosen. What a chosen expert weighs, and by what it is divided, is r.",
        "The column sums of your table are the loads. What is their mean, for k choices of each of N tokens among E "
        "experts? And what is the sign of 0?",
    ),
    section="a-mixture-of-experts",
    inputs=Inputs(
        axes("NE", "NED", "E"),
        no_softmax="the scores go through a sigmoid",
        alike=("faint scores, one token, an even load",),
    ),
)

right, wrong = answers_to(QUESTION)


@right
def as_often_written(logits, outputs, b, k, step):
    N, E = logits.shape
    r = 1 / (1 + np.exp(-logits))
    best = np.argsort(-(r + b), axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    weights = chosen * r
    weights = weights / weights.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", weights, outputs)
    load = chosen.sum(axis=0)
    return y, b + step * np.sign(k * N / E - load)


@right
def token_by_token(logits, outputs, b, k, step):
    rows, load = [], np.zeros(len(b))
    for scores, says in zip(logits, outputs, strict=True):
        r = np.exp(-np.logaddexp(0, -scores))
        best = np.argsort(r + b)[::-1][:k]
        rows.append(r[best] @ says[best] / r[best].sum())
        load[best] += 1
    return np.array(rows), b + step * np.sign(load.mean() - load)


@right
def gathered(logits, outputs, b, k, step):
    r = 0.5 + 0.5 * np.tanh(logits / 2) if logits.min() > -9 else np.exp(logits) / (1 + np.exp(logits))
    best = np.argpartition(r + b, -k, axis=1)[:, -k:]
    factor = np.take_along_axis(r, best, axis=1)
    spoken = np.take_along_axis(outputs, best[:, :, None], axis=1)
    y = (factor[:, :, None] * spoken).sum(axis=1) / factor.sum(axis=1)[:, None]
    load = np.bincount(best.ravel(), minlength=len(b))
    return y, np.where(load * len(b) > best.size, b - step, np.where(load * len(b) < best.size, b + step, b))


wrong.edits("""
# as_often_written
## bias_in_the_weights: The bias is in your weights; it only says who is chosen.
- weights = chosen * r
+ weights = chosen * (r + b)
## chosen_without_bias: You choose by r alone; the bias is there to choose.
- best = np.argsort(-(r + b), axis=1)[:, :k]
+ best = np.argsort(-r, axis=1)[:, :k]
## bias_inside: You add the bias before the sigmoid; add it to r.
+ best = np.argsort(-(logits + b), axis=1)[:, :k]
## bias_taken_away: You subtract the bias when you choose.
+ best = np.argsort(-(r - b), axis=1)[:, :k]
## the_worst: You choose the experts with the smallest r + b.
+ best = np.argsort(r + b, axis=1)[:, :k]
## only_the_best: You choose one expert, whatever k is.
+ best = np.argsort(-(r + b), axis=1)[:, :1]
## one_too_many: You choose k + 1 experts.
+ best = np.argsort(-(r + b), axis=1)[:, : k + 1]
## experts_choose_tokens: In your function every expert chooses tokens; it is the tokens that choose experts.
- best = np.argsort(-(r + b), axis=1)[:, :k]
+ best = np.argsort(-(r + b), axis=0)[:k]
- np.put_along_axis(chosen, best, 1.0, axis=1)
+ np.put_along_axis(chosen, best, 1.0, axis=0)
- weights = weights / weights.sum(axis=1, keepdims=True)
+ weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
## softmax: Your r is a softmax over the experts; here each has a sigmoid of its own.
- r = 1 / (1 + np.exp(-logits))
+ r = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
## scores_as_they_are: You leave the sigmoid out.
+ r = logits
## never_divided: Your weights do not sum to 1; divide them by their sum over the chosen experts.
- weights = weights / weights.sum(axis=1, keepdims=True)
## divided_by_all: You divide by the sum over all experts; the sum is over the chosen ones.
+ weights = weights / r.sum(axis=1, keepdims=True)
## divided_by_k: You divide by k; divide by the sum of the chosen r.
+ weights = weights / k
## all_equal: Chosen experts weigh the same in your sum; weight them by r.
- weights = chosen * r
+ weights = chosen
## softmax_of_the_chosen: Your weights are a softmax over the chosen r; divide each r by their sum instead.
+ weights = chosen * np.exp(r)
## a_little_more: You add something to the sum that you divide by; where all r are tiny that is too much.
- weights = weights / weights.sum(axis=1, keepdims=True)
+ weights = weights / (weights.sum(axis=1, keepdims=True) + 1e-9)
## sorted_against_unsorted: Your weights are sorted and your experts are not.
- y = np.einsum("ne,ned->nd", weights, outputs)
+ y = np.einsum("ne,ned->nd", -np.sort(-weights, axis=1), outputs)
## wrong_direction: Your step makes busy experts busier.
- return y, b + step * np.sign(k * N / E - load)
+ return y, b - step * np.sign(k * N / E - load)
## no_sign: Your step grows with the gap; only its sign counts.
+ return y, b + step * (k * N / E - load)
## fair_share_of_one: Your fair share is that of a single token, k / E; the load counts all N tokens.
+ return y, b + step * np.sign(k / E - load)
## fair_share_of_tokens: Your fair share is N / E; with k choices a token it is k N / E.
+ return y, b + step * np.sign(N / E - load)
## even_counts_as_busy: You lower the bias at exactly the fair share; keep it.
+ return y, b + np.where(load < k * N / E, step, -step)
## even_counts_as_idle: You raise the bias at exactly the fair share; keep it.
+ return y, b + np.where(load > k * N / E, -step, step)
## load_by_weight: Your load adds up weights; count tokens.
- load = chosen.sum(axis=0)
+ load = weights.sum(axis=0)
## load_by_r: Your load adds up the chosen r; count tokens.
+ load = (chosen * r).sum(axis=0)
## first_choices: Your load knows only the first choice of each token; all k count.
+ load = np.bincount(best[:, 0], minlength=E)
## step_alone: You return the step; return the bias after it.
- return y, b + step * np.sign(k * N / E - load)
+ return y, step * np.sign(k * N / E - load)
## bias_in_place: You change the bias that came in.
+ b += step * np.sign(k * N / E - load)
+ return y, b
## softmax_of_the_scores: Your weights are a softmax over the chosen scores; use their sigmoids, divided by their sum.
- weights = chosen * r
+ weights = chosen * np.exp(logits)
## whole_fair_share: You round the fair share to a whole number; keep its fraction.
- return y, b + step * np.sign(k * N / E - load)
+ return y, b + step * np.sign(k * N // E - load)
""")
