"""Exercise 09, question loss: repair the museum piece: a loss that falls."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import CLOSE, shape_slip
from clearformer.reference import functions

from .shared import draw_sizes, pair_slip


def loss_reference(logits, ids, lengths):
    """One text after another, without what fills it up."""
    losses, gradient = [], np.zeros_like(logits)
    asked = int(np.sum(lengths) - len(lengths))
    for b, length in enumerate(lengths):
        rows, targets = logits[b, : length - 1], ids[b, 1:length]
        top = rows.max(axis=1)
        normaliser = top + np.log(np.exp(rows - top[:, None]).sum(axis=1))
        losses.append(normaliser - rows[np.arange(length - 1), targets])
        gradient[b, : length - 1] = functions.softmax(rows, axis=1) - np.eye(logits.shape[2])[targets]
    return float(np.concatenate(losses).sum() / asked), gradient / asked


def draw_texts(rng, B, T, V, lengths):
    ids = rng.integers(V - 1, size=(B, T))
    ids[:, 0] = V - 1
    for row, length in zip(ids, lengths, strict=True):
        row[length - 1 :] = V - 1
    return ids


def batch(rng, scale=1.0, B=None, lengths=None):
    T, V = draw_sizes(rng, 2, (7, 9, 11, 13))
    B = B or int(rng.choice([4, 5]))
    if lengths is None:
        lengths = rng.permutation(np.array([T, 2, 3, T - 1, T - 2])[:B])
    return scale * rng.normal(size=(B, T, V)), draw_texts(rng, B, T, V, lengths), np.array(lengths)


def ordinary_batches(rng):
    """In the last one the model says nothing yet: all logits are 0."""
    return [batch(rng), batch(rng), batch(rng, B=1, lengths=[5]), batch(rng, scale=0.0)]


def sure_models(rng):
    return [batch(rng, 40.0), batch(rng, 1e4), batch(rng, 3e4)]


def what_counts(ask, rng):
    """Which logits move the loss: those that predict a token of a text, its end included, and no others."""
    logits, ids, lengths = batch(rng)
    came = ask(logits, ids, lengths)
    if slip := loss_slip(came, logits):
        return slip
    b = int(np.argmin(lengths))
    for place, counts, what in (
        (lengths[b] - 2, True, "the end of a text"),
        (0, True, "the first token of a text"),
        (lengths[b] - 1, False, "what comes after the end of a text"),
        (logits.shape[1] - 1, False, "what comes after the last position"),
    ):
        edited = logits.copy()
        edited[b, place] += rng.normal(size=logits.shape[2])
        moved = abs(float(ask(edited, ids, lengths)[0]) - float(came[0])) > CLOSE
        if moved != counts:
            more = "should move the loss, and does not" if counts else "should not move the loss, and does"
            return f"An edit of the logits that predict {what} {more}."
        if bool(np.abs(came[1][b, place]).max() > CLOSE) != counts:
            return f"The gradient for the logits that predict {what} should {'not ' if counts else ''}be 0."
    other = ids.copy()
    other[b, lengths[b] :] = 0
    if abs(float(ask(logits, other, lengths)[0]) - float(came[0])) > CLOSE:
        return "Another id was used to fill up a short text: the loss should stay as it was, but yours changes."
    return None


def gradient_check(ask, rng):
    logits, ids, lengths = batch(rng)
    came, direction = ask(logits, ids, lengths), rng.normal(size=logits.shape)
    if slip := loss_slip(came, logits):
        return slip
    up, down = (float(ask(logits + step * direction, ids, lengths)[0]) for step in (1e-5, -1e-5))
    measured, predicted = (up - down) / 2e-5, float((came[1] * direction).sum())
    if abs(measured - predicted) > 1e-6 * max(1.0, abs(measured)):
        return (
            f"A small step in all logits changes your loss by {measured:.4g} per unit; your gradient predicts "
            f"{predicted:.4g}."
        )
    return None


def loss_slip(came, logits):
    return pair_slip(came) or shape_slip(came[1], logits.shape)


QUESTION = Question(
    id="loss",
    title="Repair the museum piece: a loss that falls",
    name="loss_and_gradient",
    minutes=35,
    difficulty=2,
    checks=with_battery(
        equals("values", 5, ordinary_batches, loss_reference),
        equals("sure models", 2, sure_models, loss_reference),
        holds("what counts", 3, what_counts),
        holds("gradient check", 2, gradient_check),
    ),
    hints=(
        "Write the ids of one short text into a line, and below them, for every position, the token that its "
        "logits have to predict. The museum's second line is not yours.",
        "The filling and the end have the same id, so an id cannot tell them apart. How many predictions does "
        "a text of a given length have?",
        "Each prediction of the whole batch has the same weight, and there are as many as the lengths say. For "
        "sure models never take the logarithm of a probability that can be 0: take that of the sum, after the "
        "largest logit is subtracted. What the loss does not ask for gets the gradient 0.",
    ),
    section="what-the-loss-tells-the-head",
    inputs=Inputs(
        lambda logits, ids, lengths: dict(zip("BTV", logits.shape, strict=True)), lambda logits, ids, lengths: logits
    ),
    forbids=("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward"),
)

right, wrong = answers_to(QUESTION)


@right
def shifted_and_counted(logits, ids, lengths):
    B, T, V = logits.shape
    top = logits.max(axis=2, keepdims=True)
    total = np.exp(logits - top).sum(axis=2, keepdims=True)
    log_p = logits - top - np.log(total)
    targets = np.concatenate([ids[:, 1:], ids[:, :1]], axis=1)
    asked = np.arange(1, T + 1) < np.asarray(lengths)[:, None]
    came = np.arange(V) == targets[:, :, None]
    n_asked = asked.sum()
    loss = -log_p[came].reshape(B, T)[asked].sum() / n_asked
    return loss, (np.exp(log_p) - came) * asked[:, :, None] / n_asked


@right
def text_by_text(logits, ids, lengths):
    gradient, loss, n_asked = 0 * logits, 0.0, sum(int(length) - 1 for length in lengths)
    for b in range(len(ids)):
        for n in range(lengths[b] - 1):
            row, w = logits[b, n], ids[b, n + 1]
            powers = np.exp(row - row.max())
            loss += np.log(powers.sum()) + row.max() - row[w]
            gradient[b, n] = powers / powers.sum()
            gradient[b, n, w] -= 1
    return loss / n_asked, gradient / n_asked


@right
def only_what_is_asked(logits, ids, lengths):
    b, n = np.nonzero(np.arange(ids.shape[1] - 1) < lengths[:, None] - 1)
    rows, targets = logits[b, n], ids[b, n + 1]
    rows = rows - rows.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(rows).sum(axis=1))
    everyone = np.arange(len(rows))
    push = np.exp(rows - log_sum[:, None])
    push[everyone, targets] -= 1
    gradient = np.zeros(logits.shape)
    gradient[b, n] = push / len(rows)
    return (log_sum - rows[everyone, targets]).mean(), gradient


@right
def as_often_written(logits, ids, lengths):
    T, V = logits.shape[1:]
    targets = np.roll(ids, -1, axis=1)
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[targets]
    loss = -(weights * (log_p * came).sum(axis=2)).sum()
    return loss, weights[:, :, None] * (np.exp(log_p) - came)


@right
def as_often_written_too(logits, ids, lengths):
    T, V = logits.shape[1:]
    asked = np.arange(T) < lengths[:, None] - 1
    weights = asked / asked.sum()
    centred = logits - logits.max(axis=2, keepdims=True)
    log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
    came = np.eye(V)[np.roll(ids, -1, axis=1)]
    return -(weights * (log_p * came).sum(axis=2)).sum(), weights[:, :, None] * (np.exp(log_p) - came)


@wrong("This is the museum piece, as it stands.")
def as_in_the_museum(logits, ids, lengths):
    V = logits.shape[2]
    p = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    came = np.eye(V)[ids]
    asked = ids != V - 1
    weights = asked / np.maximum(asked.sum(axis=1, keepdims=True), 1) / len(ids)
    losses = -np.log((p * came).sum(axis=2))
    return (weights * losses).sum(), weights[:, :, None] * (p - came)


@wrong("With large logits your softmax divides infinity by infinity; subtract the largest of each position first.")
def infinity_by_infinity(logits, ids, lengths):
    T, V = logits.shape[1:]
    asked = np.arange(T) < lengths[:, None] - 1
    p = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    came = np.eye(V)[np.roll(ids, -1, axis=1)]
    loss = -np.log((p * came).sum(axis=2)[asked]).mean()
    return loss, asked[:, :, None] * (p - came) / asked.sum()


wrong.edits("""
# as_often_written
## one_filling_asked: You ask for one token too many: the first of those that only fill a short text up.
- asked = np.arange(T) < lengths[:, None] - 1
+ asked = (np.arange(T) < lengths[:, None]) & (np.arange(T) < T - 1)
## predicts_itself [common-mistakes]: Your targets are not shifted: each position is asked for the token that it reads.
- targets = np.roll(ids, -1, axis=1)
+ targets = ids
## shifted_the_other_way [common-mistakes]: Your targets are shifted the wrong way: each position is asked for the token
before its own.
+ targets = np.roll(ids, 1, axis=1)
## end_never_learned [common-mistakes]: The end of a text is never asked for: you leave out every mark, or the last
prediction of each text, so the model never learns to stop.
- asked = np.arange(T) < lengths[:, None] - 1
+ asked = (targets != V - 1) & (np.arange(T) < T - 1)
## first_never_learned: You leave out all positions that hold a mark, and with them the first, which predicts how a text
begins.
+ asked = ids != V - 1
## one_too_many: You ask for one id behind the end of every text.
+ asked = np.arange(T) < lengths[:, None]
## filling_asked: The filling is asked for, too: the model is praised for going on with marks.
+ asked = np.arange(T) < np.full((len(ids), 1), T - 1)
## mean_of_texts: Every text has the same say, so that a token of a short text counts for more than one of a long text.
- weights = asked / asked.sum()
+ weights = asked / asked.sum(axis=1, keepdims=True) / len(ids)
## divided_by_all_places: You divide by the number of positions, the filling included; few of them are asked.
+ weights = asked / ids.size
## divided_by_the_texts: You divide by the number of texts; the mean is over all predictions that are asked for.
+ weights = asked / len(ids)
## never_divided: This is the sum of all surprises, and no mean.
+ weights = 1.0 * asked
## overflows: The exponential meets large logits as they are and overflows.
- centred = logits - logits.max(axis=2, keepdims=True)
+ centred = logits
## logarithm_of_zero: You take the logarithm of a probability, which is rounded to 0 where the model is sure of
something else.
  log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
+ p = np.exp(log_p)
- loss = -(weights * (log_p * came).sum(axis=2)).sum()
+ loss = -(weights * np.log((p * came).sum(axis=2))).sum()
## sure_and_wrong: Where the model is sure of another token you take the logarithm of a 0, and the loss is infinite;
take that of the sum.
  log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
+ p = np.exp(log_p)
- loss = -(weights * (log_p * came).sum(axis=2)).sum()
+ loss = -np.log((p * came).sum(axis=2)[asked]).mean()
## never_very_surprised: You add a small number before the logarithm: then no surprise is larger than its limit, and the
gradient belongs to another loss.
  log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
+ p = np.exp(log_p)
- loss = -(weights * (log_p * came).sum(axis=2)).sum()
+ loss = -(weights * np.log((p * came).sum(axis=2) + 1e-12)).sum()
## gradient_of_the_sum: Your gradient is that of the sum of the losses; the loss is their mean.
- return loss, weights[:, :, None] * (np.exp(log_p) - came)
+ return loss, asked[:, :, None] * (np.exp(log_p) - came)
## gradient_of_one_prediction: Your gradient is p less the token that came, as for one prediction alone. The loss is a
mean: each prediction that is asked for has its weight in it, and what is not asked for has none.
+ return loss, np.exp(log_p) - came
## gradient_without_weights: Your gradient lacks the weights of the mean: divide it by the number of predictions that
are asked for, and let it be 0 wherever nothing is asked.
+ came[:, -1] = 0
+ return loss, np.exp(log_p) - came
## gradient_of_the_filling: The gradient of what is not asked for should be 0, and yours pushes there, too.
+ return loss, 1 / asked.sum() * (np.exp(log_p) - came)
## gradient_upside_down: Your gradient has the wrong sign: with it the loss would rise.
+ return loss, weights[:, :, None] * (came - np.exp(log_p))
## gradient_without_the_target: Your gradient is the probability alone; the token that came gets 1 less.
+ return loss, weights[:, :, None] * np.exp(log_p)
## softmax_over_places [common-mistakes]: Your softmax runs over the positions; the tokens of one position have to share
its probability.
- centred = logits - logits.max(axis=2, keepdims=True)
- log_p = centred - np.log(np.exp(centred).sum(axis=2, keepdims=True))
+ centred = logits - logits.max(axis=1, keepdims=True)
+ log_p = centred - np.log(np.exp(centred).sum(axis=1, keepdims=True))
## gradient_one_place_short: Your gradient has one position fewer than the logits; the last should have zeros.
- return loss, weights[:, :, None] * (np.exp(log_p) - came)
+ gradient = weights[:, :, None] * (np.exp(log_p) - came)
+ return loss, gradient[:, :-1]
## loss_below_zero: The sign of your loss is missing: it is a mean of −ln p.
- loss = -(weights * (log_p * came).sum(axis=2)).sum()
+ loss = (weights * (log_p * came).sum(axis=2)).sum()
## in_bits: Your loss is in bits, and your gradient in nats.
- return loss, weights[:, :, None] * (np.exp(log_p) - came)
+ return loss / np.log(2), weights[:, :, None] * (np.exp(log_p) - came)
## loss_alone: The gradient is missing: a pair is asked for.
+ return loss
# as_often_written_too
## only_shifted [common-mistakes]: One of three is repaired: each position is asked for the next id; look at which
positions are asked, and at how much each of them counts.
- T, V = logits.shape[1:]
- asked = np.arange(T) < lengths[:, None] - 1
- weights = asked / asked.sum()
+ V = logits.shape[2]
+ asked = ids != V - 1
+ weights = asked / np.maximum(asked.sum(axis=1, keepdims=True), 1) / len(ids)
## only_asked_by_length [common-mistakes]: One of three is repaired: the right positions are asked; look at what they
are asked for, and at how much each of them counts.
- weights = asked / asked.sum()
+ weights = asked / asked.sum(axis=1, keepdims=True) / len(ids)
- came = np.eye(V)[np.roll(ids, -1, axis=1)]
+ came = np.eye(V)[ids]
## only_weighted_alike [common-mistakes]: One of three is repaired: every prediction counts the same; look at which
positions are asked, and at what they are asked for.
- asked = np.arange(T) < lengths[:, None] - 1
- weights = asked / asked.sum()
+ asked = ids != V - 1
+ weights = asked / max(asked.sum(), 1)
- came = np.eye(V)[np.roll(ids, -1, axis=1)]
+ came = np.eye(V)[ids]
## largest_of_the_batch: You subtract the largest logit of the whole batch, so that elsewhere every exponential is
rounded to 0; each position has its own largest.
- centred = logits - logits.max(axis=2, keepdims=True)
+ centred = logits - logits.max()
## gradient_one_place_late: Your gradient stands at the position of the token that came; the logits that predicted it
are one position before.
- return -(weights * (log_p * came).sum(axis=2)).sum(), weights[:, :, None] * (np.exp(log_p) - came)
+ gradient = weights[:, :, None] * (np.exp(log_p) - came)
+ return -(weights * (log_p * came).sum(axis=2)).sum(), np.roll(gradient, 1, axis=1)
## gradient_of_one_logit: Your gradient moves only the token that came; every other should be pushed down by its
probability.
+ return -(weights * (log_p * came).sum(axis=2)).sum(), weights[:, :, None] * (np.exp(log_p) - 1) * came
""")
