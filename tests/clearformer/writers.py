"""Small models that write, and what they are asked to go on with."""

import types

import pytest
import torch
from clearformer.cache import KVCache
from clearformer.layers import RMSNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.positions import Rotary
from torch import nn

from tests.clearformer.models import random_module

V, N_POSITIONS, D, H, M, B, N = 11, 30, 24, 3, 2, 4, 5
LEARNED = GPTConfig(V, N_POSITIONS, D, H, M)
ROTARY = GPTConfig(V, N_POSITIONS, D, H, M, rope=Rotary, n_kv_heads=1)
NORMED = GPTConfig(V, N_POSITIONS, D, 5, M, rope=Rotary, d_head=10, qk_norm=RMSNorm)
CONFIGS = {"learned": LEARNED, "rotary": ROTARY, "normed": NORMED}
EACH = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
PROMPTS = [[1, 2, 3], [4], [5, 6, 7, 8, 9, 10], [0, 1]]


def gpt(config=LEARNED, device="cpu"):
    return random_module(GPT(config), torch.float64, device).eval()


def prompts(device="cpu"):
    return torch.randint(V, (B, N), device=device)


def seeded_rng(seed=3, device="cpu"):
    return torch.Generator(device).manual_seed(seed)


class Successor(nn.Module):
    """Not one of ours: after id i comes i + 1. It needs no cache, and none of our base classes."""

    def __init__(self):
        super().__init__()
        self.config = types.SimpleNamespace(n_vocab=V, n_positions=N_POSITIONS)
        self.head = nn.Linear(V, V, bias=False)
        self.head.weight.data = torch.eye(V).roll(1, 0)

    def hidden_states(self, ids, mask=None, *, cache=None, positions=None):
        return nn.functional.one_hot(ids, V).float()

    def new_cache(self, batch, n_positions):
        return KVCache(1, batch, 1, n_positions, 1)
