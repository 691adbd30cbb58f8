"""Checks of the display equations of chapter 15, GPT-3."""

from functools import cache

import numpy as np
import torch
from clearbook.pipeline import idle_share, one_forward_one_backward, schedule
from clearformer.attention import attend
from clearformer.blocks import Block
from clearformer.models.gpt import GPT, GPTConfig, next_token_loss
from clearformer.multihead import MultiHeadAttention
from clearformer.reference.functions import gelu
from clearformer.reference.layers import mlp
from torch.utils.flop_counter import FlopCounterMode

from tests.equations.registry import equation, table

# Of two models: vocabulary, positions, width, blocks, heads; no size is that of another kind.
V, N, D, M, H = [11, 29], [7, 5], [12, 18], [2, 3], [4, 6]


@equation("eq-gpt3-parameters", "ec124c08c6")
def gpt3_parameters(rng):
    printed = table(
        lambda i: V[i] * D[i] + N[i] * D[i] + M[i] * (12 * D[i] ** 2 + 13 * D[i]) + 2 * D[i],
        2,
    )
    return printed, [sum(p.numel() for p in gpt(i).parameters()) for i in range(2)]


@equation("eq-forward-flops", "d2dd932641")
def forward_flops(rng):
    printed = table(lambda i: 2 * (12 * M[i] * D[i] ** 2 + V[i] * D[i]) + 4 * M[i] * D[i] * N[i], 2)
    return printed, [flops_per_token(i, backward=False) for i in range(2)]


@equation("eq-training-flops", "6cda5a5b35")
def training_flops(rng):
    c_forward = [flops_per_token(i, backward=False) for i in range(2)]
    thrice = table(lambda i: 3 * c_forward[i], 2)
    printed = table(lambda i: 6 * (12 * M[i] * D[i] ** 2 + V[i] * D[i]) + 12 * M[i] * D[i] * N[i], 2)
    found = [flops_per_token(i, backward=True) for i in range(2)]
    return [(thrice, found), (printed, found)]


@equation("eq-rule-ratio", "3e776729a9")
def rule_ratio(rng):
    P = [sum(p.numel() for p in gpt(i).parameters()) for i in range(2)]
    c = [flops_per_token(i, backward=True) for i in range(2)]
    left = table(lambda i: c[i] / (6 * P[i]), 2)
    right = table(
        lambda i: (12 * M[i] * D[i] ** 2 + V[i] * D[i] + 2 * M[i] * D[i] * N[i]) / P[i],
        2,
    )
    return left, right


@equation("eq-training-bytes", "4ec3cfaa9e")
def training_bytes(rng):
    """Three ways to train: all in float32, all in bfloat16, and mixed with a copy of the weights in float32."""
    kinds = [
        (torch.float32, None),
        (torch.bfloat16, None),
        (torch.bfloat16, torch.float32),
    ]
    b_weight, b_gradient, b_copy, b_moment = [4, 2, 2], [4, 2, 2], [0, 0, 4], [4, 2, 4]
    P = sum(p.numel() for p in gpt(0).parameters())
    printed = table(lambda i: P * (b_weight[i] + b_gradient[i] + b_copy[i] + 2 * b_moment[i]), 3)
    return printed, [bytes_held(gpt(0).to(dtype), copied) for dtype, copied in kinds]


@equation("eq-shard-gradients", "71bab9297a")
def shard_gradients(rng):
    torch.manual_seed(0)
    model, rows = gpt(0).double(), torch.randint(V[0], (9, N[0] + 1))
    n_r, n = [2, 6, 1], 9
    of_shard = [gradient(model, part) for part in rows.split(n_r)]
    size = len(of_shard[0])
    printed = table(lambda k: sum(n_r[r] / n * of_shard[r][k] for r in range(3)), size)
    return printed, gradient(model, rows)


@equation("eq-split-mlp", "9ff170b62a")
def split_mlp(rng):
    d, n, units, R = 4, 3, [range(0, 2), range(2, 7)], 2
    W_1, b_1, W_2, b_2 = (
        rng.normal(size=(7, d)),
        rng.normal(size=7),
        rng.normal(size=(d, 7)),
        rng.normal(size=d),
    )
    X = rng.normal(size=(d, n))

    def phi(z):
        return gelu(np.array([z]))[0]

    printed = table(
        lambda i, t: (
            b_2[i]
            + sum(
                sum(W_2[i, f] * phi(sum(W_1[f, e] * X[e, t] for e in range(d)) + b_1[f]) for f in units[r])
                for r in range(R)
            )
        ),
        d,
        n,
    )
    return printed, mlp(X, W_1, b_1, W_2, b_2)


@equation("eq-all-reduce-seconds", "e6f556f926")
def all_reduce_seconds(rng):
    """Against the bytes that a worker sends in a ring of workers, for vectors that come out even."""
    R, Z, beta = [2, 5], [12, 70], [3.0, 7.0]
    printed = table(lambda i: 2 * (R[i] - 1) / R[i] * Z[i] / beta[i], 2)
    return printed, [sent_in_a_ring(R[i], Z[i]) / beta[i] for i in range(2)]


@equation("eq-data-parallel-rule", "2f004d97b7")
def data_parallel_rule(rng):
    """The tokens at which work and messages of a real model take equally long, gradients having two bytes a number."""
    R, rho, beta = [2, 4], [11.0, 35.0], [3.0, 7.0]
    printed = table(lambda i: 2 / 3 * (R[i] - 1) / R[i] * rho[i] / beta[i], 2)
    P = [sum(p.numel() for p in gpt(i).parameters()) for i in range(2)]
    messages = [sent_in_a_ring(R[i], 2 * P[i] * R[i]) / R[i] / beta[i] for i in range(2)]
    return printed, [messages[i] / (6 * P[i] / rho[i]) for i in range(2)]


@equation("eq-tensor-share", "e6a35ceba9")
def tensor_share(rng):
    """Of a block's products with weights, counted, and of two sums forward and two backward in a ring."""
    R, rho, beta, tokens = [2, 4], [11.0, 35.0], [3.0, 7.0], [5, 9]
    printed = table(lambda i: 2 / 9 * (R[i] - 1) * rho[i] / (D[i] * beta[i]), 2)
    sums = [4 * sent_in_a_ring(R[i], 2 * D[i] * tokens[i] * R[i]) / R[i] / beta[i] for i in range(2)]
    maps = [sum(p.numel() for p in Block(D[i], H[i], 4 * D[i]).parameters() if p.dim() == 2) for i in range(2)]
    work = [6 * maps[i] * tokens[i] / (R[i] * rho[i]) for i in range(2)]
    return printed, [sums[i] / work[i] for i in range(2)]


@equation("eq-bubble", "1107075c1b")
def bubble(rng):
    R, m = [2, 5, 3], [7, 4, 1]
    printed = table(lambda i: (R[i] - 1) / (m[i] + R[i] - 1), 3)
    in_turn = [idle_share(schedule(R[i], m[i], order=one_forward_one_backward)) for i in range(3)]
    return [
        (printed, [idle_share(schedule(R[i], m[i])) for i in range(3)]),
        (printed, in_turn),
    ]


def sent_in_a_ring(n_workers, n_bytes):
    """What one worker sends until all have the sum: each piece to the next worker, round twice."""
    pieces = [len(piece) for piece in np.array_split(np.zeros(n_bytes), n_workers)]
    sent = [0] * n_workers
    for step in range(2 * (n_workers - 1)):
        for worker in range(n_workers):
            sent[worker] += pieces[(worker - step) % n_workers]
    return sum(sent) / n_workers


def gpt(i):
    """A model of the sizes above in which every product can be counted."""
    return GPT(
        GPTConfig(V[i], N[i], D[i], H[i], M[i]),
        attention=lambda *sizes, **options: MultiHeadAttention(*sizes, attend=attend, **options),
    )


@cache
def flops_per_token(i, backward):
    """FLOPs of all matrix products of a model for one token of a full window; they hang on its sizes alone."""
    model, length = gpt(i), N[i]
    with FlopCounterMode(display=False) as counter:
        logits = model(torch.zeros(1, length, dtype=torch.long))
        if backward:
            logits.sum().backward()
    return counter.get_total_flops() / length


def bytes_held(model, copied):
    """Bytes of weights, gradients, a copy if one is asked for, and the moments of an optimiser that has run."""
    parameters = list(model.parameters())
    copies = [] if copied is None else [p.detach().to(copied).requires_grad_() for p in parameters]
    updated = copies or parameters
    adam = torch.optim.AdamW(updated)
    model(torch.zeros(1, 3, dtype=torch.long)).float().sum().backward()
    for copy, parameter in zip(copies, parameters, strict=False):
        copy.grad = parameter.grad.to(copied)
    adam.step()
    moments = [t for state in adam.state.values() for t in state.values() if t.dim()]
    everything = [*parameters, *(p.grad for p in parameters), *copies, *moments]
    return sum(t.numel() * t.element_size() for t in everything)


def gradient(model, rows):
    model.zero_grad()
    next_token_loss(model, rows[:, :-1], rows[:, 1:]).backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()]).numpy()
