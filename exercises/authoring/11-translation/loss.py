"""Exercise 11, question loss: the loss and its gradient."""

from itertools import product
from math import exp, log

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import CLOSE, draw_sizes, shape_slip, varied

from .shared import tuple_slip


def loss_reference(logits, wanted, padding, smoothing):
    """Word by word: the surprise at each share of t, and p − t, over the number of real words."""
    B, N, V = logits.shape
    total, gradient, n_real = 0.0, np.zeros((B, N, V)), 0
    for b, n in product(range(B), range(N)):
        if wanted[b, n] == padding:
            continue
        row = logits[b, n] - logits[b, n].max()
        log_p = row - log(sum(exp(x) for x in row))
        t = np.array([smoothing / V + (1 - smoothing) * (w == wanted[b, n]) for w in range(V)])
        total -= float(t @ log_p)
        gradient[b, n] = np.exp(log_p) - t
        n_real += 1
    return total / n_real, gradient / n_real


def draw_loss(rng, smoothing=0.0, scale=1.0, n_targets=None, n_sentences=None, scattered=False):
    B, N, V = draw_sizes(rng, 3)
    N, padding = n_targets or N, int(rng.integers(V))
    wanted = rng.integers(V - 1, size=(B, N))
    wanted += wanted >= padding
    for b in range(1, B):  # sentences of different lengths, so that a mean of means is another number
        wanted[b, int(rng.integers(0 if n_targets else 1, N + 1)) :] = padding
    if N > 2:
        wanted[1, 1:], wanted[2, 2:] = padding, padding
    if scattered:  # padding in front and between words, too
        wanted = rng.permuted(wanted, axis=1)
        wanted[0, 0], wanted[0, -1] = padding, (padding + 1) % V
    wanted = wanted[:n_sentences]
    return scale * rng.normal(size=(*wanted.shape, V)), wanted, padding, smoothing


one_word = {"n_targets": 1, "n_sentences": 1}
plain = varied(draw_loss, {}, {"scattered": True}, {"n_targets": 1}, one_word)
smoothed = varied(draw_loss, {"smoothing": 0.1, "n_sentences": 1}, {"smoothing": 0.4}, {"smoothing": 1.0})


def central_differences(ask, rng):
    logits, wanted, padding, smoothing = draw_loss(rng, smoothing=0.3)
    came = ask(logits, wanted, padding, smoothing)
    if slip := tuple_slip(came, ("the loss", "its gradient")) or shape_slip(came[1], logits.shape, "The gradient"):
        return slip
    direction, h = rng.normal(size=logits.shape), 1e-5
    losses = [ask(logits + sign * h * direction, wanted, padding, smoothing)[0] for sign in (1, -1)]
    if not all(isinstance(loss, float | np.floating) or getattr(loss, "shape", None) == () for loss in losses):
        return "The loss should be one number."
    slope, told = (losses[0] - losses[1]) / (2 * h), float((came[1] * direction).sum())
    if abs(slope - told) > 1e-6 * max(1.0, abs(slope)):
        return f"Along a random direction your loss changes by {slope:.6f} a unit, and your gradient says {told:.6f}."
    return None


def padding_counts_nothing(ask, rng):
    logits, wanted, padding, smoothing = draw_loss(rng, smoothing=0.2)
    came = ask(logits, wanted, padding, smoothing)
    if slip := tuple_slip(came, ("the loss", "its gradient")) or shape_slip(came[1], logits.shape, "The gradient"):
        return slip
    hidden = wanted == padding
    if np.abs(came[1][hidden]).max() > CLOSE:
        return "Where padding is wanted the scores must have no influence, but your gradient is not 0 there."
    other = np.where(hidden[:, :, None], logits + rng.normal(size=logits.shape), logits)
    if abs(ask(other, wanted, padding, smoothing)[0] - came[0]) > CLOSE:
        return "When scores change at positions where padding is wanted, your loss changes."
    wider = np.pad(logits, ((0, 0), (0, 3), (0, 0))), np.pad(wanted, ((0, 0), (0, 3)), constant_values=padding)
    if abs(ask(*wider, padding, smoothing)[0] - came[0]) > CLOSE:
        return "With three columns of padding more the loss must stay as it is; yours changes."
    return None


BACKWARD = "torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward"
QUESTION = Question(
    id="loss",
    title="The loss and its gradient",
    name="loss_and_gradient",
    minutes=35,
    difficulty=2,
    checks=with_battery(
        equals(
            "without smoothing",
            3,
            varied(draw_loss, {}, {"scattered": True}, {"n_targets": 1}, {"n_targets": 1, "n_sentences": 1}),
            loss_reference,
        ),
        equals("with smoothing", 3, smoothed, loss_reference),
        equals(
            "sure models",
            2,
            varied(draw_loss, {"scale": 30.0, "smoothing": 0.1}, {"scale": 1e4}, {"scale": 1e4, "smoothing": 0.2}),
            loss_reference,
        ),
        holds("gradient check", 1, central_differences),
        holds("padding counts nothing", 3, padding_counts_nothing),
        off=dict.fromkeys(("one of each", "odd sizes"), "the words that are wanted lie within the vocabulary"),
    ),
    hints=(
        "Write down t for three words and ε = 0.3, and see that it sums to 1. Then the derivative of the loss "
        "at one position by its scores is as short as it is without smoothing.",
        "Work with the logarithm of the softmax, not with the softmax and then its logarithm: subtract the "
        "largest score first. At one position the gradient is the difference of two distributions.",
        "Sum over all positions, with 0 for padding, and divide once, by the number of real words in the whole "
        "batch. The gradient is divided by the same number.",
    ),
    section="the-loss",
    inputs=Inputs(axes("BNV", "BN"), lambda logits, *rest: logits),
    forbids=("torch.nn.functional.cross_entropy", "cleartape.gradients.value_and_gradients", *BACKWARD),
)

right, wrong = answers_to(QUESTION)


@right
def logs_of_the_softmax(logits, wanted, padding, smoothing):
    V = logits.shape[-1]
    real = (wanted != padding).astype(float)
    top = logits.max(axis=-1, keepdims=True)
    powers = np.exp(logits - top)
    sums = powers.sum(axis=-1, keepdims=True)
    log_p = logits - top - np.log(sums)
    t = np.full(logits.shape, smoothing / V)
    np.put_along_axis(t, wanted[..., None], smoothing / V + 1 - smoothing, axis=-1)
    surprise = -np.sum(t * log_p, axis=-1)
    n_real = real.sum()
    return np.sum(surprise * real) / n_real, (powers / sums - t) * real[..., None] / n_real


@right
def only_the_real_places(logits, wanted, padding, smoothing):
    b, n = np.nonzero(wanted != padding)
    scores, words = logits[b, n], wanted[b, n]
    lines = np.arange(len(words))
    scores = scores - scores.max(axis=1)[:, None]
    log_sums = np.log(np.exp(scores).sum(axis=1))
    at_word = (log_sums - scores[lines, words]).mean()
    at_all = (log_sums - scores.mean(axis=1)).mean()
    slope = np.exp(scores - log_sums[:, None]) - smoothing / logits.shape[2]
    slope[lines, words] -= 1 - smoothing
    gradient = np.zeros_like(logits)
    gradient[b, n] = slope / len(words)
    return (1 - smoothing) * at_word + smoothing * at_all, gradient


@right
def place_after_place(logits, wanted, padding, smoothing):
    gradient, losses = np.zeros(logits.shape), []
    for b, sentence in enumerate(wanted):
        for n, word in enumerate(sentence):
            if word != padding:
                z = logits[b, n] - logits[b, n].max()
                log_p = z - np.log(np.exp(z).sum())
                t = np.full(len(z), smoothing / len(z))
                t[word] += 1 - smoothing
                losses.append(-log_p @ t)
                gradient[b, n] = np.exp(log_p) - t
    return np.asarray(sum(losses) / len(losses)), gradient / len(losses)  # an array without axes is one number too


@right
def as_often_written(logits, wanted, padding, smoothing):
    V, real = logits.shape[2], wanted != padding
    shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
    shifted = logits - logits.max(axis=2, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
    surprise = -(shares * log_p).sum(axis=2) * real
    gradient = (np.exp(log_p) - shares) * real[:, :, None]
    return surprise.sum() / real.sum(), gradient / real.sum()


wrong.edits("""
# as_often_written
## padding_only_behind: You count the words of a sentence and take the first positions; padding may also stand in front
or between words.
- V, real = logits.shape[2], wanted != padding
+ V = logits.shape[2]
+ real = np.arange(wanted.shape[1]) < (wanted != padding).sum(axis=1)[:, None]
## padding_behind_left_out: You leave out the padding behind the last word of a sentence, and count what stands in front
and between words.
+ V, real = logits.shape[2], np.cumsum((wanted != padding)[:, ::-1], axis=1)[:, ::-1] > 0
## first_padding_ends: After the first padding of a sentence you count nothing more; words may follow.
+ V, real = logits.shape[2], np.logical_and.accumulate(wanted != padding, axis=1)
## never_less_than_two: You divide by two at least; a batch may hold a single word.
- return surprise.sum() / real.sum(), gradient / real.sum()
+ return surprise.sum() / max(real.sum(), 2), gradient / max(real.sum(), 2)
## padding_gets_no_share: You give padding no share of ε, although it is one of the V words.
- shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
+ shares = smoothing / (V - 1) + (1 - smoothing) * np.eye(V)[wanted]
+ shares[:, :, padding] = 0
## shared_as_elsewhere: You share ε out among all words but padding and the wanted one, as the Annotated Transformer
does; here each of the V words has ε/V.
+ shares = np.where(np.eye(V)[wanted] == 1, 1 - smoothing, smoothing / (V - 2))
+ shares[:, :, padding] = 0
## padding_taken_out: You take away the share of padding and scale the others up; here each of the V words has ε/V.
+ shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
+ shares[:, :, padding] = 0
+ shares = shares / shares.sum(axis=2, keepdims=True)
## shared_among_one_fewer: You share ε out among V − 1 words, and your shares sum to more than 1.
+ shares = smoothing / (V - 1) + (1 - smoothing) * np.eye(V)[wanted]
## only_the_loss_over_all_places: Your loss is divided by the number of positions, your gradient by that of the words.
- return surprise.sum() / real.sum(), gradient / real.sum()
+ return surprise.mean(), gradient / real.sum()
## divergence: You take the entropy of t off the surprise; the loss of the task keeps it.
- surprise = -(shares * log_p).sum(axis=2) * real
+ surprise = (shares * (np.log(np.maximum(shares, 1e-300)) - log_p)).sum(axis=2) * real
## padding_counts [common-mistakes]: Padding counts as a word like any other, in the loss and in the gradient.
- V, real = logits.shape[2], wanted != padding
+ V, real = logits.shape[2], np.ones(wanted.shape, dtype=bool)
## gradient_lacks_the_small_shares [common-mistakes]: From p your gradient takes 1 − ε off at the wanted word alone;
every word has a share of ε/V as well.
- gradient = (np.exp(log_p) - shares) * real[:, :, None]
+ gradient = (np.exp(log_p) - (1 - smoothing) * np.eye(V)[wanted]) * real[:, :, None]
## minus_forgotten [common-mistakes]: Your loss is below 0: a surprise is minus the logarithm, and the minus is missing.
- surprise = -(shares * log_p).sum(axis=2) * real
+ surprise = (shares * log_p).sum(axis=2) * real
## divided_by_all_places: You leave padding out of the sum and divide by the number of all positions; divide by the
number of real words.
- return surprise.sum() / real.sum(), gradient / real.sum()
+ return surprise.sum() / wanted.size, gradient / wanted.size
## mean_of_means: You average in each sentence and then over the sentences; that gives the words of a short sentence
more weight.
+ words = np.maximum(real.sum(axis=1), 1)
+ sentences = real.any(axis=1).sum()
+ return (surprise.sum(axis=1) / words).sum() / sentences, gradient / words[:, None, None] / sentences
## mean_of_all_means: You average in each sentence and then over all sentences, those with nothing but padding included.
+ words = np.maximum(real.sum(axis=1), 1)
+ return (surprise.sum(axis=1) / words).mean(), gradient / words[:, None, None] / len(wanted)
## divided_by_sentences: You divide by the number of sentences; the mean runs over words.
+ return surprise.sum() / len(wanted), gradient / len(wanted)
## sum_only: You return sums; loss and gradient are means over the real words.
+ return surprise.sum(), gradient
## gradient_not_divided: Your loss is a mean, and your gradient is that of the sum.
+ return surprise.sum() / real.sum(), gradient
## loss_not_divided: Your gradient is a mean, and your loss is a sum.
+ return surprise.sum(), gradient / real.sum()
## loss_over_all_scores: Your loss is divided by the number of all scores; divide it by that of the real words.
+ return surprise.sum() / logits.size, gradient / real.sum()
## gradient_of_padding: Your loss leaves padding out, and your gradient does not.
- gradient = (np.exp(log_p) - shares) * real[:, :, None]
+ gradient = np.exp(log_p) - shares
## smoothing_ignored: Your loss is the surprise at the wanted word alone: ε is not used.
- shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
+ shares = np.eye(V)[wanted]
## only_the_loss_not_smoothed: Your gradient is smoothed, and your loss belongs to ε = 0.
- surprise = -(shares * log_p).sum(axis=2) * real
+ surprise = -(np.eye(V)[wanted] * log_p).sum(axis=2) * real
## gradient_not_smoothed: Your loss is smoothed, and your gradient belongs to ε = 0.
- gradient = (np.exp(log_p) - shares) * real[:, :, None]
+ gradient = (np.exp(log_p) - np.eye(V)[wanted]) * real[:, :, None]
## shared_by_the_others: You share ε out among the other words only; every word gets ε/V, the wanted one too.
- shares = smoothing / V + (1 - smoothing) * np.eye(V)[wanted]
+ shares = np.where(np.eye(V)[wanted] == 1, 1 - smoothing, smoothing / (V - 1))
## wanted_word_lacks_its_share: The wanted word gets 1 − ε without its own ε/V, so that your shares do not sum to 1.
+ shares = np.where(np.eye(V)[wanted] == 1, 1 - smoothing, smoothing / V)
## epsilon_for_everyone: Every word gets ε instead of ε/V, so that your shares sum to more than 1.
+ shares = smoothing + (1 - smoothing) * np.eye(V)[wanted]
## nothing_taken_away: Every word gets ε/V, but nothing is taken from the wanted one.
+ shares = smoothing / V + np.eye(V)[wanted]
## uphill: Your gradient has the wrong sign: it points to where the loss falls.
- gradient = (np.exp(log_p) - shares) * real[:, :, None]
+ gradient = (shares - np.exp(log_p)) * real[:, :, None]
## overflows: Your exponentials overflow: subtract the largest score first.
- shifted = logits - logits.max(axis=2, keepdims=True)
+ shifted = logits
## log_of_zero: You take the logarithm of a softmax that has become 0; with large scores that is −∞.
- log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
+ p = np.exp(shifted) / np.exp(shifted).sum(axis=2, keepdims=True)
+ log_p = np.log(p)
## tiny_number_added: You add a tiny number before the logarithm; for words that are very unlikely the surprise is then
far too small.
- log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
+ p = np.exp(shifted) / np.exp(shifted).sum(axis=2, keepdims=True)
+ log_p = np.log(p + 1e-12)
- gradient = (np.exp(log_p) - shares) * real[:, :, None]
+ gradient = (p - shares) * real[:, :, None]
## one_maximum_for_all: You subtract the largest of all scores; where a position has only much smaller ones, all its
exponentials become 0.
- shifted = logits - logits.max(axis=2, keepdims=True)
+ shifted = logits - logits.max()
## softmax_over_places: Your softmax runs over the positions of a sentence; the words of one position have to share the
probability.
- shifted = logits - logits.max(axis=2, keepdims=True)
- log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
+ shifted = logits - logits.max(axis=1, keepdims=True)
+ log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
## bits: Your logarithm has the base 2; nats are expected, and the gradient belongs to them.
- surprise = -(shares * log_p).sum(axis=2) * real
+ surprise = -(shares * log_p / np.log(2)).sum(axis=2) * real
## padding_cannot_be_written: You leave the padding out of the softmax; it is one of the V words, and it is left out
only as a wanted word.
- shifted = logits - logits.max(axis=2, keepdims=True)
+ shifted = np.where(np.arange(V) == padding, -1e300, logits - logits.max(axis=2, keepdims=True))
## logits_taken_for_logs: You treat the scores as logarithms of probabilities; they are no such thing before a softmax.
- surprise = -(shares * log_p).sum(axis=2) * real
+ surprise = -(shares * logits).sum(axis=2) * real
## loss_for_each_word: You return the loss of each position; one number is expected.
- return surprise.sum() / real.sum(), gradient / real.sum()
+ return surprise, gradient / real.sum()
## gradient_of_the_softmax: Your gradient has a factor p(1 − p) too much: it is multiplied by the softmax's slope once
more.
- gradient = (np.exp(log_p) - shares) * real[:, :, None]
+ gradient = (np.exp(log_p) - shares) * np.exp(log_p) * (1 - np.exp(log_p)) * real[:, :, None]
## gradient_over_all_places: Your loss is divided by the number of real words, your gradient by that of all positions.
- return surprise.sum() / real.sum(), gradient / real.sum()
+ return surprise.sum() / real.sum(), gradient / wanted.size
## gradient_at_the_word_only: Your gradient has entries at the wanted word alone; the scores of all words push each
other aside.
- gradient = (np.exp(log_p) - shares) * real[:, :, None]
+ gradient = np.eye(V)[wanted] * (np.exp(log_p) - 1) * real[:, :, None]
## small_number_added: You add 1e-9 before the logarithm; where a word is very unlikely its surprise stops growing.
- log_p = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
+ p = np.exp(shifted) / np.exp(shifted).sum(axis=2, keepdims=True)
+ log_p = np.log(p + 1e-9)
- gradient = (np.exp(log_p) - shares) * real[:, :, None]
+ gradient = (p - shares) * real[:, :, None]
""")
