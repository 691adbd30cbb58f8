"""What a model weighs and what it costs to use, from its shapes alone."""

from typing import Any

from torch import nn

from clearformer.experts import MixtureOfExperts
from clearformer.latent import LatentAttention
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
    ("registers", "embeddings"),
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
    """2 FLOPs in each layer for every feature that a head compares or adds up, for every token that is seen.

    At the end of a full context; a window sees fewer tokens.
    """
    c = model.config
    attentions: list[Any] = [block.attention for block in model.decoder.blocks]
    read: list[int] = [_features(a, c.d_head) * _seen(a, c.n_positions) for a in attentions]
    return 2 * c.n_heads * sum(read)


def _features(attention: Any, d_head: int) -> int:
    """How many numbers a head reads of one token: its key and its value."""
    if isinstance(attention, LatentAttention):
        return attention.d_unturned + attention.d_turned + attention.d_value
    return 2 * d_head


def _seen(attention: Any, n_positions: int) -> int:
    window = getattr(attention, "window", None)
    return n_positions if window is None else min(window, n_positions)


def cached_numbers(model: GPT) -> int:
    """How many numbers the cache holds for a token: in each layer its keys and values, or what they are made of."""
    return sum(layer.k.numel() + layer.v.numel() for layer in model.new_cache(1, 1).layers)
