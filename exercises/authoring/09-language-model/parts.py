"""Right answers to the questions that others use.

The right and the wrong solutions call them by the names that they have in the notebook.
"""

import torch
from torch import nn

from .brought_modules import Block


def causal(x):
    """The mask of the chapter: True where a token may look."""
    return torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()


class GPT(nn.Module):
    """Block after block."""

    def __init__(self, n_vocab, n_positions, d_model, n_heads, n_layers, dropout=0.0):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(n_vocab, d_model), nn.Embedding(n_positions, d_model)
        sizes = d_model, n_heads, 4 * d_model, dropout
        self.blocks = nn.ModuleList(Block(*sizes) for _ in range(n_layers))
        self.norm, self.head = nn.LayerNorm(d_model), nn.Linear(d_model, n_vocab, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x, causal(x))
        return self.head(self.norm(x))
