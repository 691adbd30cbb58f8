"""Check of the display equation of the closer look at what the forward pass keeps."""

from functools import partial

import torch
from clearformer.attention import attend, attend_fused
from clearformer.blocks import Block
from clearformer.multihead import MultiHeadAttention

from tests.equations.registry import equation, table


@equation("eq-activations", "388dae009c")
def activations(rng):
    """Both cases of two blocks, from what autograd puts aside."""
    tokens, width, heads = [7, 10], [12, 20], [3, 4]
    explicit = table(
        lambda i: 17 * tokens[i] * width[i] + 4 * tokens[i] + 2 * heads[i] * tokens[i] ** 2,
        2,
    )
    fused = table(lambda i: 16 * tokens[i] * width[i] + 4 * tokens[i] + heads[i] * tokens[i], 2)
    sizes = list(zip(tokens, width, heads, strict=True))
    return [
        (explicit, [put_aside(*size, attend) for size in sizes]),
        (fused, [put_aside(*size, attend_fused) for size in sizes]),
    ]


def put_aside(n_tokens, width, n_heads, how):
    """The numbers that a block's forward pass keeps, each piece of memory once, weights left out."""
    attention = partial(MultiHeadAttention, attend=how)
    block = Block(width, n_heads, 4 * width, attention=attention)
    weights, found = {p.data_ptr() for p in block.parameters()}, {}

    def look(tensor):
        memory = tensor.untyped_storage()
        if tensor.is_floating_point() and memory.data_ptr() not in weights:
            found[memory.data_ptr()] = (memory.nbytes() // tensor.element_size(), tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(look, lambda tensor: tensor):
        kept_alive = block(torch.randn(1, n_tokens, width, requires_grad=True), causal=True)
    del kept_alive
    return sum(numbers for numbers, _ in found.values())
