"""Exercise 13, question temperature: back through attention with a learned temperature and a mask."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes, shapes_slip

from .shared import BACKWARD, close, disagreement, softmax

SECTION = "step-2-back-through-the-softmax"


def scores_at_temperature(q, k, tau):
    return q @ k.swapaxes(1, 2) / (np.sqrt(q.shape[2]) * tau[:, None, None])


def forward(q, k, v, tau, mask):
    return softmax(np.where(mask, scores_at_temperature(q, k, tau), -np.inf)) @ v


def reference(q, k, v, e, tau, mask):
    scores, scale = scores_at_temperature(q, k, tau), np.sqrt(q.shape[2]) * tau[:, None, None]
    A = softmax(np.where(mask, scores, -np.inf))
    dA = e @ v.swapaxes(1, 2)
    G = A * (dA - (A * dA).sum(axis=2, keepdims=True))
    return G @ k / scale, G.swapaxes(1, 2) @ q / scale, A.swapaxes(1, 2) @ e, -(G * scores).sum(axis=(1, 2)) / tau


def draw_args(rng, N=None, S=None, size=1.0, sizes=None, hiding="some"):
    H, some_N, some_S, K, V = sizes or draw_sizes(rng, 5)
    N, S = N or some_N, S or some_S
    q, k = (np.sqrt(size) * rng.normal(size=(H, n, K)) for n in (N, S))
    mask = rng.random((N, S)) < (0.7 if hiding == "some" else 1.1)
    mask[:, 0] = True
    if hiding == "some" and N > 1:
        mask[1] = False  # a target that may look nowhere
    return q, k, rng.normal(size=(H, S, V)), rng.normal(size=(H, N, V)), rng.uniform(0.6, 1.7, size=H), mask


def cases_without_mask(rng):
    """What is learned may be anything: in the last two temperatures below 0, and near it."""
    *below, tau, mask = draw_args(rng, hiding="none")
    *near, low, whole = draw_args(rng, size=0.005, hiding="none")
    others = (*below, -tau, mask), (*near, 0.005 * low, whole)
    return [
        draw_args(rng, hiding="none"),
        draw_args(rng, N=1, hiding="none"),
        draw_args(rng, S=1, hiding="none"),
        *others,
    ]


def masked_cases(rng):
    return [draw_args(rng), draw_args(rng), draw_args(rng, sizes=5 * draw_sizes(rng, 1))]


def large_cases(rng):
    """Scores that saturate the softmax, that would overflow, that are all far below any number written for −∞, and
    that are large and near each other, so that several weights count.
    """
    cases = [draw_args(rng, size=size) for size in (60.0, 1e3)]
    return [*cases, decided(rng, 1e5, below=True), decided(rng, 1e6), large_and_near(rng)]


def decided(rng, size, below=False):
    """One source of each target has all the weight: of two such scores that are near, rounding would decide."""
    while True:
        q, k, *others, tau, mask = draw_args(rng, size=size)
        if below:
            q, k = np.abs(q), -np.abs(k)
        several = mask.sum(axis=1) > 1
        table = np.sort(np.where(mask, scores_at_temperature(q, k, tau), -np.inf)[:, several], axis=2)
        if (table[..., -1] - table[..., -2] > 40).all():
            return q, k, *others, tau, mask


def large_and_near(rng):
    q, k, v, e, tau, mask = draw_args(rng)
    q[..., 0] = k[..., 0] = np.sqrt(2000 * np.sqrt(q.shape[2]) * tau)[:, None]
    return q, k, v, e, tau, mask


def shapes_of(q, k, v, e, tau, mask):
    return q.shape, k.shape, v.shape, tau.shape


def by_the_temperature(ask, rng):
    """So that it earns its points whatever the others are."""
    for hiding in ("none", "some"):
        arguments = draw_args(rng, hiding=hiding)
        found = ask(*arguments)
        if slip := shapes_slip(found, shapes_of(*arguments), parts=(3,)):
            return slip
        if not close(found[3], reference(*arguments)[3]):
            masked_or_not = "without hidden sources" if hiding == "none" else "with hidden sources"
            return f"Your gradient for tau is not right, {masked_or_not}; the others are not looked at here."
    return None


def gradient_check(ask, rng):
    q, k, v, e, tau, mask = arguments = draw_args(rng)
    found = ask(*arguments)
    if slip := shapes_slip(found, shapes_of(*arguments)):
        return slip
    return disagreement(
        lambda *moved: (e * forward(*moved, mask)).sum(), ("q", "k", "v", "tau"), (q, k, v, tau), found, rng
    )


def longer_queries(ask, rng):
    """The scores depend on q / tau alone, so the gradient for tau follows from the one for q."""
    arguments = draw_args(rng)
    q, tau = arguments[0], arguments[4]
    found = ask(*arguments)
    if slip := shapes_slip(found, shapes_of(*arguments)):
        return slip
    if close(found[3], 0 * tau):
        return "Your gradient for tau is 0."
    if not close(found[3] * tau, -(found[0] * q).sum(axis=(1, 2))):
        return (
            "Queries that are twice as long do what half the temperature does, so tau times its gradient must be minus "
            "the sum of q times its gradient, for each head; yours is not."
        )
    return None


QUESTION = Question(
    id="temperature",
    title="A learned temperature",
    name="tempered_backward",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("values", 5, cases_without_mask, reference),
        equals("masks", 4, masked_cases, reference),
        equals("certain and huge scores", 2, large_cases, reference, atol=1e-07),
        holds("by the temperature", 4, by_the_temperature),
        holds("gradient check", 2, gradient_check),
        holds("longer queries", 3, longer_queries),
        off={"mask": "the result is four arrays; a case of huge scores has them all far below 0, hidden and in sight"},
    ),
    hints=(
        "Steps 1 to 3 of the chapter stay. The scores are divided by one number more, so how often does this number "
        "stand in the gradients for q and k?",
        "tau is used by every score of its head, so its gradient is a sum. Write a score as c = b / tau. What is "
        "dc / dtau, in terms of c and tau?",
        "It is −c / tau. So sum G times c over targets and sources. Where a source is hidden G is 0, and c must not be "
        "−∞ there: 0 times ∞ is no number.",
    ),
    section=SECTION,
    inputs=Inputs(
        axes("HNK", "HSK", "HSV", "HNV", "H", "NS"),
        lambda q, k, v, e, tau, mask: scores_at_temperature(q, k, tau),
        alike=("masks",),
    ),
    forbids=BACKWARD,
)

right, wrong = answers_to(QUESTION)


@right
def step_by_step(q, k, v, e, tau, mask):
    temperature = tau[:, None, None]
    root = q.shape[-1] ** 0.5
    table = q @ k.transpose(0, 2, 1) / root / temperature
    shown = np.where(mask, table, -1e300)
    powers = np.exp(shown - shown.max(axis=-1, keepdims=True)) * mask
    total = powers.sum(axis=-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total)
    pulled = e @ v.transpose(0, 2, 1)
    push = weights * (pulled - (weights * pulled).sum(axis=-1, keepdims=True))
    d_table = push / root / temperature
    by_tau = -(push * table).sum(axis=(1, 2)) / tau
    return d_table @ k, d_table.transpose(0, 2, 1) @ q, weights.transpose(0, 2, 1) @ e, by_tau


@right
def target_by_target(q, k, v, e, tau, mask):
    dq, dk, dv, dtau = (np.zeros_like(each) for each in (q, k, v, tau))
    for h, n in np.ndindex(q.shape[:2]):
        seen = np.flatnonzero(mask[n])
        if len(seen) == 0:
            continue
        scale = 1 / (tau[h] * np.sqrt(q.shape[2]))
        c = scale * (k[h, seen] @ q[h, n])
        a = np.exp(c - np.logaddexp.reduce(c))
        g = a * ((v[h, seen] - a @ v[h, seen]) @ e[h, n])
        dq[h, n] = scale * (g @ k[h, seen])
        dk[h, seen] += scale * np.outer(g, q[h, n])
        dv[h, seen] += np.outer(a, e[h, n])
        dtau[h] -= g @ c / tau[h]
    return dq, dk, dv, dtau


@right
def from_the_queries(q, k, v, e, tau, mask):
    divided = q / tau[:, None, None] / np.sqrt(q.shape[2])
    c = np.einsum("hnk,hsk->hns", divided, k)
    c = np.where(mask, c, c.min() - 800)
    blind = ~mask.any(axis=1)
    A = np.exp(c - c.max(axis=2, keepdims=True)) * mask
    A = A / np.where(blind[:, None], 1, A.sum(axis=2, keepdims=True))
    dA = np.einsum("hnv,hsv->hns", e, v)
    G = A * (dA - np.einsum("hns,hns->hn", A, dA)[..., None])
    d_divided = np.einsum("hns,hsk->hnk", G, k)
    by_tau = -np.einsum("hnk,hnk->h", d_divided, divided) / tau
    dq = d_divided / tau[:, None, None] / np.sqrt(q.shape[2])
    return dq, np.einsum("hns,hnk->hsk", G, divided), np.einsum("hns,hnv->hsv", A, e), by_tau


wrong.edits("""
# step_by_step
## plain_mean_of_the_pulls: In the derivative of the softmax you subtract a plain mean over the sources; each source
counts by its weight.
- push = weights * (pulled - (weights * pulled).sum(axis=-1, keepdims=True))
+ push = weights * (pulled - pulled.mean(axis=-1, keepdims=True))
## first_temperature: All heads get the temperature of the first one; each has its own.
- temperature = tau[:, None, None]
+ temperature = tau[0]
## tau_positive: You drop the sign of tau; what is learned may fall below 0, and then the scores turn round.
- temperature = tau[:, None, None]
+ temperature = abs(tau)[:, None, None]
## tau_not_on_the_way_back: Your gradients for q and k lack the temperature that divides the scores.
- d_table = push / root / temperature
+ d_table = push / root
## tau_multiplied: On the way back you multiply by the temperature; divide by it.
+ d_table = push / root * temperature
## root_not_on_the_way_back [step-3-from-scores-to-queries-and-keys]: The factor 1/√K is missing on the way back.
+ d_table = push / temperature
## tau_sign: Your gradient for tau has the wrong sign: higher temperatures make scores smaller.
- by_tau = -(push * table).sum(axis=(1, 2)) / tau
+ by_tau = (push * table).sum(axis=(1, 2)) / tau
## tau_not_divided: Your gradient for tau has to be divided by tau once more: the slope of 1 / tau is −1 / tau².
+ by_tau = -(push * table).sum(axis=(1, 2))
## tau_divided_twice: You divide your gradient by tau once too often; your scores have been divided by it already.
+ by_tau = -(push * table).sum(axis=(1, 2)) / tau**2
## tau_averaged: You average the gradient for tau over targets and sources; sum it instead.
+ by_tau = -(push * table).mean(axis=(1, 2)) / tau
## tau_shared: Every head has a temperature of its own; you add up over the heads.
+ by_tau = -(push * table).sum() / tau
## tau_from_the_weights: In your gradient for tau the second term of the softmax's derivative is missing.
+ by_tau = -(weights * pulled * table).sum(axis=(1, 2)) / tau
## tau_without_root [step-3-from-scores-to-queries-and-keys]: In your gradient for tau the scores are not divided by √K.
+ by_tau = -(push * table * root).sum(axis=(1, 2)) / tau
## hidden_times_infinity: In your sum for tau a hidden score of −∞ meets a weight of 0, and the product is NaN.
+ with np.errstate(invalid="ignore"):
+     by_tau = -(push * np.where(mask, table, -np.inf)).sum(axis=(1, 2)) / tau
## second_term_missing: The second term of the softmax's derivative is missing.
- push = weights * (pulled - (weights * pulled).sum(axis=-1, keepdims=True))
+ push = weights * pulled
## over_the_targets: Your average runs over the targets; each target needs its own, over the sources.
+ push = weights * (pulled - (weights * pulled).sum(axis=1, keepdims=True))
## mask_ignored [the-mask-and-two-free-tests]: The mask is not used.
- shown = np.where(mask, table, -1e300)
- powers = np.exp(shown - shown.max(axis=-1, keepdims=True)) * mask
+ powers = np.exp(table - table.max(axis=-1, keepdims=True))
## mask_too_late [the-mask-and-two-free-tests]: The mask comes after the softmax: hidden sources stay in the
denominator.
- shown = np.where(mask, table, -1e300)
- powers = np.exp(shown - shown.max(axis=-1, keepdims=True)) * mask
+ powers = np.exp(table - table.max(axis=-1, keepdims=True))
- weights = powers / np.where(total == 0, 1, total)
+ weights = powers / total * mask
## blind_targets [the-mask-and-two-free-tests]: You divide by 0 if a target sees nothing; make its weights 0.
- weights = powers / np.where(total == 0, 1, total)
+ with np.errstate(invalid="ignore"):
+     weights = powers / total
## overflow: Your exponentials overflow: subtract the largest score of each target first.
- powers = np.exp(shown - shown.max(axis=-1, keepdims=True)) * mask
+ with np.errstate(over="ignore", invalid="ignore"):
+     powers = np.exp(shown) * mask
## values_without_transpose [step-1-from-outputs-to-weights]: You divide the values' gradient by the temperature; the
values never meet it.
- return d_table @ k, d_table.transpose(0, 2, 1) @ q, weights.transpose(0, 2, 1) @ e, by_tau
+ return d_table @ k, d_table.transpose(0, 2, 1) @ q, weights.transpose(0, 2, 1) @ e / temperature, by_tau
## ten_thousand_for_infinity [the-mask-and-two-free-tests]: Your hidden scores are −10 000, and one in sight can be as
low: only −∞ is below all of them.
- shown = np.where(mask, table, -1e300)
- powers = np.exp(shown - shown.max(axis=-1, keepdims=True)) * mask
+ shown = np.where(mask, table, -1e4)
+ powers = np.exp(shown - shown.max(axis=-1, keepdims=True)) * mask.any(axis=1)[:, None]
## ten_thousand_taken_off [the-mask-and-two-free-tests]: You take 10 000 off the hidden scores; in sight one can be
lower by more than that.
+ shown = table - 1e4 * ~mask
+ powers = np.exp(shown - shown.max(axis=-1, keepdims=True)) * mask.any(axis=1)[:, None]
## scores_clipped: You keep scores within ±1000 in the gradient for tau; they can be larger.
- by_tau = -(push * table).sum(axis=(1, 2)) / tau
+ by_tau = -(push * np.clip(table, -1000, 1000)).sum(axis=(1, 2)) / tau
## blind_alike [the-mask-and-two-free-tests]: A target that sees nothing gets equal weights; all of them should be 0.
- powers = np.exp(shown - shown.max(axis=-1, keepdims=True)) * mask
+ powers = np.exp(shown - shown.max(axis=-1, keepdims=True))
## hidden_maximum [the-mask-and-two-free-tests]: What you subtract may be a hidden score, far above those in sight.
+ powers = np.exp(table - table.max(axis=-1, keepdims=True)) * mask
""")
