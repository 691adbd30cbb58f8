"""Checks of the display equations of chapter 16, what comes after."""

from itertools import product
from math import exp

import numpy as np
import torch
from clearbook.state_space import state_space
from clearformer.attention import attend, attend_linear, attend_recurrent
from clearformer.layers import GatedFeedForward
from clearformer.positions import Rotary

from tests.equations.registry import equation, table

N, D, K, KV, R = 7, 5, 3, 4, 2


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


def laws(rng):
    """The model's law and the draft's."""
    return rng.dirichlet(np.full(N, 0.7)), rng.dirichlet(np.full(N, 0.7))


@equation("eq-residual-law", "5a0c76c514")
def residual_law(rng):
    """The only law with which refused guesses can be replaced so that p comes out: what p has left, scaled to 1."""
    p, draft = laws(rng)
    printed = table(lambda w: max(0, p[w] - draft[w]) / sum(max(0, p[v] - draft[v]) for v in range(N)), N)
    kept = np.minimum(p, draft)
    return printed, (p - kept) / (1 - kept.sum())


@equation("eq-speculative-law", "92d35be0a9")
def speculative_law(rng):
    """Against p, and a also against the share of kept guesses summed over all pairs of a guess and a threshold."""
    p, draft = laws(rng)
    a = table(lambda _: sum(min(p[w], draft[w]) for w in range(N)), 1)
    left = np.clip(p - draft, 0, None)
    rest = left / left.sum()
    printed = table(lambda w: draft[w] * min(1, p[w] / draft[w]) + (1 - a[0]) * rest[w], N)
    return [(printed, p), (a, [draft @ np.clip(p / draft, 0, 1)]), (1 - a, [np.abs(p - draft).sum() / 2])]


@equation("eq-tokens-a-pass", "5d7f71539b")
def tokens_a_pass(rng):
    """Against the mean over all patterns of kept and refused guesses: one more than were kept before a refusal."""
    a, g = rng.uniform(0.2, 0.8), 4
    powers = table(lambda _: sum(a**j for j in range(g + 1)), 1)
    closed = table(lambda _: (1 - a ** (g + 1)) / (1 - a), 1)
    mean = 0.0
    for pattern in product((True, False), repeat=g):
        chance = np.prod([a if kept else 1 - a for kept in pattern])
        mean += chance * (1 + (pattern.index(False) if False in pattern else g))
    return [(powers, [mean]), (closed, [mean])]


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


def phi(x):
    """The feature of one number."""
    return x + 1 if x > 0 else exp(x)


def features(rng):
    q, k, v = (rng.normal(size=size) for size in ((K, N), (K, N), (KV, N)))
    return q, k, v, *(np.vectorize(phi)(t) for t in (q, k))


@equation("eq-linear-attention", "56bf0f3a33")
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


@equation("eq-linear-recurrence", "11167989ec")
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


@equation("eq-chunked", "4a45d829bf")
def chunked(rng):
    """Numerators of the library: its output times its denominator, in chunks of three."""
    q, k, v, fq, fk = features(rng)
    y = attend_linear(*tensors(q.T, k.T, v.T), causal=True)[0].numpy().T
    pairs = []
    for n in range(N):
        m = n - n % 3
        S_m, S_n = v[:, :m] @ fk[:, :m].T, v[:, : n + 1] @ fk[:, : n + 1].T
        printed = table(
            lambda e, n=n, m=m, S_m=S_m: (
                sum(S_m[e, i] * fq[i, n] for i in range(K))
                + sum(v[e, s] * fk[i, s] * fq[i, n] for s in range(m, n + 1) for i in range(K))
            ),
            KV,
        )
        left = table(lambda e, n=n, S_n=S_n: sum(S_n[e, i] * fq[i, n] for i in range(K)), KV)
        numerator = y[:, n] * (fk[:, : n + 1].sum(axis=1) @ fq[:, n])
        pairs += [(printed, numerator), (left, numerator)]
    return pairs


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


@equation("eq-gated-delta", "e5243f46c4")
def gated_delta(rng):
    """Against what it should do: the state answers each direction by what it held, but for the part along the key."""
    S, k, v = rng.normal(size=(KV, K)), rng.normal(size=K), rng.normal(size=KV)
    k, a, b = k / np.linalg.norm(k), rng.uniform(0.3, 0.9), rng.uniform(0.3, 0.9)
    eye = np.eye(K)
    new = table(
        lambda e, i: a * sum(S[e, j] * (eye[j, i] - b * k[j] * k[i]) for j in range(K)) + b * v[e] * k[i], KV, K
    )
    aside = np.linalg.qr(np.column_stack([k, rng.normal(size=(K, K - 1))]))[0][:, 1:]  # at right angles to the key
    return [(new @ k, a * (1 - b) * (S @ k) + b * v), (new @ aside, a * (S @ aside))]


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
