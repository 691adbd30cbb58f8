"""A GPT on one page: it reads the novels of Jane Austen and writes more of the kind.

    python gpt.py              trains, saves gpt.pt and gpt/ for the live page, writes
    python gpt.py MY.txt       the same with a text of your own
    python gpt.py MY.txt 500   the same in 500 steps

It builds on transformer.py. Chapter 9 of Clearformer explains it line by line.
"""

import math
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from transformer import Block, Embedding


def read_texts(path=None):
    """What is learned, what is held out, and a tokenizer of 128 merges."""
    from clearbook.data.austen import austen_split, in_chapters
    from clearformer.tokenizers import BytePairTokenizer

    if path is None:
        begun, ended = austen_split()
        learned, held_out = in_chapters(begun), "".join(part[:4000] for part in ended)
    else:
        text = Path(path).read_text(encoding="utf-8")
        cut = len(text) * 9 // 10
        learned, held_out = [text[:cut]], text[cut:]
    return learned, held_out, BytePairTokenizer("".join(learned), 128)


def to_stream(texts, tokenizer):
    """All texts as one row of ids, with the end token before, between and after."""
    ids = [tokenizer.n_vocab]
    for text in texts:
        ids += [*tokenizer.encode(text), tokenizer.n_vocab]
    return torch.tensor(ids)


def batch(ids, length=64, n_rows=8):
    starts = torch.randint(len(ids) - length, (n_rows, 1))
    rows = ids[starts + torch.arange(length + 1)]  # B × (N + 1)
    return rows[:, :-1], rows[:, 1:]  # read, asked for


class GPT(nn.Module):
    def __init__(self, n_vocab, d_model, n_heads, n_layers, dropout=0.0):
        super().__init__()
        sizes = d_model, n_heads, 4 * d_model, dropout
        self.embed = Embedding(n_vocab, d_model, dropout)
        self.blocks = nn.ModuleList(Block(*sizes) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_vocab, bias=False)  # a row for each g_w

    def forward(self, ids, cache=None):
        past, N = self.n_read(cache), ids.shape[1]
        x = self.embed(ids, past)  # B N D
        seen = torch.ones(N, past + N, dtype=torch.bool, device=ids.device).tril(past)
        for block in self.blocks:
            x = block(x, seen, cache)
        return self.head(self.norm(x))  # B N V

    def n_read(self, cache):
        """How many tokens the cache has kept."""
        return cache[self.blocks[0].attention][0].shape[2] if cache else 0


def fit(model, draw, n_steps, look=None, rate=0.01):
    weights, betas = model.parameters(), (0.9, 0.95)
    optimizer = torch.optim.AdamW(weights, lr=rate, betas=betas, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 50, 1 - step / n_steps)
    )
    for step in range(n_steps + 1):  # the last one, at rate 0, is there for look
        if look is not None:
            look(model, step)
        read, asked = draw()
        scores = model.train()(read)  # B N V
        loss = F.cross_entropy(scores.flatten(0, 1), asked.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()


@torch.no_grad()
def loss_on(model, ids, length=64):
    """Nats a token, each with at least length / 2 tokens before it."""
    model.eval()  # dropout rests
    half, total = length // 2, 0.0
    rows = ids.unfold(0, length + 1, half)  # windows, each half a length further on
    for part in rows.split(32):
        scores = model(part[:, :-1])[:, half:]  # the first half is only read
        asked = part[:, half + 1 :]
        losses = F.cross_entropy(scores.flatten(0, 1), asked.flatten(), reduction="sum")
        total += losses.item()
    return total / (len(rows) * half)


@torch.no_grad()
def generate(model, ids, n_tokens, temperature=0.8, length=64):
    """Give one new token after another, B × 1, each as soon as it is drawn."""
    model.eval()
    cache, unread = {}, ids[:, -length:]
    for _ in range(n_tokens):
        scores = model(unread, cache)[:, -1] / temperature  # of the last position
        unread = torch.multinomial(scores.softmax(dim=-1), 1)
        ids = torch.cat([ids, unread], dim=1)
        yield unread
        if model.n_read(cache) == length:  # full: begin again with the last half
            cache, unread = {}, ids[:, -(length // 2) :]


def main(path=None, n_steps=5000, folder="gpt"):
    from clearbook.own_gpt import save_for_the_page

    learned, held_out, tokenizer = read_texts(path)
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    ids = to_stream(learned, tokenizer).to(device)
    asked = torch.tensor(tokenizer.encode(held_out), device=device)
    model = GPT(tokenizer.n_vocab + 1, d_model=96, n_heads=4, n_layers=2).to(device)
    log = ["step,held_out_bits,processor_seconds"]

    def look(model, step):
        if step % 250 == 0:
            nats = loss_on(model, asked)
            bits = nats / math.log(2) * len(asked) / len(held_out)
            log.append(f"{step},{bits:.4f},{time.process_time():.1f}")
            print(f"step {step}: {bits:.3f} bits per character", flush=True)

    fit(model, lambda: batch(ids), int(n_steps), look)
    save_for_the_page(model.cpu(), tokenizer, folder)
    (Path(folder) / "log.csv").write_text("\n".join(log) + "\n", encoding="utf-8")
    torch.save(model.state_dict(), "gpt.pt")
    end = tokenizer.n_vocab
    new = [token.item() for token in generate(model, torch.tensor([[end]]), 200)]
    print(tokenizer.decode([i for i in new if i < end]))


if __name__ == "__main__":
    import sys

    main(*sys.argv[1:])
