"""Exercise 08, question decoder: the decoder block."""

import numpy as np
from clearcheck import Question, answers_to, equals, holds
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import causal, dropout_acts, gradients_everywhere, parameter_count
from torch import nn

from . import parts
from .parts import Block, CrossAttention, FeedForward, MultiHead
from .shared import A_MODULE, BRINGS, apart, block, other


def drawn(rng, rows=2, targets=5, sources=7, d_model=12, n_heads=3, d_ff=17, dropout=0.4, **options):
    sizes = {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff, "dropout": dropout}
    x, memory = (rng.normal(size=(rows, n, d_model)) + 1 for n in (targets, sources))
    return module_call(sizes, (x, memory), weights=block(rng, "", d_model, d_ff, cross=True), **options)


def outputs(rng):
    given = {}, {"targets": 1}, {"sources": 1}, {"rows": 3, "targets": 11, "sources": 4, "d_model": 14, "n_heads": 2}
    return [drawn(rng, **one) for one in (*given, {"targets": 6, "sources": 6})]


def gradients(rng):
    return [drawn(rng, gives="gradients")]


def reads_the_memory(ask, rng):
    (plan,) = drawn(rng)
    x, memory = plan["calls"][0]
    one, two = ask({**plan, "calls": [(x, memory), (x, other(memory, (slice(None), -1)))]})
    whole = np.shape(one) == x.shape and apart(one, two).all()
    return None if whole else "The last source was changed: every output should move, the first one too."


def count(d_model, n_heads, d_ff, dropout):
    return 8 * (d_model**2 + d_model) + 2 * d_model * d_ff + d_ff + d_model + 6 * d_model


QUESTION = Question(
    id="decoder",
    title="The decoder block",
    name="DecoderBlock",
    minutes=25,
    difficulty=2,
    uses=("cross",),
    checks=(
        equals("outputs", 8, outputs, parts.DecoderBlock),
        equals("gradients", 2, gradients, parts.DecoderBlock),
        holds("every parameter", 1, gradients_everywhere(drawn)),
        holds("looking back", 3, causal(drawn)),
        holds("reads the memory", 2, reads_the_memory),
        holds("dropout", 2, dropout_acts(drawn)),
        holds("parameters", 1, parameter_count(drawn, count)),
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
- x = x + self.drop(self.cross(self.norm_2(x), memory))
+ x = x + self.drop(self.cross(self.norm_2(x), self.norm_2(x)))
## memory_normed_again: The memory is normalised once more; it comes from the encoder as it should be.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
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
## one_norm_for_all: One norm serves all three parts; each has its own.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.drop(self.cross(self.norm_1(x), memory))
+ x = x + self.drop(self.feed_forward(self.norm_1(x)))
## norms_exchanged: norm_2 and norm_3 have changed places.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.drop(self.cross(self.norm_3(x), memory))
+ x = x + self.drop(self.feed_forward(self.norm_2(x)))
## query_not_normed: The cross-attention reads the stream as it is; its norm stands before it.
- x = x + self.drop(self.cross(self.norm_2(x), memory))
+ x = x + self.drop(self.cross(x, memory))
## norm_after: The norm stands behind the part; here it stands before it.
- x = x + self.drop(self.attention(self.norm_1(x)))
+ x = self.norm_1(x + self.drop(self.attention(x)))
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
- x = x + self.drop(self.attention(self.norm_1(x)))
- x = x + self.drop(self.cross(self.norm_2(x), memory))
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + self.attention(self.norm_1(x))
+ x = x + self.cross(self.norm_2(x), memory)
+ x = x + self.feed_forward(self.norm_3(x))
## always_dropping: Dropout acts in eval() mode too.
- x = x + self.drop(self.feed_forward(self.norm_3(x)))
+ x = x + nn.functional.dropout(self.feed_forward(self.norm_3(x)), self.drop.p)
## memory_first: The memory is taken for the stream; the first argument is the stream.
- def forward(self, x, memory):
+ def forward(self, memory, x):
""")
