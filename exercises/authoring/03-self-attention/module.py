"""Exercise 03, question module: self-attention as a module, with a mask or without."""

import math

import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_checks import causal, gradients_everywhere, parameter_count, rows_independent
from clearcheck.worker.forbidden_names import ATTENTION
from torch import nn
from torch.nn import functional as F

from .masked_calls import all_tokens, draw_args, draw_causal, draw_large_causal, gradients, who_may_look


class ByTorch(nn.Module):
    """The layer whose attention is PyTorch's own, with its mask: True where a target may look."""

    def __init__(self, d_model, d_head):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))

    def forward(self, x, mask=None):
        return F.scaled_dot_product_attention(self.query(x), self.key(x), self.value(x), attn_mask=mask)


QUESTION = Question(
    id="module",
    title="Self-attention as a module",
    name="SelfAttention",
    minutes=20,
    difficulty=2,
    checks=with_battery(
        equals("all tokens", 5, all_tokens, ByTorch),
        equals("with a mask", 4, who_may_look, ByTorch),
        equals("gradients", 2, gradients, ByTorch),
        holds("later tokens", 2, causal(draw_causal, draw_large_causal)),
        holds("rows of the batch", 1, rows_independent(draw_args)),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        holds("parameters", 1, parameter_count(draw_args, lambda d_model, d_head: 3 * d_model * d_head)),
        also=("with a mask",),
        mask=later_tokens("with a mask", draw_causal, scores="query.weight"),
    ),
    hints=(
        "Three linear maps in the constructor; in forward a product, a root, a softmax, another product.",
        "With tokens in rows the scores are queries times transposed keys, B × N × N, and a target has a row.",
        "Where the mask says False the score becomes -inf, before the softmax. Which sign turns a table of True and "
        "False round?",
    ),
    section="self-attention-in-pytorch",
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=ATTENTION,
)

right, wrong = answers_to(QUESTION)


@right
class StepByStep(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))

    def forward(self, x, mask=None):
        asked, offered, handed = self.query(x), self.key(x), self.value(x)
        table = asked @ offered.transpose(1, 2) / asked.shape[-1] ** 0.5
        if mask is not None:
            table = table.masked_fill(~mask, float("-inf"))
        shares = torch.softmax(table, dim=-1)
        return shares @ handed


@right
class Summed(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.value, self.key, self.query = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))
        self.scale = d_head**-0.5

    def forward(self, x, mask=None):
        table = torch.einsum("bnk,bsk->bns", self.query(x), self.key(x)) * self.scale
        if mask is not None:
            table = table + torch.zeros(mask.shape).masked_fill(mask.logical_not(), -torch.inf)
        return torch.einsum("bns,bsk->bnk", table.softmax(-1), self.value(x))


@right
class TokenByToken(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))

    def forward(self, x, mask=None):
        rows = []
        for n in range(x.shape[1]):
            table = (self.key(x) * self.query(x[:, n : n + 1])).sum(-1) / len(self.query.weight) ** 0.5
            if mask is not None:
                table = torch.where(mask[..., n, :], table, -math.inf)
            rows.append((table.softmax(-1)[..., None] * self.value(x)).sum(1))
        return torch.stack(rows, 1)


@wrong("PyTorch's own attention does the work that is asked for.")
class Borrowed(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))

    def forward(self, x, mask=None):
        attend = nn.functional.scaled_dot_product_attention
        return attend(self.query(x), self.key(x), self.value(x), attn_mask=mask)


wrong.edits("""
# StepByStep
## sequences_flattened: The sequences of a batch see each other: you flatten them into one before the softmax.
- asked, offered, handed = self.query(x), self.key(x), self.value(x)
+ shape, x, mask = x.shape[:2], x.reshape(1, -1, x.shape[2]), None
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
## cut_off: No gradient reaches queries and keys.
+ shares = torch.softmax(table, dim=-1).detach()
## shares_dropped: Dropout acts on your weights in training; the task has none.
+ shares = nn.functional.dropout(torch.softmax(table, dim=-1), 0.1, self.training)
## mask_ignored [the-causal-mask]: A mask is given, and your outputs are those without one.
- if mask is not None:
-     table = table.masked_fill(~mask, float("-inf"))
## own_triangle [the-causal-mask]: You hide later tokens whatever the mask says: the triangle is one mask of many, and
the caller gives the one that is meant.
-     table = table.masked_fill(~mask, float("-inf"))
+     table = table.masked_fill(torch.ones(x.shape[1], x.shape[1]).triu(1).bool(), float("-inf"))
## triangle_and_no_mask [the-causal-mask]: You hide later tokens always and never read the mask: the caller says who may
look, and without a mask everybody may.
- if mask is not None:
-     table = table.masked_fill(~mask, float("-inf"))
+ table = table.masked_fill(torch.ones(x.shape[1], x.shape[1]).triu(1).bool(), float("-inf"))
## always_looking_back [the-causal-mask]: Without a mask every token looks at all tokens; you hide the later ones.
- if mask is not None:
-     table = table.masked_fill(~mask, float("-inf"))
+ if mask is None:
+     mask = torch.ones(x.shape[1], x.shape[1]).tril().bool()
+ table = table.masked_fill(~mask, float("-inf"))
## mask_turned [the-causal-mask]: Your mask is turned round: True means *may look*, and you hide just that.
- table = table.masked_fill(~mask, float("-inf"))
+ table = table.masked_fill(mask, float("-inf"))
## mask_transposed [the-causal-mask]: You read the mask with its axes exchanged; a row of it belongs to the target.
+ table = table.masked_fill(~mask.mT, float("-inf"))
## not_of_a_table [the-causal-mask]: `not mask` asks for one truth value; `~mask` turns every entry of the table round.
+ table = table.masked_fill(not mask, float("-inf"))
## mask_given_an_axis [the-causal-mask]: You put an axis into the mask, which fits B × N × N as it comes.
+ table = table.masked_fill(~mask.unsqueeze(0), float("-inf"))
## itself_always_seen [the-causal-mask]: You let every token look at itself, though the mask may forbid it.
+ table = table.masked_fill(~(mask | torch.eye(x.shape[1]).bool()), float("-inf"))
## one_mask_for_all [the-causal-mask]: With a mask for each sequence you take the first one for all of them.
+ table = table.masked_fill(~(mask[0] if mask.ndim > 2 else mask), float("-inf"))
## zero_scores_hidden [the-causal-mask]: You hide every score that is 0; a token in sight may have that score, too.
+ table = (table * mask).masked_fill(table * mask == 0, float("-inf"))
## mask_multiplied [the-causal-mask]: You multiply the scores by the mask: a score of 0 is a score like any other, and
its exponential is 1. Take −∞.
+ table = table * mask
## mask_added [the-causal-mask]: You add the mask: True counts as 1 and False as 0, and nothing is hidden.
+ table = table + mask
## ten_for_infinity [the-causal-mask]: Ten less leaves the hidden sources a small share; their score should be −∞.
+ table = table - 10.0 * ~mask
## hundred_for_infinity [the-causal-mask]: You give hidden sources the score −100, but one in sight can lie below it:
take −∞.
+ table = table.masked_fill(~mask, -100.0)
## ten_thousand_for_infinity [the-causal-mask]: You give hidden sources the score −10 000, but one in sight can lie
below it, whatever the number is: take −∞.
+ table = table.masked_fill(~mask, -1e4)
## mask_while_testing [the-causal-mask]: You heed the mask in eval() mode alone; heed it in training, too.
- if mask is not None:
+ if mask is not None and not self.training:
## truth_of_a_table [the-causal-mask]: `if mask:` asks for one truth value, and a mask has many: write `if mask is not
None:`.
+ if mask:
## mask_too_late [the-causal-mask]: The mask comes after the softmax: hidden sources still stand in the denominator.
- if mask is not None:
-     table = table.masked_fill(~mask, float("-inf"))
- shares = torch.softmax(table, dim=-1)
+ shares = torch.softmax(table, dim=-1) * (1 if mask is None else mask)
## one_map [third-rung-queries-and-keys]: Queries and keys come from the same map, so the scores are symmetric.
- asked, offered, handed = self.query(x), self.key(x), self.value(x)
+ asked, offered, handed = self.query(x), self.query(x), self.value(x)
## keys_handed_over [values]: You average the keys: what a token offers and what it hands over are two things.
+ asked, offered, handed = self.query(x), self.key(x), self.key(x)
## with_biases: The maps have biases, which the task leaves out.
- self.query, self.key, self.value = (nn.Linear(d_model, d_head, bias=False) for _ in range(3))
+ self.query, self.key, self.value = (nn.Linear(d_model, d_head) for _ in range(3))
## one_sequence_squeezed: For a batch of one sequence the outputs lose the axis of the batch.
- return shares @ handed
+ return (shares @ handed).squeeze(0)
## shares_too: The weights are returned together with the result; the outputs alone are asked for.
+ return shares @ handed, shares
""")
