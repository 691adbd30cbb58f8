"""Exercise 02, question lookup: repair the lookup table in the museum, in PyTorch."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes, shape_slip, varied
from torch import nn

CLOSE = 1e-4  # in float32
ROUNDED = 1e-3  # where a small temperature or large scores magnify what float32 rounds


def looked_up(queries, keys, values, temperature):  # in double precision, so that rounding is counted once
    queries, keys, values = (torch.as_tensor(given).double() for given in (queries, keys, values))
    return (torch.softmax(queries @ keys.T / temperature, dim=-1) @ values).float()


def questions_to_a_table(rng, n_targets=None, n_sources=None, temperature=0.6, sizes=None):
    N, S, K, V = sizes or draw_sizes(rng, 4)
    N, S = n_targets or N, n_sources or S
    queries = rng.normal(size=(N, K)) * (np.arange(N) != 1)[:, None] / np.sqrt(K)
    return queries, rng.normal(size=(S, K)), rng.normal(size=(S, V)), temperature * float(rng.uniform(0.9, 1.1))


ordinary_lookups = varied(
    questions_to_a_table, {}, {"temperature": 1.8}, {"n_targets": 1}, {"n_sources": 1}, {"sizes": (5, 5, 5, 5)}
)


def sharp_lookups(rng):
    """In the last two the weights are ordinary: all scores of a query are low, or they and the temperature are tiny."""
    draws = (questions_to_a_table(rng, temperature=t) for t in (0.01, 1e-4, 40.0, 0.6, 0.6))
    *cases, low, (queries, keys, values, t) = draws
    low[0][:, 0], low[1][:, 0] = -128.0, 1.0
    return [*cases, low, (1e-9 * queries, keys, values, 1e-9 * t)]


def no_answer_from_scores(ask, queries, keys, values, temperature):
    """A sentence when the answers do not hang on the queries: a constant has most of the properties below."""
    answers = ask(queries, keys, values, temperature)
    if slip := shape_slip(answers, (len(queries), values.shape[1])):
        return slip
    if close(ask(-queries, keys, values, temperature), answers, CLOSE):
        return "Other queries must get other answers, but your answers do not depend on them."
    return None


def equal_values_stay(ask, rng):
    queries, keys, values, temperature = questions_to_a_table(rng)
    if slip := no_answer_from_scores(ask, queries, keys, values, temperature):
        return slip
    alike = np.repeat(values[:1], len(values), axis=0)
    if not close(ask(queries, keys, alike, temperature), np.repeat(values[:1], len(queries), axis=0), CLOSE):
        return "When all values are the same, so is every answer; yours come out changed."
    return None


def finds_the_dictionary(ask, rng):
    S, V = draw_sizes(rng, 2)
    keys, values = np.eye(S), rng.normal(size=(S, V))
    order = rng.choice(S, 3, replace=False)
    answers = ask(keys[order], keys, values, 0.02)
    if slip := shape_slip(answers, (3, V)):
        return slip
    if not close(answers, values[order], CLOSE):
        return "At a temperature of 0.02 a query that equals one of the one-hot keys must find its value; yours do not."
    soft = ask(keys[order], keys, values, 1e6)
    if not close(soft, np.repeat(values.mean(axis=0, keepdims=True), 3, axis=0), CLOSE):
        return "At an enormous temperature every answer is nearly the plain mean of the values; yours are not."
    return None


def order_of_the_table(ask, rng):
    queries, keys, values, temperature = questions_to_a_table(rng)
    if slip := no_answer_from_scores(ask, queries, keys, values, temperature):
        return slip
    order = np.roll(np.arange(len(keys)), int(rng.integers(1, len(keys))))
    if not close(ask(queries, keys[order], values[order], temperature), ask(queries, keys, values, temperature), CLOSE):
        return "Keys and values shuffled alike are the same table, but your answers change."
    return None


def scores(queries, keys, values, temperature):
    return queries @ keys.T / temperature


QUESTION = Question(
    id="lookup",
    title="Repair the lookup table in the museum",
    name="repaired_lookup",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("values", 5, ordinary_lookups, looked_up),
        equals("sharp and blunt", 2, sharp_lookups, looked_up, atol=ROUNDED),
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
    inputs=Inputs(axes("NK", "SK", "SV"), scores, alike=("values",)),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def in_rows(queries, keys, values, temperature):
    fits = queries @ keys.T / temperature
    return torch.softmax(fits, dim=-1) @ values


@right
def in_columns_and_turned(queries, keys, values, temperature):
    table = keys @ queries.T / temperature
    weights = table.softmax(dim=0)
    return weights.T @ values


@right
def one_query_at_a_time(queries, keys, values, temperature):
    answers = []
    for query in queries:
        weights = nn.functional.softmax(keys @ query / temperature, dim=0)
        answers.append(sum(weight * value for weight, value in zip(weights, values, strict=True)))
    return torch.stack(answers)


@right
def divided_at_the_end(queries, keys, values, temperature):
    fits = torch.einsum("nk,sk->ns", queries, keys) / temperature
    powers = torch.exp(fits - fits.amax(dim=1, keepdim=True))
    return powers @ values / powers.sum(dim=1, keepdim=True)


wrong.edits("""
# divided_at_the_end
## one_winner_when_sharp [from-soft-back-to-hard]: At a small temperature you take one winner; keys with equal scores
share the weight at any temperature.
- powers = torch.exp(fits - fits.amax(dim=1, keepdim=True))
+ if temperature < 0.01:
+     return values[fits.argmax(dim=1)]
+ powers = torch.exp(fits - fits.amax(dim=1, keepdim=True))
## maximum_of_the_other_axis [what-the-sums-of-a-say]: Your maximum runs over the queries and your sum over the keys:
what is subtracted differs from competitor to competitor.
+ powers = torch.exp(fits - fits.amax(dim=0, keepdim=True))
## overflows_when_sharp: Your exponentials overflow at a small temperature: subtract the largest score.
+ powers = torch.exp(fits)
## all_pairs_compete [what-the-sums-of-a-say]: You let all pairs of a query and a key compete: the weights of all
answers together sum to 1.
- powers = torch.exp(fits - fits.amax(dim=1, keepdim=True))
- return powers @ values / powers.sum(dim=1, keepdim=True)
+ powers = torch.exp(fits - fits.max())
+ return powers @ values / powers.sum()

# in_rows
## temperature_kept_high [from-soft-back-to-hard]: You keep the temperature from falling below a limit; a lower one
makes the table sharper still.
- fits = queries @ keys.T / temperature
+ fits = queries @ keys.T / max(temperature, 0.01)
## smallest_temperature: You let the temperature go no lower than 0.001; a lower one only makes the table sharper.
+ fits = queries @ keys.T / max(temperature, 1e-3)
## padded_temperature: You add a small number to the temperature, and for a small one this changes the weights.
+ fits = queries @ keys.T / (temperature + 1e-8)
## cosine_scores: You scale queries and keys to length 1 first; in this table the score is the plain dot product.
+ fits = nn.functional.normalize(queries, dim=-1) @ nn.functional.normalize(keys, dim=-1).T / temperature
## temperature_still_wrong [from-soft-back-to-hard]: One slip is left: a small temperature makes your answers soft, but
it should make them sharp.
+ fits = queries @ keys.T * temperature
## temperature_removed [from-soft-back-to-hard]: The temperature is gone: the answers are those of a temperature of 1.
+ fits = queries @ keys.T
## scaled_as_well: You divide by the root of the width as well; here the temperature alone sets the sharpness.
+ fits = queries @ keys.T / (temperature * keys.shape[-1] ** 0.5)
## formula_of_columns [the-weighted-average]: You multiply as the formulas for columns do; here a token is a row: the
queries come first, and the keys are transposed.
+ fits = keys.T @ queries / temperature
## temperature_after_the_softmax [from-soft-back-to-hard]: You divide the weights by the temperature after the softmax:
they no longer sum to 1 and are no sharper.
- fits = queries @ keys.T / temperature
- return torch.softmax(fits, dim=-1) @ values
+ fits = queries @ keys.T
+ return torch.softmax(fits, dim=-1) @ values / temperature
## best_key_only [from-soft-back-to-hard]: You pick the value of the best key alone; a soft lookup mixes.
+ return values[(queries @ keys.T).argmax(dim=-1)]
## plain_mean: You give every query the plain mean of the values, as if no key fitted better than another.
+ return values.mean(dim=0).expand(len(queries), -1)
## mixes_the_keys: The keys stand where the values should: what you mix is what was compared.
- return torch.softmax(fits, dim=-1) @ values
+ return torch.softmax(fits, dim=-1) @ keys
## answers_in_columns: Your answers stand in columns; here a token is a row, and so is an answer.
+ return (torch.softmax(fits, dim=-1) @ values).T
## cut_off: No gradient reaches queries and keys: you detach the weights.
+ return torch.softmax(fits, dim=-1).detach() @ values

# in_columns_and_turned
## as_exhibited: This is the museum piece as it stood: all three experiments still go wrong.
- table = keys @ queries.T / temperature
- weights = table.softmax(dim=0)
- return weights.T @ values
+ table = keys @ queries.T * temperature
+ weights = table.softmax(dim=1)
+ return weights.reshape(len(queries), len(keys)) @ values
## only_temperature_repaired [what-the-sums-of-a-say]: The temperature is repaired; two slips are left, one in the sums
and one in the order of the numbers.
+ table = keys @ queries.T / temperature
+ weights = table.softmax(dim=1)
+ return weights.reshape(len(queries), len(keys)) @ values
## only_sums_repaired [from-soft-back-to-hard]: The sums are repaired; a small temperature still makes the answer soft,
and the numbers of the table are still mixed up.
+ table = keys @ queries.T * temperature
+ weights = table.softmax(dim=0)
+ return weights.reshape(len(queries), len(keys)) @ values
## only_places_repaired [what-the-sums-of-a-say]: The numbers keep their places now; the sums of a query are still not
1, and the temperature still works backwards.
+ table = keys @ queries.T * temperature
+ weights = table.softmax(dim=1)
+ return weights.T @ values
## places_still_mixed: One slip is left: a line keeps the shape right and moves weights to other queries and keys.
- return weights.T @ values
+ return weights.reshape(len(queries), len(keys)) @ values
## sums_still_wrong [what-the-sums-of-a-say]: One slip is left: the queries compete for each key, so the weights of one
answer do not sum to 1.
- weights = table.softmax(dim=0)
+ weights = table.softmax(dim=1)
""")
