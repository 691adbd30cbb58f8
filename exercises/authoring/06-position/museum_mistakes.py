"""The mistakes of question museum, as edits of its right answers."""

MISTAKES = """
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

"""
