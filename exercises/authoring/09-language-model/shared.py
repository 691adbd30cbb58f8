"""What the questions of exercise 09 share: sizes, slips, weights by name, and what is forbidden."""

import numpy as np

BRINGS = {"Block": "07-residual-norm"}  # and with it MultiHeadAttention and FeedForward, which it calls
NO_LAYERS_OF_TORCH = (
    "torch.nn.MultiheadAttention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.Transformer",
    "torch.nn.TransformerDecoderLayer",
    "torch.nn.TransformerEncoderLayer",
)
SIZES = (4, 5, 7, 9, 11, 13)  # no one divides another


def draw_sizes(rng, how_many, among=SIZES):
    return [int(size) for size in rng.choice(among, how_many, replace=False)]


def pair_slip(came):
    """A sentence when the result is no pair whose first entry is a number, else None."""
    if not isinstance(came, tuple | list) or len(came) != 2:
        return "A pair is expected."
    return "The first of the pair should be one number." if np.ndim(came[0]) else None


def linear(rng, name, d_in, d_out):
    return {f"{name}.weight": rng.normal(size=(d_out, d_in)) / d_in**0.5, f"{name}.bias": rng.normal(size=d_out)}


def norm(rng, name, d_model):
    return {f"{name}.weight": 1 + 0.5 * rng.normal(size=d_model), f"{name}.bias": rng.normal(size=d_model)}


def block(rng, name, d_model):
    """The weights of a Block with a hidden layer of 4 D, by the names of its parameters."""
    found = {}
    for part in ("query", "key", "value", "out"):
        found |= linear(rng, f"{name}attention.{part}", d_model, d_model)
    found |= linear(rng, f"{name}feed_forward.up", d_model, 4 * d_model)
    found |= linear(rng, f"{name}feed_forward.down", 4 * d_model, d_model)
    return found | norm(rng, f"{name}norm_1", d_model) | norm(rng, f"{name}norm_2", d_model)
