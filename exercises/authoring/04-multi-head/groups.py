"""Exercise 04, question groups: groups that share keys and values."""

from functools import partial

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import SIZES, draw_sizes, scaled, shape_slip, varied
from clearcheck.worker.forbidden_names import ATTENTION
from torch.nn import functional as F

from .shared import IN_FLOAT32, LARGE


def grouped_attend(q, k, v):
    """PyTorch's own attention, which can share keys and values, in double precision."""
    q, k, v = (given.double() for given in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True).float()


def grouped_heads(rng, m, G, n_targets=None, n_sources=None, sizes=None):
    """G groups of m heads: m · G is one of the sizes, and the other sizes do not divide it."""
    B, N, S, K, V = sizes or draw_sizes(rng, 5, [size for size in SIZES if size != m * G])
    N, S = n_targets or N, n_sources or S
    return rng.normal(size=(B, m * G, N, K)), rng.normal(size=(B, G, S, K)), rng.normal(size=(B, G, S, V))


def shared_heads(rng):
    lengths = {"n_targets": 1}, {"n_sources": 1}, {"sizes": (5, 7, 4, 1, 9)}, {"sizes": (6, 6, 6, 6, 6)}
    groups = (2, 3), (3, 2), (3, 3)
    return [*(grouped_heads(rng, *one) for one in groups), *(grouped_heads(rng, 2, 3, **one) for one in lengths)]


all_or_one = varied(grouped_heads, {"m": 1, "G": 5}, {"m": 5, "G": 1})


def large_groups(rng):
    """In the last one the weights are ordinary, though all scores are about −1e4."""
    q, k, v = grouped_heads(rng, 3, 2)
    q[..., 0], k[..., 0] = -1e4 * np.sqrt(q.shape[3]), 1.0
    return [*scaled(partial(grouped_heads, m=3, G=2), 30.0, 1e4)(rng), (q, k, v)]


def an_edit_stays_in_its_group(ask, rng):
    q, k, v = grouped_heads(rng, 2, 3)
    y = ask(q, k, v)
    if slip := shape_slip(y, (*q.shape[:3], v.shape[3])):
        return slip
    odd_tokens = (np.arange(k.shape[2]) % 2)[:, None]  # the same edit of all keys would change no weight
    for name in ("keys", "values"):
        group = int(rng.integers(1, 3))
        offered = {"keys": k.copy(), "values": v.copy()}
        offered[name][:, group] += odd_tokens * rng.normal(size=offered[name].shape[-1])
        changed = ~np.isclose(ask(q, *offered.values()), y, rtol=0, atol=IN_FLOAT32)
        heads = [int(h) for h in np.flatnonzero(changed.any(axis=(0, 2, 3)))]
        if heads != [2 * group, 2 * group + 1]:
            reached = f"your heads {heads}" if heads else "none of your heads"
            return (
                f"With 6 heads in 3 groups an edit of the {name} of group {group} (counting from 0) reaches "
                f"{reached}: it should reach the heads of that group, and no others."
            )
    return None


def group_sizes(q, k, v):
    return {"B": q.shape[0], "H": q.shape[1], "N": q.shape[2], "K": q.shape[3], "S": k.shape[2], "V": v.shape[3]}


def scores_of_groups(q, k, v):
    return q @ k.repeat(q.shape[1] // k.shape[1], axis=1).swapaxes(2, 3) / np.sqrt(q.shape[3])


QUESTION = Question(
    id="groups",
    title="Groups that share keys and values",
    name="grouped_attend",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("values", 6, shared_heads, grouped_attend),
        equals("one group, or one each", 2, all_or_one, grouped_attend),
        equals("large scores", 2, large_groups, grouped_attend, atol=LARGE),
        holds("an edit stays in its group", 4, an_edit_stays_in_its_group),
    ),
    hints=(
        "List for H = 6 and G = 3, counting from 0, which key-value head each of the six heads uses.",
        "When keys and values have H heads as well, a product broadcasts over batch and heads. So give every "
        "head its own copy of what its group has: in which order do the copies stand?",
        "Neighbouring heads share: a copy follows its original at once. Then transpose the last two axes of "
        "the keys, and only those.",
    ),
    section="sharing-keys-and-values",
    inputs=Inputs(group_sizes, scores_of_groups, alike=("values",)),
    how="tensors",
    forbids=ATTENTION,
)

right, wrong = answers_to(QUESTION)


@right
def repeated_for_the_group(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(m, dim=1), v.repeat_interleave(m, dim=1)
    table = q @ k.mT / k.shape[-1] ** 0.5
    A = torch.softmax(table, dim=-1)
    return A @ v


@right
def an_axis_for_the_groups(q, k, v):
    by_group = q.unflatten(1, (k.shape[1], -1))
    table = torch.einsum("bgmnk,bgsk->bgmns", by_group, k) * q.shape[3] ** -0.5
    powers = torch.exp(table - table.amax(dim=-1, keepdim=True))
    return torch.einsum("bgmns,bgsv->bgmnv", powers / powers.sum(-1, keepdim=True), v).flatten(1, 2)


@right
def head_by_head(q, k, v):
    heads = []
    for h in range(q.shape[1]):
        g = h * k.shape[1] // q.shape[1]
        table = q[:, h].bmm(k[:, g].transpose(1, 2)) / q.shape[-1] ** 0.5
        heads.append(table.softmax(2) @ v[:, g])
    return torch.stack(heads, dim=1)


@wrong("All heads use the first keys and values.")
def first_group_for_all(q, k, v):
    return torch.softmax(q @ k[:, :1].mT / k.shape[-1] ** 0.5, dim=-1) @ v[:, :1]


@wrong("You average the queries of a group; let each head ask its own question.")
def mean_query(q, k, v):
    m = q.shape[1] // k.shape[1]
    mean = q.unflatten(1, (-1, m)).mean(dim=2)
    shared = torch.softmax(mean @ k.mT / k.shape[-1] ** 0.5, dim=-1) @ v
    return shared.repeat_interleave(m, dim=1)


@wrong("PyTorch's own attention does the work that is asked for.")
def called_from_torch(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)


wrong.edits("""
# repeated_for_the_group
## round_robin: The sharing goes round robin: your heads of one group are G apart, not neighbours.
- k, v = k.repeat_interleave(m, dim=1), v.repeat_interleave(m, dim=1)
+ k, v = k.repeat(1, m, 1, 1), v.repeat(1, m, 1, 1)
## groups_for_heads: G neighbours share in place of H / G: your groups are as large as there are groups.
+ own = torch.arange(q.shape[1]) // k.shape[1] % k.shape[1]
+ k, v = k[:, own], v[:, own]
## repeated_g_times: You repeat every group G times; there are H heads for G groups, so each is needed H / G times.
+ k, v = k.repeat_interleave(k.shape[1], dim=1), v.repeat_interleave(v.shape[1], dim=1)
## expanded: `expand` stretches an axis of size 1 alone; G groups have to be repeated, each for its neighbours.
+ k, v = k.expand(-1, q.shape[1], -1, -1), v.expand(-1, q.shape[1], -1, -1)
## values_round_robin: Keys are shared by neighbours, values go round robin: a head finds one thing and takes another.
+ k, v = k.repeat_interleave(m, dim=1), v.repeat(1, m, 1, 1)
## keys_round_robin: Values are shared by neighbours, keys go round robin: a head finds one thing and takes another.
+ k, v = k.repeat(1, m, 1, 1), v.repeat_interleave(m, dim=1)
## tokens_repeated: Your copies lie along the wrong axis: tokens are repeated instead of heads.
+ k, v = k.repeat_interleave(m, dim=2), v.repeat_interleave(m, dim=2)
## repeated_all_over: Without `dim` the copies are laid out in one long row, and the axes are gone.
+ k, v = k.repeat_interleave(m), v.repeat_interleave(m)
## mean_of_groups: You average keys and values over the groups and give the same to every head.
+ k, v = k.mean(dim=1, keepdim=True), v.mean(dim=1, keepdim=True)
## never_repeated: Nothing is repeated: H heads of queries meet G heads of keys, which fits only for 1 or H groups.
- m = q.shape[1] // k.shape[1]
- k, v = k.repeat_interleave(m, dim=1), v.repeat_interleave(m, dim=1)
## weights_shared: You let a whole group look where its first head looks; share keys and values, not attention weights.
- k, v = k.repeat_interleave(m, dim=1), v.repeat_interleave(m, dim=1)
- table = q @ k.mT / k.shape[-1] ** 0.5
+ table = q[:, ::m] @ k.mT / k.shape[-1] ** 0.5
- return A @ v
+ return (A @ v).repeat_interleave(m, dim=1)
## one_output_per_group: You return one output for each group; return one for every head.
- return A @ v
+ return (A @ v).unflatten(1, (-1, m)).mean(dim=2)
## softmax_down_the_queries [several-heads-at-once]: The softmax runs over the queries, but the keys of one query lie
along the last axis.
- A = torch.softmax(table, dim=-1)
+ A = torch.softmax(table, dim=-2)
## softmax_across_heads [common-mistakes]: The softmax runs over the heads, which do not compete.
+ A = torch.softmax(table, dim=1)
## overflowing_groups [several-heads-at-once]: Your exponentials overflow: subtract the largest score first, or call
`softmax`.
+ A = table.exp() / table.exp().sum(dim=-1, keepdim=True)
## one_maximum_for_all [several-heads-at-once]: You subtract one maximum of all scores: a row far below it vanishes.
+ A = torch.exp(table - table.max())
+ A = A / A.sum(dim=-1, keepdim=True)
## cut_off: No gradient reaches queries and keys.
+ A = torch.softmax(table, dim=-1).detach()
## scale_forgotten: The scores are not scaled.
- table = q @ k.mT / k.shape[-1] ** 0.5
+ table = q @ k.mT
## root_of_all_heads [common-mistakes]: You take the root of the width of all heads; a score sums over the width of one.
+ table = q @ k.mT / (q.shape[1] * q.shape[-1]) ** 0.5
## root_of_the_values [common-mistakes]: You take the root of the values' width; a score sums over the width of queries
and keys.
+ table = q @ k.mT / v.shape[-1] ** 0.5
## reshaped_keys [the-mistake-that-keeps-every-shape]: A reshape is no transpose: your keys have the right shape and
mixed-up numbers.
+ table = q @ k.reshape(*k.shape[:2], k.shape[3], k.shape[2]) / k.shape[-1] ** 0.5
## keys_turned_round [the-reshape-trick]: All four axes of the keys are turned round; only the last two have to change
places, as `.mT` does it.
+ table = q @ k.permute(3, 2, 1, 0) / k.shape[-1] ** 0.5
## scales_in_place: You scale the queries inside the tensor that came in, so the caller's queries are gone afterwards.
+ q /= q.shape[-1] ** 0.5
+ table = q @ k.mT
""")
