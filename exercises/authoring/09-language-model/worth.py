"""Exercise 09, question worth: what a head is needed for, measured with a hook."""

import numpy as np
import torch
from clearcheck import AnswerProblem, Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.grading.question import CallStopped, NotAnswered
from torch import nn
from torch.nn import functional as F

from . import gpt
from .parts import GPT
from .shared import BRINGS, NO_LAYERS_OF_TORCH


class WorthReference(nn.Module):
    """Without any hook: the columns of ``out`` that read a head are set to zero, and put back."""

    def __init__(self, n_vocab, n_positions, d_model, n_heads, n_layers):
        super().__init__()
        self.gpt, self.n_heads = GPT(n_vocab, n_positions, d_model, n_heads, n_layers), n_heads

    @torch.no_grad()
    def forward(self, ids):
        return torch.stack([self.of_layer(block.attention.out.weight, ids) for block in self.gpt.blocks])

    def of_layer(self, weight, ids):
        kept, whole, losses = weight.clone(), mean_loss(self.gpt, ids), []
        for columns in torch.arange(weight.shape[1]).chunk(self.n_heads):
            weight[:, columns] = 0
            losses.append(mean_loss(self.gpt, ids) - whole)
            weight.copy_(kept)
        return torch.stack(losses)


def mean_loss(model, ids):
    return F.cross_entropy(model(ids[:, :-1]).mT, ids[:, 1:])


def draw_args(rng, rows=3, tokens=6, **options):
    """As for the GPT, whose weights have here the name of the part before their own."""
    options = {"dropout": None} | options
    (plan,) = gpt.draw_args(rng, rows=rows, tokens=tokens, **options)
    louder = {name: 2 * weight for name, weight in plan["weights"].items() if name.endswith("out.weight")}
    weights = {f"gpt.{name}": weight for name, weight in (plan["weights"] | louder).items()}
    return ({**plan, "weights": weights},)


def several_heads(rng):
    given = {}, {"n_heads": 4, "d_model": 20}, {"n_layers": 3, "d_model": 8, "n_heads": 2}, {"rows": 7, "tokens": 4}
    return [*(draw_args(rng, **one) for one in given), draw_args(rng, gives="changed")]


def at_the_limits(rng):
    """One head, which is the whole layer; one block; a single token that is asked for; as many as are read."""
    given = {"n_heads": 1, "d_model": 7}, {"n_layers": 1}, {"rows": 1, "tokens": 2}, {"tokens": 11}
    return [draw_args(rng, **one) for one in given]


def one_token_more(ask, rng):
    """A text that is one token longer than the model has positions, since the last token is not read."""
    (plan,) = draw_args(rng, tokens=12)
    try:
        came = ask(plan)
    except (NotAnswered, CallStopped):
        raise
    except AnswerProblem:
        if "out of range" not in ask.calls[-1].reply.get("text", ""):
            raise
        return (
            "With 11 positions and a text of 12 tokens your model reads the last token, too, for which it has no "
            "position. Nothing is asked behind it: leave it out of what is read."
        )
    return None if np.shape(came) == (2, 3) else f"A 2 × 3 table is expected; yours has the shape {np.shape(came)}."


def nothing_is_left(ask, rng):
    """The same text twice, with another one in between."""
    (plan,) = draw_args(rng)
    (ids,) = plan["calls"][0]
    came = ask({**plan, "calls": [(ids,), (ids[:, ::-1].copy(),), (ids,)]})
    first, _, again = (np.asarray(one) for one in came)
    if first.shape != (2, 3):
        return f"For 2 blocks of 3 heads a 2 × 3 table is expected; yours has the shape {first.shape}."
    if np.abs(first - again).max() > 1e-4:
        return (
            "The same text, measured a second time, gives other numbers: something is left in the model. Is every hook "
            "removed, also that of the last head?"
        )
    without = {name: 0 * w if "attention.out" in name else w for name, w in plan["weights"].items()}
    if np.abs(np.asarray(ask({**plan, "weights": without}))).max() > 1e-5:
        return "With weights of 0 in every `out` no head writes anything, so each is worth 0; yours are not."
    return None


QUESTION = Question(
    id="worth",
    title="What a head is worth",
    name="HeadWorth",
    minutes=25,
    difficulty=2,
    checks=with_battery(
        equals("values", 5, several_heads, WorthReference),
        equals("at the limits", 1, at_the_limits, WorthReference),
        holds("one token more", 1, one_token_more),
        holds("as it was", 3, nothing_is_left),
        off={
            "gradients": "it measures, and nothing is learned from it",
            "mask": "the mask is that of the GPT of question 3",
            "one of each": "of one token nothing is asked",
            "many tokens": "the GPT has few positions",
        },
    ),
    hints=(
        "First the loss of the whole model: it reads all tokens but the last and is asked for all but the first.",
        "Inside the hook `inputs[0]` is B × N × D. `unflatten(-1, (H, -1))` makes it B × N × H × K: which of the four "
        "axes counts the heads? Clone it before you set one head to 0, and give a tuple back.",
        "For each block and each head: register the hook on this block's `attention.out`, measure, remove it, subtract "
        "the loss of the whole model.",
    ),
    section="an-induction-head",
    brings=BRINGS,
    seconds=20.0,
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=NO_LAYERS_OF_TORCH,
    leans_on=("gpt",),
)

right, wrong = answers_to(QUESTION)


@right
class HookOfEachHead(nn.Module):
    def __init__(self, n_vocab, n_positions, d_model, n_heads, n_layers):
        super().__init__()
        self.gpt = GPT(n_vocab, n_positions, d_model, n_heads, n_layers)
        self.n_heads = n_heads

    def loss(self, ids):
        logits = self.gpt(ids[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).item()

    def forward(self, ids):
        table = torch.zeros(len(self.gpt.blocks), self.n_heads)
        whole = self.loss(ids)
        for m, block in enumerate(self.gpt.blocks):
            for h in range(self.n_heads):
                silenced = self.silence(block.attention.out, h)
                table[m, h] = self.loss(ids) - whole
                silenced.remove()
        return table

    def silence(self, layer, h):
        def zero(layer, inputs):
            heads = inputs[0].unflatten(-1, (self.n_heads, -1)).clone()
            heads[..., h, :] = 0
            return (heads.flatten(-2),)

        return layer.register_forward_pre_hook(zero)


@right
class OneHookForAll(nn.Module):
    def __init__(self, n_vocab, n_positions, d_model, n_heads, n_layers):
        super().__init__()
        self.gpt, self.n_heads, self.off = GPT(n_vocab, n_positions, d_model, n_heads, n_layers), n_heads, None

    @torch.no_grad()
    def forward(self, ids):
        hooks = [block.attention.out.register_forward_pre_hook(self.quiet) for block in self.gpt.blocks]
        losses = []
        for block in self.gpt.blocks:
            for h in range(self.n_heads):
                self.off = block.attention.out, h
                losses.append(self.surprise(ids))
        self.off = None
        whole = self.surprise(ids)
        for hook in hooks:
            hook.remove()
        return torch.stack(losses).view(len(self.gpt.blocks), -1) - whole

    def surprise(self, ids):
        log_p = self.gpt(ids[:, :-1]).log_softmax(-1)
        return -log_p.gather(2, ids[:, 1:, None]).mean()

    def quiet(self, layer, given):
        if self.off is None or self.off[0] is not layer:
            return given
        width = given[0].shape[2] // self.n_heads
        feature = torch.arange(given[0].shape[2])
        return (given[0] * (feature // width != self.off[1]),)


@right
class WhatTheHeadWrites(nn.Module):
    def __init__(self, n_vocab, n_positions, d_model, n_heads, n_layers):
        super().__init__()
        self.gpt = GPT(n_vocab, n_positions, d_model, n_heads, n_layers)
        self.shape = n_layers, n_heads

    def forward(self, ids):
        """Behind ``out``: what the head has written there is taken off again."""
        worth = torch.empty(self.shape)
        for m in range(self.shape[0]):
            for h in range(self.shape[1]):
                worth[m, h] = self.without(m, h, ids) - self.without(m, None, ids)
        return worth

    def without(self, m, h, ids):
        out = self.gpt.blocks[m].attention.out
        part = slice(0, 0) if h is None else slice(*(i * out.in_features // self.shape[1] for i in (h, h + 1)))

        def take_off(layer, given, y):
            return y - given[0][..., part] @ layer.weight[:, part].T

        with torch.no_grad():
            hook = out.register_forward_hook(take_off)
            loss = F.cross_entropy(self.gpt(ids[:, :-1]).mT, ids[:, 1:])
            hook.remove()
        return loss


wrong.edits("""
# HookOfEachHead
## hook_left: Your hooks stay: each head is measured with all those before it silenced. Call `.remove()`.
- silenced.remove()
## only_the_loss: You return the loss without the head; what it is worth is by how much the loss grows.
- table[m, h] = self.loss(ids) - whole
+ table[m, h] = self.loss(ids)
## turned_round: You subtract the loss without the head from that of the whole model: a head that helps is worth more
than 0.
+ table[m, h] = whole - self.loss(ids)
## ratio: You divide the two losses; the difference is asked for.
+ table[m, h] = self.loss(ids) / whole
## in_bits: Your losses are in bits; nats are asked for.
+ table[m, h] = (self.loss(ids) - whole) / 0.6931471805599453
## every_h_th_feature: You silence every H-th feature; the heads stand side by side, each with D / H features in a row.
- heads = inputs[0].unflatten(-1, (self.n_heads, -1)).clone()
- heads[..., h, :] = 0
+ heads = inputs[0].unflatten(-1, (-1, self.n_heads)).clone()
+ heads[..., h] = 0
## all_but_one: You silence all heads but one.
- heads[..., h, :] = 0
+ heads[..., :h, :] = 0
+ heads[..., h + 1 :, :] = 0
## token_for_head: You silence a token in place of a head: cut into heads the input is B × N × H × K, and axis 1 counts
the tokens. The heads are axis 2.
+ heads[:, h] = 0
## all_heads_at_once: You silence all heads of the block at once; it is one head at a time.
+ heads[:] = 0
## in_every_block: You silence the head in all blocks at once; it is that of one block.
- silenced = self.silence(block.attention.out, h)
+ every = [self.silence(one.attention.out, h) for one in self.gpt.blocks]
- silenced.remove()
+ for silenced in every:
+     silenced.remove()
## always_the_first_block: You silence heads of the first block alone.
- silenced = self.silence(block.attention.out, h)
+ silenced = self.silence(self.gpt.blocks[0].attention.out, h)
## one_head_on: You silence the head beside the one that is meant.
+ silenced = self.silence(block.attention.out, (h + 1) % self.n_heads)
## behind_out: You set a part of what `out` gives to zero. There the heads are mixed; silence a head in front of it.
- return layer.register_forward_pre_hook(zero)
+ return layer.register_forward_hook(lambda layer, given, y: zero(layer, (y,))[0])
## of_the_queries: You silence a part of the queries: then the head looks at all tokens alike, and writes all the same.
- silenced = self.silence(block.attention.out, h)
+ silenced = self.silence(block.attention.query, h)
- return layer.register_forward_pre_hook(zero)
+ return layer.register_forward_hook(lambda layer, given, y: zero(layer, (y,))[0])
## not_shifted: Your model is asked for the token that it reads; asked for is the next one.
- logits = self.gpt(ids[:, :-1])
- return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).item()
+ logits = self.gpt(ids)
+ return F.cross_entropy(logits.flatten(0, 1), ids.flatten()).item()
## reads_the_last_too: Your model reads the last token, too. Nothing is asked behind it, and a text may be one token
longer than the model has positions: leave it out of what is read.
- logits = self.gpt(ids[:, :-1])
+ logits = self.gpt(ids)[:, :-1]
## last_token_only: You measure the last token alone; the mean of all that are asked for is meant.
- return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).item()
+ return F.cross_entropy(logits[:, -1], ids[:, -1]).item()
## sum_of_losses: You add up the losses of the tokens; their mean is asked for.
+ return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="sum").item()
## heads_down_the_rows: Your table has a row for each head; a row belongs to a block.
- return table
+ return table.T
## one_number_a_block: You give one number for each block; each of its heads has its own.
+ return table.sum(dim=1)
## whole_without_the_head: Your model with all heads is measured while the head is silent: every difference is 0.
- table[m, h] = self.loss(ids) - whole
+ table[m, h] = self.loss(ids) - self.loss(ids)
""")
