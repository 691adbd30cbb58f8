"""Exercise 08, question decoder: the decoder block."""

import numpy as np
import torch
from clearcheck import Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import causal as looks_back
from clearcheck.author.torch_checks import dropout_acts, gradients_everywhere, parameter_count
from clearcheck.author.torch_dropout import numbers_dropped
from torch import nn

from . import parts
from .brought_modules import Block, FeedForward, MultiHeadAttention
from .parts import causal
from .shared import A_MODULE, BRINGS, LAST, adding_nothing, alter, block, differ, padding

PARTS = {  # by their last layers
    "attention.out": "self-attention",
    "cross.out": "cross-attention",
    "feed_forward.down": "the feed-forward layer",
}
ATTENTIONS = "attention.out", "cross.out"  # inside of which weights are dropped, too


def without_a_rate(rng, rows=2, targets=5, sources=7, d_model=12, n_heads=3, d_ff=17, spread=1.0, **options):
    x, memory = (spread * rng.normal(size=(rows, n, d_model)) + 1 for n in (targets, sources))
    sizes = {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff}
    return module_call(sizes, (x, memory), weights=block(rng, "", d_model, d_ff, cross=True), **options)


def draw_args(rng, dropout=0.4, **options):
    (plan,) = without_a_rate(rng, **options)
    return ({**plan, "sizes": plan["sizes"] | {"dropout": dropout}},)


def nearly_alike(rng, *silent):
    """Numbers so close to each other that the ε of a norm counts; the parts before that norm add nothing."""
    (plan,) = draw_args(rng, spread=1e-2)
    return ({**plan, "weights": adding_nothing(plan["weights"], *silent)},)


def outputs(rng):
    given = {}, {"targets": 1}, {"sources": 1}, {"rows": 3, "targets": 11, "sources": 4, "d_model": 14, "n_heads": 2}
    cases = [draw_args(rng, **one) for one in (*given, {"targets": 6, "sources": 6})]
    return [*cases, *padded(rng), *(nearly_alike(rng, *list(PARTS)[:silent]) for silent in range(3))]


def padded(rng):
    """A memory with padding, in a square of tokens, too."""
    for sources, lengths in ((7, (7, 3)), (5, (2, 5))):
        (plan,) = draw_args(rng, sources=sources)
        (inputs,) = plan["calls"]
        yield ({**plan, "calls": [(*inputs, padding(2, sources, lengths))]},)


def nothing_dropped(rng):
    """In train() mode, with a rate of 0, given or not."""
    return [without_a_rate(rng, training=True), draw_args(rng, dropout=0.0, training=True)]


def gradients(rng):
    return [draw_args(rng, gives="gradients"), *(({**one, "gives": "gradients"},) for (one,) in padded(rng))]


def reads_the_memory(ask, rng):
    (plan,) = draw_args(rng)
    x, memory = plan["calls"][0]
    one, two = ask({**plan, "calls": [(x, memory), (x, alter(memory, LAST))]})
    if np.shape(one) != x.shape or not differ(one, two).all():
        return "The last source was changed: every output should move, the first one too."
    hidden = padding(2, 7, (6, 6))
    one, two = ask({**plan, "calls": [(x, memory, hidden), (x, alter(memory, LAST), hidden)]})
    moved = "The last source was changed, which the mask hides (False), and outputs moved."
    return moved if differ(one, two).any() else None


def many_numbers(rng):
    """One target, one source and one head without biases: the weight of each attention is dropped as a whole."""
    (plan,) = draw_args(rng, rows=400, targets=1, sources=1, n_heads=1)
    biases = {f"{part}.{last}.bias": np.zeros(12) for part in ("attention", "cross") for last in ("value", "out")}
    return ({**plan, "weights": plan["weights"] | biases},)


def count(d_model, n_heads, d_ff, dropout):
    return 8 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 6 * d_model


QUESTION = Question(
    id="decoder",
    title="The decoder block",
    name="DecoderBlock",
    minutes=25,
    difficulty=2,
    leans_on=("cross",),
    checks=with_battery(
        equals("outputs", 6, outputs, parts.DecoderBlock),
        equals("gradients", 2, gradients, parts.DecoderBlock),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        holds("looking back", 2, looks_back(draw_args)),
        holds("reads the memory", 2, reads_the_memory),
        equals("without dropout", 1, nothing_dropped, parts.DecoderBlock),
        holds("dropout", 1, dropout_acts(draw_args)),
        holds("what is dropped", 3, numbers_dropped(many_numbers, PARTS, ATTENTIONS)),
        holds("parameters", 1, parameter_count(draw_args, count)),
        mask=later_tokens("looking back", draw_args, scores="attention.query.weight"),
    ),
    hints=(
        "Three parts, and the same three moves for each: a norm in front, dropout behind, added to the stream.",
        "Which of the two attentions has a future to hide, and which a padding? Hand each its mask by its name. And "
        "which norm stands before which part?",
        "The memory was normalised at the top of the encoder. In the block it is used as it comes. The rate goes to "
        "three places: the dropout of the block, and both attentions.",
    ),
    section="the-whole-block",
    brings=BRINGS,
    **A_MODULE,
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm_3, self.drop = nn.LayerNorm(d_model), nn.Dropout(dropout)

    def forward(self, x, memory, mask=None):
        x = x + self.drop(self.attention(self.norm_1(x), mask=causal(x)))
        x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
        x = x + self.drop(self.feed_forward(self.norm_3(x)))
        return x


@right
class InOneSum(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        for number in (1, 2, 3):
            self.add_module(f"norm_{number}", nn.LayerNorm(d_model))
        self.attention, self.cross = (MultiHeadAttention(d_model, n_heads, dropout) for _ in "sc")
        self.feed_forward, self.p = FeedForward(d_model, d_ff), dropout

    def forward(self, x, memory, mask=None):
        def kept(y):
            return nn.functional.dropout(y, self.p, self.training)

        past = torch.arange(x.shape[1])[:, None] >= torch.arange(x.shape[1])
        first = kept(self.attention(self.norm_1(x), None, past))
        second = kept(self.cross(self.norm_2(x + first), source=memory, mask=mask))
        return x + first + second + kept(self.feed_forward(self.norm_3(x + first + second)))


@right
class OnTopOfABlock(Block):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__(d_model, n_heads, d_ff, dropout)
        self.attention = MultiHeadAttention(d_model, n_heads, dropout=dropout)
        self.cross, self.norm_3 = MultiHeadAttention(d_model, n_heads, dropout=dropout), nn.LayerNorm(d_model)

    def forward(self, x, memory, mask=None):
        for norm, part, more in (
            (self.norm_1, self.attention, {"mask": causal(x)}),
            (self.norm_2, self.cross, {"source": memory, "mask": mask}),
            (self.norm_3, self.feed_forward, {}),
        ):
            x = x + self.dropout(part(norm(x), **more))
        return x


wrong.edits("""
# Plain
## sees_the_future [the-mask-goes-before-the-softmax]: The self-attention has no mask: every token sees what it is to
predict.
- x = x + self.drop(self.attention(self.norm_1(x), mask=causal(x)))
+ x = x + self.drop(self.attention(self.norm_1(x)))
## mask_of_the_source_for_itself [the-two-stacks]: The self-attention gets the mask of the source; it hides the
future, and the cross-attention padding.
+ x = x + self.drop(self.attention(self.norm_1(x), mask=mask))
## hides_the_past: Your self-attention sees itself and what comes after it: the triangle is turned.
+ x = x + self.drop(self.attention(self.norm_1(x), mask=causal(x).T))
## no_cross_attention: The cross-attention is built and never used: nothing is known about the source.
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
## cross_at_itself: The cross-attention looks at the target, not at the memory.
+ x = x + self.drop(self.cross(self.norm_2(x), self.norm_2(x)))
## memory_normed_again: The memory is normalised once more; it comes from the encoder as it should be.
+ x = x + self.drop(self.cross(self.norm_2(x), self.norm_2(memory), mask))
## cross_first: The cross-attention comes before the self-attention.
  def forward(self, x, memory, mask=None):
+     x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
## network_in_the_middle: The feed-forward layer comes before the cross-attention; it is the last part.
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
## one_norm_for_all: One norm serves all three parts; each needs its own.
+ x = x + self.drop(self.cross(self.norm_1(x), memory, mask))
+ x = x + self.drop(self.feed_forward(self.norm_1(x)))
## norms_exchanged: norm_2 and norm_3 have changed places.
+ x = x + self.drop(self.cross(self.norm_3(x), memory, mask))
+ x = x + self.drop(self.feed_forward(self.norm_2(x)))
## cross_reads_too_early: Your cross-attention reads the stream of before the self-attention.
- x = x + self.drop(self.attention(self.norm_1(x), mask=causal(x)))
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
+ y = self.drop(self.attention(self.norm_1(x), mask=causal(x)))
+ x = x + y + self.drop(self.cross(self.norm_2(x), memory, mask))
## query_not_normed: The cross-attention reads the stream as it is, without norm_2.
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
+ x = x + self.drop(self.cross(x, memory, mask))
## norm_after: Your norm_1 stands behind the sum; it belongs in front of the self-attention.
- x = x + self.drop(self.attention(self.norm_1(x), mask=causal(x)))
+ x = self.norm_1(x + self.drop(self.attention(x, mask=causal(x))))
## post_norm: The norms stand behind the sums, as in the first transformer; here each stands before its part.
- x = x + self.drop(self.attention(self.norm_1(x), mask=causal(x)))
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = self.norm_1(x + self.drop(self.attention(x, mask=causal(x))))
+ x = self.norm_2(x + self.drop(self.cross(x, memory, mask)))
+ x = self.norm_3(x + self.drop(self.feed_forward(x)))
## stream_replaced: What the feed-forward layer gives replaces the stream instead of being added.
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = self.drop(self.feed_forward(self.norm_3(x)))
## all_at_once: All three parts read the same stream; each should read what those before have added.
- x = x + self.drop(self.attention(self.norm_1(x), mask=causal(x)))
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ y = self.attention(self.norm_1(x), mask=causal(x)) + self.cross(self.norm_2(x), memory, mask)
+ x = x + self.drop(y + self.feed_forward(self.norm_3(x)))
## never_dropping: Dropout is built and never used.
+ x = x + self.attention(self.norm_1(x), mask=causal(x))
+ x = x + self.cross(self.norm_2(x), memory, mask)
+ x = x + self.feed_forward(self.norm_3(x))
## always_dropping: Dropout acts in eval() mode too.
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + nn.functional.dropout(self.feed_forward(self.norm_3(x)), self.drop.p)
## always_a_tenth [the-whole-block]: Your dropout is 0.1, whatever `dropout` says.
- self.norm_3, self.drop = nn.LayerNorm(d_model), nn.Dropout(dropout)
+ self.norm_3, self.drop = nn.LayerNorm(d_model), nn.Dropout(0.1)
## a_tenth_unasked: Without the argument `dropout` a tenth is dropped; nothing should be.
- def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
+ def __init__(self, d_model, n_heads, d_ff, dropout=0.1):
## kept_for_dropped: You use `dropout` as the probability of keeping a number; it is the probability of dropping one.
- self.norm_3, self.drop = nn.LayerNorm(d_model), nn.Dropout(dropout)
+ self.norm_3, self.drop = nn.LayerNorm(d_model), nn.Dropout(1 - dropout)
## cross_not_dropped: What the cross-attention adds is never dropped.
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
+ x = x + self.cross(self.norm_2(x), memory, mask)
## only_attention_dropped: Only what the self-attention adds is dropped; the other two parts add all they have.
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.cross(self.norm_2(x), memory, mask)
+ x = x + self.feed_forward(self.norm_3(x))
## stream_dropped: Dropout takes the sum, and so thins the stream; only what a part adds is dropped.
- x = x + self.drop(self.attention(self.norm_1(x), mask=causal(x)))
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = self.drop(x + self.attention(self.norm_1(x), mask=causal(x)))
+ x = self.drop(x + self.cross(self.norm_2(x), memory, mask))
+ x = self.drop(x + self.feed_forward(self.norm_3(x)))
## end_dropped: What the block gives back is dropped once more.
- return x
+ return self.drop(x)
## dropped_before_the_parts: Dropout thins what a part reads; it belongs to what the part adds.
- x = x + self.drop(self.attention(self.norm_1(x), mask=causal(x)))
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.attention(self.drop(self.norm_1(x)), mask=causal(x))
+ x = x + self.cross(self.drop(self.norm_2(x)), memory, mask)
+ x = x + self.feed_forward(self.drop(self.norm_3(x)))
## memory_dropped: Dropout acts on the memory as well; use it as it comes.
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
+ x = x + self.drop(self.cross(self.norm_2(x), self.drop(memory), mask))
## hidden_numbers_dropped: You also drop numbers inside the feed-forward layer; drop only what a part gives back.
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ hidden = nn.functional.gelu(self.feed_forward.up(self.norm_3(x)))
+ x = x + self.drop(self.feed_forward.down(self.drop(hidden)))
## dropped_twice: What the cross-attention adds is dropped two times.
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
+ x = x + self.drop(self.drop(self.cross(self.norm_2(x), memory, mask)))
## whole_tokens: Your dropout drops all features of a token at once; each number is drawn on its own.
- self.norm_3, self.drop = nn.LayerNorm(d_model), nn.Dropout(dropout)
+ self.norm_3, self.drop = nn.LayerNorm(d_model), nn.Dropout1d(dropout)
## small_epsilon: The ε of your third norm is not 0.00001.
+ self.norm_3, self.drop = nn.LayerNorm(d_model, eps=1e-6), nn.Dropout(dropout)
## normed_stream_kept: The normed stream takes the place of the stream; only the cross-attention should read it.
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
+ x = self.norm_2(x)
+ x = x + self.drop(self.cross(x, memory, mask))
## norm_at_the_end: A norm stands at the end of your block; it belongs to the top of the stack.
- return x
+ return self.norm_3(x)
## memory_of_the_first_call: The memory of the first call is kept and looked at in the later ones, too.
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
+ self.memory = getattr(self, "memory", memory)
+ x = x + self.drop(self.cross(self.norm_2(x), self.memory, mask))
## padding_seen [the-two-stacks]: The cross-attention never hears of the mask, and padding takes its share of
the weights.
+ x = x + self.drop(self.cross(self.norm_2(x), memory))
## causal_over_the_memory: Your cross-attention hides later sources; the whole source was there before the first token.
+ seen = torch.ones(x.shape[1], memory.shape[1], dtype=torch.bool).tril()
+ x = x + self.drop(self.cross(self.norm_2(x), memory, seen if mask is None else seen & mask))
## memory_detached: The memory is detached, so the encoder could learn nothing.
+ x = x + self.drop(self.cross(self.norm_2(x), memory.detach(), mask))
## attentions_without_their_rate [attention-with-two-sequences]: Your two attentions never hear of `dropout`, which
drops weights inside of them.
- self.attention = MultiHeadAttention(d_model, n_heads, dropout)
- self.cross = MultiHeadAttention(d_model, n_heads, dropout)
+ self.attention = MultiHeadAttention(d_model, n_heads)
+ self.cross = MultiHeadAttention(d_model, n_heads)
## cross_without_its_rate [attention-with-two-sequences]: Your cross-attention never hears of `dropout`.
- self.cross = MultiHeadAttention(d_model, n_heads, dropout)
+ self.cross = MultiHeadAttention(d_model, n_heads)
# InOneSum
## one_mask_for_all: All three parts lose the same numbers; draw anew for what each of them adds.
- def kept(y):
-     return nn.functional.dropout(y, self.p, self.training)
+ left = nn.functional.dropout(x**0, self.p, self.training)
+ kept = left.mul
## not_scaled_up: What is kept is not divided by 1 − p.
-     return nn.functional.dropout(y, self.p, self.training)
+     return y * (nn.functional.dropout(y**0, self.p, self.training) > 0)
# Plain
## memory_first: The memory is taken for the stream; the first argument is the stream.
- def forward(self, x, memory, mask=None):
+ def forward(self, memory, x, mask=None):
## attention_not_dropped: What the self-attention adds is never dropped.
- x = x + self.drop(self.attention(self.norm_1(x), mask=causal(x)))
+ x = x + self.attention(self.norm_1(x), mask=causal(x))
## feed_forward_not_dropped: You never drop what the feed-forward layer adds.
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.feed_forward(self.norm_3(x))
## stream_replaced_by_the_memory: What the cross-attention gives replaces the stream instead of being added.
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
+ x = self.drop(self.cross(self.norm_2(x), memory, mask))
## causal_mask_for_the_source [attention-with-two-sequences]: The causal mask is taken for the source, the second
argument of your attention: write `mask=causal(x)`.
- x = x + self.drop(self.attention(self.norm_1(x), mask=causal(x)))
+ x = x + self.drop(self.attention(self.norm_1(x), causal(x)))
## future_alone: Your self-attention is shown the future and nothing else: True says that a token may look.
+ x = x + self.drop(self.attention(self.norm_1(x), mask=~causal(x)))
## causal_mask_for_the_memory [the-two-stacks]: Your cross-attention gets the causal mask; it should get the mask of the
memory.
- x = x + self.drop(self.cross(self.norm_2(x), memory, mask))
+ x = x + self.drop(self.cross(self.norm_2(x), memory, causal(x)))
## memory_asks: The memory asks and the stream answers: the roles in your cross-attention are exchanged.
+ x = x + self.drop(self.cross(memory, self.norm_2(x), mask))
## memory_not_handed_on: Your cross-attention never gets the memory, and looks at the stream.
+ x = x + self.drop(self.cross(self.norm_2(x), mask=mask))
## second_norm_for_two_parts: norm_2 serves two parts, and norm_3 is never used.
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.drop(self.feed_forward(self.norm_2(x)))
## one_attention_under_two_names: `attention` and `cross` are one and the same module in your block; make two.
- self.attention = MultiHeadAttention(d_model, n_heads, dropout)
- self.cross = MultiHeadAttention(d_model, n_heads, dropout)
+ self.attention = self.cross = MultiHeadAttention(d_model, n_heads, dropout)
""")
