"""Exercise 02, question lookups: soft look-ups for many queries, in PyTorch."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, axes, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes

SECONDS = 20.0  # on a slow machine, too
CLOSE = 1e-4  # in float32
ROUNDED = 1e-3  # where a small temperature or large scores magnify what float32 rounds


def reference(queries, keys, values, temperature):  # in double precision, so that rounding is counted once
    queries, keys, values = (torch.as_tensor(given).double() for given in (queries, keys, values))
    weights = torch.softmax(queries @ keys.mT / temperature, dim=-1)
    return (weights @ values).float(), weights.float()


def batch(rng, temperature=0.6, n_sources=None, n_targets=None, sizes=None, low=0.0):
    """`low` is taken from all scores of a query, which leaves its weights as they are."""
    B, N, S, K, V = sizes or draw_sizes(rng, 5)
    N, S = n_targets or N, n_sources or S
    queries, keys = rng.normal(size=(B, N, K)) / np.sqrt(K), rng.normal(size=(B, S, K))
    if low:
        queries[..., 0], keys[..., 0] = -low, 1.0
    return queries, keys, rng.normal(size=(B, S, V)), temperature


def ordinary_cases(rng):
    alone = [batch(rng, n_sources=1), batch(rng, n_targets=1)]
    return [batch(rng), batch(rng, 1.8), *alone, batch(rng, sizes=5 * (5,)), batch(rng, sizes=(1, 6, 4, 7, 5))]


def sharp_cases(rng):
    queries, *table, temperature = batch(rng, 1e-4)
    weak = temperature * queries, *table, temperature  # ordinary scores of a small temperature
    return [batch(rng, 0.02), batch(rng, 1e-4), batch(rng, 40.0), batch(rng, low=64.0), weak]


A_PAIR = "Your function should return a pair of tensors, the answers and the weights."


def is_pair(came):
    return isinstance(came, tuple | list) and [np.ndim(part) for part in came] == [3, 3]


def shares_of_a_query(ask, rng):
    queries, keys, values, temperature = batch(rng)
    came = ask(queries, keys, values, temperature)
    if not is_pair(came):
        return A_PAIR
    answers, weights = came
    if np.shape(weights) != (*queries.shape[:2], keys.shape[1]):
        return "The second result should be the weights, one row of S for each query."
    if not close(weights.sum(axis=-1), np.ones(queries.shape[:2]), atol=CLOSE):
        return "The weights of one query must sum to 1 over the entries of its table; yours do not."
    if not close(answers, weights @ values, atol=CLOSE):
        return "Your answers are not the averages of the values with the weights that you return."
    return None


def tables_apart(ask, rng):
    queries, keys, values, temperature = batch(rng)
    came = ask(queries, keys, values, temperature)
    if not is_pair(came):
        return A_PAIR
    before = came[0]
    changed = keys.copy(), values.copy()
    for table in changed:
        table[0] = 3 - table[0]
    after = ask(queries, *changed, temperature)[0]
    if close(after[0], before[0], atol=CLOSE):
        return "Table 0 of the batch was changed, and its answers stayed."
    if not close(after[1:], before[1:], atol=CLOSE):
        return "Table 0 of the batch was changed, and the answers of other tables changed too."
    return None


def scores(queries, keys, values, temperature):
    return np.asarray(queries) @ np.swapaxes(keys, 1, 2) / temperature


QUESTION = Question(
    id="lookups",
    title="Many queries, many tables",
    name="soft_lookups",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("values", 6, ordinary_cases, reference),
        equals("sharp and blunt", 3, sharp_cases, reference, atol=ROUNDED),
        holds("shares of a query", 2, shares_of_a_query),
        holds("tables apart", 3, tables_apart),
    ),
    hints=(
        "Write the three shapes below each other. Which axis do the two factors of a score share, and where must it "
        "stand in each for `@` to sum over it?",
        "`.mT` swaps the last two axes and leaves the batch where it is. Which axis of the scores, B, N or S, lists "
        "the competitors for one query?",
        "Both results come from the same weights: the softmax over the last axis, then one more `@`.",
    ),
    section="the-weighted-average",
    seconds=SECONDS,
    inputs=Inputs(axes("BNK", "BSK", "BSV"), scores, alike=("values",)),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def in_rows(queries, keys, values, temperature):
    fits = queries @ keys.mT / temperature
    shares = torch.softmax(fits, dim=-1)
    return shares @ values, shares


@right
def by_names(queries, keys, values, temperature):
    table = torch.einsum("bnk,bsk->bns", queries, keys) / temperature
    shares = table.softmax(2)
    return torch.einsum("bns,bsv->bnv", shares, values), shares


@right
def one_at_a_time(queries, keys, values, temperature):
    answers, shares = [], []
    for asking, table, given in zip(queries, keys, values, strict=True):
        found = torch.stack([torch.log_softmax(table @ query / temperature, dim=0).exp() for query in asking])
        shares.append(found)
        answers.append(torch.stack([(share[:, None] * given).sum(0) for share in found]))
    return torch.stack(answers), torch.stack(shares)


@right
def with_exponentials(queries, keys, values, temperature):
    raw = torch.bmm(queries, keys.transpose(1, 2)) / temperature
    powers = (raw - raw.amax(dim=2, keepdim=True)).exp()
    shares = powers / powers.sum(dim=2, keepdim=True)
    return torch.bmm(shares, values), shares


wrong.edits("""
# in_rows
## weights_first: You return the weights in front of the answers; the other order is asked for.
- return shares @ values, shares
+ return shares, shares @ values
## cut_off: No gradient reaches queries and keys: you detach the weights.
- shares = torch.softmax(fits, dim=-1)
+ shares = torch.softmax(fits, dim=-1).detach()
## answers_cut_off: No gradient reaches the tables from your answers: you detach them.
- return shares @ values, shares
+ return (shares @ values).detach(), shares
## root_as_well: PyTorch's own attention divides by the root of the width as well; here the temperature alone does.
+ return torch.nn.functional.scaled_dot_product_attention(queries / temperature, keys, values), shares
## over_queries [what-the-sums-of-a-say]: The queries compete for each key, so no answer's weights sum to 1.
- shares = torch.softmax(fits, dim=-1)
+ shares = torch.softmax(fits, dim=1)
## over_the_batch [what-the-sums-of-a-say]: The tables of the batch compete with each other.
+ shares = torch.softmax(fits, dim=0)
## multiplied [from-soft-back-to-hard]: A small temperature makes your answers soft, but it should make them sharp.
- fits = queries @ keys.mT / temperature
+ fits = queries @ keys.mT * temperature
## no_temperature [from-soft-back-to-hard]: The temperature has no effect: the answers are those of a temperature of 1.
+ fits = queries @ keys.mT
## after_the_softmax [from-soft-back-to-hard]: You divide the weights by the temperature after the softmax: they no
longer sum to 1 and are no sharper.
- fits = queries @ keys.mT / temperature
- shares = torch.softmax(fits, dim=-1)
+ shares = torch.softmax(queries @ keys.mT, dim=-1) / temperature
## temperature_kept_up [from-soft-back-to-hard]: You do not let the temperature fall below 0.001, so your answers are
softer than they should be.
- fits = queries @ keys.mT / temperature
+ fits = queries @ keys.mT / max(temperature, 1e-3)
## scaled_as_well: You divide by the root of the width as well; here the temperature alone sets the sharpness.
+ fits = queries @ keys.mT / (temperature * keys.shape[-1] ** 0.5)
## root_for_temperature: You divide by the root of the width in place of the temperature.
+ fits = queries @ keys.mT / keys.shape[-1] ** 0.5
## turned_by_view: You reshape the keys, which mixes numbers of different keys; swap their last two axes.
+ fits = queries @ keys.reshape(keys.shape[0], keys.shape[2], keys.shape[1]) / temperature
## no_softmax: You divide the scores by their sum; the exponential is missing.
- shares = torch.softmax(fits, dim=-1)
+ shares = fits / fits.sum(dim=-1, keepdim=True)
## overflows: Your exponentials overflow: subtract the largest score first.
+ shares = fits.exp() / fits.exp().sum(dim=-1, keepdim=True)
## hard [from-soft-back-to-hard]: You give the whole weight to the best key; that is the dictionary.
+ shares = (fits == fits.amax(dim=-1, keepdim=True)).float()
## first_table_for_all: You compare every query with the keys of the first table of the batch.
- fits = queries @ keys.mT / temperature
+ fits = queries @ keys[0].mT / temperature
## first_table_alone: You answer all queries of the batch from its first table.
- fits = queries @ keys.mT / temperature
+ fits = queries @ keys[0].mT / temperature
...
- return shares @ values, shares
+ return shares @ values[0], shares
## weights_turned: Your weights have a column for each query; give each query a row.
- return shares @ values, shares
+ return shares @ values, shares.mT
## scores_returned: Your second result is the scores, not the weights.
+ return shares @ values, fits
## answers_alone: You return the answers alone; return the weights, too.
+ return shares @ values
# with_exponentials
## one_maximum: You subtract one maximum from all scores, so a query far below it gets nothing but zeros.
- powers = (raw - raw.amax(dim=2, keepdim=True)).exp()
+ powers = (raw - raw.max()).exp()
""")
