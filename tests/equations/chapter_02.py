"""Chapter 2, attention: every display equation, evaluated as printed."""

import math

import numpy as np
import torch
from clearformer.reference.attention import (
    attend,
    attention_weights,
    convolution_matrix,
    weighted_average,
)
from clearformer.reference.functions import softmax
from torch import nn

from tests.equations.registry import equation, table

D, S, N, K, F = 3, 7, 5, 4, 6


def averages(rng, n_sources=S, n_targets=N):
    """A matrix of positive weights whose columns sum to 1."""
    return softmax(rng.normal(size=(n_sources, n_targets)), axis=0)


def recurrent_network(rng):
    """torch's own RNN in float64 with W_x (F × D), W_h (F × F), b, tokens D × N, and its states F × N."""
    rnn = nn.RNN(D, F, batch_first=True).double()
    W_x, W_h = rng.normal(size=(F, D)), rng.normal(size=(F, F)) / 2
    b_ih, b_hh = rng.normal(size=F), rng.normal(size=F)
    with torch.no_grad():
        for name, value in (("weight_ih", W_x), ("weight_hh", W_h), ("bias_ih", b_ih), ("bias_hh", b_hh)):
            getattr(rnn, f"{name}_l0").copy_(torch.as_tensor(value))
    x = torch.as_tensor(rng.normal(size=(1, N, D)))
    return rnn, W_x, W_h, b_ih + b_hh, x


@equation("eq-recurrence", "eeb362fab9")
def recurrence(rng):
    rnn, W_x, W_h, b, x = recurrent_network(rng)
    X, h = x[0].numpy().T, rnn(x)[0][0].detach().numpy().T
    before = np.hstack([np.zeros((F, 1)), h[:, :-1]])  # h_{n-1}, with h_0 = 0
    return (
        table(
            lambda i, n: math.tanh(
                sum(W_x[i, d] * X[d, n] for d in range(D)) + sum(W_h[i, j] * before[j, n] for j in range(F)) + b[i]
            ),
            F,
            N,
        ),
        h,
    )


@equation("eq-lookup-weights", "eb2223133f")
def lookup_weights(rng):
    k, q, tau = rng.normal(size=(K, S)), rng.normal(size=K), 0.7
    printed = table(
        lambda s: (
            math.exp(sum(k[i, s] * q[i] for i in range(K)) / tau)
            / sum(math.exp(sum(k[i, r] * q[i] for i in range(K)) / tau) for r in range(S))
        ),
        S,
    )
    through_attend = attend(q[:, None] * math.sqrt(K) / tau, k, rng.normal(size=(D, S)))[1][:, 0]
    return [(printed, attention_weights((k.T @ q / tau)[:, None])[:, 0]), (printed, through_attend)]


@equation("eq-lookup-answer", "bbf77add2b")
def lookup_answer(rng):
    k, q, v = rng.normal(size=(K, S)), rng.normal(size=K), rng.normal(size=(D, S))
    answer, weights = attend(q[:, None], k, v)
    a = weights[:, 0]
    return table(lambda d: sum(a[s] * v[d, s] for s in range(S)), D), answer[:, 0]


@equation("eq-lookup-hit", "1187bbb1cf")
def lookup_hit(rng):
    taus, sizes = (0.3, 0.8, 2.0), (2, 5, 40, 300)
    library = [[softmax(np.eye(size)[0] / tau, axis=0)[0] for size in sizes] for tau in taus]
    printed = table(lambda t, m: math.exp(1 / taus[t]) / (math.exp(1 / taus[t]) + sizes[m] - 1), len(taus), len(sizes))
    return printed, library


@equation("eq-weighted-average", "dfb7dea64c")
def average(rng):
    X, A = rng.normal(size=(D, S)), averages(rng)
    return table(lambda d, n: sum(X[d, s] * A[s, n] for s in range(S)), D, N), weighted_average(X, A)


@equation("eq-column-sums", "9d8e0ccc3e")
def column_sums(rng):
    _, A = attend(rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=(D, S)))
    return table(lambda n: sum(A[s, n] for s in range(S)), N), np.ones(N)


@equation("eq-average-matrix", "fc5cf3b74f")
def average_as_a_product(rng):
    X, A = rng.normal(size=(D, S)), averages(rng)
    return table(lambda d, n: (X @ A)[d, n], D, N), weighted_average(X, A)


@equation("eq-average-rows", "78b48e91b2")
def average_in_rows(rng):
    X, A = rng.normal(size=(D, S)), averages(rng)
    return table(lambda n, d: sum(A.T[n, s] * X.T[s, d] for s in range(S)), N, D), weighted_average(X, A).T


@equation("eq-hull", "d0f78a27d0")
def hull(rng):
    X, A = rng.normal(size=(D, S)), averages(rng)
    X[0, -1] -= 9.0  # the smallest value stands last in one row and first in another, so that
    X[1, 0] -= 9.0  # neither a minimum nor a sum that is cut short goes unseen
    right = table(lambda d, n: sum((X[d, s] - min(X[d, r] for r in range(S))) * A[s, n] for s in range(S)), D, N)
    Y = weighted_average(X, A)
    left = table(lambda d, n: Y[d, n] - min(X[d, r] for r in range(S)), D, N)
    return [(right, Y - X.min(axis=1, keepdims=True)), (left, Y - X.min(axis=1, keepdims=True)), (left, right)]


@equation("eq-two-averages", "71675cc5dc")
def two_averages(rng):
    X, A_1, A_2 = rng.normal(size=(D, S)), averages(rng), averages(rng)
    Z = rng.normal(size=(D, N))
    itself, before = convolution_matrix(np.array([1.0]), N), convolution_matrix(np.array([0.0, 1.0]), N)

    def printed_table(X, A_1, A_2):
        return table(
            lambda d, n: (
                sum(X[d, s] * A_1[s, n] for s in range(len(A_1))) - sum(X[d, s] * A_2[s, n] for s in range(len(A_2)))
            ),
            D,
            N,
        )

    edge = convolution_matrix(np.array([1.0, -1.0]), N)
    return [
        (printed_table(X, A_1, A_2), weighted_average(X, A_1) - weighted_average(X, A_2)),
        (printed_table(Z, itself, before), weighted_average(Z, edge)),
    ]
