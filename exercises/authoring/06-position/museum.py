"""Exercise 06, question museum: Stretch: rotary attention that generates."""

import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import Mask, in_cases_of, with_battery

from .museum_inputs import (
    ROUNDED,
    ROUNDED_LARGE,
    attend_at_positions,
    draw_far_scores,
    everything_later,
    large_products,
    last_value_changed,
    ones_stay_ones,
    same_positions,
    scores_of_rotary,
    with_a_cache,
)

QUESTION = Question(
    id="museum",
    title="Stretch: rotary attention that generates",
    name="rotary_attention",
    minutes=30,
    difficulty=3,
    leans_on=("rotary",),
    checks=with_battery(
        equals("whole sentences", 4, same_positions, attend_at_positions, atol=ROUNDED),
        equals("with a cache", 5, with_a_cache, attend_at_positions, atol=ROUNDED),
        equals("large scores", 3, large_products, attend_at_positions, atol=ROUNDED_LARGE),
        holds("everything later", 3, everything_later),
        holds("ones stay ones", 3, ones_stay_ones),
        mask=Mask("with a cache", draw_far_scores, last_value_changed),
        more={"boundary": in_cases_of("whole sentences")},
    ),
    hints=(
        "Some experiments are upset by two slips, others by a single one. Begin with one of these, repair its "
        "slip, and run all four again.",
        "Write down what a weight may depend on, and what an output may depend on besides the weights. Which "
        "of the three tables q, k and v have to know where they stand?",
        "Ask of every line: does it use a position, or the number of a row? The two agree in training, when the "
        "whole sentence comes at once.",
    ),
    section="start-anywhere-leave-gaps",
    inputs=Inputs(
        lambda q, k, v, *positions: {"N": q.shape[-2], "K": q.shape[-1], "V": v.shape[-1]},
        scores_of_rotary,
        only_distinct="the width of a head is even",
    ),
    how="tensors",
    forbids=("torch.nn.functional.scaled_dot_product_attention",),
)

right, wrong = answers_to(QUESTION)


@right
def head_by_head(q, k, v, q_positions, k_positions):
    def turn(x, positions):
        half = x.shape[-1] // 2
        angles = torch.outer(positions, 10000.0 ** (-torch.arange(half) / half))
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)

    scores = turn(q, q_positions) @ turn(k, k_positions).transpose(-1, -2) / q.shape[-1] ** 0.5
    hidden = k_positions[None, :] > q_positions[:, None]
    scores = torch.where(hidden, -1e30, scores)
    return (scores.softmax(dim=-1) * ~hidden) @ v


@right
def query_by_query(q, k, v, q_positions, k_positions):
    half = q.shape[-1] // 2
    rates = 10000.0 ** (-torch.arange(half) / half)

    def complex_at(x, positions):
        angles = positions.unsqueeze(1) * rates
        return torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)

    asked, offered = complex_at(q, q_positions), complex_at(k, k_positions)
    rows = []
    for n, place in enumerate(q_positions.tolist()):
        seen = [s for s, position in enumerate(k_positions.tolist()) if position <= place]
        scores = (asked[..., n, None, :] * offered[..., seen, :].conj()).sum(-1).real / (2 * half) ** 0.5
        rows.append((scores.softmax(-1).unsqueeze(-1) * v[..., seen, :]).sum(-2))
    return torch.stack(rows, dim=-2)


@right
def turned_by_the_difference(q, k, v, q_positions, k_positions):
    """Only the keys are turned, once for every pair, by the position of the key less that of the query."""
    half = q.shape[-1] // 2
    angles = (k_positions - q_positions[:, None])[..., None] * 10000.0 ** (-torch.arange(half) / half)
    a, b = k[..., None, :, :half], k[..., None, :, half:]
    near = torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], dim=-1)
    scores = torch.einsum("...nk,...nsk->...ns", q, near) / q.shape[-1] ** 0.5
    seen = k_positions <= q_positions[:, None]
    blind = ~seen.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~(seen | blind), -torch.inf)
    return torch.where(blind, 0.0, torch.softmax(scores, dim=-1)) @ v


@right
def as_often_written(q, k, v, q_positions, k_positions):
    def turn(x, positions):
        a, b = torch.chunk(x, 2, dim=-1)
        angles = positions[:, None] * 10000.0 ** (-torch.arange(a.shape[-1]) / a.shape[-1])
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
    seen = k_positions <= q_positions[:, None]
    C = C.masked_fill(~seen, -1e30)
    E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
    return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)


@wrong(
    "Neither queries nor keys are turned: apart from the mask nothing knows where it stands.",
    section="rotary-positions",
)
def nothing_turned(q, k, v, q_positions, k_positions):
    C = q @ k.mT / q.shape[-1] ** 0.5
    seen = k_positions <= q_positions[:, None]
    C = C.masked_fill(~seen, -1e30)
    E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
    return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)


wrong.edits("""
# head_by_head
## waves_added [rotary-positions]: You add waves to queries and keys instead of turning them.
- a, b = x[..., :half], x[..., half:]
- return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)
+ return x + torch.cat([angles.sin(), angles.cos()], -1)

# as_often_written
## generating_as_exhibited: This is the museum piece as it stood, with all three of its slips.
- C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
- seen = k_positions <= q_positions[:, None]
+ C = turn(q, torch.arange(len(q_positions))) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
+ seen = torch.ones(len(q_positions), len(k_positions)).tril() == 1
- return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
+ return E @ turn(v, k_positions) / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
## only_values_repaired: Your values are as they should be, but two slips of the museum piece are left: both use a row
number.
- C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
- seen = k_positions <= q_positions[:, None]
+ C = turn(q, torch.arange(len(q_positions))) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
+ seen = torch.ones(len(q_positions), len(k_positions)).tril() == 1
## only_queries_repaired: Your queries know their positions, but two slips are left: one in the mask, one in what is
averaged.
- seen = k_positions <= q_positions[:, None]
+ seen = torch.ones(len(q_positions), len(k_positions)).tril() == 1
- return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
+ return E @ turn(v, k_positions) / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
## only_mask_repaired: Your mask is as it should be, but two slips are left: one in what is compared, one in what is
averaged.
- C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
+ C = turn(q, torch.arange(len(q_positions))) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
- return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
+ return E @ turn(v, k_positions) / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
## values_turned [common-mistakes]: Your values are turned along with queries and keys, so the outputs depend on where
everything stands.
- return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
+ return E @ turn(v, k_positions) / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
## queries_from_0 [common-mistakes]: Your queries count from 0 in every call, which is wrong as soon as a cache holds
earlier tokens.
- C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
+ C = turn(q, torch.arange(len(q_positions))) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
## mask_by_rows: Your mask compares the numbers of rows and columns instead of positions.
- seen = k_positions <= q_positions[:, None]
+ seen = torch.ones(len(q_positions), len(k_positions)).tril() == 1
## mask_by_last_rows: Your mask takes the queries for the last rows of the keys, as in a cache without gaps;
positions decide.
+ seen = torch.ones(len(q_positions), len(k_positions)).tril(len(k_positions) - len(q_positions)) == 1
## key_rows_for_positions: Your mask takes the row of a key for its position; both positions are given.
+ seen = torch.arange(len(k_positions)) <= q_positions[:, None]
## keys_from_0: Your keys count from 0 although their positions are given.
- C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
+ C = turn(q, q_positions) @ turn(k, torch.arange(len(k_positions))).mT / q.shape[-1] ** 0.5
## both_from_0: Your queries and keys both count from 0, and the given positions decide the mask only. If that comes
from your rotation, let question 4 pass first.
- def turn(x, positions):
+ def turn(x):
- angles = positions[:, None] * 10000.0 ** (-torch.arange(a.shape[-1]) / a.shape[-1])
+ angles = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-torch.arange(a.shape[-1]) / a.shape[-1])
- C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
+ C = turn(q) @ turn(k).mT / q.shape[-1] ** 0.5
## keys_not_turned [rotary-positions]: Your queries are turned and your keys are not: then scores depend on the query's
position alone.
- C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
+ C = turn(q, q_positions) @ k.mT / q.shape[-1] ** 0.5
## queries_not_turned [rotary-positions]: Your keys are turned and your queries are not: then scores depend on the key's
position alone.
+ C = q @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
## opposite_directions [rotary-positions]: Queries and keys turn in opposite directions, so scores depend on the sum of
two positions.
+ C = turn(q, q_positions) @ turn(k, -k_positions).mT / q.shape[-1] ** 0.5
## overwriting_rotation_inside [rotary-positions]: The rotation inside overwrites numbers that it still needs, and the
caller's: let question 4 pass first.
- return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
+ x[..., : a.shape[-1]] = a * cos - b * sin
+ x[..., a.shape[-1] :] = b * cos + a * sin
+ return x
## pairs_of_neighbours [rotary-positions]: Your pairs are neighbours; in question 4 the two halves make pairs.
- a, b = torch.chunk(x, 2, dim=-1)
+ a, b = x[..., ::2], x[..., 1::2]
- return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
+ return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2)
## scaled_twice [rotary-positions]: The scores are scaled twice.
- C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
+ C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1]
## no_mask [the-mask-as-position-information]: There is no mask: your queries see keys at later positions.
- seen = k_positions <= q_positions[:, None]
+ seen = torch.ones(len(q_positions), len(k_positions)) == 1
## own_place_hidden [the-mask-as-position-information]: Your mask hides a query's own position from it.
+ seen = k_positions < q_positions[:, None]
## future_shown [the-mask-as-position-information]: Your mask looks the wrong way: it shows later positions.
+ seen = k_positions >= q_positions[:, None]
## scores_not_scaled: The scores are not scaled by the root of the width.
- C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
+ C = turn(q, q_positions) @ turn(k, k_positions).mT
## scaled_by_the_values: You scale by the width of a value; the products are those of queries and keys.
+ C = turn(q, q_positions) @ turn(k, k_positions).mT / v.shape[-1] ** 0.5
## mask_after_softmax [the-mask-as-position-information]: Your mask comes after the softmax, and what it hides is still
in the denominator.
- C = C.masked_fill(~seen, -1e30)
- E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
- return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
+ E = torch.exp(C - C.amax(dim=-1, keepdim=True))
+ return E * seen @ v / E.sum(dim=-1, keepdim=True)
## hidden_by_zero [the-mask-as-position-information]: You multiply hidden scores by 0, which is a score like any other.
- C = C.masked_fill(~seen, -1e30)
- E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
+ C = C * seen
+ E = torch.exp(C - C.amax(dim=-1, keepdim=True))
## softmax_over_queries: Your softmax runs over the queries; the shares of one query must sum to 1.
- E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
- return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
+ E = torch.exp(C - C.amax(dim=-2, keepdim=True)) * seen
+ return E / E.sum(dim=-2, keepdim=True).clamp(min=1e-30) @ v
## blind_query_averages_all: A query that sees no key gets the mean of all values in your version, and reads the future.
- E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
+ E = torch.exp(C - C.amax(dim=-1, keepdim=True))
## zeros_for_all: As soon as one query sees no key you give zeros to all; only that one gets zeros.
- return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
+ return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30) * seen.any(dim=-1).all()
## blind_query_is_nan: In your version a query that sees no key divides 0 by 0.
- C = C.masked_fill(~seen, -1e30)
- E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
- return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
+ C = C.masked_fill(~seen, -torch.inf)
+ E = torch.exp(C - C.amax(dim=-1, keepdim=True))
+ return E @ v / E.sum(dim=-1, keepdim=True)
## overflow: Large scores overflow in your exponentials: take the largest of each row away first.
- C = C.masked_fill(~seen, -1e30)
- E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
+ E = torch.exp(C) * seen
## largest_of_the_table: You take the largest score of the whole table away, and the rows far below it vanish.
- E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
+ E = torch.exp(C - C.max()) * seen
## largest_of_hidden_too: You take away a largest score that may itself be hidden, and what a query sees can vanish
beside it.
- C = C.masked_fill(~seen, -1e30)
## mask_on_its_side: Your mask lies on its side: its rows should belong to the queries.
- seen = k_positions <= q_positions[:, None]
+ seen = k_positions[:, None] <= q_positions
## scaled_by_the_pairs: You scale by the number of pairs; the products run over the whole width.
- C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
+ C = turn(q, q_positions) @ turn(k, k_positions).mT / (q.shape[-1] // 2) ** 0.5
## shares_do_not_sum_to_one: You never divide the weights by their sum, so outputs are not averages.
- return E @ v / E.sum(dim=-1, keepdim=True).clamp(min=1e-30)
+ return E @ v
## penalty_added: You add a large penalty to hidden scores: a query that sees no key then looks as if none were hidden.
- C = C.masked_fill(~seen, -1e30)
- E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
+ C = C + torch.where(seen, 0.0, -1e9)
+ E = torch.exp(C - C.amax(dim=-1, keepdim=True))
## slow_rotation_inside [rotary-positions]: The rotation inside has exponents half as large as they should be: let
question 4 pass first.
- angles = positions[:, None] * 10000.0 ** (-torch.arange(a.shape[-1]) / a.shape[-1])
+ angles = positions[:, None] * 10000.0 ** (-torch.arange(a.shape[-1]) / x.shape[-1])
## fast_rotation_inside [rotary-positions]: The rotation inside has exponents twice as large as they should be: let
question 4 pass first.
+ angles = positions[:, None] * 10000.0 ** (-2 * torch.arange(a.shape[-1]) / a.shape[-1])
## backwards_inside [rotary-positions]: The rotation inside turns backwards: let question 4 pass first.
- return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
+ return torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1)
## each_from_its_own_start: Queries and keys are each counted from their own first position, so distances are lost.
- C = turn(q, q_positions) @ turn(k, k_positions).mT / q.shape[-1] ** 0.5
+ C = turn(q, q_positions - q_positions.min()) @ turn(k, k_positions - k_positions.min()).mT
+ C = C / q.shape[-1] ** 0.5
## hidden_not_low_enough: You give hidden scores −10 000, and large scores may lie below that.
- C = C.masked_fill(~seen, -1e30)
- E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen
+ C = C.masked_fill(~seen, -1e4)
+ E = torch.exp(C - C.amax(dim=-1, keepdim=True)) * seen.any(dim=-1, keepdim=True)
## shared_positions_in_order: Your mask compares row numbers where positions are equal; a query should see every key at
its own position.
- seen = k_positions <= q_positions[:, None]
+ seen = (k_positions < q_positions[:, None]) | (torch.ones_like(C).tril() == 1) & (k_positions == q_positions[:, None])

""")
