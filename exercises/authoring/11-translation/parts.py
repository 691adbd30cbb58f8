"""What the notebook gives; the right and the wrong solutions call it by its name there."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def next_scores(p, texts):
    texts = np.asarray(texts)
    return p["last"][texts[:, -1]] + p["earlier"][texts].mean(axis=1)


def sinusoids(n_positions, d_model):
    rates = 10_000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    waves = torch.arange(n_positions).outer(rates)
    return torch.stack([waves.sin(), waves.cos()], dim=2).flatten(1)


class CausalBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.n_heads = n_heads

    def forward(self, x):
        q, k, v = self.qkv(self.norm_1(x)).unflatten(2, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        scores = (q / q.shape[-1] ** 0.5) @ k.mT
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        y = scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v
        x = x + self.out(y.transpose(1, 2).flatten(2))
        hidden = F.gelu(self.up(self.norm_2(x)))
        return x + self.down(hidden)


class PromptTranslator(nn.Module):
    def __init__(self, n_words, d_model, n_heads, d_ff, n_layers, padding):
        super().__init__()
        self.embed, self.norm = nn.Embedding(n_words, d_model), nn.LayerNorm(d_model)
        self.blocks = nn.ModuleList([CausalBlock(d_model, n_heads, d_ff) for _ in range(n_layers)])
        self.head, self.padding = nn.Linear(d_model, n_words), padding

    def forward(self, source, read):
        rows, length = torch.cat([source, read], dim=1), (source != self.padding).sum(1, keepdim=True)
        place = torch.arange(rows.shape[1])
        moved = torch.where(place < length, place, place - length + source.shape[1])
        x = self.embed(rows.gather(1, moved.clamp(max=rows.shape[1] - 1)))
        x = x + sinusoids(*x.shape[1:])
        for block in self.blocks:
            x = block(x)
        at = length + torch.arange(read.shape[1])
        return self.head(self.norm(x))[torch.arange(len(rows))[:, None], at]


class Translator(nn.Module):
    def __init__(self, n_words, d_model, n_heads):
        super().__init__()
        self.embed, self.n_heads = nn.Embedding(n_words, d_model), n_heads
        for name in ("query", "key", "value", "out"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.weights, self.head = nn.Identity(), nn.Linear(d_model, n_words)

    def forward(self, source, read):
        z, x = (self.embed(ids) + sinusoids(ids.shape[1], self.embed.embedding_dim) for ids in (source, read))
        q, k, v = (y.unflatten(2, (self.n_heads, -1)).transpose(1, 2) for y in self.maps(x, z))
        A = self.weights((q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-1))
        return self.head(x + self.out((A @ v).transpose(1, 2).flatten(2)))

    def maps(self, x, z):
        return self.query(x), self.key(z), self.value(z)
