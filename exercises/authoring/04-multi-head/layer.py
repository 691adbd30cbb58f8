"""Exercise 04, question layer: multi-head attention as a module."""

import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_checks import causal, gradients_everywhere, parameter_count, rows_independent
from clearcheck.worker.forbidden_names import ATTENTION
from torch import nn
from torch.nn import functional as F

from .layer_calls import all_tokens, draw_args, draw_causal, draw_large_causal, gradients, large_scores, who_may_look
from .shared import LARGE


class ByTorch(nn.Module):
    """The layer whose attention is PyTorch's own, with its mask: True where a target may look."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(d_model, d_model) for _ in range(4))
        self.n_heads = n_heads

    def forward(self, x, mask=None):
        parts = (part(x).chunk(self.n_heads, dim=-1) for part in (self.query, self.key, self.value))
        q, k, v = (torch.stack(part, dim=1) for part in parts)
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(torch.cat(found.unbind(1), dim=-1))


def four_square_maps(d_model, n_heads):
    return 4 * d_model**2 + 4 * d_model


QUESTION = Question(
    id="layer",
    title="The layer as a module",
    name="MultiHeadAttention",
    minutes=30,
    difficulty=2,
    checks=with_battery(
        equals("outputs", 5, all_tokens, ByTorch),
        equals("large scores", 1, large_scores, ByTorch, atol=LARGE),
        equals("with a mask", 4, who_may_look, ByTorch),
        equals("gradients", 2, gradients, ByTorch),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        holds("looking back", 3, causal(draw_causal, draw_large_causal)),
        holds("rows", 1, rows_independent(draw_args)),
        holds("parameters", 1, parameter_count(draw_args, four_square_maps)),
        mask=later_tokens("with a mask", draw_causal, scores="query.weight"),
        also=("with a mask",),
    ),
    hints=(
        "The constructor makes four square maps and remembers the number of heads. What forward does with x is five "
        "steps: project, cut into heads, compare, average, join and project.",
        "After the cut the heads are an axis like the batch: one product makes the scores of all heads. Over "
        "which axis of B × H × N × N do the weights of one target sum to 1, and how wide is what a score sums over?",
        "The mask goes before the softmax: where it says False the score becomes −∞. Joining begins by undoing the "
        "last step of the cut.",
    ),
    section="the-whole-layer",
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=ATTENTION,
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.H = n_heads
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, N, D = x.shape
        cut = (B, N, self.H, D // self.H)
        q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.key, self.value))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        y = weights @ v
        y = y.transpose(1, 2).reshape(B, N, D)
        return self.out(y)


@right
class HeadAfterHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        for name in ("query", "key", "value", "out"):
            self.add_module(name, nn.Linear(d_model, d_model))
        self.H, self.width = n_heads, d_model // n_heads

    def forward(self, x, mask=None):
        found = []
        B, N, _ = x.shape
        seen = torch.ones(N, N).bool() if mask is None else mask
        seen = seen.expand(B, self.H, N, N)
        parts = [each(x).split(self.width, -1) for each in (self.query, self.key, self.value)]
        for h in range(self.H):
            q, k, v = (part[h] for part in parts)
            scores = torch.einsum("bnk,bsk->bns", q, k) * self.width**-0.5
            found.append(torch.where(seen[:, h], scores, -torch.inf).softmax(dim=2) @ v)
        return self.out(torch.cat(found, 2))


@right
class WithLetters(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.out, self.value, self.key, self.query = (nn.Linear(d_model, d_model) for _ in range(4))
        self.heads = n_heads

    def forward(self, x, mask=None):
        q, k, v = (part(x).unflatten(2, (self.heads, -1)) for part in (self.query, self.key, self.value))
        scores = torch.einsum("bnhk,bshk->bhns", q, k) / torch.tensor(q.shape[-1]).sqrt()
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e30)
        A = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        A = A / A.sum(dim=-1, keepdim=True)
        return self.out(torch.einsum("bhns,bshk->bnhk", A, v).flatten(2))


@wrong("PyTorch's own attention does the work that is asked for.")
class Borrowed(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.H = n_heads
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q, k, v = (part(x).unflatten(-1, (self.H, -1)).transpose(1, 2) for part in (self.query, self.key, self.value))
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
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
## weights_dropped: Dropout acts on your weights in training; the task has none.
+ weights = nn.functional.dropout(torch.softmax(scores, dim=-1), 0.1, self.training)
## mask_ignored: A mask is given, and your outputs are those without one.
- if mask is not None:
-     scores = scores.masked_fill(~mask, float("-inf"))
## always_looking_back: Without a mask every token looks at all tokens; you hide the later ones.
+ mask = torch.tril(torch.ones(N, N)).bool() if mask is None else mask
+ scores = scores.masked_fill(~mask, float("-inf"))
## triangle_and_no_mask: You hide later tokens always and never read the mask: the caller says who may look, and without
a mask everybody may.
+ scores = scores.masked_fill(torch.ones(N, N).triu(1).bool(), float("-inf"))
## own_triangle: You hide later tokens whatever the mask says: the triangle is one mask of many, and the caller gives
the one that is meant.
+ if mask is not None:
+     scores = scores.masked_fill(torch.ones(N, N).triu(1).bool(), float("-inf"))
## mask_turned [common-mistakes]: Your mask is turned round: True means *may look*, and you hide just that.
- scores = scores.masked_fill(~mask, float("-inf"))
+ scores = scores.masked_fill(mask, float("-inf"))
## mask_transposed: You read the mask with its axes exchanged; its last axis holds the sources.
+ scores = scores.masked_fill(~mask.mT, float("-inf"))
## not_of_a_table: `not mask` asks for one truth value; `~mask` turns every entry of the table round.
+ scores = scores.masked_fill(not mask, float("-inf"))
## mask_given_an_axis: You put an axis into the mask, which fits B × H × N × N as it comes.
+ scores = scores.masked_fill(~mask.unsqueeze(1), float("-inf"))
## mask_given_two_axes: You put two axes in front of every mask; N × N fits B × H × N × N as it comes, and so does a
mask that has four axes.
+ scores = scores.masked_fill(~mask[None, None], float("-inf"))
## itself_always_seen: You let every token look at itself, though the mask may forbid it.
+ scores = scores.masked_fill(~(mask | torch.eye(N).bool()), float("-inf"))
## ten_thousand_for_infinity [found-by-a-property]: You give hidden sources the score −10 000, but one in sight can lie
below it, whatever the number is: take −∞.
+ scores = scores.masked_fill(~mask, -1e4)
## hundred_for_infinity [found-by-a-property]: You give hidden sources the score −100, but one in sight can lie below
it: take −∞.
+ scores = scores.masked_fill(~mask, -100.0)
## zero_scores_hidden: You hide every score that is 0; a token in sight may have that score, too.
+ scores = (scores * mask).masked_fill(scores * mask == 0, float("-inf"))
## masked_to_zero: You give hidden sources the score 0, whose exponential is 1; take −∞.
+ scores = scores * mask
## mask_added: You add the mask: True counts as 1 and False as 0, and nothing is hidden.
+ scores = scores + mask
## mask_while_testing: You heed the mask in eval() mode alone; heed it in training, too.
- if mask is not None:
+ if mask is not None and not self.training:
## truth_of_a_table: `if mask:` asks for one truth value, and a mask has many: write `if mask is not None:`.
+ if mask:
## mask_too_late: The mask comes after the softmax: hidden sources still stand in the denominator.
- if mask is not None:
-     scores = scores.masked_fill(~mask, float("-inf"))
- weights = torch.softmax(scores, dim=-1)
+ weights = torch.softmax(scores, dim=-1) * (1 if mask is None else mask)
## never_mixed [concatenate-then-project]: You join and stop: the output map is never used.
- return self.out(y)
+ return y
## weights_as_well: You return the weights together with the outputs; here the outputs alone are asked for.
+ return self.out(y), weights
## no_biases [what-heads-cost]: Your output map has no bias; here all four maps have one.
- self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
+ self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model, bias=False)
## one_map_for_both: Your queries and keys share one map.
- q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.key, self.value))
+ q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.query, self.value))
## keys_and_values_exchanged: You compare with the values and hand over the keys.
+ q, k, v = (part(x).reshape(cut).transpose(1, 2) for part in (self.query, self.value, self.key))
""")
