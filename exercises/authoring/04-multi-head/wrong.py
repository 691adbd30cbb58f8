"""Named wrong solutions of exercise 04: what learners write, and the sentence that tells them so."""

import numpy as np
from clearcheck import WrongSolutions

wrong = WrongSolutions()


# split


@wrong(
    "split",
    says="You pour the numbers into the new shape in the order of memory: a head gets whole pieces of other tokens.",
    section="the-mistake-that-keeps-every-shape",
)
def poured_into_shape(q, n_heads):
    B, N, D = q.shape
    return q.reshape(B, n_heads, N, D // n_heads)


@wrong(
    "split",
    says="Tokens still come before heads: one of the two steps is missing.",
    section="the-reshape-trick",
)
def tokens_before_heads(q, n_heads):
    B, N, D = q.shape
    return q.reshape(B, N, n_heads, D // n_heads)


@wrong(
    "split",
    says="Your heads take every H-th feature of a token; head h owns K neighbouring ones.",
    section="the-reshape-trick",
)
def every_h_th_feature(q, n_heads):
    B, N, D = q.shape
    return q.reshape(B, N, D // n_heads, n_heads).transpose(0, 3, 1, 2)


@wrong(
    "split",
    says="You take the number of heads for the width of a head.",
    section="the-reshape-trick",
)
def number_for_width(q, n_heads):
    B, N, D = q.shape
    return q.reshape(B, N, D // n_heads, n_heads).transpose(0, 2, 1, 3)


@wrong(
    "split",
    says="Within each head your tokens lie in columns; here a token is a row.",
    section="the-reshape-trick",
)
def tokens_in_columns(q, n_heads):
    B, N, D = q.shape
    return q.reshape(B, N, n_heads, D // n_heads).transpose(0, 2, 3, 1)


@wrong(
    "split",
    says="`.T` turns round all four axes; only two of them have to change places.",
    section="the-reshape-trick",
)
def all_axes_reversed(q, n_heads):
    B, N, D = q.shape
    return q.reshape(B, N, n_heads, D // n_heads).T


@wrong(
    "split",
    says="You exchange axes before you cut: after that, neighbours in memory are different tokens.",
    section="the-mistake-that-keeps-every-shape",
)
def exchanged_before_cutting(q, n_heads):
    B, N, D = q.shape
    return q.transpose(0, 2, 1).reshape(B, n_heads, N, D // n_heads)


@wrong(
    "split",
    says="Every head gets all features of a token; it should get its own part of them.",
    section="several-heads-at-once",
)
def all_features_to_every_head(q, n_heads):
    return np.repeat(q[:, None], n_heads, axis=1)


@wrong(
    "split",
    says="Batch and heads are folded into one axis; here they stay apart.",
    section="the-reshape-trick",
)
def batch_folded_in(q, n_heads):
    B, N, _ = q.shape
    return q.reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3).reshape(B * n_heads, N, -1)


@wrong(
    "split",
    says="The heads stand in front of the batch.",
    section="the-reshape-trick",
)
def heads_before_batch(q, n_heads):
    B, N, _ = q.shape
    return q.reshape(B, N, n_heads, -1).transpose(2, 0, 1, 3)


@wrong(
    "split",
    says="You return a list of heads; the question asks for one array with an axis of heads.",
    section="the-reshape-trick",
)
def list_of_heads(q, n_heads):
    return np.split(q, n_heads, axis=-1)


@wrong(
    "split",
    says="You cut the sequence into stretches; each head should see every token.",
    section="the-mistake-that-keeps-every-shape",
)
def cuts_the_sequence(q, n_heads):
    return np.stack(np.array_split(q, n_heads, axis=1), axis=1)


@wrong(
    "split",
    says="You mix the sequences of the batch: a reshape pours one into the next.",
    section="the-mistake-that-keeps-every-shape",
)
def batch_poured(q, n_heads):
    B, N, D = q.shape
    return q.reshape(n_heads, B, N, D // n_heads).transpose(1, 0, 2, 3)


@wrong(
    "split",
    says="You copy into a table of single precision and lose half of the digits.",
    section="the-reshape-trick",
)
def single_precision(q, n_heads):
    B, N, D = q.shape
    heads = np.empty((B, n_heads, N, D // n_heads), dtype=np.float32)
    for h, part in enumerate(np.split(q, n_heads, axis=-1)):
        heads[:, h] = part
    return heads


# join


@wrong(
    "join",
    says="You glue without exchanging axes first: a token gets pieces of other tokens, later ones among them.",
    section="the-mistake-that-keeps-every-shape",
)
def glued_without_exchange(y):
    B, H, N, K = y.shape
    return y.reshape(B, N, H * K)


@wrong(
    "join",
    says="Your features alternate between the heads; each head's K numbers should stay neighbours.",
    section="the-reshape-trick",
)
def alternating_heads(y):
    B, H, N, K = y.shape
    return y.transpose(0, 2, 3, 1).reshape(B, N, H * K)


@wrong(
    "join",
    says="You add the heads up; they are to stand side by side, before any output matrix.",
    section="concatenate-then-project",
)
def added_up(y):
    return y.sum(axis=1)


@wrong(
    "join",
    says="You average the heads; they are to stand side by side.",
    section="concatenate-then-project",
)
def averaged(y):
    return y.mean(axis=1)


@wrong(
    "join",
    says="You lay the heads end to end along the sequence; they belong side by side along the features.",
    section="concatenate-then-project",
)
def along_the_sequence(y):
    B, H, N, K = y.shape
    return y.reshape(B, H * N, K)


@wrong(
    "join",
    says="The axes are in order, but the heads are not glued together yet.",
    section="the-reshape-trick",
)
def not_glued(y):
    return y.transpose(0, 2, 1, 3)


@wrong(
    "join",
    says="Batch and tokens are folded into one axis; here they stay apart.",
    section="the-reshape-trick",
)
def folded_batch(y):
    B, H, N, K = y.shape
    return y.transpose(0, 2, 1, 3).reshape(B * N, H * K)


@wrong(
    "join",
    says="The tokens come before the batch.",
    section="the-reshape-trick",
)
def tokens_before_batch(y):
    B, H, N, K = y.shape
    return y.transpose(2, 0, 1, 3).reshape(N, B, H * K)


@wrong(
    "join",
    says="You move the tokens in front of the batch and pour them back: sequences of the batch get mixed.",
    section="the-mistake-that-keeps-every-shape",
)
def batch_mixed(y):
    B, H, N, K = y.shape
    return y.transpose(2, 0, 1, 3).reshape(B, N, H * K)


@wrong(
    "join",
    says="You exchange heads with features; it is heads and tokens that have to change places.",
    section="the-reshape-trick",
)
def heads_for_features(y):
    B, H, N, K = y.shape
    return y.swapaxes(1, 3).reshape(B, N, H * K)


@wrong(
    "join",
    says="`.T` turns round all four axes, and the batch with them.",
    section="the-reshape-trick",
)
def all_four_reversed(y):
    B, H, N, K = y.shape
    return y.T.reshape(B, N, H * K)


@wrong(
    "join",
    says="Your tokens lie in columns; here a token is a row.",
    section="the-reshape-trick",
)
def joined_in_columns(y):
    B, H, N, K = y.shape
    return y.transpose(0, 1, 3, 2).reshape(B, H * K, N)


@wrong(
    "join",
    says="Only the first head is left.",
    section="concatenate-then-project",
)
def first_head_only(y):
    return y[:, 0]


# concatenate


@wrong(
    "concatenate",
    says="You reshape the output maps into one matrix; that mixes rows of different heads.",
    section="concatenate-then-project",
)
def reshaped_output_maps(X, U_q, U_k, U_v, U_o):
    outputs = []
    for u_q, u_k, u_v in zip(U_q, U_k, U_v, strict=True):
        scores = (u_k @ X).T @ (u_q @ X) / np.sqrt(len(u_q))
        A = np.exp(scores - scores.max(axis=0))
        outputs.append(u_v @ X @ (A / A.sum(axis=0)))
    return U_o.reshape(len(X), -1) @ np.concatenate(outputs)


@wrong(
    "concatenate",
    says="Your stack alternates between the heads row by row, while the output matrix takes head after head.",
    section="concatenate-then-project",
)
def interleaved_stack(X, U_q, U_k, U_v, U_o):
    outputs = []
    for u_q, u_k, u_v in zip(U_q, U_k, U_v, strict=True):
        scores = (u_k @ X).T @ (u_q @ X) / np.sqrt(len(u_q))
        A = np.exp(scores - scores.max(axis=0))
        outputs.append(u_v @ X @ (A / A.sum(axis=0)))
    return np.concatenate(list(U_o), axis=1) @ np.stack(outputs, axis=1).reshape(-1, X.shape[1])


@wrong(
    "concatenate",
    says="You average the heads; their contributions are added.",
    section="several-heads-at-once",
)
def mean_of_heads(X, U_q, U_k, U_v, U_o):
    Y = np.zeros(X.shape)
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        scores = (u_k @ X).T @ (u_q @ X) / np.sqrt(len(u_q))
        A = np.exp(scores - scores.max(axis=0))
        Y += u_o @ u_v @ X @ (A / A.sum(axis=0))
    return Y / len(U_q)


@wrong(
    "concatenate",
    says="Each head overwrites the one before it: only the last is left.",
    section="several-heads-at-once",
)
def last_head_only(X, U_q, U_k, U_v, U_o):
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        scores = (u_k @ X).T @ (u_q @ X) / np.sqrt(len(u_q))
        A = np.exp(scores - scores.max(axis=0))
        Y = u_o @ u_v @ X @ (A / A.sum(axis=0))
    return Y


@wrong(
    "concatenate",
    says="All your heads look where the first one looks, so together they are a single head.",
    section="several-heads-at-once",
)
def one_set_of_weights(X, U_q, U_k, U_v, U_o):
    scores = (U_k[0] @ X).T @ (U_q[0] @ X) / np.sqrt(U_q.shape[1])
    A = np.exp(scores - scores.max(axis=0))
    A = A / A.sum(axis=0)
    return sum(u_o @ u_v @ X @ A for u_o, u_v in zip(U_o, U_v, strict=True))


@wrong(
    "concatenate",
    says="You average the weights of the heads before you use them; every head needs its own.",
    section="several-heads-at-once",
)
def averaged_weights(X, U_q, U_k, U_v, U_o):
    scores = np.einsum("hks,hkn->hsn", U_k @ X, U_q @ X) / np.sqrt(U_q.shape[1])
    A = np.exp(scores - scores.max(axis=1, keepdims=True))
    A = (A / A.sum(axis=1, keepdims=True)).mean(axis=0)
    return sum(u_o @ u_v @ X @ A for u_o, u_v in zip(U_o, U_v, strict=True))


@wrong(
    "concatenate",
    says="The softmax runs over the heads, which do not compete; the tokens that are looked at do.",
    section="several-heads-at-once",
)
def softmax_over_heads(X, U_q, U_k, U_v, U_o):
    scores = np.einsum("hks,hkn->hsn", U_k @ X, U_q @ X) / np.sqrt(U_q.shape[1])
    A = np.exp(scores - scores.max(axis=0))
    A = A / A.sum(axis=0)
    return sum(u_o @ u_v @ X @ A_h for u_o, u_v, A_h in zip(U_o, U_v, A, strict=True))


@wrong(
    "concatenate",
    says="The softmax runs over the queries: in each head the rows of your weights sum to 1, not the columns.",
    section="several-heads-at-once",
)
def softmax_over_queries(X, U_q, U_k, U_v, U_o):
    Y = np.zeros(X.shape)
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        scores = (u_k @ X).T @ (u_q @ X) / np.sqrt(len(u_q))
        A = np.exp(scores - scores.max(axis=1, keepdims=True))
        Y += u_o @ u_v @ X @ (A / A.sum(axis=1, keepdims=True))
    return Y


@wrong(
    "concatenate",
    says="Queries and keys have swapped places.",
    section="several-heads-at-once",
)
def query_on_the_row(X, U_q, U_k, U_v, U_o):
    Y = np.zeros(X.shape)
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        scores = (u_q @ X).T @ (u_k @ X) / np.sqrt(len(u_q))
        A = np.exp(scores - scores.max(axis=0))
        Y += u_o @ u_v @ X @ (A / A.sum(axis=0))
    return Y


@wrong(
    "concatenate",
    says="The root is of the width of a token; a score sums over the width of a head.",
    section="common-mistakes",
)
def root_of_token_width(X, U_q, U_k, U_v, U_o):
    Y = np.zeros(X.shape)
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        scores = (u_k @ X).T @ (u_q @ X) / np.sqrt(len(X))
        A = np.exp(scores - scores.max(axis=0))
        Y += u_o @ u_v @ X @ (A / A.sum(axis=0))
    return Y


@wrong(
    "concatenate",
    says="The root is of the width of the values; a score sums over the width of queries and keys.",
    section="common-mistakes",
)
def root_of_value_width(X, U_q, U_k, U_v, U_o):
    Y = np.zeros(X.shape)
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        scores = (u_k @ X).T @ (u_q @ X) / np.sqrt(len(u_v))
        A = np.exp(scores - scores.max(axis=0))
        Y += u_o @ u_v @ X @ (A / A.sum(axis=0))
    return Y


@wrong(
    "concatenate",
    says="The root is of the number of heads; a score sums over the width of a head.",
    section="common-mistakes",
)
def root_of_head_count(X, U_q, U_k, U_v, U_o):
    Y = np.zeros(X.shape)
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        scores = (u_k @ X).T @ (u_q @ X) / np.sqrt(len(U_q))
        A = np.exp(scores - scores.max(axis=0))
        Y += u_o @ u_v @ X @ (A / A.sum(axis=0))
    return Y


@wrong(
    "concatenate",
    says="The scores are not scaled; this question asks for the scaled form.",
    section="concatenate-then-project",
)
def unscaled(X, U_q, U_k, U_v, U_o):
    Y = np.zeros(X.shape)
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        scores = (u_k @ X).T @ (u_q @ X)
        A = np.exp(scores - scores.max(axis=0))
        Y += u_o @ u_v @ X @ (A / A.sum(axis=0))
    return Y


@wrong(
    "concatenate",
    says="You concatenate and stop: the output maps are missing.",
    section="concatenate-then-project",
)
def never_projected(X, U_q, U_k, U_v, U_o):
    outputs = []
    for u_q, u_k, u_v in zip(U_q, U_k, U_v, strict=True):
        scores = (u_k @ X).T @ (u_q @ X) / np.sqrt(len(u_q))
        A = np.exp(scores - scores.max(axis=0))
        outputs.append(u_v @ X @ (A / A.sum(axis=0)))
    return np.concatenate(outputs)


@wrong(
    "concatenate",
    says="You return every head's contribution by itself; they are to be added.",
    section="several-heads-at-once",
)
def never_added(X, U_q, U_k, U_v, U_o):
    parts = []
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        scores = (u_k @ X).T @ (u_q @ X) / np.sqrt(len(u_q))
        A = np.exp(scores - scores.max(axis=0))
        parts.append(u_o @ u_v @ X @ (A / A.sum(axis=0)))
    return np.stack(parts)


@wrong(
    "concatenate",
    says="The exponential meets large scores as they are and overflows.",
    section="several-heads-at-once",
)
def overflowing(X, U_q, U_k, U_v, U_o):
    Y = np.zeros(X.shape)
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        A = np.exp((u_k @ X).T @ (u_q @ X) / np.sqrt(len(u_q)))
        Y += u_o @ u_v @ X @ (A / A.sum(axis=0))
    return Y


@wrong(
    "concatenate",
    says="Two slips at once: the softmax runs over the queries, and the scores are not scaled.",
    section="several-heads-at-once",
)
def unscaled_and_over_queries(X, U_q, U_k, U_v, U_o):
    Y = np.zeros(X.shape)
    for u_q, u_k, u_v, u_o in zip(U_q, U_k, U_v, U_o, strict=True):
        scores = (u_k @ X).T @ (u_q @ X)
        A = np.exp(scores - scores.max(axis=1, keepdims=True))
        Y += u_o @ u_v @ X @ (A / A.sum(axis=1, keepdims=True))
    return Y


# values


@wrong(
    "values",
    says="You cut the output matrix by rows; a head's K numbers meet its columns.",
    section="the-reshape-trick",
)
def output_cut_by_rows(qkv, out, n_heads):
    K = len(qkv) // 3 // n_heads
    U_v = qkv[2 * n_heads * K :]
    return np.array([out[h * K : (h + 1) * K].T @ U_v[h * K : (h + 1) * K] for h in range(n_heads)])


@wrong(
    "values",
    says="You cut q, k and v of head 0 first, then those of head 1; the rows are stored all q, all k, all v.",
    section="common-mistakes",
)
def cut_head_by_head(qkv, out, n_heads):
    D = qkv.shape[1]
    U_v = qkv.reshape(n_heads, 3, -1, D)[:, 2]
    return out.reshape(len(out), n_heads, -1).transpose(1, 0, 2) @ U_v


@wrong(
    "values",
    says="Your heads own every H-th value, where they own K neighbouring ones.",
    section="the-reshape-trick",
)
def every_h_th_value(qkv, out, n_heads):
    U_v = qkv[len(qkv) // 3 * 2 :]
    return np.array([out[:, h::n_heads] @ U_v[h::n_heads] for h in range(n_heads)])


@wrong(
    "values",
    says="Only the output columns are cut right: your values come from every H-th row.",
    section="the-reshape-trick",
)
def mixed_cuts(qkv, out, n_heads):
    K = len(qkv) // 3 // n_heads
    U_v = qkv[2 * n_heads * K :]
    return np.array([out[:, h * K : (h + 1) * K] @ U_v[h::n_heads] for h in range(n_heads)])


@wrong(
    "values",
    says="You take the rows that make keys.",
    section="concatenate-then-project",
)
def keys_for_values(qkv, out, n_heads):
    U_k = np.split(np.split(qkv, 3)[1], n_heads)
    return np.stack([a @ b for a, b in zip(np.split(out, n_heads, axis=1), U_k, strict=True)])


@wrong(
    "values",
    says="You take the rows that make queries.",
    section="concatenate-then-project",
)
def queries_for_values(qkv, out, n_heads):
    U_q = np.split(np.split(qkv, 3)[0], n_heads)
    return np.stack([a @ b for a, b in zip(np.split(out, n_heads, axis=1), U_q, strict=True)])


@wrong(
    "values",
    says="You cut `qkv` by columns, which belong to the numbers of a token; the three kinds lie one below the other.",
    section="the-reshape-trick",
)
def columns_for_rows(qkv, out, n_heads):
    width = out.shape[1] // n_heads
    U_v = qkv[:, 2 * out.shape[1] :]
    parts = [slice(h * width, (h + 1) * width) for h in range(n_heads)]
    return np.array([out[:, part] @ U_v[part] for part in parts])


@wrong(
    "values",
    says="The product is the wrong way round: your matrices turn K numbers into K.",
    section="concatenate-then-project",
)
def reversed_product(qkv, out, n_heads):
    U_v = np.split(np.split(qkv, 3)[2], n_heads)
    return np.stack([b @ a for a, b in zip(np.split(out, n_heads, axis=1), U_v, strict=True)])


@wrong(
    "values",
    says="You pour the output matrix into the shape of the heads: a reshape cannot move the axis of "
    "heads to the front.",
    section="the-mistake-that-keeps-every-shape",
)
def output_poured(qkv, out, n_heads):
    U_v = np.split(np.split(qkv, 3)[2], n_heads)
    return out.reshape(n_heads, len(out), -1) @ np.stack(U_v)


@wrong(
    "values",
    says="Every head gets the whole product; that is what all heads have together.",
    section="concatenate-then-project",
)
def whole_product_for_each(qkv, out, n_heads):
    return np.stack([out @ qkv[len(qkv) // 3 * 2 :]] * n_heads)


@wrong(
    "values",
    says="You return one matrix for all heads; each head has its own.",
    section="concatenate-then-project",
)
def one_matrix_for_all(qkv, out, n_heads):
    return out @ qkv[len(qkv) // 3 * 2 :]


@wrong(
    "values",
    says="Your matrices are transposed: here they stand to the left of a column.",
    section="concatenate-then-project",
)
def transposed_matrices(qkv, out, n_heads):
    U_v = np.split(np.split(qkv, 3)[2], n_heads)
    return np.stack([(a @ b).T for a, b in zip(np.split(out, n_heads, axis=1), U_v, strict=True)])


@wrong(
    "values",
    says="You return the thin value matrices; the output maps are missing.",
    section="concatenate-then-project",
)
def thin_values_only(qkv, out, n_heads):
    return np.stack(np.split(np.split(qkv, 3)[2], n_heads))


@wrong(
    "values",
    says="You find the values by the width of a token; how many rows there are of each kind hangs on the heads.",
    section="what-heads-cost",
)
def found_by_token_width(qkv, out, n_heads):
    D = qkv.shape[1]
    K = D // n_heads
    rows = qkv[2 * D : 3 * D]
    return np.array([out[:, h * K : h * K + K] @ rows[h * K : h * K + K] for h in range(n_heads)])


@wrong(
    "values",
    says="You find the width of a head by dividing that of a token; here the heads together may be wider or narrower.",
    section="parameters",
)
def last_rows_by_token_width(qkv, out, n_heads):
    K = qkv.shape[1] // n_heads
    rows = qkv[-n_heads * K :]
    return np.array([out[:, h * K : h * K + K] @ rows[h * K : h * K + K] for h in range(n_heads)])


# counts


@wrong(
    "counts",
    says="You count matrices of size D × D for every head; a head's are as narrow as the head.",
    section="parameters",
)
def full_width_in_every_head(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * D * D + (H + 2 * G) * D + D
    if what == "flops":
        return 4 * (H + G) * D * D * N + 4 * H * D * N * N
    return H * N * N if what == "scores" else 2 * G * D


@wrong(
    "counts",
    says="Your output matrix takes H · D inputs; the joined heads are H · K wide.",
    section="parameters",
)
def output_from_all_widths(what, D, N, H, K, G):
    if what == "parameters":
        return (H + 2 * G) * K * D + (H + 2 * G) * K + H * D * D + D
    if what == "flops":
        return 2 * (H + 2 * G) * K * D * N + 2 * H * D * D * N + 4 * H * K * N * N
    return H * N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="The biases are missing.",
    section="parameters",
)
def without_biases(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D
    if what == "flops":
        return 4 * (H + G) * K * D * N + 4 * H * K * N * N
    return H * N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="You give every map D biases; a map has as many as it has outputs.",
    section="parameters",
)
def four_equal_biases(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D + 4 * D
    if what == "flops":
        return 4 * (H + G) * K * D * N + 4 * H * K * N * N
    return H * N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="You count the biases of the output map once for every head, but there is one output map.",
    section="parameters",
)
def output_bias_in_every_head(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D + (H + 2 * G) * K + H * D
    if what == "flops":
        return 4 * (H + G) * K * D * N + 4 * H * K * N * N
    return H * N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="Your output map has a bias for each of its inputs; a map has as many as it has outputs.",
    section="parameters",
)
def output_bias_of_the_inputs(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D + (H + 2 * G) * K + H * K
    if what == "flops":
        return 4 * (H + G) * K * D * N + 4 * H * K * N * N
    return H * N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="The output matrix is missing.",
    section="concatenate-then-project",
)
def without_output(what, D, N, H, K, G):
    if what == "parameters":
        return (H + 2 * G) * K * (D + 1)
    if what == "flops":
        return 2 * (H + 2 * G) * K * D * N + 4 * H * K * N * N
    return H * N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="You take it for granted that the heads together are as wide as a token; here H · K and D are free.",
    section="parameters",
)
def usual_width_assumed(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * D * D + 2 * D * D * G // H + 2 * D + 2 * D * G // H
    if what == "flops":
        return 4 * D * D * N + 4 * D * D * N * G // H + 4 * D * N * N
    return H * N * N if what == "scores" else 2 * D * G // H


@wrong(
    "counts",
    says="You give each of the H heads its own keys and values, but there are only G of them.",
    section="sharing-keys-and-values",
)
def nothing_shared(what, D, N, H, K, G):
    if what == "parameters":
        return 4 * H * K * D + 3 * H * K + D
    if what == "flops":
        return 8 * H * K * D * N + 4 * H * K * N * N
    return H * N * N if what == "scores" else 2 * H * K


@wrong(
    "counts",
    says="You share too much: queries, weights and output still have H heads.",
    section="sharing-keys-and-values",
)
def everything_shared(what, D, N, H, K, G):
    if what == "parameters":
        return 4 * G * K * D + 3 * G * K + D
    if what == "flops":
        return 8 * G * K * D * N + 4 * G * K * N * N
    return G * N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="Your scores and averages are those of G heads; queries are not shared, so there are H tables of N × N.",
    section="sharing-keys-and-values",
)
def tables_of_the_groups(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D + (H + 2 * G) * K + D
    if what == "flops":
        return 4 * (H + G) * K * D * N + 4 * G * K * N * N
    return H * N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="You count multiplications only; each term of a product has an addition as well.",
    section="flops",
)
def multiplications_only(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D + (H + 2 * G) * K + D
    if what == "flops":
        return 2 * (H + G) * K * D * N + 2 * H * K * N * N
    return H * N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="Your averages are over full tokens in every head, as in the form with full matrices V_h.",
    section="flops",
)
def averages_of_full_tokens(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D + (H + 2 * G) * K + D
    if what == "flops":
        return 4 * (H + G) * K * D * N + 2 * H * K * N * N + 2 * H * D * N * N
    return H * N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="You count the four maps only; the products with a table of N × N are missing.",
    section="flops",
)
def projections_only(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D + (H + 2 * G) * K + D
    if what == "flops":
        return 4 * (H + G) * K * D * N
    return H * N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="You count the scores and averages only; the four maps take FLOPs too.",
    section="flops",
)
def squares_only(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D + (H + 2 * G) * K + D
    if what == "flops":
        return 4 * H * K * N * N
    return H * N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="Your scores are those of one head; every head has a table of its own.",
    section="what-flops-leave-out",
)
def scores_of_one_head(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D + (H + 2 * G) * K + D
    if what == "flops":
        return 4 * (H + G) * K * D * N + 4 * H * K * N * N
    return N * N if what == "scores" else 2 * G * K


@wrong(
    "counts",
    says="You cache keys and forget the values, or the other way round.",
    section="sharing-keys-and-values",
)
def half_a_cache(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D + (H + 2 * G) * K + D
    if what == "flops":
        return 4 * (H + G) * K * D * N + 4 * H * K * N * N
    return H * N * N if what == "scores" else G * K


@wrong(
    "counts",
    says="Your cache is that of the whole sequence; the question asks for one token.",
    section="sharing-keys-and-values",
)
def cache_of_all_tokens(what, D, N, H, K, G):
    if what == "parameters":
        return 2 * (H + G) * K * D + (H + 2 * G) * K + D
    if what == "flops":
        return 4 * (H + G) * K * D * N + 4 * H * K * N * N
    return H * N * N if what == "scores" else 2 * G * K * N


@wrong(
    "counts",
    says="These are the formulas of the usual layer; they ask for H · K = D, and for nothing to be shared.",
    section="parameters",
)
def formulas_of_the_usual_layer(what, D, N, H, K, G):
    if what == "parameters":
        return 4 * D * D + 4 * D
    if what == "flops":
        return 8 * D * D * N + 4 * D * N * N
    return H * N * N if what == "scores" else 2 * D


# groups


@wrong(
    "groups",
    says="The sharing goes round robin: your heads of one group are G apart, where they are neighbours.",
    section="sharing-keys-and-values",
)
def round_robin(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.tile(k, (1, m, 1, 1)), np.tile(v, (1, m, 1, 1))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v


@wrong(
    "groups",
    says="Keys are shared by neighbours, values go round robin: a head finds one thing and takes another.",
    section="sharing-keys-and-values",
)
def values_round_robin(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, m, axis=1), np.tile(v, (1, m, 1, 1))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v


@wrong(
    "groups",
    says="Values are shared by neighbours, keys go round robin: a head finds one thing and takes another.",
    section="sharing-keys-and-values",
)
def keys_round_robin(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.tile(k, (1, m, 1, 1)), np.repeat(v, m, axis=1)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v


@wrong(
    "groups",
    says="Your copies lie along the wrong axis: tokens are repeated instead of heads.",
    section="sharing-keys-and-values",
)
def tokens_repeated(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, m, axis=2), np.repeat(v, m, axis=2)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v


@wrong(
    "groups",
    says="Nothing is repeated: H heads of queries meet G heads of keys, which fits only for 1 or H groups.",
    section="sharing-keys-and-values",
)
def never_repeated(q, k, v):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v


@wrong(
    "groups",
    says="All heads use the first keys and values.",
    section="sharing-keys-and-values",
)
def first_group_for_all(q, k, v):
    scores = q @ k[:, :1].swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v[:, :1]


@wrong(
    "groups",
    says="You average keys and values over the groups and give the same to every head.",
    section="sharing-keys-and-values",
)
def mean_of_groups(q, k, v):
    k, v = k.mean(axis=1, keepdims=True), v.mean(axis=1, keepdims=True)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v


@wrong(
    "groups",
    says="A whole group looks where its first head looks; keys and values are shared, attention weights are not.",
    section="sharing-keys-and-values",
)
def weights_shared(q, k, v):
    m = q.shape[1] // k.shape[1]
    scores = q[:, ::m] @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.repeat(A / A.sum(axis=-1, keepdims=True) @ v, m, axis=1)


@wrong(
    "groups",
    says="You average the queries of a group; every head asks a question of its own.",
    section="sharing-keys-and-values",
)
def mean_query(q, k, v):
    B, H, N, K = q.shape
    m = H // k.shape[1]
    scores = q.reshape(B, -1, m, N, K).mean(axis=2) @ k.swapaxes(-1, -2) / np.sqrt(K)
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.repeat(A / A.sum(axis=-1, keepdims=True) @ v, m, axis=1)


@wrong(
    "groups",
    says="You return one output for each group; every head of queries has its own.",
    section="sharing-keys-and-values",
)
def one_output_per_group(q, k, v):
    B, H, N, K = q.shape
    m = H // k.shape[1]
    k, v = np.repeat(k, m, axis=1), np.repeat(v, m, axis=1)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(K)
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = A / A.sum(axis=-1, keepdims=True) @ v
    return y.reshape(B, -1, m, N, y.shape[-1]).mean(axis=2)


@wrong(
    "groups",
    says="The softmax runs over the queries, but the keys of one query lie along the last axis.",
    section="several-heads-at-once",
)
def softmax_down_the_queries(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, m, axis=1), np.repeat(v, m, axis=1)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    A = np.exp(scores - scores.max(axis=-2, keepdims=True))
    return A / A.sum(axis=-2, keepdims=True) @ v


@wrong(
    "groups",
    says="The softmax runs over the heads, which do not compete.",
    section="common-mistakes",
)
def softmax_across_heads(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, m, axis=1), np.repeat(v, m, axis=1)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    A = np.exp(scores - scores.max(axis=1, keepdims=True))
    return A / A.sum(axis=1, keepdims=True) @ v


@wrong(
    "groups",
    says="The scores are not scaled.",
    section="sharing-keys-and-values",
)
def scale_forgotten(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, m, axis=1), np.repeat(v, m, axis=1)
    scores = q @ k.swapaxes(-1, -2)
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v


@wrong(
    "groups",
    says="The root is of the width of all heads together; a score sums over the width of one.",
    section="common-mistakes",
)
def root_of_all_heads(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, m, axis=1), np.repeat(v, m, axis=1)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[1] * q.shape[-1])
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v


@wrong(
    "groups",
    says="The root is of the width of the values; a score sums over the width of queries and keys.",
    section="common-mistakes",
)
def root_of_the_values(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, m, axis=1), np.repeat(v, m, axis=1)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(v.shape[-1])
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v


@wrong(
    "groups",
    says="A reshape is no transpose: your keys have the right shape and mixed-up numbers.",
    section="the-mistake-that-keeps-every-shape",
)
def reshaped_keys(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, m, axis=1), np.repeat(v, m, axis=1)
    B, H, S, K = k.shape
    scores = q @ k.reshape(B, H, K, S) / np.sqrt(K)
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v


@wrong(
    "groups",
    says="`.T` turns round all four axes of the keys; only the last two have to change places.",
    section="the-reshape-trick",
)
def keys_turned_round(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, m, axis=1), np.repeat(v, m, axis=1)
    scores = q @ k.T / np.sqrt(q.shape[-1])
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v


@wrong(
    "groups",
    says="The exponential meets large scores as they are and overflows.",
    section="several-heads-at-once",
)
def overflowing_groups(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, m, axis=1), np.repeat(v, m, axis=1)
    A = np.exp(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    return A / A.sum(axis=-1, keepdims=True) @ v


@wrong(
    "groups",
    says="You scale the queries inside the array that came in, so the caller's queries are gone afterwards.",
    section="sharing-keys-and-values",
)
def scales_in_place(q, k, v):
    m = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, m, axis=1), np.repeat(v, m, axis=1)
    q /= np.sqrt(q.shape[-1])
    scores = q @ k.swapaxes(-1, -2)
    A = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return A / A.sum(axis=-1, keepdims=True) @ v


# museum: what is left of the piece after no, one or two repairs, and other ways to miss


@wrong(
    "museum",
    says="This is the museum piece as it stood: three slips are left.",
    section="the-mistake-that-keeps-every-shape",
)
def as_exhibited(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, D = x.shape
    q, k, v = ((x @ W).reshape(B, n_heads, N, -1) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(D)
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="The split is repaired, and now the join shows its fault; the scale is wrong as well.",
    section="the-mistake-that-keeps-every-shape",
)
def only_split_repaired(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, D = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(D)
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="The join is repaired, and now the split shows its fault; the scale is wrong as well.",
    section="the-mistake-that-keeps-every-shape",
)
def only_join_repaired(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, D = x.shape
    q, k, v = ((x @ W).reshape(B, n_heads, N, -1) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(D)
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="The scale is repaired; tokens still lose their numbers to one another, on the way in and on the way out.",
    section="the-mistake-that-keeps-every-shape",
)
def only_scale_repaired(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, n_heads, N, -1) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="One slip is left, on the way in: a head gets pieces of other tokens.",
    section="the-mistake-that-keeps-every-shape",
)
def split_still_wrong(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, n_heads, N, -1) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="One slip is left, on the way out: a token gets pieces of other tokens.",
    section="the-mistake-that-keeps-every-shape",
)
def join_still_wrong(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="One slip is left: the sharpness hangs on how wide a token is.",
    section="common-mistakes",
)
def scale_still_wrong(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, D = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(D)
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="The scale is gone: nothing depends on the width of a token any more, but the scores grow with "
    "that of a head.",
    section="common-mistakes",
)
def scale_removed(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2)
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="The root is of the width of all heads together; a score sums over the width of one.",
    section="common-mistakes",
)
def root_of_joined_width(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(W_q.shape[1])
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="The number under the root is the width of a token divided by the heads; how wide a head is, the maps say.",
    section="common-mistakes",
)
def root_of_a_share(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, D = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(D / n_heads)
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="Under the root you split the width of a token among the heads in whole numbers; "
    "the maps say how wide a head is.",
    section="common-mistakes",
)
def root_of_a_whole_share(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, D = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(D // n_heads)
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="Your heads take every H-th feature, in and out; the layer is consistent, but these maps were "
    "made for neighbours.",
    section="the-reshape-trick",
)
def every_h_th_in_and_out(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, -1, n_heads).transpose(0, 3, 1, 2) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 3, 1).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="On the way in your heads take every H-th feature, where they own neighbours.",
    section="the-reshape-trick",
)
def every_h_th_on_the_way_in(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, -1, n_heads).transpose(0, 3, 1, 2) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="On the way out your features alternate between the heads.",
    section="the-reshape-trick",
)
def alternating_on_the_way_out(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 3, 1).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="You moved the softmax to another axis: it was right in the museum piece.",
    section="several-heads-at-once",
)
def softmax_spoilt(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-2, keepdims=True))
    y = powers / powers.sum(axis=-2, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="You lost the mask on the way: with `causal` a token must not look at later ones.",
    section="found-by-a-property",
)
def mask_lost(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="You changed the mask: a score of 0 is a score like any other, and its exponential is 1.",
    section="found-by-a-property",
)
def masked_to_zero(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = scores * np.tri(N)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="You divide the width of a token among the heads; how wide a head is, the maps say.",
    section="the-reshape-trick",
)
def width_from_the_tokens(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, D = x.shape
    shape = (B, N, n_heads, D // n_heads)
    q, k, v = ((x @ W).reshape(shape).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="You mask always: without `causal` every token may look at every token.",
    section="found-by-a-property",
)
def mask_always(x, W_q, W_k, W_v, W_o, n_heads, causal):
    B, N, _ = x.shape
    q, k, v = ((x @ W).reshape(B, N, n_heads, -1).transpose(0, 2, 1, 3) for W in (W_q, W_k, W_v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    scores = np.where(np.tri(N, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    y = powers / powers.sum(axis=-1, keepdims=True) @ v
    return y.transpose(0, 2, 1, 3).reshape(B, N, -1) @ W_o


@wrong(
    "museum",
    says="Every token gets its own value back: nothing leaks, since no token looks at another.",
    section="found-by-a-property",
)
def own_value(x, W_q, W_k, W_v, W_o, n_heads, causal):
    return x @ W_v @ W_o


WRONG = wrong
