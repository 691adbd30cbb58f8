"""Checks of the display equations of chapter 16, what comes after."""

from math import exp, sqrt

import numpy as np
import torch
from clearbook.state_space import state_space, state_space_kernel
from clearformer.attention import attend, attend_linear, attend_recurrent
from clearformer.layers import MixtureOfExperts, load_balance
from clearformer.reference.multihead import multi_head

from tests.equations.registry import equation, table

N, D, K, KV, R, W = 7, 5, 3, 4, 2, 4


def tensors(*arrays):
    return [torch.as_tensor(array) for array in arrays]


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


def phi(x):
    """The feature of one number."""
    return x + 1 if x > 0 else exp(x)


def features(rng):
    q, k, v = (rng.normal(size=size) for size in ((K, N), (K, N), (KV, N)))
    return q, k, v, *(np.vectorize(phi)(t) for t in (q, k))


@equation("eq-linear-attention", "97f0460434")
def linear_attention(rng):
    q, k, v, _, _ = features(rng)
    fq = table(lambda i, n: q[i, n] + 1 if q[i, n] > 0 else exp(q[i, n]), K, N)
    fk = table(lambda i, n: k[i, n] + 1 if k[i, n] > 0 else exp(k[i, n]), K, N)
    printed = table(
        lambda e, n: (
            sum(v[e, s] * fk[i, s] * fq[i, n] for s in range(n + 1) for i in range(K))
            / sum(fk[i, s] * fq[i, n] for s in range(n + 1) for i in range(K))
        ),
        KV,
        N,
    )
    rows = tensors(q.T, k.T, v.T)
    return [(printed, attend_linear(*rows, causal=True)[0].T), (printed, attend_recurrent(*rows, causal=True)[0].T)]


@equation("eq-linear-recurrence", "ac71d77766")
def linear_recurrence(rng):
    """Every state on the way is compared with that of the library."""
    q, k, v, fq, fk = features(rng)
    S, z, pairs = np.zeros((KV, K)), np.zeros(K), []
    for n in range(N):
        rows = tensors(q[:, : n + 1].T, k[:, : n + 1].T, v[:, : n + 1].T)
        outputs, state = attend_recurrent(*rows, causal=True)
        S = table(lambda e, i, S=S, n=n: S[e, i] + v[e, n] * fk[i, n], KV, K)
        z = table(lambda i, z=z, n=n: z[i] + fk[i, n], K)
        y = table(
            lambda e, S=S, z=z, n=n: sum(S[e, i] * fq[i, n] for i in range(K)) / sum(z[i] * fq[i, n] for i in range(K)),
            KV,
        )
        pairs += [(S, state[:-1]), (z, state[-1]), (y, outputs[-1])]
    return [*pairs, (y, attend_linear(*tensors(q.T, k.T, v.T), causal=True)[0][-1])]


@equation("eq-crosstalk", "32135d585d")
def crosstalk(rng):
    """Without features and denominator, which is a state space that does not fade."""
    k, v = rng.normal(size=(K, N)), rng.normal(size=(KV, N))
    printed = table(
        lambda e, j: (
            sum(k[i, j] * k[i, j] for i in range(K)) * v[e, j]
            + sum(sum(k[i, p] * k[i, j] for i in range(K)) * v[e, p] for p in range(N) if p != j)
        ),
        KV,
        N,
    )
    write = torch.as_tensor(k.T)[:, None].expand(N, KV, K)
    answers = [
        state_space(torch.as_tensor(v.T), torch.ones_like(write), write, torch.as_tensor(k[:, j]).expand(N, KV, K))[-1]
        for j in range(N)
    ]
    return printed, torch.stack(answers, dim=1)


def spaces(rng):
    return rng.normal(size=(D, N)), rng.random((D, R)), rng.normal(size=(D, R)), rng.normal(size=(D, R))


@equation("eq-state-space", "e501b06f48")
def state_space_recurrence(rng):
    x, a, b, c = spaces(rng)
    h, outputs = np.zeros((D, R)), []
    for n in range(N):
        h = table(lambda d, r, h=h, n=n: a[d, r] * h[d, r] + b[d, r] * x[d, n], D, R)
        outputs.append(table(lambda d, h=h: sum(c[d, r] * h[d, r] for r in range(R)), D))
    library = state_space(*tensors(x.T, a[None], b[None], c[None])).T
    return [(y, library[:, n]) for n, y in enumerate(outputs)]


@equation("eq-state-space-kernel", "2050a4feb5")
def kernel_of_state_space(rng):
    x, a, b, c = spaces(rng)
    w = table(lambda d, j: sum(c[d, r] * a[d, r] ** j * b[d, r] for r in range(R)), D, N)
    y = table(lambda d, n: sum(w[d, j] * x[d, n - j] for j in range(n + 1)), D, N)
    library = state_space_kernel(*tensors(a, b, c), N)
    return [(w, library), (y, state_space(*tensors(x.T, a[None], b[None], c[None])).T)]


@equation("eq-selective", "90748562aa")
def selective(rng):
    """Also for gates between 0 and 1."""
    u, g = rng.normal(size=N), rng.random(N)
    a, b = table(lambda n: 1 - g[n], N), table(lambda n: g[n], N)
    h = [np.zeros(1)]
    for n in range(N):
        h.append(table(lambda i, last=h[-1], n=n: a[n] * last[i] + b[n] * u[n], 1))
    parameters = tensors(*(t[:, None, None].copy() for t in (1 - g, g, np.ones(N))))
    library = state_space(torch.as_tensor(u)[:, None], *parameters)
    return [(step, library[n]) for n, step in enumerate(h[1:])]


E = 6  # experts


@equation("eq-mixture-of-experts", "16a73a5bbe")
def mixture_of_experts(rng):
    torch.manual_seed(0)
    pairs = []
    for top_k in (1, 3):
        layer = MixtureOfExperts(D, 9, n_experts=E, top_k=top_k).double().requires_grad_(False)
        x, W_r = rng.normal(size=(D, N)), layer.router.weight.numpy() * 3
        layer.router.weight *= 3
        said = np.stack([expert(torch.as_tensor(x.T)).numpy().T for expert in layer.experts])  # E × D × N
        score = W_r @ x
        p = table(lambda e, n, c=score: exp(c[e, n]) / sum(exp(c[i, n]) for i in range(E)), E, N)
        top = np.argsort(-p, axis=0)[:top_k]
        y = table(lambda d, n, p=p, f=said, top=top: sum(p[e, n] * f[e, d, n] for e in top[:, n]), D, N)
        pairs += [(y, layer(torch.as_tensor(x.T)).T), (p, layer.probabilities.T)]
    return pairs


@equation("eq-load-balance", "6f7e8b8055")
def balance(rng):
    k = 2
    p = rng.dirichlet(np.full(E, 0.5), size=N).T  # E × N
    top = np.argsort(-p, axis=0)[:k]
    f = table(lambda e: 1 / (k * N) * sum(e in top[:, n] for n in range(N)), E)
    P = table(lambda e: 1 / N * sum(p[e, n] for n in range(N)), E)
    printed = table(lambda i: E * sum(f[e] * P[e] for e in range(E)), 1)
    library = load_balance(*tensors(p.T.copy(), top.T.copy()))
    shares = np.bincount(top.ravel(), minlength=E) / top.size
    return [(printed, [library]), (f, shares), (P, p.mean(axis=1))]
