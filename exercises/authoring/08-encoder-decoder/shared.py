"""What the questions of exercise 08 share: weights by name, and what is forbidden."""

import numpy as np
from clearcheck import Inputs

BRINGS = {"Block": "07-residual-norm"}  # and with it FeedForward, which it calls
LARGE = 1e-3  # tolerance where scores are in the hundreds: they are rounded, and so are their exponentials
A_MODULE = {  # what is said of every question that asks for one
    "seconds": 20.0,
    "inputs": Inputs(no_sizes="the sizes are those of a module", no_softmax="the scores are made inside"),
    "how": "module",
    "forbids": (
        "torch.nn.MultiheadAttention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.Transformer",
        "torch.nn.TransformerDecoderLayer",
        "torch.nn.TransformerEncoderLayer",
    ),
}


def looking_back(tokens):
    """The causal mask: True where a target may look."""
    return np.tri(tokens, dtype=bool)


def padding(rows, sources, lengths):
    """The mask of the source, rows × 1 × 1 × sources: True where there is a word."""
    return np.broadcast_to(np.arange(sources) < np.array(lengths)[:, None], (rows, sources))[:, None, None].copy()


def linear(rng, name, d_in, d_out):
    return {f"{name}.weight": rng.normal(size=(d_out, d_in)) / d_in**0.5, f"{name}.bias": rng.normal(size=d_out)}


def norm(rng, name, d_model):
    return {f"{name}.weight": 1 + 0.5 * rng.normal(size=d_model), f"{name}.bias": rng.normal(size=d_model)}


def attention(rng, name, d_model):
    found = {}
    for part in ("query", "key", "value", "out"):
        found |= linear(rng, f"{name}{part}", d_model, d_model)
    return found


def block(rng, name, d_model, d_ff, cross):
    """The weights of a Block, or of a DecoderBlock, by the names of their parameters."""
    found = attention(rng, f"{name}attention.", d_model) | (attention(rng, f"{name}cross.", d_model) if cross else {})
    found |= linear(rng, f"{name}feed_forward.up", d_model, d_ff)
    found |= linear(rng, f"{name}feed_forward.down", d_ff, d_model)
    for number in range(1, 4 if cross else 3):
        found |= norm(rng, f"{name}norm_{number}", d_model)
    return found


def adding_nothing(weights, *layers):
    """The same weights with those of these layers at 0: the part that ends in such a layer leaves the stream alone."""
    return weights | {
        f"{layer}.{kind}": 0 * weights[f"{layer}.{kind}"] for layer in layers for kind in ("weight", "bias")
    }


LAST = np.s_[:, -1, 0]  # one feature of the last token: a norm would take off what all of them have more


def alter(values, place):
    """Other numbers, or other ids, at a position."""
    changed = values.copy()
    changed[place] = values[place] + 1.5 if values.dtype.kind == "f" else (values[place] + 1) % (values.max() + 1)
    return changed


def differ(one, two):
    """Which tokens of two outputs differ, in any row or feature."""
    return np.abs(one - two).max(axis=(0, 2)) > 1e-4
