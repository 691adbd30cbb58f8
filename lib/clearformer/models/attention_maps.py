"""Who looked at whom: the attention weights of any model, for plots."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from clearformer.attention import attend
from clearformer.multihead import MultiHeadAttention


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


def looks_back(weights: dict[str, Tensor], distance: int, first: int = 0) -> Float[Tensor, "M H"]:
    r"""How much each head looks back by exactly ``distance`` tokens: a row for each layer, a column for each head.

    .. math:: S_h(\delta) = \frac{1}{N - n_0} \sum_{n = n_0 + 1}^N [A_h]_{n - \delta, n}

    ``weights`` are those of ``attention_weights``, ``first`` is :math:`n_0`, the number of targets at the beginning
    that are left out; the mean is over the batch, too. A previous-token head has a large score at the distance 1, an
    induction head, on two copies of L random tokens, at L - 1 with n_0 = L.

    Source: Olsson et al. 2022, section "Evidence", for both scores; Elhage et al. 2021 for what they find.
    Raises: ValueError if no target is left, or some target has no source at that distance.
    """
    n_targets, n_sources = next(iter(weights.values())).shape[-2:]
    if not 0 <= distance < n_sources or not 0 <= first < n_targets:
        raise ValueError(
            f"looks_back: distance={distance}, first={first} with {n_targets} targets and {n_sources} sources, "
            "expected both from 0 on and below these numbers. Take a longer text."
        )
    first = max(first, distance)
    means = [A.diagonal(-distance, -2, -1)[..., first - distance :].mean(dim=(0, -1)) for A in weights.values()]
    return torch.stack(means)
