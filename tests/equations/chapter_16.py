"""Checks of the display equations of chapter 16, today's decoder."""

from math import exp

import numpy as np
import torch
from clearformer.attention import attend
from clearformer.layers import GatedFeedForward
from clearformer.positions import Rotary

from tests.equations.registry import equation, table

N, D, K, R = 7, 5, 3, 2


def tensors(*arrays):
    return [torch.as_tensor(array) for array in arrays]


@equation("eq-rescaled-angles", "a50eab5e05")
def rescaled_angles(rng):
    """Interpolated: position n of the tables is n / stretch of the library's. The other base is an argument of it."""
    K, stretch = 6, 3
    interpolated = table(lambda n, i: n / stretch * 10000 ** (-2 * i / K), N, K // 2)
    ntk = table(lambda n, i: n * (10000 * stretch ** (K / (K - 2))) ** (-2 * i / K), N, K // 2)
    slow = Rotary(K, N, base=10000 * stretch ** (K / (K - 2)), dtype=torch.float64)
    plain = Rotary(K, N, dtype=torch.float64)
    pairs = [(np.cos(ntk), slow.cos[:, : K // 2]), (np.sin(ntk), slow.sin[:, K // 2 :])]
    every = [(np.cos(interpolated[::stretch]), plain.cos[: -(-N // stretch), : K // 2])]
    every += [(np.sin(interpolated[::stretch]), plain.sin[: -(-N // stretch), K // 2 :])]
    return [*pairs, *every, (interpolated[1] * stretch, interpolated[stretch])]


def draw_latents(rng):
    return (rng.normal(size=size) for size in ((D, N), (R, D), (K, R), (K, R), (K, N)))


@equation("eq-latent", "c16f2099d8")
def latent_keys_and_values(rng):
    """Keys and values of a plain head with the products of the matrices, which are of rank R."""
    x, C, L_k, L_v, q = draw_latents(rng)
    c = table(lambda r, n: sum(C[r, d] * x[d, n] for d in range(D)), R, N)
    k = table(lambda i, n: sum(L_k[i, r] * c[r, n] for r in range(R)), K, N)
    v = table(lambda i, n: sum(L_v[i, r] * c[r, n] for r in range(R)), K, N)
    mine, _ = attend(*tensors(q.T, k.T, v.T), causal=True)
    plain, _ = attend(*tensors(q.T, (L_k @ C @ x).T, (L_v @ C @ x).T), causal=True)
    return [(c, C @ x), (k, L_k @ C @ x), (v, L_v @ C @ x), (mine.numpy(), plain)]


@equation("eq-absorbed", "e57cc15e2d")
def absorbed(rng):
    """One head against the library's attention with keys and values as they are, and with the latents for both."""
    x, C, L_k, L_v, q = draw_latents(rng)
    c = C @ x
    k, v = L_k @ c, L_v @ c
    rows = tensors(q.T, k.T, v.T)
    y, A = attend(*rows, causal=True)
    A = A.numpy().T
    scores = torch.as_tensor(k.T) @ torch.as_tensor(q)
    kq = table(lambda s, n: sum(k[i, s] * q[i, n] for i in range(K)), N, N)
    middle = table(lambda s, n: sum(sum(L_k[i, r] * c[r, s] for r in range(R)) * q[i, n] for i in range(K)), N, N)
    last = table(lambda s, n: sum(c[r, s] * sum(L_k[i, r] * q[i, n] for i in range(K)) for r in range(R)), N, N)
    left = table(lambda i, n: sum(A[s, n] * v[i, s] for s in range(N)), K, N)
    right = table(lambda i, n: sum(L_v[i, r] * sum(A[s, n] * c[r, s] for s in range(N)) for r in range(R)), K, N)
    return [(kq, scores), (middle, scores), (last, scores), (left, y.T), (right, y.T)]


E = 6  # experts


@equation("eq-mixture-of-experts", "a49f937252")
def mixture_of_experts(rng):
    """The choice by a sort of score and bias; the weights as a softmax of the logarithms of the scores."""
    torch.manual_seed(0)
    x, w, b = rng.normal(size=(D, N)), rng.normal(size=(E, D)), rng.normal(size=E)
    layers = [GatedFeedForward(D, 9).double().requires_grad_(False) for _ in range(E + 1)]
    f = np.stack([layer(torch.as_tensor(x.T)).numpy().T for layer in layers])  # the last is the shared one
    r = table(lambda e, n: 1 / (1 + exp(-sum(w[e, d] * x[d, n] for d in range(D)))), E, N)
    pairs = [(r, torch.as_tensor(w @ x).sigmoid())]
    for top_k in (1, 3):
        score = table(lambda e, n: r[e, n] + b[e], E, N)
        T = np.argsort(-score, axis=0)[:top_k]
        y = table(
            lambda d, n, T=T: f[E, d, n] + sum(r[e, n] / sum(r[i, n] for i in T[:, n]) * f[e, d, n] for e in T[:, n]),
            D,
            N,
        )
        open_ = torch.as_tensor(w @ x).sigmoid() + torch.as_tensor(b)[:, None]
        chosen = open_.topk(top_k, dim=0).indices
        weights = torch.full((E, N), -torch.inf, dtype=torch.float64)
        weights = weights.scatter(0, chosen, torch.as_tensor(r).log().gather(0, chosen)).softmax(0).numpy()
        pairs += [(y, f[E] + np.einsum("en,edn->dn", weights, f[:E])), (score, open_)]
    return pairs


@equation("eq-balance-by-bias", "cfdc198670")
def balance_by_bias(rng):
    """Loads below, at and above the fair share of 2 tokens."""
    k, tokens, eta = 2, 6, 0.01
    b, load = rng.normal(size=E), np.array([0, 1, 2, 2, 3, 4])
    new = table(lambda e: b[e] + eta * np.sign(k * tokens / E - load[e]), E)
    return new, b + eta * np.array([1, 1, 0, 0, -1, -1])


@equation("eq-sink", "8b984fb07b")
def sink(rng):
    """A softmax over one more score, whose column is taken off; and by hand a third each."""
    a, b = rng.normal(size=(N, N)), rng.normal()
    A = table(lambda s, n: exp(a[s, n]) / (exp(b) + sum(exp(a[i, n]) for i in range(N))), N, N)
    more = torch.as_tensor(np.vstack([np.full(N, b), a])).softmax(dim=0)[1:].numpy()
    return [(A, more), (np.array(exp(0) / (exp(0) + 2 * exp(0))), 1 / 3)]


@equation("eq-indexer", "5558a747c3")
def indexer(rng):
    """Heads one after the other, each a product of matrices with what is below zero cut off."""
    H_I, K_I = 3, 4
    k, q, w = rng.normal(size=(K_I, N)), rng.normal(size=(H_I, K_I, N)), rng.normal(size=(H_I, N))
    score = table(
        lambda s, n: sum(w[h, n] * max(0, sum(k[i, s] * q[h, i, n] for i in range(K_I))) for h in range(H_I)), N, N
    )
    other = sum(np.maximum(k.T @ q[h], 0) * w[h] for h in range(H_I))
    return score, other


@equation("eq-hyper-connection", "3d5f80b162")
def hyper_connection(rng):
    """Stream by stream; and one stream with all factors 1 is the residual connection."""
    S = 3  # streams
    X, mix, r, w = rng.normal(size=(D, S)), rng.normal(size=(S, S)), rng.normal(size=S), rng.normal(size=S)
    f = np.tanh
    mixture = np.array([sum(X[d, s] * r[s] for s in range(S)) for d in range(D)])
    new = table(lambda d, t: sum(X[d, s] * mix[s, t] for s in range(S)) + f(mixture)[d] * w[t], D, S)
    plain = X[:, :1] @ np.eye(1) + np.outer(f(X[:, :1] @ np.ones(1)), np.ones(1))
    return [(new, X @ mix + np.outer(f(X @ r), w)), (plain, X[:, :1] + f(X[:, :1]))]
