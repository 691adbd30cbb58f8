"""Exercise 02, question lookup: repair the lookup table in the museum."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes, shape_slip, varied
from clearformer.reference import functions


def looked_up(Q, K, V, temperature):
    return V @ functions.softmax(K.T @ Q / temperature, axis=0)


def questions_to_a_table(rng, n_targets=None, n_sources=None, temperature=0.6, sizes=None):
    K, V, N, S = sizes or draw_sizes(rng, 4)
    N, S = n_targets or N, n_sources or S
    Q, keys = rng.normal(size=(K, N)) * (np.arange(N) != 1) / np.sqrt(K), rng.normal(size=(K, S))
    return Q, keys, rng.normal(size=(V, S)), temperature * float(rng.uniform(0.9, 1.1))


ordinary_lookups = varied(
    questions_to_a_table, {}, {"temperature": 1.8}, {"n_targets": 1}, {"n_sources": 1}, {"sizes": (5, 5, 5, 5)}
)


def sharp_lookups(rng):
    """In the last two the weights are ordinary: all scores of a query are low, or they and the temperature are tiny."""
    *cases, low, (Q, K, V, t) = [questions_to_a_table(rng, temperature=t) for t in (0.01, 1e-4, 40.0, 0.6, 0.6)]
    low[0][0], low[1][0] = -1e4, 1.0
    return [*cases, low, (1e-9 * Q, K, V, 1e-9 * t)]


def no_answer_from_scores(ask, Q, K, V, temperature):
    """A sentence when the answers do not hang on the queries: a constant has most of the properties below."""
    Y = ask(Q, K, V, temperature)
    if slip := shape_slip(Y, (len(V), Q.shape[1])):
        return slip
    if close(ask(-Q, K, V, temperature), Y):
        return "Other queries must get other answers, but your answers do not depend on Q."
    return None


def equal_values_stay(ask, rng):
    Q, K, V, temperature = questions_to_a_table(rng)
    if slip := no_answer_from_scores(ask, Q, K, V, temperature):
        return slip
    alike = np.repeat(V[:, :1], V.shape[1], axis=1)
    if not close(ask(Q, K, alike, temperature), np.repeat(V[:, :1], Q.shape[1], axis=1)):
        return "When all values are the same, so is every answer; yours come out changed."
    return None


def finds_the_dictionary(ask, rng):
    S, V = draw_sizes(rng, 2)
    keys, values = np.eye(S), rng.normal(size=(V, S))
    order = rng.choice(S, 3, replace=False)
    Y = ask(keys[:, order], keys, values, 0.02)
    if slip := shape_slip(Y, (V, 3)):
        return slip
    if not close(Y, values[:, order], atol=1e-6):
        return "At a temperature of 0.02 a query that equals one of the one-hot keys must find its value; yours do not."
    soft = ask(keys[:, order], keys, values, 1e6)
    if not close(soft, np.repeat(values.mean(axis=1, keepdims=True), 3, axis=1), atol=1e-4):
        return "At an enormous temperature every answer is nearly the plain mean of the values; yours are not."
    return None


def order_of_the_table(ask, rng):
    Q, K, V, temperature = questions_to_a_table(rng)
    if slip := no_answer_from_scores(ask, Q, K, V, temperature):
        return slip
    order = np.roll(np.arange(K.shape[1]), int(rng.integers(1, K.shape[1])))
    if not close(ask(Q, K[:, order], V[:, order], temperature), ask(Q, K, V, temperature)):
        return "Keys and values shuffled alike are the same table, but your answers change."
    return None


QUESTION = Question(
    id="lookup",
    title="Repair the lookup table in the museum",
    name="repaired_lookup",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("values", 5, ordinary_lookups, looked_up),
        equals("sharp and blunt", 2, sharp_lookups, looked_up),
        holds("equal values", 2, equal_values_stay),
        holds("the dictionary", 3, finds_the_dictionary),
        holds("order of the table", 2, order_of_the_table),
    ),
    hints=(
        "Write the shape beside every line, with three different letters, and say in words what a row and what "
        "a column of each table belongs to.",
        "What does the temperature do when it becomes small, in the chapter and in the museum? And which sums "
        "of the weights are 1, those of a query or those of a key?",
        "Take the table [[0, 1, 2], [3, 4, 5]], bring it to the shape (3, 2) as the museum does, and look "
        "whether every entry still stands in the row and the column of its own query and key.",
    ),
    section="a-soft-lookup-table",
    inputs=Inputs(axes("KN", "KS", "VS"), lambda Q, K, V, temperature: K.T @ Q / temperature, alike=("values",)),
)

right, wrong = answers_to(QUESTION)


@right
def in_columns(Q, K, V, temperature):
    scores = K.T @ Q / temperature
    powers = np.exp(scores - scores.max(axis=0))
    return V @ (powers / powers.sum(axis=0))


@right
def in_rows_and_turned(Q, K, V, temperature):
    scores = Q.T @ K / temperature
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    return V @ weights.T


@right
def one_query_at_a_time(Q, K, V, temperature):
    answers = np.zeros((V.shape[0], Q.shape[1]))
    for n, query in enumerate(Q.T):
        scores = np.array([key @ query / temperature for key in K.T])
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        for weight, value in zip(weights, V.T, strict=True):
            answers[:, n] += weight * value
    return answers


@right
def divided_at_the_end(Q, K, V, temperature):
    scores = np.einsum("ks,kn->sn", K, Q) / temperature
    powers = np.exp(scores - scores.max(axis=0, keepdims=True))
    return np.einsum("vs,sn->vn", V, powers) / powers.sum(axis=0)


wrong.edits("""
# in_columns
## one_winner_when_sharp [from-soft-back-to-hard]: At a small temperature you take one winner; keys with equal scores
share the weight at any temperature.
- scores = K.T @ Q / temperature
+ scores = K.T @ Q / temperature
+ if temperature < 0.01:
+     return V[:, scores.argmax(axis=0)]
## temperature_kept_high [from-soft-back-to-hard]: You keep the temperature from falling below a limit; a lower one
makes the table sharper still.
+ scores = K.T @ Q / max(temperature, 0.01)
## maximum_of_the_other_axis [what-the-sums-of-a-say]: Your maximum runs over the queries and your sum over the keys:
what is subtracted differs from competitor to competitor.
- scores = K.T @ Q / temperature
+ scores = Q.T @ K / temperature
- return V @ (powers / powers.sum(axis=0))
+ return V @ (powers / powers.sum(axis=1, keepdims=True)).T
## all_pairs_compete [what-the-sums-of-a-say]: You let all pairs of a query and a key compete: the weights of all
answers together sum to 1.
- powers = np.exp(scores - scores.max(axis=0))
- return V @ (powers / powers.sum(axis=0))
+ powers = np.exp(scores - scores.max())
+ return V @ (powers / powers.sum())
## temperature_after_the_softmax [from-soft-back-to-hard]: You divide the weights by the temperature after the softmax:
they no longer sum to 1 and are no sharper.
- scores = K.T @ Q / temperature
+ scores = K.T @ Q
- return V @ (powers / powers.sum(axis=0))
+ return V @ (powers / powers.sum(axis=0)) / temperature
## best_key_only [from-soft-back-to-hard]: You pick the value of the best key alone; a soft lookup mixes.
- scores = K.T @ Q / temperature
- powers = np.exp(scores - scores.max(axis=0))
- return V @ (powers / powers.sum(axis=0))
+ return V[:, (K.T @ Q).argmax(axis=0)]
## plain_mean: You give every query the plain mean of the values, as if no key fitted better than another.
+ return np.repeat(V.mean(axis=1, keepdims=True), Q.shape[1], axis=1)
## cosine_scores: You scale queries and keys to length 1 first; in this table the score is the plain dot product.
- scores = K.T @ Q / temperature
+ scores = (K / np.linalg.norm(K, axis=0)).T @ (Q / np.linalg.norm(Q, axis=0)) / temperature
## mixes_the_keys: The keys stand where the values should: what you mix is what was compared.
- return V @ (powers / powers.sum(axis=0))
+ return K @ (powers / powers.sum(axis=0))
## overflows_when_sharp: Your exponentials overflow at a small temperature: subtract the largest score.
- scores = K.T @ Q / temperature
- powers = np.exp(scores - scores.max(axis=0))
+ powers = np.exp(K.T @ Q / temperature)
## smallest_temperature: You let the temperature go no lower than 0.001; a lower one only makes the table sharper.
- scores = K.T @ Q / temperature
+ scores = K.T @ Q / max(temperature, 1e-3)
## padded_temperature: You add a small number to the temperature, and for a small one this changes the weights.
+ scores = K.T @ Q / (temperature + 1e-8)

# in_rows_and_turned
## only_temperature_repaired [what-the-sums-of-a-say]: The temperature is repaired; two slips are left, one in the sums
and one in the order of the numbers.
- powers = np.exp(scores - scores.max(axis=1, keepdims=True))
- weights = powers / powers.sum(axis=1, keepdims=True)
- return V @ weights.T
+ powers = np.exp(scores - scores.max(axis=0, keepdims=True))
+ weights = powers / powers.sum(axis=0, keepdims=True)
+ return V @ weights.reshape(K.shape[1], Q.shape[1])
## only_sums_repaired [from-soft-back-to-hard]: The sums are repaired; a small temperature still makes the answer soft,
and the numbers of the table are still mixed up.
- scores = Q.T @ K / temperature
+ scores = Q.T @ K * temperature
- return V @ weights.T
+ return V @ weights.reshape(K.shape[1], Q.shape[1])
## only_places_repaired [what-the-sums-of-a-say]: The numbers keep their places now; the sums of a query are still not
1, and the temperature still works backwards.
- scores = Q.T @ K / temperature
- powers = np.exp(scores - scores.max(axis=1, keepdims=True))
- weights = powers / powers.sum(axis=1, keepdims=True)
+ scores = Q.T @ K * temperature
+ powers = np.exp(scores - scores.max(axis=0, keepdims=True))
+ weights = powers / powers.sum(axis=0, keepdims=True)
## places_still_mixed: One slip is left: a line keeps the shape right and moves weights to other queries and keys.
- return V @ weights.T
+ return V @ weights.reshape(K.shape[1], Q.shape[1])
## sums_still_wrong [what-the-sums-of-a-say]: One slip is left: the queries compete for each key, so the weights of one
answer do not sum to 1.
- powers = np.exp(scores - scores.max(axis=1, keepdims=True))
- weights = powers / powers.sum(axis=1, keepdims=True)
+ powers = np.exp(scores - scores.max(axis=0, keepdims=True))
+ weights = powers / powers.sum(axis=0, keepdims=True)
## temperature_still_wrong [from-soft-back-to-hard]: One slip is left: a small temperature makes your answers soft, but
it should make them sharp.
- scores = Q.T @ K / temperature
+ scores = Q.T @ K * temperature
## temperature_removed [from-soft-back-to-hard]: The temperature is gone: the answers are those of a temperature of 1.
+ scores = Q.T @ K / 1
## scaled_as_well: You divide by the root of the width as well; here the temperature alone sets the sharpness.
+ scores = Q.T @ K / (temperature * np.sqrt(len(K)))

# divided_at_the_end
## as_exhibited: This is the museum piece as it stood: all three experiments still go wrong.
- scores = np.einsum("ks,kn->sn", K, Q) / temperature
+ scores = Q.T @ K * temperature
- return np.einsum("vs,sn->vn", V, powers) / powers.sum(axis=0)
+ weights = powers / powers.sum(axis=0, keepdims=True)
+ return V @ weights.reshape(K.shape[1], Q.shape[1])
""")
