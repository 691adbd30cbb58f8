"""A right vision transformer, and the pictures that it learns.

The right and the wrong solutions call them by the names that they have in the notebook.
"""

import numpy as np
import torch
from torch import nn

from .brought_modules import Block

BRINGS = {"Block": "07-residual-norm"}  # and with it MultiHeadAttention and FeedForward, which it calls


class ViT(nn.Module):
    """Step by step, with an index for the token that is read."""

    def __init__(self, n_pixels, n_patches, d_model, n_heads, n_labels, mean=False):
        super().__init__()
        self.embed, self.head = nn.Linear(n_pixels, d_model), nn.Linear(d_model, n_labels)
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(0.5 * torch.randn(1 + n_patches, d_model))
        self.block, self.norm = Block(d_model, n_heads, 2 * d_model), nn.LayerNorm(d_model)
        self.mean = mean

    def forward(self, patches):
        first = self.class_token.expand(len(patches), 1, -1)
        x = torch.cat([first, self.embed(patches)], dim=1) + self.positions
        x = self.norm(self.block(x))
        return self.head(x[:, 1:].mean(dim=1) if self.mean else x[:, 0])


CROSS = np.array([[1.0, 0, 1], [0, 1, 0], [1, 0, 1]])
RING = np.array([[1.0, 1, 1], [1, 0, 1], [1, 1, 1]])
NOISE = 0.5


def crosses(rng, n):
    """n pictures as patches, B×9×9: a cross in one, rings in three; the label is the row of patches of the cross."""
    patches = NOISE * rng.normal(size=(n, 9, 3, 3))
    places = np.stack([rng.permutation(9)[:4] for _ in range(n)])
    rows = np.arange(n)
    for column, mark in enumerate((CROSS, RING, RING, RING)):
        patches[rows, places[:, column]] += mark
    return patches.reshape(n, 9, 9), places[:, 0] // 3
