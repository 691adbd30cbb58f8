"""Exercise 18, question dpo: the loss, its gradient, and what the gradient does not depend on."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery


def dpo_reference(policy, reference, beta):
    margins = (policy - reference)[:, 0] - (policy - reference)[:, 1]
    losses = np.logaddexp(0, -beta * margins)
    wrong_by = np.exp(-np.logaddexp(0, beta * margins))
    slope = -beta * wrong_by / len(margins)
    return losses.mean(), np.stack([slope, -slope], axis=1)


def draw_args(rng, pairs=5, spread=2.0):
    policy = -rng.uniform(1, 9, size=(pairs, 2))
    return policy, policy + spread * rng.normal(size=(pairs, 2)), float(rng.uniform(0.2, 0.7))


def ordinary_cases(rng):
    return [draw_args(rng), draw_args(rng, 3), draw_args(rng, 1)]


def extreme_cases(rng):
    """Margins on both sides that would overflow, and in the last one those for which the slope is small, not yet 0."""
    policy, _, _ = draw_args(rng, 3)
    small = policy, policy - np.array([[15.0, -15], [14, -11], [0, -27]]), 0.5
    both_sides = policy, policy + np.array([[1e4, -1e4], [-1e4, 1e4], [0, 1]]), 0.5
    return [draw_args(rng, 4, 1e4), draw_args(rng, 7, 50.0), both_sides, small]


def at_the_start(ask, rng):
    policy, _, beta = draw_args(rng)
    came = ask(policy, policy.copy(), beta)
    if not isinstance(came, tuple | list) or len(came) != 2 or np.ndim(came[0]) != 0:
        return "A pair is expected: a number and an array."
    if abs(float(came[0]) - np.log(2)) > 1e-9:
        return f"Where the policy is the reference the loss is ln 2, whatever β is; yours is {float(came[0]):.4f}."
    gradient = np.asarray(came[1])
    if gradient.shape != policy.shape:
        return f"The gradient has the shape of the policy's log-probabilities, {policy.shape}; yours {gradient.shape}."
    if np.abs(gradient + beta / 2 / len(policy) * np.array([1, -1])).max() > 1e-9:
        return "Where the policy is the reference, every pair pulls alike, by half of β in the mean; yours do not."
    return None


def slopes_of_the_loss(ask, rng):
    """Against differences of the loss that the answer itself gives."""
    policy, reference, beta = draw_args(rng, 4, 1.0)
    gradient = np.asarray(ask(policy, reference, beta)[1])
    if gradient.shape != policy.shape:
        return f"The gradient has the shape of the policy's log-probabilities, {policy.shape}; yours {gradient.shape}."
    for place in [(0, 0), (2, 1), (3, 0)]:
        step = np.zeros_like(policy)
        step[place] = 1e-4
        up, down = (float(ask(policy + sign * step, reference, beta)[0]) for sign in (1, -1))
        if abs((up - down) / 2e-4 - gradient[place]) > 1e-6:
            return f"At pair {place[0]}, answer {place[1]}, your gradient is not the slope of your loss."
    return None


QUESTION = Question(
    id="dpo",
    title="DPO and its gradient",
    name="dpo",
    minutes=25,
    difficulty=2,
    checks=with_battery(
        equals("pairs", 6, ordinary_cases, dpo_reference),
        equals("large margins", 3, extreme_cases, dpo_reference),
        holds("at the start", 3, at_the_start),
        holds("slopes", 3, slopes_of_the_loss),
        off={"boundary": "the loss has no limit; an answer may have one for the sake of rounding"},
    ),
    hints=(
        "Name the margin m of each pair first. The loss is a function of βm alone, and each log-probability enters m "
        "with a sign.",
        "−ln σ(z) is ln(1 + e^(−z)), its slope is −σ(−z). What is the inner derivative? Is the loss a sum or a mean?",
        "`np.logaddexp(0, -z)` stays finite for every z. The slope −σ(−z) can be had from it, too: ln σ(−z) is "
        "`-np.logaddexp(0, z)`.",
    ),
    section="which-answer-is-better-dpo",
    inputs=Inputs(sizes=axes("Pj", "Pj"), only_distinct="a pair always has two answers"),
)

right, wrong = answers_to(QUESTION)


@right
def by_logaddexp(policy, reference, beta):
    gained = policy - reference
    z = beta * (gained[:, 0] - gained[:, 1])
    loss = np.logaddexp(0, -z).mean()
    pull = beta * np.exp(-np.logaddexp(0, z)) / len(z)
    return loss, np.stack([-pull, pull], axis=1)


@right
def pair_after_pair(policy, reference, beta):
    loss, gradient = 0.0, np.zeros(policy.shape)
    for i, ((c, r), (c_0, r_0)) in enumerate(zip(policy, reference, strict=True)):
        z = beta * ((c - c_0) - (r - r_0))
        small = np.exp(-abs(z))
        loss += np.log1p(small) + max(-z, 0.0)
        mistaken = small / (1 + small) if z > 0 else 1 / (1 + small)
        gradient[i] = -beta * mistaken, beta * mistaken
    return loss / len(policy), gradient / len(policy)


@right
def by_a_product(policy, reference, beta):
    signs = np.array([1.0, -1.0])
    z = beta * ((policy - reference) @ signs)
    sigma = 0.5 * (1 + np.tanh(-z / 2))
    loss = np.mean(np.maximum(-z, 0) + np.log1p(np.exp(-np.abs(z))))
    return loss, -beta / len(z) * sigma[:, None] * signs


wrong.edits("""
# by_logaddexp
## reference_forgotten: You leave out the reference: the margin compares what each answer has gained over it.
- gained = policy - reference
+ gained = policy
## chosen_and_rejected: Your margin is the wrong way round: the rejected answers are preferred.
- z = beta * (gained[:, 0] - gained[:, 1])
+ z = beta * (gained[:, 1] - gained[:, 0])
## columns_exchanged: You take column 1 for the chosen answer; it is column 0.
- z = beta * (gained[:, 0] - gained[:, 1])
+ z = beta * (gained[:, 1] - gained[:, 0])
- return loss, np.stack([-pull, pull], axis=1)
+ return loss, np.stack([pull, -pull], axis=1)
## mean_margin: You average the margins before the logarithm; the loss is a mean of the pairs' losses.
- z = beta * (gained[:, 0] - gained[:, 1])
+ z = beta * (gained[:, 0] - gained[:, 1]).mean() * np.ones(len(gained))
## both_added: You add what both answers have gained; the margin is a difference.
+ z = beta * (gained[:, 0] + gained[:, 1])
## no_beta: You do not multiply the margin by β.
+ z = gained[:, 0] - gained[:, 1]
## gradient_without_beta: The gradient lacks the inner derivative β.
- pull = beta * np.exp(-np.logaddexp(0, z)) / len(z)
+ pull = np.exp(-np.logaddexp(0, z)) / len(z)
## summed: The loss is a mean over the pairs; yours is their sum.
- loss = np.logaddexp(0, -z).mean()
- pull = beta * np.exp(-np.logaddexp(0, z)) / len(z)
+ loss = np.logaddexp(0, -z).sum()
+ pull = beta * np.exp(-np.logaddexp(0, z))
## loss_summed: Your gradient is that of the pairs' mean, but your loss is their sum.
- loss = np.logaddexp(0, -z).mean()
+ loss = np.logaddexp(0, -z).sum()
## gradient_summed: Your loss is the pairs' mean, but your gradient that of their sum.
- pull = beta * np.exp(-np.logaddexp(0, z)) / len(z)
+ pull = beta * np.exp(-np.logaddexp(0, z))
## sigma_of_z: Your gradient is large where the pair is already right; it should be small there.
+ pull = beta * np.exp(-np.logaddexp(0, -z)) / len(z)
## slope_of_sigma: Your gradient is that of −σ; the loss is −ln σ.
+ pull = beta * np.exp(-np.logaddexp(0, z) - np.logaddexp(0, -z)) / len(z)
## over_both_columns: Your gradient is a mean over all answers; the loss is a mean over the pairs, of two answers each.
+ pull = beta * np.exp(-np.logaddexp(0, z)) / len(z) / 2
## uphill: The gradient has the wrong sign: it points to where the loss falls.
- return loss, np.stack([-pull, pull], axis=1)
+ return loss, np.stack([pull, -pull], axis=1)
## both_pulled_alike: You give both answers the same gradient; they enter the margin with opposite signs.
+ return loss, np.stack([-pull, -pull], axis=1)
## chosen_alone: You give the rejected no gradient.
+ return loss, np.stack([-pull, 0 * pull], axis=1)
## sign_of_the_loss: Your loss is ln σ without the minus.
- loss = np.logaddexp(0, -z).mean()
+ loss = -np.logaddexp(0, -z).mean()
## no_logarithm: Your loss is one minus the probability; it should be minus its logarithm.
+ loss = np.exp(-np.logaddexp(0, z)).mean()
## mean_inside: You average the margins first; each pair has a loss of its own.
+ loss = np.logaddexp(0, -z.mean())
## overflows: Large margins overflow: you take e to the power of the margin as it stands.
+ loss = np.log(1 + np.exp(-z)).mean()
## lying: Your gradient has a row for each kind of answer; it needs one for each pair.
- return loss, np.stack([-pull, pull], axis=1)
+ return loss, np.stack([-pull, pull], axis=0)
## reference_added: You add what the reference says; subtract it.
- gained = policy - reference
+ gained = policy + reference
## gradient_overflows: Your loss is safe; your gradient overflows, since it has e to the power of the margin.
- pull = beta * np.exp(-np.logaddexp(0, z)) / len(z)
+ pull = beta * np.exp(-z) / (1 + np.exp(-z)) / len(z)
## logarithm_padded: You add a small number inside the logarithm, and a pair that is far wrong looks less wrong.
- loss = np.logaddexp(0, -z).mean()
+ loss = -np.log(np.exp(-np.logaddexp(0, -z)) + 1e-12).mean()
""")
