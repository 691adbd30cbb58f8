"""The functions that the notebook gives, and right answers to the questions that others use.

The right and the wrong solutions call them by the names that they have in the notebook.
"""

import re
from math import erf

import numpy as np


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
    "ln_1": "norm_1", "attn.c_attn": "qkv", "attn.c_proj": "out", "ln_2": "norm_2", "mlp.c_fc": "up",
    "mlp.c_proj": "down",
}  # fmt: skip


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
