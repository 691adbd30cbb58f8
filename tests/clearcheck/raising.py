"""Answers to one question that raise: known mistakes, the same mistakes in other words, and unrelated slips."""

import numpy as np


def queries_keys_values(rng):
    """K=4, S=7 and N=5, and again with S=N, where a missing transpose is found by the width alone."""
    return [
        (rng.normal(size=(4, 5)), rng.normal(size=(4, 7)), rng.normal(size=(6, 7))),
        (rng.normal(size=(4, 9)), rng.normal(size=(4, 11)), rng.normal(size=(3, 11))),
    ]


def plain_attention(Q, K, V):
    return V @ (K.T @ Q)


def no_transpose(Q, K, V):
    return V @ (K @ Q)


def weights_transposed(Q, K, V):
    scores = K.T @ Q
    return V @ scores.T


def letters_mixed_up(Q, K, V):
    return np.einsum("vs,kn->vn", V, np.einsum("ks,sn->kn", K, Q))


def values_reshaped(Q, K, V):
    return V.reshape(K.shape) @ (K.T @ Q)


def third_axis(Q, K, V):
    return V @ (K.T @ Q).sum(axis=2)


SAYS = {
    no_transpose: "The keys are not transposed.",
    weights_transposed: "The weights are turned round.",
    letters_mixed_up: "A letter of einsum names two sizes.",
    values_reshaped: "The values are bent into the shape of the keys.",
    third_axis: "A table has no third axis.",
}


def other_names(queries, keys, values):
    table = keys @ queries
    return values @ table


def another_order(a, b, c):
    left, right = b, a
    return c @ (left @ right)


def turned_in_one_line(q, k, v):
    weights = k.T @ q
    return v @ weights.T


def one_name_for_all(q, k, v):
    k = k.T @ q
    return v @ k.T


def letters_under_other_names(A, B, C):
    return np.einsum("vs,kn->vn", C, np.einsum("ks,sn->kn", B, A))


def bent_in_a_helper(Q, K, V):
    def bend(values, keys):
        return values.reshape(
            keys.shape,
        )

    return bend(V, K) @ K.T @ Q


def a_sum_too_far(q, k, v):
    return v @ (k.T @ q).sum(axis=2)


# The same mistakes in other words.
ALIKE = {
    other_names: no_transpose,
    another_order: no_transpose,
    turned_in_one_line: weights_transposed,
    one_name_for_all: weights_transposed,
    letters_under_other_names: letters_mixed_up,
    bent_in_a_helper: values_reshaped,
    a_sum_too_far: third_axis,
}


def same_two_sizes_meet(Q, K, V):
    return V @ (Q.T @ K.T @ V.T)  # 7 and 4 again, another product


def keys_times_queries_turned(Q, K, V):
    return K @ Q.T @ V  # N meets S, as in weights_transposed, and NumPy's message is the same to the letter


def name_misspelt(Q, K, V):
    return V @ (K @ Qs)  # type: ignore[name-defined]


def values_times_queries(Q, K, V):
    return V @ Q


def index_out_of_range(Q, K, V):
    return V @ K[:, Q.shape[1] + 90]


def another_shape(Q, K, V):
    return V.reshape(Q.shape) @ (K.T @ Q)


def another_axis(Q, K, V):
    return V @ (K.T @ Q).sum(axis=3)


def raised_on_purpose(Q, K, V):
    raise ValueError("matmul: Input operand 1 has a mismatch")


def other_einsum(Q, K, V):
    return np.einsum("vs,sn->vn", V, np.einsum("ks,kn->kk", K, Q))


UNRELATED = [
    same_two_sizes_meet,
    keys_times_queries_turned,
    name_misspelt,
    values_times_queries,
    index_out_of_range,
    another_shape,
    another_axis,
    raised_on_purpose,
    other_einsum,
]
