"""What a block holds beside attention: normalisation and the feed-forward network, one token at a time."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from clearformer.linear import Linear

gelu_tanh = partial(F.gelu, approximate="tanh")  # GPT-2's GELU; on a CPU slower than the exact one


class LayerNorm(nn.Module):
    r"""Every token gets mean 0 and variance 1 over its own features, then a learned scale and shift.

    .. math:: y_d = \gamma_d \, \frac{x_d - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta_d, \qquad
              \mu = \frac1D \sum_d x_d, \quad \sigma^2 = \frac1D \sum_d (x_d - \mu)^2

    Source: Ba et al. 2016, eq. 4; turner-v2, section 2.3, with the missing :math:`\epsilon`.
    Half-precision inputs are averaged in float32.
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = True):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class RMSNorm(nn.Module):
    r"""LayerNorm without the mean and without the shift.

    .. math:: y_d = \gamma_d \, \frac{x_d}{\sqrt{\frac1D \sum_{d'} x_{d'}^2 + \epsilon}}

    Source: Zhang and Sennrich 2019, eq. 4. Half-precision inputs are averaged in float32.
    """

    def __init__(self, d_model: int, *, eps: float = 1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


class FeedForward(nn.Module):
    r"""The same network with one hidden layer for every token.

    .. math:: y = W_2 \, \phi(W_1 x + b_1) + b_2

    Source: Vaswani et al. 2017, eq. 2, with ReLU; GPT and BERT take the exact GELU,
    :math:`\phi(z) = z \, \Phi(z)`.
    Cost: 4 D F FLOPs for every token.
    """

    def __init__(
        self, d_model: int, d_hidden: int, *, activation: Callable[[Tensor], Tensor] = F.gelu, bias: bool = True
    ):
        super().__init__()
        self.activation = activation
        self.up = Linear(d_model, d_hidden, bias=bias)
        self.down = Linear(d_hidden, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        return self.down(self.activation(self.up(x)))


class GatedFeedForward(nn.Module):
    r"""A feed-forward network whose hidden units are multiplied by gates; SwiGLU with the default activation.

    .. math:: y = W_2 \, \bigl(\phi(W_g x) \odot W_1 x\bigr)

    Source: Shazeer 2020, eq. 6.
    Cost: 6 D F FLOPs for every token; with F = 2/3 of that of ``FeedForward`` the same.
    """

    def __init__(
        self, d_model: int, d_hidden: int, *, activation: Callable[[Tensor], Tensor] = F.silu, bias: bool = False
    ):
        super().__init__()
        self.activation = activation
        self.gate_up = Linear(d_model, 2 * d_hidden, bias=bias)  # W_g above W_1, one product for both
        self.down = Linear(d_hidden, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(self.activation(gate) * up)
