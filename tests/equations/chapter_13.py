"""Checks of the display equations of chapter 13, the backward pass by hand."""

from math import exp, sqrt

import numpy as np
import torch
import torch.nn.functional as F
from clearformer.reference import backward
from clearformer.reference.attention import attend, attend_backward
from clearformer.reference.blocks import BlockParameters, block_pre_norm_backward
from clearformer.reference.functions import cross_entropy_backward, softmax, softmax_backward
from clearformer.reference.layers import layer_norm_backward
from clearformer.reference.numgrad import numerical_gradients

from tests.equations.registry import equation, table

D, N, S, K, Kv, H, HIDDEN = 5, 4, 7, 3, 6, 2, 8
EPS = 0.1  # large enough to be seen


@equation("eq-back-order", "8c0c974476")
def order(rng):
    J = [rng.normal(size=(5, 4)), rng.normal(size=(3, 5)), rng.normal(size=(6, 3))]
    e = rng.normal(size=6)
    top = table(lambda i: sum(J[2][j, i] * e[j] for j in range(6)), 3)
    middle = table(lambda i: sum(J[1][j, i] * top[j] for j in range(3)), 5)
    printed = table(lambda i: sum(J[0][j, i] * middle[j] for j in range(5)), 4)
    chain = [torch.as_tensor(each) for each in J]
    truth = autograd(lambda x: torch.as_tensor(e) @ (chain[2] @ (chain[1] @ (chain[0] @ x))), rng.normal(size=4))
    return printed, truth[0]


@equation("eq-central-difference", "cd9ededca6")
def central_difference(rng):
    x, u = rng.normal(size=D), np.eye(D)
    printed = table(lambda j: (quartic(x + EPS * u[j]) - quartic(x - EPS * u[j])) / (2 * EPS), D)
    return printed, numerical_gradients(quartic, x, step=EPS)[0]


@equation("eq-move-across", "919a923daf")
def move_across(rng):
    E, Y = rng.normal(size=(2, K, N))
    U, X = rng.normal(size=(K, D)), rng.normal(size=(D, N))
    inner = table(lambda: sum(E[k, n] * Y[k, n] for k in range(K) for n in range(N)))
    product = table(lambda: sum(E[k, n] * sum(U[k, d] * X[d, n] for d in range(D)) for k in range(K) for n in range(N)))
    by_X = table(lambda: sum(sum(U[k, d] * E[k, n] for k in range(K)) * X[d, n] for d in range(D) for n in range(N)))
    by_U = table(lambda: sum(sum(E[k, n] * X[d, n] for n in range(N)) * U[k, d] for k in range(K) for d in range(D)))
    whole = np.vdot(E, U @ X)
    return [(inner, np.vdot(E, Y)), (product, whole), (by_X, whole), (by_U, whole)]


@equation("eq-product-rule", "b4d8ab4fd1")
def product_rule(rng):
    U, X, E = rng.normal(size=(K, D)), rng.normal(size=(D, N)), rng.normal(size=(K, N))
    dU, dX = rng.normal(size=(K, D)), rng.normal(size=(D, N))
    by_X = table(lambda d, n: sum(U[k, d] * E[k, n] for k in range(K)), D, N)
    by_U = table(lambda k, d: sum(E[k, n] * X[d, n] for n in range(N)), K, D)
    change = table(
        lambda: sum(
            E[k, n] * (sum(U[k, d] * dX[d, n] for d in range(D)) + sum(dU[k, d] * X[d, n] for d in range(D)))
            for k in range(K)
            for n in range(N)
        )
    )
    truth = autograd(lambda U, X: (torch.as_tensor(E) * (U @ X)).sum(), U, X)
    return [(by_U, truth[0]), (by_X, truth[1]), (change, np.vdot(by_X, dX) + np.vdot(by_U, dU))]


@equation("eq-back-forward", "a990cf24b6")
def forward(rng):
    Q, keys, V, _ = one_head(rng)
    C = table(lambda s, n: sum(keys[k, s] * Q[k, n] for k in range(K)) / sqrt(K), S, N)
    A = table(lambda s, n: exp(C[s, n]) / sum(exp(C[r, n]) for r in range(S)), S, N)
    Y = table(lambda k, n: sum(A[s, n] * V[k, s] for s in range(S)), Kv, N)
    ours = attend(Q, keys, V)
    return [(Y, ours[0]), (A, ours[1])]


@equation("eq-back-error", "081d11a9f1")
def error(rng):
    """A loss of degree two, whose difference quotient is its derivative."""
    Y, W = rng.normal(size=(2, Kv, N))

    def loss_after_move(k, n, by):
        nudged = Y.copy()
        nudged[k, n] += by
        return (W * nudged**2).sum()

    printed = table(lambda k, n: (loss_after_move(k, n, EPS) - loss_after_move(k, n, -EPS)) / (2 * EPS), Kv, N)
    return printed, autograd(lambda Y: (torch.as_tensor(W) * Y**2).sum(), Y)[0]


@equation("eq-back-weights", "3806d89e1a")
def weights(rng):
    V, A, E = rng.normal(size=(Kv, S)), softmax(rng.normal(size=(S, N)), axis=0), rng.normal(size=(Kv, N))
    dA = table(lambda s, n: sum(V[k, s] * E[k, n] for k in range(Kv)), S, N)
    dV = table(lambda k, s: sum(A[s, n] * E[k, n] for n in range(N)), Kv, S)
    ours = backward.weighted_average_backward(V, A, E)
    return [(dV, ours[0]), (dA, ours[1])]


@equation("eq-back-softmax", "4ef34f0ded")
def through_softmax(rng):
    c, dc, by_a = rng.normal(size=(3, S))
    a = softmax(c, axis=0)
    change = table(lambda s: a[s] * (dc[s] - sum(a[r] * dc[r] for r in range(S))), S)
    by_c = table(lambda s: a[s] * (by_a[s] - sum(a[r] * by_a[r] for r in range(S))), S)
    return [(change, moved_by(lambda c: c.softmax(0), c, dc)), (by_c, softmax_backward(a, by_a, axis=0))]


@equation("eq-back-advantage", "8da5ea343e")
def advantage(rng):
    Q, keys, V, E = one_head(rng)
    Y, A = attend(Q, keys, V)
    G = table(lambda s, n: A[s, n] * sum((V[k, s] - Y[k, n]) * E[k, n] for k in range(Kv)), S, N)
    sums = table(lambda n: sum(G[s, n] for s in range(S)), N)
    return [(G, softmax_backward(A, V.T @ E, axis=0)), (sums, np.zeros(N))]


@equation("eq-back-scores", "c2c037adb5")
def scores(rng):
    Q, keys, V, E = one_head(rng)
    G = softmax_backward(attend(Q, keys, V)[1], V.T @ E, axis=0)
    dQ = table(lambda k, n: 1 / sqrt(K) * sum(G[s, n] * keys[k, s] for s in range(S)), K, N)
    dK = table(lambda k, s: 1 / sqrt(K) * sum(G[s, n] * Q[k, n] for n in range(N)), K, S)
    ours = attend_backward(Q, keys, V, E)
    return [(dQ, ours[0]), (dK, ours[1])]


@equation("eq-back-rows", "c3226d60fd")
def in_rows(rng):
    Q, keys, V, E = one_head(rng)
    q, k, v, e = Q.T, keys.T, V.T, E.T
    A = attend(Q, keys, V)[1].T
    dA = table(lambda n, s: sum(e[n, i] * v[s, i] for i in range(Kv)), N, S)
    G = table(lambda n, s: A[n, s] * (dA[n, s] - sum(A[n, r] * dA[n, r] for r in range(S))), N, S)
    dv = table(lambda s, i: sum(A[n, s] * e[n, i] for n in range(N)), S, Kv)
    dq = table(lambda n, i: sum(G[n, s] * k[s, i] for s in range(S)) / sqrt(K), N, K)
    dk = table(lambda s, i: sum(G[n, s] * q[n, i] for n in range(N)) / sqrt(K), S, K)
    ours = attend_backward(Q, keys, V, E)
    return [(dq.T, ours[0]), (dk.T, ours[1]), (dv.T, ours[2])]


@equation("eq-back-matrices", "5f6e302e7f")
def matrices(rng):
    X, E, U_q, U_k, U_v = one_projected_head(rng)
    dQ, dK, dV = attend_backward(U_q @ X, U_k @ X, U_v @ X, E)
    stack = np.vstack([dQ, dK, dV])
    dU = table(lambda i, d: sum(stack[i, n] * X[d, n] for n in range(N)), len(stack), D)
    dX = table(
        lambda d, n: (
            sum(U_q[k, d] * dQ[k, n] for k in range(K))
            + sum(U_k[k, d] * dK[k, n] for k in range(K))
            + sum(U_v[k, d] * dV[k, n] for k in range(Kv))
        ),
        D,
        N,
    )
    by_X, *by_U = backward.attention_head_backward(X, U_q, U_k, U_v, E)
    return [(dU, np.vstack(by_U)), (dX, by_X)]


@equation("eq-back-residual", "49322d8171")
def residual(rng):
    X, E = rng.normal(size=(2, D, N))
    U_q, U_k, U_v = (rng.normal(size=(rows, D)) for rows in (K, K, D))
    dQ, dK, dV = attend_backward(U_q @ X, U_k @ X, U_v @ X, E)
    printed = table(
        lambda d, n: (
            sum(U_q[k, d] * dQ[k, n] for k in range(K))
            + sum(U_k[k, d] * dK[k, n] for k in range(K))
            + sum(U_v[k, d] * dV[k, n] for k in range(D))
            + E[d, n]
        ),
        D,
        N,
    )
    return printed, backward.residual_head_backward(X, U_q, U_k, U_v, E)[0]


@equation("eq-back-layer-norm", "f2565c89d4")
def through_norm(rng):
    x, dx, E, gamma = rng.normal(size=(4, D))
    sigma = sqrt(x.var() + EPS)
    x_hat = (x - x.mean()) / sigma
    g = table(lambda d: gamma[d] * E[d], D)

    def mean(values):
        return table(lambda: sum(values[d] for d in range(D)) / D)

    along = mean(table(lambda d: x_hat[d] * dx[d], D))
    change = table(lambda d: 1 / sigma * (dx[d] - mean(dx) - x_hat[d] * along), D)
    along_g = mean(table(lambda d: x_hat[d] * g[d], D))
    printed = table(lambda d: 1 / sigma * (g[d] - mean(g) - x_hat[d] * along_g), D)
    library = layer_norm_backward(x[:, None], gamma, E[:, None], EPS)[0][:, 0]
    return [(change, moved_by(lambda x: F.layer_norm(x, (D,), eps=EPS), x, dx)), (printed, library)]


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


@equation("eq-back-loss", "8ffaacf1f6")
def loss(rng):
    logits, came = rng.normal(size=(S, N)), rng.integers(S, size=N)
    p = softmax(logits, axis=0)
    printed = table(lambda v, n: 1 / N * (p[v, n] - (v == came[n])), S, N)
    truth = autograd(lambda logits: F.cross_entropy(logits.T, torch.as_tensor(came)), logits)
    return [(printed, cross_entropy_backward(logits, came)), (printed, truth[0])]


@equation("eq-back-embedding", "a667490d10")
def embedding(rng):
    dX, read = rng.normal(size=(D, S)), np.array([1, 3, 1, 0, 3, 3, 5])
    printed = table(lambda v, d: sum(dX[d, n] for n in range(S) if read[n] == v), 6, D)
    rows = rng.normal(size=(6, D))
    truth = autograd(lambda rows: (torch.as_tensor(dX.T) * rows[torch.as_tensor(read)]).sum(), rows)
    return printed, truth[0]


def quartic(x):
    """A polynomial of degree four with mixed terms, in NumPy and torch."""
    return (x**4).sum() + (x.sum()) ** 3 + (x[0] * x[1] * x[2] * x[3])


def moved_by(function, x, dx):
    """By how much function(x) changes, to first order, when x changes by dx."""
    return torch.autograd.functional.jvp(function, torch.as_tensor(x), torch.as_tensor(dx))[1].numpy()


def one_head(rng):
    return tuple(rng.normal(size=size) for size in ((K, N), (K, S), (Kv, S), (Kv, N)))


def one_projected_head(rng):
    X, E = rng.normal(size=(D, N)), rng.normal(size=(Kv, N))
    return X, E, *(rng.normal(size=(rows, D)) / sqrt(D) for rows in (K, K, Kv))


def many_heads(rng):
    X, E = rng.normal(size=(2, D, N))
    return X, E, [rng.normal(size=size) / 2 for size in ((H, K, D), (H, K, D), (H, Kv, D), (H, D, Kv))]


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


def autograd(loss, *arrays):
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    return [gradient.numpy() for gradient in torch.autograd.grad(loss(*tensors), tensors)]
