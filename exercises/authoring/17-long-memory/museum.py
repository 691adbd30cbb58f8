"""Exercise 17, question museum: repair the museum piece: one token after another."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import more_cases, with_battery
from clearcheck.author.cases import close, draw_sizes, shape_slip


def phi(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear_reference(q, k, v):
    """Pair by pair."""
    y = np.zeros_like(v)
    for n in range(len(q)):
        weights = [sum(phi(k[s]) * phi(q[n])) for s in range(n + 1)]
        y[n] = sum(weight * v[s] for s, weight in enumerate(weights)) / sum(weights)
    return y


def draw_sequence(rng, factor=1.0, shift=0.0, n_tokens=None):
    N, K, V = draw_sizes(rng, 3)
    N = n_tokens or N
    return rng.normal(size=(N, K)) + shift, rng.normal(size=(N, K)) + shift, factor * rng.normal(size=(N, V))


def ordinary_sequences(rng):
    return [draw_sequence(rng), draw_sequence(rng), draw_sequence(rng, factor=1e4)]


def at_zero(rng):
    """Where the two branches of the feature map meet."""
    q, k, v = draw_sequence(rng)
    return [(np.round(q), np.round(k), v)]


def faint_sequences(rng):
    """Features that are nearly 0, as far as an ELU + 1 has digits for them, features in the hundreds, one token."""
    cases = [draw_sequence(rng, shift=-15.0), draw_sequence(rng, shift=900.0)]
    return [*cases, draw_sequence(rng, n_tokens=1)]


def an_average_of_the_past(ask, rng):
    q, k, v = draw_sequence(rng)
    before = ask(q, k, v)
    if slip := shape_slip(before, v.shape):
        return slip
    averages, ones = ask(q, k, np.ones_like(v)), np.ones_like(v)
    if close(averages, ones, 1e-4) and not close(ask(q - 25, k - 25, ones), ones):
        return "Where features are small your weights do not sum to 1. Has the denominator a floor, or more in it?"
    if not close(before[0], v[0]):
        return "The first token has only itself to look at, so its output is its value; yours is something else."
    if not close(averages, ones):
        return "Where all values are 1 every average is 1; your outputs are not, so your weights do not sum to 1."
    means = np.cumsum(v, axis=0) / np.arange(1, len(v) + 1)[:, None]
    if not close(ask(q - 30, 0 * k + k[0] - 30, v), means):
        return "Where all keys are the same every output is the mean of the values so far, however faint the features."
    faint = q - 24, k - 24  # where x + 1 of an ELU has five digits left
    if not close(ask(*faint, v), linear_reference(*faint, v), 1e-3):
        return "Where all features are about e⁻²⁴ your averages are others. Is there a floor under the features?"
    later = v.copy()
    later[-1] += 1.0
    if not close(ask(q, k, later)[:-1], before[:-1]):
        return "The last value was changed, and earlier outputs of yours change with it."
    if not close(ask(q[:2], k[:2], v[:2]), before[:2]):
        return "The first two tokens alone should give the same outputs as at the start of the text; yours differ."
    if (ask(q, k, np.eye(len(k))[:, :3]) < -1e-12).any():
        return "A weight of yours is negative."
    return None


QUESTION = Question(
    id="museum",
    title="Repair the museum piece: one token after another",
    name="running_attention",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("values", 6, ordinary_sequences, linear_reference),
        equals("faint and strong features, one token", 4, faint_sequences, linear_reference),
        holds("an average of the past", 5, an_average_of_the_past),
        more={"boundary": more_cases("values", at_zero)},
    ),
    hints=(
        "Do the first token by hand with the museum piece. What is in the state when it is read, and what should be?",
        "Two things are summed up over the past, one for the numerator and one for the denominator. Follow "
        "each of them through the loop for three tokens.",
        "The feature map has two branches that meet where its argument is 0. Compare both with the equation "
        "of the chapter, and the denominator, too: it contains nothing but features.",
    ),
    section="a-state-instead-of-a-cache-linear-attention",
    inputs=Inputs(axes("NK", "NK", "NV")),
)

right, wrong = answers_to(QUESTION)


@right
def write_then_read(q, k, v):
    def positive(t):
        return np.where(t > 0, 1 + t, np.exp(np.minimum(t, 0)))

    matrix, total, result = 0.0, 0.0, []
    for asks, offers, value in zip(positive(q), positive(k), v, strict=True):
        matrix, total = matrix + value[:, None] * offers, total + offers
        result.append(matrix @ asks / (total @ asks))
    return np.array(result)


@right
def all_pairs(q, k, v):
    fq, fk = (np.maximum(t, 0) + np.exp(np.minimum(t, 0)) for t in (q, k))
    table = np.tril(fq @ fk.T)
    return table @ v / table.sum(axis=1)[:, None]


@right
def running_sums(q, k, v):
    fq, fk = q.copy(), k.copy()
    for table in (fq, fk):
        low = table <= 0
        table[low] = np.exp(table[low])
        table[~low] += 1
    states = np.cumsum(fk[:, :, None] * v[:, None, :], axis=0)
    sums = np.cumsum(fk, axis=0)
    return np.einsum("nk,nkv->nv", fq, states) / np.einsum("nk,nk->n", fq, sums)[:, None]


@right
def as_often_written(q, k, v):
    fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
    fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
    S, z, y = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1]), np.zeros(v.shape)
    for n in range(len(q)):
        S = S + np.outer(fk[n], v[n])
        z = z + fk[n]
        y[n] = fq[n] @ S / (fq[n] @ z)
    return y


wrong.edits("""
# all_pairs
## token_itself_left_out: A token does not see itself: its output is written before its own key and value are stored.
- table = np.tril(fq @ fk.T)
+ table = np.tril(fq @ fk.T, -1)
+ table[0, 0] = 1.0
## as_it_was: This is the museum piece as it was.
- fq, fk = (np.maximum(t, 0) + np.exp(np.minimum(t, 0)) for t in (q, k))
- table = np.tril(fq @ fk.T)
- return table @ v / table.sum(axis=1)[:, None]
+ fq, fk = (np.where(t > 0, t, np.exp(np.minimum(t, 0))) for t in (q, k))
+ table = np.tril(fq @ fk.T, -1)
+ return table @ v / np.maximum(np.append(0, np.diagonal(table, -1)), 0.001)[:, None]
## only_the_order: The order of reading and writing is repaired; `ones` and `pairs` still tell of two other places.
- fq, fk = (np.maximum(t, 0) + np.exp(np.minimum(t, 0)) for t in (q, k))
+ fq, fk = (np.where(t > 0, t, np.exp(np.minimum(t, 0))) for t in (q, k))
- return table @ v / table.sum(axis=1)[:, None]
+ return table @ v / np.maximum(np.diagonal(table), 0.001)[:, None]
## only_the_sum: Your denominator now sums over the past; the experiments still tell of two other places.
- fq, fk = (np.maximum(t, 0) + np.exp(np.minimum(t, 0)) for t in (q, k))
- table = np.tril(fq @ fk.T)
- return table @ v / table.sum(axis=1)[:, None]
+ fq, fk = (np.where(t > 0, t, np.exp(np.minimum(t, 0))) for t in (q, k))
+ table = np.tril(fq @ fk.T, -1)
+ return table @ v / np.maximum(table.sum(axis=1), 0.001)[:, None]
## keys_with_a_gap: Your queries have the features of the chapter; your keys still have those of the museum piece.
- fq, fk = (np.maximum(t, 0) + np.exp(np.minimum(t, 0)) for t in (q, k))
+ fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
+ fk = np.where(k > 0, k, np.exp(np.minimum(k, 0)))
## queries_with_a_gap: Your keys have the features of the chapter; your queries still have those of the museum piece.
+ fq = np.where(q > 0, q, np.exp(np.minimum(q, 0)))
+ fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
## one_on_both_branches: You add 1 on both branches of the features, and they have a gap as before.
+ fq = np.where(q > 0, q, np.exp(np.minimum(q, 0))) + 1
+ fk = np.where(k > 0, k, np.exp(np.minimum(k, 0))) + 1
## floor_under_features: Your features have a floor; far below 0 they should go on shrinking towards 0.
+ fq, fk = (np.maximum(t, 0) + np.exp(np.clip(t, -12, 0)) for t in (q, k))
## small_features_alike: Your features are never below e⁻²⁰; far below 0 they should go on shrinking.
+ fq, fk = (np.maximum(t, 0) + np.exp(np.clip(t, -20, 0)) for t in (q, k))
## softmax_instead: This is causal attention with a softmax; make it linear attention.
- fq, fk = (np.maximum(t, 0) + np.exp(np.minimum(t, 0)) for t in (q, k))
- table = np.tril(fq @ fk.T)
- return table @ v / table.sum(axis=1)[:, None]
+ table = np.where(np.tri(len(q)) > 0, q @ k.T / np.sqrt(q.shape[1]), -np.inf)
+ powers = np.exp(table - table.max(axis=1, keepdims=True))
+ return powers / powers.sum(axis=1, keepdims=True) @ v

# as_often_written
## read_before_write: You read the state before the token is written into it.
  for n in range(len(q)):
+     y[n] = fq[n] @ S / max(fq[n] @ z, 0.001)
- y[n] = fq[n] @ S / (fq[n] @ z)
## nothing_by_nothing: You read the state before the token is written into it, and the first output is 0 / 0.
  for n in range(len(q)):
+     y[n] = fq[n] @ S / (fq[n] @ z)
- y[n] = fq[n] @ S / (fq[n] @ z)
## reads_state_too_early: You read the numerator before the token is written, the denominator after.
- S = S + np.outer(fk[n], v[n])
...
  y[n] = fq[n] @ S / (fq[n] @ z)
+ S = S + np.outer(fk[n], v[n])
## last_key_only: Your denominator knows the last key only; sum over the past, as in the numerator.
- z = z + fk[n]
+ z = fk[n]
## last_token_only: Both of your sums forget the past: every output is its own value.
- S = S + np.outer(fk[n], v[n])
- z = z + fk[n]
+ S = np.outer(fk[n], v[n])
+ z = fk[n]
## a_gap_at_zero: The positive branch of your features lacks its + 1: the two branches do not meet at 0.
- fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
- fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
+ fq = np.where(q > 0, q, np.exp(np.minimum(q, 0)))
+ fk = np.where(k > 0, k, np.exp(np.minimum(k, 0)))
## two_of_three: Two slips are repaired; the features of the museum piece still have a gap, and the denominator a floor.
- fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
- fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
+ fq = np.where(q > 0, q, np.exp(np.minimum(q, 0)))
+ fk = np.where(k > 0, k, np.exp(np.minimum(k, 0)))
- y[n] = fq[n] @ S / (fq[n] @ z)
+ y[n] = fq[n] @ S / max(fq[n] @ z, 0.001)
## a_floor: Your denominator has a floor, which spoils the average where all features are small.
- y[n] = fq[n] @ S / (fq[n] @ z)
+ y[n] = fq[n] @ S / max(fq[n] @ z, 0.001)
## something_added: You add a small number to the denominator, which spoils the average where all features are small.
+ y[n] = fq[n] @ S / (fq[n] @ z + 1e-6)
## own_value_where_faint: Where the denominator is small you give the token’s own value; an average counts the past
there, too, however faint.
+ y[n] = fq[n] @ S / (fq[n] @ z) if fq[n] @ z > 1e-12 else v[n]
## features_of_relu: Your features are a ReLU and can all be 0; those of the chapter are positive everywhere.
- fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
- fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
+ fq, fk = np.maximum(q, 0), np.maximum(k, 0)
## elu_without_one: Your features can be negative: you have the ELU without the 1 that lifts it.
+ fq = np.where(q > 0, q, np.exp(np.minimum(q, 0)) - 1)
+ fk = np.where(k > 0, k, np.exp(np.minimum(k, 0)) - 1)
## no_features: You use queries and keys as they are, without the feature map: weights can be negative.
+ fq, fk = q, k
## lifted_only: Your features are x + 1 on both sides of 0 and become negative.
+ fq, fk = q + 1, k + 1
## exponential_features: Your features are the exponential on both sides of 0; above 0 the chapter has another branch.
+ fq, fk = np.exp(q), np.exp(k)
## keys_only: The queries go through no feature map in your function.
- fq = np.where(q > 0, q + 1, np.exp(np.minimum(q, 0)))
+ fq = q
## queries_only: The keys go through no feature map in your function.
- fk = np.where(k > 0, k + 1, np.exp(np.minimum(k, 0)))
+ fk = k
## raw_query_above: Your numerator takes the query without its feature map; the denominator has it.
- y[n] = fq[n] @ S / (fq[n] @ z)
+ y[n] = q[n] @ S / (fq[n] @ z)
## raw_denominator: Your denominator sums the keys themselves; it should sum their features.
- z = z + fk[n]
+ z = z + k[n]
## not_divided: You do not divide: without a denominator it is a sum, not an average.
- y[n] = fq[n] @ S / (fq[n] @ z)
+ y[n] = fq[n] @ S
## divided_by_count: You divide by the number of tokens; the weights have to sum to 1, whatever they are.
+ y[n] = fq[n] @ S / (n + 1)
## divided_by_features: You divide by the sum of the keys’ features and leave the query out of the denominator.
+ y[n] = fq[n] @ S / z.sum()
## the_future_leaks: Every output of yours reads the state of the whole text: the future leaks in.
-     y[n] = fq[n] @ S / (fq[n] @ z)
- return y
+ return fq @ S / (fq @ z)[:, None]
## scaled: You scale the queries by √K before the feature map; linear attention has no scale.
  def as_often_written(q, k, v):
+     q = q / np.sqrt(q.shape[1])
## value_divided: You divide the state itself at every token, so that the past is divided again and again.
- y[n] = fq[n] @ S / (fq[n] @ z)
+ S = S / (fq[n] @ z)
+ y[n] = fq[n] @ S
## only_the_features: Your features are repaired; `alone` and `ones` still tell of two other places.
  for n in range(len(q)):
+     y[n] = fq[n] @ S / max(fq[n] @ z, 0.001)
- z = z + fk[n]
- y[n] = fq[n] @ S / (fq[n] @ z)
+ z = fk[n]
""")
