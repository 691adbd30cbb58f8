"""Exercise 16, question speculate: one pass of speculative decoding, as distributions."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import close

from .result_parts import parts_slip


def speculate_reference(p, draft):
    """Case by case: every draft token that the draft may make, every position where the first rejection may be."""
    g, V = draft.shape
    accepted, replacement = np.zeros(g), np.zeros((g, V))
    for i in range(g):
        for w in range(V):
            if draft[i, w] > 0:
                accepted[i] += draft[i, w] * min(1, p[i, w] / draft[i, w])
            replacement[i, w] = max(0, p[i, w] - draft[i, w])
        total = replacement[i].sum()
        replacement[i] = replacement[i] / total if total > 0 else p[i]
    lengths = [np.prod(accepted[:n]) * (1 - accepted[n] if n < g else 1) for n in range(g + 1)]
    return accepted, replacement, np.array(lengths)


def law(rng, *shape, zeros=0):
    weights = rng.gamma(0.5, size=shape) + 1e-3
    if zeros:
        weights[..., :zeros] = 0
    return weights / weights.sum(axis=-1, keepdims=True)


def draw_laws(rng):
    return [(law(rng, g + 1, V), law(rng, g, V)) for g, V in ((3, 5), (2, 7), (4, 11), (1, 3))]


def sure_drafts(rng):
    """A draft that always proposes the same token, one that never proposes some tokens, a model that is sure."""
    one_hot = np.eye(7)[rng.integers(7, size=3)]
    sure = np.eye(5)[rng.integers(5, size=4)]
    return [(law(rng, 4, 7), one_hot), (law(rng, 3, 8), law(rng, 2, 8, zeros=4)), (sure, law(rng, 3, 5))]


def equal_rows(rng):
    """Positions where the draft is the model, or nearly, and as many positions as tokens."""
    p = law(rng, 4, 7)
    half = law(rng, 3, 7)
    half[1] = p[1]
    nearly, nearer = ((1 - share) * p[:-1] + share * law(rng, 3, 7) for share in (1e-3, 1e-5))
    square = [(law(rng, n, 5), law(rng, n - 1, 5)) for n in (5, 6)]
    rounded = np.array([[0.6, 0.3, 0.1]] * 3)  # their sum is 1 but for rounding
    return [(p, p[:-1].copy()), (p, half), (p, nearly), (p, nearer), *square, (rounded, rounded[:-1].copy())]


def shapes(p, draft):
    return (len(draft),), draft.shape, (len(p),)


def the_law_is_the_models(ask, rng):
    for p, draft in (*draw_laws(rng), *sure_drafts(rng)):
        came = ask(p, draft)
        if slip := parts_slip(came, *shapes(p, draft)):
            return slip
        accepted, replacement, lengths = came
        first = np.minimum(p[0], draft[0]) + (1 - accepted[0]) * replacement[0]
        if not close(first, p[0]):
            return "Accepted tokens and your replacements together do not give what the model says at the first one."
        if not close(lengths.sum(), 1.0) and abs(lengths.sum() - 1) > 1e-9:
            return "A pass has some length: your probabilities of the lengths should sum to 1."
    return None


QUESTION = Question(
    id="speculate",
    title="One pass of speculative decoding",
    name="one_pass",
    minutes=16,
    difficulty=2,
    checks=with_battery(
        equals("what is accepted", 3, draw_laws, speculate_reference, parts=(0,)),
        equals("what replaces it", 3, draw_laws, speculate_reference, parts=(1,)),
        equals("how many tokens", 4, draw_laws, speculate_reference, parts=(2,)),
        equals("sure drafts, sure models", 2, sure_drafts, speculate_reference),
        equals("drafts that are the model", 2, equal_rows, speculate_reference),
        holds("the distribution is the model's", 2, the_law_is_the_models),
        more={"boundary": in_cases_of("drafts that are the model")},
        off={
            "one of each": "the model has a row more than the draft, and a vocabulary of one leaves no choice",
            "odd sizes": "the model has a row more than the draft",
        },
    ),
    hints=(
        "Of a token w, drafted with probability draft[i, w], a share min(1, p/draft) is accepted. Sum over w, and see "
        "what cancels.",
        "Draft token i is looked at only if all draft tokens before it were accepted. What is the probability of that?",
        "A pass writes n + 1 tokens if exactly the first n are accepted. For n = g there is no draft token left that "
        "could be rejected.",
    ),
    section="fewer-passes-with-the-same-distribution-speculative-decoding",
    inputs=Inputs(
        lambda p, draft: {"P": len(p), "V": p.shape[1]},
        no_softmax="the arguments are distributions already",
        alike=("drafts that are the model",),
    ),
)

right, wrong = answers_to(QUESTION)


@right
def as_often_written(p, draft):
    p = p[:-1]
    accepted = np.minimum(p, draft).sum(axis=1)
    left = np.maximum(p - draft, 0)
    total = left.sum(axis=1, keepdims=True)
    replacement = np.where(total > 0, left / np.where(total > 0, total, 1), p)
    reached = np.concatenate([[1.0], np.cumprod(accepted)])
    stopped = np.append(1 - accepted, 1.0)
    return accepted, replacement, reached * stopped


@right
def row_by_row(p, draft):
    accepted, rows, lengths, alive = [], [], [], 1.0
    for model, drafted in zip(p, draft, strict=False):
        rest = np.clip(model - drafted, 0, None)
        a = 1 - rest.sum()
        accepted.append(a)
        rows.append(rest / rest.sum() if rest.any() else model)
        lengths.append(alive * (1 - a))
        alive *= a
    return np.array(accepted), np.array(rows), np.array([*lengths, alive])


@right
def from_the_distance(p, draft):
    g = len(draft)
    gap = np.abs(p[:g] - draft).sum(axis=1) / 2
    rows = p[:g].copy()
    for i in np.flatnonzero(gap):
        rows[i] = (p[i] - np.minimum(p[i], draft[i])) / gap[i]
    at_least = np.array([np.prod(1 - gap[:n]) for n in range(g + 2)])
    at_least[-1] = 0
    return 1 - gap, rows, at_least[:-1] - at_least[1:]


wrong.edits("""
# as_often_written
## accepted_but_for_rounding: Where the draft is the model your *accepted* is 1 only up to rounding; do not divide
by 1 − accepted.
- replacement = np.where(total > 0, left / np.where(total > 0, total, 1), p)
+ replacement = np.where(accepted[:, None] < 1, left / np.where(accepted < 1, 1 - accepted, 1)[:, None], p)
## nearly_is_equal: You take a draft that differs from the model by little for the model itself; it can be rejected.
+ replacement = np.where(np.abs(p - draft).max(axis=1, keepdims=True) > 1e-5, left / np.where(total > 0, total, 1), p)
## replaced_from_p: You draw the replacement from p itself; then what the draft likes comes too often.
+ replacement = p
## not_a_law: Your replacement does not sum to 1.
+ replacement = np.where(total > 0, left, p)
## both_directions: Your replacement also counts what the draft has too much of.
- left = np.maximum(p - draft, 0)
+ left = np.abs(p - draft)
## the_drafts_surplus: Your replacement is what the draft has too much of; it should be what it has too little of.
+ left = np.maximum(draft - p, 0)
## divided_by_accepted: You divide what is left by the probability that the draft token is accepted.
- replacement = np.where(total > 0, left / np.where(total > 0, total, 1), p)
+ replacement = np.where(total > 0, left / np.where(accepted > 0, accepted, 1)[:, None], p)
## nothing_left: Where the draft is the model, nothing is left, and your row sums to 0; the task says what to give.
+ replacement = left / np.where(total > 0, total, 1)
## zero_by_zero: Where the draft is the model, you divide 0 by 0.
+ with np.errstate(all="ignore"):
+     replacement = left / total
## draws_that_agree: Your *accepted* is the probability that two draws agree; a draft token is accepted more often.
- accepted = np.minimum(p, draft).sum(axis=1)
+ accepted = (p * draft).sum(axis=1)
## mean_over_tokens: You take the mean of min(1, p/draft) over all tokens; the draft does not propose all equally often.
+ accepted = np.minimum(1, p / np.where(draft > 0, draft, 1)).mean(axis=1)
## weighed_by_the_model: You weigh min(1, p/draft) with p; draft tokens come from the draft.
+ accepted = (p * np.minimum(1, p / np.where(draft > 0, draft, 1))).sum(axis=1)
## accepted_with_all_before: You give the probability that a draft token is looked at and accepted; give that of
one that is looked at.
- return accepted, replacement, reached * stopped
+ return np.cumprod(accepted), replacement, reached * stopped
## rejected: Your first result is the probability that the draft token is rejected.
+ return 1 - accepted, replacement, reached * stopped
## largest: You take the larger of the two probabilities in place of the smaller.
- accepted = np.minimum(p, draft).sum(axis=1)
+ accepted = np.maximum(p, draft).sum(axis=1) / 2
## places_shifted: You compare draft token i with the model's distribution one position further on.
- p = p[:-1]
+ p = p[1:]
## each_by_itself: Draft token i is looked at only if all before it were accepted; you leave that out.
- return accepted, replacement, reached * stopped
+ return accepted, replacement, stopped
## at_least: You give the probabilities of *at least* so many tokens; give those of exactly so many.
+ return accepted, replacement, reached
## no_token_for_free: When all draft tokens are accepted, one more token is written; you have no probability for it.
+ return accepted, replacement, np.append(0.0, reached[:-1] * stopped[:-1])
## last_also_rejected: You allow a rejection after the last draft token; the last probability is that all were accepted.
- stopped = np.append(1 - accepted, 1.0)
+ stopped = np.append(1 - accepted, 1 - accepted[-1])
## one_share_for_all: You use the mean of *accepted* for every draft token; the probabilities differ.
- reached = np.concatenate([[1.0], np.cumprod(accepted)])
- stopped = np.append(1 - accepted, 1.0)
+ a = accepted.mean()
+ reached = a ** np.arange(len(accepted) + 1)
+ stopped = np.append(np.full(len(accepted), 1 - a), 1.0)
## summed_not_multiplied: You add up the probabilities that tokens are accepted; multiply them: all have to be accepted.
- reached = np.concatenate([[1.0], np.cumprod(accepted)])
+ reached = np.concatenate([[1.0], np.cumsum(accepted)])
## expectation: Your third result is the mean length; give the probabilities of all lengths.
- return accepted, replacement, reached * stopped
+ return accepted, replacement, reached.sum()
## from_behind: Your lengths stand in the wrong order: the first belongs to one token.
+ return accepted, replacement, (reached * stopped)[::-1]
""")
