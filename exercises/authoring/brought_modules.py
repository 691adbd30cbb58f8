"""The modules that a learner brings from exercises 04 and 07 to those that build on them.

The file of a question imports them as its own, `from .brought_modules import Block`.
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
