"""A decoder of 2026 on one page; its weights are named as in Llama's or Qwen's files.

python decoder_2026.py < FILE.txt     learns its bytes, writes, saves decoder_2026.pt
"""

import sys
from collections import namedtuple

import torch
import torch.nn.functional as F
from torch import nn

Sizes = namedtuple(
    "Sizes",
    "n_words d_model n_layers n_heads n_groups d_head d_ff longest base eps qk_norm",
)


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)  # feature i turns with feature i + K / 2
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class Attention(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        if sizes.n_heads % sizes.n_groups or sizes.d_head % 2:
            raise ValueError(f"n_groups must divide n_heads, d_head be even: {sizes}.")
        d_model, self.d_head = sizes.d_model, sizes.d_head
        self.q_proj = nn.Linear(d_model, sizes.n_heads * self.d_head, bias=False)
        self.k_proj = nn.Linear(d_model, sizes.n_groups * self.d_head, bias=False)
        self.v_proj = nn.Linear(d_model, sizes.n_groups * self.d_head, bias=False)
        self.o_proj = nn.Linear(sizes.n_heads * self.d_head, d_model, bias=False)
        norm = nn.RMSNorm if sizes.qk_norm else nn.Identity  # which takes anything
        self.q_norm = norm(self.d_head, sizes.eps)
        self.k_norm = norm(self.d_head, sizes.eps)

    def forward(self, x, cos, sin, cache):
        q = rotate(self.q_norm(self.split(self.q_proj(x))), cos, sin)  # B H N K
        k = rotate(self.k_norm(self.split(self.k_proj(x))), cos, sin)  # B G N K
        v = self.split(self.v_proj(x))
        if self in cache:  # old keys were turned by their own positions
            k = torch.cat([cache[self][0], k], dim=2)  # B G S K
            v = torch.cat([cache[self][1], v], dim=2)
        cache[self] = k, v
        N, S = q.shape[2], k.shape[2]  # target n, from 0, is source S - N + n
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
    def __init__(self, sizes):
        super().__init__()
        self.self_attn = Attention(sizes)
        self.mlp = SwiGLU(sizes.d_model, sizes.d_ff)
        self.input_layernorm = nn.RMSNorm(sizes.d_model, sizes.eps)
        self.post_attention_layernorm = nn.RMSNorm(sizes.d_model, sizes.eps)

    def forward(self, x, cos, sin, cache):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, cache)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.embed_tokens = nn.Embedding(sizes.n_words, sizes.d_model)
        self.layers = nn.ModuleList(Block(sizes) for _ in range(sizes.n_layers))
        self.norm = nn.RMSNorm(sizes.d_model, sizes.eps)
        nn.init.normal_(self.embed_tokens.weight, std=0.02)
        rates = sizes.base ** (-torch.arange(0, sizes.d_head, 2) / sizes.d_head)
        angles = torch.arange(sizes.longest)[:, None] * rates
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, ids, cache=None):
        cache = {} if cache is None else cache
        past = cache[self.layers[0].self_attn][0].shape[2] if cache else 0
        end = past + ids.shape[1]
        if end > len(self.cos):
            raise ValueError(f"{end} tokens, but only {len(self.cos)} positions.")
        try:
            x = self.embed_tokens(ids)  # B N D
        except IndexError:
            raise ValueError(f"No token {ids.max()} in {self.embed_tokens}.") from None
        for layer in self.layers:
            x = layer(x, self.cos[past:end], self.sin[past:end], cache)
        return self.norm(x) @ self.embed_tokens.weight.T  # B N V, by the same table


@torch.no_grad()
def write(model, ids, n_tokens):  # the likeliest token each time, and no end
    cache, new = {}, ids
    for _ in range(n_tokens):
        new = model(new, cache)[:, -1].argmax(dim=-1, keepdim=True)
        ids = torch.cat([ids, new], dim=1)
    return ids


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    text = torch.tensor(list(sys.stdin.buffer.read()), device=device)
    sizes = Sizes(256, 128, 4, 4, 2, 32, 384, 512, 10_000.0, 1e-5, qk_norm=True)
    model = Decoder(sizes).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step in range(1, 1001):
        starts = torch.randint(len(text) - 128, (32, 1), device=device)
        rows = text[starts + torch.arange(129, device=device)]  # B N + 1
        scores = model(rows[:, :-1])  # B N V
        loss = F.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.2f}")
    written = bytes(write(model, text[None, :32], 200)[0].tolist())
    print(written.decode(errors="replace"))
    torch.save(model.state_dict(), "decoder_2026.pt")
