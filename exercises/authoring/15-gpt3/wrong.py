"""Named wrong solutions of exercise 15: what learners write, and the sentence that tells them so."""

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()


# parameters


@wrong(
    "parameters",
    says="Your head has a matrix of its own in every model; a tied one shares the embedding's.",
    section="every-parameter-counted",
)
def head_always(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + V * D


@wrong(
    "parameters",
    says="A head that is not tied has V·D numbers of its own, which are missing.",
    section="every-parameter-counted",
)
def head_never(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms


@wrong(
    "parameters",
    says="You count the head where it is tied, and leave it out where it is not.",
    section="every-parameter-counted",
)
def tie_upside_down(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (V * D if tied else 0)


@wrong(
    "parameters",
    says="The N learned positions are missing.",
    section="every-parameter-counted",
)
def no_positions(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="The norm at the end, after the blocks, is missing.",
    section="every-parameter-counted",
)
def no_last_norm(V, N, D, M, F, tied, with_b, norm):
    norms = 2 * M * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="Your blocks have one norm each; there is one in front of each of the two parts.",
    section="every-parameter-counted",
)
def one_norm_a_block(V, N, D, M, F, tied, with_b, norm):
    norms = (M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="You count two norms after the blocks; there is one.",
    section="every-parameter-counted",
)
def two_last_norms(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 2) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="Without biases you take the shift away from LayerNorm as well; its scale and shift stay.",
    section="every-parameter-counted",
)
def shift_with_the_biases(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" and with_b else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="Every norm has a scale and a shift in your count; an RMSNorm has a scale alone.",
    section="every-parameter-counted",
)
def norm_is_always_layer_norm(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * 2
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="A LayerNorm has a scale and a shift, 2 D numbers; you count D.",
    section="every-parameter-counted",
)
def norm_has_a_scale_only(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="You give the shift to RMSNorm and take it from LayerNorm.",
    section="every-parameter-counted",
)
def norms_upside_down(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "RMSNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="The norms are missing: each has numbers of its own.",
    section="every-parameter-counted",
)
def norms_not_at_all(V, N, D, M, F, tied, with_b, norm):
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + (0 if tied else V * D)


@wrong(
    "parameters",
    says="Your head has a bias for every word; it never has one.",
    section="every-parameter-counted",
)
def head_with_a_bias(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + with_b * V + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="All six biases have D numbers in your count; the one of the hidden layer has F.",
    section="every-parameter-counted",
)
def six_narrow_biases(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * 6 * D
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="The biases of the four matrices of attention are missing.",
    section="every-parameter-counted",
)
def biases_of_the_feed_forward_only(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="The biases of the feed-forward network are missing.",
    section="every-parameter-counted",
)
def biases_of_attention_only(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * 4 * D
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="Your biases are D short in every block: the matrix that joins the heads has one, and that from F to D.",
    section="every-parameter-counted",
)
def no_bias_of_the_output_matrix(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (4 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="You count biases also where there are none.",
    section="every-parameter-counted",
)
def biases_in_every_model(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="You count no biases, also where there are some.",
    section="every-parameter-counted",
)
def biases_in_no_model(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="You take 4 D for the hidden width; it is F.",
    section="every-parameter-counted",
)
def hidden_width_of_4d(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 8 * D * D + with_b * 9 * D
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="Attention has four D×D matrices; you count three.",
    section="every-parameter-counted",
)
def three_matrices(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 3 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="The feed-forward network has two matrices, up and down; you count one.",
    section="every-parameter-counted",
)
def one_feed_forward_matrix(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="You count one block; there are M.",
    section="every-parameter-counted",
)
def one_block(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="The embedding is missing: V·D numbers, used as the head or not.",
    section="every-parameter-counted",
)
def no_embedding(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="You give every block positions of its own; they are added once, below the first.",
    section="every-parameter-counted",
)
def positions_in_every_block(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + M * (N * D + block) + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="You count a position for every word; there are N of them.",
    section="every-parameter-counted",
)
def positions_per_word(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + V * N + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="The norm at the end is like the others; yours has a scale and never a shift.",
    section="every-parameter-counted",
)
def last_norm_with_a_scale_only(V, N, D, M, F, tied, with_b, norm):
    norms = 2 * M * D * (2 if norm == "LayerNorm" else 1) + D
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="A head of its own has a bias in your count where the blocks have some; it never has one.",
    section="every-parameter-counted",
)
def bias_of_a_head_of_its_own(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D + with_b * V)


@wrong(
    "parameters",
    says="Your biases are those of a hidden width of 4 D; the one of the hidden layer has F numbers.",
    section="every-parameter-counted",
)
def biases_of_width_4d(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * 9 * D
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="A bias has a number for each output: that of the matrix from F to D has D of them, and not F.",
    section="every-parameter-counted",
)
def two_wide_biases(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (4 * D + 2 * F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="You count the biases of one block; there are M.",
    section="every-parameter-counted",
)
def biases_of_one_block(V, N, D, M, F, tied, with_b, norm):
    norms = (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    matrices, biases = M * (4 * D * D + 2 * D * F), with_b * (5 * D + F)
    return V * D + N * D + matrices + biases + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="You count the norms of one block; there are M.",
    section="every-parameter-counted",
)
def norms_of_one_block(V, N, D, M, F, tied, with_b, norm):
    norms = 3 * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="Without biases your norms are gone, too; they have their numbers whatever with_b says.",
    section="every-parameter-counted",
)
def norms_with_the_biases(V, N, D, M, F, tied, with_b, norm):
    norms = with_b * (2 * M + 1) * D * (2 if norm == "LayerNorm" else 1)
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


@wrong(
    "parameters",
    says="The norm at the end is like the others; yours has a scale and a shift whatever `norm` says.",
    section="every-parameter-counted",
)
def last_norm_always_layer_norm(V, N, D, M, F, tied, with_b, norm):
    norms = 2 * M * D * (2 if norm == "LayerNorm" else 1) + 2 * D
    block = 4 * D * D + 2 * D * F + with_b * (5 * D + F)
    return V * D + N * D + M * block + norms + (0 if tied else V * D)


# step


@wrong(
    "step",
    says="Your counts are half of what they should be: a multiplication and an addition are two.",
    section="common-mistakes",
)
def multiply_and_add_as_one(V, N, D, M, F):
    maps, pairs = 4 * D * D * N + 2 * D * F * N, 2 * D * N * N
    left, head = D * N * (N + 1), V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="The head is missing: at every position a product with all V words.",
    section="what-a-token-costs",
)
def no_head(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 0
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="You count the embedding twice; looking up a row is no product.",
    section="what-a-token-costs",
)
def two_heads(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 4 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="Your head works at one position only; in training there is a prediction at each.",
    section="what-a-token-costs",
)
def head_at_one_position(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="Scores and averages are missing, the products of every token with every other.",
    section="what-a-token-costs",
)
def no_pairs(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 0
    left, head = 0, 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="You count the scores and not the averages of the values, which cost as much.",
    section="what-a-token-costs",
)
def scores_without_averages(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 2 * D * N * N
    left, head = 2 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="Your backward pass costs as much as the forward pass; it has two products for each one.",
    section="what-a-token-costs",
)
def backward_like_forward(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 2 * forward,
        "masked": 2 * (M * (maps + left) + head),
        "recomputed": 2 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="You take three products backward for each one forward; there are two.",
    section="what-a-token-costs",
)
def backward_thrice(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 4 * forward,
        "masked": 4 * (M * (maps + left) + head),
        "recomputed": 4 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="Under step you give the backward pass alone, without the forward pass before it.",
    section="what-a-token-costs",
)
def backward_alone(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 2 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="With the mask a token still looks at itself: more than half of the N × N pairs are left.",
    section="what-a-token-costs",
)
def half_of_the_square(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * N * N // 2, 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="Your masked tokens do not look at themselves; token n looks at 1, …, n.",
    section="what-a-token-costs",
)
def not_at_itself(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N - 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="The mask takes away pairs only; your whole step becomes cheaper by half.",
    section="what-a-token-costs",
)
def the_mask_halves_everything(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    head = 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * forward // 2,
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="Your mask saves pairs in the forward pass only; those that are left out have no backward products either.",
    section="what-a-token-costs",
)
def masked_forward_only(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * forward - M * (pairs - left),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="Your masked step computes all pairs.",
    section="what-a-token-costs",
)
def masked_like_the_rest(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    head = 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * forward,
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="You compute the head once more, too; only the forward pass of the blocks is done again.",
    section="what-a-token-costs",
)
def head_recomputed(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 4 * forward,
    }


@wrong(
    "step",
    says="The forward pass that is done again has scores and averages, too.",
    section="what-a-token-costs",
)
def recomputed_without_pairs(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * maps,
    }


@wrong(
    "step",
    says="Your recomputed step costs what the plain one costs; the second forward pass of the blocks is missing.",
    section="what-a-token-costs",
)
def not_recomputed(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward,
    }


@wrong(
    "step",
    says="The second forward pass has no backward pass of its own; you add all three parts of the blocks.",
    section="what-a-token-costs",
)
def recomputed_with_a_backward(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + 3 * M * (maps + pairs),
    }


@wrong(
    "step",
    says="You take 4 D for the hidden width; it is F.",
    section="what-a-token-costs",
)
def hidden_width_of_four(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 16 * D * D * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="Attention has four products with weights; the one that joins the heads is missing.",
    section="what-a-token-costs",
)
def three_maps(V, N, D, M, F):
    maps, pairs = 6 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="You count for one token; the window has N of them.",
    section="what-a-token-costs",
)
def for_one_token(V, N, D, M, F):
    maps, pairs = 8 * D * D + 4 * D * F, 4 * D * N
    left, head = 2 * D * (N + 1), 2 * V * D
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="You count one block; there are M.",
    section="what-a-token-costs",
)
def one_block_only(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * ((maps + left) + head),
        "recomputed": 3 * forward + (maps + pairs),
    }


@wrong(
    "step",
    says="Scores and averages occur in every block; you count them once.",
    section="what-a-token-costs",
)
def pairs_of_one_block(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = (M * maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * ((M * maps + left) + head),
        "recomputed": 3 * forward + (M * maps + pairs),
    }


@wrong(
    "step",
    says="You count the additions of biases; products only.",
    section="what-a-token-costs",
)
def biases_counted(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N + (5 * D + F) * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="This is six times the matrices, the rule of thumb: scores and averages are left out of the step.",
    section="six-times-the-parameters",
)
def six_parameters_rule(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 6 * N * (M * (4 * D * D + 2 * D * F) + V * D),
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="Your mask spares scores or averages, but not both; a pair that is left out has neither.",
    section="what-a-token-costs",
)
def averages_not_masked(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = D * N * (N + 1) + 2 * D * N * N, 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="Eight FLOPs for every weight is the rule of thumb: no pairs, and a head that is recomputed.",
    section="six-times-the-parameters",
)
def eight_for_every_weight(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 8 * N * (M * (4 * D * D + 2 * D * F) + V * D),
    }


@wrong(
    "step",
    says="You count a product with the positions; they are added.",
    section="what-a-token-costs",
)
def positions_as_a_product(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 4 * D * (N * (N + 1) // 2), 2 * (V + N) * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="Your scores and averages are those of one token with N others; all N tokens have them.",
    section="what-a-token-costs",
)
def pairs_of_one_token(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N
    left, head = 2 * D * (N + 1), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="The head is missing from your masked step; the mask has nothing to do with it.",
    section="what-a-token-costs",
)
def masked_without_a_head(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 2 * D * N * (N + 1), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * M * (maps + left),
        "recomputed": 3 * forward + M * (maps + pairs),
    }


@wrong(
    "step",
    says="Your recomputed step has no head at all; it is only not computed a second time.",
    section="what-a-token-costs",
)
def recomputed_without_a_head(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 2 * D * N * (N + 1), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 4 * M * (maps + pairs),
    }


@wrong(
    "step",
    says="Under recomputed you have the mask's pairs; it is the step with all of them, as under step.",
    section="what-a-token-costs",
)
def recomputed_and_masked(V, N, D, M, F):
    maps, pairs = 8 * D * D * N + 4 * D * F * N, 4 * D * N * N
    left, head = 2 * D * N * (N + 1), 2 * V * D * N
    forward = M * (maps + pairs) + head
    return {
        "forward": forward,
        "step": 3 * forward,
        "masked": 3 * (M * (maps + left) + head),
        "recomputed": 4 * M * (maps + left) + 3 * head,
    }


# memory


@wrong(
    "memory",
    says="AdamW keeps two moments for every weight; you count one.",
    section="what-has-to-be-in-memory",
)
def one_moment(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="You round the share down; the worker with the most has one number more where it does not come out even.",
    section="the-states-once-instead-of-everywhere",
)
def rounded_down(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), P // R
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="You round the share to the nearest number; the worker with the most has it rounded up.",
    section="the-states-once-instead-of-everywhere",
)
def rounded_to_the_nearest(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), round(P / R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="Your largest share has one number too many where P comes out even.",
    section="the-states-once-instead-of-everywhere",
)
def one_too_many(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), P // R + 1
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="Your share is no whole number; nobody keeps a fraction of a weight.",
    section="the-states-once-instead-of-everywhere",
)
def not_whole(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), P / R
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="The copy belongs to the states of the optimiser, and is cut together with the moments.",
    section="the-states-once-instead-of-everywhere",
)
def copy_not_cut(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * P,
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="Each step of the ladder keeps what the ones before it have cut; yours cuts one kind only.",
    section="the-states-once-instead-of-everywhere",
)
def one_kind_at_a_time(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level == 3 else P),
        "gradients": size[1] * (most if level == 2 else P),
        "copy": size[2] * (most if level == 1 else P),
        "moments": 2 * size[3] * (most if level == 1 else P),
    }


@wrong(
    "memory",
    says="Your gradients are cut one step too early, together with the moments.",
    section="the-states-once-instead-of-everywhere",
)
def gradients_with_the_moments(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 0 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="Your weights are cut one step too early, together with the gradients.",
    section="the-states-once-instead-of-everywhere",
)
def weights_with_the_gradients(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 1 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="With everything cut the weights are cut as well; yours stay whole.",
    section="the-states-once-instead-of-everywhere",
)
def weights_never_cut(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * P,
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="You cut everything, whatever the argument says.",
    section="the-states-once-instead-of-everywhere",
)
def everything_cut_always(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    most = -(-P // R)
    return {
        "weights": size[0] * (most),
        "gradients": size[1] * (most),
        "copy": size[2] * (most),
        "moments": 2 * size[3] * (most),
    }


@wrong(
    "memory",
    says="You cut nothing, whatever the argument says.",
    section="the-states-once-instead-of-everywhere",
)
def nothing_cut_ever(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    return {
        "weights": size[0] * P,
        "gradients": size[1] * P,
        "copy": size[2] * P,
        "moments": 2 * size[3] * P,
    }


@wrong(
    "memory",
    says="Weights that have 4 bytes need no copy.",
    section="what-has-to-be-in-memory",
)
def copy_of_wide_weights(P, R, precision, cut):
    size = {"32 bits": (4, 4, 4, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="With everything in 2 bytes there is no copy.",
    section="what-has-to-be-in-memory",
)
def copy_in_sixteen(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 4, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="Mixed precision keeps a copy of the weights in 4 bytes, which is missing.",
    section="what-has-to-be-in-memory",
)
def mixed_without_a_copy(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 0, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="Your copy has 2 bytes a weight; it is there because 2 are too few.",
    section="what-has-to-be-in-memory",
)
def mixed_copy_in_two(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 2, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="Mixed precision keeps the moments in 4 bytes.",
    section="what-has-to-be-in-memory",
)
def mixed_moments_in_two(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 2), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="Mixed precision keeps the gradients in 2 bytes.",
    section="what-has-to-be-in-memory",
)
def mixed_gradients_in_four(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 4, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="With everything in 2 bytes the moments have 2 as well.",
    section="what-has-to-be-in-memory",
)
def sixteen_with_wide_moments(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 4)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="You count in bits; a byte has eight of them.",
    section="what-has-to-be-in-memory",
)
def bits_for_bytes(P, R, precision, cut):
    size = {"32 bits": (32, 32, 0, 32), "mixed": (16, 16, 32, 32), "16 bits": (16, 16, 0, 16)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="You round the bytes up, and not the number of weights: a share can end inside a number.",
    section="the-states-once-instead-of-everywhere",
)
def bytes_divided(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level = ("nothing", "moments", "gradients", "all").index(cut)
    return {
        "weights": (-(-size[0] * P // R) if level > 2 else size[0] * P),
        "gradients": (-(-size[1] * P // R) if level > 1 else size[1] * P),
        "copy": (-(-size[2] * P // R) if level > 0 else size[2] * P),
        "moments": (-(-2 * size[3] * P // R) if level > 0 else 2 * size[3] * P),
    }


@wrong(
    "memory",
    says="You divide all moments as one heap; the two of a weight stay together, so round before you double.",
    section="the-states-once-instead-of-everywhere",
)
def moments_cut_one_by_one(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": size[3] * (-(-2 * P // R) if level > 0 else 2 * P),
    }


@wrong(
    "memory",
    says="You add up what all workers keep; one of them was asked for.",
    section="the-states-once-instead-of-everywhere",
)
def all_workers_together(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level = ("nothing", "moments", "gradients", "all").index(cut)
    return {
        "weights": size[0] * (P if level > 2 else R * P),
        "gradients": size[1] * (P if level > 1 else R * P),
        "copy": size[2] * (P if level > 0 else R * P),
        "moments": 2 * size[3] * (P if level > 0 else R * P),
    }


@wrong(
    "memory",
    says="In mixed precision the weights have 2 bytes and their copy 4; you have it the other way round.",
    section="what-has-to-be-in-memory",
)
def copy_and_weights_exchanged(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (4, 2, 2, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="Your copy is cut as late as the weights; it belongs to the optimiser, and is cut with the moments.",
    section="the-states-once-instead-of-everywhere",
)
def copy_cut_with_the_weights(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 2 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="Where the gradients are cut the moments are cut as well; yours are whole again.",
    section="the-states-once-instead-of-everywhere",
)
def gradients_instead_of_moments(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level in (1, 3) else P),
        "moments": 2 * size[3] * (most if level in (1, 3) else P),
    }


@wrong(
    "memory",
    says="You count the copy as a moment; it has an entry of its own.",
    section="the-states-once-instead-of-everywhere",
)
def copy_among_the_moments(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": 0,
        "moments": (size[2] + 2 * size[3]) * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="Your copy is cut together with the gradients; it belongs to the optimiser, and is cut with the moments.",
    section="the-states-once-instead-of-everywhere",
)
def copy_with_the_gradients(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 1 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


@wrong(
    "memory",
    says="With everything in 2 bytes there is no copy, and the moments have 2 bytes; you take the sizes of mixed.",
    section="the-states-once-instead-of-everywhere",
)
def sixteen_like_mixed(P, R, precision, cut):
    size = {"32 bits": (4, 4, 0, 4), "mixed": (2, 2, 4, 4), "16 bits": (2, 2, 0, 2)}[precision]
    level, most = ("nothing", "moments", "gradients", "all").index(cut), -(-P // R)
    size = (2, 2, 4, 4) if precision == "16 bits" else size
    return {
        "weights": size[0] * (most if level > 2 else P),
        "gradients": size[1] * (most if level > 1 else P),
        "copy": size[2] * (most if level > 0 else P),
        "moments": 2 * size[3] * (most if level > 0 else P),
    }


# split


@wrong(
    "split",
    says="Every worker adds the whole b₂, so the sum holds it R times.",
    section="by-features-tensor-parallelism",
)
def bias_for_everyone(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own], W_2[:, own], b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="b₂ is lost: somebody has to add it, once.",
    section="by-features-tensor-parallelism",
)
def bias_for_nobody(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own], W_2[:, own], np.zeros_like(b_2)) for r, own in enumerate(units)]


@wrong(
    "split",
    says="The first and the last worker both add b₂.",
    section="by-features-tensor-parallelism",
)
def bias_at_both_ends(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own], W_2[:, own], b_2 if r in (0, R - 1) else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="You give each worker some entries of b₂ and let them begin at the top, so they land on the wrong features.",
    section="by-features-tensor-parallelism",
)
def bias_of_some_features(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [
        (W_1[own], b_1[own], W_2[:, own], np.pad(np.array_split(b_2, R)[r], (0, len(b_2)))[: len(b_2)])
        for r, own in enumerate(units)
    ]


@wrong(
    "split",
    says="You divide b₁ by R; a unit has one worker, who needs all of its bias.",
    section="by-features-tensor-parallelism",
)
def hidden_bias_in_parts(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own] / R, W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="You divide W₁ by R; a unit has one worker, who needs all of its row.",
    section="by-features-tensor-parallelism",
)
def first_matrix_in_parts(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own] / R, b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="You divide W₂ by R: the outputs are summed, not averaged, and no unit occurs twice.",
    section="by-features-tensor-parallelism",
)
def second_matrix_in_parts(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own], W_2[:, own] / R, b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="Your workers give R times their part, as if the outputs were averaged; they are summed.",
    section="by-features-tensor-parallelism",
)
def outputs_averaged(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own], W_2[:, own] * R, b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="All workers get the first entries of b₁; each needs those of its own units.",
    section="by-features-tensor-parallelism",
)
def hidden_bias_of_the_first(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[: len(own)], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="All workers get the first columns of W₂; each needs those of its own units.",
    section="by-features-tensor-parallelism",
)
def second_matrix_of_the_first(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own], W_2[:, : len(own)], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="b₁ is lost: each unit has its bias.",
    section="by-features-tensor-parallelism",
)
def no_hidden_bias(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], 0 * b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="Every worker gets the whole b₁; it has an entry for each unit, and a worker has some units only.",
    section="by-features-tensor-parallelism",
)
def hidden_bias_whole(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1, W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="You cut W₂ by its rows, the outputs; a worker's units belong to columns of W₂.",
    section="by-features-tensor-parallelism",
)
def second_matrix_by_outputs(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own], np.array_split(W_2, R)[r], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="You cut W₁ by its columns, the inputs: a hidden unit would be in pieces when the ReLU comes.",
    section="by-features-tensor-parallelism",
)
def first_matrix_by_inputs(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(np.array_split(W_1, R, axis=1)[r], b_1, W_2, b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="Your W₂ stands transposed.",
    section="by-features-tensor-parallelism",
)
def second_matrix_turned(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own], W_2[:, own].T, b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="Every worker gets the whole network, divided by R: the sum is right, and nothing is split.",
    section="by-features-tensor-parallelism",
)
def whole_networks(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1, b_1, W_2 / R, b_2 / R) for r, own in enumerate(units)]


@wrong(
    "split",
    says="The units are dealt out like cards; they should come in their order.",
    section="by-features-tensor-parallelism",
)
def dealt_out(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[r::R], b_1[r::R], W_2[:, r::R], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="W₁ and b₁ are dealt out like cards and W₂ is cut in their order: units are read with the wrong weights.",
    section="by-features-tensor-parallelism",
)
def dealt_out_above_only(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[r::R], b_1[r::R], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="Your workers come in the reverse order of the units.",
    section="by-features-tensor-parallelism",
)
def units_backwards(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)[::-1]
    return [(W_1[own], b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="Where F is no multiple of R the last units are lost.",
    section="by-features-tensor-parallelism",
)
def units_lost(W_1, b_1, W_2, b_2, R):
    each = len(b_1) // R
    units = [np.arange(r * each, (r + 1) * each) for r in range(R)]
    return [(W_1[own], b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="The last worker gets all that is left over; shares may differ by one unit only.",
    section="by-features-tensor-parallelism",
)
def the_last_gets_the_rest(W_1, b_1, W_2, b_2, R):
    each = len(b_1) // R
    units = [np.arange(r * each, (r + 1) * each if r < R - 1 else len(b_1)) for r in range(R)]
    return [(W_1[own], b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="Neighbouring workers share a unit, which is then counted twice.",
    section="by-features-tensor-parallelism",
)
def overlapping_units(W_1, b_1, W_2, b_2, R):
    units = [
        np.r_[own, own[-1] + 1] if own[-1] + 1 < len(b_1) else own for own in np.array_split(np.arange(len(b_1)), R)
    ]
    return [(W_1[own], b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="A network has four arrays; b₂ is missing from your tuples.",
    section="by-features-tensor-parallelism",
)
def three_arrays(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own], W_2[:, own]) for r, own in enumerate(units)]


@wrong(
    "split",
    says="You share b₂ out among the workers; the sum is right, but all of it belongs to the first one.",
    section="by-features-tensor-parallelism",
)
def bias_shared_out(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own], W_2[:, own], b_2 / R) for own in units]


@wrong(
    "split",
    says="The units that are left over go to your last workers; the first ones get them.",
    section="by-features-tensor-parallelism",
)
def last_workers_get_more(W_1, b_1, W_2, b_2, R):
    sizes = sorted(len(own) for own in np.array_split(b_1, R))
    units = np.split(np.arange(len(b_1)), np.cumsum(sizes)[:-1])
    return [(W_1[own], b_1[own], W_2[:, own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="`np.split` wants equal pieces, and the units need not come out even.",
    section="by-features-tensor-parallelism",
)
def only_equal_pieces(W_1, b_1, W_2, b_2, R):
    pieces = zip(np.split(W_1, R), np.split(b_1, R), np.split(W_2, R, axis=1), strict=True)
    return [(*piece, b_2 if r == 0 else 0 * b_2) for r, piece in enumerate(pieces)]


@wrong(
    "split",
    says="You cut all four arrays along their first axis; for W₂ and b₂ these are the outputs, and not the units.",
    section="by-features-tensor-parallelism",
)
def everything_by_rows(W_1, b_1, W_2, b_2, R):
    return list(zip(*(np.array_split(array, R) for array in (W_1, b_1, W_2, b_2)), strict=True))


@wrong(
    "split",
    says="The units of a worker are rows of W₁, but columns of W₂; you take rows of both.",
    section="by-features-tensor-parallelism",
)
def rows_of_the_second_matrix(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own], W_2[own], b_2 if r == 0 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="You give b₂ to the last worker; the first one gets it.",
    section="by-features-tensor-parallelism",
)
def bias_for_the_last(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own], W_2[:, own], b_2 if r == R - 1 else 0 * b_2) for r, own in enumerate(units)]


@wrong(
    "split",
    says="You give every worker F / R units, rounded up, until none are left; shares may differ by one unit only.",
    section="by-features-tensor-parallelism",
)
def shares_rounded_up(W_1, b_1, W_2, b_2, R):
    most = -(-len(b_1) // R)
    units = [slice(r * most, (r + 1) * most) for r in range(R)]
    return [(W_1[own], b_1[own], W_2[:, own], b_2 * (r == 0)) for r, own in enumerate(units)]


@wrong(
    "split",
    says="You keep all F units everywhere, with zeros for those of others; a worker has its own units only.",
    section="by-features-tensor-parallelism",
)
def zeros_for_the_others(W_1, b_1, W_2, b_2, R):
    parts = []
    for r, own in enumerate(np.array_split(np.arange(len(b_1)), R)):
        on = np.isin(np.arange(len(b_1)), own)
        parts.append((W_1 * on[:, None], b_1 * on, W_2 * on, b_2 * (r == 0)))
    return parts


@wrong(
    "split",
    says="You give each worker some entries of b₂; the sum is right, but all of it belongs to the first one.",
    section="by-features-tensor-parallelism",
)
def bias_by_features(W_1, b_1, W_2, b_2, R):
    units, features = np.array_split(np.arange(len(b_1)), R), np.array_split(np.arange(len(b_2)), R)
    return [
        (W_1[own], b_1[own], W_2[:, own], b_2 * np.isin(np.arange(len(b_2)), mine))
        for own, mine in zip(units, features, strict=True)
    ]


@wrong(
    "split",
    says="Only the first worker's units have their b₁; it belongs to the units, so each worker has its own part.",
    section="by-features-tensor-parallelism",
)
def hidden_bias_for_the_first(W_1, b_1, W_2, b_2, R):
    units = np.array_split(np.arange(len(b_1)), R)
    return [(W_1[own], b_1[own] * (r == 0), W_2[:, own], b_2 * (r == 0)) for r, own in enumerate(units)]


# museum


@wrong(
    "museum",
    says="This is the museum piece, with all three mistakes.",
    section="by-rows-data-parallelism",
)
def the_museum_piece(W, shards, rate, limit, decay):
    gradients = []
    for X, Y in shards:
        G = 2 * (W @ X - Y) @ X.T / X.shape[1] + decay * W
        G = G * min(1, limit / np.sqrt(np.square(G).sum()))
        gradients.append(G)
    return W - rate * sum(gradients) / len(shards)


@wrong(
    "museum",
    says="Shares are right; the limit and the decay still stand where they stood in the museum piece.",
    section="by-rows-data-parallelism",
)
def shares_repaired(W, shards, rate, limit, decay):
    n, total = sum(X.shape[1] for X, _ in shards), 0 * W
    for X, Y in shards:
        if X.shape[1]:
            G = 2 * (W @ X - Y) @ X.T / X.shape[1] + decay * W
            total = total + X.shape[1] / n * G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * total


@wrong(
    "museum",
    says="The limit is right; shares are still averaged without weights, and the decay is inside the gradient.",
    section="by-rows-data-parallelism",
)
def limit_repaired(W, shards, rate, limit, decay):
    G = sum(2 * (W @ X - Y) @ X.T / X.shape[1] for X, Y in shards) / len(shards) + decay * W
    return W - rate * G * min(1, limit / np.linalg.norm(G))


@wrong(
    "museum",
    says="The decay is right; shares are still averaged without weights, and each worker has a limit of its own.",
    section="by-rows-data-parallelism",
)
def decay_repaired(W, shards, rate, limit, decay):
    gradients = []
    for X, Y in shards:
        G = 2 * (W @ X - Y) @ X.T / X.shape[1]
        gradients.append(G * min(1, limit / max(np.sqrt(np.square(G).sum()), 1e-300)))
    return W - rate * (sum(gradients) / len(shards) + decay * W)


@wrong(
    "museum",
    says="You average the means of the workers; the tokens of a small share count too much.",
    section="by-rows-data-parallelism",
)
def means_averaged(W, shards, rate, limit, decay):
    sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T / max(X.shape[1], 1) for X, Y in shards) / len(shards)
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You sum the means of the workers; each stands for its own tokens only.",
    section="by-rows-data-parallelism",
)
def means_summed(W, shards, rate, limit, decay):
    sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T / max(X.shape[1], 1) for X, Y in shards)
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You sum over all tokens and divide by nothing; the loss is a mean.",
    section="by-rows-data-parallelism",
)
def nothing_averaged(W, shards, rate, limit, decay):
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards)
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You sum over all tokens and divide by the number of workers, not of tokens.",
    section="by-rows-data-parallelism",
)
def divided_by_workers(W, shards, rate, limit, decay):
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / len(shards)
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You divide by the number of entries of Y; the loss is a mean over tokens, of whole columns.",
    section="by-rows-data-parallelism",
)
def divided_by_entries(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / (n_tokens * len(W))
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="The 2 that comes from the square is missing.",
    section="by-rows-data-parallelism",
)
def no_factor_2(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You go up the gradient: W grows where the loss grows.",
    section="by-rows-data-parallelism",
)
def uphill(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (decay * W - G)


@wrong(
    "museum",
    says="Each worker shortens its own gradient; the limit is for the gradient of all tokens.",
    section="by-rows-data-parallelism",
)
def limit_for_each_worker(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    parts = [(X.shape[1] / n_tokens, 2 * (W @ X - Y) @ X.T / max(X.shape[1], 1)) for X, Y in shards]
    G = sum(part * g * min(1, limit / max(np.linalg.norm(g), 1e-300)) for part, g in parts)
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="Your decay is part of the gradient when that is shortened; it comes afterwards.",
    section="by-rows-data-parallelism",
)
def decay_in_the_limit(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens + decay * W
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * G


@wrong(
    "museum",
    says="You bring every gradient to the length of the limit, short ones as well.",
    section="by-rows-data-parallelism",
)
def always_scaled(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * limit / max(np.linalg.norm(G), 1e-300)
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="There is no limit in your step.",
    section="by-rows-data-parallelism",
)
def never_scaled(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You clip every entry by itself, which turns the gradient; the limit is for its length.",
    section="by-rows-data-parallelism",
)
def entries_clipped(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = np.clip(G, -limit, limit)
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You compare the sum of the squares with the limit: the root is missing.",
    section="by-rows-data-parallelism",
)
def length_without_a_root(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.square(G).sum(), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You take the largest entry for the length of the gradient.",
    section="by-rows-data-parallelism",
)
def length_of_the_largest_entry(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.abs(G).max(), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You take the root of the mean square for the length; all squares are summed.",
    section="by-rows-data-parallelism",
)
def mean_square_length(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.sqrt(np.square(G).mean()), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You shorten the gradient times the rate; the limit is for the gradient alone.",
    section="by-rows-data-parallelism",
)
def limit_after_the_rate(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(rate * np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="The decay is multiplied by the rate, too.",
    section="by-rows-data-parallelism",
)
def decay_without_the_rate(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * G - decay * W


@wrong(
    "museum",
    says="You let the new W decay; it is the old one that does.",
    section="by-rows-data-parallelism",
)
def decay_after_the_step(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return (W - rate * G) * (1 - rate * decay)


@wrong(
    "museum",
    says="There is no decay in your step.",
    section="by-rows-data-parallelism",
)
def no_decay(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * G


@wrong(
    "museum",
    says="Every worker lets W decay; it is done once.",
    section="by-rows-data-parallelism",
)
def decay_for_each_worker(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + len(shards) * decay * W)


@wrong(
    "museum",
    says="Your decay lets W grow.",
    section="by-rows-data-parallelism",
)
def decay_upwards(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G - decay * W)


@wrong(
    "museum",
    says="Your mean over a worker without tokens is 0 / 0, and spoils the rest.",
    section="by-rows-data-parallelism",
)
def empty_shards_are_nan(W, shards, rate, limit, decay):
    n = np.array([X.shape[1] for X, _ in shards])
    with np.errstate(all="ignore"):
        G = sum(k * (2 * (W @ X - Y) @ X.T / np.float64(k)) for k, (X, Y) in zip(n, shards, strict=True)) / n.sum()
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="Where W fits already the gradient is 0, and you divide by its length.",
    section="by-rows-data-parallelism",
)
def zero_gradient_is_nan(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    with np.errstate(all="ignore"):
        G = G / np.linalg.norm(G) * min(np.linalg.norm(G), limit)
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You write into W, and the caller's weights are gone.",
    section="by-rows-data-parallelism",
)
def written_into_w(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    W -= rate * (G + decay * W)
    return W


@wrong(
    "museum",
    says="Only the first worker's tokens enter your step.",
    section="by-rows-data-parallelism",
)
def first_worker_only(W, shards, rate, limit, decay):
    X, Y = next((X, Y) for X, Y in shards if X.shape[1])
    G = 2 * (W @ X - Y) @ X.T / X.shape[1]
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="Your workers take turns, each from the W that the one before has left; all begin with the same W.",
    section="by-rows-data-parallelism",
)
def one_worker_after_another(W, shards, rate, limit, decay):
    for X, Y in shards:
        if X.shape[1]:
            G = 2 * (W @ X - Y) @ X.T / X.shape[1]
            W = W - rate * G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * decay * W


@wrong(
    "museum",
    says="You multiply a gradient that is too long by the limit, and do not divide it by its length.",
    section="by-rows-data-parallelism",
)
def multiplied_by_the_limit(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * (limit if np.linalg.norm(G) > limit else 1)
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="`np.linalg.norm(G, 2)` is the largest singular value; the length is the root of the sum of squares.",
    section="by-rows-data-parallelism",
)
def largest_singular_value(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / max(np.linalg.norm(G, 2), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You weight sums by the workers' shares; a sum holds the number of its tokens already.",
    section="by-rows-data-parallelism",
)
def weighted_twice(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum(X.shape[1] / n_tokens * (W @ X - Y) @ X.T for X, Y in shards)
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You add 0.000001 to the length, as PyTorch does; here the scaled gradient is as long as the limit.",
    section="by-rows-data-parallelism",
)
def a_little_below_the_limit(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * min(1, limit / (np.linalg.norm(G) + 1e-6))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="Limit and decay are right; the means of the workers are still averaged, however many tokens each has.",
    section="by-rows-data-parallelism",
)
def limit_and_decay_repaired(W, shards, rate, limit, decay):
    gradients = []
    for X, Y in shards:
        gradients.append(2 * (W @ X - Y) @ X.T / X.shape[1])
    G = sum(gradients) / len(shards)
    G = G * min(1, limit / np.sqrt(np.square(G).sum()))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You shorten what each worker adds to the gradient; the limit is for the sum.",
    section="by-rows-data-parallelism",
)
def limit_for_each_part(W, shards, rate, limit, decay):
    n_tokens, total = sum(X.shape[1] for X, _ in shards), 0 * W
    for X, Y in shards:
        part = 2 * (W @ X - Y) @ X.T / n_tokens
        total = total + part * min(1, limit / max(np.linalg.norm(part), 1e-300))
    return W - rate * (total + decay * W)


@wrong(
    "museum",
    says="You limit every column of the gradient by itself, which turns it; the limit is for the length of the whole.",
    section="by-rows-data-parallelism",
)
def columns_clipped(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens
    G = G * np.minimum(1, limit / np.maximum(np.linalg.norm(G, axis=0), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You divide by the number of features, `len(X)`; tokens are the columns of X.",
    section="by-rows-data-parallelism",
)
def divided_by_features(W, shards, rate, limit, decay):
    X, Y = (np.concatenate(arrays, axis=1) for arrays in zip(*shards, strict=True))
    G = 2 * (W @ X - Y) @ X.T / len(X)
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


@wrong(
    "museum",
    says="You divide twice, by all tokens and by the number of workers.",
    section="by-rows-data-parallelism",
)
def divided_twice(W, shards, rate, limit, decay):
    n_tokens = sum(X.shape[1] for X, _ in shards)
    G = 2 * sum((W @ X - Y) @ X.T for X, Y in shards) / n_tokens / len(shards)
    G = G * min(1, limit / max(np.linalg.norm(G), 1e-300))
    return W - rate * (G + decay * W)


# pipeline


@wrong(
    "pipeline",
    says="Your workers begin a forward as soon as it arrives, also while they work on the one before.",
    section="by-layers-pipeline-parallelism",
)
def nobody_is_busy(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = (F[k - 1, i] if k else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Your workers never wait for one another: each goes through its tasks from time 0.",
    section="by-layers-pipeline-parallelism",
)
def nobody_waits(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = (F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = (B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Your backwards do not wait for the worker after.",
    section="by-layers-pipeline-parallelism",
)
def backwards_do_not_wait(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = (B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Your forwards do not wait for the worker before.",
    section="by-layers-pipeline-parallelism",
)
def forwards_do_not_wait(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = (F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Your workers begin a backward as soon as it arrives, also while they work on another.",
    section="by-layers-pipeline-parallelism",
)
def busy_twice_backward(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = (B[k + 1, i] if k < w - 1 else (B[k, i - 1] if i else F[k, -1])) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Your backwards run from the first worker to the last; gradients come from the other end.",
    section="by-layers-pipeline-parallelism",
)
def backward_from_the_first(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w):
        for i in range(m):
            B[k, i] = max(B[k - 1, i] if k else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Your backwards begin at time 0, as if there were no forwards before them.",
    section="by-layers-pipeline-parallelism",
)
def backward_from_time_zero(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else 0) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Your last worker starts a backward right after its forward; it does all its forwards first.",
    section="by-layers-pipeline-parallelism",
)
def a_backward_at_once(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, max(B[k, i - 1] if i else 0, F[k, i])) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Your backwards take as long as the forwards.",
    section="by-layers-pipeline-parallelism",
)
def forwards_for_backwards(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + forward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Your end is that of the forwards; the backwards follow.",
    section="by-layers-pipeline-parallelism",
)
def end_of_the_forwards(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = F.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Your end is that of the last worker; the first one still has backwards to do then.",
    section="by-layers-pipeline-parallelism",
)
def end_of_the_last_worker(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B[-1, -1]
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Under idle you give the share of the time in which a worker works.",
    section="by-layers-pipeline-parallelism",
)
def busy_share(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Under idle you give times; a share of the end was asked for.",
    section="by-layers-pipeline-parallelism",
)
def idle_time(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": end - m * (forward + backward), "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="You divide the waiting by the working time; divide by the whole time from 0 to the end.",
    section="by-layers-pipeline-parallelism",
)
def idle_against_busy(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": end / (m * (forward + backward)) - 1, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="A worker that has finished waits until the end, too; yours stops its watch when it is through.",
    section="by-layers-pipeline-parallelism",
)
def idle_until_its_own_end(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / B.max(axis=1), "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Under idle an array with a number for each worker is expected; you give their mean.",
    section="by-layers-pipeline-parallelism",
)
def one_number_for_all(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": float(np.mean(1 - m * (forward + backward) / end)), "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="You count the work of one microbatch; each worker has m of them.",
    section="by-layers-pipeline-parallelism",
)
def one_microbatch_busy(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="You count the forwards as work and not the backwards.",
    section="by-layers-pipeline-parallelism",
)
def forward_work_only(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * forward / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Your formula divides the bubble by the working time, (w − 1) / m; the chapter's is a share of the whole.",
    section="by-layers-pipeline-parallelism",
)
def bubble_by_the_work(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / m}


@wrong(
    "pipeline",
    says="The formula's whole time is m + w − 1 pieces; yours has one more.",
    section="by-layers-pipeline-parallelism",
)
def bubble_without_minus_one(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w)}


@wrong(
    "pipeline",
    says="With w workers the first piece passes w − 1 others; you take w.",
    section="by-layers-pipeline-parallelism",
)
def bubble_of_w(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": w / (m + w - 1)}


@wrong(
    "pipeline",
    says="Under predicted you give the share of the work, m / (m + w − 1).",
    section="by-layers-pipeline-parallelism",
)
def busy_for_bubble(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": m / (m + w - 1)}


@wrong(
    "pipeline",
    says="In your formula workers and microbatches are exchanged.",
    section="by-layers-pipeline-parallelism",
)
def workers_and_pieces_exchanged(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (m - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Under predicted you give what you have measured; the formula knows w and m only.",
    section="by-layers-pipeline-parallelism",
)
def measured_for_predicted(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {
        "end": end,
        "idle": 1 - m * (forward + backward) / end,
        "predicted": np.mean(1 - m * (forward + backward) / end),
    }


@wrong(
    "pipeline",
    says="You let all workers be as slow as the slowest: the end is not that of (m + w − 1) of its pieces.",
    section="by-layers-pipeline-parallelism",
)
def slowest_worker_for_all(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = (m + w - 1) * (np.max(forward) + np.max(backward))
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="In yours one worker works at a time; each microbatch is handed on as soon as it is done, not all at once.",
    section="by-layers-pipeline-parallelism",
)
def everything_in_a_row(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = m * (np.sum(forward) + np.sum(backward))
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="A task begins at the later one of two moments; you add them.",
    section="by-layers-pipeline-parallelism",
)
def sum_for_the_later(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = (F[k - 1, i] if k else 0) + (F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = (B[k + 1, i] if k < w - 1 else 0) + (B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="A task begins at the later one of two moments; you take the earlier.",
    section="by-layers-pipeline-parallelism",
)
def earlier_for_later(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = min(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = min(B[k + 1, i] if k < w - 1 else F[k, -1], B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="You count the w − 1 pieces twice; a piece of the formula is forward and backward together.",
    section="by-layers-pipeline-parallelism",
)
def bubble_twice(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": 2 * (w - 1) / (m + 2 * (w - 1))}


@wrong(
    "pipeline",
    says="Your watches run from a worker's first task to its last; all of them run from 0 to the end.",
    section="by-layers-pipeline-parallelism",
)
def from_its_own_first_task(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    own = B[:, -1] - F[:, 0] + forward
    return {"end": end, "idle": 1 - m * (forward + backward) / own, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="Under idle your workers stand in reverse order.",
    section="by-layers-pipeline-parallelism",
)
def idle_backwards(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward)[::-1] / end, "predicted": (w - 1) / (m + w - 1)}


@wrong(
    "pipeline",
    says="You put 2 m pieces into the formula; a piece is a microbatch, forward and backward together.",
    section="by-layers-pipeline-parallelism",
)
def pieces_counted_twice(forward, backward, m):
    w = len(forward)
    F, B = np.zeros((w, m)), np.zeros((w, m))
    for k in range(w):
        for i in range(m):
            F[k, i] = max(F[k - 1, i] if k else 0, F[k, i - 1] if i else 0) + forward[k]
    for k in range(w - 1, -1, -1):
        for i in range(m):
            B[k, i] = max(B[k + 1, i] if k < w - 1 else 0, B[k, i - 1] if i else F[k, -1]) + backward[k]
    end = B.max()
    return {"end": end, "idle": 1 - m * (forward + backward) / end, "predicted": (w - 1) / (2 * m + w - 1)}


# adam


@wrong(
    "adam",
    says="You sum the workers' gradients; the shares are equal, and their mean is asked for.",
    section="the-states-once-instead-of-everywhere",
)
def gradients_summed(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.sum(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="Each worker uses its own gradient; the others' gradients for its piece are lost.",
    section="the-states-once-instead-of-everywhere",
)
def its_own_gradient(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for r, (own, rows, (m, v)) in enumerate(cuts):
        g = rows[r]
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="Only the first worker's gradient is used.",
    section="the-states-once-instead-of-everywhere",
)
def the_first_gradient(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows[0]
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You average the squares of the workers' gradients; it is the square of the average that v needs.",
    section="the-states-once-instead-of-everywhere",
)
def squares_averaged(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * (rows**2).mean(axis=0)
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="The two corrections are missing, so that the first steps come out too small or too large.",
    section="the-states-once-instead-of-everywhere",
)
def no_correction(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m, v
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="The correction of v is missing.",
    section="the-states-once-instead-of-everywhere",
)
def only_m_corrected(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="The correction of m is missing.",
    section="the-states-once-instead-of-everywhere",
)
def only_v_corrected(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m, v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="Your corrections are those of the first step, whatever t is.",
    section="the-states-once-instead-of-everywhere",
)
def correction_of_the_first_step(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0]), v / (1 - betas[1])
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="Your corrections are one step late: the first step has t = 1.",
    section="the-states-once-instead-of-everywhere",
)
def one_step_late(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** (t + 1)), v / (1 - betas[1] ** (t + 1))
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You multiply by 1 − βᵗ; divide by it.",
    section="the-states-once-instead-of-everywhere",
)
def correction_multiplied(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m * (1 - betas[0] ** t), v * (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You keep the corrected moments, which are then corrected again in the next step.",
    section="the-states-once-instead-of-everywhere",
)
def correction_kept(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m_hat, v_hat))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="Your states are those from before the step.",
    section="the-states-once-instead-of-everywhere",
)
def old_states_returned(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], list(states)
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="The two β are exchanged.",
    section="the-states-once-instead-of-everywhere",
)
def betas_exchanged(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[1] * m + (1 - betas[1]) * g
        v = betas[0] * v + (1 - betas[0]) * g**2
        m_hat, v_hat = m / (1 - betas[2 - 1] ** t), v / (1 - betas[0] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You mix with β and 1 − β exchanged: the moments forget nearly everything.",
    section="the-states-once-instead-of-everywhere",
)
def mixture_upside_down(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = (1 - betas[0]) * m + betas[0] * g
        v = (1 - betas[1]) * v + betas[1] * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="Your ε stands under the root; it is added to the root.",
    section="the-states-once-instead-of-everywhere",
)
def eps_under_the_root(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat + eps)))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="There is no ε in your step.",
    section="the-states-once-instead-of-everywhere",
)
def no_eps_at_all(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / np.maximum(np.sqrt(v_hat), 1e-300))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You divide by v̂; its root is asked for.",
    section="the-states-once-instead-of-everywhere",
)
def no_root(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (v_hat + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="Your step goes along the gradient; it goes along m̂.",
    section="the-states-once-instead-of-everywhere",
)
def gradient_for_momentum(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        v_hat = v / (1 - betas[1] ** t)
        pieces.append(own - rate * g / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="v takes the square of the gradient.",
    section="the-states-once-instead-of-everywhere",
)
def gradient_not_squared(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * np.abs(g)
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="Your step uses the moments from before this gradient.",
    section="the-states-once-instead-of-everywhere",
)
def old_moments_used(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You add the step; it is subtracted.",
    section="the-states-once-instead-of-everywhere",
)
def up_the_gradient(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own + rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="Only the first worker updates its weights.",
    section="the-states-once-instead-of-everywhere",
)
def one_worker_updates(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for r, (own, rows, (m, v)) in enumerate(cuts):
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps) if r == 0 else own)
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You divide the rate by the number of workers; the average has done that.",
    section="the-states-once-instead-of-everywhere",
)
def each_its_own_rate(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate / R * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You put the pieces together in the wrong order.",
    section="the-states-once-instead-of-everywhere",
)
def pieces_turned_round(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces[::-1]), kept


@wrong(
    "adam",
    says="Every worker keeps the moments of all weights; it should keep those of its own piece.",
    section="the-states-once-instead-of-everywhere",
)
def whole_moments_everywhere(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    whole = tuple(np.concatenate(parts) for parts in zip(*kept, strict=True))
    return np.concatenate(pieces), [whole] * R


@wrong(
    "adam",
    says="You return one pair for all; the states stay in pieces, a pair for each worker.",
    section="the-states-once-instead-of-everywhere",
)
def states_joined(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), [tuple(np.concatenate(parts) for parts in zip(*kept, strict=True))]


@wrong(
    "adam",
    says="Your weights are still in pieces; everyone needs the whole vector again.",
    section="the-states-once-instead-of-everywhere",
)
def pieces_not_joined(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return pieces, kept


@wrong(
    "adam",
    says="You write into the states of the caller.",
    section="the-states-once-instead-of-everywhere",
)
def states_written_over(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m *= betas[0]
        m += (1 - betas[0]) * g
        v *= betas[1]
        v += (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You average over the weights of a piece, so that all of them get one gradient.",
    section="the-states-once-instead-of-everywhere",
)
def average_over_weights(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = np.full(len(own), rows.mean() if len(own) else 0.0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You divide √v by 1 − β₂ᵗ; v is divided, and the root taken afterwards.",
    section="the-states-once-instead-of-everywhere",
)
def correction_outside_the_root(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat = m / (1 - betas[0] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v) / (1 - betas[1] ** t) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="Your v takes the square of m; it takes that of the gradient.",
    section="the-states-once-instead-of-everywhere",
)
def square_of_the_momentum(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * m**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You put both corrections into the rate, so that ε is corrected as well; it is added to the root of v̂.",
    section="the-states-once-instead-of-everywhere",
)
def eps_not_corrected(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat = m / (1 - betas[0] ** t)
        pieces.append(own - rate * np.sqrt(1 - betas[1] ** t) * m_hat / (np.sqrt(v) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You cut `gradients` by its rows, the workers; a piece needs some columns of all of them.",
    section="the-states-once-instead-of-everywhere",
)
def gradients_cut_by_workers(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="All workers take the first entries of the average; each needs those of its own weights.",
    section="the-states-once-instead-of-everywhere",
)
def first_entries_for_everyone(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    for own, (m, v) in zip(np.array_split(weights, R), states, strict=True):
        g = gradients.mean(axis=0)[: len(own)]
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You add ε to the fraction; it is added to the root, in the denominator.",
    section="the-states-once-instead-of-everywhere",
)
def eps_outside_the_fraction(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - (rate * m_hat / np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You divide by (1 − β)ᵗ; it is 1 − βᵗ, the power of β alone.",
    section="the-states-once-instead-of-everywhere",
)
def power_of_the_difference(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0]) ** t, v / (1 - betas[1]) ** t
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="Without brackets m / 1 − βᵗ is m, less βᵗ; it is to be divided by the difference.",
    section="the-states-once-instead-of-everywhere",
)
def brackets_missing(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / 1 - betas[0] ** t, v / 1 - betas[1] ** t
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You correct v with β₁; its own is β₂.",
    section="the-states-once-instead-of-everywhere",
)
def one_beta_for_both(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[0] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


@wrong(
    "adam",
    says="You add the whole gradient to β₁ m; m is a mean, and takes 1 − β₁ of it.",
    section="the-states-once-instead-of-everywhere",
)
def gradient_added_whole(weights, gradients, states, t, rate, betas, eps):
    R, pieces, kept = len(states), [], []
    cuts = zip(np.array_split(weights, R), np.array_split(gradients, R, axis=1), states, strict=True)
    for own, rows, (m, v) in cuts:
        g = rows.mean(axis=0)
        m = betas[0] * m + g
        v = betas[1] * v + (1 - betas[1]) * g**2
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        pieces.append(own - rate * m_hat / (np.sqrt(v_hat) + eps))
        kept.append((m, v))
    return np.concatenate(pieces), kept


WRONG = wrong
