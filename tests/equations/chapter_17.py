"""Checks of the display equations of chapter 17, long memory."""

from math import exp

import numpy as np
import torch
from clearbook.state_space import state_space
from clearformer.attention import attend_linear, attend_recurrent

from tests.equations.registry import equation, table

N, K, KV = 7, 3, 4


def tensors(*arrays):
    return [torch.as_tensor(array) for array in arrays]


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


@equation("eq-chunked", "5f488e147c")
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


@equation("eq-bytes-read", "c86bb9fa4e")
def bytes_read(rng):
    """Against what arrays take in 16 bits that hold what a layer keeps of n tokens."""
    G, H, R, K_r, W = 2, 5, 6, 3, 4
    pairs = []
    for n in (3, 4, 9):
        printed = 2 * table(
            lambda kind, n=n: [2 * G * KV * n, (R + K_r) * n, 2 * G * KV * min(n, W), H * KV**2][kind], 4
        )
        kept = [(2, G, KV, n), (R + K_r, n), (2, G, KV, len(range(n)[-W:])), (H, KV, KV)]
        pairs.append((printed, [np.zeros(shape, dtype=np.float16).nbytes for shape in kept]))
    return pairs


@equation("eq-delta-written", "ae6f02a849")
def delta_written(rng):
    """The values that make the gated delta rule a sum that fades, in chunks of three, against the rule itself."""
    k, v = rng.normal(size=(K, N)), rng.normal(size=(KV, N))
    alpha, beta = rng.uniform(0.3, 0.9, size=(2, N))
    u, S_m, S, pairs = np.zeros((KV, N)), np.zeros((KV, K)), rng.normal(size=(KV, K)), []
    for n in range(N):
        m = n - n % 3  # tokens before this chunk
        if n == m:
            S_m = S
        gamma = dict(enumerate(np.cumprod(alpha[m:]), m))
        sums = k.T @ k[:, n]  # k_s · k_n
        u[:, n] = table(
            lambda e, n=n, m=m, S_m=S_m, gamma=gamma, sums=sums: (
                beta[n]
                * (
                    v[e, n]
                    - gamma[n] * (S_m[e] @ k[:, n])
                    - sum(gamma[n] / gamma[s] * sums[s] * u[e, s] for s in range(m, n))
                )
            ),
            KV,
        )
        new = alpha[n] * S @ (np.eye(K) - beta[n] * np.outer(k[:, n], k[:, n])) + beta[n] * np.outer(v[:, n], k[:, n])
        pairs.append((np.outer(u[:, n], k[:, n]), new - alpha[n] * S))
        S = new
    return pairs


@equation("eq-discretised", "6951a08fa8")
def discretised(rng):
    """Against many small steps of the differential equation; and by hand at the rate 1."""
    rate, steps, x = 0.7, rng.uniform(0.2, 1.5, size=N), rng.normal(size=N)
    printed, followed, h, slow = [], [], 0.0, 0.0
    for n in range(N):
        a = table(lambda _, n=n: exp(-rate * steps[n]), 1)[0]
        b = table(lambda _, a=a: (1 - a) / rate, 1)[0]
        h = a * h + b * x[n]
        slow = float(state_space(*leaking(rate, steps[n], x[n], slow))[-1, 0])
        printed.append(h)
        followed.append(slow)
    return [(np.array(printed), np.array(followed)), (np.array([exp(-0.0), 1 - exp(-0.0)]), np.array([1.0, 0.0]))]


def leaking(rate, step, x, start, parts=64):
    """A state space that follows the leak exactly through small parts of a step, after an input that sets its start."""
    a = np.append(0.0, np.full(parts, exp(-rate * step / parts)))
    b = np.append(start, np.full(parts, x * -np.expm1(-rate * step / parts) / rate))
    return tensors(np.ones((parts + 1, 1)), *(t.reshape(-1, 1, 1) for t in (a, b, np.ones(parts + 1))))


@equation("eq-scan", "dd0a1bdcc4")
def scan(rng):
    """Both sides, and two steps of a state space."""
    h, a_1, a_2, b_1, b_2 = rng.normal(size=(5, K))
    left = table(lambda i: a_2[i] * (a_1[i] * h[i] + b_1[i]) + b_2[i], K)
    right = table(lambda i: a_1[i] * a_2[i] * h[i] + (a_2[i] * b_1[i] + b_2[i]), K)
    gates, inputs = np.stack([np.zeros(K), a_1, a_2]), np.stack([h, b_1, b_2])
    ones = np.ones((3, K))
    library = state_space(*tensors(ones, gates[..., None], inputs[..., None], ones[..., None]))[-1]
    return [(left, library), (right, library)]
