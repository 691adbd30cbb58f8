"""The classes of the chapter's transformer.py, without its cache and its own words: right answers that others use.

The right and the wrong solutions call them by the names that they have in the notebook.
"""

import torch
from torch import nn

from .brought_modules import Block, FeedForward, MultiHeadAttention

PAD, START, END = 0, 1, 2


def causal(x):
    return torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))
        self.attention, self.cross = (MultiHeadAttention(d_model, n_heads, dropout) for _ in range(2))
        self.feed_forward, self.dropout = FeedForward(d_model, d_ff), nn.Dropout(dropout)

    def forward(self, x, memory, mask=None):
        y = x + self.dropout(self.attention(self.norm_1(x), mask=causal(x)))
        z = y + self.dropout(self.cross(self.norm_2(y), memory, mask))
        return z + self.dropout(self.feed_forward(self.norm_3(z)))


class Embedding(nn.Module):
    def __init__(self, n_words, d_model, dropout=0.0, n_positions=512):
        super().__init__()
        rates = 10_000.0 ** (-torch.arange(0, d_model, 2) / d_model)
        angles = torch.arange(n_positions).outer(rates)
        self.register_buffer("waves", torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1), persistent=False)
        self.table, self.dropout = nn.Embedding(n_words, d_model), nn.Dropout(dropout)

    def forward(self, ids):
        return self.dropout(self.table(ids) + self.waves[: ids.shape[1]])


class Transformer(nn.Module):
    def __init__(self, n_source, n_target, n_layers, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        sizes = d_model, n_heads, d_ff, dropout
        self.embed_source, self.embed_target = (Embedding(n, d_model, dropout) for n in (n_source, n_target))
        self.encoder = nn.ModuleList([Block(*sizes) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([DecoderBlock(*sizes) for _ in range(n_layers)])
        self.norm_source, self.norm_target = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_target)

    def encode(self, source):
        z, mask = self.embed_source(source), (source != PAD)[:, None, None]
        for block in self.encoder:
            z = block(z, mask)
        return self.norm_source(z), mask

    def decode(self, target, memory, mask):
        x = self.embed_target(target)
        for block in self.decoder:
            x = block(x, memory, mask)
        return self.head(self.norm_target(x))

    def forward(self, source, target):
        memory, mask = self.encode(source)
        return self.decode(target, memory, mask)
