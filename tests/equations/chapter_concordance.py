"""Checks of the display equations of the concordance: the same layer as every source prints it."""

from math import exp, sqrt

import numpy as np
import torch
from clearbook.columns import to_reference, to_torch
from clearformer.cache import KVCache
from clearformer.multihead import MultiHeadAttention
from clearformer.reference import multihead as reference

from tests.equations.registry import equation, table

B, D, H, K, Kv, N, S = 2, 7, 2, 3, 5, 4, 5
WIDE = 6  # model width where heads share it: H · K


def small_matrices(rng, width=D, values=Kv):
    """U_q, U_k, U_v and U_o of the reference."""
    return [rng.normal(size=size) for size in ((H, K, width), (H, K, width), (H, values, width), (H, width, values))]


@equation("eq-form-reference", "68cafdec17")
def form_reference(rng):
    X = rng.normal(size=(D, N))
    U_q, U_k, U_v, U_o = small_matrices(rng)
    q = table(lambda h, k, n: sum(U_q[h, k, d] * X[d, n] for d in range(D)), H, K, N)
    keys = table(lambda h, k, n: sum(U_k[h, k, d] * X[d, n] for d in range(D)), H, K, N)
    v = table(lambda h, i, n: sum(U_v[h, i, d] * X[d, n] for d in range(D)), H, Kv, N)
    e = table(lambda h, s, n: exp(sum(keys[h, k, s] * q[h, k, n] for k in range(K)) / sqrt(K)), H, N, N)
    heads = table(
        lambda h, i, n: sum(v[h, i, s] * e[h, s, n] for s in range(N)) / sum(e[h, r, n] for r in range(N)), H, Kv, N
    )
    printed = table(lambda d, n: sum(U_o[h, d, i] * heads[h, i, n] for h in range(H) for i in range(Kv)), D, N)
    return printed, reference.multi_head_concatenated(X, U_q, U_k, U_v, U_o)[0]


@equation("eq-form-turner", "f268a4fccb")
def form_turner(rng):
    X, V = rng.normal(size=(D, N)), rng.normal(size=(H, D, D))
    U_q, U_k, U_v, U_o = small_matrices(rng)
    q = table(lambda h, k, n: sum(U_q[h, k, d] * X[d, n] for d in range(D)), H, K, N)
    keys = table(lambda h, k, n: sum(U_k[h, k, d] * X[d, n] for d in range(D)), H, K, N)
    e = table(lambda h, s, n: exp(sum(keys[h, k, s] * q[h, k, n] for k in range(K))), H, N, N)
    A = table(lambda h, s, n: e[h, s, n] / sum(e[h, r, n] for r in range(N)), H, N, N)
    printed = table(
        lambda d, n: sum(V[h, d, i] * X[i, s] * A[h, s, n] for h in range(H) for i in range(D) for s in range(N)), D, N
    )
    # the page claims: with √K in U_q and V_h = U_h U_{v,h} it is the reference
    same, _ = reference.multi_head(X, U_q / sqrt(K), U_k, reference.low_rank_values(U_o, U_v))
    return [
        (printed, reference.multi_head(X, U_q, U_k, V)[0]),
        (same, reference.multi_head_concatenated(X, U_q, U_k, U_v, U_o)[0]),
    ]


@equation("eq-form-jiang", "496d37d73b")
def form_jiang(rng):
    """A, B and C are our key, query and value matrices, as the page says."""
    X = rng.normal(size=(D, N))
    B, A, C, U_o = small_matrices(rng)
    W_o = reference.output_matrix(U_o)
    ax = table(lambda j, k, i: sum(A[j, k, d] * X[d, i] for d in range(D)), H, K, N)
    bx = table(lambda j, k, t: sum(B[j, k, d] * X[d, t] for d in range(D)), H, K, N)
    e = table(lambda j, i, t: exp(sum(ax[j, k, i] * bx[j, k, t] for k in range(K)) / sqrt(K)), H, N, N)
    a = table(lambda j, i, t: e[j, i, t] / sum(e[j, r, t] for r in range(N)), H, N, N)
    Z = table(lambda j, c, t: sum(C[j, c, d] * X[d, i] * a[j, i, t] for d in range(D) for i in range(N)), H, Kv, N)
    printed = table(lambda d, t: sum(W_o[d, j * Kv + c] * Z[j, c, t] for j in range(H) for c in range(Kv)), D, N)
    return printed, reference.multi_head_concatenated(X, B, A, C, U_o)[0]


@equation("eq-form-lecture-rows", "fd08ea9e12")
def form_lecture_rows(rng):
    inputs, U = rng.normal(size=(N, WIDE)), small_matrices(rng, WIDE, K)
    W_Q, W_K, W_V = (u.mT for u in U[:3])
    Y = reference.output_matrix(U[3]).T
    q = table(lambda h, n, k: sum(inputs[n, d] * W_Q[h, d, k] for d in range(WIDE)), H, N, K)
    keys = table(lambda h, n, k: sum(inputs[n, d] * W_K[h, d, k] for d in range(WIDE)), H, N, K)
    v = table(lambda h, n, k: sum(inputs[n, d] * W_V[h, d, k] for d in range(WIDE)), H, N, K)
    e = table(lambda h, n, m: exp(sum(q[h, n, k] * keys[h, m, k] for k in range(K)) / sqrt(WIDE / H)), H, N, N)
    heads = table(
        lambda h, n, k: sum(e[h, n, m] * v[h, m, k] for m in range(N)) / sum(e[h, n, r] for r in range(N)), H, N, K
    )
    printed = table(lambda n, d: sum(heads[h, n, k] * Y[h * K + k, d] for h in range(H) for k in range(K)), N, WIDE)
    return printed, reference.multi_head_concatenated(inputs.T, *U)[0].T


@equation("eq-form-lecture-columns", "5efcdc1fd5")
def form_lecture_columns(rng):
    a, U = rng.normal(size=(WIDE, N)), small_matrices(rng, WIDE, K)
    W_Q, W_K, W_V = U[:3]
    Y = reference.output_matrix(U[3]).T
    q = table(lambda h, k, i: sum(W_Q[h, k, d] * a[d, i] for d in range(WIDE)), H, K, N)
    keys = table(lambda h, k, i: sum(W_K[h, k, d] * a[d, i] for d in range(WIDE)), H, K, N)
    v = table(lambda h, k, i: sum(W_V[h, k, d] * a[d, i] for d in range(WIDE)), H, K, N)
    alpha = table(lambda h, i, j: sum(keys[h, k, j] * q[h, k, i] for k in range(K)) / sqrt(WIDE / H), H, N, N)
    b = table(
        lambda h, k, i: sum(
            exp(alpha[h, i, j]) / sum(exp(alpha[h, i, r]) for r in range(N)) * v[h, k, j] for j in range(N)
        ),
        H,
        K,
        N,
    )
    printed = table(lambda d, i: sum(Y.T[d, h * K + k] * b[h, k, i] for h in range(H) for k in range(K)), WIDE, N)
    return printed, reference.multi_head_concatenated(a, *U)[0]


@equation("eq-form-vaswani", "c0bd1f6130")
def form_vaswani(rng):
    """With K = V from another sequence than Q, so that their roles cannot be exchanged."""
    Q, source, U = rng.normal(size=(N, WIDE)), rng.normal(size=(S, WIDE)), small_matrices(rng, WIDE, K)
    W_Q, W_K, W_V = (u.mT for u in U[:3])
    W_O = reference.output_matrix(U[3]).T
    q = table(lambda h, n, k: sum(Q[n, d] * W_Q[h, d, k] for d in range(WIDE)), H, N, K)
    keys = table(lambda h, s, k: sum(source[s, d] * W_K[h, d, k] for d in range(WIDE)), H, S, K)
    v = table(lambda h, s, k: sum(source[s, d] * W_V[h, d, k] for d in range(WIDE)), H, S, K)
    e = table(lambda h, n, s: exp(sum(q[h, n, k] * keys[h, s, k] for k in range(K)) / sqrt(K)), H, N, S)
    heads = table(
        lambda h, n, k: sum(e[h, n, s] * v[h, s, k] for s in range(S)) / sum(e[h, n, r] for r in range(S)), H, N, K
    )
    printed = table(lambda n, d: sum(heads[h, n, k] * W_O[h * K + k, d] for h in range(H) for k in range(K)), N, WIDE)
    return printed, reference.cross_attention(Q.T, source.T, *U)[0].T


def layer_and_arrays(rng):
    """nn.MultiheadAttention and ours with the same random weights and biases, and these as arrays."""
    sizes = {"in_proj_weight": (3 * WIDE, WIDE), "in_proj_bias": 3 * WIDE}
    sizes |= {"out_proj.weight": (WIDE, WIDE), "out_proj.bias": WIDE}
    arrays = {name: rng.normal(size=size) for name, size in sizes.items()}
    tensors = {name: torch.tensor(array) for name, array in arrays.items()}
    theirs = torch.nn.MultiheadAttention(WIDE, H, batch_first=True, dtype=torch.float64)
    theirs.load_state_dict(tensors)
    ours = MultiHeadAttention(WIDE, H).double()
    ours.load_state_dict(dict(zip(ours.state_dict(), tensors.values(), strict=True)))
    return theirs, ours, arrays.values()


@equation("eq-form-torch", "1f1e4788e4")
def form_torch(rng):
    theirs, ours, (W_in, b_in, W_out, b_out) = layer_and_arrays(rng)
    x = rng.normal(size=(N, WIDE))
    qkv = table(lambda n, i: sum(x[n, d] * W_in[i, d] for d in range(WIDE)) + b_in[i], N, 3 * WIDE)
    q, keys, v = np.split(qkv, 3, axis=1)
    e = table(
        lambda h, n, s: exp(sum(q[n, h * K + k] * keys[s, h * K + k] for k in range(K)) / sqrt(WIDE / H)), H, N, N
    )
    y = table(
        lambda n, h, k: sum(e[h, n, s] * v[s, h * K + k] for s in range(N)) / sum(e[h, n, r] for r in range(N)), N, H, K
    ).reshape(N, WIDE)
    printed = table(lambda n, d: sum(y[n, i] * W_out[d, i] for i in range(WIDE)) + b_out[d], N, WIDE)
    batch = torch.tensor(x)[None]
    return [(printed, rows(theirs(batch, batch, batch)[0])), (printed, rows(ours(batch)[0]))]


@equation("eq-form-gpt2", "9b93361cbe")
def form_gpt2(rng):
    """The layer's weights transposed, as a Conv1D holds them."""
    _, ours, (W_in, b_attn, W_out, b_proj) = layer_and_arrays(rng)
    W_attn, W_proj, x = W_in.T, W_out.T, rng.normal(size=(N, WIDE))
    qkv = table(lambda n, i: sum(x[n, d] * W_attn[d, i] for d in range(WIDE)) + b_attn[i], N, 3 * WIDE)
    q, keys, v = np.split(qkv, 3, axis=1)
    e = table(
        lambda h, n, s: exp(sum(q[n, h * K + k] * keys[s, h * K + k] for k in range(K)) / sqrt(WIDE / H)), H, N, N
    )
    y = table(
        lambda n, h, k: sum(e[h, n, s] * v[s, h * K + k] for s in range(N)) / sum(e[h, n, r] for r in range(N)), N, H, K
    ).reshape(N, WIDE)
    printed = table(lambda n, d: sum(y[n, i] * W_proj[i, d] for i in range(WIDE)) + b_proj[d], N, WIDE)
    return printed, rows(ours(torch.tensor(x)[None])[0])


@equation("eq-form-ours-torch", "64fc7f7c53")
def form_ours_torch(rng):
    _, ours, (W, beta, O, o) = layer_and_arrays(rng)  # noqa: E741  (the page's letter)
    (W_q, W_k, W_v), (beta_q, beta_k, beta_v) = np.split(W, 3), np.split(beta, 3)
    x = rng.normal(size=(B, N, WIDE))
    q = table(
        lambda b, h, n, k: sum(W_q[h * K + k, d] * x[b, n, d] for d in range(WIDE)) + beta_q[h * K + k], B, H, N, K
    )
    keys = table(
        lambda b, h, s, k: sum(W_k[h * K + k, d] * x[b, s, d] for d in range(WIDE)) + beta_k[h * K + k], B, H, N, K
    )
    v = table(
        lambda b, h, s, k: sum(W_v[h * K + k, d] * x[b, s, d] for d in range(WIDE)) + beta_v[h * K + k], B, H, N, K
    )
    e = table(lambda b, h, n, s: exp(sum(q[b, h, n, k] * keys[b, h, s, k] for k in range(K)) / sqrt(K)), B, H, N, N)
    A = table(lambda b, h, n, s: e[b, h, n, s] / sum(e[b, h, n, r] for r in range(N)), B, H, N, N)
    printed = table(
        lambda b, n, d: (
            sum(O[d, h * K + k] * A[b, h, n, s] * v[b, h, s, k] for h in range(H) for k in range(K) for s in range(N))
            + o[d]
        ),
        B,
        N,
        WIDE,
    )
    cache = KVCache(1, B, H, N, K, dtype=torch.float64)[0]  # shows the keys: their bias changes no output
    with torch.no_grad():
        y, _ = ours(torch.tensor(x), cache=cache)
    return [(printed, y), (keys, cache.k), (v, cache.v)]


@equation("eq-form-biases", "64a9fd55dd")
def form_biases(rng):
    """The layer has key biases, the formula has none."""
    theirs, _, (W_in, b_in, W_O, b_o) = layer_and_arrays(rng)
    X = rng.normal(size=(WIDE, N))
    U_q, U_k, U_v = (part.reshape(H, K, WIDE) for part in np.split(W_in, 3))
    b_q, _, b_v = np.split(b_in, 3)
    b_q = b_q.reshape(H, K)
    q = table(lambda h, k, n: sum(U_q[h, k, d] * X[d, n] for d in range(WIDE)) + b_q[h, k], H, K, N)
    keys = table(lambda h, k, s: sum(U_k[h, k, d] * X[d, s] for d in range(WIDE)), H, K, N)
    e = table(lambda h, s, n: exp(sum(keys[h, k, s] * q[h, k, n] for k in range(K)) / sqrt(K)), H, N, N)
    A = table(lambda h, s, n: e[h, s, n] / sum(e[h, r, n] for r in range(N)), H, N, N)
    heads = table(
        lambda h, k, n: sum(U_v[h, k, d] * X[d, s] * A[h, s, n] for d in range(WIDE) for s in range(N)), H, K, N
    )
    joined = heads.reshape(WIDE, N)
    printed = table(
        lambda d, n: (
            sum(W_O[d, i] * joined[i, n] for i in range(WIDE)) + sum(W_O[d, i] * b_v[i] for i in range(WIDE)) + b_o[d]
        ),
        WIDE,
        N,
    )
    batch = to_torch(X)
    return printed, to_reference(theirs(batch, batch, batch)[0])


@equation("eq-form-ones", "8131a4c373")
def form_ones(rng):
    X, U, b = rng.normal(size=(D, N)), rng.normal(size=(K, D)), rng.normal(size=K)
    library = torch.nn.functional.linear(to_torch(X), torch.tensor(U), torch.tensor(b))
    left = table(lambda k, n: sum(U[k, d] * X[d, n] for d in range(D)) + b[k], K, N)
    wider, longer = np.hstack([U, b[:, None]]), np.vstack([X, np.ones(N)])
    right = table(lambda k, n: sum(wider[k, d] * longer[d, n] for d in range(D + 1)), K, N)
    return [(left, to_reference(library)), (right, to_reference(library))]


def rows(y):
    return y[0].detach().numpy()
