"""The small GPTs of *Train one here* from parts of the library, with the same first weights and the same rows."""

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from clearformer.attention import attend
from clearformer.blocks import Block
from clearformer.layers import LayerNorm
from clearformer.models.gpt import GPT, GPTConfig
from clearformer.multihead import MultiHeadAttention
from torch import Tensor, nn

LETTERS, TOKENS, WIDTH, BATCH, SHORTEST, LONGEST = 12, 12, 16, 16, 4, 7
BITS = 0xFFFFFFFF


class WithoutResidual(Block):
    """What a part writes takes the place of what was there."""

    def joined(self, x, parts):
        for part, norm in parts:
            x = part(norm(x)) if self.norm_first else norm(part(x))
        return x


class NoNorm(nn.Identity):
    def __init__(self, d_model: int, *, eps: float):
        super().__init__()


def attention(mask: str, scaled: bool) -> Callable:
    """The library's ``attend`` with the mask before or after the softmax, or none, and with or without 1 / √K."""

    def own(q, k, v, _=None, *, causal=False):
        q = q if scaled else q * math.sqrt(q.shape[-1])
        y, weights = attend(q, k, v, causal=mask == "before")
        return (weights.tril() @ v, weights.tril()) if mask == "after" else (y, weights)

    return own


def gpt(options: dict, seed: int) -> GPT:
    block = Block if options["residual"] else WithoutResidual
    config = GPTConfig(
        LETTERS,
        TOKENS,
        WIDTH,
        1,
        options["blocks"],
        d_ff=options["hidden"],
        activation=F.relu,
        tied=False,
        norm=NoNorm if options["norm"] == "none" else LayerNorm,
        attend=attention(options["mask"], options["scaled"]),
        block=partial(block, norm_first=options["norm"] != "post"),
    )
    model = GPT(config).double()
    if not options["positions"]:
        model.positions = None
    for name, weight in model.named_parameters():
        weight.data = first_weights(name, weight, seed)
    return model


def first_weights(name: str, weight: Tensor, seed: int) -> Tensor:
    """Drawn, if a matrix, and otherwise 1 for the scale of a norm and 0 for a shift."""
    if weight.ndim == 1:
        return torch.full_like(weight, float("norm" in name and name.endswith("weight")))
    embedded = name in ("tokens.weight", "positions.weight")
    deviation = 1 if embedded else 0.5 / math.sqrt(weight.shape[1])
    for character in name:
        seed = (seed * 31 + ord(character)) & BITS
    draw = uniform(seed)
    normal = [
        deviation * math.sqrt(-2 * math.log(1 - next(draw))) * math.cos(2 * math.pi * next(draw))
        for _ in weight.view(-1)
    ]
    return torch.tensor(normal, dtype=torch.float64).view(weight.shape)


def uniform(seed: int) -> Iterator[float]:
    """mulberry32."""
    while True:
        seed = (seed + 0x6D2B79F5) & BITS
        t = (seed ^ (seed >> 15)) * (1 | seed) & BITS
        t = ((t + ((t ^ (t >> 7)) * (61 | t) & BITS)) & BITS) ^ t
        yield ((t ^ (t >> 14)) & BITS) / 2**32


def rows(draw: Iterator[float]) -> Tensor:
    """A batch: 4 to 7 different letters, then the same again, to 13."""
    return torch.tensor([row(draw, SHORTEST + i % (LONGEST - SHORTEST + 1)) for i in range(BATCH)])


def row(draw: Iterator[float], length: int) -> list[int]:
    letters = list(range(LETTERS))
    for i in range(length):
        j = i + math.floor(next(draw) * (LETTERS - i))
        letters[i], letters[j] = letters[j], letters[i]
    return [letters[n % length] for n in range(TOKENS + 1)]


def loss_of(model: GPT, batch: Tensor) -> Tensor:
    return F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())


def losses(options: dict, seed: int, steps: int) -> list[float]:
    """The loss of each step by ``torch.optim.Adam``."""
    model, draw = gpt(options, seed), uniform(seed + 1000)
    adam = torch.optim.Adam(model.parameters(), lr=options["rate"])
    found = []
    for _ in range(steps):
        adam.zero_grad()
        loss = loss_of(model, rows(draw))
        loss.backward()
        adam.step()
        found.append(loss.item())
    return found


def slopes(options: dict, seed: int) -> dict[str, list[float]]:
    """The slope of the first loss by each weight."""
    model = gpt(options, seed)
    loss_of(model, rows(uniform(seed + 1000))).backward()
    return {
        name: weight.grad.flatten().tolist() for name, weight in model.named_parameters() if weight.grad is not None
    }


def maps(options: dict, seed: int, ids: list[int]) -> list[list[float]]:
    """The weights of attention of each block on one row, before the first step."""
    model = gpt(options, seed)
    found: list[list[float]] = []
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.register_forward_hook(lambda _, __, output: found.append(output[1].flatten().tolist()))
    model(torch.tensor([ids]))
    return found
