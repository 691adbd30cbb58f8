"""Exercise 06, question alibi: a slope for every head, and a mask, when there is a cache."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import in_cases_of, with_battery
from clearcheck.author.cases import close, shapes_slip

from .shared import draw, draw_positions

HEADS = (2, 4, 8)
A_PAIR = "Your function should return a pair of tensors: the bias (H × N × S) and the mask (N × S)."


def bias_and_mask(n_heads, q_positions, k_positions):
    distance = q_positions[:, None] - k_positions
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1, dtype=torch.float64) / n_heads)
    return (-slopes[:, None, None] * distance.clamp(min=0)).float(), distance >= 0


def whole_sentences(rng):
    """Queries and keys of the same tokens; one token alone."""
    cases = []
    for H in rng.permutation(HEADS).tolist():
        (N,) = draw(rng, (5, 7, 9, 11, 13))
        positions = draw_positions(rng, N)
        cases.append((H, positions, positions.copy()))
    return [*cases, (4, positions[:1], positions[:1].copy())]


def with_a_cache(rng):
    """New queries and older keys, a single new token, keys in any order, padding below 0, and positions that agree."""
    cases = []
    for H in rng.permutation(HEADS).tolist():
        N, S = draw(rng, (3, 5, 7), (11, 13, 17))
        keys = draw_positions(rng, S)
        cases.append((H, keys[-N:].copy(), keys))
    mixed, padded, shared = rng.permutation(keys), keys - keys[4], keys[[0, 1, 1, 2, 4, 4, 5, 7, 7, 7, 9]]
    return [
        *cases,
        (8, keys[-1:].copy(), keys),
        (4, keys[[5, 0, 8]], mixed),
        (2, np.array([padded[0] - 2, *padded[[1, 3, 7, 8]]]), padded),  # the first query sees nothing
        (4, shared[[2, 5, 9]], shared),
        (8, np.array([40, 1, 70]), keys),  # before all keys, and behind them
    ]


def one_head_and_many(rng):
    cases = []
    for H in (1, 16, 1, 32):
        N, S = draw(rng, (3, 5, 7), (11, 13, 17))
        keys = draw_positions(rng, S)
        cases.append((H, keys[-N:].copy(), keys))
    return cases


def what_a_head_hears(ask, rng):
    """The weights that come of bias and mask where all scores are equal, at positions that are moved together."""
    keys, shift = draw_positions(rng, 11), int(rng.integers(20, 80))
    queries = keys[[3, 6, 10]]
    heard = []
    for moved in (0, shift):
        came = ask(4, queries + moved, keys + moved)
        if shapes_slip(came, ((4, 3, 11), (3, 11))):
            return A_PAIR
        bias, mask = came
        if mask.dtype != bool:
            return "The mask should be Boolean: True where a query may look, False elsewhere."
        if not mask.any(axis=1).all():
            return "Each of these queries has its own token among the keys, but your mask hides everything from one."
        powers = np.exp(np.where(mask, bias, -np.inf))
        heard.append(powers / powers.sum(axis=2, keepdims=True))
    here, later = heard
    if not close(later, here, 1e-5):
        return f"With all positions {shift} later every head should hear the same; yours hear something else."
    if here[:, 1, 7:].any():
        return "A query hears keys at later positions: your mask does not hide them."
    if not (np.diff(here[:, 1, :7], axis=1) > 0).all():
        return "With equal scores a head hears the more of a key the nearer it is; yours do not."
    if not (np.diff(here[:, 1, 6]) < 0).all():
        return "The first head should hear the least of what is far, each further head more; yours do not."
    return None


def sizes(n_heads, q_positions, k_positions):
    return {"H": n_heads, "N": len(q_positions), "S": len(k_positions)}


QUESTION = Question(
    id="alibi",
    title="A slope for every head",
    name="alibi",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("biases", 4, whole_sentences, bias_and_mask, parts=(0,)),
        equals("masks", 2, with_a_cache, bias_and_mask, parts=(1,)),
        equals("with a cache", 3, with_a_cache, bias_and_mask),
        equals("one head and many", 1, one_head_and_many, bias_and_mask),
        holds("what a head hears", 2, what_a_head_hears),
        also=("with a cache",),
        more={"boundary": in_cases_of("masks")},
    ),
    hints=(
        "Begin with the table of distances, N × S: one row for each query, one column for each key. Compute it from "
        "the two lists of positions, not from the numbers of rows and columns.",
        "Write the slopes for 4 heads on paper: they are on the chapter's page. Is the first head's exponent 0? And "
        "which power of 2 belongs to a head that is alone?",
        "Mask and bias come from the same table. Where is a distance negative, and what does the task want there, in "
        "the mask and in the bias? The slopes need two more axes before they meet the table.",
    ),
    section="relative-positions",
    inputs=Inputs(sizes, alike=("biases",)),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def as_often_written(n_heads, q_positions, k_positions):
    h = torch.arange(1, n_heads + 1)
    slopes = 2 ** (-8.0 * h / n_heads)
    distance = q_positions[:, None] - k_positions
    mask = distance >= 0
    bias = -slopes[:, None, None] * distance
    return torch.where(mask, bias, 0.0), mask


@right
def head_by_head(n_heads, q_positions, k_positions):
    back = (q_positions.unsqueeze(1) - k_positions.unsqueeze(0)).clamp(min=0)
    heads = [back * -(0.5 ** (8 * h / n_heads)) for h in range(1, n_heads + 1)]
    return torch.stack(heads), k_positions <= q_positions.unsqueeze(1)


@right
def by_halving(n_heads, q_positions, k_positions):
    """Each head's slope is the one before times the same factor."""
    slopes = torch.full((n_heads,), 256.0 ** (-1 / n_heads)).cumprod(0)
    mask = q_positions.view(-1, 1) >= k_positions.view(1, -1)
    distance = (q_positions.view(-1, 1) - k_positions) * mask
    return torch.einsum("h,ns->hns", -slopes, distance.float()), mask


@right
def pair_by_pair(n_heads, q_positions, k_positions):
    mask = torch.tensor([[s <= n for s in k_positions.tolist()] for n in q_positions.tolist()])
    bias = torch.zeros(n_heads, *mask.shape)
    for h in range(n_heads):
        for n, s in mask.nonzero().tolist():
            bias[h, n, s] = -(2 ** (-8 * (h + 1) / n_heads)) * (q_positions[n] - k_positions[s])
    return bias, mask


wrong.edits("""
# as_often_written
## heads_from_zero: You count the heads from 0, so your first head has the slope 1; the formula counts from 1.
- h = torch.arange(1, n_heads + 1)
+ h = torch.arange(n_heads)
## slopes_of_eight: Your slopes are ½, ¼, ⅛, …, as with eight heads; with another number of heads they are others.
- slopes = 2 ** (-8.0 * h / n_heads)
+ slopes = 0.5**h
## slopes_without_eight: The 8 is missing in your exponent: your slopes end at ½ instead of 1/256.
+ slopes = 2.0 ** (-h / n_heads)
## fraction_turned_over: Your exponent is upside down: it is 8 h over H, and not 8 H over h.
+ slopes = 2.0 ** (-8 * n_heads / h)
## powers_of_e: Your slopes are powers of e; here they are powers of 2.
+ slopes = torch.exp(-8 * h / n_heads)
## exponent_grows: The minus in your exponent is missing: your slopes grow from head to head, up to 256.
+ slopes = 2.0 ** (8 * h / n_heads)
## steepest_last: Your slopes are in the opposite order: the first head has the steepest one.
+ slopes = (2.0 ** (-8 * h / n_heads)).flip(0)
## one_slope_for_all: All your heads have one slope.
+ slopes = torch.full((n_heads,), 2.0 ** (-8 / n_heads))
## whole_exponents: Your integer division rounds the exponents, so that neighbouring heads share a slope where there are
more than eight.
+ slopes = 2.0 ** (-8 * h // n_heads)
## far_is_rewarded: Your bias has the wrong sign: what is far gets a higher score than what is near.
- bias = -slopes[:, None, None] * distance
+ bias = slopes[:, None, None] * distance
## distance_squared: Your bias grows with the square of the distance.
+ bias = -slopes[:, None, None] * distance**2
## own_token_pays: Your distance is one too large: a token's bias for itself is 0.
+ bias = -slopes[:, None, None] * (distance + 1)
## rows_for_positions [start-anywhere-leave-gaps]: You count rows and columns instead of using the given positions.
- distance = q_positions[:, None] - k_positions
+ distance = torch.arange(len(q_positions))[:, None] - torch.arange(len(k_positions))
## last_rows_for_positions [start-anywhere-leave-gaps]: You take the queries for the last rows of the keys; where
positions have gaps, the number of rows between two tokens is no distance.
+ n, s = len(q_positions), len(k_positions)
+ distance = torch.arange(s - n, s)[:, None] - torch.arange(s)
## each_from_its_start [start-anywhere-leave-gaps]: Queries and keys are each counted from their own first position, so
the distance between them is lost.
+ distance = (q_positions - q_positions[:1])[:, None] - (k_positions - k_positions[:1])
## distance_turned_round: Your distances have the opposite sign: key less query. So the mask shows what comes later.
+ distance = k_positions - q_positions[:, None]
## keys_in_rows: Your tables have a row for every key; a query is a row here.
+ distance = q_positions - k_positions[:, None]
## heads_last: Your heads are the last axis of the bias; they come first, as in the scores.
- return torch.where(mask, bias, 0.0), mask
+ return torch.where(mask, bias, 0.0).permute(1, 2, 0), mask
## hidden_pairs_too: Your bias is not 0 where the mask hides a key.
+ return bias, mask
## distance_without_sign: You take distances without their sign, as the chapter's page does, which has no mask; here the
bias of a hidden pair is 0.
+ return -bias.abs(), mask
## minus_infinity_in_the_bias: Your bias holds −∞ where a key is hidden; hiding is the mask's work, and the bias is 0
there.
+ return bias.masked_fill(~mask, -torch.inf), mask
## mask_the_other_way [the-mask-as-position-information]: Your mask is True for what is hidden; in this course True
means may look.
+ return torch.where(mask, bias, 0.0), ~mask
## own_position_hidden [the-mask-as-position-information]: Your mask hides a key at the query's own position; a query
sees it.
- mask = distance >= 0
+ mask = distance > 0
## mask_of_numbers [the-mask-as-position-information]: Your mask holds numbers, 1 and 0; it should be Boolean.
- return torch.where(mask, bias, 0.0), mask
+ return torch.where(mask, bias, 0.0), mask.float()
## mask_to_add [the-mask-as-position-information]: Your mask holds 0 and −∞, to be added to scores; here it is Boolean,
True where a query may look.
+ return torch.where(mask, bias, 0.0), torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
## mask_for_every_head: Your mask has an axis for the heads; all of them share one, N × S.
+ return torch.where(mask, bias, 0.0), mask.expand(n_heads, -1, -1)
## mask_of_rows [start-anywhere-leave-gaps]: Your mask is a triangle of row numbers; positions decide who sees whom.
+ mask = torch.ones_like(mask).tril()
+ return torch.where(mask, bias, 0.0), mask
## everything_visible [the-mask-as-position-information]: Your mask hides nothing: a query sees keys that come later.
- mask = distance >= 0
+ mask = torch.ones_like(distance) == 1
## pair_exchanged: Your two results have changed places: the bias comes first.
- return torch.where(mask, bias, 0.0), mask
+ return mask, torch.where(mask, bias, 0.0)
## bias_alone: You return the bias alone: this question asks for the mask as well.
+ return torch.where(mask, bias, 0.0)
""")
