"""Exercise 08, question cross: cross-attention as a module."""

import numpy as np
import torch
from clearcheck import Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import gradients_everywhere, parameter_count
from torch import nn

from .parts import CrossAttention
from .shared import A_MODULE, LARGE, alter, attention, differ


def draw_args(rng, rows=2, targets=5, sources=7, d_model=12, n_heads=3, scale=1.0, **options):
    x, memory = (scale * rng.normal(size=(rows, n, d_model)) for n in (targets, sources))
    weights = attention(rng, "", d_model)
    return module_call({"d_model": d_model, "n_heads": n_heads}, (x, memory), weights=weights, **options)


def outputs(rng):
    given = {}, {"targets": 1}, {"sources": 1}, {"rows": 3, "targets": 11, "sources": 4, "d_model": 14, "n_heads": 2}
    given += {"training": True}, {"targets": 6, "sources": 6}, {"rows": 1, "sources": 140}
    cases = [draw_args(rng, **one) for one in given]
    cases[0][0]["calls"][0][1][0, 2] = 0.0  # a source like any other
    return cases


def gradients(rng):
    return [draw_args(rng, gives="gradients")]


def each_target_alone(ask, rng):
    (plan,) = draw_args(rng)
    x, memory = plan["calls"][0]
    one, two = ask({**plan, "calls": [(x, memory), (alter(x, (slice(None), 2)), memory)]})
    moved = differ(one, two) if np.shape(one) == x.shape else None
    if moved is None:
        return f"For x of shape {x.shape} the result should have that shape too; yours has {np.shape(one)}."
    if moved.tolist() != [False, False, True, False, False]:
        return "Target 2 was changed: output 2 should move, and no other."
    return None


def every_source_read(ask, rng):
    (plan,) = draw_args(rng)
    x, memory = plan["calls"][0]
    one, two, three = ask(
        {**plan, "calls": [(x, memory), (x, alter(memory, (slice(None), -1))), (x, memory[:, ::-1].copy())]}
    )
    if np.shape(one) != x.shape or not differ(one, two).all():
        return "The last source was changed: every output should move, since each target reads all sources."
    return (
        "The sources in another order are the same sources; your outputs changed." if differ(one, three).any() else None
    )


QUESTION = Question(
    id="cross",
    title="One sequence looks at another",
    name="CrossAttention",
    minutes=25,
    difficulty=2,
    checks=with_battery(
        equals("outputs", 6, outputs, CrossAttention),
        equals("large scores", 2, lambda rng: [draw_args(rng, scale=30.0)], CrossAttention, atol=LARGE),
        equals("gradients", 2, gradients, CrossAttention),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        holds("each target alone", 2, each_target_alone),
        holds("every source", 2, every_source_read),
        holds("parameters", 1, parameter_count(draw_args, lambda d_model, n_heads: 4 * d_model**2 + 4 * d_model)),
    ),
    hints=(
        "Take your MultiHead. Which of its three projections belong to the sequence that asks, and which to the one "
        "that answers?",
        "The scores of a head are N × S. Both lengths are free, so nothing may be cut by the length of the other.",
        "Is there a future to hide? The whole source was there before the first token was written.",
    ),
    section="cross-attention",
    **A_MODULE,
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.H, self.K = n_heads, d_model // n_heads

    def forward(self, x, memory):
        q, k, v = self.query(x), self.key(memory), self.value(memory)
        q, k, v = (part.reshape(*part.shape[:2], self.H, self.K).transpose(1, 2) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / self.K**0.5
        weights = torch.softmax(scores, dim=-1)
        y = (weights @ v).transpose(1, 2).reshape(x.shape)
        return self.out(y)


@right
class WithLetters(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.out, self.value, self.key, self.query = (nn.Linear(d_model, d_model) for _ in range(4))
        self.heads = n_heads

    def forward(self, x, memory):
        asked = zip((self.query, self.key, self.value), (x, memory, memory), strict=True)
        q, k, v = (part(given).unflatten(2, (self.heads, -1)) for part, given in asked)
        A = torch.einsum("bnhk,bshk->bhns", q * q.shape[-1] ** -0.5, k)
        A = torch.exp(A - A.amax(dim=3, keepdim=True))
        A = A / A.sum(dim=3, keepdim=True)
        return self.out(torch.einsum("bhns,bshk->bnhk", A, v).flatten(2))


@right
class TargetAfterTarget(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        for name in ("query", "key", "value", "out"):
            self.add_module(name, nn.Linear(d_model, d_model))
        self.width = d_model // n_heads

    def forward(self, x, memory):
        keys, values = self.key(memory).split(self.width, 2), self.value(memory).split(self.width, 2)
        found = []
        for token in self.query(x).unbind(1):
            own = []
            for q, k, v in zip(token.split(self.width, 1), keys, values, strict=True):
                shares = (k @ q[:, :, None] / self.width**0.5).softmax(1)
                own.append((shares * v).sum(1))
            found.append(torch.cat(own, 1))
        return self.out(torch.stack(found, 1))


@wrong("PyTorch's own attention does the work that is asked for.")
class Borrowed(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.H = n_heads

    def forward(self, x, memory):
        q, k, v = self.query(x), self.key(memory), self.value(memory)
        q, k, v = (part.unflatten(-1, (self.H, -1)).transpose(1, 2) for part in (q, k, v))
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).flatten(2))


wrong.edits("""
# Plain
## looks_at_itself: Keys and values come from x: the memory is never read.
- q, k, v = self.query(x), self.key(memory), self.value(memory)
+ q, k, v = self.query(x), self.key(x), self.value(x)
## values_from_the_target: The values come from x; what is looked up lies in the memory.
+ q, k, v = self.query(x), self.key(memory), self.value(x)
## memory_asks: The memory asks and x answers: the roles are exchanged.
+ q, k, v = self.query(memory), self.key(x), self.value(x)
## one_map_for_keys_and_values [common-mistakes]: Keys and values come from the same map.
+ q, k, v = self.query(x), self.key(memory), self.key(memory)
## triangle [four-facts-about-cross-attention]: You hide later sources; the whole source was there before the first
token was written.
- weights = torch.softmax(scores, dim=-1)
+ scores = scores.masked_fill(torch.ones_like(scores).tril() == 0, -1e30)
+ weights = torch.softmax(scores, dim=-1)
## over_targets: The softmax runs over the targets; the sources lie along the last axis.
+ weights = torch.softmax(scores, dim=-2)
## over_heads: The softmax runs over the heads, which do not compete.
+ weights = torch.softmax(scores, dim=1)
## interleaved: Your heads take and give back every H-th feature; each owns K neighbouring ones.
- q, k, v = (part.reshape(*part.shape[:2], self.H, self.K).transpose(1, 2) for part in (q, k, v))
+ q, k, v = (part.reshape(*part.shape[:2], self.K, self.H).permute(0, 3, 1, 2) for part in (q, k, v))
- y = (weights @ v).transpose(1, 2).reshape(x.shape)
+ y = (weights @ v).permute(0, 2, 3, 1).reshape(x.shape)
## one_head_for_all: All features make one head, whatever `n_heads` says.
- self.H, self.K = n_heads, d_model // n_heads
+ self.H, self.K = 1, d_model
## unscaled: The scores are not divided by the root of the width of a head.
- scores = q @ k.transpose(-2, -1) / self.K**0.5
+ scores = q @ k.transpose(-2, -1)
## root_of_model_width: You take the root of a token's width; a score sums over a head's width.
+ scores = q @ k.transpose(-2, -1) / x.shape[-1] ** 0.5
## join_by_reshape: You join the heads without exchanging axes first: a token gets pieces of other tokens.
- y = (weights @ v).transpose(1, 2).reshape(x.shape)
+ y = (weights @ v).reshape(x.shape)
## cut_by_reshape: You cut by pouring the numbers into the new shape: a head gets pieces of other tokens.
- q, k, v = (part.reshape(*part.shape[:2], self.H, self.K).transpose(1, 2) for part in (q, k, v))
+ q, k, v = (part.reshape(len(part), self.H, -1, self.K) for part in (q, k, v))
## exp_alone: You take the exponentials as they are; large scores overflow, so subtract the largest of a row first.
- weights = torch.softmax(scores, dim=-1)
+ weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
## zeros_hidden: Tokens of the memory that are 0 are taken for padding; here every token counts.
+ weights = torch.softmax(scores.masked_fill((memory == 0).all(-1)[:, None, None], -1e30), dim=-1)
## weights_dropped: In train() mode you drop some of the weights; nothing is dropped here.
+ weights = nn.functional.dropout(torch.softmax(scores, dim=-1), 0.1, self.training)
## memory_of_the_first_call: The memory of the first call is kept and looked at in the later ones, too.
- q, k, v = self.query(x), self.key(memory), self.value(memory)
+ self.first = memory = getattr(self, "first", memory)
+ q, k, v = self.query(x), self.key(memory), self.value(memory)
## never_mixed: You join the heads and stop: the output map is never used.
- return self.out(y)
+ return y
## added_already [the-whole-block]: You add x to the result; that is the work of the block.
+ return x + self.out(y)
## no_bias: Your keys have no bias; here all four maps have one.
- self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
+ self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model, bias=False)
""")
