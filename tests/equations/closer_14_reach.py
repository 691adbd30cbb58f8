"""Check of the display equation of the closer look at how far a window sees."""

import torch
from clearformer.attention import window_mask
from clearformer.blocks import Decoder

from tests.equations.registry import equation, table


@equation("eq-reach", "cc151cdee1")
def reach(rng):
    """How many tokens have a gradient into the last output of a decoder with a window."""
    layers, W, N = [1, 2, 4], [5, 3, 3], 12
    printed = table(lambda i: layers[i] * (W[i] - 1) + 1, 3)
    found = []
    for i in range(3):
        torch.manual_seed(0)
        decoder, x = Decoder(layers[i], 8, 2, 9).double(), torch.randn(1, N, 8, dtype=torch.float64).requires_grad_()
        decoder(x, window_mask(N, width=W[i]))[0, -1].pow(3).sum().backward()
        found.append(int((x.grad[0].norm(dim=1) > 0).sum()))
    return printed, found
