"""Who looked at whom: the attention weights of any model, for plots."""

import torch
from clearformer.attention import SOFTMAX, attend, attend_linear, attend_recurrent
from clearformer.multihead import MultiHeadAttention
from clearformer.pretrained.convert import is_headless
from torch import Tensor, nn

INSTEAD = dict.fromkeys(SOFTMAX, attend) | {attend_recurrent: attend_linear}  # the same, with weights to see


def _body(model: nn.Module):
    """What can be called: of a model that was loaded without a head what it has below it."""
    if not is_headless(model):
        return model
    return model.encode if hasattr(model, "encode") else model.hidden_states


@torch.no_grad()
def attention_weights(model: nn.Module, *inputs, **options) -> dict[str, Tensor]:
    """Run ``model(*inputs, **options)`` and return the weights of each attention, (batch, heads, targets, sources).

    The keys are the names of the modules in the order of use, for example ``decoder.blocks.0.attention``. For the run
    the fused kernel, which never has the weights, gives way to ``attention.attend``, and ``attend_recurrent`` to
    ``attend_linear``; of another function the weights are its own.

    Raises: ValueError for a model without any ``MultiHeadAttention``, or a function of attention that gives no weights.
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
            layer.attend = INSTEAD.get(getattr(layer.attend, "func", layer.attend), layer.attend)  # of a partial, too
            hooks.append(layer.register_forward_hook(lambda m, i, output, name=name: weights.update({name: output[1]})))
        _body(model)(*inputs, **options)
    finally:
        for hook in hooks:
            hook.remove()
        for name, layer in layers.items():
            layer.attend = before[name]
    for name in weights:
        if weights[name] is None:
            raise ValueError(
                f"attention_weights: {before[name]} in {name} gave None, expected the weights as its second result. "
                "Return them, or run the model with attention.attend."
            )
    return weights
