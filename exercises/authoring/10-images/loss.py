"""Exercise 10, question loss: the loss of what was hidden, and its gradient."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes

from .shared import pair_slip


def loss_reference(drawn, patches, hidden, normalise=False):
    """Hidden patch by hidden patch."""
    gradient, total, n_hidden, L = np.zeros_like(drawn), 0.0, int(hidden.sum()), drawn.shape[2]
    for b, n in np.argwhere(hidden):
        target = patches[b, n]
        if normalise:
            apart = target - sum(target) / L
            target = apart / np.sqrt(sum(apart**2) / (L - 1) + 1e-6)
        total += sum((drawn[b, n] - target) ** 2) / L
        gradient[b, n] = 2 * (drawn[b, n] - target) / (L * n_hidden)
    return total / n_hidden, gradient


def draw_args(rng, *normalise, n_patches=None, scale=1.0):
    """As many hidden patches as it comes, at least one in the batch, once a whole image."""
    B, N, L = draw_sizes(rng, 3)
    N = n_patches or N
    drawn, patches = (
        scale * rng.normal(size=(B, N, L)),
        scale * (rng.normal(size=(B, N, L)) + rng.normal(size=(B, N, 1))),
    )
    hidden = rng.random(size=(B, N)) < rng.uniform(0.2, 0.9, size=(B, 1))
    hidden[0], hidden[1] = True, False
    return drawn, patches, hidden, *normalise


def plain_drawings(rng):
    alone = tuple(part[:1] for part in draw_args(rng))
    return [draw_args(rng), draw_args(rng, False), draw_args(rng, n_patches=1), draw_args(rng, scale=1e4), alone]


def normalised_drawings(rng):
    """Also patches without spread, and with so little that the 0.000001 shows."""
    flat = draw_args(rng, True)
    flat[1][0, 0], flat[1][0, 1], flat[1][0, 2] = 3.0, 1 + 1e-3 * rng.normal(size=flat[1].shape[2]), 1e5 + flat[1][0, 2]
    return [draw_args(rng, True), flat, draw_args(rng, True, n_patches=1), draw_args(rng, True, scale=1e4)]


def gradient_check(ask, rng):
    for normalise in (False, True):
        drawn, patches, hidden, _ = draw_args(rng, normalise)
        came = ask(drawn, patches, hidden, normalise)
        if slip := pair_slip(came, None, drawn.shape):
            return slip
        if not np.isscalar(came[0]) and np.ndim(came[0]):
            return "The first part of the result should be one number."
        if not np.isfinite(came[0]):
            return f"Your loss is {float(came[0])}; it should be a number, also where an image has no hidden patch."
        edited = drawn + ~hidden[:, :, None] * rng.normal(size=drawn.shape)
        if not np.allclose(ask(edited, patches, hidden, normalise)[0], came[0], rtol=1e-9, atol=0):
            return "What is drawn where nothing was hidden must not matter, but it changes your loss."
        direction = rng.normal(size=drawn.shape)
        there, back = (ask(drawn + step * direction, patches, hidden, normalise)[0] for step in (1e-4, -1e-4))
        slope, expected = float(np.sum(came[1] * direction)), (there - back) / 2e-4
        if not np.isclose(slope, expected, rtol=1e-5, atol=1e-8):
            return (
                f"Along a random direction your loss changes by {expected:.4g} per unit, and your gradient says "
                f"{slope:.4g}."
            )
    return None


QUESTION = Question(
    id="loss",
    title="The loss of what was hidden, and its gradient",
    name="masked_loss",
    minutes=25,
    difficulty=2,
    checks=with_battery(
        equals("plain patches", 4, plain_drawings, loss_reference),
        equals("normalised patches", 4, normalised_drawings, loss_reference),
        holds("gradient check", 2, gradient_check),
        off={
            "rows of a batch": "an image may have no hidden patch, and a batch has at least one",
            "one of each": "a patch of one number has no standard deviation, and a batch has a hidden patch",
        },
    ),
    hints=(
        "By how many numbers is the sum of squares divided? Count the hidden patches of the whole batch, and "
        "the numbers in each.",
        "Each entry of what was drawn stands in one square, or in none. Derive that square and keep the "
        "factor in front of the sum.",
        "A target that is normalised does not depend on what was drawn, so the gradient keeps its form. Each "
        "patch has its own mean and variance, and look up `ddof`.",
    ),
    section="drawing-what-is-hidden",
    inputs=Inputs(lambda drawn, *rest: dict(zip("BNL", drawn.shape, strict=True))),
    forbids=("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward"),
)

right, wrong = answers_to(QUESTION)


@right
def only_where_hidden(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean = patches.mean(axis=-1, keepdims=True)
        variance = np.sum((patches - mean) ** 2, axis=-1, keepdims=True) / (patches.shape[-1] - 1)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = np.where(hidden[..., None], drawn - target, 0.0)
    n_numbers = hidden.sum() * drawn.shape[-1]
    return (gaps * gaps).sum() / n_numbers, 2 * gaps / n_numbers


@right
def with_chosen_rows(drawn, patches, hidden, normalise=False):
    guess, truth = drawn[hidden], patches[hidden]
    if normalise:
        truth = (truth - truth.mean(1)[:, None]) / np.sqrt(truth.var(1, ddof=1)[:, None] + 1e-6)
    gradient = np.zeros_like(drawn)
    gradient[hidden] = 2 * (guess - truth) / guess.size
    return np.mean((guess - truth) ** 2), gradient


@right
def patch_after_patch(drawn, patches, hidden, normalise=False):
    loss, gradient, n_hidden = 0.0, np.zeros(drawn.shape), np.count_nonzero(hidden)
    for b, n in zip(*np.nonzero(hidden), strict=True):
        target = patches[b, n]
        if normalise:
            target = (target - np.mean(target)) / (np.var(target, ddof=1) + 1e-6) ** 0.5
        gap = drawn[b, n] - target
        loss += np.mean(gap**2) / n_hidden
        gradient[b, n] = 2 * gap / (n_hidden * len(gap))
    return loss, gradient


@right
def as_often_written(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (drawn - target) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong("You normalise what was drawn as well; only the target is normalised.")
def drawing_normalised_too(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
        target = (patches - mean) / np.sqrt(variance + 1e-6)
    gaps = (
        (drawn - (drawn.mean(axis=2, keepdims=True) if normalise else 0))
        / (np.sqrt(drawn.var(axis=2, ddof=1, keepdims=True) + 1e-6) if normalise else 1)
        - target
    ) * hidden[:, :, None]
    count = hidden.sum() * drawn.shape[2]
    return (gaps**2).sum() / count, 2 * gaps / count


@wrong("Your loss is right; its gradient is divided by the hidden patches, and not by all their numbers.")
def gradient_by_patches(drawn, patches, hidden, normalise=False):
    target = patches
    if normalise:
        spread = np.sqrt(patches.var(axis=2, keepdims=True, ddof=1) + 1e-6)
        target = (patches - patches.mean(axis=2, keepdims=True)) / spread
    gap = (drawn - target) * hidden[:, :, None]
    return (gap**2).sum() / (hidden.sum() * drawn.shape[2]), 2 * gap / hidden.sum()


wrong.edits("""
# as_often_written
## gradient_scaled_back: You divide the gradient by the spread of the patch as well; the target alone is normalised, and
the gradient belongs to what was drawn.
- return (gaps**2).sum() / count, 2 * gaps / count
+ return (gaps**2).sum() / count, 2 * gaps / count / (np.sqrt(variance + 1e-6) if normalise else 1.0)
## all_patches_count [common-mistakes]: You average over all patches; what the encoder has seen must not count, for it
could be copied.
- gaps = (drawn - target) * hidden[:, :, None]
- count = hidden.sum() * drawn.shape[2]
+ gaps = drawn - target
+ count = gaps.size
## divided_by_all_patches: You sum over the hidden patches and divide by the number of all: the loss shrinks when less
is hidden.
- count = hidden.sum() * drawn.shape[2]
+ count = gaps.size
## visible_patches_count: You count the visible patches; True stands for a hidden one.
- gaps = (drawn - target) * hidden[:, :, None]
- count = hidden.sum() * drawn.shape[2]
+ gaps = (drawn - target) * ~hidden[:, :, None]
+ count = (~hidden).sum() * drawn.shape[2] + (1e-300)
## numbers_not_counted: You divide by the number of hidden patches; each has L numbers, and the mean runs over all of
them.
- count = hidden.sum() * drawn.shape[2]
+ count = hidden.sum()
## patches_not_counted: You divide by the numbers of one patch; the mean runs over all hidden patches.
+ count = drawn.shape[2]
## summed: Your loss is the sum of the squares, not their mean.
+ count = 1
## divided_by_the_batch: You divide by the number of images, not by that of the hidden numbers.
+ count = len(drawn)
## mean_of_images: You average within each image first, so that a patch counts more where few are hidden; the mean runs
over all hidden patches at once.
- count = hidden.sum() * drawn.shape[2]
- return (gaps**2).sum() / count, 2 * gaps / count
+ count = len(drawn) * np.maximum(hidden.sum(axis=1), 1)[:, None, None] * drawn.shape[2]
+ return (gaps**2 / count).sum(), 2 * gaps / count
## mean_of_no_patches: You average within each image first, which is 0 / 0 where an image has no hidden patch; the mean
runs over all hidden patches at once.
+ count = len(drawn) * hidden.sum(axis=1)[:, None, None] * drawn.shape[2]
+ return (gaps**2 / count).sum(), 2 * gaps / count
## gradient_of_a_sum: Your loss is right; its gradient lacks the division by the number of hidden numbers.
- return (gaps**2).sum() / count, 2 * gaps / count
+ return (gaps**2).sum() / count, 2 * gaps
## factor_two_lost: Your loss is right; its gradient lacks the factor 2, which the square brings.
+ return (gaps**2).sum() / count, gaps / count
## sign_of_the_gradient: Your loss is right; its gradient has the wrong sign: a drawing that is too large must become
smaller.
+ return (gaps**2).sum() / count, -2 * gaps / count
## gradient_everywhere: Your loss is right; its gradient is not 0 where nothing was hidden.
+ return (gaps**2).sum() / count, 2 * (drawn - target) / count
## absolute_errors: You take absolute errors where squared ones are asked for.
+ return np.abs(gaps).sum() / count, np.sign(gaps) / count
## root_of_the_loss: You take the root of the mean square.
+ return np.sqrt((gaps**2).sum() / count), gaps / count / np.sqrt((gaps**2).sum() / count)
## variance_by_L: You divide the squared deviations by L, as NumPy does by default; L − 1 is asked for.
- mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
+ mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, keepdims=True)
## one_mean_for_all: Your mean and variance run over all patches of an image; each patch has its own.
+ mean, variance = patches.mean(axis=(1, 2), keepdims=True), patches.var(axis=(1, 2), ddof=1, keepdims=True)
## divided_by_the_variance: You divide by the variance: the root is missing.
- target = (patches - mean) / np.sqrt(variance + 1e-6)
+ target = (patches - mean) / (variance + 1e-6)
## small_number_outside: You add the 0.000001 outside the root; it belongs to the variance.
+ target = (patches - mean) / (np.sqrt(variance) + 1e-6)
## no_small_number: Without the 0.000001 a patch of one grey is divided by 0.
+ target = (patches - mean) / np.sqrt(variance)
## never_normalised: You never normalise the target, whatever the caller says.
- if normalise:
+ if False:
## always_normalised: You normalise the target even when the caller does not want it.
+ if True:
## one_mean_for_the_batch: Your mean and variance run over the whole batch; each patch has its own.
- mean, variance = patches.mean(axis=2, keepdims=True), patches.var(axis=2, ddof=1, keepdims=True)
+ mean, variance = patches.mean(), patches.var(ddof=1)
## spread_of_the_drawing: You divide by the spread of what was drawn; the target is divided by its own.
+ mean, variance = patches.mean(axis=2, keepdims=True), drawn.var(axis=2, ddof=1, keepdims=True)
## only_shifted: You shift the target to mean 0, but do not divide it by its spread.
- target = (patches - mean) / np.sqrt(variance + 1e-6)
+ target = (patches - mean) / (1.0 + 0.0 * variance)
""")
