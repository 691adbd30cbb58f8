"""Exercise 15, question parameters: every parameter."""

import numpy as np
from clearcheck import COUNTED, Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery

from .shared import draw_model


def parameters(V, N, D, M, F, tied, with_b, norm):
    """Term by term, as the chapter's table of what a model has."""
    of_norm = (2 if norm == "LayerNorm" else 1) * D
    attention = 4 * D**2 + with_b * 4 * D
    feed_forward = 2 * D * F + with_b * (F + D)
    head = 0 if tied else V * D
    return V * D + N * D + M * (attention + feed_forward + 2 * of_norm) + of_norm + head


def variants(tied, with_b, norm):
    def cases(rng):
        return [(*draw_model(rng), tied, with_b, norm) for _ in range(2)]

    return cases


def every_variant(rng):
    kinds = [(t, b, n) for t in (True, False) for b in (True, False) for n in ("LayerNorm", "RMSNorm")]
    one_block, no_block = ((*draw_model(rng)[:3], M, 59, False, True, "LayerNorm") for M in (1, 0))
    wide = (50257, 2048, 12288, 96, 4 * 12288, True, True, "LayerNorm")
    alike = 29, 29, 29, 3, 29, False, False, "RMSNorm"
    return [*((*draw_model(rng), *kinds[i]) for i in rng.permutation(len(kinds))), one_block, no_block, wide, alike]


def what_a_switch_adds(ask, rng):
    """Differences of two counts, so that a slip elsewhere drops out."""
    V, N, D, M, F = draw_model(rng)
    full = ask(V, N, D, M, F, True, True, "LayerNorm")
    if isinstance(full, bool) or not isinstance(full, int | float | np.number):
        return "The result should be a number."
    changes = {
        "a head of its own": ((False, True, "LayerNorm"), V * D),
        "no biases": ((True, False, "LayerNorm"), -M * (5 * D + F)),
        "RMSNorm for LayerNorm": ((True, True, "RMSNorm"), -(2 * M + 1) * D),
    }
    for name, (switches, expected) in changes.items():
        came = ask(V, N, D, M, F, *switches) - full
        if came != expected:
            return f"For V, N, D, M, F = {V, N, D, M, F}, {name} changes your count by {came:,}, which is not right."
    return None


QUESTION = Question(
    id="parameters",
    title="Every parameter",
    name="parameters",
    minutes=8,
    difficulty=1,
    checks=with_battery(
        equals("GPT-3's own kind", 3, variants(True, True, "LayerNorm"), parameters),
        equals("another kind", 3, variants(False, False, "RMSNorm"), parameters),
        holds("what a switch changes", 3, what_a_switch_adds),
        equals("every variant", 3, every_variant, parameters),
    ),
    hints=(
        "Write down the shape of every tensor of one block: six matrices, their biases, two norms. How many "
        "outputs has each matrix, and so how long is its bias?",
        "Outside the blocks there are four things at most: words, positions, one norm, and perhaps a head. Which "
        "of them does `tied` concern, and which `norm`?",
        "A LayerNorm has twice the numbers of an RMSNorm, and there are 2 M + 1 norms. The biases of one block "
        "are 5 D + F in number.",
    ),
    section="every-parameter-counted",
    inputs=Inputs(no_sizes=COUNTED),
)

right, wrong = answers_to(QUESTION)


@right
def tensor_by_tensor(V, N, D, M, F, tied, with_b, norm):
    shapes = [(V, D), (N, D)] + ([] if tied else [(V, D)])
    for _ in range(M):
        for rows, columns in ((3 * D, D), (D, D), (F, D), (D, F)):
            shapes.append((rows, columns))
            if with_b:
                shapes.append((rows,))
    norms = 2 * M + 1
    shapes += [(D,)] * norms * (2 if norm == "LayerNorm" else 1)
    return sum(int(np.prod(shape)) for shape in shapes)


@right
def one_formula(V, N, D, M, F, tied, with_b, norm):
    scale = {"LayerNorm": 2, "RMSNorm": 1}[norm]
    return (2 - tied) * V * D + N * D + M * (4 * D * D + 2 * D * F + with_b * (5 * D + F)) + (2 * M + 1) * scale * D


@right
def adding_up(V, N, D, M, F, tied, with_b, norm):
    total = V * D
    total += N * D
    if not tied:
        total += V * D
    for _ in range(M):
        total += D * D * 4
        total += D * F * 2
        if with_b:
            total += 4 * D + F + D
        total += D + D
        if norm == "LayerNorm":
            total += D + D
    total += D
    if norm == "LayerNorm":
        total += D
    return total


@right
def as_often_written(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


wrong.edits("""
# as_often_written
## head_always: Your head has a matrix of its own in every model; a tied one shares the embedding's.
- return V * D + N * D + M * block + norms + (0 if tied else V * D)
+ return V * D + N * D + M * block + norms + V * D
## head_never: A head that is not tied has V·D numbers of its own, which are missing.
+ return V * D + N * D + M * block + norms
## tie_upside_down: You count the head where it is tied, and leave it out where it is not.
+ return V * D + N * D + M * block + norms + (V * D if tied else 0)
## no_positions: The N learned positions are missing.
+ return V * D + M * block + norms + (0 if tied else V * D)
## no_last_norm: The norm at the end, after the blocks, is missing.
- norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
+ norms = 2 * M * D * (2 if norm == "LayerNorm" else 1)
## one_norm_a_block: Your blocks have one norm each; there is one in front of each of the two parts.
+ norms = (M + 1) * D * (2 if norm == "LayerNorm" else 1)
## two_last_norms: You count two norms after the blocks; there is one.
+ norms = (2 * M + 2) * D * (2 if norm == "LayerNorm" else 1)
## shift_with_the_biases: Without biases you take the shift away from LayerNorm as well; its scale and shift stay.
+ norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" and with_b else 1)
## norm_is_always_layer_norm: Every norm has a scale and a shift in your count; an RMSNorm has a scale alone.
+ norms = (2 * M + 1) * D * 2
## norm_has_a_scale_only: A LayerNorm has a scale and a shift, 2 D numbers; you count D.
+ norms = (2 * M + 1) * D
## norms_upside_down: You give the shift to RMSNorm and take it from LayerNorm.
+ norms = (2 * M + 1) * D * (2 if norm == "RMSNorm" else 1)
## norms_not_at_all: The norms are missing: each has numbers of its own.
- return V * D + N * D + M * block + norms + (0 if tied else V * D)
+ return V * D + N * D + M * block + (0 if tied else V * D)
## head_with_a_bias: Your head has a bias for every word; it never has one.
+ return V * D + with_b * V + N * D + M * block + norms + (0 if tied else V * D)
## six_narrow_biases: All six biases have D numbers in your count; the one of the hidden layer has F.
- block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
+ block = 4 * D * D + 2 * D * F + with_b * 6 * D
## biases_of_the_feed_forward_only: The biases of the four matrices of attention are missing.
+ block = 4 * D * D + 2 * D * F + with_b * (D + F)
## biases_of_attention_only: The biases of the feed-forward network are missing.
+ block = 4 * D * D + 2 * D * F + with_b * 4 * D
## no_bias_of_the_output_matrix: Your biases are D short in every block: the matrix that joins the heads has one, and
that from F to D.
+ block = 4 * D * D + 2 * D * F + with_b * (4 * D + F)
## biases_in_every_model: You count biases even where there are none.
+ block = 4 * D * D + 2 * D * F + (5 * D + F)
## biases_in_no_model: You count no biases, even where there are some.
+ block = 4 * D * D + 2 * D * F
## hidden_width_of_4d: You take 4 D for the hidden width; it is F.
+ block = 4 * D * D + 8 * D * D + with_b * 9 * D
## three_matrices: Attention has four D×D matrices; you count three.
+ block = 3 * D * D + 2 * D * F + with_b * (5 * D + F)
## one_feed_forward_matrix: The feed-forward network has two matrices, up and down; you count one.
+ block = 4 * D * D + D * F + with_b * (5 * D + F)
## one_block: You count one block; there are M.
- return V * D + N * D + M * block + norms + (0 if tied else V * D)
+ return V * D + N * D + block + norms + (0 if tied else V * D)
## no_embedding: The embedding is missing: V·D numbers, used as the head or not.
+ return N * D + M * block + norms + (0 if tied else V * D)
## positions_in_every_block: You give every block positions of its own; they are added once, below the first.
+ return V * D + M * (N * D + block) + norms + (0 if tied else V * D)
## positions_per_word: You count V · N numbers for the positions; each of the N positions has D.
+ return V * D + V * N + M * block + norms + (0 if tied else V * D)
## last_norm_with_a_scale_only: The norm at the end is like the others; yours has a scale and never a shift.
- norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
+ norms = 2 * M * D * (2 if norm == "LayerNorm" else 1) + D
## bias_of_a_head_of_its_own: A head of its own has a bias in your count where the blocks have some; it never has one.
- return V * D + N * D + M * block + norms + (0 if tied else V * D)
+ return V * D + N * D + M * block + norms + (0 if tied else V * D + with_b * V)
## biases_of_width_4d: Your biases are those of a hidden width of 4 D; the one of the hidden layer has F numbers.
- block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
+ block = 4 * D * D + 2 * D * F + with_b * 9 * D
## two_wide_biases: Your bias of the matrix from F to D has F numbers; it needs one for each output, so D.
+ block = 4 * D * D + 2 * D * F + with_b * (4 * D + 2 * F)
## biases_of_one_block: You count the biases of one block; there are M.
- block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
- return V * D + N * D + M * block + norms + (0 if tied else V * D)
+ matrices, biases = M * (4 * D * D + 2 * D * F), with_b * (5 * D + F)
+ return V * D + N * D + matrices + biases + norms + (0 if tied else V * D)
## norms_of_one_block: You count the norms of one block; there are M.
- norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
+ norms = 3 * D * (2 if norm == "LayerNorm" else 1)
## norms_with_the_biases: Without biases your norms are gone, too; they have their numbers whatever with_b says.
+ norms = with_b * (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
## last_norm_always_layer_norm: The norm at the end is like the others; yours has scale and shift whatever `norm` says.
+ norms = 2 * M * D * (2 if norm == "LayerNorm" else 1) + 2 * D
""")
