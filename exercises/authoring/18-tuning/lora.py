"""Exercise 18, question lora: adapters for queries and values, as a module."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import parameter_count, rows_independent
from torch import nn


class AdaptedQKV(nn.Module):
    def __init__(self, d_model, rank, alpha):
        super().__init__()
        self.qkv = nn.Linear(d_model, 3 * d_model).requires_grad_(False)
        self.A_q, self.A_v = (nn.Parameter(torch.randn(rank, d_model) / d_model**0.5) for _ in range(2))
        self.B_q, self.B_v = (nn.Parameter(torch.zeros(d_model, rank)) for _ in range(2))
        self.scale = alpha / rank

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q + self.scale * (x @ self.A_q.T @ self.B_q.T)
        v = v + self.scale * (x @ self.A_v.T @ self.B_v.T)
        return torch.cat([q, k, v], dim=-1)


def draw_args(rng, rows=2, tokens=5, d_model=7, rank=3, alpha=4.0, zero=False, fresh=False, **options):
    weights = {"qkv.weight": rng.normal(size=(3 * d_model, d_model)), "qkv.bias": rng.normal(size=3 * d_model)}
    for part in "qv":
        weights[f"A_{part}"] = rng.normal(size=(rank, d_model))
        weights[f"B_{part}"] = (not zero) * rng.normal(size=(d_model, rank))
    sizes = {"d_model": d_model, "rank": rank, "alpha": alpha}
    x = rng.normal(size=(rows, tokens, d_model))
    return module_call(sizes, (x,), weights=None if fresh else weights, **options)


def outputs(rng):
    later = draw_args(rng, training=True, gives="changed")
    return [draw_args(rng), draw_args(rng, 3, 1, 11, 2, 5.0), draw_args(rng, rank=1, alpha=2.5), later]


def as_it_was(rng):
    return [draw_args(rng, zero=True), draw_args(rng, 1, 4, 9, 2, 16.0, zero=True)]


def cases_of_equal_sizes(rng):
    return [draw_args(rng, 7, 7, 7, 7, 3.0)]


def fresh_start(ask, rng):
    """B at zero, A not: then no gradient reaches A, and one reaches B, whose rows are multiples of Ax for one token."""
    (plan,), rows = draw_args(rng, 1, 1, fresh=True, gives="gradients"), []
    for came, part in [(came, part) for came in (ask(plan), ask({**plan, "seed": 1})) for part in "qv"]:
        a, b = came.get(f"A_{part}"), came.get(f"B_{part}")
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
            return f"Of a new module no gradient comes back for A_{part} or B_{part}: both are to be trained."
        if not b.any():
            return f"Of a new module the gradient for B_{part} is zero: A_{part} begins at zero, and B cannot move."
        if a.any():
            return f"Of a new module the gradient for A_{part} is not zero: B_{part} does not begin at zero."
        if np.ptp(b, axis=1).max() < 1e-4 * np.abs(b).max():
            return f"Of a new module all rows of A_{part} are alike, and can never differ: it begins at random."
        rows.append(b[0] / np.linalg.norm(b[0].astype(float)))
    alike = np.triu(np.abs(np.array(rows) @ np.transpose(rows)), 1) > 1 - 1e-8
    if alike[0, 2] or alike[1, 3]:
        return "Two new modules begin with the same A_q, or the same A_v: both begin at random."
    return "A_q and A_v of a new module are alike: each begins at random, by itself." if alike.any() else None


def trains_the_four(ask, rng):
    (plan,) = draw_args(rng, gives="gradients")
    for name, gradient in ask(plan).items():
        moved = isinstance(gradient, np.ndarray) and gradient.any()
        if name.startswith("qkv") and moved:
            return f"A gradient reaches `{name}`, which is to stay as it is."
        if not name.startswith("qkv") and not moved:
            return f"No gradient reaches `{name}`."
    (plan,) = draw_args(rng, zero=True, gives="gradients")
    through = ask(plan)["input 1"]
    if not isinstance(through, np.ndarray) or not through.any():
        return "With B = 0 no gradient reaches x: the frozen map must let gradients through, to the layers below."
    for part in "qv":
        weights = {**plan["weights"], f"B_{part}": rng.normal(size=plan["weights"][f"B_{part}"].shape)}
        if np.allclose(ask({**plan, "weights": weights})["input 1"], through):
            return f"No gradient passes through A_{part} and B_{part} to x, to the layers below."
    return None


QUESTION = Question(
    id="lora",
    title="LoRA for queries and values, in PyTorch",
    name="AdaptedQKV",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("outputs", 5, outputs, AdaptedQKV),
        equals("B at zero", 1, as_it_was, AdaptedQKV),
        equals("all sizes alike", 1, cases_of_equal_sizes, AdaptedQKV),
        holds("a fresh start", 3, fresh_start),
        holds("what is trained", 3, trains_the_four),
        holds("rows of the batch", 1, rows_independent(draw_args)),
        holds(
            "parameters",
            1,
            parameter_count(draw_args, lambda d_model, rank, alpha: d_model * (3 * d_model + 3 + 4 * rank)),
        ),
    ),
    hints=(
        "One map gives 3 D numbers: the first D are the query, the last D the value. What is added to which of them?",
        "x has its features on the last axis, so BAx is `x @ A.T @ B.T`. Where does alpha / rank go?",
        "To freeze a map, its parameters get `requires_grad_(False)`. `no_grad()` or `detach()` would cut off x, too.",
    ),
    section="what-is-gained-and-what-is-forgotten",
    seconds=20.0,
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="there is no softmax"),
    how="module",
)

right, wrong = answers_to(QUESTION)


@right
class Sliced(nn.Module):
    def __init__(self, d_model, rank, alpha):
        super().__init__()
        self.d_model, self.factor = d_model, alpha / rank
        self.qkv = nn.Linear(d_model, 3 * d_model)
        for parameter in self.qkv.parameters():
            parameter.requires_grad = False
        self.A_q = nn.Parameter(torch.randn(rank, d_model) / d_model**0.5)
        self.B_q = nn.Parameter(torch.zeros(d_model, rank))
        self.A_v = nn.Parameter(torch.randn(rank, d_model) / d_model**0.5)
        self.B_v = nn.Parameter(torch.zeros(d_model, rank))

    def forward(self, x):
        D = self.d_model
        y = self.qkv(x)
        q = y[..., :D] + self.factor * x @ self.A_q.T @ self.B_q.T
        k = y[..., D : 2 * D]
        v = y[..., 2 * D :] + self.factor * x @ self.A_v.T @ self.B_v.T
        return torch.cat([q, k, v], dim=-1)


@right
class OneMatrix(nn.Module):
    """W + BA, made anew for each call."""

    def __init__(self, d_model, rank, alpha):
        super().__init__()
        self.qkv, self.share = nn.Linear(d_model, 3 * d_model), alpha / rank
        self.qkv.weight.requires_grad_(False)
        self.qkv.bias.requires_grad_(False)
        self.A_q, self.A_v = nn.Parameter(torch.rand(rank, d_model)), nn.Parameter(torch.rand(rank, d_model))
        self.B_q, self.B_v = nn.Parameter(torch.zeros(d_model, rank)), nn.Parameter(torch.zeros(d_model, rank))

    def forward(self, x):
        q, v = self.B_q @ self.A_q, self.B_v @ self.A_v
        change = self.share * torch.cat([q, torch.zeros_like(q), v])
        return nn.functional.linear(x, self.qkv.weight + change, self.qkv.bias)


@right
class Padded(nn.Module):
    def __init__(self, d_model, rank, alpha):
        super().__init__()
        self.qkv = nn.Linear(d_model, 3 * d_model).requires_grad_(False)
        self.A_q, self.B_q = self.pair(d_model, rank)
        self.A_v, self.B_v = self.pair(d_model, rank)
        self.rank, self.alpha = rank, alpha

    @staticmethod
    def pair(d_model, rank):
        A = nn.Parameter(torch.empty(rank, d_model))
        nn.init.kaiming_uniform_(A)
        return A, nn.Parameter(torch.zeros(d_model, rank))

    def forward(self, x):
        q = torch.einsum("bnd,rd,er->bne", x, self.A_q, self.B_q)
        v = torch.einsum("bnd,rd,er->bne", x, self.A_v, self.B_v)
        return self.qkv(x) + self.alpha * torch.cat([q, 0 * q, v], -1) / self.rank


wrong.edits("""
# Sliced
## whole_factor: Your factor is rounded down to a whole number.
- self.d_model, self.factor = d_model, alpha / rank
+ self.d_model, self.factor = d_model, alpha // rank
## interleaved: You take every third feature for the queries; the three parts lie one behind the other.
- y = self.qkv(x)
+ y = self.qkv(x).unflatten(-1, (D, 3)).mT.flatten(-2)
- return torch.cat([q, k, v], dim=-1)
+ return torch.stack([q, k, v], dim=-1).flatten(-2)
## a_of_ones: Your A begins with ones, so its rows all learn the same; draw it at random.
- self.A_q = nn.Parameter(torch.randn(rank, d_model) / d_model**0.5)
+ self.A_q = nn.Parameter(torch.ones(rank, d_model))
## a_of_unit_rows: Your A begins as the first rows of the identity, always the same; draw it at random.
- self.A_q = nn.Parameter(torch.randn(rank, d_model) / d_model**0.5)
+ self.A_q = nn.Parameter(torch.eye(rank, d_model))
- self.A_v = nn.Parameter(torch.randn(rank, d_model) / d_model**0.5)
+ self.A_v = nn.Parameter(torch.eye(rank, d_model))
## a_copied: Your A_v begins as a copy of A_q; draw each by itself.
- self.A_v = nn.Parameter(torch.randn(rank, d_model) / d_model**0.5)
+ self.A_v = nn.Parameter(self.A_q.detach().clone())
## adapter_cut_off: The adapter of the queries gets a detached x, so that no gradient passes to the layers below.
- q = y[..., :D] + self.factor * x @ self.A_q.T @ self.B_q.T
+ q = y[..., :D] + self.factor * x.detach() @ self.A_q.T @ self.B_q.T
## dropout_added: The adapter has dropout in train() mode; nobody asked for any.
+ q = y[..., :D] + self.factor * nn.functional.dropout(x, 0.2, self.training) @ self.A_q.T @ self.B_q.T
## not_frozen: You train the given map, too; freeze it.
- for parameter in self.qkv.parameters():
-     parameter.requires_grad = False
+ pass
## bias_not_frozen: You train the bias of the given map, too; freeze it.
+ self.qkv.weight.requires_grad = False
## b_at_random [common-mistakes]: Your B begins at random; the model changes before the first step.
- self.B_q = nn.Parameter(torch.zeros(d_model, rank))
+ self.B_q = nn.Parameter(torch.randn(d_model, rank))
## both_at_zero [common-mistakes]: A and B both begin at zero, and no gradient reaches either.
- self.A_v = nn.Parameter(torch.randn(rank, d_model) / d_model**0.5)
+ self.A_v = nn.Parameter(torch.zeros(rank, d_model))
## a_at_zero: A begins at zero and B at random: the roles are exchanged.
- self.A_q = nn.Parameter(torch.randn(rank, d_model) / d_model**0.5)
- self.B_q = nn.Parameter(torch.zeros(d_model, rank))
+ self.A_q = nn.Parameter(torch.zeros(rank, d_model))
+ self.B_q = nn.Parameter(torch.randn(d_model, rank))
## no_scale: The factor alpha / rank is missing.
- self.d_model, self.factor = d_model, alpha / rank
+ self.d_model, self.factor = d_model, 1.0
## alpha_alone: You multiply the change by alpha, but never divide by the rank.
+ self.d_model, self.factor = d_model, alpha
## scale_upside_down: Your factor is rank / alpha; it should be alpha / rank.
+ self.d_model, self.factor = d_model, rank / alpha
## divided_by_the_width: You divide the change by the width, not by the rank.
+ self.d_model, self.factor = d_model, alpha / d_model
## keys_changed: You add the change of the values to the keys.
- k = y[..., D : 2 * D]
- v = y[..., 2 * D :] + self.factor * x @ self.A_v.T @ self.B_v.T
+ k = y[..., D : 2 * D] + self.factor * x @ self.A_v.T @ self.B_v.T
+ v = y[..., 2 * D :]
## queries_and_values_swapped: You swap the changes of the queries and the values.
- q = y[..., :D] + self.factor * x @ self.A_q.T @ self.B_q.T
+ q = y[..., :D] + self.factor * x @ self.A_v.T @ self.B_v.T
- v = y[..., 2 * D :] + self.factor * x @ self.A_v.T @ self.B_v.T
+ v = y[..., 2 * D :] + self.factor * x @ self.A_q.T @ self.B_q.T
## only_queries: Your values never change.
- v = y[..., 2 * D :] + self.factor * x @ self.A_v.T @ self.B_v.T
+ v = y[..., 2 * D :]
## only_the_change: Your queries are only the change, without what the map gives.
- q = y[..., :D] + self.factor * x @ self.A_q.T @ self.B_q.T
+ q = self.factor * x @ self.A_q.T @ self.B_q.T
## cut_off: You detach the output of the frozen map, so that no gradient comes through it to x.
- y = self.qkv(x)
+ y = self.qkv(x).detach()
## another_order: The parts come back in another order.
- return torch.cat([q, k, v], dim=-1)
+ return torch.cat([q, v, k], dim=-1)
## along_the_tokens: You join the three parts along the tokens, not along the features.
+ return torch.cat([q, k, v], dim=1)
## no_bias: The map that was there has a bias; yours has none.
- self.qkv = nn.Linear(d_model, 3 * d_model)
+ self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
## a_shared: Your queries and values share A_q; each change has an A of its own.
- v = y[..., 2 * D :] + self.factor * x @ self.A_v.T @ self.B_v.T
+ v = y[..., 2 * D :] + self.factor * x @ self.A_q.T @ self.B_v.T
""")
