"""Closer look at the RNN: every display equation, evaluated as printed."""

import torch

from tests.equations.chapter_02 import D, F, recurrent_network
from tests.equations.registry import equation, table


@equation("eq-recurrence-jacobian", "2e139dce0b")
def recurrence_jacobian(rng):
    rnn, _, W_h, _, x = recurrent_network(rng)
    h = rnn(x)[0][0].detach().numpy()
    by_autograd = torch.autograd.functional.jacobian(lambda x: rnn(x)[0][0], x)[:, :, 0].numpy()  # n, i, s, d
    pairs = []
    for n, s in ((1, 0), (3, 1), (4, 0)):
        last = by_autograd[n - 1, :, s]
        printed = table(
            lambda i, d, h=h[n], last=last: (1 - h[i] ** 2) * sum(W_h[i, j] * last[j, d] for j in range(F)), F, D
        )
        pairs.append((printed, by_autograd[n, :, s]))
    return pairs
