"""Checks of the display equations of chapter 7, residuals and normalisation."""

from dataclasses import replace
from itertools import product
from math import sqrt

import numpy as np
import torch
import torch.nn.functional as F
from clearbook.columns import to_torch
from clearformer import layers
from clearformer.reference import blocks
from clearformer.reference.layers import layer_norm, mlp, mlp_backward, rms_norm
from clearformer.reference.multihead import multi_head_concatenated

from tests.equations.registry import equation, table

D, N, H, K, Kv, HIDDEN = 5, 7, 2, 4, 6, 8
EPS = 0.1  # large enough to be seen


@equation("eq-residual", "634a9cab85")
def residual(rng):
    """The step around attention: a block whose feed-forward network gives zeros."""
    X, p = rng.normal(size=(D, N)), parameters(rng)
    res = heads(layer_norm(X, *p.norm_1), p)
    printed = table(lambda d, n: X[d, n] + res[d, n], D, N)
    silent = tuple(0.0 * array for array in p.mlp)
    return printed, blocks.block_pre_norm(X, replace(p, mlp=silent))


@equation("eq-residual-jacobian", "73c523c268")
def residual_jacobian(rng):
    x, p = rng.normal(size=D), parameters(rng)
    J = mlp_jacobian(x, p)
    printed = table(lambda i, j: (i == j) + J[i, j], D, D)
    return printed, autograd(lambda x: x + torch_mlp(x, p), x)


@equation("eq-residual-paths", "d151401b93")
def residual_paths(rng):
    x, p, q = rng.normal(size=D), parameters(rng), parameters(rng)
    J_1, J_2 = mlp_jacobian(x, p), mlp_jacobian(x + mlp(x[:, None], *p.mlp)[:, 0], q)
    left = table(lambda i, k: sum(((i == j) + J_2[i, j]) * ((j == k) + J_1[j, k]) for j in range(D)), D, D)
    right = table(lambda i, k: (i == k) + J_1[i, k] + J_2[i, k] + sum(J_2[i, j] * J_1[j, k] for j in range(D)), D, D)

    def two_layers(x):
        middle = x + torch_mlp(x, p)
        return middle + torch_mlp(middle, q)

    whole = autograd(two_layers, x)
    return [(left, whole), (right, whole)]


@equation("eq-token-statistics", "101a0e46bd")
def token_statistics(rng):
    X = rng.normal(size=(D, N)) + 1
    mean = table(lambda n: sum(X[d, n] for d in range(D)) / D, N)
    var = table(lambda n: sum((X[d, n] - mean[n]) ** 2 for d in range(D)) / D, N)
    return [(mean, X.mean(axis=0)), (var, X.var(axis=0)), (literal_norm(X, mean, var), norm_without_scale(X))]


@equation("eq-layer-norm", "34e8dd0c6c")
def layer_norm_printed(rng):
    X, gamma, beta = rng.normal(size=(D, N)) + 1, rng.normal(size=D), rng.normal(size=D)
    mean, var = X.mean(axis=0), X.var(axis=0)
    printed = table(lambda d, n: (X[d, n] - mean[n]) / sqrt(var[n] + EPS) * gamma[d] + beta[d], D, N)
    module = layers.LayerNorm(D, eps=EPS).double()
    module.load_state_dict({"weight": torch.as_tensor(gamma), "bias": torch.as_tensor(beta)})
    return [(printed, layer_norm(X, gamma, beta, EPS)), (printed, module(to_torch(X))[0].detach().numpy().T)]


@equation("eq-rms-norm", "2e654da6e4")
def rms_norm_printed(rng):
    X, gamma = rng.normal(size=(D, N)) + 1, rng.normal(size=D)
    printed = table(lambda d, n: X[d, n] / sqrt(sum(X[e, n] ** 2 for e in range(D)) / D + EPS) * gamma[d], D, N)
    module = layers.RMSNorm(D, eps=EPS).double()
    module.load_state_dict({"weight": torch.as_tensor(gamma)})
    return [(printed, rms_norm(X, gamma, EPS)), (printed, module(to_torch(X))[0].detach().numpy().T)]


@equation("eq-block-post", "58177f7a37")
def block_post(rng):
    X, p = rng.normal(size=(D, N)) + 1, parameters(rng)
    Z = heads(X, p)
    Y = norm(table(lambda d, n: X[d, n] + Z[d, n], D, N), p.norm_1)
    W = mlp(Y, *p.mlp)
    printed = norm(table(lambda d, n: Y[d, n] + W[d, n], D, N), p.norm_2)
    return printed, blocks.block_post_norm(X, p)


@equation("eq-block-pre", "1a27e9deaf")
def block_pre(rng):
    X, p = rng.normal(size=(D, N)) + 1, parameters(rng)
    Z = heads(norm(X, p.norm_1), p)
    Y = table(lambda d, n: X[d, n] + Z[d, n], D, N)
    W = mlp(norm(Y, p.norm_2), *p.mlp)
    return table(lambda d, n: Y[d, n] + W[d, n], D, N), blocks.block_pre_norm(X, p)


@equation("eq-stream-variance", "8d34d57072")
def stream_variance(rng):
    """Parts that are uncorrelated with the token and with each other, exactly."""
    n_blocks, width = 3, 11
    centred = np.eye(width) - 1 / width
    vectors = np.linalg.qr(centred @ rng.normal(size=(width, 2 * n_blocks + 1)))[0] * rng.uniform(0.5, 3, size=7)
    token, parts = vectors[:, 0] + 3, vectors[:, 1:].T + rng.normal(size=(6, 1))
    v = parts.var(axis=1)
    printed = table(lambda _: token.var() + sum(v[m] for m in range(2 * n_blocks)), 1)
    return printed, [(token + parts.sum(axis=0)).var()]


@equation("eq-dropout", "7edb8915bc")
def dropout(rng):
    p, x = 0.3, rng.normal(size=D)
    torch.manual_seed(0)
    y = F.dropout(torch.as_tensor(x), p).numpy()
    m = (y != 0).astype(float)
    masks = np.array(list(product((0.0, 1.0), repeat=D)))
    chances = np.prod(np.where(masks == 1, 1 - p, p), axis=1)
    every = masks * x / (1 - p)
    expected = table(lambda d: p * 0 + (1 - p) * x[d] / (1 - p), D)
    return [(table(lambda d: m[d] / (1 - p) * x[d], D), y), (expected, chances @ every), (expected, x)]


def parameters(rng):
    """Random arrays of one block, none of them zero or one."""
    projections = [rng.normal(size=size) / 2 for size in ((H, K, D), (H, K, D), (H, Kv, D), (H, D, Kv))]
    network = [rng.normal(size=size) for size in ((HIDDEN, D), HIDDEN, (D, HIDDEN), D)]
    norms = [tuple(rng.normal(size=(2, D))) for _ in range(2)]
    return blocks.BlockParameters(tuple(projections), tuple(network), *norms)


def heads(X, p):
    return multi_head_concatenated(X, *p.heads)[0]


def literal_norm(X, mean, var):
    return table(lambda d, n: (X[d, n] - mean[n]) / sqrt(var[n] + EPS), D, N)


def norm(X, scale_and_shift):
    """The equation of LayerNorm, with the library's epsilon."""
    gamma, beta = scale_and_shift
    mean, var = X.mean(axis=0), X.var(axis=0)
    return np.array(
        [[(X[d, n] - mean[n]) / sqrt(var[n] + 1e-5) * gamma[d] + beta[d] for n in range(N)] for d in range(D)]
    )


def norm_without_scale(X):
    return layer_norm(X, np.ones(D), np.zeros(D), EPS)


def mlp_jacobian(x, p):
    """Row i is the gradient of output i, by the library's backward pass."""
    return np.stack([mlp_backward(x[:, None], *p.mlp[:3], row[:, None])[0][:, 0] for row in np.eye(D)])


def torch_mlp(x, p):
    W_1, b_1, W_2, b_2 = (torch.as_tensor(array) for array in p.mlp)
    return W_2 @ F.gelu(W_1 @ x + b_1) + b_2


def autograd(function, x):
    return torch.autograd.functional.jacobian(function, torch.as_tensor(x)).numpy()
