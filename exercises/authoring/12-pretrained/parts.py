"""The functions that the notebook gives, and right answers to the questions that others use.

The right and the wrong solutions call them by the names that they have in the notebook.
"""

import re
from math import erf

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def softmax(table):
    table = np.exp(table - table.max(axis=-1, keepdims=True))
    return table / table.sum(axis=-1, keepdims=True)


def gelu(z):
    return z * (1 + np.vectorize(erf, otypes=[float])(z / np.sqrt(2))) / 2


def gelu_tanh(z):
    return z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3))) / 2


ACTIVATIONS = {"gelu": gelu, "gelu_new": gelu_tanh, "relu": lambda z: np.maximum(z, 0)}


def linear(x, w, name):
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def norm(x, w, name, eps):
    x = x - x.mean(axis=-1, keepdims=True)
    x = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    return x * w[f"{name}.weight"] + w[f"{name}.bias"]


def attend(q, k, v, n_heads, may_look):
    heads = []
    for q_h, k_h, v_h in zip(*(np.split(part, n_heads, axis=1) for part in (q, k, v)), strict=True):
        table = np.where(may_look, q_h @ k_h.T / np.sqrt(q_h.shape[1]), -np.inf)
        heads.append(softmax(table) @ v_h)
    return np.concatenate(heads, axis=1)


PLACES = {
    "ln_1": "norm_1",
    "attn.c_attn": "qkv",
    "attn.c_proj": "out",
    "ln_2": "norm_2",
    "mlp.c_fc": "up",
    "mlp.c_proj": "down",
}


def ours_from_gpt2(theirs):
    ours = {}
    for name, array in theirs.items():
        short = name.removeprefix("transformer.")
        if short in ("wte.weight", "wpe.weight"):
            ours["tokens" if short.startswith("wte") else "positions"] = array
        elif short.startswith("ln_f."):
            ours[short.replace("ln_f", "norm")] = array
        elif found := re.fullmatch(r"h\.(\d+)\.(.+)\.(weight|bias)", short):
            block, place, kind = found.groups()
            if place not in PLACES:
                continue
            array = array.T if array.ndim == 2 else array
            if PLACES[place] == "qkv":
                for part, third in zip("qkv", np.split(array, 3), strict=True):
                    ours[f"blocks.{block}.{part}.{kind}"] = third
            else:
                ours[f"blocks.{block}.{PLACES[place]}.{kind}"] = array
    return ours


def heads_of(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # B N D -> B H N K


def turned(x):
    """Rotary positions 0, 1, … for B × H × N × K, by halves."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[-2])[:, None] / 10_000 ** (torch.arange(half) / half)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)


class AustenGPT(nn.Module):
    def __init__(self, n_vocab, d_model, n_heads, n_layers):
        super().__init__()
        self.tokens, self.n_heads = nn.Embedding(n_vocab, d_model), n_heads
        widths = {"qkv": (1, 3), "out": (1, 1), "up": (1, 4), "down": (4, 1)}
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            layers = {name: nn.Linear(a * d_model, b * d_model) for name, (a, b) in widths.items()}
            norms = {"norm_1": nn.LayerNorm(d_model), "norm_2": nn.LayerNorm(d_model)}
            self.blocks.append(nn.ModuleDict(norms | layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids):
        x = self.tokens(ids)
        for block in self.blocks:
            q, k, v = (heads_of(part, self.n_heads) for part in block["qkv"](block["norm_1"](x)).chunk(3, dim=-1))
            y = F.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True)
            x = x + block["out"](y.transpose(1, 2).flatten(2))
            x = x + block["down"](F.gelu(block["up"](block["norm_2"](x))))
        return F.linear(self.norm(x), self.tokens.weight)
