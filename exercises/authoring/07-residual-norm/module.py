"""Exercise 07, question module: a pre-norm block with dropout as a module."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import later_tokens, with_battery
from clearcheck.author.torch_arguments import module_call
from clearcheck.author.torch_checks import causal, dropout_acts, gradients_everywhere, parameter_count, rows_independent
from clearcheck.author.torch_dropout import numbers_dropped
from torch import nn

from .brought_modules import Block as Reference
from .brought_modules import FeedForward, MultiHeadAttention

BRINGS = {"MultiHeadAttention": "04-multi-head", "FeedForward": "05-feed-forward"}
PARTS = {"attention.out": "attention", "feed_forward.down": "the feed-forward layer"}  # by their last layers


def looking_back(rows, tokens):
    """The causal mask: True where a target may look."""
    return np.tri(tokens, dtype=bool)


def padding(rows, tokens):
    """Each row ends with hidden tokens, the first with none."""
    shown = np.arange(tokens) < np.maximum(tokens - np.arange(rows), 1)[:, None]
    return shown[:, None, None].copy()


def draw_args(rng, rows=2, tokens=5, d_model=6, n_heads=2, d_ff=11, mask=looking_back, spread=1.0, mean=2, **options):
    shapes = {f"attention.{name}": (d_model, d_model) for name in ("query", "key", "value", "out")}
    shapes |= {"feed_forward.up": (d_ff, d_model), "feed_forward.down": (d_model, d_ff)}
    weights = {f"{name}.weight": rng.normal(size=shape) / shape[1] ** 0.5 for name, shape in shapes.items()}
    weights |= {f"{name}.bias": rng.normal(size=shape[0]) for name, shape in shapes.items()}
    weights |= {f"norm_{i}.{name}": rng.normal(size=d_model) for i in (1, 2) for name in ("weight", "bias")}
    sizes = {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff, "dropout": 0.25}
    x = spread * rng.normal(size=(rows, tokens, d_model)) + mean
    return module_call(sizes, (x, mask(rows, tokens)) if mask else (x,), weights=weights, **options)


def nearly_alike(rng):
    """Numbers so close to each other that the ε counts, in both norms: attention adds nothing."""
    (plan,) = draw_args(rng, spread=1e-3, mean=0)
    plan["weights"] |= {
        f"attention.out.{kind}": 0 * plan["weights"][f"attention.out.{kind}"] for kind in ("weight", "bias")
    }
    return (plan,)


def outputs(rng):
    given = {"mask": None}, {}, {"tokens": 1}, {"rows": 3, "tokens": 7, "d_model": 10, "n_heads": 5, "d_ff": 4}
    given += {"spread": 30.0, "mask": None}, {"rows": 3, "mask": padding}, {"spread": 1e-3, "mean": 0}
    return [*(draw_args(rng, **one) for one in given), nearly_alike(rng), by_default(rng)]


def by_default(rng):
    """In train() mode, without the arguments that may be left out."""
    (plan,) = draw_args(rng, training=True, mask=None)
    sizes = {name: size for name, size in plan["sizes"].items() if name != "dropout"}
    return ({**plan, "sizes": sizes},)


def gradients(rng):
    return [draw_args(rng, gives="gradients"), draw_args(rng, mask=None, gives="gradients")]


def without_a_mask(rng):
    return draw_args(rng, mask=None)


def many_numbers(rng):
    """With another rate than that of the example."""
    (plan,) = draw_args(rng, rows=10, tokens=20)
    return ({**plan, "sizes": plan["sizes"] | {"dropout": 0.7}},)


def block_parameters(d_model, n_heads, d_ff, dropout):
    return 4 * d_model * (d_model + 1) + 2 * d_model * d_ff + d_ff + d_model + 4 * d_model


QUESTION = Question(
    id="module",
    title="Your block",
    name="Block",
    minutes=23,
    difficulty=2,
    checks=with_battery(
        equals("outputs", 5, outputs, Reference),
        equals("gradients", 2, gradients, Reference),
        holds("every parameter", 1, gradients_everywhere(draw_args)),
        holds("looking back", 1, causal(draw_args)),
        holds("rows", 1, rows_independent(without_a_mask)),
        holds("dropout", 2, dropout_acts(draw_args)),
        holds("what is dropped", 3, numbers_dropped(many_numbers, PARTS)),
        holds("parameters", 1, parameter_count(draw_args, block_parameters)),
        mask=later_tokens("looking back", draw_args, scores="attention.query.weight"),
        off={
            "boundary": "what is compared is a number that is drawn and the rate of dropout, which it never equals",
        },
    ),
    hints=(
        "The constructor makes five parts and keeps them under the names of the task. `forward` is two lines, one for "
        "each part, and both have the same form. Only attention hears of the mask.",
        "Read a line from the inside: norm, part, dropout, plus. What is dropped is what the part gives back, and the "
        "stream itself is neither normalised nor dropped.",
        "`nn.Dropout` knows about train() and eval(), and about 1/(1 − p). The second line starts from what the first "
        "one has made.",
    ),
    section="where-the-norm-goes",
    brings=BRINGS,
    inputs=Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    how="module",
    forbids=("torch.nn.TransformerEncoderLayer", "torch.nn.TransformerDecoderLayer"),
)

right, wrong = answers_to(QUESTION)


@right
class Plain(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention, self.feed_forward = MultiHeadAttention(d_model, n_heads), FeedForward(d_model, d_ff)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        y = x + self.drop(self.attention(self.norm_1(x), mask=mask))
        y = y + self.drop(self.feed_forward(self.norm_2(y)))
        return y


@right
class OwnNormAndDropout(nn.Module):
    class Norm(nn.Module):
        def __init__(self, d_model):
            super().__init__()
            self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

        def forward(self, x):
            apart = x - x.mean(-1, keepdim=True)
            return apart / (apart.square().mean(-1, keepdim=True) + 1e-5).sqrt() * self.weight + self.bias

    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention, self.feed_forward = MultiHeadAttention(d_model, n_heads), FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2, self.p = self.Norm(d_model), self.Norm(d_model), dropout

    def thin(self, x):
        return x * (torch.rand_like(x) >= self.p) / (1 - self.p) if self.training else x

    def forward(self, x, mask=None):
        middle = x + self.thin(self.attention(self.norm_1(x), mask=mask))
        return middle + self.thin(self.feed_forward(self.norm_2(middle)))


@right
class InALoop(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.add_module("norm_1", nn.LayerNorm(d_model))
        self.add_module("norm_2", nn.LayerNorm(d_model))
        self.attention, self.feed_forward = MultiHeadAttention(d_model, n_heads), FeedForward(d_model, d_ff)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        for norm, part, more in ((self.norm_1, self.attention, {"mask": mask}), (self.norm_2, self.feed_forward, {})):
            x = torch.add(x, self.drop(part(norm(x), **more)))
        return x


wrong.edits("""
# Plain
## post_norm: This is post-norm: the norm belongs in front of the part, not after the sum.
- y = x + self.drop(self.attention(self.norm_1(x), mask=mask))
- y = y + self.drop(self.feed_forward(self.norm_2(y)))
+ y = self.norm_1(x + self.drop(self.attention(x, mask=mask)))
+ y = self.norm_2(y + self.drop(self.feed_forward(y)))
## norm_on_the_output: Your norms take what a part gives back; they should take what it reads.
+ y = x + self.drop(self.norm_1(self.attention(x, mask=mask)))
+ y = y + self.drop(self.norm_2(self.feed_forward(y)))
## no_residuals [identity-plus-a-bit-the-residual-connection]: The residual connections are missing.
+ y = self.drop(self.attention(self.norm_1(x), mask=mask))
+ y = self.drop(self.feed_forward(self.norm_2(y)))
## second_residual_missing [identity-plus-a-bit-the-residual-connection]: The second residual connection is missing.
- y = y + self.drop(self.feed_forward(self.norm_2(y)))
+ y = self.drop(self.feed_forward(self.norm_2(y)))
## normed_then_kept: The normalised tokens take the place of the stream.
- y = x + self.drop(self.attention(self.norm_1(x), mask=mask))
+ x = self.norm_1(x)
+ y = x + self.drop(self.attention(x, mask=mask))
## normed_then_kept_twice: The normalised tokens take the place of the stream, in both parts.
- y = x + self.drop(self.attention(self.norm_1(x), mask=mask))
- y = y + self.drop(self.feed_forward(self.norm_2(y)))
+ y = self.norm_1(x) + self.drop(self.attention(self.norm_1(x), mask=mask))
+ y = self.norm_2(y) + self.drop(self.feed_forward(self.norm_2(y)))
## in_parallel: Both parts read the same tokens; the second should read what the first has made.
+ y = x + self.drop(self.attention(self.norm_1(x), mask=mask)) + self.drop(self.feed_forward(self.norm_2(x)))
## parts_exchanged: You put the feed-forward layer first; attention should read the input of the block.
+ y = x + self.drop(self.feed_forward(self.norm_2(x)))
+ y = y + self.drop(self.attention(self.norm_1(y), mask=mask))
## one_norm_for_both: The first norm serves both parts, and the second is never used.
- y = y + self.drop(self.feed_forward(self.norm_2(y)))
+ y = y + self.drop(self.feed_forward(self.norm_1(y)))
## final_norm_inside: A final norm stands at the end of your block; it belongs to the top of a stack.
- return y
+ return self.norm_2(y)
## mask_forgotten: Your attention never hears of the mask.
- y = x + self.drop(self.attention(self.norm_1(x), mask=mask))
+ y = x + self.drop(self.attention(self.norm_1(x)))
## mask_the_other_way: You turn the mask over; True says *may look* here and in your attention.
+ hidden = None if mask is None else ~mask
+ y = x + self.drop(self.attention(self.norm_1(x), mask=hidden))
## always_causal: Your attention looks back only, also where no mask is given.
+ past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
+ y = x + self.drop(self.attention(self.norm_1(x), mask=past if mask is None else mask))
## never_without_a_mask: Your attention looks back only, whatever the mask shows.
+ past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
+ y = x + self.drop(self.attention(self.norm_1(x), mask=past if mask is None else mask & past))
## no_dropout [dropout]: You drop nothing in train() mode.
- self.drop = nn.Dropout(dropout)
+ self.drop = nn.Identity()
## dropout_in_use [dropout]: You drop numbers in eval(), too.
- y = x + self.drop(self.attention(self.norm_1(x), mask=mask))
+ y = x + nn.functional.dropout(self.attention(self.norm_1(x), mask=mask), self.drop.p)
## dropout_in_use_twice [dropout]: You drop numbers in eval(), too, in both parts.
- y = x + self.drop(self.attention(self.norm_1(x), mask=mask))
- y = y + self.drop(self.feed_forward(self.norm_2(y)))
+ y = x + nn.functional.dropout(self.attention(self.norm_1(x), mask=mask), self.drop.p)
+ y = y + nn.functional.dropout(self.feed_forward(self.norm_2(y)), self.drop.p)
## the_stream_is_dropped [common-mistakes]: You drop numbers from the sum, thinning the stream; drop only what a part
adds.
+ y = self.drop(x + self.attention(self.norm_1(x), mask=mask))
+ y = self.drop(y + self.feed_forward(self.norm_2(y)))
## dropped_before_the_part [dropout]: Dropout thins what a part reads; it belongs to what the part adds.
+ y = x + self.attention(self.drop(self.norm_1(x)), mask=mask)
+ y = y + self.feed_forward(self.drop(self.norm_2(y)))
## dropout_once [dropout]: You never drop what the feed-forward layer adds.
- y = y + self.drop(self.feed_forward(self.norm_2(y)))
+ y = y + self.feed_forward(self.norm_2(y))
## rate_fixed [dropout]: Your dropout is 0.1, whatever `dropout` says.
- self.drop = nn.Dropout(dropout)
+ self.drop = nn.Dropout(0.1)
## small_epsilon: The ε of your second norm is not 0.00001.
- self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
+ self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model, eps=1e-6)
## small_epsilons: The ε of your norms is not 0.00001.
+ self.norm_1, self.norm_2 = (nn.LayerNorm(d_model, eps=1e-6) for _ in range(2))
## hidden_numbers_dropped [dropout]: You also drop numbers inside the feed-forward layer; drop only what a part gives
back.
- y = y + self.drop(self.feed_forward(self.norm_2(y)))
+ hidden = nn.functional.gelu(self.feed_forward.up(self.norm_2(y)))
+ y = y + self.drop(self.feed_forward.down(self.drop(hidden)))
## kept_for_dropped [dropout]: You use `dropout` as the probability of keeping a number; it is the probability of
dropping one.
- self.drop = nn.Dropout(dropout)
+ self.drop = nn.Dropout(1 - dropout)
## bare_norms: The norms of your block have no scale and shift to learn.
- self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
+ self.norm_1, self.norm_2 = (nn.LayerNorm(d_model, elementwise_affine=False) for _ in range(2))
## drops_by_default: Your default for `dropout` is not 0; it should be.
- def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
+ def __init__(self, d_model, n_heads, d_ff, dropout=0.1):
## attention_not_dropped [dropout]: You never drop what attention adds.
- y = x + self.drop(self.attention(self.norm_1(x), mask=mask))
+ y = x + self.attention(self.norm_1(x), mask=mask)
## one_norm_under_two_names: norm_1 and norm_2 are one and the same norm in your block; make two, each with its own
scale and shift.
- self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
+ self.norm_1 = self.norm_2 = nn.LayerNorm(d_model)
## half_dropped [dropout]: Half of the numbers is dropped, as `nn.Dropout()` does; hand `dropout` on to it.
- self.drop = nn.Dropout(dropout)
+ self.drop = nn.Dropout()

# OwnNormAndDropout
## over_tokens [the-norm-that-sees-the-future]: The norms of your block average over the tokens.
- apart = x - x.mean(-1, keepdim=True)
- return apart / (apart.square().mean(-1, keepdim=True) + 1e-5).sqrt() * self.weight + self.bias
+ apart = x - x.mean(1, keepdim=True)
+ return apart / (apart.square().mean(1, keepdim=True) + 1e-5).sqrt() * self.weight + self.bias
## not_scaled_up [dropout]: What is kept is not divided by 1 − p, and so the mean shrinks while the block is trained.
- return x * (torch.rand_like(x) >= self.p) / (1 - self.p) if self.training else x
+ return x * (torch.rand_like(x) >= self.p) if self.training else x
## scaled_by_p [dropout]: What is kept is divided by p; it should be divided by 1 − p.
+ return x * (torch.rand_like(x) >= self.p) / self.p if self.training else x
## one_mask_for_the_batch [dropout]: Your dropout drops the same numbers in every sequence; each number is drawn on its
own.
+ return x * (torch.rand_like(x[:1]) >= self.p) / (1 - self.p) if self.training else x
## whole_tokens [dropout]: Your dropout drops all features of a token at once; each number is drawn on its own.
+ return x * (torch.rand_like(x[..., :1]) >= self.p) / (1 - self.p) if self.training else x
""")
