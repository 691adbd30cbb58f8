"""Checks of the display equations of the closer look at convolutions and graphs."""

from math import exp, sqrt

import numpy as np
import torch
from clearformer.attention import attend
from clearformer.reference.attention import convolution_matrix, weighted_average
from clearformer.reference.multihead import multi_head

from tests.equations.registry import equation, table

N, D, K, KV, W = 7, 5, 3, 4, 4


def tensors(*arrays):
    return [torch.as_tensor(array) for array in arrays]


@equation("eq-circular-convolution", "617aa41488")
def circular_convolution(rng):
    n_tokens = 6
    w, X = rng.normal(size=W), rng.normal(size=(D, n_tokens))
    printed = table(lambda d, n: sum(w[j] * X[d, (n - j) % n_tokens] for j in range(W)), D, n_tokens)
    spectrum = np.fft.fft(X, axis=1) * np.fft.fft(w, n=n_tokens)
    return [
        (printed, weighted_average(X, convolution_matrix(w, n_tokens))),
        (printed, np.fft.ifft(spectrum, axis=1).real),
    ]


@equation("eq-toeplitz", "dd7f4cd5eb")
def toeplitz(rng):
    n_tokens = 6
    kernel = rng.normal(size=W)
    w = np.append(kernel, [0.0, 0.0])  # w_j = 0 from the kernel's width on
    return table(lambda s, n: w[(n - s) % n_tokens], n_tokens, n_tokens), convolution_matrix(kernel, n_tokens)


@equation("eq-convolution-heads", "d9b6e77d07")
def convolution_heads(rng):
    """Against torch's convolution, and against the reference's heads, which look at one distance each by their mask."""
    x, V = rng.normal(size=(D, N)), rng.normal(size=(W, KV, D))
    left = table(
        lambda e, n: sum(V[j, e, d] * (x[d, n - j] if n - j >= 0 else 0) for j in range(W) for d in range(D)), KV, N
    )
    A = table(lambda j, s, n: 1 if s == n - j else 0, W, N, N)
    right = table(
        lambda e, n: sum(V[j, e, d] * x[d, s] * A[j, s, n] for j in range(W) for s in range(N) for d in range(D)), KV, N
    )
    signal, kernel = tensors(np.pad(x, ((0, 0), (W - 1, 0))), V[::-1].transpose(1, 2, 0).copy())
    library = torch.nn.functional.conv1d(signal[None], kernel)[0]
    back = np.arange(N) - np.arange(N)[:, None]
    q, square = rng.normal(size=(1, K, D)), rng.normal(size=(W, D, D))
    heads = sum(multi_head(x, q, q, square[j : j + 1], back == j)[0] for j in range(W))
    by_heads = table(
        lambda e, n: sum(square[j, e, d] * x[d, s] * A[j, s, n] for j in range(W) for s in range(N) for d in range(D)),
        D,
        N,
    )
    return [(left, library), (right, library), (by_heads, heads)]


def graph(rng):
    """Random edges G[s, n]; every node has at least two neighbours."""
    G = rng.random((N, N)) < 0.4
    G[0] = G[3] = True
    return G


@equation("eq-message-passing", "b5bc4f5a66")
def message_passing(rng):
    x, U_q, U_k, U_v = (rng.normal(size=size) for size in ((D, N), (K, D), (K, D), (KV, D)))
    G, q, k = graph(rng), U_q @ x, U_k @ x
    hears = [[s for s in range(N) if G[s, n]] for n in range(N)]
    score = table(lambda s, n: exp(sum(q[i, n] * k[i, s] for i in range(K)) / sqrt(K)), N, N)
    alpha = table(lambda s, n: score[s, n] / sum(score[t, n] for t in hears[n]), N, N)
    y = table(lambda e, n: sum(alpha[s, n] * U_v[e, d] * x[d, s] for s in hears[n] for d in range(D)), KV, N)
    attended, weights = attend(*tensors(q.T, k.T, (U_v @ x).T, G.T.copy()))
    return [(y, attended.T), (alpha * G, weights.T)]


@equation("eq-graph-equivariance", "ed3339abfd")
def graph_equivariance(rng):
    x, G = rng.normal(size=(D, N)), graph(rng)
    order = rng.permutation(N)
    P = np.eye(N)[:, order]  # column n of X P is column order[n] of X
    XP = table(lambda d, n: sum(x[d, s] * P[s, n] for s in range(N)), D, N)
    PGP = table(lambda s, n: sum(P[t, s] * G[t, u] * P[u, n] for t in range(N) for u in range(N)), N, N)

    def f(X, G):
        tokens = torch.as_tensor(X.T)
        return attend(tokens, tokens.roll(1, dims=1), tokens, torch.as_tensor(G.T > 0.5))[0].numpy().T

    before = f(x, G)
    fP = table(lambda d, n: sum(before[d, s] * P[s, n] for s in range(N)), D, N)
    return [(fP, f(XP, PGP)), (PGP, G[order][:, order]), (XP, x[:, order])]
