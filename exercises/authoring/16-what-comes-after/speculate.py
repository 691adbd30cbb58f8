"""Exercise 16, question speculate: one pass of speculative decoding, as distributions."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.cases import close

from .shared import parts_slip


def speculate_reference(p, draft):
    """Case by case: every guess that the draft may make, every position where the first refusal may be."""
    g, V = draft.shape
    kept, replacement = np.zeros(g), np.zeros((g, V))
    for i in range(g):
        for w in range(V):
            if draft[i, w] > 0:
                kept[i] += draft[i, w] * min(1, p[i, w] / draft[i, w])
            replacement[i, w] = max(0, p[i, w] - draft[i, w])
        total = replacement[i].sum()
        replacement[i] = replacement[i] / total if total > 0 else p[i]
    lengths = [np.prod(kept[:n]) * (1 - kept[n] if n < g else 1) for n in range(g + 1)]
    return kept, replacement, np.array(lengths)


def law(rng, *shape, zeros=0):
    weights = rng.gamma(0.5, size=shape) + 1e-3
    if zeros:
        weights[..., :zeros] = 0
    return weights / weights.sum(axis=-1, keepdims=True)


def plain(rng):
    return [(law(rng, g + 1, V), law(rng, g, V)) for g, V in ((3, 5), (2, 7), (4, 11), (1, 3))]


def sure_drafts(rng):
    """A draft that always guesses the same, one that never guesses some tokens, a model that is sure."""
    one_hot = np.eye(7)[rng.integers(7, size=3)]
    sure = np.eye(5)[rng.integers(5, size=4)]
    return [(law(rng, 4, 7), one_hot), (law(rng, 3, 8), law(rng, 2, 8, zeros=4)), (sure, law(rng, 3, 5))]


def equal_rows(rng):
    """Positions where the draft is the model, or nearly, and tables of as many positions as tokens, or guesses."""
    p = law(rng, 4, 7)
    half = law(rng, 3, 7)
    half[1] = p[1]
    nearly = 0.999 * p[:-1] + 0.001 * law(rng, 3, 7)
    square = [(law(rng, n, 5), law(rng, n - 1, 5)) for n in (5, 6)]
    rounded = np.array([[0.6, 0.3, 0.1]] * 3)  # their sum is 1 but for rounding
    return [(p, p[:-1].copy()), (p, half), (p, nearly), *square, (rounded, rounded[:-1].copy())]


def shapes(p, draft):
    return (len(draft),), draft.shape, (len(p),)


def the_law_is_the_models(ask, rng):
    for p, draft in (*plain(rng), *sure_drafts(rng)):
        came = ask(p, draft)
        if slip := parts_slip(came, *shapes(p, draft)):
            return slip
        kept, replacement, lengths = came
        first = np.minimum(p[0], draft[0]) + (1 - kept[0]) * replacement[0]
        if not close(first, p[0]):
            return "Kept guesses and your replacements together do not give what the model says at the first position."
        if not close(lengths.sum(), 1.0) and abs(lengths.sum() - 1) > 1e-9:
            return "A pass has some length: your probabilities of the lengths should sum to 1."
    return None


QUESTION = Question(
    id="speculate",
    title="One pass of speculative decoding",
    name="one_pass",
    minutes=16,
    difficulty=2,
    checks=(
        equals("what is kept", 3, plain, speculate_reference, parts=(0,)),
        equals("what replaces it", 3, plain, speculate_reference, parts=(1,)),
        equals("how many tokens", 4, plain, speculate_reference, parts=(2,)),
        equals("sure drafts, sure models", 2, sure_drafts, speculate_reference),
        equals("drafts that are the model", 2, equal_rows, speculate_reference),
        holds("the distribution is the model's", 2, the_law_is_the_models),
    ),
    hints=(
        "Of a guess w, drawn with probability draft[i, w], a share min(1, p/draft) is kept. Sum over w, and see what "
        "cancels.",
        "Guess i is looked at only if all guesses before it were kept. What is the probability of that?",
        "A pass writes n + 1 tokens if exactly the first n guesses are kept. For n = g there is no guess left that "
        "could be refused.",
    ),
    section="fewer-passes-with-the-same-distribution",
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
    kept = np.minimum(p, draft).sum(axis=1)
    left = np.maximum(p - draft, 0)
    total = left.sum(axis=1, keepdims=True)
    replacement = np.where(total > 0, left / np.where(total > 0, total, 1), p)
    reached = np.concatenate([[1.0], np.cumprod(kept)])
    stopped = np.append(1 - kept, 1.0)
    return kept, replacement, reached * stopped


@right
def row_by_row(p, draft):
    kept, rows, lengths, alive = [], [], [], 1.0
    for model, guess in zip(p, draft, strict=False):
        rest = np.clip(model - guess, 0, None)
        a = 1 - rest.sum()
        kept.append(a)
        rows.append(rest / rest.sum() if rest.any() else model)
        lengths.append(alive * (1 - a))
        alive *= a
    return np.array(kept), np.array(rows), np.array([*lengths, alive])


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
## kept_but_for_rounding: Where the draft is the model your *kept* is 1 only up to rounding; do not divide by 1 − kept.
- replacement = np.where(total > 0, left / np.where(total > 0, total, 1), p)
+ replacement = np.where(kept[:, None] < 1, left / np.where(kept < 1, 1 - kept, 1)[:, None], p)
## replaced_from_p: You draw the replacement from p itself; then what the draft likes comes too often.
- replacement = np.where(total > 0, left / np.where(total > 0, total, 1), p)
+ replacement = p
## not_a_law: Your replacement does not sum to 1.
- replacement = np.where(total > 0, left / np.where(total > 0, total, 1), p)
+ replacement = np.where(total > 0, left, p)
## both_directions: Your replacement also counts what the draft has too much of.
- left = np.maximum(p - draft, 0)
+ left = np.abs(p - draft)
## the_drafts_surplus: Your replacement is what the draft has too much of; it should be what it has too little of.
- left = np.maximum(p - draft, 0)
+ left = np.maximum(draft - p, 0)
## divided_by_kept: You divide what is left by the probability that the guess is kept.
- replacement = np.where(total > 0, left / np.where(total > 0, total, 1), p)
+ replacement = np.where(total > 0, left / np.where(kept > 0, kept, 1)[:, None], p)
## nothing_left: Where the draft is the model, nothing is left, and your row sums to 0; the task says what to give.
- replacement = np.where(total > 0, left / np.where(total > 0, total, 1), p)
+ replacement = left / np.where(total > 0, total, 1)
## zero_by_zero: Where the draft is the model, you divide 0 by 0.
- replacement = np.where(total > 0, left / np.where(total > 0, total, 1), p)
+ with np.errstate(all="ignore"):
+     replacement = left / total
## draws_that_agree: Your *kept* is the probability that two draws agree; a guess is kept more often.
- kept = np.minimum(p, draft).sum(axis=1)
+ kept = (p * draft).sum(axis=1)
## mean_over_tokens: You take the mean of min(1, p/draft) over all tokens; the draft does not guess all equally often.
- kept = np.minimum(p, draft).sum(axis=1)
+ kept = np.minimum(1, p / np.where(draft > 0, draft, 1)).mean(axis=1)
## weighed_by_the_model: You weigh min(1, p/draft) with p; guesses come from the draft.
- kept = np.minimum(p, draft).sum(axis=1)
+ kept = (p * np.minimum(1, p / np.where(draft > 0, draft, 1))).sum(axis=1)
## kept_with_all_before: You give the probability that a guess is looked at and kept; give that of a guess once it is
looked at.
- return kept, replacement, reached * stopped
+ return np.cumprod(kept), replacement, reached * stopped
## refused: Your first result is the probability that the guess is refused.
- return kept, replacement, reached * stopped
+ return 1 - kept, replacement, reached * stopped
## largest: You take the larger of the two probabilities in place of the smaller.
- kept = np.minimum(p, draft).sum(axis=1)
+ kept = np.maximum(p, draft).sum(axis=1) / 2
## places_shifted: You compare guess i with the model's distribution one position further on.
- p = p[:-1]
+ p = p[1:]
## each_by_itself: Guess i is looked at only if all before it were kept; you leave that out.
- return kept, replacement, reached * stopped
+ return kept, replacement, stopped
## at_least: You give the probabilities of *at least* so many tokens; give those of exactly so many.
- return kept, replacement, reached * stopped
+ return kept, replacement, reached
## no_token_for_free: When all guesses are kept, one more token is written; you have no probability for it.
- return kept, replacement, reached * stopped
+ return kept, replacement, np.append(0.0, reached[:-1] * stopped[:-1])
## last_also_refused: You allow a refusal after the last guess; the last probability is that all were kept.
- stopped = np.append(1 - kept, 1.0)
+ stopped = np.append(1 - kept, 1 - kept[-1])
## one_share_for_all: You use the mean of *kept* for every guess; the probabilities differ from guess to guess.
- reached = np.concatenate([[1.0], np.cumprod(kept)])
- stopped = np.append(1 - kept, 1.0)
+ a = kept.mean()
+ reached = a ** np.arange(len(kept) + 1)
+ stopped = np.append(np.full(len(kept), 1 - a), 1.0)
## summed_not_multiplied: You add up the probabilities that guesses are kept; multiply them: all have to be kept.
- reached = np.concatenate([[1.0], np.cumprod(kept)])
+ reached = np.concatenate([[1.0], np.cumsum(kept)])
## expectation: Your third result is the mean length; give the probabilities of all lengths.
- return kept, replacement, reached * stopped
+ return kept, replacement, reached.sum()
## from_behind: Your lengths stand in the wrong order: the first belongs to one token.
- return kept, replacement, reached * stopped
+ return kept, replacement, (reached * stopped)[::-1]
""")
