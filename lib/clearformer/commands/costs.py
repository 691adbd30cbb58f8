"""What a model weighs and what it costs to use, from its shapes alone."""

from typing import Any

from torch import nn

from clearformer.experts import MixtureOfExperts
from clearformer.models.gpt import GPT

BYTES = {"float32": 4, "bfloat16": 2, "int8": 1}
PARTS = (  # the first that is in the name of a weight
    ("norm", "norms"),
    ("feed_forward", "feed-forward"),
    ("attention", "attention"),
    ("tokens", "embeddings"),
    ("positions", "embeddings"),
    ("segments", "embeddings"),
    ("patches", "embeddings"),
)


def weights_by_part(model: nn.Module) -> dict[str, int]:
    """How many numbers each part of a model has; what is tied counts once."""
    sizes: dict[str, int] = {}
    for name, weight in model.named_parameters():
        part = next((part for word, part in PARTS if word in name), "head and others")
        sizes[part] = sizes.get(part, 0) + weight.numel()
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def flops_of_weights(model: nn.Module) -> int:
    """2 FLOPs for every weight of a linear map that one token passes; of experts it passes only the chosen ones."""
    idle = set()
    for mixture in (m for m in model.modules() if isinstance(m, MixtureOfExperts)):
        idle |= {linear for expert in mixture.experts[mixture.top_k :] for linear in expert.modules()}
    linear = (m for m in model.modules() if isinstance(m, nn.Linear) and m not in idle)
    return 2 * sum(int(m.weight.numel()) for m in linear)


def flops_of_attention(model: GPT) -> int:
    """4 D FLOPs in each layer for every token that is seen, at the end of a full context; a window sees fewer."""
    c = model.config
    attentions: list[Any] = [block.attention for block in model.decoder.blocks]
    seen = [c.n_positions if a.window is None else min(a.window, c.n_positions) for a in attentions]
    return 4 * c.n_heads * c.d_head * sum(seen)


def cached_numbers(model: GPT) -> int:
    """How many numbers the cache holds for a token: a key and a value in each layer."""
    c = model.config
    return 2 * c.n_layers * c.n_kv_heads * c.d_head
