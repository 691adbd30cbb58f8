"""Exercise 04, question museum: Stretch: repair the museum piece."""

import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.worker.forbidden_names import ATTENTION
from torch import nn
from torch.nn import functional as F

from .museum_calls import FAR_SCORES, all_tokens, heads_apart, large_scores, order_and_future, who_may_look
from .shared import LARGE


class ByTorch(nn.Module):
    """The layer whose attention is PyTorch's own, with its mask: True where a target may look."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.qkv, self.out = n_heads, nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        parts = (torch.stack(part.chunk(self.n_heads, dim=-1), dim=1) for part in self.qkv(x).chunk(3, dim=-1))
        found = F.scaled_dot_product_attention(*parts, attn_mask=mask)
        return self.out(torch.cat(found.unbind(1), dim=-1))


QUESTION = Question(
    id="museum",
    title="Stretch: repair the museum piece",
    name="RepairedAttention",
    minutes=25,
    difficulty=3,
    checks=with_battery(
        equals("all tokens", 5, all_tokens, ByTorch),
        equals("with a mask", 4, who_may_look, ByTorch),
        equals("large scores", 2, large_scores, ByTorch, atol=LARGE),
        holds("order and future", 4, order_and_future),
        holds("heads apart", 3, heads_apart),
        mask=FAR_SCORES,
        also=("with a mask",),
    ),
    hints=(
        "The softmax and the mask are right. Look at each line that changes a shape, and at the number under the root.",
        "Put 10·token + feature into a tensor of 1 × 3 × 4 in place of the queries, cut it into 2 heads as the museum "
        "does, and look at what each head gets; then look at what becomes of it on the way back.",
        "Two lines move numbers from token to token without changing any shape, and the second partly undoes "
        "the first. The third slip depends on how wide a token is, where it should depend on how wide a head "
        "is.",
    ),
    section="the-mistake-that-keeps-every-shape",
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=ATTENTION,
)

right, wrong = answers_to(QUESTION)


@right
class ThreeRepairs(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.H, self.qkv, self.out = n_heads, nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, N, D = x.shape
        q, k, v = (part.reshape(B, N, self.H, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        table = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            table = table.masked_fill(~mask, -torch.inf)
        A = torch.softmax(table, dim=-1)
        mixed = A @ v
        return self.out(mixed.transpose(1, 2).reshape(B, N, D))


@right
class CutAtOnce(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.H, self.out, self.qkv = n_heads, nn.Linear(d_model, d_model), nn.Linear(d_model, 3 * d_model)

    def forward(self, x, mask=None):
        q, k, v = self.qkv(x).unflatten(2, (3, self.H, -1)).unbind(2)  # B N H K
        table = torch.einsum("bnhk,bshk->bhns", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            table = torch.where(mask, table, -torch.inf)
        return self.out(torch.einsum("bhns,bshk->bnhk", table.softmax(3), v).flatten(2))


@right
class HeadAfterHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.H, self.qkv, self.out = n_heads, nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, N, D = x.shape
        mask = torch.ones(N, N).bool() if mask is None else mask
        mask, K, found = mask.expand(B, self.H, N, N), D // self.H, []
        for h in range(self.H):
            q, k, v = (self.qkv(x)[..., start + h * K : start + h * K + K] for start in (0, D, 2 * D))
            table = (q @ k.mT * K**-0.5).masked_fill(~mask[:, h], -torch.inf)
            found.append(table.softmax(2) @ v)
        return self.out(torch.cat(found, 2))


@wrong("This is the museum piece as it stood: three slips are left.")
class AsExhibited(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.H, self.qkv, self.out = n_heads, nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        B, N, D = x.shape
        q, k, v = (part.reshape(B, self.H, N, -1) for part in self.qkv(x).chunk(3, dim=-1))
        table = q @ k.mT / D**0.5
        if mask is not None:
            table = table.masked_fill(~mask, -torch.inf)
        return self.out((torch.softmax(table, dim=-1) @ v).reshape(B, N, D))


wrong.edits("""
# ThreeRepairs
## only_split_repaired: The split is repaired, and now the join shows its fault; the scale is wrong as well.
- table = q @ k.mT / q.shape[-1] ** 0.5
+ table = q @ k.mT / D**0.5
- return self.out(mixed.transpose(1, 2).reshape(B, N, D))
+ return self.out(mixed.reshape(B, N, D))
## only_join_repaired: The join is repaired, and now the split shows its fault; the scale is wrong as well.
- q, k, v = (part.reshape(B, N, self.H, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
- table = q @ k.mT / q.shape[-1] ** 0.5
+ q, k, v = (part.reshape(B, self.H, N, -1) for part in self.qkv(x).chunk(3, dim=-1))
+ table = q @ k.mT / D**0.5
## only_scale_repaired: The scale is repaired; tokens still lose their numbers to one another, on the way in and on the
way out.
- q, k, v = (part.reshape(B, N, self.H, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
+ q, k, v = (part.reshape(B, self.H, N, -1) for part in self.qkv(x).chunk(3, dim=-1))
- return self.out(mixed.transpose(1, 2).reshape(B, N, D))
+ return self.out(mixed.reshape(B, N, D))
## split_still_wrong: One slip is left, on the way in: a head gets pieces of other tokens.
- q, k, v = (part.reshape(B, N, self.H, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
+ q, k, v = (part.reshape(B, self.H, N, -1) for part in self.qkv(x).chunk(3, dim=-1))
## every_h_th_on_the_way_in [the-reshape-trick]: On the way in your heads take every H-th feature, not neighbours.
+ q, k, v = (part.reshape(B, N, -1, self.H).permute(0, 3, 1, 2) for part in self.qkv(x).chunk(3, dim=-1))
## cut_head_by_head [common-mistakes]: You cut queries, keys and values of head 0 first, then those of head 1; the
projection makes all queries, all keys, all values.
+ q, k, v = self.qkv(x).unflatten(-1, (self.H, 3, -1)).permute(3, 0, 2, 1, 4)
## values_first [common-mistakes]: You take the three parts of the projection in another order: queries come first, then
keys, then values.
+ v, k, q = (part.reshape(B, N, self.H, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
## join_still_wrong: One slip is left, on the way out: a token gets pieces of other tokens.
- return self.out(mixed.transpose(1, 2).reshape(B, N, D))
+ return self.out(mixed.reshape(B, N, D))
## alternating_on_the_way_out [the-reshape-trick]: On the way out your features alternate between the heads.
+ return self.out(mixed.permute(0, 2, 3, 1).reshape(B, N, D))
## every_h_th_in_and_out [the-reshape-trick]: Your heads take every H-th feature, in and out; the layer is consistent,
but these weights were made for neighbours.
- q, k, v = (part.reshape(B, N, self.H, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
+ q, k, v = (part.reshape(B, N, -1, self.H).permute(0, 3, 1, 2) for part in self.qkv(x).chunk(3, dim=-1))
- return self.out(mixed.transpose(1, 2).reshape(B, N, D))
+ return self.out(mixed.permute(0, 2, 3, 1).reshape(B, N, D))
## scale_still_wrong [common-mistakes]: One slip is left: the sharpness depends on how wide a token is.
- table = q @ k.mT / q.shape[-1] ** 0.5
+ table = q @ k.mT / D**0.5
## scale_removed [common-mistakes]: The scale is gone: nothing depends on the width of a token any more, but the scores
grow with that of a head.
+ table = q @ k.mT
## root_of_the_heads [common-mistakes]: You take the root of the number of heads; a score sums over the width of one.
+ table = q @ k.mT / self.H**0.5
## softmax_spoilt [several-heads-at-once]: You moved the softmax to another axis: it was right in the museum piece.
- A = torch.softmax(table, dim=-1)
+ A = torch.softmax(table, dim=-2).nan_to_num()
## own_value [found-by-a-property]: Every token gets its own value back: nothing leaks, but no token looks at another.
- mixed = A @ v
+ mixed = v
## mask_lost [found-by-a-property]: You lost the mask on the way: where it says False a token may not look.
- if mask is not None:
-     table = table.masked_fill(~mask, -torch.inf)
## mask_always [found-by-a-property]: You hide later tokens always; without a mask every token looks at all of them.
+ mask = torch.ones(N, N).tril().bool() if mask is None else mask
+ table = table.masked_fill(~mask, -torch.inf)
## mask_turned [common-mistakes]: You turned the mask round: True means *may look*.
- table = table.masked_fill(~mask, -torch.inf)
+ table = table.masked_fill(mask, -torch.inf)
## masked_to_zero [found-by-a-property]: You changed the mask: a score of 0 is a score like any other, and its
exponential is 1.
+ table = table * mask
## hundred_for_infinity [found-by-a-property]: You changed the mask: a score can lie below −100, and then what is hidden
gets the weight.
+ table = table.masked_fill(~mask, -100.0)
## mask_not_low_enough [found-by-a-property]: You hide with −10 000, but a score can lie below: take −∞.
+ table = table.masked_fill(~mask, -1e4)
## mask_subtracted [found-by-a-property]: You take 10 000 off hidden scores; one that is higher by more is still seen,
so take −∞.
+ table = table - 1e4 * ~mask
""")
