"""What a block holds beside attention: normalisation and feed-forward networks, one token at a time."""

import math
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from clearformer.checks import check_flag, check_function, check_real, check_whole
from clearformer.shapes import shaped_module

gelu_tanh = partial(F.gelu, approximate="tanh")  # GPT-2's GELU; on a CPU slower than the exact one


def gelu_sigmoid(x: Tensor) -> Tensor:
    r"""GELU with a sigmoid in place of Φ, :math:`x \, \sigma(1.702 \, x)`. Source: Hendrycks and Gimpel 2016."""
    return x * torch.sigmoid(1.702 * x)


class LayerNorm(nn.Module):
    r"""Every token gets mean 0 and variance 1 over its own features, then a learned scale and shift.

    .. math:: y_d = \gamma_d \, \frac{x_d - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta_d, \qquad
              \mu = \frac1D \sum_d x_d, \quad \sigma^2 = \frac1D \sum_d (x_d - \mu)^2

    Source: Ba et al. 2016, eq. 4; turner-v2, section 2.3, with the missing :math:`\epsilon`.
    Half-precision inputs are averaged in float32.
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = True):
        super().__init__()
        self.d_model = d_model = check_whole("LayerNorm", "d_model", d_model)
        self.eps = _eps("LayerNorm", eps)
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if check_flag("LayerNorm", "bias", bias) else None

    @shaped_module
    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class RMSNorm(nn.Module):
    r"""LayerNorm without the mean and without the shift.

    .. math:: y_d = \gamma_d \, \frac{x_d}{\sqrt{\frac1D \sum_{d'} x_{d'}^2 + \epsilon}}

    With ``around_one`` the weights are what :math:`\gamma` has beyond 1, and weight decay pulls the scale to 1.

    Source: Zhang and Sennrich 2019, eq. 4; around 1 in Gemma, as in the published code. Half-precision inputs are
    averaged in float32.
    """

    def __init__(self, d_model: int, *, eps: float = 1e-6, around_one: bool = False):
        super().__init__()
        self.d_model = d_model = check_whole("RMSNorm", "d_model", d_model)
        self.eps, self.around_one = _eps("RMSNorm", eps), check_flag("RMSNorm", "around_one", around_one)
        self.weight = nn.Parameter(torch.zeros(d_model) if around_one else torch.ones(d_model))

    @shaped_module
    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        if self.around_one:
            exact = x.to(torch.promote_types(x.dtype, torch.float32))
            return (F.rms_norm(exact, self.weight.shape, None, self.eps) * (1 + self.weight.to(exact.dtype))).to(
                x.dtype
            )
        x = x.to(torch.promote_types(x.dtype, self.weight.dtype))  # of a product under autocast, as for layer_norm
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


class FeedForward(nn.Module):
    r"""The same network with one hidden layer for every token.

    .. math:: y = W_2 \, \phi(W_1 x + b_1) + b_2

    Source: Vaswani et al. 2017, eq. 2, with ReLU; GPT and BERT take the exact GELU, :math:`\phi(z) = z \, \Phi(z)`.
    Cost: 4 D F FLOPs for every token.
    """

    def __init__(self, d_model: int, d_ff: int, *, activation: Callable[[Tensor], Tensor] = F.gelu, bias: bool = True):
        super().__init__()
        self.d_model = check_whole("FeedForward", "d_model", d_model)
        d_ff = check_whole("FeedForward", "d_ff", d_ff)
        self.activation = check_function("FeedForward", "activation", activation, "torch.nn.functional.gelu")
        self.up = nn.Linear(d_model, d_ff, bias=check_flag("FeedForward", "bias", bias))
        self.down = nn.Linear(d_ff, d_model, bias=bias)

    @property
    def writes(self) -> nn.Linear:
        """The layer that writes into the residual stream."""
        return self.down

    @shaped_module
    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        return self.down(self.activation(self.up(x)))


class GatedFeedForward(nn.Module):
    r"""SwiGLU with the default activation: a feed-forward network whose hidden units are multiplied by gates.

    .. math:: y = W_2 \, \bigl(\phi(W_g x) \odot W_1 x\bigr)

    Source: Shazeer 2020, eq. 6.
    Cost: 6 D F FLOPs for every token; with F = 2/3 of that of ``FeedForward`` the same.
    """

    def __init__(self, d_model: int, d_ff: int, *, activation: Callable[[Tensor], Tensor] = F.silu, bias: bool = False):
        super().__init__()
        self.d_model = check_whole("GatedFeedForward", "d_model", d_model)
        d_ff = check_whole("GatedFeedForward", "d_ff", d_ff)
        self.activation = check_function("GatedFeedForward", "activation", activation, "torch.nn.functional.silu")
        bias = check_flag("GatedFeedForward", "bias", bias)
        self.gate_up = nn.Linear(d_model, 2 * d_ff, bias=bias)  # W_g above W_1, one product for both
        self.down = nn.Linear(d_ff, d_model, bias=bias)

    @property
    def writes(self) -> nn.Linear:
        """The layer that writes into the residual stream."""
        return self.down

    @shaped_module
    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(self.activation(gate) * up)


def _eps(caller: str, eps: float) -> float:
    return check_real(caller, "eps", eps, lambda eps: 0 <= eps < math.inf, "at least 0, and finite")
