"""Exercise 16, question experts: a router and its load."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.cases import draw_sizes

from .shared import part_right


def experts_reference(logits, outputs, k, renormalise):
    """Token by token."""
    N, E = logits.shape
    y, counts, mean = np.zeros((N, outputs.shape[2])), np.zeros(E), np.zeros(E)
    for n in range(N):
        powers = np.exp(logits[n] - max(logits[n]))
        p = powers / sum(powers)
        chosen = sorted(range(E), key=lambda e: -logits[n, e])[:k]
        total = sum(p[e] for e in chosen) if renormalise else 1.0
        for e in chosen:
            y[n] += p[e] / total * outputs[n, e]
            counts[e] += 1 / (k * N)
        mean += p / N
    return y, float(E * sum(counts * mean))


def draw_tokens(rng, k, renormalise, factor=1.0, n_tokens=None, sizes=None):
    """Some experts are liked more than others."""
    N, E, D = sizes or draw_sizes(rng, 3)
    N = n_tokens or N
    logits = factor * (rng.normal(size=(N, E)) + 0.8 * rng.normal(size=E))
    return logits, rng.normal(size=(N, E, D)), k, renormalise


def plain_factors(rng):
    return [draw_tokens(rng, 2, False), draw_tokens(rng, 1, False), draw_tokens(rng, 3, False)]


def divided_factors(rng):
    return [draw_tokens(rng, 2, True), draw_tokens(rng, 3, True), draw_tokens(rng, 1, True)]


def second_choices(rng):
    """All probabilities but the first of a token round to 0. Many tokens like an expert in the middle best, to whom the
    scores of the others give the second place; whoever looks at probabilities finds experts at one end or the other."""
    E, middle = 7, int(rng.integers(2, 5))
    best = np.concatenate([np.arange(E), np.full(6, middle), np.zeros(2, dtype=int)])
    logits = -1000.0 * (2 + rng.permuted(np.tile(np.arange(E), (len(best), 1)), axis=1))
    logits[:, middle] = -1000.0
    logits[np.arange(len(best)), best] = 0.0
    return logits + rng.normal(size=logits.shape), rng.normal(size=(*logits.shape, 3)), 2, False


def sharp_routers(rng):
    """Also one whose scores are far below 0 and far apart, one that likes all experts alike, who say the same, sizes
    that are equal, and one expert with one feature."""
    cases = [draw_tokens(rng, 2, False, factor=30.0), draw_tokens(rng, 1, True, factor=1e4)]
    logits, outputs, *rest = draw_tokens(rng, 2, False, factor=1e4)
    alike = np.zeros_like(logits), np.repeat(outputs[:, :1], logits.shape[1], axis=1), *rest
    everyone = logits / 1e4, outputs, logits.shape[1], False
    cases += [(logits - 2e5, outputs, *rest), alike, everyone, draw_tokens(rng, 2, True, n_tokens=1)]
    equal = draw_tokens(rng, 2, True, sizes=(5, 5, 5)), draw_tokens(rng, 1, False, sizes=(4, 1, 1))
    return [*cases, second_choices(rng), *equal]


def experts_shapes(logits, outputs, k, renormalise):
    return (len(outputs), outputs.shape[2]), ()


QUESTION = Question(
    id="experts",
    title="A router and its load",
    name="mixture",
    minutes=16,
    difficulty=2,
    checks=(
        equals("factors as they are", 5, plain_factors, experts_reference),
        equals("factors divided by their sum", 4, divided_factors, experts_reference),
        equals("a sharp router, one token, equal sizes", 3, sharp_routers, experts_reference),
        holds("the sum alone", 3, part_right(0, divided_factors, experts_reference, experts_shapes)),
        holds("the loss alone", 3, part_right(1, plain_factors, experts_reference, experts_shapes)),
    ),
    hints=(
        "Make a table of tokens and experts that is 1 where an expert was chosen and 0 elsewhere. Both parts "
        "of the result can be read off that table and the probabilities.",
        "The probabilities are a softmax over all experts, before anyone is chosen. Dividing the factors "
        "changes the sum, and says nothing about the loss.",
        "In the loss one of the two shares is a count and the other a mean of probabilities. Each of them "
        "sums to 1 over the experts: check that with your numbers.",
    ),
    section="a-mixture-of-experts",
    inputs=Inputs(axes("NE", "NED"), lambda logits, *rest: logits, alike=("a sharp router, one token, equal sizes",)),
)

right, wrong = answers_to(QUESTION)


@right
def mask_of_choices(logits, outputs, k, renormalise):
    N, E = logits.shape
    stable = np.exp(logits - logits.max(axis=1)[:, None])
    prob = stable / stable.sum(axis=1)[:, None]
    rank = np.argsort(np.argsort(-logits, axis=1), axis=1)
    mask = rank < k
    gate = np.where(mask, prob, 0.0)
    if renormalise:
        gate /= gate.sum(axis=1)[:, None]
    shares = mask.sum(axis=0) / (N * k)
    return (gate[:, :, None] * outputs).sum(axis=1), E * np.sum(shares * prob.mean(axis=0))


@right
def token_by_token(logits, outputs, k, renormalise):
    N, E = logits.shape
    y, counts, total = [], np.zeros(E), np.zeros(E)
    for scores, says in zip(logits, outputs, strict=True):
        prob = np.exp(scores - np.logaddexp.reduce(scores))
        best = np.argsort(scores)[::-1][:k]
        factor = prob[best] / prob[best].sum() if renormalise else prob[best]
        y.append(factor @ says[best])
        counts[best] += 1
        total += prob
    return np.array(y), float(E * counts @ total / (k * N * N))


@right
def gathered(logits, outputs, k, renormalise):
    best = np.argpartition(logits, -k, axis=1)[:, -k:]
    highest = logits.max(axis=1, keepdims=True)
    prob = np.exp(logits - highest)
    prob = prob / prob.sum(axis=1, keepdims=True)
    factor = np.take_along_axis(prob, best, axis=1)
    factor = factor / factor.sum(axis=1, keepdims=True) if renormalise else factor
    spoken = np.take_along_axis(outputs, best[:, :, None], axis=1)
    f = np.bincount(best.ravel(), minlength=logits.shape[1]) / best.size
    return np.sum(factor[:, :, None] * spoken, axis=1), len(f) * (f @ prob.mean(axis=0))


@right
def as_often_written(logits, outputs, k, renormalise):
    N, E = logits.shape
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = powers / powers.sum(axis=1, keepdims=True)
    best = np.argsort(-logits, axis=1)[:, :k]
    chosen = np.zeros((N, E))
    np.put_along_axis(chosen, best, 1.0, axis=1)
    factors = chosen * p
    if renormalise:
        factors = factors / factors.sum(axis=1, keepdims=True)
    y = np.einsum("ne,ned->nd", factors, outputs)
    f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
    return y, float(E * np.sum(f * P))


wrong.edits("""
# as_often_written
## never_divided: `renormalise` changes nothing in your function; it asks for the sum of p over the chosen experts only.
- if renormalise:
-     factors = factors / factors.sum(axis=1, keepdims=True)
## always_divided: You always divide the factors by their sum, also without `renormalise`.
- if renormalise:
-     factors = factors / factors.sum(axis=1, keepdims=True)
+ factors = factors / factors.sum(axis=1, keepdims=True)
## switch_turned_round: You divide the factors by their sum exactly where it is not asked for.
- if renormalise:
+ if not renormalise:
## divided_by_k: With `renormalise` you divide by the number of chosen experts and not by the sum of their
probabilities.
- factors = factors / factors.sum(axis=1, keepdims=True)
+ factors = factors / k
## divided_over_tokens: With `renormalise` you divide by a sum over the tokens; it is a sum over the chosen experts of
one token.
- factors = factors / factors.sum(axis=1, keepdims=True)
+ factors = factors / np.maximum(factors.sum(axis=0), 1e-300)
## all_equal: You give all chosen experts the same factor, 1 / k; theirs is their probability.
      factors = factors / factors.sum(axis=1, keepdims=True)
+ factors = chosen / k
## factor_one: You add up what the chosen experts say without any factor.
      factors = factors / factors.sum(axis=1, keepdims=True)
+ factors = chosen
## factors_are_scores: Your factors are the scores themselves; they should be probabilities.
- factors = chosen * p
+ factors = chosen * logits
## everyone_speaks: You let all experts speak; only the k best of each token do.
- factors = chosen * p
+ factors = p
## the_worst: You choose the experts with the smallest scores.
- best = np.argsort(-logits, axis=1)[:, :k]
+ best = np.argsort(logits, axis=1)[:, :k]
## chosen_by_probability: You choose by p, and those that round to 0 are all alike; the scores still tell them apart.
- best = np.argsort(-logits, axis=1)[:, :k]
+ best = np.argsort(-p, axis=1, kind="stable")[:, :k]
## chosen_by_probability_from_behind: You take the last experts in the order of p, and those whose p rounds to 0 have no
order; the scores have one.
- best = np.argsort(-logits, axis=1)[:, :k]
+ best = np.argsort(p, axis=1, kind="stable")[:, -k:]
## more_than_k: Where scores tie you choose more than k experts.
- best = np.argsort(-logits, axis=1)[:, :k]
- chosen = np.zeros((N, E))
- np.put_along_axis(chosen, best, 1.0, axis=1)
+ chosen = logits >= np.sort(logits, axis=1)[:, [-k]]
## one_too_many: You choose k + 1 experts.
- best = np.argsort(-logits, axis=1)[:, :k]
+ best = np.argsort(-logits, axis=1)[:, : k + 1]
## only_the_best: You choose one expert, whatever k is.
- best = np.argsort(-logits, axis=1)[:, :k]
+ best = np.argsort(-logits, axis=1)[:, :1]
## the_first_experts: You take the first k experts for every token; the scores of the token choose.
- best = np.argsort(-logits, axis=1)[:, :k]
+ best = np.tile(np.arange(k), (N, 1))
## experts_choose_tokens: In your function every expert chooses k tokens; it is the tokens that choose experts.
- best = np.argsort(-logits, axis=1)[:, :k]
+ best = np.argsort(-logits, axis=0)[:k]
- np.put_along_axis(chosen, best, 1.0, axis=1)
+ np.put_along_axis(chosen, best, 1.0, axis=0)
- factors = factors / factors.sum(axis=1, keepdims=True)
+ factors = factors / np.maximum(factors.sum(axis=1, keepdims=True), 1e-300)
## softmax_over_tokens: Your softmax runs over the tokens; the probabilities of one token sum to 1.
- powers = np.exp(logits - logits.max(axis=1, keepdims=True))
- p = powers / powers.sum(axis=1, keepdims=True)
+ powers = np.exp(logits - logits.max(axis=0))
+ p = powers / powers.sum(axis=0)
## softmax_of_the_chosen: Your softmax runs over the chosen experts only, so that the factors sum to 1 in any case and
the mean probabilities know only them.
  np.put_along_axis(chosen, best, 1.0, axis=1)
+ p = chosen * powers / (chosen * powers).sum(axis=1, keepdims=True)
## sorted_against_unsorted: Your factors are sorted and your experts are not: the largest factor goes to expert 0 and
not to the one it belongs to.
      factors = factors / factors.sum(axis=1, keepdims=True)
+ factors = -np.sort(-factors, axis=1)
## shares_of_tokens: You divide the counts by N; with k choices for each token there are k · N.
- f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
+ f, P = chosen.sum(axis=0) / N, p.mean(axis=0)
## no_e: The factor E of the loss is missing.
- return y, float(E * np.sum(f * P))
+ return y, float(np.sum(f * P))
## k_for_e: Your loss has the factor k in place of E.
- return y, float(E * np.sum(f * P))
+ return y, float(k * np.sum(f * P))
## a_mean_over_experts: You take the mean over the experts, which loses the factor E twice over.
- return y, float(E * np.sum(f * P))
+ return y, float(np.mean(f * P))
## probabilities_twice: Your loss holds the mean probabilities twice and no counts: it cannot see what was chosen.
- f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
- return y, float(E * np.sum(f * P))
+ _f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
+ return y, float(E * np.sum(P * P))
## counts_twice: Your loss holds the counts twice and no probabilities: it has no gradient.
- f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
- return y, float(E * np.sum(f * P))
+ f = chosen.sum(axis=0) / (k * N)
+ return y, float(E * np.sum(f * f))
## probabilities_of_the_chosen: Your mean probabilities leave out the experts that were not chosen.
- f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
+ f, P = chosen.sum(axis=0) / (k * N), (chosen * p).mean(axis=0)
## sum_for_mean: Your loss is N times too large: probabilities are averaged over the tokens, and counts divided by k ·
N.
- f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
+ f, P = chosen.sum(axis=0) / (k * N), p.sum(axis=0)
## factors_in_the_loss: In the loss you use the factors of the sum; its mean probability is p as it was, before anyone
was chosen and anything divided.
- f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
+ f, P = chosen.sum(axis=0) / (k * N), factors.mean(axis=0)
## probabilities_overwritten: With `renormalise` your loss is made of the divided factors; it is the same with and
without.
-     factors = factors / factors.sum(axis=1, keepdims=True)
- y = np.einsum("ne,ned->nd", factors, outputs)
+     p = chosen * p
+     p = p / p.sum(axis=1, keepdims=True)
- return y, float(E * np.sum(f * P))
+ return np.einsum("ne,ned->nd", chosen * p, outputs), float(E * np.sum(f * P))
## loss_token_by_token: In your loss a probability counts only for tokens that chose the expert; the mean of p is over
all tokens.
- f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
- return y, float(E * np.sum(f * P))
+ return y, float(E * np.sum(chosen * p) / (k * N))
## only_first_choices: Your counts know only the first choice of each token; all k count.
- f, P = chosen.sum(axis=0) / (k * N), p.mean(axis=0)
+ f, P = np.bincount(best[:, 0], minlength=E) / N, p.mean(axis=0)
## overflow: Large scores overflow in your exponential.
- powers = np.exp(logits - logits.max(axis=1, keepdims=True))
+ powers = np.exp(logits)
## largest_from_zero: Your largest score is never below 0; where all scores are, every exponential vanishes.
- powers = np.exp(logits - logits.max(axis=1, keepdims=True))
+ powers = np.exp(logits - logits.max(axis=1, keepdims=True, initial=0))
## other_order: Your pair is in the wrong order: first the sums, then the loss.
- return y, float(E * np.sum(f * P))
+ return float(E * np.sum(f * P)), y
""")
