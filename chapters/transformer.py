"""A transformer on one page: it reads what people say for a time and writes 19:40.

    python transformer.py     trains for a while, writes, and saves transformer.pt

Chapter 8 of Clearformer explains it line by line.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    """Queries from x; keys and values from the source, or from x itself."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide d_model = {d_model}.")
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, source=None, mask=None, cache=None):
        q = self.split(self.query(x))  # B H N K
        k, v = self.keys_and_values(x, source, {} if cache is None else cache)
        scores = q @ k.mT / math.sqrt(q.shape[-1])  # B H N S
        if mask is not None:  # True: may look
            scores = scores.masked_fill(~mask, -math.inf)
        y = self.dropout(scores.softmax(dim=-1)) @ v  # B H N K
        return self.out(y.transpose(1, 2).flatten(2))  # B N D

    def keys_and_values(self, x, source, cache):
        if source is not None and self in cache:
            return cache[self]  # the source is the same in every step
        looked_at = x if source is None else source
        k = self.split(self.key(looked_at))  # B H S K
        v = self.split(self.value(looked_at))
        if self in cache:
            k = torch.cat([cache[self][0], k], dim=2)
            v = torch.cat([cache[self][1], v], dim=2)
        cache[self] = k, v
        return k, v

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Block(nn.Module):
    """A block of an encoder; with a causal mask it is one of a GPT."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None, cache=None):
        looked = self.attention(self.norm_1(x), mask=mask, cache=cache)
        x = x + self.dropout(looked)
        return x + self.dropout(self.feed_forward(self.norm_2(x)))


def causal(x):
    """True on and below the diagonal: a token may look at itself and its past."""
    n = x.shape[1]
    return torch.ones(n, n, dtype=torch.bool, device=x.device).tril()


class DecoderBlock(nn.Module):
    """Causal self-attention, cross-attention to the memory, feed-forward layer."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.0):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads, dropout)
        self.cross = MultiHeadAttention(d_model, n_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, mask=None, cache=None):
        looked = self.attention(self.norm_1(x), mask=causal(x), cache=cache)
        x = x + self.dropout(looked)
        looked = self.cross(self.norm_2(x), memory, mask, cache)
        x = x + self.dropout(looked)
        return x + self.dropout(self.feed_forward(self.norm_3(x)))


class Embedding(nn.Module):
    """A vector for each token, and the sinusoids of its position added to it."""

    def __init__(self, n_words, d_model, dropout=0.0, n_positions=512):
        super().__init__()
        if d_model % 2:
            raise ValueError(f"d_model = {d_model} is odd; waves come in pairs.")
        rates = 10_000 ** (-torch.arange(0, d_model, 2) / d_model)
        angles = torch.arange(n_positions)[:, None] * rates
        waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
        self.register_buffer("waves", waves, persistent=False)  # goes where x goes
        self.table = nn.Embedding(n_words, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids, past=0):
        end = past + ids.shape[1]
        if end > len(self.waves):
            raise ValueError(f"{end} tokens, but only {len(self.waves)} positions.")
        try:
            x = self.table(ids) + self.waves[past:end]  # B N D
        except IndexError:
            n_words = self.table.num_embeddings
            raise ValueError(f"No token {ids.max()} among {n_words} words.") from None
        return self.dropout(x)


PAD, START, END = 0, 1, 2


class Transformer(nn.Module):
    def __init__(
        self, n_source, n_target, n_layers, d_model, n_heads, d_ff, dropout=0.0
    ):
        super().__init__()
        sizes = d_model, n_heads, d_ff, dropout
        self.embed_source = Embedding(n_source, d_model, dropout)
        self.encoder = nn.ModuleList(Block(*sizes) for _ in range(n_layers))
        self.norm_source = nn.LayerNorm(d_model)
        self.embed_target = Embedding(n_target, d_model, dropout)
        self.decoder = nn.ModuleList(DecoderBlock(*sizes) for _ in range(n_layers))
        self.norm_target = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_target)

    def encode(self, source):
        mask = (source != PAD)[:, None, None]  # B 1 1 S
        x = self.embed_source(source)
        for block in self.encoder:
            x = block(x, mask)
        return self.norm_source(x), mask

    def decode(self, target, memory, mask, cache=None):
        past = cache[self.decoder[0].attention][0].shape[2] if cache else 0
        x = self.embed_target(target, past)
        for block in self.decoder:
            x = block(x, memory, mask, cache)
        return self.head(self.norm_target(x))  # B N V

    def forward(self, source, target):
        return self.decode(target, *self.encode(source))


SPECIAL = ["<pad>", "<start>", "<end>"]
NAMES = """zero one two three four five six seven eight nine ten eleven twelve thirteen
fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty"""


def spell(n):
    names = NAMES.split()
    if n <= 20:
        return names[n]
    tens = names[18 + n // 10]
    return f"{tens} {names[n % 10]}" if n % 10 else tens


def ways_to_say(hour, minute):
    """What people say for a time: ten past six in the evening, six ten ..."""
    this, following = (spell((h - 1) % 12 + 1) for h in (hour, hour + 1))
    usual = {15: "a quarter", 30: "half"}
    if minute == 0:
        ways = [f"{this} o'clock"]
    elif minute <= 30:
        ways = [f"{usual.get(minute, spell(minute))} past {this}"]
    else:
        ways = [f"{usual.get(60 - minute, spell(60 - minute))} to {following}"]
    if minute >= 10:
        ways.append(f"{this} {spell(minute)}")
    part = "morning" if hour < 12 else "afternoon" if hour < 18 else "evening"
    return [f"{way} in the {part}".split() for way in ways]


TIMES = [divmod(n, 60) for n in range(24 * 60)]
PAIRS = [(words, f"{h}:{m:02}") for h, m in TIMES for words in ways_to_say(h, m)]
WORDS = [*SPECIAL, *sorted({word for words, _ in PAIRS for word in words})]
SIGNS = [*SPECIAL, *"0123456789:"]


def to_ids(rows, vocabulary):
    """Rows of tokens as numbers, the shorter ones filled up with padding."""
    unknown = {token for row in rows for token in row} - set(vocabulary)
    if unknown:
        raise ValueError(f"{sorted(unknown)} not among {', '.join(vocabulary)}.")
    longest = max(len(row) for row in rows)
    padded = [[*row, *SPECIAL[:1] * (longest - len(row))] for row in rows]
    return torch.tensor([[vocabulary.index(token) for token in row] for row in padded])


def to_texts(ids, vocabulary, between=""):
    """What stands before the END of each row, without START and padding."""
    rows = [row[: row.index(END)] if END in row else row for row in ids.tolist()]
    return [between.join(vocabulary[i] for i in row if i > END) for row in rows]


def make_data():
    """All phrases in a random order, always the same, and their times."""
    order = torch.randperm(len(PAIRS), generator=torch.Generator().manual_seed(0))
    words, times = zip(*(PAIRS[i] for i in order), strict=True)
    answers = [["<start>", *time, "<end>"] for time in times]
    return to_ids(words, WORDS), to_ids(answers, SIGNS)


def fit(model, sources, targets, n_steps, rate=0.01):
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)
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
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.3f}")


@torch.no_grad()
def write(model, source, n_tokens=8):
    """The likeliest next token, again and again, until every row has its END."""
    model.eval()
    memory, mask = model.encode(source)
    written, cache = torch.full_like(source[:, :1], START), {}
    for _ in range(n_tokens):
        scores = model.decode(written[:, -1:], memory, mask, cache)[:, -1]
        written = torch.cat([written, scores.argmax(dim=-1, keepdim=True)], dim=1)
        if (written == END).any(dim=1).all():
            break
    return written[:, 1:]


if __name__ == "__main__":
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    sources, targets = (ids.to(device) for ids in make_data())
    model = Transformer(len(WORDS), len(SIGNS), 1, 32, 4, 64).to(device)
    fit(model, sources[400:], targets[400:], n_steps=300)
    phrases = to_texts(sources[:400], WORDS, " ")
    wanted = to_texts(targets[:400], SIGNS)
    answers = to_texts(write(model, sources[:400]), SIGNS)
    right = sum(a == w for a, w in zip(answers, wanted, strict=True))
    print(f"{right} of 400 new phrases are right. The first three:")
    for phrase, answer in zip(phrases[:3], answers, strict=False):
        print(phrase, "→", answer)
    torch.save(model.state_dict(), "transformer.pt")
