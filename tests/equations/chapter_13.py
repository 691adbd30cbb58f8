"""Checks of the display equations of chapter 13, the backward pass by hand; of two columns the second is Jiang's."""

from math import exp, log, sqrt

import numpy as np
import torch
import torch.nn.functional as F
from clearformer.attention import attend as torch_attend
from clearformer.attention import attend_by_hand, attend_recomputing
from clearformer.reference import backward, multihead
from clearformer.reference.attention import attend, attend_backward, causal_mask
from clearformer.reference.blocks import BlockParameters, block_pre_norm_backward
from clearformer.reference.functions import gelu, gelu_backward, softmax, softmax_backward
from clearformer.reference.layers import layer_norm_backward, mlp_backward
from clearformer.reference.numgrad import numerical_gradients
from torch.utils.flop_counter import FlopCounterMode

from tests.equations.registry import equation, table

D, N, S, K, Kv, H, HIDDEN = 5, 4, 7, 3, 6, 2, 8
h, T = 3, 4  # Jiang's width of a head and number of tokens
EPS = 0.1  # large enough to be seen


@equation("eq-central-difference", "a6a67deca8")
def central_difference(rng):
    x, u = rng.normal(size=D), np.eye(D)
    printed = table(lambda j: (quartic(x + EPS * u[j]) - quartic(x - EPS * u[j])) / (2 * EPS), D)
    return printed, numerical_gradients(quartic, x, step=EPS)[0]


@equation("eq-richardson", "7a75767762")
def richardson(rng):
    x = rng.normal(size=D)
    near, far = (numerical_gradients(quartic, x, step=step)[0] for step in (EPS, 2 * EPS))
    printed = table(lambda j: (4 * near[j] - far[j]) / 3, D)
    return printed, autograd(quartic, x)[0]


@equation("eq-move-across", "2f34b835e3")
def move_across(rng):
    E, U, X = rng.normal(size=(K, N)), rng.normal(size=(K, D)), rng.normal(size=(S, N))
    same, narrow, other = rng.normal(size=(K, N)), rng.normal(size=(D, N)), rng.normal(size=(K, S))
    inner = table(lambda: sum(E[k, n] * same[k, n] for k in range(K) for n in range(N)))
    by_U = table(
        lambda: sum(E[k, n] * sum(U[k, d] * narrow[d, n] for d in range(D)) for k in range(K) for n in range(N))
    )
    by_X = table(
        lambda: sum(E[k, n] * sum(other[k, s] * X[s, n] for s in range(S)) for k in range(K) for n in range(N))
    )
    return [(inner, np.vdot(E, same)), (by_U, np.vdot(U.T @ E, narrow)), (by_X, np.vdot(E @ X.T, other))]


@equation("eq-product-rule", "78de13566f")
def product_rule(rng):
    U, X, E = rng.normal(size=(K, D)), rng.normal(size=(D, N)), rng.normal(size=(K, N))
    by_X = table(lambda d, n: sum(U[k, d] * E[k, n] for k in range(K)), D, N)
    by_U = table(lambda k, d: sum(E[k, n] * X[d, n] for n in range(N)), K, D)
    truth = autograd(lambda U, X: (torch.as_tensor(E) * (U @ X)).sum(), U, X)
    return [(by_U, truth[0]), (by_X, truth[1])]


@equation("eq-back-forward", "7e9c0ca9de")
def forward(rng):
    Q, keys, V = rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=(Kv, S))
    C = table(lambda s, n: sum(keys[k, s] * Q[k, n] for k in range(K)) / sqrt(K), S, N)
    A = table(lambda s, n: exp(C[s, n]) / sum(exp(C[r, n]) for r in range(S)), S, N)
    Y = table(lambda k, n: sum(A[s, n] * V[k, s] for s in range(S)), Kv, N)
    q, k_, v = rng.normal(size=(3, h, T))
    c = table(lambda i, t: sum(q[j, i] * k_[j, t] for j in range(h)) / sqrt(h), T, T)
    a = table(lambda i, t: exp(c[i, t]) / sum(exp(c[j, t]) for j in range(T)), T, T)
    z = table(lambda j, t: sum(a[i, t] * v[j, i] for i in range(T)), h, T)
    ours, his = attend(Q, keys, V), attend(k_, q, v)
    return [(Y, ours[0]), (A, ours[1]), (z, his[0]), (a, his[1])]


@equation("eq-back-error", "8c2206124b")
def error(rng):
    """A loss of degree two, whose difference quotient is its derivative."""
    Y, W = rng.normal(size=(2, Kv, N))

    def loss(Y):
        return (W * Y**2).sum()

    def moved(k, n, by):
        nudged = Y.copy()
        nudged[k, n] += by
        return loss(nudged)

    printed = table(lambda k, n: (moved(k, n, EPS) - moved(k, n, -EPS)) / (2 * EPS), Kv, N)
    truth = autograd(lambda Y: (torch.as_tensor(W) * Y**2).sum(), Y)[0]
    columns = np.stack([printed[:, t] for t in range(N)], axis=1)  # Jiang's e_t
    return [(printed, truth), (columns, truth)]


@equation("eq-back-weights", "9d40a66d13")
def weights(rng):
    V, A, E = rng.normal(size=(Kv, S)), softmax(rng.normal(size=(S, N)), axis=0), rng.normal(size=(Kv, N))
    dA = table(lambda s, n: sum(V[k, s] * E[k, n] for k in range(Kv)), S, N)
    dV = table(lambda k, s: sum(A[s, n] * E[k, n] for n in range(N)), Kv, S)
    ours = backward.weighted_average_backward(V, A, E)
    v, a, e = rng.normal(size=(h, T)), softmax(rng.normal(size=(T, T)), axis=0), rng.normal(size=(h, T))
    da = table(lambda i, t: sum(v[j, i] * e[j, t] for j in range(h)), T, T)
    dv = table(lambda j, i: sum(a[i, t] * e[j, t] for t in range(T)), h, T)
    his = backward.weighted_average_backward(v, a, e)
    return [(dV, ours[0]), (dA, ours[1]), (dv, his[0]), (da, his[1])]


@equation("eq-back-softmax", "571a905ae3")
def through_softmax(rng):
    A, dA = softmax(rng.normal(size=(S, N)), axis=0), rng.normal(size=(S, N))
    ours = table(lambda s, n: A[s, n] * dA[s, n] - sum(A[r, n] * dA[r, n] for r in range(S)) * A[s, n], S, N)
    his = table(lambda i, t: sum(((i == j) * A[i, t] - A[i, t] * A[j, t]) * dA[j, t] for j in range(S)), S, N)
    library = softmax_backward(A, dA, axis=0)
    return [(ours, library), (his, library)]


@equation("eq-back-advantage", "8da5ea343e")
def advantage(rng):
    Q, keys, V, E = one_head(rng)
    Y, A = attend(Q, keys, V)
    G = table(lambda s, n: A[s, n] * sum((V[k, s] - Y[k, n]) * E[k, n] for k in range(Kv)), S, N)
    sums = table(lambda n: sum(G[s, n] for s in range(S)), N)
    return [(G, softmax_backward(A, V.T @ E, axis=0)), (sums, np.zeros(N))]


@equation("eq-back-scores", "5987698f4d")
def scores(rng):
    Q, keys, V, E = one_head(rng)
    G = softmax_backward(attend(Q, keys, V)[1], V.T @ E, axis=0)
    dQ = table(lambda k, n: 1 / sqrt(K) * sum(G[s, n] * keys[k, s] for s in range(S)), K, N)
    dK = table(lambda k, s: 1 / sqrt(K) * sum(G[s, n] * Q[k, n] for n in range(N)), K, S)
    ours = attend_backward(Q, keys, V, E)
    q, k_, v, e = rng.normal(size=(4, h, T))
    dc = softmax_backward(attend(k_, q, v)[1], v.T @ e, axis=0)
    dq = table(lambda j, i: 1 / sqrt(h) * sum(dc[i, t] * k_[j, t] for t in range(T)), h, T)
    dk = table(lambda j, t: 1 / sqrt(h) * sum(dc[i, t] * q[j, i] for i in range(T)), h, T)
    his = attend_backward(k_, q, v, e)
    return [(dQ, ours[0]), (dK, ours[1]), (dk, his[0]), (dq, his[1])]


@equation("eq-back-matrices", "9b9a31f03f")
def matrices(rng):
    X, E, U_q, U_k, U_v = one_projected_head(rng)
    dQ, dK, dV = attend_backward(U_q @ X, U_k @ X, U_v @ X, E)
    dU_q = table(lambda k, d: sum(dQ[k, n] * X[d, n] for n in range(N)), K, D)
    dU_k = table(lambda k, d: sum(dK[k, n] * X[d, n] for n in range(N)), K, D)
    dU_v = table(lambda k, d: sum(dV[k, n] * X[d, n] for n in range(N)), Kv, D)
    _, by_q, by_k, by_v = backward.head_backward(X, U_q, U_k, U_v, E)
    return [(dU_q, by_q), (dU_k, by_k), (dU_v, by_v), *jiang_matrices(rng)]


def jiang_matrices(rng):
    x, A, B, C, e = jiang(rng)
    dk, dq, dv = attend_backward(B @ x, A @ x, C @ x, e)
    dA = table(lambda j, d: sum(dq[j, i] * x[d, i] for i in range(T)), h, D)
    dB = table(lambda j, d: sum(dk[j, i] * x[d, i] for i in range(T)), h, D)
    dC = table(lambda j, d: sum(dv[j, i] * x[d, i] for i in range(T)), h, D)
    _, by_B, by_A, by_C = backward.head_backward(x, B, A, C, e)
    return [(dA, by_A), (dB, by_B), (dC, by_C)]


@equation("eq-back-input", "ad9120f35c")
def by_input(rng):
    X, E, U_q, U_k, U_v = one_projected_head(rng)
    dQ, dK, dV = attend_backward(U_q @ X, U_k @ X, U_v @ X, E)
    printed = table(
        lambda d, n: (
            sum(U_q[k, d] * dQ[k, n] for k in range(K))
            + sum(U_k[k, d] * dK[k, n] for k in range(K))
            + sum(U_v[k, d] * dV[k, n] for k in range(Kv))
        ),
        D,
        N,
    )
    x, A, B, C, e = jiang(rng)
    dk, dq, dv = attend_backward(B @ x, A @ x, C @ x, e)
    his = table(lambda d, i: sum(A[j, d] * dq[j, i] + B[j, d] * dk[j, i] + C[j, d] * dv[j, i] for j in range(h)), D, T)
    ours = backward.head_backward(X, U_q, U_k, U_v, E)[0]
    return [(printed, ours), (his, backward.head_backward(x, B, A, C, e)[0])]


@equation("eq-back-p", "d27579e87c")
def p_matrix(rng):
    X, E, U_q, U_k, U_v = one_projected_head(rng)
    Q, keys, V = U_q @ X, U_k @ X, U_v @ X
    A = attend(Q, keys, V)[1]
    dA = table(lambda s, n: sum(V[k, s] * E[k, n] for k in range(Kv)), N, N)
    G = softmax_backward(A, dA, axis=0)
    upper = table(lambda k, n: 1 / sqrt(K) * sum(keys[k, s] * G[s, n] for s in range(N)), K, N)
    middle = table(lambda k, s: 1 / sqrt(K) * sum(Q[k, n] * G[s, n] for n in range(N)), K, N)
    lower = table(lambda k, s: sum(E[k, n] * A[s, n] for n in range(N)), Kv, N)
    P, U = np.vstack([upper, middle, lower]), np.vstack([U_q, U_k, U_v])
    dU = table(lambda p, d: sum(P[p, n] * X[d, n] for n in range(N)), len(P), D)
    dX = table(lambda d, n: sum(U[p, d] * P[p, n] for p in range(len(P))), D, N)
    by_X, *by_U = backward.head_backward(X, U_q, U_k, U_v, E)
    return [(P, backward.p_matrix(X, U_q, U_k, U_v, E)), (dU, np.vstack(by_U)), (dX, by_X)]


@equation("eq-back-p-jiang", "bb7f4a28e3")
def p_matrix_jiang(rng):
    x, A, B, C, e = jiang(rng)
    q, k_, v = A @ x, B @ x, C @ x
    a = softmax(q.T @ k_ / sqrt(h), axis=0)
    dc = softmax_backward(a, v.T @ e, axis=0)
    upper = table(lambda j, i: 1 / sqrt(h) * sum(k_[j, t] * dc[i, t] for t in range(T)), h, T)
    middle = table(lambda j, t: 1 / sqrt(h) * sum(q[j, i] * dc[i, t] for i in range(T)), h, T)
    lower = table(lambda j, i: sum(e[j, t] * a[i, t] for t in range(T)), h, T)
    P, U = np.vstack([upper, middle, lower]), np.vstack([A, B, C])
    dU = table(lambda p, d: sum(P[p, i] * x[d, i] for i in range(T)), len(P), D)
    dX = table(lambda d, i: sum(U[p, d] * P[p, i] for p in range(len(P))), D, T)
    by_X, by_B, by_A, by_C = backward.head_backward(x, B, A, C, e)
    return [(dU, np.vstack([by_A, by_B, by_C])), (dX, by_X)]


@equation("eq-back-late", "da5056485a")
def late(rng):
    M, V, E, soft, Y, truth = late_mask(rng)
    printed = table(
        lambda s, n: (
            soft[s, n]
            * (M[s, n] * sum(V[k, s] * E[k, n] for k in range(Kv)) - sum(Y[k, n] * E[k, n] for k in range(Kv)))
        ),
        N,
        N,
    )
    return printed, truth


@equation("eq-back-missed", "51054abaa1")
def missed(rng):
    M, V, E, soft, Y, truth = late_mask(rng)
    printed = table(lambda s, n: -soft[s, n] * sum(Y[k, n] * E[k, n] for k in range(Kv)) if s > n else 0, N, N)
    return printed, truth - softmax_backward(M * soft, V.T @ E, axis=0)


@equation("eq-back-heads", "ee08535724")
def heads(rng):
    X, E, (U_q, U_k, U_v, U_o) = many_heads(rng)
    Y = np.concatenate([attend(u_q @ X, u_k @ X, u_v @ X)[0] for u_q, u_k, u_v in zip(U_q, U_k, U_v, strict=True)])
    dW_o = table(lambda d, j: sum(E[d, n] * Y[j, n] for n in range(N)), D, H * Kv)
    E_h = table(lambda i, k, n: sum(U_o[i, d, k] * E[d, n] for d in range(D)), H, Kv, N)
    P = np.stack([backward.p_matrix(X, U_q[i], U_k[i], U_v[i], E_h[i]) for i in range(H)])
    U = np.concatenate([U_q, U_k, U_v], axis=1)
    dX = table(lambda d, n: sum(U[i, p, d] * P[i, p, n] for i in range(H) for p in range(2 * K + Kv)), D, N)
    dU_o = multihead.multi_head_concatenated_backward(X, U_q, U_k, U_v, U_o, E)[-1]
    return [
        (dW_o, multihead.output_matrix(dU_o)),
        (P, backward.p_matrices(X, U_q, U_k, U_v, U_o, E)),
        (dX, backward.heads_backward(X, U_q, U_k, U_v, U_o, E)[0]),
    ]


@equation("eq-back-cross", "067f67883b")
def cross(rng):
    X, E, (U_q, U_k, U_v, U_o) = many_heads(rng)
    Z = rng.normal(size=(D, S))
    parts = [attend_backward(U_q[i] @ X, U_k[i] @ Z, U_v[i] @ Z, U_o[i].T @ E) for i in range(H)]
    dQ, dK, dV = (np.stack(part) for part in zip(*parts, strict=True))
    dX = table(lambda d, n: sum(U_q[i, k, d] * dQ[i, k, n] for i in range(H) for k in range(K)), D, N)
    dZ = table(
        lambda d, s: sum(
            sum(U_k[i, k, d] * dK[i, k, s] for k in range(K)) + sum(U_v[i, k, d] * dV[i, k, s] for k in range(Kv))
            for i in range(H)
        ),
        D,
        S,
    )
    by_X, by_Z, *_ = multihead.cross_attention_backward(X, Z, U_q, U_k, U_v, U_o, E)
    return [(dX, by_X), (dZ, by_Z)]


@equation("eq-back-residual", "d1ced4c150")
def residual(rng):
    X, E = rng.normal(size=(2, D, N))
    U_q, U_k, U_v = (rng.normal(size=(rows, D)) for rows in (K, K, D))
    P, U = backward.p_matrix(X, U_q, U_k, U_v, E), np.vstack([U_q, U_k, U_v])
    printed = table(lambda d, n: sum(U[p, d] * P[p, n] for p in range(2 * K + D)) + E[d, n], D, N)
    return printed, backward.residual_head_backward(X, U_q, U_k, U_v, E)[0]


@equation("eq-back-layer-norm", "67f1941918")
def through_norm(rng):
    X, E, gamma = rng.normal(size=(D, N)) + 1, rng.normal(size=(D, N)), rng.normal(size=D)
    var = X.var(axis=0)
    x_hat = (X - X.mean(axis=0)) / np.sqrt(var + EPS)
    g = table(lambda d, n: gamma[d] * E[d, n], D, N)
    mean = table(lambda n: sum(g[d, n] for d in range(D)) / D, N)
    along = table(lambda n: sum(g[d, n] * x_hat[d, n] for d in range(D)) / D, N)
    printed = table(lambda d, n: 1 / sqrt(var[n] + EPS) * (g[d, n] - mean[n] - x_hat[d, n] * along[n]), D, N)
    truth = autograd(
        lambda X: (torch.as_tensor(E).T * F.layer_norm(X.T, (D,), torch.as_tensor(gamma), eps=EPS)).sum(), X
    )
    return [(printed, layer_norm_backward(X, gamma, E, EPS)[0]), (printed, truth[0])]


@equation("eq-back-mlp", "76ad0b1d43")
def through_mlp(rng):
    X, E = rng.normal(size=(2, D, N))
    W_1, b_1, W_2 = rng.normal(size=(HIDDEN, D)), rng.normal(size=HIDDEN), rng.normal(size=(D, HIDDEN))
    before = W_1 @ X + b_1[:, None]
    slope, bent = gelu_backward(before, np.ones_like(before)), gelu(before)
    G = table(lambda f, n: slope[f, n] * sum(W_2[d, f] * E[d, n] for d in range(D)), HIDDEN, N)
    dX = table(lambda d, n: sum(W_1[f, d] * G[f, n] for f in range(HIDDEN)), D, N)
    dW_1 = table(lambda f, d: sum(G[f, n] * X[d, n] for n in range(N)), HIDDEN, D)
    dW_2 = table(lambda d, f: sum(E[d, n] * bent[f, n] for n in range(N)), D, HIDDEN)
    by_X, by_W_1, _, by_W_2, _ = mlp_backward(X, W_1, b_1, W_2, E)
    return [(dX, by_X), (dW_1, by_W_1), (dW_2, by_W_2)]


@equation("eq-back-block", "6f8a1c1ccb")
def through_block(rng):
    """With the Jacobians as matrices, from torch; all D N entries in one vector."""
    (X, E), size = rng.normal(size=(2, D, N)), D * N
    _, _, projections = many_heads(rng)
    network = [rng.normal(size=shape) / 2 for shape in ((HIDDEN, D), HIDDEN, (D, HIDDEN), D)]
    scales, shifts = rng.normal(size=(2, 2, D))
    into, attended, again, thought = block_jacobians(X, projections, network, scales, shifts)
    e = E.ravel()
    dY = table(
        lambda i: e[i] + sum(again[j, i] * sum(thought[k, j] * e[k] for k in range(size)) for j in range(size)), size
    )
    dX = table(
        lambda i: dY[i] + sum(into[j, i] * sum(attended[k, j] * dY[k] for k in range(size)) for j in range(size)), size
    )
    norms = [(scales[i], shifts[i]) for i in range(2)]
    p = BlockParameters(tuple(projections), tuple(network), *norms)
    return dX.reshape(D, N), block_pre_norm_backward(X, p, E)[0]


@equation("eq-back-flops", "b8223f5fbe")
def flops(rng):
    n, s, k, kv = [6, 10], [9, 7], [4, 3], [5, 8]
    forward = table(lambda i: 2 * (k[i] + kv[i]) * n[i] * s[i], 2)
    backwards = table(lambda i: 4 * (k[i] + kv[i]) * n[i] * s[i], 2)
    recomputing = table(lambda i: (6 * k[i] + 4 * kv[i]) * n[i] * s[i], 2)
    shapes = list(zip(n, s, k, kv, strict=True))
    plain, by_hand, again = (
        [counted(f, *shape) for shape in shapes] for f in (torch_attend, attend_by_hand, attend_recomputing)
    )
    return [
        (forward, [f for f, _ in by_hand]),
        (backwards, [b for _, b in plain]),
        (backwards, [b for _, b in by_hand]),
        (recomputing, [b for _, b in again]),
    ]


@equation("eq-back-recompute", "fb487d63a6")
def recompute(rng):
    Q, keys, V, E = one_head(rng)
    C, (Y, weights) = keys.T @ Q / sqrt(K), attend(Q, keys, V)
    L = table(lambda n: log(sum(exp(C[s, n]) for s in range(S))), N)
    A = table(lambda s, n: exp(C[s, n] - L[n]), S, N)
    G = table(
        lambda s, n: A[s, n] * (sum(V[k, s] * E[k, n] for k in range(Kv)) - sum(Y[k, n] * E[k, n] for k in range(Kv))),
        S,
        N,
    )
    return [(A, weights), (G, softmax_backward(weights, V.T @ E, axis=0))]


def quartic(x):
    """A polynomial of degree four with mixed terms, in NumPy and torch."""
    return (x**4).sum() + (x.sum()) ** 3 + (x[0] * x[1] * x[2] * x[3])


def one_head(rng):
    return tuple(rng.normal(size=size) for size in ((K, N), (K, S), (Kv, S), (Kv, N)))


def one_projected_head(rng):
    X, E = rng.normal(size=(D, N)), rng.normal(size=(Kv, N))
    return X, E, *(rng.normal(size=(rows, D)) / sqrt(D) for rows in (K, K, Kv))


def jiang(rng):
    """His X, A, B, C and E."""
    return rng.normal(size=(D, T)), *(rng.normal(size=(3, h, D)) / sqrt(D)), rng.normal(size=(h, T))


def many_heads(rng):
    X, E = rng.normal(size=(2, D, N))
    return X, E, [rng.normal(size=size) / 2 for size in ((H, K, D), (H, K, D), (H, Kv, D), (H, D, Kv))]


def late_mask(rng):
    """The triangle, values, errors, the softmax of all scores, outputs, and the gradient by the scores."""
    C, V, E = rng.normal(size=(N, N)), rng.normal(size=(Kv, N)), rng.normal(size=(Kv, N))
    M = causal_mask(N).astype(float)
    V_t, E_t, M_t = map(torch.as_tensor, (V, E, M))
    truth = autograd(lambda C: (E_t * (V_t @ (M_t * C.softmax(dim=0)))).sum(), C)[0]
    soft = softmax(C, axis=0)
    return M, V, E, soft, V @ (M * soft), truth


def block_jacobians(X, projections, network, scales, shifts):
    """Those of the four parts of a pre-norm block, outputs × inputs, in the order of the forward pass."""
    U_q, U_k, U_v, U_o = map(torch.as_tensor, projections)
    W_1, b_1, W_2, b_2 = map(torch.as_tensor, network)

    def norm(i):
        return lambda X: F.layer_norm(X.T, (D,), torch.as_tensor(scales[i]), torch.as_tensor(shifts[i])).T

    def attention(X):
        A = ((U_k @ X).mT @ (U_q @ X) / sqrt(K)).softmax(dim=1)
        return (U_o @ U_v @ X @ A).sum(dim=0)

    def network_of(X):
        return W_2 @ F.gelu(W_1 @ X + b_1[:, None]) + b_2[:, None]

    X = torch.as_tensor(X)
    normed = norm(0)(X)
    Y = X + attention(normed)
    normed_Y = norm(1)(Y)
    places = ((norm(0), X), (attention, normed), (norm(1), Y), (network_of, normed_Y))
    jacobian = torch.autograd.functional.jacobian
    return [jacobian(f, x).reshape(D * N, D * N).numpy() for f, x in places]


def counted(function, n, s, k, kv):
    """FLOPs of the forward and of the backward pass."""
    arguments = [torch.randn(rows, width, requires_grad=True) for rows, width in ((n, k), (s, k), (s, kv))]
    with FlopCounterMode(display=False) as forwards:
        y = function(*arguments)[0]
    with FlopCounterMode(display=False) as backwards:
        torch.autograd.grad(y, arguments, torch.ones_like(y))
    return forwards.get_total_flops(), backwards.get_total_flops()


def autograd(loss, *arrays):
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    return [gradient.numpy() for gradient in torch.autograd.grad(loss(*tensors), tensors)]
