"""Exercise 07, question block: where the norm goes."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes
from clearcheck.worker.values import GivenFunction
from clearformer.reference import layers

from .shared import draw_tokens


def look_back(X):
    return np.cumsum(X, axis=1) / np.arange(1, X.shape[1] + 1)


def think(X):
    return np.maximum(X, 0)


def block(X, norm_1, norm_2, form, part_1=look_back, part_2=think):
    if form == "pre-norm":
        Y = X + part_1(layers.layer_norm(X, *norm_1))
        return Y + part_2(layers.layer_norm(Y, *norm_2))
    Y = layers.layer_norm(X + part_1(X), *norm_1)
    return layers.layer_norm(Y + part_2(Y), *norm_2)


def draw_block(rng, n_tokens=None, width=None):
    D, N = draw_sizes(rng, 2)
    D = width or D
    X = draw_tokens(rng, (D, n_tokens or N)) + 2
    return X, *((rng.normal(size=D), rng.normal(size=D)) for _ in range(2))


def blocks(form):
    def cases(rng):
        cases = [(*draw_block(rng), form), (*draw_block(rng, 1), form), (*draw_block(rng), form)]
        return [*cases, (*draw_block(rng), form, GivenFunction("cos"), GivenFunction("tanh"))]

    return cases


def equal_sizes(rng):
    return [(*draw_block(rng, 7, 7), form) for form in ("pre-norm", "post-norm")]


def shifted_stream(ask, rng):
    """The same number added to every feature of every token: no norm sees it."""
    X, norm_1, norm_2 = draw_block(rng)
    shift = 3.0 + rng.uniform(0, 2)
    for form in ("pre-norm", "post-norm"):
        before, after = ask(X, norm_1, norm_2, form), ask(X + shift, norm_1, norm_2, form)
        if not all(isinstance(Y, np.ndarray) and Y.shape == X.shape for Y in (before, after)):
            return f"The result should be an array of shape {X.shape}."
        moved = after - before
        if form == "pre-norm" and not close(moved, np.full(X.shape, shift), 1e-8):
            return (
                f"With {shift:.3g} added to every number of X all outputs of a pre-norm block should rise by "
                f"{shift:.3g}, since the stream passes no norm; yours rise by {moved.min():.3g} to {moved.max():.3g}."
            )
        if form == "post-norm" and not close(moved, 0 * X, 1e-8):
            return (
                f"With {shift:.3g} added to every number of X the output of this post-norm block should stay, "
                f"since all of the stream passes the norms; yours changes by up to {np.abs(moved).max():.3g}."
            )
    if close(ask(X, norm_1, norm_2, "post-norm"), ask(X, norm_1, norm_2, "pre-norm"), 1e-3):
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
        "added to. Give the result of the first half a name and never use X again.",
        "Tokens with a large mean show what goes wrong: in one form it passes to the output unchanged, in "
        "another nothing is left of it. Each norm has a scale and a shift of its own.",
    ),
    section="where-the-norm-goes",
    inputs=Inputs(lambda X, *rest: {"D": X.shape[0], "N": X.shape[1]}, alike=("equal sizes",)),
)

right, wrong = answers_to(QUESTION)


@right
def three_ways(X, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def norm(Z, pair):
        gamma, beta = pair
        return gamma[:, None] * (Z - Z.mean(0)) / np.sqrt(Z.var(0) + 1e-5) + beta[:, None]

    if form == "pre-norm":
        Y = X + part_1(norm(X, norm_1))
        return Y + part_2(norm(Y, norm_2))
    Y = norm(X + part_1(X), norm_1)
    return norm(Y + part_2(Y), norm_2)


@right
def before_inside_after(X, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def same(Z):
        return Z

    def norm_of(pair):
        return lambda Z: (((Z - Z.mean(0)) / np.sqrt(Z.var(0) + 1e-5)).T * pair[0] + pair[1]).T

    for part, pair in ((part_1, norm_1), (part_2, norm_2)):
        before, after = (norm_of(pair), same) if form == "pre-norm" else (same, norm_of(pair))
        X = after(X + part(before(X)))
    return X


@right
def one_step_twice(X, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def norm(Z, pair):
        centred = Z - Z.sum(axis=0) / len(Z)
        scaled = centred / ((centred * centred).sum(axis=0) / len(Z) + 1e-5) ** 0.5
        return scaled * pair[0].reshape(-1, 1) + pair[1].reshape(-1, 1)

    steps = {
        "pre-norm": lambda Z, part, pair: Z + part(norm(Z, pair)),
        "post-norm": lambda Z, part, pair: norm(Z + part(Z), pair),
    }
    return steps[form](steps[form](X, part_1, norm_1), part_2, norm_2)


@right
def as_often_written(X, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + part_1(norm(X, norm_1))
        return Y + part_2(norm(Y, norm_2))
    Y = norm(X + part_1(X), norm_1)
    return norm(Y + part_2(Y), norm_2)


@wrong(
    "The residual connections are missing: each part takes the place of what it should be added to.",
    section="identity-plus-a-bit",
)
def no_residuals(X, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        return part_2(norm(part_1(norm(X, norm_1)), norm_2))
    return norm(part_2(norm(part_1(X), norm_1)), norm_2)


@wrong("The two norms are swapped: the first belongs to the first part.")
def norms_exchanged(X, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + part_1(norm(X, norm_2))
        return Y + part_2(norm(Y, norm_1))
    Y = norm(X + part_1(X), norm_2)
    return norm(Y + part_2(Y), norm_1)


@wrong("You swap the two parts: the first should read the block's input.")
def parts_exchanged(X, norm_1, norm_2, form, part_1=look_back, part_2=think):
    def norm(Z, pair):
        return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]

    if form == "pre-norm":
        Y = X + part_2(norm(X, norm_1))
        return Y + part_1(norm(Y, norm_2))
    Y = norm(X + part_2(X), norm_1)
    return norm(Y + part_1(Y), norm_2)


wrong.edits("""
# as_often_written
## pre_norms_the_stream: Your pre-norm block adds to the normalised tokens; the stream should bypass the norm.
- Y = X + part_1(norm(X, norm_1))
- return Y + part_2(norm(Y, norm_2))
+ Y = norm(X, norm_1) + part_1(norm(X, norm_1))
+ return norm(Y, norm_2) + part_2(norm(Y, norm_2))
## pre_norms_the_part: Your pre-norm block normalises what a part gives back; it should normalise what the part reads.
+ Y = X + norm(part_1(X), norm_1)
+ return Y + norm(part_2(Y), norm_2)
## pre_second_norms_the_stream: In the second half of your pre-norm block the stream itself goes through the norm.
+ Y = norm(X + part_1(norm(X, norm_1)), norm_2)
+ return Y + part_2(Y)
## pre_with_a_final_norm: Your pre-norm block ends with a norm: the final norm comes once, at the top of the stack.
- return Y + part_2(norm(Y, norm_2))
+ return norm(Y + part_2(norm(Y, norm_2)), norm_2)
## pre_in_parallel: In your pre-norm block both parts read the same tokens; the second should read what the first has
made.
- Y = X + part_1(norm(X, norm_1))
- return Y + part_2(norm(Y, norm_2))
+ return X + part_1(norm(X, norm_1)) + part_2(norm(X, norm_2))
## pre_old_residual [identity-plus-a-bit]: The second half of your pre-norm block is added to X, and what the first half
added is lost.
- return Y + part_2(norm(Y, norm_2))
+ return X + part_2(norm(Y, norm_2))
## pre_second_part_unnormed: The second part of your pre-norm block reads the stream without a norm.
+ return Y + part_2(Y)
## post_norms_the_part: Your post-norm block normalises the part and then adds; it should normalise the sum.
- Y = norm(X + part_1(X), norm_1)
- return norm(Y + part_2(Y), norm_2)
+ Y = X + norm(part_1(X), norm_1)
+ return Y + norm(part_2(Y), norm_2)
## post_norms_both_sides: In your post-norm block the parts read normalised tokens as well: every norm is there twice.
+ Y = norm(X + part_1(norm(X, norm_1)), norm_1)
+ return norm(Y + part_2(norm(Y, norm_2)), norm_2)
## post_once_at_the_end: Your post-norm block has one norm, at its end; the first sum is not normalised.
- Y = norm(X + part_1(X), norm_1)
+ Y = X + part_1(X)
## post_old_residual [identity-plus-a-bit]: The second sum of your post-norm block starts from X instead of from what
the first half has made.
- return norm(Y + part_2(Y), norm_2)
+ return norm(X + part_2(Y), norm_2)
## post_norms_the_residual_only: Your post-norm block normalises what a part gets added to, and leaves the sum as it is.
- Y = norm(X + part_1(X), norm_1)
- return norm(Y + part_2(Y), norm_2)
+ Y = norm(X, norm_1) + part_1(X)
+ return norm(Y, norm_2) + part_2(Y)
## pre_and_post_exchanged: Pre-norm and post-norm are swapped.
  if form == "pre-norm":
+     Y = norm(X + part_1(X), norm_1)
+     return norm(Y + part_2(Y), norm_2)
+ if form == "post-norm":
## one_norm_for_both [common-mistakes]: The first norm's scale and shift serve both norms of your block.
- return Y + part_2(norm(Y, norm_2))
+ return Y + part_2(norm(Y, norm_1))
- return norm(Y + part_2(Y), norm_2)
+ return norm(Y + part_2(Y), norm_1)
## bare_norms [common-mistakes]: Your norms have no scale and no shift, though both are given.
- return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]
+ return (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5)
## norms_over_the_tokens [the-norm-that-sees-the-future]: The norms in your block average over the tokens.
+ centred = Z - Z.mean(axis=1, keepdims=True)
+ return pair[0][:, None] * centred / np.sqrt(Z.var(axis=1, keepdims=True) + 1e-5) + pair[1][:, None]
## pairs_the_wrong_way_round [one-token-at-a-time]: You swap scale and shift: a pair begins with γ.
+ return pair[1][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[0][:, None]
## pre_first_residual_missing [identity-plus-a-bit]: The first residual connection of your pre-norm block is missing.
- Y = X + part_1(norm(X, norm_1))
+ Y = part_1(norm(X, norm_1))
## pre_second_residual_missing [identity-plus-a-bit]: The second residual connection of your pre-norm block is missing.
- return Y + part_2(norm(Y, norm_2))
+ return part_2(norm(Y, norm_2))
## pre_normed_then_kept: In the first half of your pre-norm block the normalised tokens take the place of X.
- Y = X + part_1(norm(X, norm_1))
+ Z = norm(X, norm_1)
+ Y = Z + part_1(Z)
## post_first_residual_missing [identity-plus-a-bit]: The first residual connection of your post-norm block is missing.
- Y = norm(X + part_1(X), norm_1)
+ Y = norm(part_1(X), norm_1)
## post_second_residual_missing [identity-plus-a-bit]: Your post-norm block lacks its second residual connection.
- return norm(Y + part_2(Y), norm_2)
+ return norm(part_2(Y), norm_2)
## norms_without_eps [one-token-at-a-time]: There is no ε in the norms of your block.
- return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]
+ return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0)) + pair[1][:, None]
## norms_with_eps_outside [common-mistakes]: In the norms of your block ε stands outside the root. If they are your
`layer_norm`, let question 1 pass first.
+ return pair[0][:, None] * (Z - Z.mean(axis=0)) / (Z.std(axis=0) + 1e-5) + pair[1][:, None]
## norms_with_two_roots [one-token-at-a-time]: The norms in your block divide by the root of a standard deviation, which
is a root already.
+ return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.std(axis=0) + 1e-5) + pair[1][:, None]
## norms_with_d_minus_1 [common-mistakes]: The variances in your block divide by D − 1.
+ return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0, ddof=1) + 1e-5) + pair[1][:, None]
## norms_with_another_eps [one-token-at-a-time]: The norms in your block have an ε of 0.000001; `layer_norm` has
0.00001.
+ return pair[0][:, None] * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-6) + pair[1][:, None]
# as_often_written
## scales_where_they_fit: With as many tokens as features your scales run along the tokens; they belong to the features.
+ scale = pair[0] if len(Z) == Z.shape[1] else pair[0][:, None]
+ return scale * (Z - Z.mean(axis=0)) / np.sqrt(Z.var(axis=0) + 1e-5) + pair[1][:, None]
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
