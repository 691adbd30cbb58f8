"""Exercise 19, question clip: several steps on the same attempts, and where the loss stops pulling."""

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery


def clip_reference(new, old, worth, low, high):
    ratio = np.exp(new - old)
    kept = np.minimum(ratio * worth, np.clip(ratio, 1 - low, 1 + high) * worth)
    pulls = np.where(worth > 0, ratio < 1 + high, ratio > 1 - low) & (worth != 0)
    return -float(kept.mean()), np.where(pulls, -ratio * worth / len(new), 0.0)


def draw_args(rng, n=7, spread=0.4, low=0.2, high=0.3):
    old = -rng.uniform(1, 9, size=n)
    return old + spread * rng.normal(size=n), old, rng.normal(size=n), low, high


def near_cases(rng):
    return [draw_args(rng), draw_args(rng, 11, 0.1), draw_args(rng, 5, 0.2, 0.1, 0.25), draw_args(rng, 1)]


def far_cases(rng):
    """Ratios far and just beyond on both sides, for both signs: each is cut off on one side only."""
    old, worth = -rng.uniform(1, 9, size=4), np.array([1.0, 1.0, -1.0, -1.0])
    far, just = np.array([1.5, -1.5, 1.5, -1.5]), np.log([1.4, 0.7, 1.4, 0.7])
    return [
        (old + far, old, worth, 0.2, 0.3),
        (old + just, old, worth, 0.2, 0.3),
        draw_args(rng, 13, 2.0),
        draw_args(rng, 9, 3.0),
    ]


def no_worth(rng):
    new, old, worth, low, high = draw_args(rng, 6, 1.0)
    return [(new, old, np.where(np.arange(6) % 2, worth, 0.0), low, high)]


def fresh_attempts(ask, rng):
    """With the policy that made the attempts the ratio is 1: the loss is minus the mean advantage."""
    _, old, worth, low, high = draw_args(rng, 9)
    came = ask(old.copy(), old, worth, low, high)
    if not isinstance(came, tuple | list) or len(came) != 2 or np.ndim(came[0]) != 0:
        return "A pair is expected: a number and an array."
    if abs(float(came[0]) + worth.mean()) > 1e-9:
        return "With fresh attempts every ratio is 1, and the loss is minus the mean of the advantages; yours is not."
    gradient = np.asarray(came[1])
    if gradient.shape != worth.shape:
        return f"The gradient has one entry for each attempt, {worth.shape}; yours has the shape {gradient.shape}."
    if np.abs(gradient + worth / len(worth)).max() > 1e-9:
        return "With fresh attempts the gradient is that of the policy gradient, −a/n for each attempt; yours is not."
    return None


QUESTION = Question(
    id="clip",
    title="Several steps on the same attempts",
    name="clipped",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("ratios near 1", 3, near_cases, clip_reference),
        equals("ratios far from 1", 4, far_cases, clip_reference),
        equals("advantages of 0", 1, no_worth, clip_reference),
        holds("fresh attempts", 3, fresh_attempts),
        off={
            "boundary": "at a limit itself the loss has a kink, and no slope to compare with",
            "defaults": "nothing has a default",
        },
    ),
    hints=(
        "The ratio is e to the difference of the two log-probabilities. Draw the loss against it, for an advantage of "
        "1 and for −1.",
        "A good attempt stops pulling once its ratio is above 1 + high; a bad one once it is below 1 − low. On the "
        "other side each goes on pulling.",
        "The slope of the ratio by the new log-probability is the ratio itself. Where the cut-off part is the smaller "
        "of the two, the slope is 0.",
    ),
    section="several-steps-on-the-same-attempts",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def by_the_minimum(new, old, worth, low, high):
    ratio = np.exp(new - old)
    plain, cut = ratio * worth, np.clip(ratio, 1 - low, 1 + high) * worth
    loss = -np.minimum(plain, cut).mean()
    return loss, np.where(plain <= cut, -plain / len(new), 0.0)


@right
def by_sides(new, old, worth, low, high):
    ratio = np.exp(new - old)
    held = np.where(worth > 0, np.minimum(ratio, 1 + high), np.maximum(ratio, 1 - low))
    return -np.mean(held * worth), np.where(held == ratio, -ratio * worth / len(worth), 0.0)


@right
def one_by_one(new, old, worth, low, high):
    total, gradient = 0.0, np.zeros(len(new))
    for i, a in enumerate(worth):
        ratio = np.exp(new[i] - old[i])
        limit = 1 + high if a > 0 else 1 - low
        if a * (ratio - limit) > 0:
            total += a * limit
        else:
            total += a * ratio
            gradient[i] = -a * ratio
    return -total / len(new), gradient / len(new)


wrong.edits("""
# by_the_minimum
## upside_down: Your ratio is old over new.
- ratio = np.exp(new - old)
+ ratio = np.exp(old - new)
## no_exponential: You take the difference of the log-probabilities for the ratio.
+ ratio = 1 + new - old
## divided_logarithms: You divide the log-probabilities; the ratio is that of the probabilities.
+ ratio = new / old
## sides_exchanged: You cut off at 1 − high and 1 + low; it is the other way round.
- plain, cut = ratio * worth, np.clip(ratio, 1 - low, 1 + high) * worth
+ plain, cut = ratio * worth, np.clip(ratio, 1 - high, 1 + low) * worth
## low_on_both_sides: You cut off at 1 + low above; the limit there is 1 + high.
+ plain, cut = ratio * worth, np.clip(ratio, 1 - low, 1 + low) * worth
## product_clipped: You cut off the product with the advantage; the ratio is cut off.
+ plain, cut = ratio * worth, np.clip(ratio * worth, 1 - low, 1 + high)
## clipped_everywhere: You always take the part that is cut off; a bad attempt that became likelier must still
be pushed down.
- loss = -np.minimum(plain, cut).mean()
+ loss = -cut.mean()
## never_clipped: You never cut off.
+ loss = -plain.mean()
## maximum: You take the larger of the two; it is the smaller.
+ loss = -np.maximum(plain, cut).mean()
## sign: Your loss has the wrong sign: it falls where the advantages are lost.
+ loss = np.minimum(plain, cut).mean()
## summed: Your loss is a sum; it is the mean over the attempts.
+ loss = -np.minimum(plain, cut).sum()
## pulls_everywhere: Your gradient pulls where the loss is flat.
- return loss, np.where(plain <= cut, -plain / len(new), 0.0)
+ return loss, -plain / len(new)
## gradient_of_the_ratio: Your gradient is by the ratio; by the log-probability there is a factor of the ratio more.
+ return loss, np.where(plain <= cut, -worth / len(new), 0.0)
## gradient_stops_inside: You give no gradient within the limits and give one outside.
+ return loss, np.where(plain > cut, -plain / len(new), 0.0)
## uphill: Your gradient has the wrong sign.
+ return loss, np.where(plain <= cut, plain / len(new), 0.0)
## gradient_summed: Your gradient is that of the sum; the loss is the mean.
+ return loss, np.where(plain <= cut, -plain, 0.0)
## stops_on_both_sides: You stop each attempt outside of the limits on either side; stop it only where
it has gone too far its own way.
+ return loss, np.where((ratio >= 1 - low) & (ratio <= 1 + high), -plain / len(new), 0.0)
## gradient_alone: The loss is missing: a pair is asked for.
+ return np.where(plain <= cut, -plain / len(new), 0.0)
""")
