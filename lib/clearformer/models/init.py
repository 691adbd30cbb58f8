"""Weights at the start, for ``Module.apply``, and the parts that the configuration of a model chooses."""

from collections.abc import Callable
from functools import partial

from torch import nn

from clearformer.layers import FeedForward, LayerNorm


def block_parts(config, norm: Callable = LayerNorm, feed_forward: Callable = FeedForward) -> dict:
    """What the blocks of a model are built with: norms with its ``eps``, networks with its ``activation``."""
    return {"norm": partial(norm, eps=config.eps), "feed_forward": partial(feed_forward, activation=config.activation)}


def tie_again(model: nn.Module, *_) -> None:
    """After ``load_state_dict(assign=True)``, by which a weight that embedding and head share has become two."""
    head, tokens = getattr(model.head, "weight", None), model.tokens.weight
    if isinstance(head, nn.Parameter) and head is not tokens and head.equal(tokens):
        model.head.weight = tokens


def small_normal(module: nn.Module, draw: Callable = nn.init.normal_) -> None:
    """Weights of a standard deviation of 0.02, biases 0."""
    if isinstance(module, nn.Linear | nn.Embedding):
        draw(module.weight, std=0.02)
        if getattr(module, "bias", None) is not None:
            nn.init.zeros_(module.bias)


def residual_writers(block: nn.Module) -> list:
    """The layers by which a block's attention and network write into the residual stream, as their ``writes`` says;
    experts share one token's output, and have none.
    """
    parts = (block.attention, block.feed_forward)
    return [part.writes for part in parts if hasattr(part, "writes")]


def truncated_normal(module: nn.Module) -> None:
    """``small_normal`` within two standard deviations. Source: Devlin et al. 2019, as in the published code."""
    small_normal(module, partial(nn.init.trunc_normal_, a=-0.04, b=0.04))


def glorot(module: nn.Module) -> None:
    """Uniform weights of variance 2 / (inputs + outputs), biases 0.

    Queries, keys and values are three projections, though one matrix holds them.

    Source: Glorot and Bengio 2010, eq. 16; He et al. 2022, appendix A.1.
    """
    for name, linear in module.named_children():
        if isinstance(linear, nn.Linear):
            for part in linear.weight.split(module.widths) if name == "qkv" else (linear.weight,):
                nn.init.xavier_uniform_(part)
            if linear.bias is not None:
                nn.init.zeros_(linear.bias)
