"""Exercise 04, question values: the matrices of the heads from stored weights."""

import numpy as np
from clearcheck import Inputs, Question, answers_to, equals, holds
from clearcheck.author.battery import with_battery
from clearcheck.author.cases import close, draw_sizes, shape_slip
from clearformer.reference import multihead


def value_matrices(qkv, out, n_heads):
    width = out.shape[1] // n_heads
    rows = qkv[2 * out.shape[1] :]
    parts = [slice(h * width, (h + 1) * width) for h in range(n_heads)]
    return multihead.low_rank_values(np.stack([out[:, p] for p in parts]), np.stack([rows[p] for p in parts]))


def stored_weights(rng, usual):
    K, H, D = draw_sizes(rng, 3)
    D = H * K if usual else D
    return rng.normal(size=(3 * H * K, D)) / np.sqrt(D), rng.normal(size=(D, H * K)) / np.sqrt(K), H


def usual_width(rng):
    return [stored_weights(rng, usual=True) for _ in range(2)]


def other_width(rng):
    wide, narrow = stored_weights(rng, usual=False), rng.normal(size=(3 * 6, 7))
    equal = rng.normal(size=(3 * 25, 5)), rng.normal(size=(5, 25)), 5
    return [wide, *((narrow, rng.normal(size=(7, 6)), H) for H in (2, 1, 6)), equal]


def thin_and_together(ask, rng):
    K, H = draw_sizes(rng, 2)
    D = H * K
    qkv, out = rng.normal(size=(3 * D, D)) / np.sqrt(D), rng.normal(size=(D, D)) / np.sqrt(K)
    matrices = ask(qkv, out, H)
    if slip := shape_slip(matrices, (H, D, D)):
        return slip
    ranks = [int(np.linalg.matrix_rank(V_h)) for V_h in matrices]
    if max(ranks) > K:
        return (
            f"A head passes on {K} numbers of a token, so its matrix has rank {K} at most; one of yours "
            f"has {max(ranks)}."
        )
    x, A = rng.normal(size=D), matrices.sum(axis=0)
    if not close(A @ x, out @ (qkv[2 * D :] @ x)):
        return (
            "When all heads look at one and the same token, together they give what the stored weights make of it in "
            "one go; the sum of your matrices does not."
        )
    return None


def stored_maps(qkv, out, n_heads):
    K = out.shape[1] // n_heads
    return {"H": n_heads, "K": K} | ({} if len(out) == n_heads * K else {"D": len(out)})


QUESTION = Question(
    id="values",
    title="The matrices of the heads from stored weights",
    name="value_matrices",
    minutes=15,
    difficulty=2,
    checks=with_battery(
        equals("heads as wide as the token", 5, usual_width, value_matrices),
        equals("other widths", 3, other_width, value_matrices),
        holds("thin, and together the whole", 4, thin_and_together),
    ),
    hints=(
        "First find the rows of `qkv` that make values: how many rows are there of each of the three kinds?",
        "Head h makes K values out of a token with some *rows* of that part. The output matrix multiplies "
        "these K numbers: with which of its rows or columns?",
        "Read the product from right to left, as a token meets it: first D numbers become K, then K become D.",
    ),
    section="concatenate-then-project",
    inputs=Inputs(stored_maps, alike=("other widths",)),
)

right, wrong = answers_to(QUESTION)


@right
def cut_by_slices(qkv, out, n_heads):
    width = out.shape[1] // n_heads
    W_v = qkv[2 * out.shape[1] :]
    matrices = []
    for h in range(n_heads):
        mine = slice(h * width, (h + 1) * width)
        matrices.append(out[:, mine] @ W_v[mine])
    return np.array(matrices)


@right
def by_reshaping(qkv, out, n_heads):
    D = qkv.shape[1]
    U_v = qkv.reshape(3, n_heads, -1, D)[2]
    return out.reshape(D, n_heads, -1).swapaxes(0, 1) @ U_v


@right
def by_split(qkv, out, n_heads):
    U_v = np.split(np.split(qkv, 3)[2], n_heads)
    U_o = np.split(out, n_heads, axis=1)
    return np.stack([a @ b for a, b in zip(U_o, U_v, strict=True)])


@wrong(
    "You cut `qkv` by columns, which belong to the numbers of a token; the three kinds lie one below the other.",
    section="the-reshape-trick",
)
def columns_for_rows(qkv, out, n_heads):
    width = out.shape[1] // n_heads
    U_v = qkv[:, 2 * out.shape[1] :]
    parts = [slice(h * width, (h + 1) * width) for h in range(n_heads)]
    return np.array([out[:, part] @ U_v[part] for part in parts])


wrong.edits("""
# by_reshaping
## output_cut_by_rows [the-reshape-trick]: You cut the output matrix by rows; a head's K numbers meet its columns.
- D = qkv.shape[1]
- U_v = qkv.reshape(3, n_heads, -1, D)[2]
- return out.reshape(D, n_heads, -1).swapaxes(0, 1) @ U_v
+ K = len(qkv) // 3 // n_heads
+ U_v = qkv[2 * n_heads * K :]
+ return np.array([out[h * K : (h + 1) * K].T @ U_v[h * K : (h + 1) * K] for h in range(n_heads)])
## cut_head_by_head [common-mistakes]: You cut q, k and v of head 0 first, then those of head 1; the rows are stored all
q, all k, all v.
- U_v = qkv.reshape(3, n_heads, -1, D)[2]
- return out.reshape(D, n_heads, -1).swapaxes(0, 1) @ U_v
+ U_v = qkv.reshape(n_heads, 3, -1, D)[:, 2]
+ return out.reshape(len(out), n_heads, -1).transpose(1, 0, 2) @ U_v
## every_h_th_value [the-reshape-trick]: Your heads own every H-th value; they should own K neighbours.
- D = qkv.shape[1]
- U_v = qkv.reshape(3, n_heads, -1, D)[2]
- return out.reshape(D, n_heads, -1).swapaxes(0, 1) @ U_v
+ U_v = qkv[len(qkv) // 3 * 2 :]
+ return np.array([out[:, h::n_heads] @ U_v[h::n_heads] for h in range(n_heads)])
## mixed_cuts [the-reshape-trick]: Only the output columns are cut right: your values come from every H-th row.
+ K = len(qkv) // 3 // n_heads
+ U_v = qkv[2 * n_heads * K :]
+ return np.array([out[:, h * K : (h + 1) * K] @ U_v[h::n_heads] for h in range(n_heads)])
## keys_for_values: You take the rows that make keys.
+ U_k = np.split(np.split(qkv, 3)[1], n_heads)
+ return np.stack([a @ b for a, b in zip(np.split(out, n_heads, axis=1), U_k, strict=True)])
## queries_for_values: You take the rows that make queries.
+ U_q = np.split(np.split(qkv, 3)[0], n_heads)
+ return np.stack([a @ b for a, b in zip(np.split(out, n_heads, axis=1), U_q, strict=True)])
## whole_product_for_each: Every head gets the whole product; that is what all heads have together.
+ return np.stack([out @ qkv[len(qkv) // 3 * 2 :]] * n_heads)
## one_matrix_for_all: You return one matrix for all heads; return one for each.
+ return out @ qkv[len(qkv) // 3 * 2 :]
## thin_values_only: You return the thin value matrices; the output maps are missing.
+ return np.stack(np.split(np.split(qkv, 3)[2], n_heads))
## last_rows_by_token_width [what-heads-cost]: You find the width of a head by dividing that of a token; here the heads
together may be wider or narrower.
+ K = qkv.shape[1] // n_heads
+ rows = qkv[-n_heads * K :]
+ return np.array([out[:, h * K : h * K + K] @ rows[h * K : h * K + K] for h in range(n_heads)])

# by_split
## reversed_product: The product is the wrong way round: your matrices turn K numbers into K.
- U_o = np.split(out, n_heads, axis=1)
- return np.stack([a @ b for a, b in zip(U_o, U_v, strict=True)])
+ return np.stack([b @ a for a, b in zip(np.split(out, n_heads, axis=1), U_v, strict=True)])
## output_poured [the-mistake-that-keeps-every-shape]: You pour the output matrix into the shape of the heads: a reshape
cannot move the axis of heads to the front.
+ return out.reshape(n_heads, len(out), -1) @ np.stack(U_v)
## transposed_matrices: Your matrices are transposed: here they stand to the left of a column.
+ return np.stack([(a @ b).T for a, b in zip(np.split(out, n_heads, axis=1), U_v, strict=True)])
""")
