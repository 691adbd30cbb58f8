"""Exercise 04, question layer: multi-head attention as a module."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import causal, gradients_everywhere, parameter_count, rows_independent
from torch import nn

MAPS = ("query", "key", "value", "out")


class Reference(nn.Module):
    def __init__(self, d_model, n_heads, causal=False):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(d_model, d_model) for _ in MAPS)
        self.n_heads, self.causal = n_heads, causal

    def forward(self, x):
        parts = (part(x).chunk(self.n_heads, dim=-1) for part in (self.query, self.key, self.value))
        outputs = []
        for q, k, v in zip(*parts, strict=True):
            scores = q @ k.mT / q.shape[-1] ** 0.5
            past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
            scores = scores.masked_fill(~past, -torch.inf) if self.causal else scores
            outputs.append(scores.softmax(-1) @ v)
        return self.out(torch.cat(outputs, dim=-1))


def draw_args(rng, rows=2, tokens=5, d_model=12, n_heads=3, looks_back=True, scale=1.0, **options):
    weights = {f"{name}.weight": rng.normal(size=(d_model, d_model)) / d_model**0.5 for name in MAPS}
    weights |= {f"{name}.bias": rng.normal(size=d_model) for name in MAPS}
    sizes = {"d_model": d_model, "n_heads": n_heads} | ({} if looks_back is None else {"causal": looks_back})
    return module_call(sizes, (scale * rng.normal(size=(rows, tokens, d_model)),), weights=weights, **options)


def all_tokens(rng):
    given = {}, {"tokens": 1}, {"rows": 3, "tokens": 11, "d_model": 14, "n_heads": 2, "training": True}
    alike, thin = {"rows": 3, "tokens": 3, "d_model": 9}, {"d_model": 5, "n_heads": 5}
    return [
        *(draw_args(rng, looks_back=False, **one) for one in (*given, alike, thin)),
        draw_args(rng, looks_back=None),
    ]


def large_scores(rng):
    return [draw_args(rng, looks_back=False, scale=30.0)]


def earlier_tokens(rng):
    one_head = {"rows": 1, "tokens": 7, "d_model": 10, "n_heads": 1, "training": True}
    given = {}, one_head, {"d_model": 20, "n_heads": 5, "scale": 10.0}, {"rows": 1, "tokens": 270, "d_model": 6}
    cases = [*(draw_args(rng, **one) for one in given), two_lengths(rng), far_below(rng), draw_args(rng)]
    cases[-1][0]["weights"] |= {"query.weight": np.zeros((12, 12)), "query.bias": np.zeros(12)}  # every score is 0
    return cases


def far_below(rng):
    """All scores are about −112: below a mask of −100, and near enough to 0 for a logarithm in float32."""
    (plan,) = draw_args(rng, d_model=8, n_heads=2)
    weights = {name: rng.integers(-1, 2, size=values.shape).astype(float) for name, values in plan["weights"].items()}
    for h in (0, 4):  # the first number of each head
        weights["query.bias"][h], weights["key.bias"][h], weights["key.weight"][h] = -224.0, 1.0, 0.0
    x = rng.integers(-2, 3, size=plan["calls"][0][0].shape).astype(float)
    return ({**plan, "calls": [(x,)], "weights": weights},)


def two_lengths(rng):
    """A short sequence, and a longer one by the same module."""
    (plan,) = draw_args(rng)
    ((x,),) = plan["calls"]
    return ({**plan, "calls": [(x[:, :3],), (x,)]},)


def gradients(rng):
    return [draw_args(rng, gives="gradients"), draw_args(rng, looks_back=False, gives="gradients")]


LARGE = 1e-3  # what float32 rounds in scores of some thousands moves the outputs by so much


def four_square_maps(d_model, n_heads, causal):
    return 4 * d_model**2 + 4 * d_model


QUESTION = Question(
    id="layer",
    title="The layer as a module",
    name="MultiHead",
    minutes=30,
    difficulty=2,
    checks=with_battery(
        equals("outputs", 5, all_tokens, Reference),
        equals("large scores", 1, large_scores, Reference, atol=LARGE),
        equals("causal outputs", 4, earlier_tokens, Reference),
        equals("gradients", 2, gradients, Reference),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        holds("looking back", 3, causal(draw_args, lambda rng: draw_args(rng, rows=9, scale=1e3))),
        holds("rows", 1, rows_independent(draw_args)),
        holds("parameters", 1, parameter_count(draw_args, four_square_maps)),
        mask=later_tokens("causal outputs", draw_args, scores="query.weight"),
        also=("causal outputs",),
    ),
    hints=(
        "The constructor makes four square maps and remembers two things. What it does with x is five steps: "
        "project, cut into heads, compare, average, join and project.",
        "After the cut the heads are an axis like the batch: one product makes the scores of all heads. Over "
        "which axis of B × H × N × N do the weights of one target sum to 1, and how wide is what a score sums over?",
        "The mask goes before the softmax: later positions get −∞. Joining begins by undoing the last step of the cut.",
    ),
    section="the-whole-layer",
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=(
        "torch.nn.MultiheadAttention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.functional.scaled_dot_product_attention",
        "torch._native_multi_head_attention",
    ),
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, d_model, n_heads, causal=False):
        super().__init__()
        self.H, self.masked = n_heads, causal
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x):
        B, N, D = x.shape
        cut = (B, N, self.H, D // self.H)
        q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.key, self.value))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if self.masked:
            mask = torch.tril(torch.ones(N, N))
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        y = weights @ v
        y = y.transpose(1, 2).reshape(B, N, D)
        return self.out(y)


@right
class HeadAfterHead(nn.Module):
    def __init__(self, d_model, n_heads, causal=False):
        super().__init__()
        for name in ("query", "key", "value", "out"):
            self.add_module(name, nn.Linear(d_model, d_model))
        self.width, self.masked = d_model // n_heads, causal

    def forward(self, x):
        found = []
        parts = (each(x).split(self.width, -1) for each in (self.query, self.key, self.value))
        for q, k, v in zip(*parts, strict=True):
            scores = torch.einsum("bnk,bsk->bns", q, k) * self.width**-0.5
            if self.masked:
                scores = scores + torch.full_like(scores[0], -torch.inf).triu(1)
            found.append(scores.softmax(dim=2) @ v)
        return self.out(torch.cat(found, 2))


@right
class WithLetters(nn.Module):
    def __init__(self, d_model, n_heads, causal=False):
        super().__init__()
        self.out, self.value, self.key, self.query = (nn.Linear(d_model, d_model) for _ in range(4))
        self.heads, self.masked = n_heads, causal

    def forward(self, x):
        q, k, v = (part(x).unflatten(2, (self.heads, -1)) for part in (self.query, self.key, self.value))
        scores = torch.einsum("bnhk,bshk->bhns", q, k) / torch.tensor(q.shape[-1]).sqrt()
        if self.masked:
            N = x.shape[1]
            scores = scores.where(torch.arange(N)[:, None] >= torch.arange(N), torch.tensor(-1e30))
        A = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        A = A / A.sum(dim=-1, keepdim=True)
        return self.out(torch.einsum("bhns,bshk->bnhk", A, v).flatten(2))


@wrong("PyTorch's own attention does the work that is asked for.")
class Borrowed(nn.Module):
    def __init__(self, d_model, n_heads, causal=False):
        super().__init__()
        self.H, self.masked = n_heads, causal
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x):
        q, k, v = (part(x).unflatten(-1, (self.H, -1)).transpose(1, 2) for part in (self.query, self.key, self.value))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.masked)
        return self.out(y.transpose(1, 2).flatten(2))


wrong.edits("""
# Plain
## split_by_view [the-mistake-that-keeps-every-shape]: You cut by pouring the numbers into the new shape: a head gets
pieces of other tokens, later ones among them.
- cut = (B, N, self.H, D // self.H)
- q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.key, self.value))
+ cut = (B, self.H, N, D // self.H)
+ q, k, v = (part(x).view(cut) for part in (self.query, self.key, self.value))
## join_by_reshape [the-mistake-that-keeps-every-shape]: You join without exchanging axes first: a token gets pieces of
other tokens, later ones among them.
- y = y.transpose(1, 2).reshape(B, N, D)
+ y = y.reshape(B, N, D)
## both_by_view [the-mistake-that-keeps-every-shape]: You cut and join in the order of memory: your heads are stretches
of the sequence that never look at each other.
- cut = (B, N, self.H, D // self.H)
- q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.key, self.value))
+ cut = (B, self.H, N, D // self.H)
+ q, k, v = (part(x).view(cut) for part in (self.query, self.key, self.value))
- y = y.transpose(1, 2).reshape(B, N, D)
+ y = y.reshape(B, N, D)
## heads_attend_to_heads [the-reshape-trick]: You never exchange tokens and heads: in each token heads look at heads.
- q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.key, self.value))
+ q, k, v = (part(x).reshape(cut) for part in (self.query, self.key, self.value))
- y = y.transpose(1, 2).reshape(B, N, D)
+ y = y.reshape(B, N, D)
## interleaved [the-reshape-trick]: Your heads take and give back every H-th feature; each owns K neighbouring ones.
- q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.key, self.value))
+ q, k, v = (part(x).reshape(B, N, -1, self.H).permute(0, 3, 1, 2) for part in (self.query, self.key, self.value))
- y = y.transpose(1, 2).reshape(B, N, D)
+ y = y.permute(0, 2, 3, 1).reshape(B, N, D)
## joined_interleaved [the-reshape-trick]: You join the heads in turns, a number of each; put whole heads side by side.
- y = y.transpose(1, 2).reshape(B, N, D)
+ y = y.permute(0, 2, 3, 1).reshape(B, N, D)
## every_h_th_feature [the-reshape-trick]: Your heads take every H-th feature; give each K neighbouring ones.
- cut = (B, N, self.H, D // self.H)
- q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.key, self.value))
+ cut = (B, N, D // self.H, self.H)
+ q, k, v = (part(x).reshape(cut).permute(0, 3, 1, 2) for part in (self.query, self.key, self.value))
## root_of_model_width [common-mistakes]: You take the root of a token's width; a score sums over a head's width.
- scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
+ scores = q @ k.transpose(-2, -1) / D**0.5
## root_of_the_heads [common-mistakes]: You take the root of the number of heads; a score sums over a head's width.
+ scores = q @ k.transpose(-2, -1) / self.H**0.5
## unscaled [several-heads-at-once]: The scores are not divided by the root of the width of a head.
+ scores = q @ k.transpose(-2, -1)
## keys_ask [several-heads-at-once]: Queries and keys have swapped places: in rows the query is on the row.
+ scores = k @ q.transpose(-2, -1) / q.shape[-1] ** 0.5
## over_queries [several-heads-at-once]: Your softmax runs over queries; the last axis holds the sources.
- weights = torch.softmax(scores, dim=-1)
+ weights = torch.softmax(scores, dim=-2).nan_to_num()
## over_heads [common-mistakes]: The softmax runs over the heads, which do not compete.
+ weights = torch.softmax(scores, dim=1).nan_to_num()
## weights_averaged [several-heads-at-once]: You average the weights of the heads; every head needs its own.
+ weights = torch.softmax(scores, dim=-1).mean(dim=1, keepdim=True)
## looks_ahead: With `causal` a token must not look at later ones; your mask is missing.
- scores = scores.masked_fill(mask == 0, float("-inf"))
+ scores = scores + 0 * mask
## mask_always: You mask always; without `causal` every token may look at every token.
- if self.masked:
-     mask = torch.tril(torch.ones(N, N))
-     scores = scores.masked_fill(mask == 0, float("-inf"))
+ mask = torch.tril(torch.ones(N, N))
+ scores = scores.masked_fill(mask == 0, float("-inf"))
## masked_by_default: Your module masks where nothing is said about it; without `causal` every token may look at every
token.
- def __init__(self, d_model, n_heads, causal=False):
+ def __init__(self, d_model, n_heads, causal=True):
## weights_dropped: Dropout acts on your weights in training; the task has none.
- weights = torch.softmax(scores, dim=-1)
+ weights = nn.functional.dropout(torch.softmax(scores, dim=-1), 0.1, self.training)
## hundred_for_infinity: You give later tokens the score −100, but a score can lie below it: take −∞.
- scores = scores.masked_fill(mask == 0, float("-inf"))
+ scores = scores.masked_fill(mask == 0, -100.0)
## zero_scores_hidden: You hide every score that is 0; a token in sight may have that score, too.
+ scores = (scores * mask).masked_fill(scores * mask == 0, float("-inf"))
## masked_to_zero: You give later tokens the score 0, whose exponential is 1; take −∞.
+ scores = scores * mask
## never_mixed [concatenate-then-project]: You join and stop: the output map is never used.
- return self.out(y)
+ return y
## no_biases [what-heads-cost]: Your output map has no bias; here all four maps have one.
- self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
+ self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model, bias=False)
## one_map_for_both: Your queries and keys share one map.
- q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.key, self.value))
+ q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.query, self.value))
## keys_and_values_exchanged: You compare with the values and hand over the keys.
- q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.key, self.value))
+ q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.value, self.key))
## weights_as_well: You return the weights together with the outputs; here the outputs alone are asked for.
- return self.out(y)
+ return self.out(y), weights
## mask_too_late: Your mask comes after the softmax: later tokens still stand in the denominator.
- weights = torch.softmax(scores, dim=-1)
+ weights = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1) * (mask if self.masked else 1)
## one_ahead: Your mask is one too wide: each token sees the next one.
- mask = torch.tril(torch.ones(N, N))
+ mask = torch.tril(torch.ones(N, N), 1)
## itself_hidden: Your mask hides a token from itself, and nothing is left for the first one, which becomes nan.
+ mask = torch.tril(torch.ones(N, N), -1)
## mask_turned: Your mask is turned round: a token sees itself and later ones.
+ mask = torch.triu(torch.ones(N, N))
""")
