"""Exercise 16, question latent: latent attention that keeps its own cache, in PyTorch."""

import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import keeps, parameter_count
from torch import nn


class LatentAttention(nn.Module):
    """All keys and values are made again from the latent vectors and shared keys that were kept."""

    def __init__(self, d_model, n_heads, d_latent, d_shared):
        super().__init__()
        self.heads, width = n_heads, d_model // n_heads
        self.query = nn.Linear(d_model, n_heads * (width + d_shared), bias=False)
        self.latent = nn.Linear(d_model, d_latent, bias=False)
        self.shared = nn.Linear(d_model, d_shared, bias=False)
        self.key = nn.Linear(d_latent, d_model, bias=False)
        self.value = nn.Linear(d_latent, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.kept = []

    def forward(self, x):
        self.kept.append((self.latent(x), self.shared(x)))
        c, common = (torch.cat(pieces, dim=1) for pieces in zip(*self.kept, strict=True))
        q = self.query(x).unflatten(2, (self.heads, -1))
        k, v = (part(c).unflatten(2, (self.heads, -1)) for part in (self.key, self.value))
        common = common[:, :, None].expand(-1, -1, self.heads, -1)
        scores = torch.einsum("bnhk,bshk->bhns", q, torch.cat([k, common], dim=3)) / q.shape[3] ** 0.5
        n, s = scores.shape[2:]
        later = torch.ones(n, s, dtype=torch.bool).triu(1 + s - n)
        A = scores.masked_fill(later, -torch.inf).softmax(3)
        return self.out(torch.einsum("bhns,bshk->bnhk", A, v).flatten(2))


def draw_args(rng, *pieces, rows=2, d_model=12, n_heads=3, d_latent=5, d_shared=2, scale=1.0, **options):
    sizes = {"d_model": d_model, "n_heads": n_heads, "d_latent": d_latent, "d_shared": d_shared}
    calls = [(scale * rng.normal(size=(rows, n, d_model)),) for n in pieces]
    shapes = {
        "query": (d_model + n_heads * d_shared, d_model),
        "latent": (d_latent, d_model),
        "shared": (d_shared, d_model),
        "key": (d_model, d_latent),
        "value": (d_model, d_latent),
        "out": (d_model, d_model),
    }
    weights = {f"{name}.weight": rng.normal(size=shape) / shape[1] ** 0.5 for name, shape in shapes.items()}
    return module_call(sizes, *calls, weights=weights, **options)


def at_once(rng):
    return [
        draw_args(rng, 5),
        draw_args(rng, 1),
        draw_args(rng, 7, rows=3, d_model=14, n_heads=2, d_latent=3, d_shared=4),
    ]


def one_by_one(rng):
    """In train() mode, too: a mode is no reason to forget."""
    in_training, one_head = draw_args(rng, 3, 1, 1, training=True), draw_args(rng, 1, 1, 1, d_model=10, n_heads=1)
    return [draw_args(rng, 1, 1, 1, 1), draw_args(rng, 4, 1, 1, rows=3), one_head, in_training]


def in_pieces(rng):
    """In the last one a long text."""
    long = draw_args(rng, 70, 1, 80, 1, rows=1, d_model=4, n_heads=2, d_latent=3, d_shared=1)
    return [
        draw_args(rng, 3, 4, 2),
        draw_args(rng, 1, 5, 2, d_model=20, n_heads=5, d_latent=7),
        draw_args(rng, 3, 3),
        long,
    ]


def gradients(rng):
    return [draw_args(rng, 5, gives="gradients")]


def count(d_model, n_heads, d_latent, d_shared):
    return d_model * (2 * d_model + n_heads * d_shared + 3 * d_latent + d_shared)


def one_text(rng, n):
    return draw_args(rng, *n * [1], rows=1, d_model=24, d_latent=2, d_shared=5)


little_kept = keeps(one_text, lambda d_latent, d_shared, **_: d_latent + d_shared, "a latent vector and a shared key")
QUESTION = Question(
    id="latent",
    title="Latent attention with a cache of its own, in PyTorch",
    name="LatentAttention",
    minutes=22,
    difficulty=2,
    checks=with_battery(
        equals("all at once", 5, at_once, LatentAttention),
        equals("token by token", 4, one_by_one, LatentAttention),
        equals("in pieces", 3, in_pieces, LatentAttention),
        holds("kept", 1, little_kept),
        equals("large scores", 1, lambda rng: [draw_args(rng, 3, 2, scale=20.0)], LatentAttention, atol=1e-3),
        equals("gradients", 2, gradients, LatentAttention),
        holds("parameters", 2, parameter_count(lambda rng: draw_args(rng, 2), count)),
        mask=later_tokens("large scores", lambda rng: draw_args(rng, 5, scale=10.0), scores="query.weight"),
    ),
    hints=(
        "What is computed from a token alone and needed again later? Two short vectors. The rest can be made from "
        "them.",
        "The shared key is the same for all heads, so a score of head h is one product over K features of the head and "
        "one over the shared features, added, then divided by a root.",
        "With P old tokens and N new ones the table of who may look has N rows and P + N columns: "
        "`torch.ones(N, P + N).tril(P)`.",
    ),
    section="a-smaller-cache-latent-attention",
    seconds=20.0,
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=("torch.nn.MultiheadAttention",),
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_shared):
        super().__init__()
        self.n_heads, self.d_head, self.d_shared = n_heads, d_model // n_heads, d_shared
        self.query = nn.Linear(d_model, n_heads * (self.d_head + d_shared), bias=False)
        self.latent = nn.Linear(d_model, d_latent, bias=False)
        self.shared = nn.Linear(d_model, d_shared, bias=False)
        self.key = nn.Linear(d_latent, d_model, bias=False)
        self.value = nn.Linear(d_latent, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.c = self.s = None

    def forward(self, x):
        c, s = self.latent(x), self.shared(x)
        old = 0
        if self.c is not None:
            old = self.c.shape[1]
            c, s = torch.cat([self.c, c], dim=1), torch.cat([self.s, s], dim=1)
        self.c, self.s = c, s
        q = self.query(x).unflatten(2, (self.n_heads, -1)).transpose(1, 2)
        k = self.key(c).unflatten(2, (self.n_heads, -1)).transpose(1, 2)
        v = self.value(c).unflatten(2, (self.n_heads, -1)).transpose(1, 2)
        own, common = q.split([self.d_head, self.d_shared], dim=3)
        scores = own @ k.mT + common @ s[:, None].mT
        scores = scores / (self.d_head + self.d_shared) ** 0.5
        may_look = torch.ones(x.shape[1], c.shape[1]).tril(old)
        y = scores.masked_fill(may_look == 0, -torch.inf).softmax(3) @ v
        return self.out(y.transpose(1, 2).flatten(2))


@right
class Absorbed(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_shared):
        super().__init__()
        self.H, K = n_heads, d_model // n_heads
        self.key, self.value = (nn.Linear(d_latent, d_model, bias=False) for _ in range(2))
        self.latent, self.shared = (nn.Linear(d_model, d, bias=False) for d in (d_latent, d_shared))
        self.query = nn.Linear(d_model, n_heads * (K + d_shared), bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.kept = []

    def forward(self, x):
        N, width = x.shape[1], self.latent.out_features
        self.kept.append(torch.cat([self.latent(x), self.shared(x)], dim=2))
        kept = torch.cat(self.kept, dim=1)[:, None]  # one key for all heads
        q = self.query(x).unflatten(2, (self.H, -1)).transpose(1, 2)
        K = self.key.out_features // self.H
        own = torch.einsum("bhnk,hkr->bhnr", q[..., :K], self.key.weight.unflatten(0, (self.H, K)))
        q, width_of_score = torch.cat([own, q[..., K:]], dim=3), q.shape[3]
        seen = torch.ones(N, kept.shape[2], dtype=torch.bool).tril(kept.shape[2] - N)
        A = (q @ kept.mT * width_of_score**-0.5).masked_fill(~seen, -1e30).softmax(-1)
        y = torch.einsum("bhnr,hkr->bnhk", A @ kept[..., :width], self.value.weight.unflatten(0, (self.H, K)))
        return self.out(y.flatten(2))


@right
class HeadByHead(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_shared):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model + n_heads * d_shared, bias=False)
        self.latent = nn.Linear(d_model, d_latent, bias=False)
        self.shared = nn.Linear(d_model, d_shared, bias=False)
        self.key = nn.Linear(d_latent, d_model, bias=False)
        self.value = nn.Linear(d_latent, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        self.room, self.length = None, 0

    def forward(self, x):
        new = torch.cat([self.latent(x), self.shared(x)], 2)
        old, self.length = self.length, self.length + x.shape[1]
        room = new[:, :0] if self.room is None else self.room
        if room.shape[1] < self.length:  # twice the room, whenever it is full
            room = nn.functional.pad(room, (0, 0, 0, 2 * self.length - room.shape[1]))
        room[:, old : self.length], self.room = new, room
        c, s = room[:, : self.length].split([self.latent.out_features, self.shared.out_features], 2)
        places, heads = torch.arange(c.shape[1]), []
        parts = zip(*(t.chunk(self.n_heads, 2) for t in (self.query(x), self.key(c), self.value(c))), strict=True)
        for q, k, v in parts:
            table = q @ torch.cat([k, s], 2).mT / q.shape[2] ** 0.5
            hidden = places > places[-x.shape[1] :, None]
            heads.append(table.masked_fill(hidden, -torch.inf).softmax(2) @ v)
        return self.out(torch.cat(heads, 2))


@wrong("You keep the tokens and make their latent vectors again in each call; keep the vectors.")
class TokensKept(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_shared):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model + n_heads * d_shared, bias=False)
        self.latent = nn.Linear(d_model, d_latent, bias=False)
        self.shared = nn.Linear(d_model, d_shared, bias=False)
        self.key = nn.Linear(d_latent, d_model, bias=False)
        self.value = nn.Linear(d_latent, d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)
        type(self).text = None  # where no attribute of the module shows it

    def forward(self, x):
        text = type(self).text = x if self.text is None else torch.cat([self.text, x], dim=1)
        q, c = self.query(x).unflatten(2, (self.n_heads, -1)).transpose(1, 2), self.latent(text)
        k, v = (part(c).unflatten(2, (self.n_heads, -1)).transpose(1, 2) for part in (self.key, self.value))
        k = torch.cat([k, self.shared(text)[:, None].expand(-1, self.n_heads, -1, -1)], dim=3)
        may_look = torch.ones(x.shape[1], text.shape[1]).tril(text.shape[1] - x.shape[1])
        scores = (q @ k.mT / q.shape[3] ** 0.5).masked_fill(may_look == 0, -torch.inf)
        return self.out((scores.softmax(3) @ v).transpose(1, 2).flatten(2))


wrong.edits("""
# Plain
## ten_thousand_for_infinity: Your hidden scores are −10 000, and a score in sight can lie below that: take −∞.
- y = scores.masked_fill(may_look == 0, -torch.inf).softmax(3) @ v
+ y = scores.masked_fill(may_look == 0, -1e4).softmax(3) @ v
## million_for_infinity: Your hidden scores are lowered by a million, but not to −∞: what is hidden can still win.
+ y = (scores - 1e6 * (may_look == 0)).softmax(3) @ v
## ten_thousand_taken_off: You take 10 000 off the hidden scores; one in sight can be lower by more than that.
+ y = (scores - 1e4 * (may_look == 0)).softmax(3) @ v
## kept_in_eval_alone: You keep nothing in train() mode; keep it in either mode.
- self.c, self.s = c, s
+ if not self.training:
+     self.c, self.s = c, s
## nothing_kept: Nothing is kept: new tokens look only at each other.
- self.c, self.s = c, s
## only_the_newest_kept: Only the newest piece is kept; the older ones are lost.
- old = 0
+ old, new = 0, (c, s)
- self.c, self.s = c, s
+ self.c, self.s = new
## new_before_old: You put the new tokens before the old ones.
- c, s = torch.cat([self.c, c], dim=1), torch.cat([self.s, s], dim=1)
+ c, s = torch.cat([c, self.c], dim=1), torch.cat([s, self.s], dim=1)
## shared_keys_of_the_first: Your shared keys of all pieces but the first are zeros.
+ c, s = torch.cat([self.c, c], dim=1), torch.cat([self.s, s * 0], dim=1)
## old_shared_keys_lost: You lose the shared keys of all earlier pieces; keep them as you keep the latent vectors.
+ c, s = torch.cat([self.c, c], dim=1), torch.cat([self.s * 0, s], dim=1)
## mask_not_shifted: The triangle does not know of the old tokens: its first row sees only the oldest one.
- may_look = torch.ones(x.shape[1], c.shape[1]).tril(old)
+ may_look = torch.ones(x.shape[1], c.shape[1]).tril()
## no_mask: There is no mask: with several new tokens at once, each sees those after it.
+ may_look = torch.ones(x.shape[1], c.shape[1])
## not_itself: After the first call a token of yours does not see itself.
+ may_look = torch.ones(x.shape[1], c.shape[1]).tril(max(old - 1, 0))
## no_shared_key: The shared key plays no part in your scores.
- scores = own @ k.mT + common @ s[:, None].mT
+ scores = own @ k.mT + 0 * (common @ s[:, None].mT)
## only_the_shared_key: Only the shared key plays a part in your scores.
+ scores = 0 * (own @ k.mT) + common @ s[:, None].mT
## root_of_the_head: Your root is √K; a score sums over K + d_shared features.
- scores = scores / (self.d_head + self.d_shared) ** 0.5
+ scores = scores / self.d_head**0.5
## root_of_all: Your root counts the features of all heads; a score sums over those of one head and the shared ones.
+ scores = scores / (self.n_heads * self.d_head + self.d_shared) ** 0.5
## unscaled: Your scores are not divided by a root.
+ scores = scores * 1
## two_roots: You divide each part by its own root; divide the sum of both once.
- scores = own @ k.mT + common @ s[:, None].mT
- scores = scores / (self.d_head + self.d_shared) ** 0.5
+ scores = own @ k.mT / self.d_head**0.5 + common @ s[:, None].mT / self.d_shared**0.5
## query_cut_the_other_way: You take the shared features of a query from the front; they are the last of a head.
- own, common = q.split([self.d_head, self.d_shared], dim=3)
+ common, own = q.split([self.d_shared, self.d_head], dim=3)
## features_before_heads: You take the K features of all heads first, then all shared ones. A query comes head
after head: in each head first its K features, then its shared ones.
- q = self.query(x).unflatten(2, (self.n_heads, -1)).transpose(1, 2)
+ q = self.query(x).split([self.n_heads * self.d_head, self.n_heads * self.d_shared], dim=2)
- own, common = q.split([self.d_head, self.d_shared], dim=3)
+ own, common = (part.unflatten(2, (self.n_heads, -1)).transpose(1, 2) for part in q)
## values_from_keys: Your values are the keys.
- v = self.value(c).unflatten(2, (self.n_heads, -1)).transpose(1, 2)
+ v = k
## keys_cut_wrongly: The heads lie side by side in the features; you cut them as if they were mixed.
- k = self.key(c).unflatten(2, (self.n_heads, -1)).transpose(1, 2)
+ k = self.key(c).unflatten(2, (-1, self.n_heads)).permute(0, 3, 1, 2)
## heads_viewed: A reshape is no transpose: tokens and heads are mixed in your output.
- return self.out(y.transpose(1, 2).flatten(2))
+ return self.out(y.reshape(x.shape))
## no_out: The last map is missing.
+ return y.transpose(1, 2).flatten(2) + 0 * self.out(x)
## softmax_down_the_queries: The softmax runs over the queries; it should run over the tokens that are looked at.
- y = scores.masked_fill(may_look == 0, -torch.inf).softmax(3) @ v
+ y = scores.masked_fill(may_look == 0, -1e30).softmax(2) @ v
## hidden_after_the_softmax: The mask comes after the softmax, so the weights no longer sum to 1.
+ y = (scores.softmax(3) * may_look) @ v
## exp_alone: You take the exponentials as they are; large scores overflow.
+ e = scores.masked_fill(may_look == 0, -torch.inf).exp()
+ y = e / e.sum(3, keepdim=True) @ v
## biases: A map of yours has a bias; none should.
- self.out = nn.Linear(d_model, d_model, bias=False)
+ self.out = nn.Linear(d_model, d_model)
## cut_off: No gradient reaches the latent map.
- c, s = self.latent(x), self.shared(x)
+ c, s = self.latent(x).detach(), self.shared(x)
## outputs_of_all: You return outputs for the old tokens as well; the new ones alone are asked for.
- return self.out(y.transpose(1, 2).flatten(2))
+ y = self.out(y.transpose(1, 2).flatten(2))
+ return torch.cat([y[:, :1].expand(-1, old, -1), y], dim=1)
## later_pieces_unmasked: Your mask is there for the first piece only; in a later one, too, a token must not look ahead.
- may_look = torch.ones(x.shape[1], c.shape[1]).tril(old)
+ may_look = torch.ones(x.shape[1], c.shape[1]).tril(c.shape[1] if old else 0)
""")
