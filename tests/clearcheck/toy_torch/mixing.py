"""The toy exercise, question mixing: a module with one causal head of attention."""

import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import causal, dropout_acts, gradients_everywhere, parameter_count, rows_independent
from torch import nn

from .shared import SECONDS


class Reference(nn.Module):
    def __init__(self, d_model, d_head, dropout):
        super().__init__()
        self.query = nn.Linear(d_model, d_head, bias=False)
        self.key = nn.Linear(d_model, d_head, bias=False)
        self.value = nn.Linear(d_model, d_head)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).mT / self.query.out_features**0.5
        past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        return self.dropout(scores.masked_fill(~past, -torch.inf).softmax(-1)) @ self.value(x)


def draw_args(rng, rows=2, tokens=5, d_model=7, d_head=3, dropout=0.5, scale=1.0, **options):
    names = {"query.weight": (d_head, d_model), "key.weight": (d_head, d_model), "value.weight": (d_head, d_model)}
    weights = {name: rng.normal(size=shape) for name, shape in names.items()} | {"value.bias": rng.normal(size=d_head)}
    x = scale * rng.normal(size=(rows, tokens, d_model))
    sizes = {"d_model": d_model, "d_head": d_head, "dropout": dropout}
    return module_call(sizes, (x,), weights=weights, **options)


def outputs(rng):
    return [draw_args(rng), draw_args(rng, tokens=1), draw_args(rng, rows=3, tokens=11, d_model=4, d_head=9, scale=3.0)]


def gradients(rng):
    return [draw_args(rng, gives="gradients")]


QUESTION = Question(
    id="mixing",
    title="One head that looks back",
    name="Head",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("outputs", 4, outputs, Reference),
        equals("gradients", 1, gradients, Reference),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        holds("looking back", 1, causal(draw_args)),
        holds("rows", 1, rows_independent(draw_args)),
        holds("dropout", 1, dropout_acts(draw_args)),
        holds("parameters", 1, parameter_count(draw_args, lambda d_model, d_head, dropout: (3 * d_model + 1) * d_head)),
        mask=later_tokens("looking back", draw_args, scores="query.weight"),
    ),
    hints=("Three linear layers, a mask, a softmax.", "A mask of ones below the diagonal says who may look where."),
    section="one-head",
    seconds=SECONDS,
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=("torch.nn.MultiheadAttention", "torch.nn.functional.scaled_dot_product_attention"),
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, d_model, d_head, dropout):
        super().__init__()
        self.query = nn.Linear(d_model, d_head, bias=False)
        self.key = nn.Linear(d_model, d_head, bias=False)
        self.value = nn.Linear(d_model, d_head)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        mask = torch.tril(torch.ones(x.shape[1], x.shape[1]))
        scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ v


@right
class WithBuffer(nn.Module):
    def __init__(self, d_model, d_head, dropout):
        super().__init__()
        self.value, self.key, self.query = (nn.Linear(d_model, d_head, bias) for bias in (True, False, False))
        self.register_buffer("future", torch.ones(1000, 1000, dtype=torch.bool).triu(1))
        self.p, self.scale = dropout, d_head**-0.5

    def forward(self, x):
        N = x.size(1)
        scores = torch.einsum("bnk,bsk->bns", self.query(x), self.key(x)) * self.scale
        weights = nn.functional.softmax(scores.masked_fill(self.future[:N, :N], -1e30), -1)
        return nn.functional.dropout(weights, self.p, self.training) @ self.value(x)


@right
class RowByRow(nn.Module):
    class Map(nn.Module):
        def __init__(self, d_in, d_out):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(d_out, d_in))

        def forward(self, x):
            return x @ self.weight.T

    def __init__(self, d_model, d_head, dropout):
        super().__init__()
        self.query, self.key = self.Map(d_model, d_head), self.Map(d_model, d_head)
        self.value = nn.Linear(d_model, d_head)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        rows = []
        for n in range(x.shape[1]):
            past = x[:, : n + 1]
            scores = (self.key(past) * self.query(x[:, n : n + 1])).sum(-1) / len(self.query.weight) ** 0.5
            rows.append((self.drop(scores.softmax(-1))[..., None] * self.value(past)).sum(1))
        return torch.stack(rows, 1)


@wrong("PyTorch's own attention does the work that is asked for.")
class Borrowed(nn.Module):
    def __init__(self, d_model, d_head, dropout):
        super().__init__()
        self.query = nn.Linear(d_model, d_head, bias=False)
        self.key = nn.Linear(d_model, d_head, bias=False)
        self.value = nn.Linear(d_model, d_head)
        self.p = dropout

    def forward(self, x):
        attend = nn.functional.scaled_dot_product_attention
        p = self.p if self.training else 0.0
        return attend(self.query(x), self.key(x), self.value(x), dropout_p=p, is_causal=True)


wrong.edits("""
# Plain
## unscaled: The scores are not divided by the root of the width.
- scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
+ scores = q @ k.transpose(1, 2)
## by_model_width: The scores are divided by the root of the model's width, not of the head's.
+ scores = q @ k.transpose(1, 2) / x.shape[-1] ** 0.5
## looks_ahead [masks]: No mask keeps a token from looking ahead.
- scores = scores.masked_fill(mask == 0, float("-inf"))
## looks_ahead_alone: The mask is turned round: a token looks at later ones.
- mask = torch.tril(torch.ones(x.shape[1], x.shape[1]))
+ mask = torch.triu(torch.ones(x.shape[1], x.shape[1]))
## over_queries: The softmax runs over the queries.
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = self.dropout(torch.softmax(scores, dim=1))
## over_the_batch: The softmax runs over the rows of the batch.
+ weights = self.dropout(torch.softmax(scores, dim=0))
## always_dropping: Dropout acts in eval() mode too.
+ weights = nn.functional.dropout(torch.softmax(scores, dim=-1), self.dropout.p)
## never_dropping: Dropout is built and never used.
+ weights = torch.softmax(scores, dim=-1)
## keys_with_bias: The keys have a bias, which the task leaves out.
- self.key = nn.Linear(d_model, d_head, bias=False)
+ self.key = nn.Linear(d_model, d_head)
## one_map: Queries and keys come from the same map.
- q, k, v = self.query(x), self.key(x), self.value(x)
+ q, k, v = self.query(x), self.query(x), self.value(x)
## cut_off: No gradient reaches queries and keys.
- weights = self.dropout(torch.softmax(scores, dim=-1))
+ weights = self.dropout(torch.softmax(scores, dim=-1).detach())
## both: The weights are returned together with the result.
- return weights @ v
+ return weights @ v, weights
""")
