"""By how much each weight moves: AdamW, and a learning rate that rises and falls."""

import math

import torch
from torch import nn

from clearformer.train_config import TrainConfig


def learning_rate(step: int, config: TrainConfig) -> float:
    r"""The learning rate of a step, counted from 0: a linear rise, then half a cosine down to the final fraction.

    .. math::
        \eta_t = \eta \, \frac{t + 1}{W} \quad (t < W), \qquad
        \eta_t = \eta \left( f + (1 - f) \, \frac{1 + \cos \pi u}{2} \right), \quad u = \frac{t - W}{T - W}

    W is ``warmup_steps``, T ``n_steps``, f ``min_lr_ratio``; from T on the rate stays what it is at T.

    Source: Loshchilov and Hutter 2017 (SGDR), eq. 5, one period; Vaswani et al. 2017, section 5.3 for the warm-up.
    """
    if step < config.warmup_steps:
        return config.learning_rate * (step + 1) / config.warmup_steps
    u = min((step - config.warmup_steps) / max(config.n_steps - config.warmup_steps, 1), 1.0)
    f = config.min_lr_ratio
    return config.learning_rate * (f + (1 - f) * (1 + math.cos(math.pi * u)) / 2)


def adamw(model: nn.Module, config: TrainConfig) -> torch.optim.AdamW:
    """AdamW whose weight decay spares what has fewer than two axes: biases and the scales of norms.

    Before each step gradients and moments get the memory layout of their weights: the fused kernel pairs numbers by
    their order in memory, whatever the strides say.

    Source: Loshchilov and Hutter 2019, algorithm 2.
    Raises: ValueError for a model without trainable parameters.
    """
    parameters = trainable(model)
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    fused = parameters[0].device.type in ("cpu", "cuda")  # elsewhere PyTorch chooses
    optimizer = torch.optim.AdamW(groups, lr=config.learning_rate, betas=config.betas, fused=fused or None)
    optimizer.register_step_pre_hook(_align_layouts)
    return optimizer


def _align_layouts(optimizer: torch.optim.Optimizer, *_) -> None:
    for parameter in (p for group in optimizer.param_groups for p in group["params"] if p.grad is not None):
        parameter.grad = _with_layout_of(parameter, parameter.grad)
        for name, value in optimizer.state.get(parameter, {}).items():
            optimizer.state[parameter][name] = _with_layout_of(parameter, value)


def _with_layout_of(parameter: nn.Parameter, value: torch.Tensor) -> torch.Tensor:
    """The same numbers, if there is one for each of the parameter's."""
    if value.shape != parameter.shape or value.stride() == parameter.stride():
        return value
    return torch.empty_like(parameter, dtype=value.dtype).copy_(value)


def trainable(model: nn.Module) -> list[nn.Parameter]:
    """The parameters that learn. Raises: ValueError if there are none."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise ValueError(f"train: the {type(model).__name__} has no trainable parameters. Call requires_grad_(True).")
    return parameters
