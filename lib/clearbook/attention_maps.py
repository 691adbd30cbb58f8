"""Who looked at whom: the attention weights of any model, for plots."""

import torch
from clearformer.attention import attend
from clearformer.multihead import MultiHeadAttention
from torch import Tensor, nn


@torch.no_grad()
def attention_weights(model: nn.Module, *inputs, **options) -> dict[str, Tensor]:
    """Run ``model(*inputs, **options)`` and return the weights of each attention, (batch, heads, targets, sources).

    The keys are the names of the modules in the order of use, for example ``decoder.blocks.0.attention``. For the run
    the fused kernel, which never has the weights, gives way to ``attention.attend``.

    Raises: ValueError for a model without any ``MultiHeadAttention``.
    """
    layers = {name: module for name, module in model.named_modules() if isinstance(module, MultiHeadAttention)}
    if not layers:
        raise ValueError(
            f"attention_weights: {type(model).__name__} holds no MultiHeadAttention, so there is nothing to see."
        )
    weights, before = {}, {name: layer.attend for name, layer in layers.items()}
    hooks = []
    try:
        for name, layer in layers.items():
            layer.attend = attend
            hooks.append(layer.register_forward_hook(lambda m, i, output, name=name: weights.update({name: output[1]})))
        model(*inputs, **options)
    finally:
        for hook in hooks:
            hook.remove()
        for name, layer in layers.items():
            layer.attend = before[name]
    return weights
