"""Checks of the display equations of chapter 12, pretrained models."""

from math import exp, sqrt

import torch
from clearformer.models.gpt import GPT, GPTConfig, next_token_loss
from clearformer.models.mae import MAEConfig
from clearformer.pretrained.tables import COLOURS_FIRST, FLATTENED, STACKED
from clearformer.reference.attention import attend
from torch.nn.functional import linear

from tests.equations.registry import equation, table

D, E, N, S, K, C, SIDE = 5, 7, 4, 6, 3, 3, 2
IMAGES = MAEConfig(4, SIDE, C, 8, 2, 1, 8, 2, 1)


@equation("eq-conv1d", "7624dcfa57")
def conv1d(rng):
    from transformers.pytorch_utils import Conv1D  # takes seconds

    x, W, b = rng.normal(size=(N, D)), rng.normal(size=(D, E)), rng.normal(size=E)
    layer = Conv1D(E, D).double()
    with torch.no_grad():
        layer.weight.copy_(torch.as_tensor(W))
        layer.bias.copy_(torch.as_tensor(b))
        found = layer(torch.as_tensor(x))
    return table(lambda n, e: sum(x[n, d] * W[d, e] for d in range(D)) + b[e], N, E), found


@equation("eq-stacked", "74960e825b")
def stacked(rng):
    x, parts = rng.normal(size=(N, D)), torch.as_tensor(rng.normal(size=(3, D, D)))
    W = STACKED.load(list(parts), None).numpy()
    q, k, v = (linear(torch.as_tensor(x), part) for part in parts)
    return [
        (table(lambda n, e: sum(x[n, d] * W[e, d] for d in range(D)), N, D), q),
        (table(lambda n, e: sum(x[n, d] * W[D + e, d] for d in range(D)), N, D), k),
        (table(lambda n, e: sum(x[n, d] * W[2 * D + e, d] for d in range(D)), N, D), v),
    ]


@equation("eq-kernel-rows", "4c0e73e90d")
def kernel_rows(rng):
    c_count, s, kernel = C, SIDE, rng.normal(size=(D, C, SIDE, SIDE))
    W = FLATTENED.load([torch.as_tensor(kernel)], IMAGES).numpy()
    ours = table(lambda d, c, i, j: W[d, (c * s + i) * s + j], D, c_count, s, s)
    theirs = table(lambda d, c, i, j: kernel[d, c, i, j], D, c_count, s, s)
    return [(ours, kernel), (theirs, W.reshape(kernel.shape))]


@equation("eq-colours-first", "9c85e90c9a")
def colours_first(rng):
    theirs, s = rng.normal(size=(C * SIDE**2, D)), SIDE
    ours = COLOURS_FIRST.load([torch.as_tensor(theirs)], IMAGES).numpy()
    left = table(lambda c, p, d: ours[c * s**2 + p, d], C, s**2, D)
    right = table(lambda c, p, d: theirs[p * C + c, d], C, s**2, D)
    return [(left, theirs.reshape(s**2, C, D).swapaxes(0, 1)), (right, ours.reshape(C, s**2, D))]


@equation("eq-tied-gradient", "732d4b988f")
def tied_gradient(rng):
    sizes, ids = (E, N, 6, 2, 1), torch.as_tensor(rng.integers(E, size=(2, N + 1)))
    tied, two = (GPT(GPTConfig(*sizes, tied=tied)).double() for tied in (True, False))
    two.load_state_dict(tied.state_dict())
    for model in (tied, two):
        next_token_loss(model, ids[:, :-1], ids[:, 1:]).backward()
    reading, writing = two.tokens.weight.grad.numpy(), two.head.weight.grad.numpy()
    return table(lambda w, d: reading[w, d] + writing[w, d], E, 6), tied.tokens.weight.grad.numpy()


@equation("eq-key-bias", "d291008dd5")
def key_bias(rng):
    q, k, b, v = (rng.normal(size=size) for size in ((K, N), (K, S), K, (2, S)))
    _, without = attend(q * sqrt(K), k, v)
    _, with_bias = attend(q * sqrt(K), k + b[:, None], v)

    def score(n, s):
        return sum(q[i, n] * (k[i, s] + b[i]) for i in range(K))

    def plain(n, s):
        return sum(q[i, n] * k[i, s] for i in range(K))

    left = table(lambda s, n: exp(score(n, s)) / sum(exp(score(n, t)) for t in range(S)), S, N)
    right = table(lambda s, n: exp(plain(n, s)) / sum(exp(plain(n, t)) for t in range(S)), S, N)
    return [(left, with_bias), (right, with_bias), (left, without), (right, without)]
