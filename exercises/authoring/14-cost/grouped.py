"""Exercise 14, question grouped: grouped queries with a cache."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import gradients_everywhere, keeps, parameter_count
from torch import nn

WIDTH = 3
LARGE = 1e-3  # tolerance where scores are in the hundreds: they are rounded, and so are their exponentials


class Reference(nn.Module):
    """Keys and values of the groups are kept, and copied for the heads in each call."""

    def __init__(self, d_model, n_heads, n_groups):
        super().__init__()
        shared = d_model // n_heads * n_groups
        self.n_heads, self.n_groups, self.kept = n_heads, n_groups, []
        self.query, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.key, self.value = nn.Linear(d_model, shared), nn.Linear(d_model, shared)

    def forward(self, x):
        self.kept.append((self.key(x), self.value(x)))
        k, v = (torch.cat(pieces, dim=1).unflatten(2, (self.n_groups, -1)) for pieces in zip(*self.kept, strict=True))
        k, v = (t.repeat_interleave(self.n_heads // self.n_groups, dim=2) for t in (k, v))
        q = self.query(x).unflatten(2, (self.n_heads, -1))
        scores = torch.einsum("bnhk,bshk->bhns", q, k) / q.shape[3] ** 0.5
        n, s = scores.shape[2:]
        scores = scores.masked_fill(~torch.ones(n, s, dtype=torch.bool).tril(s - n), -torch.inf)
        return self.out(torch.einsum("bhns,bshk->bnhk", scores.softmax(-1), v).flatten(2))


def linear(rng, name, d_in, d_out):
    return {f"{name}.weight": rng.normal(size=(d_out, d_in)) / d_in**0.5, f"{name}.bias": rng.normal(size=d_out)}


def draw_args(rng, *pieces, rows=2, width=WIDTH, n_groups=2, share=3, scale=1.0, **options):
    n_heads = n_groups * share
    d_model = n_heads * width
    calls = [(scale * rng.normal(size=(rows, n, d_model)),) for n in pieces]
    weights = linear(rng, "query", d_model, d_model) | linear(rng, "out", d_model, d_model)
    weights |= linear(rng, "key", d_model, n_groups * width) | linear(rng, "value", d_model, n_groups * width)
    return module_call(
        {"d_model": d_model, "n_heads": n_heads, "n_groups": n_groups}, *calls, weights=weights, **options
    )


def prefill(rng):
    other = (
        draw_args(rng, 1),
        draw_args(rng, 7, rows=3, width=5, n_groups=3, share=2),
        draw_args(rng, 6, rows=6, n_groups=1),
    )
    return [draw_args(rng, 5), *other]


def decode(rng):
    """In the last one more than eight heads, each with a group of its own."""
    return [
        draw_args(rng, 4, 1, 1, 1, rows=3),
        draw_args(rng, 1, 1, 1, 1, n_groups=3, share=2),
        draw_args(rng, 5, 1, 1, n_groups=1, share=4, rows=1),
        draw_args(rng, 3, 1, 1, n_groups=4, share=1, training=True),
        draw_args(rng, 3, 1, rows=1, width=2, n_groups=13, share=1),
    ]


def in_pieces(rng):
    return [
        draw_args(rng, 3, 4, 2),
        draw_args(rng, 1, 5, 1, 2, n_groups=3, share=2, width=4),
        draw_args(rng, 3, 3, rows=3),
    ]


def strong_scores(rng):
    return [draw_args(rng, 4, 2, 1, scale=20.0)]


def count(d_model, n_heads, n_groups):
    shared = d_model // n_heads * n_groups
    return 2 * (d_model + 1) * (d_model + shared)


def long_texts(rng):
    return [draw_args(rng, 70, 1, 80, 1, rows=1, width=2, share=2)]


def token_by_token(rng, n):
    return draw_args(rng, *n * [1], rows=1, share=8)


def keys_and_values(d_model, n_heads, n_groups):
    return 2 * n_groups * d_model // n_heads


def little_kept(ask, rng):
    """Once with a text token by token, once with all but two at once, where a cache may have twice the room; a layer's
    inputs would be four times as much.
    """
    (plan,) = draw_args(rng, 3)
    if not np.allclose(ask(plan), ask(plan), rtol=0, atol=1e-4):
        return "What one instance has seen, the next one remembers: keep it in `self`, set in `__init__`."
    if slip := keeps(token_by_token, keys_and_values, "the keys and values of the groups")(ask, rng):
        return slip
    short, long = (draw_args(rng, n - 2, 1, 1, rows=1, share=8)[0] for n in (32, 64))
    grown = (ask({**long, "gives": "kept"}) - ask({**short, "gives": "kept"})) / 32
    enough = keys_and_values(**short["sizes"])
    if grown <= 2.5 * enough:
        return None
    return f"For each token of a prompt your module keeps {grown:.4g} numbers; {enough} are enough: keys and values."


QUESTION = Question(
    id="grouped",
    title="Grouped queries with a cache",
    name="GroupedAttention",
    minutes=30,
    difficulty=3,
    checks=with_battery(
        equals("prefill", 4, prefill, Reference),
        equals("decode", 5, decode, Reference),
        equals("in pieces", 3, in_pieces, Reference),
        holds("kept", 1, little_kept),
        equals("strong scores", 1, strong_scores, Reference, atol=LARGE),
        equals("long texts", 1, long_texts, Reference),
        equals("gradients", 1, lambda rng: [draw_args(rng, 5, gives="gradients", training=True)], Reference),
        holds("every parameter", 1, gradients_everywhere(lambda rng: draw_args(rng, 5, training=True))),
        holds("parameters", 1, parameter_count(lambda rng: draw_args(rng, 2), count)),
        mask=later_tokens("strong scores", lambda rng: draw_args(rng, 5, scale=10.0), scores="query.weight"),
        off={"gradients": "in eval() mode an answer may do without gradients; those in train() mode have checks"},
    ),
    hints=(
        "Get the first call right, without a cache. How wide are the keys of one token, and into how many pieces of "
        "what width are they cut?",
        "Head h belongs to group h // (H / G). Give the queries two axes, groups and heads in a group, and the keys "
        "one more axis of length 1, so that nothing is copied.",
        "Keep keys and values as G groups, put the new ones behind the old ones along the tokens, and let the table of "
        "who may look have N rows and P + N columns: `torch.ones(N, P + N).tril(P)`.",
    ),
    section="keys-fetched-once-grouped-queries",
    seconds=20.0,
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=("torch.nn.MultiheadAttention", "torch.nn.functional.multi_head_attention_forward"),
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, d_model, n_heads, n_groups):
        super().__init__()
        self.n_heads, self.n_groups = n_heads, n_groups
        width = d_model // n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, n_groups * width)
        self.value = nn.Linear(d_model, n_groups * width)
        self.out = nn.Linear(d_model, d_model)
        self.kept = None

    def forward(self, x):
        q = self.query(x).unflatten(2, (self.n_heads, -1)).transpose(1, 2)
        k = self.key(x).unflatten(2, (self.n_groups, -1)).transpose(1, 2)
        v = self.value(x).unflatten(2, (self.n_groups, -1)).transpose(1, 2)
        old = 0
        if self.kept is not None:
            old = self.kept[0].shape[2]
            k, v = torch.cat([self.kept[0], k], dim=2), torch.cat([self.kept[1], v], dim=2)
        self.kept = k, v
        share = self.n_heads // self.n_groups
        k, v = k.repeat_interleave(share, dim=1), v.repeat_interleave(share, dim=1)
        may_look = torch.ones(x.shape[1], k.shape[2]).tril(old)
        scores = (q @ k.mT / q.shape[3] ** 0.5).masked_fill(may_look == 0, -torch.inf)
        y = scores.softmax(3) @ v
        return self.out(y.transpose(1, 2).flatten(2))


@right
class RowsOfOneProduct(nn.Module):
    """The heads of a group, and all new tokens, are rows of one product with its keys; a full cache gets more room."""

    def __init__(self, d_model, n_heads, n_groups):
        super().__init__()
        self.sizes = n_groups, n_heads // n_groups, d_model // n_heads
        self.query, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, n_groups * self.sizes[2])
        self.value = nn.Linear(d_model, n_groups * self.sizes[2])
        self.room, self.length = None, 0

    def forward(self, x):
        G, share, K = self.sizes
        B, N, D = x.shape
        S, past = self.length + N, self.length
        if self.room is None or self.room.shape[3] < S:
            full, self.room = self.room, x.new_zeros(2, B, G, 2 * S, K)
            if full is not None:
                self.room[:, :, :, :past] = full[:, :, :, :past]
        fresh = torch.stack([self.key(x), self.value(x)]).view(2, B, N, G, K)
        self.room[:, :, :, past:S], self.length = fresh.transpose(2, 3), S
        keys, values = self.room[:, :, :, :S]
        q = self.query(x).view(B, N, G, share, K).permute(0, 2, 3, 1, 4).reshape(B, G, share * N, K)
        scores = (q @ keys.transpose(2, 3) * K**-0.5).view(B, G, share, N, S)
        seen = torch.arange(S) <= torch.arange(S - N, S)[:, None]
        weights = torch.where(seen, scores, -1e30).softmax(-1).view(B, G, share * N, S)
        y = (weights @ values).view(B, G, share, N, K).permute(0, 3, 1, 2, 4)
        return self.out(y.reshape(B, N, D))


@right
class Fused(nn.Module):
    """PyTorch's own attention, head by head."""

    def __init__(self, d_model, n_heads, n_groups):
        super().__init__()
        width = d_model // n_heads
        self.n_heads, self.n_groups, self.width = n_heads, n_groups, width
        self.query, self.key, self.value, self.out = (
            nn.Linear(d_model, size) for size in (d_model, n_groups * width, n_groups * width, d_model)
        )
        self.cache = []

    def forward(self, x):
        self.cache.append((self.key(x), self.value(x)))
        k, v = (torch.cat(pieces, dim=1).split(self.width, dim=2) for pieces in zip(*self.cache, strict=True))
        places = torch.arange(k[0].shape[1])
        seen = places <= places[-x.shape[1] :, None]
        outputs = []
        for h, q in enumerate(self.query(x).split(self.width, dim=2)):
            g = h * self.n_groups // self.n_heads
            outputs.append(nn.functional.scaled_dot_product_attention(q, k[g], v[g], attn_mask=seen))
        return self.out(torch.cat(outputs, dim=2))


wrong.edits("""
# Plain
## ten_thousand_for_infinity: Your hidden scores are −10 000, and a score in sight can lie below that: take −∞.
- scores = (q @ k.mT / q.shape[3] ** 0.5).masked_fill(may_look == 0, -torch.inf)
+ scores = (q @ k.mT / q.shape[3] ** 0.5).masked_fill(may_look == 0, -1e4)
## ten_thousand_taken_off: You take 10 000 off the hidden scores; one in sight can be lower by more than that.
+ scores = q @ k.mT / q.shape[3] ** 0.5 - 1e4 * (may_look == 0)
## million_taken_off: You take a million off the hidden scores, and not −∞: what is hidden can still win.
+ scores = q @ k.mT / q.shape[3] ** 0.5 - 1e6 * (may_look == 0)
## all_old_states_kept: You keep the caches of all earlier calls beside the newest: what is kept grows with the square
of the number of calls.
- self.kept = k, v
+ self.kept = k, v, *(self.kept or ())
## prompt_kept_besides: You keep the tokens of the first call beside their keys and values.
- self.kept = k, v
+ self.kept, self.prompt = (k, v), getattr(self, "prompt", x)
## groups_in_turn: Your head h takes group h mod G; it should take h // (H / G).
- k, v = k.repeat_interleave(share, dim=1), v.repeat_interleave(share, dim=1)
+ k, v = k.repeat(1, share, 1, 1), v.repeat(1, share, 1, 1)
## first_group_for_all: All heads look at the first group.
+ k, v = k[:, :1].expand(-1, self.n_heads, -1, -1), v[:, :1].expand(-1, self.n_heads, -1, -1)
## values_in_turn: Keys and values of a head come from two different groups.
+ k, v = k.repeat_interleave(share, dim=1), v.repeat(1, share, 1, 1)
## groups_averaged: You average the groups; each has its own keys and values.
- share = self.n_heads // self.n_groups
+ share = self.n_heads
- k, v = k.repeat_interleave(share, dim=1), v.repeat_interleave(share, dim=1)
+ k, v = (t.mean(1, keepdim=True).expand(-1, share, -1, -1) for t in (k, v))
## cut_the_wrong_way: The numbers of a token are cut into pieces as wide as a head, one after the other; yours are dealt
out in turn.
- k = self.key(x).unflatten(2, (self.n_groups, -1)).transpose(1, 2)
+ k = self.key(x).unflatten(2, (-1, self.n_groups)).permute(0, 3, 1, 2)
## heads_viewed: A reshape is no transpose: tokens and heads are mixed in your queries, keys and values.
- q = self.query(x).unflatten(2, (self.n_heads, -1)).transpose(1, 2)
- k = self.key(x).unflatten(2, (self.n_groups, -1)).transpose(1, 2)
- v = self.value(x).unflatten(2, (self.n_groups, -1)).transpose(1, 2)
+ q = self.query(x).view(len(x), self.n_heads, x.shape[1], -1)
+ k = self.key(x).view(len(x), self.n_groups, x.shape[1], -1)
+ v = self.value(x).view(len(x), self.n_groups, x.shape[1], -1)
## nothing_kept: Keys and values are not kept: new tokens look only at each other.
- self.kept = k, v
## only_the_new_kept: Only the newest piece is kept; the older ones are lost.
- old = 0
+ old, fresh = 0, (k, v)
- self.kept = k, v
+ self.kept = fresh
## only_the_prompt_kept: The first piece is kept and nothing after it.
- self.kept = k, v
+ if old == 0:
+     self.kept = k, v
## keys_kept_twice: What is kept of a token is its key, twice; the values are lost.
+ self.kept = k, k
## new_before_old: The new keys and values are put before the old ones.
- k, v = torch.cat([self.kept[0], k], dim=2), torch.cat([self.kept[1], v], dim=2)
+ k, v = torch.cat([k, self.kept[0]], dim=2), torch.cat([v, self.kept[1]], dim=2)
## forgets_at_a_prompt: A piece of several tokens makes you forget all before it.
- if self.kept is not None:
+ if self.kept is not None and x.shape[1] == 1:
## only_in_eval: Nothing is remembered in train() mode; a text may come in pieces there, too.
+ if self.kept is not None and not self.training:
## kept_in_the_class: What one instance has seen, the next one remembers: keep it in `self`, set in `__init__`.
- self.kept = None
+ type(self).kept = getattr(type(self), "kept", None)
- self.kept = k, v
+ type(self).kept = k, v
## room_for_100: There is room for 100 tokens, and a text may be longer.
- self.kept = k, v
+ self.kept = k[:, :, :100], v[:, :, :100]
## no_mask: There is no mask: with several new tokens at once, each sees those after it.
- may_look = torch.ones(x.shape[1], k.shape[2]).tril(old)
+ may_look = torch.ones(x.shape[1], k.shape[2])
## mask_not_shifted: The triangle, or `is_causal`, does not know of the old tokens: its first row sees only the oldest.
+ may_look = torch.ones(x.shape[1], k.shape[2]).tril()
## not_itself: The triangle is one short: a new token does not see itself.
+ may_look = torch.ones(x.shape[1], k.shape[2]).tril(max(old - 1, 0))
## calls_counted: The triangle is moved by the number of calls; a call may bring several tokens.
- old = self.kept[0].shape[2]
+ self.calls = old = getattr(self, "calls", 0) + 1
## unscaled: The scores are not divided by the root of the width of a head.
- scores = (q @ k.mT / q.shape[3] ** 0.5).masked_fill(may_look == 0, -torch.inf)
+ scores = (q @ k.mT).masked_fill(may_look == 0, -torch.inf)
## scaled_by_the_model: The scores are divided by the root of D; a key has D / H numbers.
+ scores = (q @ k.mT / x.shape[2] ** 0.5).masked_fill(may_look == 0, -torch.inf)
## exp_alone [one-pass-is-enough-the-online-softmax]: You take the exponentials as they are; large scores overflow, so
subtract the largest of a row first.
- y = scores.softmax(3) @ v
+ y = scores.exp() / scores.exp().sum(3, keepdim=True) @ v
## softmax_over_targets: Your weights sum to 1 over the targets; they should over the sources.
+ y = scores.softmax(2).nan_to_num() @ v
## heads_not_put_back: The heads of a token do not come side by side: the axes are flattened in another order.
- return self.out(y.transpose(1, 2).flatten(2))
+ return self.out(y.reshape(x.shape))
## no_last_map: The last map, `out`, is not applied.
+ return y.transpose(1, 2).flatten(2)
## later_pieces_unmasked: Your mask is there for the first piece only; in a later one, too, a token must not look ahead.
- may_look = torch.ones(x.shape[1], k.shape[2]).tril(old)
+ may_look = torch.ones(x.shape[1], k.shape[2]).tril(k.shape[2] if old else 0)
## one_ahead: The triangle is one too wide: a new token sees the one after it.
+ may_look = torch.ones(x.shape[1], k.shape[2]).tril(old + 1)
""")
