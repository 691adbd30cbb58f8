"""Checks of the display equations of chapter 5, the feed-forward layer."""

from math import erf, exp, pi, sqrt, tanh

import numpy as np
import torch
from clearformer.attention import attend
from clearformer.layers import FeedForward, GatedFeedForward
from clearformer.multihead import MultiHeadAttention
from clearformer.reference.attention import weighted_average
from clearformer.reference.functions import gelu, gelu_tanh, relu
from clearformer.reference.layers import mlp
from torch.utils.flop_counter import FlopCounterMode

from tests.equations.registry import equation, table

D, F, N = 4, 6, 5


def network(rng):
    return rng.normal(size=(F, D)), rng.normal(size=F), rng.normal(size=(D, F)), rng.normal(size=D)


@equation("eq-corners", "bfa729ffe7")
def corners(rng):
    """For three layers of attention with biases and residuals whose weights are given: two switches and a lamp."""
    A = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 0]])  # a target in each column
    V, shift, read = rng.normal(size=(3, D, D)), rng.normal(size=(3, D, 1)), rng.normal(size=(1, D))
    embed = rng.normal(size=(D, 2)), rng.normal(size=(D, 1))

    def f(downstairs, upstairs):
        X = embed[0] @ np.array([[downstairs, upstairs, 0], [0, 0, 1]]) + embed[1]
        for m in range(3):
            X = X + weighted_average(V[m] @ X + shift[m], A)
        return (read @ X)[0, 2]

    return table(lambda _: f(0, 0) + f(1, 1), 1), [f(0, 1) + f(1, 0)]


@equation("eq-mlp-token", "7a457cba86")
def mlp_token(rng):
    (W_1, b_1, W_2, b_2), Y = network(rng), rng.normal(size=(D, N))
    hidden = table(lambda f, n: max(sum(W_1[f, d] * Y[d, n] for d in range(D)) + b_1[f], 0), F, N)
    printed = table(lambda d, n: sum(W_2[d, f] * hidden[f, n] for f in range(F)) + b_2[d], D, N)
    return [(printed, mlp(Y, W_1, b_1, W_2, b_2, relu)), (printed.T, torch_mlp(Y, W_1, b_1, W_2, b_2))]


@equation("eq-mlp-commutes", "2f05b0829f")
def mlp_commutes(rng):
    """A choice of columns that drops one, repeats one and reorders the rest."""
    weights, Y = network(rng), rng.normal(size=(D, N))
    P = np.eye(N)[:, [4, 1, 0, 1, 2, 0]]
    chosen = table(lambda d, m: sum(Y[d, n] * P[n, m] for n in range(N)), D, 6)
    fed = mlp(Y, *weights)
    printed = table(lambda d, m: sum(fed[d, n] * P[n, m] for n in range(N)), D, 6)
    return printed, mlp(chosen, *weights)


@equation("eq-gelu", "dbe0d62243")
def gelu_printed(rng):
    z = rng.normal(size=9)
    Phi = table(lambda i: (1 + erf(z[i] / sqrt(2))) / 2, 9)
    printed = table(lambda i: z[i] * Phi[i], 9)
    return [(printed, gelu(z)), (printed, torch.nn.functional.gelu(torch.from_numpy(z)).numpy())]


@equation("eq-gelu-tanh", "07f7f08c09")
def gelu_tanh_printed(rng):
    z = rng.normal(size=9)
    printed = table(lambda i: z[i] / 2 * (1 + tanh(sqrt(2 / pi) * (z[i] + 0.044715 * z[i] ** 3))), 9)
    in_torch = torch.nn.functional.gelu(torch.from_numpy(z), approximate="tanh").numpy()
    return [(printed, gelu_tanh(z)), (printed, in_torch)]


@equation("eq-hidden-units", "6b791f3f0c")
def hidden_units(rng):
    (W_1, b_1, W_2, b_2), Y = network(rng), rng.normal(size=(D, N))
    w, u = W_1, W_2.T  # a question and an answer in every row
    printed = table(
        lambda d, n: (
            b_2[d] + sum(max(sum(w[f, e] * Y[e, n] for e in range(D)) + b_1[f], 0) * u[f, d] for f in range(F))
        ),
        D,
        N,
    )
    return printed, mlp(Y, W_1, b_1, W_2, b_2, relu)


@equation("eq-mlp-parameters", "0a04a79e32")
def mlp_parameters(rng):
    sizes = [(4, 7), (5, 11)]
    printed = table(lambda i: 2 * sizes[i][0] * sizes[i][1] + sizes[i][1] + sizes[i][0], 2)
    return printed, [sum(p.numel() for p in FeedForward(*size).parameters()) for size in sizes]


@equation("eq-mlp-share", "cf804d82f2")
def mlp_share(rng):
    """Against the operations that torch counts while the layers run, with any F and with F = 4 D."""
    d, f, n = 6, 10, 15
    general = table(lambda _: 4 * d * f * n / (4 * d * f * n + 8 * d**2 * n + 4 * d * n**2), 1)
    usual = table(lambda _: 4 / (6 + n / d), 1)
    in_attention = flops(MultiHeadAttention(d, 2, attend=attend), n, d)
    shares = [flops(FeedForward(d, hidden), n, d) for hidden in (f, 4 * d)]
    general_counted, usual_counted = ([share / (share + in_attention)] for share in shares)
    return [(general, general_counted), (usual, usual_counted)]


@equation("eq-swiglu", "e38f7e333f")
def swiglu(rng):
    gated = GatedFeedForward(D, F).double()
    W_g, W_1 = gated.gate_up.weight.detach().numpy().reshape(2, F, D)
    W_2, Y = gated.down.weight.detach().numpy(), rng.normal(size=(D, N))
    gate = table(lambda f, n: sum(W_g[f, d] * Y[d, n] for d in range(D)), F, N)
    silu = table(lambda f, n: gate[f, n] / (1 + exp(-gate[f, n])), F, N)
    up = table(lambda f, n: sum(W_1[f, d] * Y[d, n] for d in range(D)), F, N)
    printed = table(lambda d, n: sum(W_2[d, f] * silu[f, n] * up[f, n] for f in range(F)), D, N)
    return printed.T, gated(torch.from_numpy(Y.T)).detach().numpy()


def torch_mlp(Y, W_1, b_1, W_2, b_2):
    layer = FeedForward(D, F, activation=torch.nn.functional.relu).double()
    for linear, W, b in ((layer.up, W_1, b_1), (layer.down, W_2, b_2)):
        linear.weight.data, linear.bias.data = torch.from_numpy(W), torch.from_numpy(b)
    return layer(torch.from_numpy(Y.T)).detach().numpy()


def flops(layer, length, width):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        layer(torch.zeros(1, length, width))
    return counter.get_total_flops()
