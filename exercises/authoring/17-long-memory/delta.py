"""Exercise 17, question delta: the gated delta rule, from one chunk to the next."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close

from .result_parts import parts_slip


def delta_reference(q, k, v, alpha, beta, S):
    """Pair by pair: what each token writes, weakened by the gates that come after it."""
    N = len(k)
    written, y = np.zeros(v.shape), np.zeros(v.shape)
    for n in range(N):
        found = np.prod(alpha[: n + 1]) * (S @ k[n])
        for s in range(n):
            found = found + np.prod(alpha[s + 1 : n + 1]) * (k[s] @ k[n]) * written[s]
        written[n] = beta[n] * (v[n] - found)
        y[n] = np.prod(alpha[: n + 1]) * (S @ q[n])
        for s in range(n + 1):
            y[n] += np.prod(alpha[s + 1 : n + 1]) * (k[s] @ q[n]) * written[s]
    last = np.prod(alpha) * S
    for s in range(N):
        last = last + np.prod(alpha[s + 1 :]) * np.outer(written[s], k[s])
    return y, written, last


def draw_args(rng, N, K, V, gates=(0.4, 1.0), begin=1.0, factor=1.0, unit=True):
    q, k = rng.normal(size=(2, N, K))
    if unit:
        k = k / np.linalg.norm(k, axis=1, keepdims=True)
    alpha, beta = rng.uniform(*gates, size=N), rng.uniform(0.2, 1.0, size=N)
    return q, k, factor * rng.normal(size=(N, V)), alpha, beta, begin * rng.normal(size=(V, K))


def first_chunks(rng):
    return [draw_args(rng, 7, 5, 3, begin=0.0), draw_args(rng, 11, 4, 6, begin=0.0)]


def later_chunks(rng):
    return [draw_args(rng, 8, 5, 3), draw_args(rng, 6, 4, 7, begin=3.0), draw_args(rng, 1, 3, 5)]


def without_fading(rng):
    """Nothing fades, keys come again, and some tokens write whole or next to nothing."""
    q, k, v, alpha, beta, S = draw_args(rng, 7, 5, 3)
    again = k.copy()
    again[4:] = k[:3]
    alpha[1:] = 1.0
    sharp = np.array([1.0, 1.0, 1e-6, 1.0, 1.0, 1e-9, 1.0])
    return [(q, again, v, alpha, sharp, S), (q, again, v, alpha, beta, S)]


def strong_gates(rng):
    """Gates of 0, those whose product is 0 in float64, and keys that are not of length 1."""
    args = draw_args(rng, 9, 5, 4)
    args[3][[3, 6]] = 0.0
    tiny = draw_args(rng, 11, 5, 3, gates=(1e-60, 1e-40))
    return [args, tiny, draw_args(rng, 7, 5, 4, unit=False)]


def the_cut_does_not_matter(ask, rng):
    *tokens, S = draw_args(rng, 12, 5, 3)
    whole = ask(*tokens, S)
    if slip := parts_slip(whole, (12, 3), (12, 3), (3, 5)):
        return slip
    cut = 5
    first = ask(*(t[:cut] for t in tokens), S)
    if slip := parts_slip(first, (cut, 3), (cut, 3), (3, 5)):
        return slip
    second = ask(*(t[cut:] for t in tokens), np.asarray(first[2]))
    if slip := parts_slip(second, (12 - cut, 3), (12 - cut, 3), (3, 5)):
        return slip
    if not close(np.concatenate([first[0], second[0]]), whole[0]):
        return "A text of 12 tokens in chunks of 5 and 7 has other outputs than the same text at once."
    if not close(second[2], whole[2]):
        return "A text of 12 tokens in chunks of 5 and 7 leaves another state than the same text at once."
    return None


QUESTION = Question(
    id="delta",
    title="The gated delta rule, chunk after chunk",
    name="delta_chunk",
    minutes=22,
    difficulty=2,
    checks=with_battery(
        equals("what is written", 4, later_chunks, delta_reference, parts=(1,)),
        equals("the outputs", 4, later_chunks, delta_reference, parts=(0,)),
        equals("the state", 3, later_chunks, delta_reference, parts=(2,)),
        equals("from an empty state", 2, first_chunks, delta_reference),
        equals("without fading", 2, without_fading, delta_reference),
        equals("strong gates", 2, strong_gates, delta_reference),
        holds("the cut does not matter", 2, the_cut_does_not_matter),
    ),
    hints=(
        "Take one token. The state fades first. Then the key asks what the faded state holds under it, and the "
        "difference from the value, times β, is what this token writes.",
        "Written as uₙ kₙᵀ, the update is Sₙ = αₙ Sₙ₋₁ + uₙ kₙᵀ: a sum that fades, with other values. What is uₙ?",
        "The equation of the chapter, (αₙ Sₙ₋₁)(I − βₙ kₙ kₙᵀ) + βₙ vₙ kₙᵀ, multiplied out: uₙ = βₙ (vₙ − αₙ Sₙ₋₁ kₙ). "
        "The output reads Sₙ, into which uₙ has gone.",
    ),
    section="a-chunk-of-the-delta-rule",
    inputs=Inputs(axes("NK", "NK", "NV", "N", "N", "VK")),
)

right, wrong = answers_to(QUESTION)


@right
def as_often_written(q, k, v, alpha, beta, S):
    y, written = np.zeros(v.shape), np.zeros(v.shape)
    for n in range(len(k)):
        S = alpha[n] * S
        written[n] = beta[n] * (v[n] - S @ k[n])
        S = S + np.outer(written[n], k[n])
        y[n] = S @ q[n]
    return y, written, S


@right
def with_the_equation(q, k, v, alpha, beta, S):
    eye, rows, told = np.eye(k.shape[1]), [], []
    for n in range(len(k)):
        after = alpha[n] * S @ (eye - beta[n] * np.outer(k[n], k[n])) + beta[n] * np.outer(v[n], k[n])
        told.append(beta[n] * v[n] - alpha[n] * beta[n] * (S @ k[n]))
        S = after
        rows.append(S @ q[n])
    return np.array(rows), np.array(told), S


@right
def all_at_once(q, k, v, alpha, beta, S):
    N = len(k)
    left = np.array([[np.prod(alpha[s + 1 : n + 1]) if s <= n else 0.0 for s in range(N)] for n in range(N)])
    old = np.cumprod(alpha)[:, None]
    clash = np.tril(left * (k @ k.T), -1) * beta[:, None]
    written = np.linalg.solve(np.eye(N) + clash, beta[:, None] * (v - old * (k @ S.T)))
    y = (left * (q @ k.T)) @ written + old * (q @ S.T)
    return y, written, old[-1] * S + (written * left[-1][:, None]).T @ k


wrong.edits("""
# as_often_written
## nothing_taken_away: You write the value without taking away what the key finds: that is a sum.
- written[n] = beta[n] * (v[n] - S @ k[n])
+ written[n] = beta[n] * v[n]
## erased_whole: You take away all that the key finds; β weakens the taking away, too.
+ written[n] = beta[n] * v[n] - S @ k[n]
## value_whole: You write the value whole; β weakens it, too.
+ written[n] = v[n] - beta[n] * (S @ k[n])
## no_beta: Your β plays no part.
+ written[n] = v[n] - S @ k[n]
## one_minus_beta: You write 1 − β of the difference; β is the share that is written.
+ written[n] = (1 - beta[n]) * (v[n] - S @ k[n])
## found_by_the_query: You take away what the query finds; it is the key under which is written.
+ written[n] = beta[n] * (v[n] - S @ q[n])
## added_back: You add what the key finds; take it away.
+ written[n] = beta[n] * (v[n] + S @ k[n])
## found_before_fading: You ask the state before it has faded; αₙ weakens it first.
- S = alpha[n] * S
- written[n] = beta[n] * (v[n] - S @ k[n])
- S = S + np.outer(written[n], k[n])
+ written[n] = beta[n] * (v[n] - S @ k[n])
+ S = alpha[n] * S + np.outer(written[n], k[n])
## never_fades: Nothing fades in your state: α plays no part.
- S = alpha[n] * S
## one_minus_alpha: You keep 1 − α of the state; α is the share that lives on.
- S = alpha[n] * S
+ S = (1 - alpha[n]) * S
## fades_with_what_is_new: You let what a token writes fade by its own α; α weakens what came before it.
- S = S + np.outer(written[n], k[n])
- y[n] = S @ q[n]
+ S = S + alpha[n] * np.outer(written[n], k[n])
+ y[n] = S @ q[n]
## gate_one_late: You use the gate α of the token before.
  y, written = np.zeros(v.shape), np.zeros(v.shape)
+ alpha = np.append(1.0, alpha[:-1])
## read_before_writing: Your output reads the state before the token has written.
- S = S + np.outer(written[n], k[n])
- y[n] = S @ q[n]
+ y[n] = S @ q[n]
+ S = S + np.outer(written[n], k[n])
## read_by_the_key: Your output is read with the key; read it with the query.
- y[n] = S @ q[n]
+ y[n] = S @ k[n]
## empty_at_first: You begin with an empty state; begin with the one that is handed over.
  y, written = np.zeros(v.shape), np.zeros(v.shape)
+ S = np.zeros(S.shape)
## transposed: Your state is K×V; it is V×K.
- return y, written, S
+ return y, written, S.T
## state_of_before: You return the state that was handed to you, not the one after the last token.
  y, written = np.zeros(v.shape), np.zeros(v.shape)
+ given = S
- return y, written, S
+ return y, written, given
## keys_cut_to_one: You scale the keys to length 1; take them as they are.
  y, written = np.zeros(v.shape), np.zeros(v.shape)
+ k = k / np.linalg.norm(k, axis=1, keepdims=True)
## erased_along_all: You erase along the key divided by its squared length; the rule takes the key as it is.
- written[n] = beta[n] * (v[n] - S @ k[n])
+ written[n] = beta[n] * (v[n] - S @ k[n] / (k[n] @ k[n]))
## what_is_found: Your second part is what each key finds; asked for is what each token writes.
- return y, written, S
+ return y, v - written / np.maximum(beta, 1e-300)[:, None], S
## difference_whole: Your second part is the difference whole; what a token writes, uₙ, is βₙ times it.
- return y, written, S
+ return y, written / np.maximum(beta, 1e-300)[:, None], S
## divided: You divide by the sum of the weights; the delta rule has no denominator.
- y[n] = S @ q[n]
+ y[n] = S @ q[n] / (1 + abs(k[: n + 1] @ q[n]).sum())

# all_at_once
## quotients: You divide one running product of gates by another, which fails once a gate is 0 or a product too small.
- left = np.array([[np.prod(alpha[s + 1 : n + 1]) if s <= n else 0.0 for s in range(N)] for n in range(N)])
+ left = np.tril(np.cumprod(alpha)[:, None] / np.cumprod(alpha))
## clash_with_itself: Your tokens take away what they themselves write; only what earlier ones wrote is there.
- clash = np.tril(left * (k @ k.T), -1) * beta[:, None]
+ clash = np.tril(left * (k @ k.T)) * beta[:, None]
## clash_without_gates: What a key finds of earlier tokens has not faded in your function; the gates between them
weaken it.
+ clash = np.tril(k @ k.T, -1) * beta[:, None]
## beta_of_the_earlier: You weigh what a key finds by the β of the earlier token; take that of the token that writes.
+ clash = np.tril(left * (k @ k.T), -1) * beta
## one_round_only: You take away what the earlier *values* left; what is there is what they have *written*.
- written = np.linalg.solve(np.eye(N) + clash, beta[:, None] * (v - old * (k @ S.T)))
+ fresh = beta[:, None] * (v - old * (k @ S.T))
+ written = fresh - clash @ fresh
## state_not_asked: Your keys do not ask the state that was handed over.
+ written = np.linalg.solve(np.eye(N) + clash, beta[:, None] * v)
## state_asked_unfaded: Your keys ask the state that was handed over as it was; the gates on the way have weakened it.
+ written = np.linalg.solve(np.eye(N) + clash, beta[:, None] * (v - k @ S.T))
## looks_ahead: Your outputs read what later tokens write.
- y = (left * (q @ k.T)) @ written + old * (q @ S.T)
+ y = (q @ k.T) @ written + old * (q @ S.T)
## old_state_unread: Your outputs do not read the state that was handed over.
+ y = (left * (q @ k.T)) @ written
""")
