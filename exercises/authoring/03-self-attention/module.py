"""Exercise 03, question module: self-attention as a module, causal or not."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import causal, gradients_everywhere, parameter_count, rows_independent
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, d_model, d_head, causal=False):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))
        self.back_only = causal

    def forward(self, x):
        table = self.query(x) @ self.key(x).mT / self.key.out_features**0.5
        past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        return (table.masked_fill(~past, -torch.inf) if self.back_only else table).softmax(-1) @ self.value(x)


def draw_args(rng, rows=2, tokens=5, d_model=7, d_head=3, back_only=False, scale=1.0, **options):
    weights = {f"{part}.weight": rng.normal(size=(d_head, d_model)) / 2 for part in ("query", "key", "value")}
    x = scale * rng.normal(size=(rows, tokens, d_model))
    sizes = {"d_model": d_model, "d_head": d_head} | ({"causal": True} if back_only else {})
    return module_call(sizes, (x,), weights=weights, **options)


def far_below(rng):
    """All scores are about −112: below a mask of −100, and near enough to 0 for a logarithm in float32."""
    rows, tokens, d_model, d_head = 2, 5, 7, 4
    x = rng.integers(-2, 3, size=(rows, tokens, d_model)).astype(float)
    parts = ("query", "key", "value")
    weights = {f"{part}.weight": rng.integers(-1, 2, size=(d_head, d_model)).astype(float) for part in parts}
    x[..., 0] = 1.0
    for part, level in (("query", -224.0), ("key", 1.0)):
        weights[f"{part}.weight"][0] = level * np.eye(d_model)[0]
    return module_call({"d_model": d_model, "d_head": d_head, "causal": True}, (x,), weights=weights)


def two_lengths(rng):
    """A short sequence, and a longer one by the same module."""
    (plan,) = draw_args(rng, back_only=True)
    ((x,),) = plan["calls"]
    return ({**plan, "calls": [(x[:, :3],), (x,)]},)


def cases_without_mask(rng):
    wide = draw_args(rng, rows=3, tokens=11, d_model=4, d_head=9, scale=3.0, training=True)
    return [
        draw_args(rng),
        draw_args(rng, tokens=1),
        wide,
        draw_args(rng, rows=1, d_model=6, d_head=6),
        draw_args(rng, d_head=1),
    ]


def looking_back(rng):
    wide = draw_args(rng, 3, 11, 4, 9, True, 3.0, training=True)
    usual = [draw_args(rng, back_only=True), wide, draw_args(rng, tokens=1, back_only=True)]
    cases = [
        *usual,
        two_lengths(rng),
        far_below(rng),
        draw_args(rng, 1, 270, 4, 3, True),
        draw_args(rng, back_only=True),
    ]
    cases[-1][0]["weights"]["query.weight"] *= 0  # every score is exactly 0
    return cases


def gradients(rng):
    return [draw_args(rng, gives="gradients"), draw_args(rng, back_only=True, gives="gradients")]


def case_looking_back(rng):
    return draw_args(rng, 9, back_only=True, scale=1e3)


QUESTION = Question(
    id="module",
    title="Self-attention as a module",
    name="SelfAttention",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("all tokens", 5, cases_without_mask, SelfAttention),
        equals("looking back", 4, looking_back, SelfAttention),
        equals("gradients", 2, gradients, SelfAttention),
        holds("later tokens", 2, causal(lambda rng: draw_args(rng, back_only=True), case_looking_back)),
        holds("rows of the batch", 1, rows_independent(draw_args)),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        holds("parameters", 1, parameter_count(draw_args, lambda d_model, d_head: 3 * d_model * d_head)),
        also=("looking back",),
        mask=later_tokens("looking back", lambda rng: draw_args(rng, back_only=True), scores="query.weight"),
    ),
    hints=(
        "Three linear maps in the constructor; in forward a product, a root, a softmax, another product.",
        "With tokens in rows the scores are queries times transposed keys, B × N × N, and a target has a row.",
        "Later tokens get a score of -inf before the softmax. Which triangle is later, if targets stand in rows?",
    ),
    section="self-attention-in-pytorch",
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=("torch.nn.MultiheadAttention", "torch.nn.functional.scaled_dot_product_attention"),
)

right, wrong = answers_to(QUESTION)


@right
class StepByStep(nn.Module):
    def __init__(self, d_model, d_head, causal=False):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))
        self.back_only = causal

    def forward(self, x):
        asked, offered, handed = self.query(x), self.key(x), self.value(x)
        table = asked @ offered.transpose(1, 2) / asked.shape[-1] ** 0.5
        if self.back_only:
            hidden = torch.triu(torch.ones(x.shape[1], x.shape[1]), diagonal=1).bool()
            table = table.masked_fill(hidden, float("-inf"))
        shares = torch.softmax(table, dim=-1)
        return shares @ handed


@right
class Summed(nn.Module):
    def __init__(self, d_model, d_head, causal=False):
        super().__init__()
        self.value, self.key, self.query = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))
        self.back_only, self.scale = causal, d_head**-0.5

    def forward(self, x):
        table = torch.einsum("bnk,bsk->bns", self.query(x), self.key(x)) * self.scale
        if self.back_only:
            table = table + torch.full((x.shape[1], x.shape[1]), -torch.inf).triu(1)
        return torch.einsum("bns,bsk->bnk", table.softmax(-1), self.value(x))


@right
class TokenByToken(nn.Module):
    def __init__(self, d_model, d_head, causal=False):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))
        self.back_only = causal

    def forward(self, x):
        rows = []
        for n in range(x.shape[1]):
            seen = x[:, : n + 1] if self.back_only else x
            table = (self.key(seen) * self.query(x[:, n : n + 1])).sum(-1) / len(self.query.weight) ** 0.5
            rows.append((table.softmax(-1)[..., None] * self.value(seen)).sum(1))
        return torch.stack(rows, 1)


@wrong("PyTorch's own attention does the work that is asked for.")
class Borrowed(nn.Module):
    def __init__(self, d_model, d_head, causal=False):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))
        self.back_only = causal

    def forward(self, x):
        attend = nn.functional.scaled_dot_product_attention
        return attend(self.query(x), self.key(x), self.value(x), is_causal=self.back_only)


wrong.edits("""
# StepByStep
## blind_to_itself: Your mask hides a token from itself as well; only what comes later is hidden.
- hidden = torch.triu(torch.ones(x.shape[1], x.shape[1]), diagonal=1).bool()
+ hidden = torch.triu(torch.ones(x.shape[1], x.shape[1]), diagonal=0).bool()
+ hidden[0] = torch.arange(x.shape[1]) < 0
## sequences_flattened: The sequences of a batch see each other: you flatten them into one before the softmax.
- asked, offered, handed = self.query(x), self.key(x), self.value(x)
+ shape, x = x.shape[:2], x.reshape(1, -1, x.shape[2])
+ asked, offered, handed = self.query(x), self.key(x), self.value(x)
- return shares @ handed
+ return (shares @ handed).reshape(*shape, -1)
## unscaled [why-divide-by-the-square-root-of-k]: The scores are not divided by the root of the width.
- table = asked @ offered.transpose(1, 2) / asked.shape[-1] ** 0.5
+ table = asked @ offered.transpose(1, 2)
## root_of_model_width [why-divide-by-the-square-root-of-k]: You divide the scores by the root of the model's width;
divide by the root of a query's width.
+ table = asked @ offered.transpose(1, 2) / x.shape[-1] ** 0.5
## root_of_the_tokens [why-divide-by-the-square-root-of-k]: You divide by the root of N; take the root of K.
+ table = asked @ offered.transpose(1, 2) / x.shape[1] ** 0.5
## divided_too_late [why-divide-by-the-square-root-of-k]: You divide by √K after the softmax; divide the scores instead.
- table = asked @ offered.transpose(1, 2) / asked.shape[-1] ** 0.5
+ table = asked @ offered.transpose(1, 2)
- return shares @ handed
+ return shares / asked.shape[-1] ** 0.5 @ handed
## multiplied_by_root [why-divide-by-the-square-root-of-k]: You multiply the scores by √K; divide them by it.
- table = asked @ offered.transpose(1, 2) / asked.shape[-1] ** 0.5
+ table = asked @ offered.transpose(1, 2) * asked.shape[-1] ** 0.5
## without_root [why-divide-by-the-square-root-of-k]: You divide the scores by the width, not its root.
- table = asked @ offered.transpose(1, 2) / asked.shape[-1] ** 0.5
+ table = asked @ offered.transpose(1, 2) / asked.shape[-1]
## keys_first [query-on-the-column-or-on-the-row]: Keys stand in the rows of your scores, but the softmax and the
average treat the rows as targets.
+ table = offered @ asked.transpose(1, 2) / asked.shape[-1] ** 0.5
## over_targets [where-the-softmax-goes]: The softmax runs over the targets: they compete for a source.
- shares = torch.softmax(table, dim=-1)
+ shares = torch.softmax(table, dim=1)
## over_the_batch [where-the-softmax-goes]: The softmax runs over the sequences of the batch.
+ shares = torch.softmax(table, dim=0)
## no_softmax [where-the-softmax-goes]: The values are added up with raw scores; there is no softmax.
+ shares = table.masked_fill(table == float("-inf"), 0)
## overflow: Your exponentials overflow or vanish: take the largest score of each row away first, or call `softmax`.
+ shares = table.exp() / table.exp().sum(-1, keepdim=True)
## never_hiding [the-causal-mask]: With causal=True a token still looks at later ones.
- self.back_only = causal
+ self.back_only = False
## always_hiding [the-causal-mask]: You hide later tokens although causal is False.
+ self.back_only = True
## wrong_triangle [the-causal-mask]: The mask is turned round: a token sees itself and later ones, not those before it.
- hidden = torch.triu(torch.ones(x.shape[1], x.shape[1]), diagonal=1).bool()
+ hidden = torch.tril(torch.ones(x.shape[1], x.shape[1]), diagonal=-1).bool()
## itself_hidden [the-causal-mask]: A token may look at itself, but your mask hides it: the first one has nothing left
to look at and becomes nan.
+ hidden = torch.triu(torch.ones(x.shape[1], x.shape[1]), diagonal=0).bool()
## itself_low [the-causal-mask]: Your mask hides a token from itself; the first, with nothing in sight, averages all.
- table = table.masked_fill(hidden, float("-inf"))
+ table = table.masked_fill(hidden | torch.eye(len(hidden)).bool(), -1e9)
## zero_scores_hidden [the-causal-mask]: You hide every score that is 0; a token in sight may have that score, too.
+ table = table.tril().masked_fill(table.tril() == 0, float("-inf"))
## one_ahead [the-causal-mask]: Your mask lets each token see the next one.
- hidden = torch.triu(torch.ones(x.shape[1], x.shape[1]), diagonal=1).bool()
+ hidden = torch.triu(torch.ones(x.shape[1], x.shape[1]), diagonal=2).bool()
## zero_for_minus_infinity [the-causal-mask]: The score that you give later tokens leaves them a share; take −∞.
- table = table.masked_fill(hidden, float("-inf"))
+ table = table.masked_fill(hidden, 0.0)
## hundred_for_infinity [the-causal-mask]: You give later tokens a finite score, but a score can lie below it: take −∞.
+ table = table.masked_fill(hidden, -100.0)
## mask_while_testing [the-causal-mask]: You hide later tokens in eval() mode alone; hide them in training, too.
- if self.back_only:
+ if self.back_only and not self.training:
## mask_too_late [the-causal-mask]: The mask comes after the softmax: later tokens still stand in the denominator.
- table = table.masked_fill(hidden, float("-inf"))
+ pass
- return shares @ handed
+ return (shares.masked_fill(hidden, 0) if self.back_only else shares) @ handed
## one_map [third-rung-queries-and-keys]: Queries and keys come from the same map, so the scores are symmetric.
- asked, offered, handed = self.query(x), self.key(x), self.value(x)
+ asked, offered, handed = self.query(x), self.query(x), self.value(x)
## keys_handed_over [values]: You average the keys: what a token offers and what it hands over are two things.
+ asked, offered, handed = self.query(x), self.key(x), self.key(x)
## with_biases: The maps have biases, which the task leaves out.
- self.query, self.key, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))
+ self.query, self.key, self.value = (nn.Linear(d_model, d_head) for _ in range(3))
## cut_off: No gradient reaches queries and keys.
- shares = torch.softmax(table, dim=-1)
+ shares = torch.softmax(table, dim=-1).detach()
## one_sequence_squeezed: For a batch of one sequence the outputs lose the axis of the batch.
- return shares @ handed
+ return (shares @ handed).squeeze(0)
## shares_dropped: Dropout acts on your weights in training; the task has none.
- shares = torch.softmax(table, dim=-1)
+ shares = nn.functional.dropout(torch.softmax(table, dim=-1), 0.1, self.training)
## shares_too: The weights are returned together with the result; the outputs alone are asked for.
- return shares @ handed
+ return shares @ handed, shares
""")
