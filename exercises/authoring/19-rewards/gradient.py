"""Exercise 19, question gradient: what rewards say to the logits, for attempts of one token."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery


def gradient_reference(logits, attempts, rewards, baseline):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    worth = rewards - baseline[:, None]
    result = worth.sum(axis=1, keepdims=True) * p
    rows = np.arange(len(logits))[:, None]
    np.subtract.at(result, (rows, attempts), worth)
    return result / rewards.size


def draw_args(rng, problems=3, tokens=5, attempts=7, scale=1.0):
    return (
        scale * rng.normal(size=(problems, tokens)),
        rng.integers(0, tokens, size=(problems, attempts)),
        rng.integers(0, 4, size=(problems, attempts)) / 2.0,
        rng.uniform(0.1, 0.9, size=problems),
    )


def some_problems(rng):
    return [draw_args(rng), draw_args(rng, 5, 3, 11), draw_args(rng, 1, 7, 4), draw_args(rng, 4, 9, 1)]


def same_token_again(rng):
    """Every attempt at a problem writes the same token, or one token is written twice."""
    logits, _, rewards, baseline = draw_args(rng, 4, 3, 7)
    return [(logits, np.full(rewards.shape, 2), rewards, baseline), draw_args(rng, 2, 3, 13)]


def large_logits(rng):
    return [draw_args(rng, 3, 5, 7, 1e4), draw_args(rng, 2, 7, 5, 800.0)]


def square(rng):
    return [draw_args(rng, 5, 5, 5)]


def as_the_loss_falls(ask, rng):
    """Against differences of the loss itself."""
    logits, attempts, rewards, baseline = draw_args(rng, 4, 5, 7)

    def loss(z):
        log_p = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        told = np.take_along_axis(log_p, attempts, axis=1)
        return -((rewards - baseline[:, None]) * told).mean()

    came = np.asarray(ask(logits, attempts, rewards, baseline))
    if came.shape != logits.shape:
        return f"The gradient has the shape of the logits, {logits.shape}; yours {came.shape}."
    for place in [(0, 0), (1, 3), (3, 4)]:
        step = np.zeros_like(logits)
        step[place] = 1e-5
        slope = (loss(logits + step) - loss(logits - step)) / 2e-5
        if abs(slope - came[place]) > 1e-7:
            return (
                f"At problem {place[0]}, token {place[1]}, the loss has the slope {slope:.4f}; yours {came[place]:.4f}."
            )
    return None


QUESTION = Question(
    id="gradient",
    title="What rewards say to the logits",
    name="policy_gradient",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("some problems", 4, some_problems, gradient_reference),
        equals("a token that comes again", 3, same_token_again, gradient_reference),
        equals("large logits", 2, large_logits, gradient_reference),
        equals("as many of everything", 1, square, gradient_reference),
        holds("slopes", 2, as_the_loss_falls),
    ),
    hints=(
        "For one attempt that wrote token y, the slope of ln p(y) by the logit of v is (1 if v = y else 0) − p(v).",
        "Weigh that by the attempt's reward above the baseline, add up over the attempts of a problem, and mind the "
        "sign and the mean of the loss.",
        "Several attempts may have written the same token: `result[rows, attempts] -= …` counts one of them only. "
        "`np.add.at` counts all, and so does a table of ones and zeros, P × G × V.",
    ),
    section="the-policy-gradient-in-five-lines",
    inputs=Inputs(axes("PV", "PG", "PG", "P"), lambda logits, *_: logits, alike=("as many of everything",)),
)

right, wrong = answers_to(QUESTION)


@right
def by_ones_and_zeros(logits, attempts, rewards, baseline):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = p / p.sum(axis=1, keepdims=True)
    written = attempts[..., None] == np.arange(logits.shape[1])
    worth = rewards - baseline[:, None]
    pulls = worth[..., None] * (written - p[:, None, :])
    return -pulls.sum(axis=1) / attempts.size


@right
def attempt_by_attempt(logits, attempts, rewards, baseline):
    result = np.zeros(logits.shape)
    for i, z in enumerate(logits):
        p = np.exp(z - z.max())
        p = p / p.sum()
        for g, y in enumerate(attempts[i]):
            slope = -p
            slope[y] += 1
            result[i] -= (rewards[i, g] - baseline[i]) * slope
    return result / attempts.size


@right
def added_at(logits, attempts, rewards, baseline):
    log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    worth = (rewards - baseline[:, None]) / rewards.size
    result = worth.sum(axis=1, keepdims=True) * np.exp(log_p)
    np.add.at(result, (np.arange(len(logits))[:, None], attempts), -worth)
    return result


wrong.edits("""
# by_ones_and_zeros
## overflows: Large logits overflow: subtract the largest of each problem first.
- p = np.exp(logits - logits.max(axis=1, keepdims=True))
+ p = np.exp(logits)
## largest_of_all: You subtract the largest logit of all problems; then a problem with small logits gets 0 / 0.
+ p = np.exp(logits - logits.max())
## over_problems: Your softmax runs over the problems; it runs over the tokens of each problem.
- p = p / p.sum(axis=1, keepdims=True)
+ p = p / p.sum(axis=0)
## no_softmax: You take e to the logits without dividing: these are no probabilities.
+ p = p * 1.0
## no_baseline: You weigh by the reward itself; the baseline is taken away first.
- worth = rewards - baseline[:, None]
+ worth = rewards
## baseline_added: You add the baseline; it is taken away.
+ worth = rewards + baseline[:, None]
## own_mean: You take the mean of the group in place of the baseline that is given.
+ worth = rewards - rewards.mean(axis=1, keepdims=True)
## whole_mean: You take one baseline for all problems; each has its own.
+ worth = rewards - baseline.mean()
## divided_by_spread: You divide by the deviation of the group; here nothing is divided by it.
+ worth = (rewards - baseline[:, None]) / (rewards.std(axis=1, keepdims=True) + 1e-4)
## right_ones_alone: You leave out attempts below the baseline; they push their token down.
+ worth = np.maximum(rewards - baseline[:, None], 0)
## pushed_alone: You leave −p out: what one token gains, the others lose.
- pulls = worth[..., None] * (written - p[:, None, :])
+ pulls = worth[..., None] * (written + 0 * p[:, None, :])
## probability_twice: You weigh by the probability of the token once more; the attempts were already drawn by it.
+ pulls = worth[..., None] * (written - p[:, None, :]) * (written * p[:, None, :]).sum(axis=2, keepdims=True)
## slope_of_the_softmax: You give the slope of p and not that of ln p.
+ pulls = worth[..., None] * (written - p[:, None, :]) * p[:, None, :]
## downhill: Your sign is that of the mean reward; the loss is minus that.
- return -pulls.sum(axis=1) / attempts.size
+ return pulls.sum(axis=1) / attempts.size
## mean_over_attempts: You divide by the attempts at one problem; the mean is over all attempts at all problems.
+ return -pulls.mean(axis=1)
## mean_over_problems: You divide by the problems; the mean is over all attempts at all problems.
+ return -pulls.sum(axis=1) / len(logits)
## summed: You add up over the attempts; the loss is their mean.
+ return -pulls.sum(axis=1)

# added_at
## counted_once: Where two attempts write the same token, you count one of them.
- np.add.at(result, (np.arange(len(logits))[:, None], attempts), -worth)
+ result[np.arange(len(logits))[:, None], attempts] -= worth
""")
