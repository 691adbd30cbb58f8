"""Exercise 06, question head: a head that survives a shifted start."""

from functools import partial

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.cases import varied
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import causal, gradients_everywhere, parameter_count, rows_independent
from torch import nn

from .shared import draw_positions

SECONDS = 20.0
CLOSE = 1e-4


class Reference(nn.Module):
    """Turned by the differences of positions, pair by pair: the only thing that counts."""

    def __init__(self, d_model, d_head):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))

    def forward(self, x, positions, mask=None):
        q, k = self.query(x).chunk(2, -1), self.key(x).chunk(2, -1)
        half = q[0].shape[-1]
        rates = 10000.0 ** (-torch.arange(half) / half)
        turns = (positions[:, :, None] - positions[:, None])[..., None] * rates  # B N S K/2
        straight = torch.einsum("bni,bsi,bnsi->bns", q[0], k[0], turns.cos())
        straight = straight + torch.einsum("bni,bsi,bnsi->bns", q[1], k[1], turns.cos())
        crossed = torch.einsum("bni,bsi,bnsi->bns", q[0], k[1], turns.sin())
        crossed = crossed - torch.einsum("bni,bsi,bnsi->bns", q[1], k[0], turns.sin())
        scores = (straight + crossed) / (2 * half) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return scores.softmax(-1) @ self.value(x)


def looks_back(tokens):
    return np.tri(tokens, dtype=bool)


def draw_args(rng, rows=2, tokens=5, d_model=7, d_head=6, scale=1.0, apart=1, mask=None, **options):
    """Positions with gaps that start late, other ones in every row of the batch, and ``apart`` times as far away.

    ``mask`` makes the mask of so many tokens; without it none is handed over.
    """
    weights = {f"{name}.weight": rng.normal(size=(d_head, d_model)) for name in ("query", "key", "value")}
    x, positions = (
        scale * rng.normal(size=(rows, tokens, d_model)),
        apart * np.stack([draw_positions(rng, tokens) for _ in range(rows)]),
    )
    inputs = (x, positions) if mask is None else (x, positions, mask(tokens))
    return module_call({"d_model": d_model, "d_head": d_head}, inputs, weights=weights, **options)


def all_tokens(rng):
    wide = draw_args(rng, rows=3, tokens=11, d_model=4, d_head=10, scale=3.0)
    cases = [draw_args(rng), draw_args(rng, tokens=1), wide, draw_args(rng, rows=3, tokens=4)]
    far = draw_args(rng, d_head=2, apart=9_973)  # one pair, whose speed is 1: other angles would be rounded
    long, equal = draw_args(rng, rows=1, tokens=40), draw_args(rng, d_model=6, training=True)
    return [*cases, far, long, equal, draw_args(rng, tokens=4, d_head=34)]


def looking_back(rng):
    cases = [draw_args(rng, mask=looks_back), draw_args(rng, tokens=1, mask=looks_back), *in_padding(rng)]
    wide = draw_args(rng, rows=3, tokens=11, d_model=4, d_head=10, scale=3.0, mask=looks_back, training=True)
    silent = draw_args(rng, mask=looks_back)
    silent[0]["weights"]["query.weight"] *= 0  # every score is exactly 0
    return [*cases, wide, silent, draw_args(rng, mask=lambda tokens: some_keys(rng, tokens)), padded_sentences(rng)]


def some_keys(rng, tokens):
    """A mask that is no triangle; every token sees itself."""
    return (rng.random((tokens, tokens)) < 0.5) | np.eye(tokens, dtype=bool)


def padded_sentences(rng):
    """A mask of its own for every sentence: in the second the first two tokens are padding, which nobody sees."""
    mask = np.ones((2, 1, 5), dtype=bool)
    mask[1, 0, :2] = False
    return draw_args(rng, mask=lambda tokens: mask)


def in_padding(rng):
    """Positions that begin below 0, and positions in falling order: the mask decides who is seen."""
    for order in (1, -1):
        (plan,) = draw_args(rng, mask=looks_back)
        ((x, positions, mask),) = plan["calls"]
        yield ({**plan, "calls": [(x, (positions - positions[:, 2:3])[:, ::order].copy(), mask)]},)


gradients = varied(draw_args, {"gives": "gradients"}, {"gives": "gradients", "mask": looks_back})


def shifted_start(ask, rng):
    """Each row of the batch is moved by a number of its own, as by padding or by a text before it."""
    (plan,) = draw_args(rng, rows=3)
    x, positions = plan["calls"][0]
    later = positions + rng.choice(np.arange(20, 60), 3, replace=False)[:, None]
    one_moved = positions.copy()
    one_moved[:, 0] -= 2
    here, there, other = ask({**plan, "calls": [(x, positions), (x, later), (x, one_moved)]})
    if not np.allclose(here, there, atol=CLOSE * max(1.0, np.abs(here).max())):
        return "With all positions of a sentence moved by the same number its outputs must stay; yours change."
    if np.allclose(here[:, 1:], other[:, 1:], atol=CLOSE):
        return "The first token moved two positions away must change what the later ones get; yours do not see it."
    return None


in_the_past = partial(draw_args, mask=looks_back)


QUESTION = Question(
    id="head",
    title="A head that survives a shifted start",
    name="RotaryAttention",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("all tokens", 4, all_tokens, Reference, atol=CLOSE),
        equals("looking back", 3, looking_back, Reference, atol=CLOSE),
        equals("gradients", 1, gradients, Reference, atol=CLOSE),
        holds("a shifted start", 3, shifted_start),
        holds("later tokens", 1, causal(in_the_past, lambda rng: in_the_past(rng, rows=9, scale=1e3))),
        holds("rows", 1, rows_independent(draw_args)),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        holds("parameters", 1, parameter_count(draw_args, lambda d_model, d_head: 3 * d_model * d_head)),
        mask=later_tokens("looking back", in_the_past, scores="query.weight"),
    ),
    hints=(
        "Begin with your SelfAttention of chapter 3. Which two tensors have to be turned, and between which two steps?",
        "`positions` is B × N, so the `rotate` of question 4, which takes one row for all, does not fit as it is. The "
        "angles need one more axis, for the pairs: B × N × K/2. Where do you add it?",
        "Leave the values as they are. Test with two rows that stand at different positions: each must give what it "
        "gives alone.",
    ),
    section="rotary-positions",
    seconds=SECONDS,
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=("torch.nn.MultiheadAttention", "torch.nn.functional.scaled_dot_product_attention"),
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.query = nn.Linear(d_model, d_head, bias=False)
        self.key = nn.Linear(d_model, d_head, bias=False)
        self.value = nn.Linear(d_model, d_head, bias=False)

    def turn(self, x, positions):
        half = x.shape[-1] // 2
        angles = positions[..., None] * 10000.0 ** (-torch.arange(half) / half)
        cos, sin = angles.cos(), angles.sin()
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

    def forward(self, x, positions, mask=None):
        q, k, v = self.query(x), self.key(x), self.value(x)
        q, k = self.turn(q, positions), self.turn(k, positions)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        hidden = torch.tensor(False) if mask is None else ~mask
        return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v


@right
class ComplexPairs(nn.Module):
    """Counts from the first position of each row, which a rotation allows."""

    def __init__(self, d_model, d_head):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(d_model, d_head, False) for _ in range(3))
        self.register_buffer("rates", 1e4 ** (-torch.arange(0, d_head, 2) / d_head), persistent=False)

    def forward(self, x, positions, mask=None):
        angles = (positions - positions[:, :1])[:, :, None] * self.rates
        turn = torch.polar(torch.ones_like(angles), angles)
        q, k = (torch.complex(*part(x).chunk(2, -1)) * turn for part in (self.query, self.key))
        scores = (q @ k.mH).real / self.query.out_features**0.5
        if mask is not None:
            scores = torch.where(mask, scores, float("-inf"))
        return torch.softmax(scores, dim=2) @ self.value(x)


@right
class RowByRow(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        for name in ("query", "key", "value"):
            self.add_module(name, nn.Linear(d_model, d_head, bias=False))

    def forward(self, x, positions, mask=None):
        B, N, _ = x.shape
        seen = torch.ones(B, N, N, dtype=torch.bool) if mask is None else mask.expand(B, N, N)
        return torch.stack([self.one(*each) for each in zip(x, positions.tolist(), seen, strict=True)])

    def one(self, x, at, seen):
        q, k, v = self.query(x), self.key(x), self.value(x)
        half, found = q.shape[1] // 2, []
        for n, here in enumerate(at):
            angles = torch.tensor([[float(here - there)] for there in at])
            angles = angles / 10000 ** (torch.arange(half) / half)
            swapped = torch.cat([-q[n, half:], q[n, :half]])
            turned = q[n] * angles.cos().repeat(1, 2) + swapped * angles.sin().repeat(1, 2)
            scores = (turned * k).sum(1) / (2 * half) ** 0.5
            found.append(scores[seen[n]].softmax(0) @ v[seen[n]])
        return torch.stack(found)


@wrong("PyTorch's own attention does the work that is asked for.")
class Borrowed(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))

    def forward(self, x, positions, mask=None):
        def turn(x):
            a, b = x.chunk(2, -1)
            angles = positions[..., None] * 10000.0 ** (-torch.arange(a.shape[-1]) / a.shape[-1])
            return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)

        attend = nn.functional.scaled_dot_product_attention
        return attend(turn(self.query(x)), turn(self.key(x)), self.value(x), mask)


wrong.edits("""
# Plain
## rates_of_the_model: Your rates are those of the width of the model; what is turned has the width of the head.
- angles = positions[..., None] * 10000.0 ** (-torch.arange(half) / half)
+ angles = positions[..., None] * 10000.0 ** (-2 * torch.arange(half) / self.query.in_features)
- scores = q @ k.mT / q.shape[-1] ** 0.5
+ scores = q @ k.mT / x.shape[-1] ** 0.5
## forgetful [start-anywhere-leave-gaps]: You count 0, 1, 2, … or on from the first position, and the gaps between
positions are lost.
- angles = positions[..., None] * 10000.0 ** (-torch.arange(half) / half)
+ angles = torch.arange(x.shape[1])[:, None] * 10000.0 ** (-torch.arange(half) / half)
## positions_of_the_first_row [positions-on-the-wrong-axis]: The first sentence's positions serve all rows of the batch.
+ angles = positions[0][:, None] * 10000.0 ** (-torch.arange(half) / half)
## one_row_for_all: Your angles are made for one row of positions, as in question 4; here every sentence has its own,
and the angles are B × N × K/2.
+ angles = positions[:, None] * 10000.0 ** (-torch.arange(half) / half)
## nothing_turned: Your head turns nothing, or turns all tokens of a sentence alike: they do not know where they stand.
- q, k = self.turn(q, positions), self.turn(k, positions)
## keys_left: Your queries are turned and your keys are not, so a score knows the query's position and no distance.
+ q = self.turn(q, positions)
## queries_left: Your keys are turned and your queries are not, so a score knows the key's position and no distance.
+ k = self.turn(k, positions)
## values_turned_too [common-mistakes]: Your values are turned as well, so an output depends on where its sources stand.
+ q, k, v = self.turn(q, positions), self.turn(k, positions), self.turn(v, positions)
## opposite_ways: Queries and keys turn in opposite directions, and a score knows the sum of two positions.
+ q, k = self.turn(q, positions), self.turn(k, -positions)
## waves_on_top [sinusoids]: You add waves to queries and keys instead of turning them.
- return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
+ return x + torch.cat([sin, cos], dim=-1)
## minus_lost: Neither of your two lines has a minus; without one it is no rotation.
+ return torch.cat([a * cos + b * sin, b * cos + a * sin], dim=-1)
## neighbours_in_pairs: Your pairs are neighbours; here the two halves make pairs.
- a, b = x[..., :half], x[..., half:]
- return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
+ a, b = x[..., ::2], x[..., 1::2]
+ return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2)
## slow_too_fast: Your exponents grow half as fast as they should: i over the whole width instead of over half of it.
- angles = positions[..., None] * 10000.0 ** (-torch.arange(half) / half)
+ angles = positions[..., None] * 10000.0 ** (-torch.arange(half) / x.shape[-1])
## exponents_to_one: You divide the exponents by K/2 − 1, so that the last one is 1; divide by K/2.
+ angles = positions[..., None] * 10000.0 ** (-torch.arange(half) / max(half - 1, 1))
## turned_backwards: Your pairs turn backwards, as if your angles had the other sign.
- return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
+ return torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1)
## one_speed_for_all: All your pairs turn at one speed.
- angles = positions[..., None] * 10000.0 ** (-torch.arange(half) / half)
+ angles = positions[..., None] * torch.ones(half)
## mask_by_positions [the-mask-as-position-information]: Your mask compares positions; the one that is given decides.
- hidden = torch.tensor(False) if mask is None else ~mask
+ hidden = torch.tensor(False) if mask is None else positions[..., None, :] > positions[..., :, None]
## always_causal [the-mask-as-position-information]: You always hide what comes later; without a mask every token sees
all, and with one it says who may look.
+ hidden = torch.ones(x.shape[1], x.shape[1]).triu(1) == 1
## mask_turned_round [the-mask-as-position-information]: You hide where the mask is True; True means may look.
+ hidden = torch.tensor(False) if mask is None else mask
## mask_wanted: Your head fails without a mask, which may be left out: then every token sees all.
+ hidden = ~mask
## mask_on_its_side: Your mask lies on its side: its rows belong to the tokens that look.
+ hidden = torch.tensor(False) if mask is None else ~mask.mT
## one_mask_for_all: You take the first sentence's mask for all; a mask may have an axis for the batch.
+ hidden = torch.tensor(False) if mask is None else ~mask[:1] if mask.ndim > 2 else ~mask
## zero_scores_hidden: You hide every score that is 0; a token in sight may have that score, too.
- return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v
+ seen = scores.masked_fill(hidden, 0.0)
+ return seen.masked_fill(seen == 0, -torch.inf).softmax(-1) @ v
## mask_ignored [the-mask-as-position-information]: Your head does not look at the mask: tokens see what it hides.
- return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v
+ return scores.softmax(-1) @ v
## numbers_added [the-mask-as-position-information]: You add the mask to the scores; it is Boolean, and says who may
look.
+ return (scores if mask is None else scores + mask).softmax(-1) @ v
## root_forgotten: Your scores are not divided by the root of the width.
- scores = q @ k.mT / q.shape[-1] ** 0.5
+ scores = q @ k.mT
## root_of_the_model: Your scores are divided by the root of the model's width, not of the head's.
+ scores = q @ k.mT / x.shape[-1] ** 0.5
## softmax_over_queries: Your softmax runs over the queries, and the weights of a token do not sum to 1.
- return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v
+ return scores.masked_fill(hidden, -torch.inf).softmax(-2) @ v
## positions_without_sign: You drop the sign of positions; one below 0, as in padding, must turn the other way.
- angles = positions[..., None] * 10000.0 ** (-torch.arange(half) / half)
+ angles = positions.abs()[..., None] * 10000.0 ** (-torch.arange(half) / half)
## turned_before_the_maps: Where the two widths agree you turn the tokens before the maps, not the queries and keys.
- q, k = self.turn(q, positions), self.turn(k, positions)
+ alike = x.shape == q.shape
+ z = self.turn(x, positions) if alike else x
+ q, k = (self.query(z), self.key(z)) if alike else (self.turn(q, positions), self.turn(k, positions))
## one_sentence_alone: You drop the first axis of a batch of one sentence.
- return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v
+ return (scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v).squeeze(0)
## with_dropout: Your head drops weights in train() mode; no dropout is asked for here.
+ weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
+ return nn.functional.dropout(weights, 0.1, self.training) @ v
## mask_too_late [the-mask-as-position-information]: Hidden tokens stay in your denominator: mask before the softmax.
+ return scores.softmax(-1).masked_fill(hidden, 0.0) @ v
""")
