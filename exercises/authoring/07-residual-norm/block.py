"""Exercise 07, question block: where the norm goes."""

import numpy as np
import torch
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import draw_sizes
from clearcheck.author.torch_checks import equal_in_float32
from clearcheck.worker.values import GivenFunction
from torch.nn import functional as F

from .shared import draw_tokens


def look_back(x):
    return x.cumsum(dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]


def think(x):
    return x.relu()


def block(x, norm_1, norm_2, form, part_1=look_back, part_2=think):
    for part, pair in ((part_1, norm_1), (part_2, norm_2)):
        if form == "pre-norm":
            x = x + part(F.layer_norm(x, x.shape[-1:], *pair))
        else:
            x = F.layer_norm(x + part(x), x.shape[-1:], *pair)
    return x


def draw_block(rng, n_tokens=None, width=None):
    B, N, D = draw_sizes(rng, 3)
    D = width or D
    x = draw_tokens(rng, (B, n_tokens or N, D)) + 2
    return x, *((rng.normal(size=D), rng.normal(size=D)) for _ in range(2))


def blocks(form):
    def cases(rng):
        cases = [(*draw_block(rng), form), (*draw_block(rng, 1), form), (*draw_block(rng), form)]
        x, *norms = draw_block(rng)
        small = 0.01 * rng.normal(size=x.shape)  # where ε shows
        return [*cases, (small, *norms, form), (*draw_block(rng), form, GivenFunction("cos"), GivenFunction("tanh"))]

    return cases


def equal_sizes(rng):
    return [(*draw_block(rng, 7, 7), form) for form in ("pre-norm", "post-norm")]


def shifted_stream(ask, rng):
    """The same number added to every feature of every token: no norm sees it."""
    x, norm_1, norm_2 = draw_block(rng)
    shift = 3.0 + rng.uniform(0, 2)
    for form in ("pre-norm", "post-norm"):
        before, after = ask(x, norm_1, norm_2, form), ask(x + shift, norm_1, norm_2, form)
        if not all(isinstance(y, np.ndarray) and y.shape == x.shape for y in (before, after)):
            return f"The result should be a tensor of shape {x.shape}."
        moved = after - before
        if form == "pre-norm" and not equal_in_float32(after, before + shift):
            return (
                f"With {shift:.3g} added to every number of x all outputs of a pre-norm block should rise by "
                f"{shift:.3g}, since the stream passes no norm; yours rise by {moved.min():.3g} to {moved.max():.3g}."
            )
        if form == "post-norm" and not equal_in_float32(after, before):
            return (
                f"With {shift:.3g} added to every number of x the output of this post-norm block should stay, "
                f"since all of the stream passes the norms; yours changes by up to {np.abs(moved).max():.3g}."
            )
    if equal_in_float32(ask(x, norm_1, norm_2, "post-norm"), ask(x, norm_1, norm_2, "pre-norm")):
        return "Your pre-norm and your post-norm block give the same."
    return None


QUESTION = Question(
    id="block",
    title="Where the norm goes",
    name="block",
    minutes=10,
    difficulty=2,
    checks=with_battery(
        equals("pre-norm", 3, blocks("pre-norm"), block),
        equals("post-norm", 3, blocks("post-norm"), block),
        equals("equal sizes", 1, equal_sizes, block),
        holds("a shift of the stream", 3, shifted_stream),
    ),
    hints=(
        "Draw each form as a line, the stream, with two parts beside it. Where does a part read, where "
        "is its output added, and on which of the lines do the two norms sit?",
        "The second half starts from what the first half made, both for what its part reads and for what is "
        "added to. Give the result of the first half a name and never use x again.",
        "Tokens with a large mean show what goes wrong: in one form it passes to the output unchanged, in "
        "another nothing is left of it. Each norm has a scale and a shift of its own.",
    ),
    section="where-the-norm-goes",
    inputs=Inputs(lambda x, *rest: dict(zip("BND", x.shape, strict=True)), alike=("equal sizes",)),
    how="tensors",
)

right, wrong = answers_to(QUESTION)


@right
def three_ways(x, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def norm(z, pair):
        gamma, beta = pair
        return gamma * (z - z.mean(-1, keepdim=True)) / (z.var(-1, keepdim=True, correction=0) + 1e-5).sqrt() + beta

    if form == "pre-norm":
        y = x + part_1(norm(x, norm_1))
        return y + part_2(norm(y, norm_2))
    y = norm(x + part_1(x), norm_1)
    return norm(y + part_2(y), norm_2)


@right
def before_inside_after(x, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def same(z):
        return z

    def norm_of(pair):
        weight, bias = pair
        return lambda z: torch.nn.functional.layer_norm(z, weight.shape, weight, bias)

    for part, pair in ((part_1, norm_1), (part_2, norm_2)):
        before, after = (norm_of(pair), same) if form == "pre-norm" else (same, norm_of(pair))
        x = after(x + part(before(x)))
    return x


@right
def one_step_twice(x, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def norm(z, pair):
        centred = z - z.sum(dim=2, keepdim=True) / z.shape[2]
        scaled = centred / ((centred * centred).sum(dim=2, keepdim=True) / z.shape[2] + 1e-5) ** 0.5
        return scaled * pair[0].reshape(1, 1, -1) + pair[1].reshape(1, 1, -1)

    steps = {
        "pre-norm": lambda z, part, pair: z + part(norm(z, pair)),
        "post-norm": lambda z, part, pair: norm(z + part(z), pair),
    }
    return steps[form](steps[form](x, part_1, norm_1), part_2, norm_2)


@right
def as_often_written(x, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def norm(z, pair):
        centred = z - z.mean(dim=2, keepdim=True)
        return pair[0] * centred / torch.sqrt(centred.square().mean(dim=2, keepdim=True) + 1e-5) + pair[1]

    if form == "pre-norm":
        y = x + part_1(norm(x, norm_1))
        return y + part_2(norm(y, norm_2))
    y = norm(x + part_1(x), norm_1)
    return norm(y + part_2(y), norm_2)


@wrong(
    "The residual connections are missing: each part takes the place of what it should be added to.",
    section="identity-plus-a-bit-the-residual-connection",
)
def no_residuals(x, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def norm(z, pair):
        return torch.nn.functional.layer_norm(z, z.shape[-1:], *pair)

    if form == "pre-norm":
        return part_2(norm(part_1(norm(x, norm_1)), norm_2))
    return norm(part_2(norm(part_1(x), norm_1)), norm_2)


@wrong("The two norms are swapped: the first belongs to the first part.")
def norms_exchanged(x, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def norm(z, pair):
        return torch.nn.functional.layer_norm(z, z.shape[-1:], *pair)

    if form == "pre-norm":
        y = x + part_1(norm(x, norm_2))
        return y + part_2(norm(y, norm_1))
    y = norm(x + part_1(x), norm_2)
    return norm(y + part_2(y), norm_1)


@wrong("You swap the two parts: the first should read the block's input.")
def parts_exchanged(x, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def norm(z, pair):
        return torch.nn.functional.layer_norm(z, z.shape[-1:], *pair)

    if form == "pre-norm":
        y = x + part_2(norm(x, norm_1))
        return y + part_1(norm(y, norm_2))
    y = norm(x + part_2(x), norm_1)
    return norm(y + part_1(y), norm_2)


wrong.edits("""
# as_often_written
## pre_norms_the_stream: Your pre-norm block adds to the normalised tokens; the stream should bypass the norm.
- y = x + part_1(norm(x, norm_1))
- return y + part_2(norm(y, norm_2))
+ y = norm(x, norm_1) + part_1(norm(x, norm_1))
+ return norm(y, norm_2) + part_2(norm(y, norm_2))
## pre_norms_the_part: Your pre-norm block normalises what a part gives back; it should normalise what the part reads.
+ y = x + norm(part_1(x), norm_1)
+ return y + norm(part_2(y), norm_2)
## pre_second_norms_the_stream: In the second half of your pre-norm block the stream itself goes through the norm.
+ y = norm(x + part_1(norm(x, norm_1)), norm_2)
+ return y + part_2(y)
## pre_with_a_final_norm: Your pre-norm block ends with a norm: the final norm comes once, at the top of the stack.
- return y + part_2(norm(y, norm_2))
+ return norm(y + part_2(norm(y, norm_2)), norm_2)
## pre_in_parallel: In your pre-norm block both parts read the same tokens; the second should read what the first has
made.
- y = x + part_1(norm(x, norm_1))
- return y + part_2(norm(y, norm_2))
+ return x + part_1(norm(x, norm_1)) + part_2(norm(x, norm_2))
## pre_old_residual [identity-plus-a-bit-the-residual-connection]: The second half of your pre-norm block is added to x,
and what the first half added is lost.
- return y + part_2(norm(y, norm_2))
+ return x + part_2(norm(y, norm_2))
## pre_second_part_unnormed: The second part of your pre-norm block reads the stream without a norm.
+ return y + part_2(y)
## post_norms_the_part: Your post-norm block normalises the part and then adds; it should normalise the sum.
- y = norm(x + part_1(x), norm_1)
- return norm(y + part_2(y), norm_2)
+ y = x + norm(part_1(x), norm_1)
+ return y + norm(part_2(y), norm_2)
## post_norms_both_sides: In your post-norm block the parts read normalised tokens as well: every norm is there twice.
+ y = norm(x + part_1(norm(x, norm_1)), norm_1)
+ return norm(y + part_2(norm(y, norm_2)), norm_2)
## post_once_at_the_end: Your post-norm block has one norm, at its end; the first sum is not normalised.
- y = norm(x + part_1(x), norm_1)
+ y = x + part_1(x)
## post_old_residual [identity-plus-a-bit-the-residual-connection]: The second sum of your post-norm block starts from x
instead of from what the first half has made.
- return norm(y + part_2(y), norm_2)
+ return norm(x + part_2(y), norm_2)
## post_norms_the_residual_only: Your post-norm block normalises what a part gets added to, and leaves the sum as it is.
- y = norm(x + part_1(x), norm_1)
- return norm(y + part_2(y), norm_2)
+ y = norm(x, norm_1) + part_1(x)
+ return norm(y, norm_2) + part_2(y)
## pre_and_post_exchanged: Pre-norm and post-norm are swapped.
  if form == "pre-norm":
+     y = norm(x + part_1(x), norm_1)
+     return norm(y + part_2(y), norm_2)
+ if form == "post-norm":
## one_norm_for_both [common-mistakes]: The first norm's scale and shift serve both norms of your block.
- return y + part_2(norm(y, norm_2))
+ return y + part_2(norm(y, norm_1))
- return norm(y + part_2(y), norm_2)
+ return norm(y + part_2(y), norm_1)
## bare_norms [common-mistakes]: Your norms have no scale and no shift, though both are given.
- return pair[0] * centred / torch.sqrt(centred.square().mean(dim=2, keepdim=True) + 1e-5) + pair[1]
+ return centred / torch.sqrt(centred.square().mean(dim=2, keepdim=True) + 1e-5)
## norms_over_the_tokens [the-norm-that-sees-the-future]: The norms in your block average over the tokens.
+ centred = z - z.mean(dim=1, keepdim=True)
+ return pair[0] * centred / torch.sqrt(centred.square().mean(dim=1, keepdim=True) + 1e-5) + pair[1]
## pairs_the_wrong_way_round [one-token-at-a-time-layernorm]: You swap scale and shift: a pair begins with γ.
+ return pair[1] * centred / torch.sqrt(centred.square().mean(dim=2, keepdim=True) + 1e-5) + pair[0]
## pre_first_residual_missing [identity-plus-a-bit-the-residual-connection]: The first residual connection of your
pre-norm block is missing.
- y = x + part_1(norm(x, norm_1))
+ y = part_1(norm(x, norm_1))
## pre_second_residual_missing [identity-plus-a-bit-the-residual-connection]: The second residual connection of your
pre-norm block is missing.
- return y + part_2(norm(y, norm_2))
+ return part_2(norm(y, norm_2))
## pre_normed_then_kept: In the first half of your pre-norm block the normalised tokens take the place of x.
- y = x + part_1(norm(x, norm_1))
+ z = norm(x, norm_1)
+ y = z + part_1(z)
## post_first_residual_missing [identity-plus-a-bit-the-residual-connection]: The first residual connection of your
post-norm block is missing.
- y = norm(x + part_1(x), norm_1)
+ y = norm(part_1(x), norm_1)
## post_second_residual_missing [identity-plus-a-bit-the-residual-connection]: Your post-norm block lacks its second
residual connection.
- return norm(y + part_2(y), norm_2)
+ return norm(part_2(y), norm_2)
## norms_without_eps [one-token-at-a-time-layernorm]: There is no ε in the norms of your block.
- return pair[0] * centred / torch.sqrt(centred.square().mean(dim=2, keepdim=True) + 1e-5) + pair[1]
+ return pair[0] * centred / torch.sqrt(centred.square().mean(dim=2, keepdim=True)) + pair[1]
## norms_with_eps_outside [common-mistakes]: In the norms of your block ε stands outside the root.
+ return pair[0] * centred / (z.std(dim=2, keepdim=True, unbiased=False) + 1e-5) + pair[1]
## norms_with_two_roots [one-token-at-a-time-layernorm]: The norms in your block divide by the root of a standard
deviation, which is a root already.
+ return pair[0] * centred / torch.sqrt(z.std(dim=2, keepdim=True, unbiased=False) + 1e-5) + pair[1]
## norms_with_d_minus_1 [common-mistakes]: The variances in your block divide by D − 1, as `var` of torch does unless
told not to.
+ return pair[0] * centred / torch.sqrt(z.var(dim=2, keepdim=True) + 1e-5) + pair[1]
## norms_with_another_eps [one-token-at-a-time-layernorm]: The norms in your block have an ε of 0.000001; it should be
0.00001.
+ return pair[0] * centred / torch.sqrt(centred.square().mean(dim=2, keepdim=True) + 1e-6) + pair[1]
# as_often_written
## scales_where_they_fit: With as many tokens as features your scales run along the tokens; they belong to the features.
+ scale = pair[0][:, None] if z.shape[1] == z.shape[2] else pair[0]
+ return scale * centred / torch.sqrt(centred.square().mean(dim=2, keepdim=True) + 1e-5) + pair[1]
## parts_ignored: You call the two stand-ins by their names, whatever parts are handed in; call `part_1` and `part_2`.
- if form == "pre-norm":
+ part_1, part_2 = look_back, think
+ if form == "pre-norm":
## first_part_ignored: You call the first stand-in by its name, whatever `part_1` is.
+ part_1 = look_back
+ if form == "pre-norm":
## second_part_ignored: You call the second stand-in by its name, whatever `part_2` is.
+ part_2 = think
+ if form == "pre-norm":
## always_post_norm: Your block is post-norm whatever `form` says.
- if form == "pre-norm":
+ if form == "pre":
## always_pre_norm: Your block is pre-norm whatever `form` says.
+ if form:
""")
