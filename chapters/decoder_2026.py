"""A decoder of 2026 on one page; its weights have the names of Llama's, Qwen's and SmolLM's files.

    python decoder_2026.py FILE.txt     learns a text byte by byte, writes, saves decoder_2026.pt

Chapter 8 of Clearformer explains it line by line.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)  # feature i turns with feature i + K / 2
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class Attention(nn.Module):
    def __init__(self, d_model, n_heads, n_groups, d_head, eps, qk_norm):
        super().__init__()
        if n_heads % n_groups:
            raise ValueError(f"{n_heads} heads cannot share {n_groups} keys equally.")
        self.d_head = d_head
        self.q_proj = nn.Linear(d_model, n_heads * d_head, bias=False)
        self.k_proj = nn.Linear(d_model, n_groups * d_head, bias=False)
        self.v_proj = nn.Linear(d_model, n_groups * d_head, bias=False)
        self.o_proj = nn.Linear(n_heads * d_head, d_model, bias=False)
        self.q_norm = nn.RMSNorm(d_head, eps) if qk_norm else nn.Identity()
        self.k_norm = nn.RMSNorm(d_head, eps) if qk_norm else nn.Identity()

    def forward(self, x, cos, sin, cache):
        q = rotate(self.q_norm(self.split(self.q_proj(x))), cos, sin)  # B H N K
        k = rotate(self.k_norm(self.split(self.k_proj(x))), cos, sin)  # B G N K
        v = self.split(self.v_proj(x))
        if self in cache:  # old keys were turned by their own positions
            k = torch.cat([cache[self][0], k], dim=2)  # B G S K
            v = torch.cat([cache[self][1], v], dim=2)
        cache[self] = k, v
        N, S = q.shape[2], k.shape[2]
        may_look = torch.ones(N, S, dtype=torch.bool, device=x.device).tril(S - N)
        y = F.scaled_dot_product_attention(q, k, v, may_look, enable_gqa=True)
        return self.o_proj(y.transpose(1, 2).flatten(2))  # B N D

    def split(self, x):
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, d_model, n_heads, n_groups, d_head, d_ff, eps, qk_norm):
        super().__init__()
        self.self_attn = Attention(d_model, n_heads, n_groups, d_head, eps, qk_norm)
        self.mlp = SwiGLU(d_model, d_ff)
        self.input_layernorm = nn.RMSNorm(d_model, eps)
        self.post_attention_layernorm = nn.RMSNorm(d_model, eps)

    def forward(self, x, cos, sin, cache):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, cache)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    def __init__(
        self,
        n_words,
        d_model,
        n_layers,
        n_heads,
        n_groups,
        d_head,
        d_ff,
        n_positions=2048,
        base=10_000.0,
        eps=1e-5,
        qk_norm=True,
    ):
        super().__init__()
        sizes = d_model, n_heads, n_groups, d_head, d_ff, eps, qk_norm
        self.embed_tokens = nn.Embedding(n_words, d_model)
        self.layers = nn.ModuleList(Block(*sizes) for _ in range(n_layers))
        self.norm = nn.RMSNorm(d_model, eps)
        rates = base ** (-torch.arange(0, d_head, 2) / d_head)
        angles = torch.arange(n_positions)[:, None] * rates
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        for weight in self.parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=0.02)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        past = cache[self.layers[0].self_attn][0].shape[2] if cache else 0
        now = slice(past, past + ids.shape[1])
        if now.stop > len(self.cos):
            raise ValueError(f"{now.stop} tokens, but {len(self.cos)} positions.")
        x = self.embed_tokens(ids)  # B N D
        for layer in self.layers:
            x = layer(x, self.cos[now], self.sin[now], cache)
        return self.norm(x) @ self.embed_tokens.weight.T  # B N V, by the same table


@torch.no_grad()
def write(model, ids, n_tokens, temperature=0.0):
    cache, new = {}, ids
    for _ in range(n_tokens):
        scores = model(new, cache)[:, -1]
        new = scores.argmax(dim=-1, keepdim=True)
        if temperature:
            new = torch.multinomial((scores / temperature).softmax(dim=-1), 1)
        ids = torch.cat([ids, new], dim=1)
    return ids


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    text = torch.tensor(list(open(sys.argv[1], "rb").read()), device=device)
    model = Decoder(256, 128, 4, 4, 2, 32, 384).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(1000):
        starts = torch.randint(len(text) - 128, (32, 1), device=device)
        rows = text[starts + torch.arange(129, device=device)]
        scores = model(rows[:, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.2f}")
    print(
        bytes(write(model, text[None, :32], 200, 0.8)[0].tolist()).decode(
            "utf-8", "replace"
        )
    )
    torch.save(model.state_dict(), "decoder_2026.pt")
