"""What a block holds beside attention: normalisation and feed-forward networks, one token at a time."""

import contextlib
import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.checks import check_flag, check_function, check_real, check_whole
from clearformer.shapes import shaped, shaped_module

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


class MixtureOfExperts(nn.Module):
    r"""A router sends every token through the ``top_k`` experts it thinks best of, and weighs what they say.

    .. math:: p_n = \mathrm{softmax}(W_r x_n), \qquad y_n = \sum_{e \in \mathrm{top}_k(p_n)} p_{e,n} \, f_e(x_n)

    ``d_ff`` is the hidden width of one expert, ``options`` are those of ``FeedForward``. ``routings`` collects what the
    router says, which ``load_balance`` turns into a loss.

    Source: Shazeer et al. 2017, eq. 1; the weights as in Fedus et al. 2022, eq. 2, which for ``top_k=1`` must not be
    divided by their sum: the router would get no gradient.
    Cost: for every token 4 D F FLOPs for each of ``top_k`` experts and 2 D E for the router.
    Raises: ValueError if ``top_k`` is not from 1 to ``n_experts``.
    """

    def __init__(self, d_model: int, d_ff: int, *, n_experts: int, top_k: int = 1, **options):
        super().__init__()
        n_experts = check_whole("MixtureOfExperts", "n_experts", n_experts)
        self.d_model = check_whole("MixtureOfExperts", "d_model", d_model)
        self.top_k = check_whole("MixtureOfExperts", "top_k", top_k, most=n_experts)
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(FeedForward(d_model, d_ff, **options) for _ in range(n_experts))
        self.routings: list[tuple[Tensor, Tensor]] | None = None  # filled only within ``routings``

    def __getstate__(self):
        return self.__dict__ | {"routings": None}  # nobody collects what a copy says

    @shaped_module
    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        tokens = x.reshape(-1, x.shape[-1])
        probabilities = self.router(tokens).softmax(dim=-1)
        weights, chosen = probabilities.topk(self.top_k, dim=-1)
        if self.routings is not None:
            self.routings.append((probabilities, chosen))
        y = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            rows, place = (chosen == e).nonzero(as_tuple=True)
            y = y.index_add(0, rows, (weights[rows, place, None] * expert(tokens[rows])).to(y.dtype))
        return y.reshape(x.shape)


@contextlib.contextmanager
def routings(module: nn.Module) -> Iterator[list[tuple[Float[Tensor, "N E"], Int[Tensor, "N k"]]]]:
    """What the routers of a module say meanwhile: probabilities and chosen experts of every pass, in their order.

    ::

        with routings(model) as passes:
            loss = next_token_loss(model, ids, targets)
        loss = loss + 0.01 * sum(load_balance(*said) for said in passes) / len(passes)
    """
    layers = [layer for layer in module.modules() if isinstance(layer, MixtureOfExperts)]
    before = [layer.routings for layer in layers]
    passes: list[tuple[Tensor, Tensor]] = []
    try:
        for layer in layers:
            layer.routings = passes
        yield passes
    finally:
        for layer, outer in zip(layers, before, strict=True):
            layer.routings = outer


@shaped
def load_balance(probabilities: Float[Tensor, "N E"], chosen: Int[Tensor, "N k"]) -> Float[Tensor, ""]:
    r"""1 if every expert gets the same share of the tokens, up to E if one gets them all.

    .. math:: E \sum_{e=1}^{E} f_e P_e, \qquad f_e = \text{share of choices that fell on } e, \qquad
              P_e = \frac1N \sum_n p_{e,n}

    The shares f have no gradient; the loss moves the router through P.

    Source: Fedus et al. 2022, eq. 4 to 6, without the factor that weighs it.
    """
    n_experts = probabilities.shape[-1]
    shares = torch.bincount(chosen.flatten(), minlength=n_experts).to(probabilities) / chosen.numel()
    return n_experts * (shares * probabilities.mean(dim=0)).sum()


def _eps(caller: str, eps: float) -> float:
    return check_real(caller, "eps", eps, lambda eps: 0 <= eps < math.inf, "at least 0, and finite")
