"""A transformer on one page: it reads numbers in words and writes their digits.

    python chapters/transformer.py     trains for some seconds, then writes

Chapter 8 of Clearformer explains it line by line.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    """Queries from x; keys and values from the source, or from x itself."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.n_heads, self.dropout = n_heads, nn.Dropout(dropout)
        self.query, self.key = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.value, self.out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, x, source=None, causal=False, mask=None):
        source = x if source is None else source
        q, k, v = map(self.split, (self.query(x), self.key(source), self.value(source)))
        scores = q @ k.mT / math.sqrt(q.shape[-1])  # B H N S
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -math.inf)
        y = self.dropout(scores.softmax(dim=-1)) @ v  # B H N K
        return self.out(y.transpose(1, 2).flatten(-2))  # B N D

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # B H N K


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = Attention(d_model, n_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        x = x + self.dropout(self.attention(self.norm_1(x), mask=mask))
        return x + self.dropout(self.feed_forward(self.norm_2(x)))


class DecoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = Attention(d_model, n_heads, dropout)
        self.cross = Attention(d_model, n_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm_3, self.dropout = nn.LayerNorm(d_model), nn.Dropout(dropout)

    def forward(self, x, memory, mask=None):
        x = x + self.dropout(self.attention(self.norm_1(x), causal=True))
        x = x + self.dropout(self.cross(self.norm_2(x), memory, mask=mask))
        return x + self.dropout(self.feed_forward(self.norm_3(x)))


def sinusoids(n_positions, d_model):
    rates = 10_000 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(n_positions)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)  # N D


class Stack(nn.Module):
    def __init__(self, block, n_words, n_layers, d_model, *sizes):
        super().__init__()
        self.embed, self.norm = nn.Embedding(n_words, d_model), nn.LayerNorm(d_model)
        self.blocks = nn.ModuleList(block(d_model, *sizes) for _ in range(n_layers))

    def forward(self, ids, *context):
        x = self.embed(ids)  # B N D
        x = x + sinusoids(*x.shape[1:])
        for block in self.blocks:
            x = block(x, *context)
        return self.norm(x)


PAD, START, END = 0, 1, 2


class Transformer(nn.Module):
    def __init__(
        self, n_source, n_target, n_layers, d_model, n_heads, d_ff, dropout=0.0
    ):
        super().__init__()
        sizes = n_layers, d_model, n_heads, d_ff, dropout
        self.encoder = Stack(EncoderBlock, n_source, *sizes)
        self.decoder = Stack(DecoderBlock, n_target, *sizes)
        self.head = nn.Linear(d_model, n_target)

    def encode(self, source):
        mask = (source != PAD)[:, None, None]  # B 1 1 S
        return self.encoder(source, mask), mask

    def decode(self, target, memory, mask):
        return self.head(self.decoder(target, memory, mask))  # B N V

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))


SPECIAL = ["<pad>", "<start>", "<end>"]
NAMES = """zero one two three four five six seven eight nine ten eleven twelve thirteen
fourteen fifteen sixteen seventeen eighteen nineteen
twenty thirty forty fifty sixty seventy eighty ninety hundred thousand and"""
WORDS = [*SPECIAL, *NAMES.split()]
DIGITS = [*SPECIAL, *"0123456789"]


def spell(n):
    if n < 20:
        return [NAMES.split()[n]]
    if n < 100:
        return [NAMES.split()[18 + n // 10], *(spell(n % 10) if n % 10 else [])]
    size, name = (100, "hundred") if n < 1000 else (1000, "thousand")
    rest = n % size
    link = ["and"] if 0 < rest < 100 else []
    return [*spell(n // size), name, *link, *(spell(rest) if rest else [])]


def to_ids(rows, vocabulary):
    longest = max(map(len, rows))
    padded = [row + SPECIAL[:1] * (longest - len(row)) for row in rows]
    return torch.tensor([[vocabulary.index(token) for token in row] for row in padded])


torch.manual_seed(0)
numbers = torch.randperm(10_000)[:4400].tolist()
sources = to_ids([spell(n) for n in numbers], WORDS)
targets = to_ids([["<start>", *str(n), "<end>"] for n in numbers], DIGITS)
print(" ".join(spell(numbers[0])), "→", numbers[0])
print(sources[0].tolist(), "→", targets[0].tolist())


def fit(model, sources, targets, n_steps, rate=0.01):
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 20, 1 - step / n_steps)
    )
    model.train()
    for step in range(1, n_steps + 1):
        rows = torch.randint(len(sources), (64,))
        read, asked = targets[rows, :-1], targets[rows, 1:]
        scores = model(sources[rows], read)  # B N V
        loss = F.cross_entropy(scores.flatten(0, 1), asked.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 50 == 0:
            print(f"step {step}: loss {loss.item():.3f}")


@torch.no_grad()
def write(model, source, n_tokens=5):
    model.eval()
    memory, mask = model.encode(source)
    written = torch.full((len(source), 1), START)
    for _ in range(n_tokens):
        scores = model.decode(written, memory, mask)[:, -1]  # at the last token
        written = torch.cat([written, scores.argmax(dim=-1, keepdim=True)], dim=1)
    texts = ["".join(DIGITS[i] for i in row) for row in written[:, 1:].tolist()]
    return [text.split("<end>")[0] for text in texts]


model = Transformer(len(WORDS), len(DIGITS), n_layers=1, d_model=32, n_heads=4, d_ff=64)
fit(model, sources[:4000], targets[:4000], n_steps=200)
new, wanted = sources[4000:], [str(n) for n in numbers[4000:]]
answers = write(model, new)
right = sum(a == w for a, w in zip(answers, wanted, strict=True))
print(f"{right} of {len(wanted)} new numbers are right, for example:")
for number, answer in zip(numbers[4000:4003], answers, strict=False):
    print(" ".join(spell(number)), "→", answer)
