"""The Block that a learner brings from exercise 07, a right vision transformer, and the pictures that it learns.

The right and the wrong solutions call them by the names that they have in the notebook.
"""

import numpy as np
import torch
from clearformer.layers import FeedForward
from torch import nn

BRINGS = {"Block": "07-residual-norm"}  # and with it MultiHead and FeedForward, which it calls


class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads, causal=False):
        super().__init__()
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.n_heads, self.causal = n_heads, causal

    def forward(self, x):
        q, k, v = (part(x).unflatten(2, (self.n_heads, -1)).mT for part in (self.query, self.key, self.value))
        scores = torch.einsum("bnkh,bskh->bhns", q, k) / q.shape[2] ** 0.5
        past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        scores = scores.masked_fill(~past, -torch.inf) if self.causal else scores
        return self.out(torch.einsum("bhns,bskh->bnhk", scores.softmax(-1), v).flatten(2))


class Block(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0, causal=False):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHead(d_model, n_heads, causal)
        self.feed_forward, self.dropout = FeedForward(d_model, d_ff), nn.Dropout(dropout)

    def forward(self, x):
        y = x + self.dropout(self.attention(self.norm_1(x)))
        return y + self.dropout(self.feed_forward(self.norm_2(y)))


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
    """n pictures as patches, B×9×9: a cross in one, rings in two; the label is the row of patches of the cross."""
    patches = NOISE * rng.normal(size=(n, 9, 3, 3))
    places = np.stack([rng.permutation(9)[:3] for _ in range(n)])
    rows = np.arange(n)
    for column, mark in enumerate((CROSS, RING, RING)):
        patches[rows, places[:, column]] += mark
    return patches.reshape(n, 9, 9), places[:, 0] // 3
