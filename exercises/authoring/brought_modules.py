"""The modules that a learner brings from exercises 04, 05 and 07 to those that build on them.

The file of a question imports them as its own, `from .brought_modules import Block`.
"""

import torch
from clearformer.layers import FeedForward
from torch import nn


class MultiHeadAttention(nn.Module):
    """Queries from x, keys and values from the source or from x; where the mask is True a target may look."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.n_heads, self.dropout = n_heads, nn.Dropout(dropout)

    def forward(self, x, source=None, mask=None):
        z = x if source is None else source
        parts = self.query(x), self.key(z), self.value(z)
        q, k, v = (part.unflatten(2, (self.n_heads, -1)).mT for part in parts)
        scores = torch.einsum("bnkh,bskh->bhns", q, k) / q.shape[2] ** 0.5
        scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
        return self.out(torch.einsum("bhns,bskh->bnhk", self.dropout(scores.softmax(-1)), v).flatten(2))


class Block(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward, self.dropout = FeedForward(d_model, d_ff), nn.Dropout(dropout)

    def forward(self, x, mask=None):
        y = x + self.dropout(self.attention(self.norm_1(x), mask=mask))
        return y + self.dropout(self.feed_forward(self.norm_2(y)))
