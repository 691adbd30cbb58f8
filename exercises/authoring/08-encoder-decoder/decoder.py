"""Exercise 08, question decoder: the decoder block."""

import numpy as np
from clearcheck import Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import causal, dropout_acts, gradients_everywhere, parameter_count
from clearcheck.author.torch_dropout import numbers_dropped
from torch import nn

from . import parts
from .brought_modules import Block, FeedForward, MultiHead
from .parts import CrossAttention
from .shared import A_MODULE, BRINGS, adding_nothing, alter, block, differ

PARTS = {  # by their last layers
    "attention.out": "self-attention",
    "cross.out": "cross-attention",
    "feed_forward.down": "the feed-forward layer",
}


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
    return [*cases, *(nearly_alike(rng, *list(PARTS)[:silent]) for silent in range(3))]


def nothing_dropped(rng):
    """In train() mode, with a rate of 0, given or not."""
    return [without_a_rate(rng, training=True), draw_args(rng, dropout=0.0, training=True)]


def gradients(rng):
    return [draw_args(rng, gives="gradients")]


def reads_the_memory(ask, rng):
    (plan,) = draw_args(rng)
    x, memory = plan["calls"][0]
    one, two = ask({**plan, "calls": [(x, memory), (x, alter(memory, (slice(None), -1)))]})
    whole = np.shape(one) == x.shape and differ(one, two).all()
    return None if whole else "The last source was changed: every output should move, the first one too."


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
        holds("looking back", 2, causal(draw_args)),
        holds("reads the memory", 2, reads_the_memory),
        equals("without dropout", 1, nothing_dropped, parts.DecoderBlock),
        holds("dropout", 1, dropout_acts(draw_args)),
        holds("what is dropped", 3, numbers_dropped(lambda rng: draw_args(rng, rows=10, targets=20), PARTS)),
        holds("parameters", 1, parameter_count(draw_args, count)),
    ),
    hints=(
        "Three parts, and the same three moves for each: a norm in front, dropout behind, added to the stream.",
        "Which of the two attentions has a future to hide? And which norm stands before which part?",
        "The memory was normalised at the top of the encoder. In the block it is used as it comes.",
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
        self.attention = MultiHead(d_model, n_heads, causal=True)
        self.cross = CrossAttention(d_model, n_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm_3, self.drop = nn.LayerNorm(d_model), nn.Dropout(dropout)

    def forward(self, x, memory):
        x = x + self.drop(self.attention(self.norm_1(x)))
        x = x + self.drop(self.cross(self.norm_2(x), memory))
        x = x + self.drop(self.feed_forward(self.norm_3(x)))
        return x


@right
class InOneSum(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        for number in (1, 2, 3):
            self.add_module(f"norm_{number}", nn.LayerNorm(d_model))
        self.attention, self.cross = MultiHead(d_model, n_heads, True), CrossAttention(d_model, n_heads)
        self.feed_forward, self.p = FeedForward(d_model, d_ff), dropout

    def forward(self, x, memory):
        def kept(y):
            return nn.functional.dropout(y, self.p, self.training)

        first = kept(self.attention(self.norm_1(x)))
        second = kept(self.cross(self.norm_2(x + first), memory))
        return x + first + second + kept(self.feed_forward(self.norm_3(x + first + second)))


@right
class OnTopOfABlock(Block):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__(d_model, n_heads, d_ff, dropout, causal=True)
        self.cross, self.norm_3 = CrossAttention(d_model, n_heads), nn.LayerNorm(d_model)

    def forward(self, x, memory):
        for norm, part, more in (
            (self.norm_1, self.attention, ()),
            (self.norm_2, self.cross, (memory,)),
            (self.norm_3, self.feed_forward, ()),
        ):
            x = x + self.dropout(part(norm(x), *more))
        return x


wrong.edits("""
# Plain
## sees_the_future [the-mask-goes-before-the-softmax]: The self-attention has no mask: every token sees what it is to
predict.
- self.attention = MultiHead(d_model, n_heads, causal=True)
+ self.attention = MultiHead(d_model, n_heads)
## no_cross_attention: The cross-attention is built and never used: nothing is known about the source.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
## cross_at_itself: The cross-attention looks at the target, not at the memory.
+ x = x + self.drop(self.cross(self.norm_2(x), self.norm_2(x)))
## memory_normed_again: The memory is normalised once more; it comes from the encoder as it should be.
+ x = x + self.drop(self.cross(self.norm_2(x), self.norm_2(memory)))
## cross_first: The cross-attention comes before the self-attention.
  def forward(self, x, memory):
+     x = x + self.drop(self.cross(self.norm_2(x), memory))
- x = x + self.drop(self.cross(self.norm_2(x), memory))
## network_in_the_middle: The feed-forward layer comes before the cross-attention; it is the last part.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.drop(self.cross(self.norm_2(x), memory))
## one_norm_for_all: One norm serves all three parts; each needs its own.
+ x = x + self.drop(self.cross(self.norm_1(x), memory))
+ x = x + self.drop(self.feed_forward(self.norm_1(x)))
## norms_exchanged: norm_2 and norm_3 have changed places.
+ x = x + self.drop(self.cross(self.norm_3(x), memory))
+ x = x + self.drop(self.feed_forward(self.norm_2(x)))
## cross_reads_too_early: Your cross-attention reads the stream of before the self-attention.
- x = x + self.drop(self.attention(self.norm_1(x)))
- x = x + self.drop(self.cross(self.norm_2(x), memory))
+ y = self.drop(self.attention(self.norm_1(x)))
+ x = x + y + self.drop(self.cross(self.norm_2(x), memory))
## query_not_normed: The cross-attention reads the stream as it is, without norm_2.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
+ x = x + self.drop(self.cross(x, memory))
## norm_after: Your norm_1 stands behind the sum; it belongs in front of the self-attention.
- x = x + self.drop(self.attention(self.norm_1(x)))
+ x = self.norm_1(x + self.drop(self.attention(x)))
## post_norm: The norms stand behind the sums, as in the first transformer; here each stands before its part.
- x = x + self.drop(self.attention(self.norm_1(x)))
- x = x + self.drop(self.cross(self.norm_2(x), memory))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = self.norm_1(x + self.drop(self.attention(x)))
+ x = self.norm_2(x + self.drop(self.cross(x, memory)))
+ x = self.norm_3(x + self.drop(self.feed_forward(x)))
## stream_replaced: What the feed-forward layer gives replaces the stream instead of being added.
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = self.drop(self.feed_forward(self.norm_3(x)))
## all_at_once: All three parts read the same stream; each should read what those before have added.
- x = x + self.drop(self.attention(self.norm_1(x)))
- x = x + self.drop(self.cross(self.norm_2(x), memory))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ y = self.attention(self.norm_1(x)) + self.cross(self.norm_2(x), memory)
+ x = x + self.drop(y + self.feed_forward(self.norm_3(x)))
## never_dropping: Dropout is built and never used.
+ x = x + self.attention(self.norm_1(x))
+ x = x + self.cross(self.norm_2(x), memory)
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
- x = x + self.drop(self.cross(self.norm_2(x), memory))
+ x = x + self.cross(self.norm_2(x), memory)
## only_attention_dropped: Only what the self-attention adds is dropped; the other two parts add all they have.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.cross(self.norm_2(x), memory)
+ x = x + self.feed_forward(self.norm_3(x))
## stream_dropped: Dropout takes the sum, and so thins the stream; only what a part adds is dropped.
- x = x + self.drop(self.attention(self.norm_1(x)))
- x = x + self.drop(self.cross(self.norm_2(x), memory))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = self.drop(x + self.attention(self.norm_1(x)))
+ x = self.drop(x + self.cross(self.norm_2(x), memory))
+ x = self.drop(x + self.feed_forward(self.norm_3(x)))
## end_dropped: What the block gives back is dropped once more.
- return x
+ return self.drop(x)
## dropped_before_the_parts: Dropout thins what a part reads; it belongs to what the part adds.
- x = x + self.drop(self.attention(self.norm_1(x)))
- x = x + self.drop(self.cross(self.norm_2(x), memory))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.attention(self.drop(self.norm_1(x)))
+ x = x + self.cross(self.drop(self.norm_2(x)), memory)
+ x = x + self.feed_forward(self.drop(self.norm_3(x)))
## memory_dropped: Dropout acts on the memory as well; use it as it comes.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
+ x = x + self.drop(self.cross(self.norm_2(x), self.drop(memory)))
## hidden_numbers_dropped: You also drop numbers inside the feed-forward layer; drop only what a part gives back.
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ hidden = nn.functional.gelu(self.feed_forward.up(self.norm_3(x)))
+ x = x + self.drop(self.feed_forward.down(self.drop(hidden)))
## dropped_twice: What the cross-attention adds is dropped two times.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
+ x = x + self.drop(self.drop(self.cross(self.norm_2(x), memory)))
## whole_tokens: Your dropout drops all features of a token at once; each number is drawn on its own.
- self.norm_3, self.drop = nn.LayerNorm(d_model), nn.Dropout(dropout)
+ self.norm_3, self.drop = nn.LayerNorm(d_model), nn.Dropout1d(dropout)
## small_epsilon: The ε of your third norm is not 0.00001.
+ self.norm_3, self.drop = nn.LayerNorm(d_model, eps=1e-6), nn.Dropout(dropout)
## normed_stream_kept: The normed stream takes the place of the stream; only the cross-attention should read it.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
+ x = self.norm_2(x)
+ x = x + self.drop(self.cross(x, memory))
## norm_at_the_end: A norm stands at the end of your block; it belongs to the top of the stack.
- return x
+ return self.norm_3(x)
## memory_of_the_first_call: The memory of the first call is kept and looked at in the later ones, too.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
+ self.memory = getattr(self, "memory", memory)
+ x = x + self.drop(self.cross(self.norm_2(x), self.memory))
## memory_detached: The memory is detached, so the encoder could learn nothing.
+ x = x + self.drop(self.cross(self.norm_2(x), memory.detach()))
# InOneSum
## one_mask_for_all: All three parts lose the same numbers; draw anew for what each of them adds.
- def kept(y):
-     return nn.functional.dropout(y, self.p, self.training)
+ mask = nn.functional.dropout(x**0, self.p, self.training)
+ kept = mask.mul
## not_scaled_up: What is kept is not divided by 1 − p.
-     return nn.functional.dropout(y, self.p, self.training)
+     return y * (nn.functional.dropout(y**0, self.p, self.training) > 0)
# Plain
## memory_first: The memory is taken for the stream; the first argument is the stream.
- def forward(self, x, memory):
+ def forward(self, memory, x):
## attention_not_dropped: What the self-attention adds is never dropped.
- x = x + self.drop(self.attention(self.norm_1(x)))
+ x = x + self.attention(self.norm_1(x))
## feed_forward_not_dropped: You never drop what the feed-forward layer adds.
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.feed_forward(self.norm_3(x))
## stream_replaced_by_the_memory: What the cross-attention gives replaces the stream instead of being added.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
+ x = self.drop(self.cross(self.norm_2(x), memory))
""")
