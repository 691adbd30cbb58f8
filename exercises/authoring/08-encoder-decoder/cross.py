"""Exercise 08, question cross: attention with two sequences, the one that asks and the one that answers."""

import torch
from clearcheck import Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_checks import gradients_everywhere, parameter_count
from torch import nn

from .brought_modules import MultiHeadAttention
from .cross_inputs import back, draw_args, each_target_alone, every_source_read, gradients, outputs, weights_dropped
from .shared import A_MODULE, LARGE

QUESTION = Question(
    id="cross",
    title="One sequence looks at another",
    name="MultiHeadAttention",
    minutes=25,
    difficulty=2,
    checks=with_battery(
        equals("outputs", 5, outputs, MultiHeadAttention),
        equals("large scores", 1, lambda rng: [draw_args(rng, scale=30.0)], MultiHeadAttention, atol=LARGE),
        equals("gradients", 2, gradients, MultiHeadAttention),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        holds("each target alone", 2, each_target_alone),
        holds("every source", 2, every_source_read),
        holds("what is dropped", 2, weights_dropped),
        holds("parameters", 1, parameter_count(draw_args, lambda d_model, n_heads: 4 * d_model**2 + 4 * d_model)),
        mask=later_tokens("outputs", back, scores="query.weight"),
        off={
            "boundary": "what is compared is a number that is drawn and the rate of dropout, which it never equals",
        },
    ),
    hints=(
        "Take your attention of exercise 04. Which of its first three maps belong to the sequence that asks, and which "
        "to the one that answers?",
        "The scores of a head are N × S. Both lengths are free, so nothing may be cut by the length of the other. The "
        "mask has as many axes as the scores or fewer, and is spread over those that it lacks.",
        "Is there a future to hide? Only the caller knows, and says so with the mask: where it is False, the score is "
        "−∞ before the softmax. What dropout takes are the weights behind it.",
    ),
    section="cross-attention",
    **A_MODULE,
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.H, self.K, self.drop = n_heads, d_model // n_heads, nn.Dropout(dropout)

    def forward(self, x, source=None, mask=None):
        z = source if source is not None else x
        q, k, v = self.query(x), self.key(z), self.value(z)
        q, k, v = (part.reshape(*part.shape[:2], self.H, self.K).transpose(1, 2) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1) / self.K**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf)
        weights = self.drop(torch.softmax(scores, dim=-1))
        y = (weights @ v).transpose(1, 2).reshape(x.shape)
        return self.out(y)


@right
class WithLetters(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.out, self.value, self.key, self.query = (nn.Linear(d_model, d_model) for _ in range(4))
        self.heads, self.p = n_heads, dropout

    def forward(self, x, source=None, mask=None):
        memory = x if source is None else source
        asked = zip((self.query, self.key, self.value), (x, memory, memory), strict=True)
        q, k, v = (part(given).unflatten(2, (self.heads, -1)) for part, given in asked)
        A = torch.einsum("bnhk,bshk->bhns", q * q.shape[-1] ** -0.5, k)
        if mask is not None:
            A = torch.where(mask, A, -torch.inf)
        A = torch.exp(A - A.amax(dim=3, keepdim=True))
        A = nn.functional.dropout(A / A.sum(dim=3, keepdim=True), self.p, self.training)
        return self.out(torch.einsum("bhns,bshk->bnhk", A, v).flatten(2))


@right
class HeadAfterHead(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        for name in ("query", "key", "value", "out"):
            self.add_module(name, nn.Linear(d_model, d_model))
        self.width, self.rate = d_model // n_heads, dropout

    def forward(self, x, source=None, mask=None):
        if source is None:
            source = x
        maps = (self.query, x), (self.key, source), (self.value, source)
        found, hidden = [], None if mask is None else ~mask.expand(len(x), 1, x.shape[1], source.shape[1])[:, 0]
        for q, k, v in zip(*(part(given).split(self.width, 2) for part, given in maps), strict=True):
            scores = q @ k.mT * self.width**-0.5
            shares = (scores if hidden is None else scores.masked_fill(hidden, -torch.inf)).softmax(2)
            if self.training:
                shares = shares * (torch.rand_like(shares) >= self.rate) / (1 - self.rate)
            found.append(shares @ v)
        return self.out(torch.cat(found, 2))


@wrong("PyTorch's own attention does the work that is asked for.")
class Borrowed(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.H, self.p = n_heads, dropout

    def forward(self, x, source=None, mask=None):
        z = source if source is not None else x
        q, k, v = self.query(x), self.key(z), self.value(z)
        q, k, v = (part.unflatten(-1, (self.H, -1)).transpose(1, 2) for part in (q, k, v))
        rate = self.p if self.training else 0.0
        y = nn.functional.scaled_dot_product_attention(q, k, v, mask, rate)
        return self.out(y.transpose(1, 2).flatten(2))


wrong.edits("""
# Plain
## looks_at_itself: Keys and values come from x: the source is never read.
- q, k, v = self.query(x), self.key(z), self.value(z)
+ q, k, v = self.query(x), self.key(x), self.value(x)
## keys_from_the_target: The keys come from x; a query is compared with the tokens of the source.
+ q, k, v = self.query(x), self.key(x), self.value(z)
## values_from_the_target: The values come from x; what is looked up lies in the source.
+ q, k, v = self.query(x), self.key(z), self.value(x)
## source_asks: The source asks and x answers: the roles are exchanged.
+ q, k, v = self.query(z), self.key(x), self.value(x)
## one_map_for_keys_and_values [four-facts-about-cross-attention]: Keys and values come from the same map.
+ q, k, v = self.query(x), self.key(z), self.key(z)
## mask_the_other_way [common-mistakes]: You hide where the mask is True; True says that a target may look.
- scores = scores.masked_fill(mask == 0, -torch.inf)
+ scores = scores.masked_fill(mask, -torch.inf)
## mask_ignored: The mask is never used, whatever it hides.
+ pass
## mask_ignored_with_a_source [the-two-stacks]: You use the mask without a source alone; in the source it hides padding.
- if mask is not None:
+ if mask is not None and source is None:
## mask_ignored_without_a_source: You use the mask with a source alone; a causal one comes without.
+ if mask is not None and source is not None:
## minus_ten_thousand [the-mask-goes-before-the-softmax]: What is hidden gets the score −10,000, and one in sight can
lie below that: take −∞.
- scores = scores.masked_fill(mask == 0, -torch.inf)
+ scores = scores.masked_fill(mask == 0, -1e4)
## mask_added: You add the mask to the scores, which makes those in sight larger by 1 and hides nothing.
+ scores = scores + mask
## mask_multiplied: You multiply the scores by the mask: what is hidden has the score 0, and its share of the weights.
+ scores = scores * mask
## hidden_after_the_softmax [the-mask-goes-before-the-softmax]: The mask comes after the softmax, so the weights of a
target no longer sum to 1.
- if mask is not None:
-     scores = scores.masked_fill(mask == 0, -torch.inf)
- weights = self.drop(torch.softmax(scores, dim=-1))
+ weights = self.drop(torch.softmax(scores, dim=-1))
+ if mask is not None:
+     weights = weights * mask
## always_causal: Without a source you hide later tokens, whatever the mask says; who may look is for the caller to say.
- scores = q @ k.transpose(-2, -1) / self.K**0.5
+ scores = q @ k.transpose(-2, -1) / self.K**0.5
+ if source is None:
+     scores = scores.masked_fill(torch.ones_like(scores).tril() == 0, -torch.inf)
## triangle [four-facts-about-cross-attention]: You hide later sources; the whole source was there before the first
token was written.
+ scores = q @ k.transpose(-2, -1) / self.K**0.5
+ if source is not None:
+     scores = scores.masked_fill(torch.ones_like(scores).tril() == 0, -1e30)
## over_targets: The softmax runs over the targets; the sources lie along the last axis.
- weights = self.drop(torch.softmax(scores, dim=-1))
+ weights = self.drop(torch.softmax(scores, dim=-2))
## over_heads: The softmax runs over the heads, which do not compete.
+ weights = self.drop(torch.softmax(scores, dim=1))
## exp_alone: You take the exponentials as they are; large scores overflow, so subtract the largest of a row first.
+ weights = self.drop(scores.exp() / scores.exp().sum(-1, keepdim=True))
## zeros_hidden [the-two-stacks]: Tokens of the source that are 0 are taken for padding; only the mask says what is
hidden.
+ weights = self.drop(torch.softmax(scores.masked_fill((z == 0).all(-1)[:, None, None], -1e30), dim=-1))
## never_dropping: The weights are never dropped, whatever `dropout` says.
+ weights = torch.softmax(scores, dim=-1)
## always_dropping: The weights are dropped in eval() mode, too.
+ weights = nn.functional.dropout(torch.softmax(scores, dim=-1), self.drop.p)
## scores_dropped: You drop scores, before the softmax: a score of 0 still gets its share. Drop the weights.
+ weights = torch.softmax(self.drop(scores), dim=-1)
## a_tenth_of_the_weights: A tenth of the weights is dropped, whatever `dropout` says.
+ weights = nn.functional.dropout(torch.softmax(scores, dim=-1), 0.1, self.training)
## values_dropped: You drop numbers of the values; drop the weights, each drawn on its own.
- weights = self.drop(torch.softmax(scores, dim=-1))
- y = (weights @ v).transpose(1, 2).reshape(x.shape)
+ weights = torch.softmax(scores, dim=-1)
+ y = (weights @ self.drop(v)).transpose(1, 2).reshape(x.shape)
## outputs_dropped: You drop numbers of the output, which is the work of the block; drop the weights.
- weights = self.drop(torch.softmax(scores, dim=-1))
+ weights = torch.softmax(scores, dim=-1)
...
- return self.out(y)
+ return self.drop(self.out(y))
## a_tenth_unasked: Without the argument `dropout` a tenth of the weights is dropped; nothing should be.
- def __init__(self, d_model, n_heads, dropout=0.0):
+ def __init__(self, d_model, n_heads, dropout=0.1):
## interleaved: Your heads take and give back every H-th feature; each owns K neighbouring ones.
- q, k, v = (part.reshape(*part.shape[:2], self.H, self.K).transpose(1, 2) for part in (q, k, v))
+ q, k, v = (part.reshape(*part.shape[:2], self.K, self.H).permute(0, 3, 1, 2) for part in (q, k, v))
- y = (weights @ v).transpose(1, 2).reshape(x.shape)
+ y = (weights @ v).permute(0, 2, 3, 1).reshape(x.shape)
## one_head_for_all: All features make one head, whatever `n_heads` says.
- self.H, self.K, self.drop = n_heads, d_model // n_heads, nn.Dropout(dropout)
+ self.H, self.K, self.drop = 1, d_model, nn.Dropout(dropout)
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
## source_of_the_first_call: The source of the first call is kept and looked at in the later ones, too.
- q, k, v = self.query(x), self.key(z), self.value(z)
+ self.first = z = getattr(self, "first", z)
+ q, k, v = self.query(x), self.key(z), self.value(z)
## never_mixed: You join the heads and stop: the output map is never used.
- return self.out(y)
+ return y
## added_already [the-whole-block]: You add x to the result; that is the work of the block.
+ return x + self.out(y)
## no_bias: Your keys have no bias; here all four maps have one.
- self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
+ self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model, bias=False)
## source_as_long_as_x: You cut keys and values by the length of x; the source has a length of its own.
- q, k, v = (part.reshape(*part.shape[:2], self.H, self.K).transpose(1, 2) for part in (q, k, v))
+ q, k, v = (part.reshape(*x.shape[:2], self.H, self.K).transpose(1, 2) for part in (q, k, v))
## keys_not_turned: The keys are not transposed: a score is the product of a query's row and a key's.
- scores = q @ k.transpose(-2, -1) / self.K**0.5
+ scores = q @ k / self.K**0.5
## mask_with_an_axis_more: You give the mask one more axis; it comes as it should be spread over the scores.
- scores = scores.masked_fill(mask == 0, -torch.inf)
+ scores = scores.masked_fill(mask[:, None] == 0, -torch.inf)
""")
