"""Exercise 08, question cache: causal attention that remembers its keys and values."""

import torch
from clearcheck import Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import parameter_count
from torch import nn

from .brought_modules import MultiHead
from .shared import A_MODULE, LARGE, attention


class Reference(MultiHead):
    """Everything is computed again; the outputs of the new tokens are the last ones."""

    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads, causal=True)
        self.seen = None

    def forward(self, x):
        self.seen = x if self.seen is None else torch.cat([self.seen, x], dim=1)
        return super().forward(self.seen)[:, -x.shape[1] :]


def draw_args(rng, *pieces, rows=2, d_model=12, n_heads=3, scale=1.0, **options):
    calls = [(scale * rng.normal(size=(rows, n, d_model)),) for n in pieces]
    weights = attention(rng, "", d_model)
    return module_call({"d_model": d_model, "n_heads": n_heads}, *calls, weights=weights, **options)


def at_once(rng):
    return [draw_args(rng, 5), draw_args(rng, 1), draw_args(rng, 7, rows=3, d_model=14, n_heads=2)]


def one_by_one(rng):
    other = draw_args(rng, 4, 1, 1, rows=3), draw_args(rng, 1, 1, 1, d_model=10, n_heads=1)
    return [draw_args(rng, 1, 1, 1, 1), *other, draw_args(rng, 1, 1, 1, rows=1, training=True)]


def in_pieces(rng):
    cases = [draw_args(rng, 3, 4, 2), draw_args(rng, 1, 5, 1, 2, d_model=20, n_heads=5), draw_args(rng, 3, 3)]
    (plan,) = draw_args(rng, 2)
    return [*cases, ({**plan, "calls": 3 * plan["calls"]},)]  # the same words again and again


def long_texts(rng):
    return [draw_args(rng, 90, 1, 40, 1, rows=1, d_model=6), draw_args(rng, 1100, 2, rows=1, d_model=4, n_heads=1)]


QUESTION = Question(
    id="cache",
    title="Stretch: attention that remembers",
    name="CachedMultiHead",
    minutes=30,
    difficulty=3,
    checks=with_battery(
        equals("all at once", 3, at_once, Reference),
        equals("token by token", 5, one_by_one, Reference),
        equals("in pieces", 5, in_pieces, Reference),
        equals("large scores", 1, lambda rng: [draw_args(rng, 3, 2, scale=30.0)], Reference, atol=LARGE),
        equals("long texts", 2, long_texts, Reference),
        holds(
            "parameters",
            1,
            parameter_count(lambda rng: draw_args(rng, 2), lambda d_model, n_heads: 4 * d_model**2 + 4 * d_model),
        ),
        mask=later_tokens("all at once", lambda rng: draw_args(rng, 5), scores="query.weight"),
        off={
            "boundary": "what is compared are the positions of tokens, of which every case has neighbours",
            "gradients": "what is kept serves to write, for which no gradients are needed",
            "called again": "the module goes on from what it has seen, and the other checks call it in pieces",
        },
    ),
    hints=(
        "What of an old token is needed again when a new one comes, and what is not? Keep it as attributes.",
        "New keys and values are put behind the old ones. Then the new queries look at all of them, and each new "
        "token at those of its own piece that stand before it.",
        "For P old tokens and N new ones the table of who may look has N rows and P + N columns. Draw it for P = 2, "
        "N = 3: the first columns are all True. `torch.ones(N, P + N).tril(P)` is close to what you drew.",
    ),
    section="what-breaks-it",
    **{**A_MODULE, "forbids": ()},  # whoever writes the table of who may look may hand it to PyTorch's own attention
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.n_heads, self.k, self.v = n_heads, None, None

    def forward(self, x):
        parts = self.query(x), self.key(x), self.value(x)
        q, k, v = (part.unflatten(2, (self.n_heads, -1)).transpose(1, 2) for part in parts)
        old = 0
        if self.k is not None:
            old = self.k.shape[2]
            k, v = torch.cat([self.k, k], dim=2), torch.cat([self.v, v], dim=2)
        self.k, self.v = k, v
        may_look = torch.ones(x.shape[1], k.shape[2]).tril(old)
        scores = (q @ k.mT / q.shape[3] ** 0.5).masked_fill(may_look == 0, -torch.inf)
        y = scores.softmax(3) @ v
        return self.out(y.transpose(1, 2).flatten(2))


@right
class PiecesInAList(MultiHead):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.kept = []

    def forward(self, x):
        new = []
        for n in range(x.shape[1]):
            token = x[:, n]
            self.kept.append((self.key(token), self.value(token)))
            keys, values = (
                torch.stack(rows, 1).unflatten(2, (self.n_heads, -1)) for rows in zip(*self.kept, strict=True)
            )
            q = self.query(token).unflatten(1, (self.n_heads, -1))
            shares = torch.einsum("bhk,bshk->bhs", q, keys).div(q.shape[2] ** 0.5).softmax(2)
            new.append(self.out(torch.einsum("bhs,bshk->bhk", shares, values).flatten(1)))
        return torch.stack(new, 1)


@right
class BeforeTheCut(MultiHead):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.register_buffer("both", torch.zeros(2, 1, 0, d_model), persistent=False)

    def forward(self, x):
        fresh = torch.stack([self.key(x), self.value(x)])
        self.both = torch.cat([self.both.expand(2, len(x), -1, -1), fresh], 2)
        P, places = self.both.shape[2] - x.shape[1], torch.arange(self.both.shape[2])
        outputs = []
        heads = zip(*(t.chunk(self.n_heads, -1) for t in (self.query(x), *self.both)), strict=True)
        for q, k, v in heads:
            table = torch.where(places <= places[P:, None], q @ k.mT * q.shape[-1] ** -0.5, -1e30)
            outputs.append(table.softmax(-1) @ v)
        return self.out(torch.cat(outputs, -1))


@right
class InATableAsLongAsNeeded(MultiHead):
    """PyTorch's own attention, and room that is doubled when it is full."""

    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.used, self.room = 0, None

    def forward(self, x):
        B, N, D = x.shape
        first, self.used = self.used, self.used + N
        if self.room is None:
            self.room = x.new_empty(2, B, 2 * N, D)
        while self.room.shape[2] < self.used:
            self.room = torch.cat([self.room, torch.empty_like(self.room)], dim=2)
        with torch.no_grad():
            self.room[:, :, first : self.used] = torch.stack([self.key(x), self.value(x)])
        parts = self.query(x), *self.room[:, :, : self.used]
        q, k, v = (part.unflatten(2, (self.n_heads, -1)).transpose(1, 2) for part in parts)
        seen = torch.arange(self.used) <= torch.arange(first, self.used)[:, None]
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)
        return self.out(y.transpose(1, 2).flatten(2))


wrong.edits("""
# Plain
## nothing_kept: The keys and values that came in are not kept: new tokens look only at each other.
- self.k, self.v = k, v
## mask_not_shifted: The triangle does not know of the old tokens: its first row sees only the oldest one.
- may_look = torch.ones(x.shape[1], k.shape[2]).tril(old)
+ may_look = torch.ones(x.shape[1], k.shape[2]).tril()
## not_itself: The triangle is one short: a new token does not see itself.
+ may_look = torch.ones(x.shape[1], k.shape[2]).tril(max(old - 1, 0))
## no_mask: There is no mask: with several new tokens at once, each sees those after it.
+ may_look = torch.ones(x.shape[1], k.shape[2])
## masked_only_at_first: The triangle is used for the first piece alone; later pieces of several tokens need one too.
+ may_look = torch.ones(x.shape[1], k.shape[2]).tril(k.shape[2] if old else 0)
## new_before_old: The new keys and values are put before the old ones.
- k, v = torch.cat([self.k, k], dim=2), torch.cat([self.v, v], dim=2)
+ k, v = torch.cat([k, self.k], dim=2), torch.cat([v, self.v], dim=2)
## only_the_new_kept: Only the newest piece is kept; the older ones are lost.
- old = 0
+ old, fresh = 0, (k, v)
- self.k, self.v = k, v
+ self.k, self.v = fresh
## only_the_first_kept: The first piece is kept and nothing after it.
- self.k, self.v = k, v
+ if old == 0:
+     self.k, self.v = k, v
## values_not_kept: Old keys are put before the new values: what is kept of a token is its key twice.
+ self.k, self.v = k, k
## queries_kept: You keep the queries in place of the keys.
+ self.k, self.v = torch.cat([k[:, :, :old], q], dim=2), v
## kept_twice: The new keys and values are put into the cache twice.
+ self.k, self.v = torch.cat([k, k[:, :, old:]], dim=2), torch.cat([v, v[:, :, old:]], dim=2)
## only_in_eval: Nothing is remembered in train() mode; a text may come in pieces there, too.
- if self.k is not None:
+ if self.k is not None and not self.training:
## forgets_at_a_prompt: A piece of several tokens makes you forget all before it.
+ if self.k is not None and x.shape[1] == 1:
## last_64: Only the last 64 tokens are kept; the outputs should be those of one pass over the whole text.
- self.k, self.v = k, v
+ self.k, self.v = k[:, :, -64:], v[:, :, -64:]
## room_for_128: There is room for 128 tokens, and a text may be longer.
+ self.k, self.v = k[:, :, :128], v[:, :, :128]
## as_long_as_the_last_piece: The triangle is moved by the length of the piece before, not by all old tokens.
- old = self.k.shape[2]
+ old = self.last
- self.k, self.v = k, v
+ self.k, self.v, self.last = k, v, x.shape[1]
## calls_counted: The triangle is moved by the number of calls; a call may bring several tokens.
- old = self.k.shape[2]
+ self.calls = old = getattr(self, "calls", 0) + 1
## cached_along_the_heads: The new keys and values are put beside the old ones as further heads, not as further tokens.
- k, v = torch.cat([self.k, k], dim=2), torch.cat([self.v, v], dim=2)
+ k, v = torch.cat([self.k, k], dim=1), torch.cat([self.v, v], dim=1)
## minus_a_hundred: You give what is hidden the score −100, but other scores can lie below it: take −∞.
- scores = (q @ k.mT / q.shape[3] ** 0.5).masked_fill(may_look == 0, -torch.inf)
+ scores = (q @ k.mT / q.shape[3] ** 0.5).masked_fill(may_look == 0, -100.0)
## exp_alone: You take the exponentials as they are; large scores overflow, so subtract the largest of a row first.
- y = scores.softmax(3) @ v
+ y = scores.exp() / scores.exp().sum(3, keepdim=True) @ v
## hidden_after_the_softmax [the-mask-goes-before-the-softmax]: The mask comes after the softmax, so the weights of a
token no longer sum to 1.
- scores = (q @ k.mT / q.shape[3] ** 0.5).masked_fill(may_look == 0, -torch.inf)
- y = scores.softmax(3) @ v
+ scores = q @ k.mT / q.shape[3] ** 0.5
+ y = (scores.softmax(3) * may_look) @ v
## only_itself_in_a_piece: A new token sees the old ones and itself, and not the tokens of its own piece before it.
- may_look = torch.ones(x.shape[1], k.shape[2]).tril(old)
+ may_look = torch.cat([torch.ones(x.shape[1], old), torch.eye(x.shape[1])], dim=1)
## unscaled: The scores are not divided by the root of the width of a head.
- scores = (q @ k.mT / q.shape[3] ** 0.5).masked_fill(may_look == 0, -torch.inf)
+ scores = (q @ k.mT).masked_fill(may_look == 0, -torch.inf)
## outputs_of_all: You return outputs for the old tokens as well; the new ones alone are asked for.
- return self.out(y.transpose(1, 2).flatten(2))
+ y = self.out(y.transpose(1, 2).flatten(2))
+ return torch.cat([y[:, :1].expand(-1, old, -1), y], dim=1)
""")
