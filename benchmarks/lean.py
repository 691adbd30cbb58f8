"""A decoder as lean as eager PyTorch allows: no options, no checks, no cache; one projection for queries, keys, values.

The shapes are those of nanoGPT: norm first, learned positions, a hidden layer of 4 D, the head tied to the embedding.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.sizes import N_VOCAB, Size


class LeanBlock(nn.Module):
    """Causal attention by the fused kernel, then two layers with the exact GELU between them."""

    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        self.n_heads = n_heads
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.up, self.down = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        B, N, D = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(B, N, 3, self.n_heads, D // self.n_heads).transpose(1, 3).unbind(2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(B, N, D))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class LeanGPT(nn.Module):
    """Ids in, logits out."""

    def __init__(self, size: Size, n_positions: int):
        super().__init__()
        D = size.d_model
        self.tokens, self.positions = nn.Embedding(N_VOCAB, D), nn.Embedding(n_positions, D)
        self.blocks = nn.ModuleList(LeanBlock(D, size.n_heads) for _ in range(size.n_layers))
        self.norm = nn.LayerNorm(D)
        self.head = nn.Linear(D, N_VOCAB, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids) + self.positions.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def plain_adamw(model: nn.Module, learning_rate: float, weight_decay: float, betas: tuple[float, float]):
    """Fused AdamW that spares biases and norms, as every loop of one's own has it."""
    groups: dict[bool, list[Tensor]] = {True: [], False: []}
    for parameter in model.parameters():
        groups[parameter.dim() >= 2].append(parameter)
    decayed = {"params": groups[True], "weight_decay": weight_decay}
    return torch.optim.AdamW(
        [decayed, {"params": groups[False], "weight_decay": 0.0}], lr=learning_rate, betas=betas, fused=True
    )
