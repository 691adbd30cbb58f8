"""Exercise 15, question step: the operations of a training step."""

from clearcheck import COUNTED, Inputs, Question, answers_to, equals, holds
from clearcheck.author.cases import entries_right

from .shared import draw_model


def step_flops(V, N, D, M, F):
    block = 8 * D * D * N + 4 * D * F * N + 4 * D * N * N
    forward = M * block + 2 * V * D * N
    pairs_left = N * (N + 1) // 2
    masked = M * (8 * D * D * N + 4 * D * F * N + 4 * D * pairs_left) + 2 * V * D * N
    return {"forward": forward, "step": 3 * forward, "masked": 3 * masked, "recomputed": 3 * forward + M * block}


def two_models(rng):
    return [draw_model(rng), draw_model(rng)]


def long_and_short(rng):
    """A window of one token, a very long one, and one block."""
    V, N, D, M, F = draw_model(rng)
    return [(V, 1, D, M, F), (V, 4001, D, M, F), (V, N, D, 1, F), (50257, 2048, 12288, 96, 4 * 12288)]


QUESTION = Question(
    id="step",
    title="The operations of a training step",
    name="step_flops",
    minutes=14,
    difficulty=2,
    checks=(
        holds("forward", 4, entries_right(step_flops, two_models, "forward")),
        holds("forward and backward", 3, entries_right(step_flops, two_models, "step")),
        holds("masked", 2, entries_right(step_flops, two_models, "masked")),
        holds("recomputed", 2, entries_right(step_flops, two_models, "recomputed")),
        equals("all four, long and short windows", 3, long_and_short, step_flops),
    ),
    hints=(
        "A product of an a × b and a b × c matrix takes 2 a b c FLOPs. Write the three sizes beside each "
        "product of a block, for N tokens, and do not forget the one that turns the last vectors into words.",
        "Which products have N twice among their sizes? Only these know of pairs, and only these become fewer "
        "with the mask. How many pairs are left if token n looks at 1, …, n?",
        "Forward once, backward twice as much: three times in all. Computing the blocks again adds their "
        "forward pass once, and the head's not at all.",
    ),
    section="what-a-token-costs",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def product_by_product(V, N, D, M, F):
    def product(a, b, c):
        return 2 * a * b * c

    maps = 4 * product(D, D, N) + product(F, D, N) + product(D, F, N)
    pairs = product(N, D, N) + product(D, N, N)
    left = sum(2 * 2 * D * (n + 1) for n in range(N))
    head = product(V, D, N)
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": forward + 2 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 4 * M * (maps + pairs) + 3 * head,
    }


@right
def by_token(V, N, D, M, F):
    weights = M * (4 * D**2 + 2 * D * F)
    token = 2 * (weights + V * D) + 4 * M * D * N
    flops = {"forward": N * token, "step": 3 * N * token}
    flops["masked"] = 6 * N * (weights + V * D) + 6 * M * D * N * (N + 1)
    flops["recomputed"] = flops["step"] + N * (token - 2 * V * D)
    return flops


@right
def phases(V, N, D, M, F):
    pairs = {"all": N * N, "left": N * (N + 1) // 2}
    inside = {k: M * (8 * N * D * D + 4 * N * D * F + 4 * D * p) for k, p in pairs.items()}
    top = 2 * N * V * D
    return dict(
        forward=inside["all"] + top,
        step=3 * (inside["all"] + top),
        masked=3 * (inside["left"] + top),
        recomputed=4 * inside["all"] + 3 * top,
    )


@right
def as_often_written(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


wrong.edits("""
# as_often_written
## multiply_and_add_as_one [common-mistakes]: Your counts are half of what they should be: a multiplication and an
addition are two.
- maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
- left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
+ maps, pairs = 4 * D * D * N + 2 * D * F * N, 2 * D * N * N
+ left, head = D * N * (N + 1), V * D * N
## no_head: The head is missing: at every position a product with all V words.
- left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
+ left, head = 4 * D * (N * (N + 1) // 2), 0
## two_heads: You count the embedding twice; looking up a row is no product.
- left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
+ left, head = 4 * D * (N * (N + 1) // 2), 4 * V * D * N
## head_at_one_position: Your head works at one position only; in training there is a prediction at each.
- left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
+ left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D
## no_pairs: Scores and averages are missing, the products of every token with every other.
- maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
- left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
+ maps, pairs = 8 * D * D * N + 4 * D * F * N, 0
+ left, head = 0, 2 * V * D * N
## scores_without_averages: You count the scores and not the averages of the values, which cost as much.
- maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
- left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
+ maps, pairs = 8 * D * D * N + 4 * D * F * N, 2 * D * N * N
+ left, head = 2 * D * (N * (N + 1) // 2), 2 * V * D * N
## backward_like_forward: Your backward pass costs as much as the forward pass; it has two products for each one.
- "step": 3 * forward,
- "masked": 3 * (M * (maps + left) + head),
- "recomputed": 3 * forward + M * (maps + pairs),
+ "step": 2 * forward,
+ "masked": 2 * (M * (maps + left) + head),
+ "recomputed": 2 * forward + M * (maps + pairs),
## backward_thrice: You take three products backward for each one forward; there are two.
- "step": 3 * forward,
- "masked": 3 * (M * (maps + left) + head),
- "recomputed": 3 * forward + M * (maps + pairs),
+ "step": 4 * forward,
+ "masked": 4 * (M * (maps + left) + head),
+ "recomputed": 4 * forward + M * (maps + pairs),
## backward_alone: Under step you give the backward pass alone, without the forward pass before it.
- "step": 3 * forward,
+ "step": 2 * forward,
## half_of_the_square: With the mask a token still looks at itself: more than half of the N × N pairs are left.
- left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
+ left, head = 4 * D * N * N // 2, 2 * V * D * N
## not_at_itself: Your masked tokens do not look at themselves; token n looks at 1, …, n.
- left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
+ left, head = 4 * D * (N * (N - 1) // 2), 2 * V * D * N
## the_mask_halves_everything: The mask takes away pairs only; your whole step becomes cheaper by half.
- "masked": 3 * (M * (maps + left) + head),
+ "masked": 3 * forward // 2,
## masked_forward_only: Your mask saves pairs in the forward pass only; those that are left out have no backward
products either.
- "masked": 3 * (M * (maps + left) + head),
+ "masked": 3 * forward - M * (pairs - left),
## masked_like_the_rest: Your masked step computes all pairs.
- "masked": 3 * (M * (maps + left) + head),
+ "masked": 3 * forward,
## head_recomputed: You compute the head once more, too; only the forward pass of the blocks is done again.
- "recomputed": 3 * forward + M * (maps + pairs),
+ "recomputed": 4 * forward,
## recomputed_without_pairs: The forward pass that is done again has scores and averages, too.
- "recomputed": 3 * forward + M * (maps + pairs),
+ "recomputed": 3 * forward + M * maps,
## not_recomputed: Your recomputed step costs what the plain one costs; the second forward pass of the blocks is
missing.
- "recomputed": 3 * forward + M * (maps + pairs),
+ "recomputed": 3 * forward,
## recomputed_with_a_backward: The second forward pass has no backward pass of its own; you add all three parts of the
blocks.
- "recomputed": 3 * forward + M * (maps + pairs),
+ "recomputed": 3 * forward + 3 * M * (maps + pairs),
## hidden_width_of_four: You take 4 D for the hidden width; it is F.
- maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
+ maps, pairs = 8 * D * D * N + 16 * D * D * N, 4 * D * N * N
## three_maps: Attention has four products with weights; the one that joins the heads is missing.
- maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
+ maps, pairs = 6 * D * D * N + 4 * D * F * N, 4 * D * N * N
## for_one_token: You count for one token; the window has N of them.
- maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
- left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
+ maps, pairs = 8 * D * D + 4 * D * F, 4 * D * N
+ left, head = 2 * D * (N + 1), 2 * V * D
## one_block_only: You count one block; there are M.
- forward = M * (maps + pairs) + head
+ forward = (maps + pairs) + head
- "masked": 3 * (M * (maps + left) + head),
- "recomputed": 3 * forward + M * (maps + pairs),
+ "masked": 3 * ((maps + left) + head),
+ "recomputed": 3 * forward + (maps + pairs),
## pairs_of_one_block: Scores and averages occur in every block; you count them once.
- forward = M * (maps + pairs) + head
+ forward = (M * maps + pairs) + head
- "masked": 3 * (M * (maps + left) + head),
- "recomputed": 3 * forward + M * (maps + pairs),
+ "masked": 3 * ((M * maps + left) + head),
+ "recomputed": 3 * forward + (M * maps + pairs),
## biases_counted: You count the additions of biases; products only.
- maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
+ maps, pairs = 8 * D * D * N + 4 * D * F * N + (5 * D + F) * N, 4 * D * N * N
## six_parameters_rule [six-times-the-parameters]: This is six times the matrices, the rule of thumb: scores and
averages are left out of the step.
- "step": 3 * forward,
+ "step": 6 * N * (M * (4 * D * D + 2 * D * F) + V * D),
## averages_not_masked: Your mask spares scores or averages, but not both; a pair that is left out has neither.
- left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
+ left, head = D * N * (N + 1) + 2 * D * N * N, 2 * V * D * N
## eight_for_every_weight [six-times-the-parameters]: Eight FLOPs for every weight is the rule of thumb: no pairs, and a
head that is recomputed.
- "recomputed": 3 * forward + M * (maps + pairs),
+ "recomputed": 8 * N * (M * (4 * D * D + 2 * D * F) + V * D),
## positions_as_a_product: You count a product with the positions; they are added.
- left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
+ left, head = 4 * D * (N * (N + 1) // 2), 2 * (V + N) * D * N
## pairs_of_one_token: Your scores and averages are those of one token with N others; all N tokens have them.
- maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
- left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
+ maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N
+ left, head = 2 * D * (N + 1), 2 * V * D * N
## masked_without_a_head: The head is missing from your masked step; the mask has nothing to do with it.
- "masked": 3 * (M * (maps + left) + head),
+ "masked": 3 * M * (maps + left),
## recomputed_without_a_head: Your recomputed step has no head at all; it is only not computed a second time.
- "recomputed": 3 * forward + M * (maps + pairs),
+ "recomputed": 4 * M * (maps + pairs),
## recomputed_and_masked: Under recomputed you have the mask's pairs; it is the step with all of them, as under step.
- "recomputed": 3 * forward + M * (maps + pairs),
+ "recomputed": 4 * M * (maps + left) + 3 * head,
""")
