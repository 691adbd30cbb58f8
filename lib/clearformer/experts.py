"""Mixture of experts: many feed-forward networks, of which every token uses a few."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.layers import FeedForward
from clearformer.linear import Linear


class MixtureOfExperts(nn.Module):
    r"""A router sends every token through the ``top_k`` experts it thinks best of, and weighs what they say.

    .. math:: p_n = \mathrm{softmax}(W_r x_n), \qquad
              y_n = \sum_{e \in \mathrm{top}_k(p_n)} p_{e,n} \, f_e(x_n)

    ``d_hidden`` is the hidden width of one expert. After a pass ``probabilities`` and ``chosen`` hold what the router
    said, which ``load_balance`` turns into a loss.

    Source: Shazeer et al. 2017, eq. 1; the weights as in Fedus et al. 2022, eq. 2, which for ``top_k=1`` must not be
    divided by their sum: the router would get no gradient.
    Cost: for every token 4 D F FLOPs for each of ``top_k`` experts and 2 D E for the router.
    Raises: ValueError if ``top_k`` is not from 1 to ``n_experts``.
    """

    def __init__(
        self,
        d_model: int,
        d_hidden: int,
        *,
        n_experts: int,
        top_k: int = 1,
        activation: Callable[[Tensor], Tensor] = F.gelu,
        bias: bool = True,
    ):
        super().__init__()
        if not 1 <= top_k <= n_experts:
            raise ValueError(f"MixtureOfExperts: top_k={top_k}, expected 1 to n_experts={n_experts}.")
        self.top_k = top_k
        self.router = Linear(d_model, n_experts, bias=False)
        experts = (FeedForward(d_model, d_hidden, activation=activation, bias=bias) for _ in range(n_experts))
        self.experts = nn.ModuleList(experts)
        self.probabilities = self.chosen = None

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        tokens = x.flatten(0, -2)
        self.probabilities = self.router(tokens).softmax(dim=-1)
        weights, self.chosen = self.probabilities.topk(self.top_k, dim=-1)
        y = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            rows, place = (self.chosen == e).nonzero(as_tuple=True)
            y = y.index_add(0, rows, weights[rows, place, None] * expert(tokens[rows]))
        return y.view_as(x)


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
