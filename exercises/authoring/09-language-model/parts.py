"""The modules that a learner brings from the exercises before, and right answers to the questions that others use.

The right and the wrong solutions call them by the names that they have in the notebook.
"""

import torch
from clearformer.layers import FeedForward
from torch import nn


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


class GPT(nn.Module):
    """Block after block."""

    def __init__(self, n_vocab, n_positions, d_model, n_heads, n_layers, dropout=0.0):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(n_vocab, d_model), nn.Embedding(n_positions, d_model)
        sizes = d_model, n_heads, 4 * d_model, dropout
        self.blocks = nn.ModuleList(Block(*sizes, causal=True) for _ in range(n_layers))
        self.norm, self.head = nn.LayerNorm(d_model), nn.Linear(d_model, n_vocab, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
