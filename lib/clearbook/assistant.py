"""From model to assistant: adapters of low rank, losses on answers and on preferences, advantages and attempts."""

import copy
import math

import torch
import torch.nn.functional as F
from clearformer.shapes import shaped
from jaxtyping import Float, Int
from torch import Tensor, nn

EPSILON = 1e-4  # in the spread of a group whose rewards are all alike


class LowRank(nn.Module):
    r"""A linear map that stays as it is, and a product of two thin matrices that is trained beside it.

    .. math:: y = W x + b + B A x

    B begins at zero, so the layer begins as the map that it was given.

    Source: Hu et al. 2021, section 4.1, without their factor alpha / r.
    Cost: r (d_in + d_out) parameters and 2 r (d_in + d_out) FLOPs a token more.
    """

    def __init__(self, linear: nn.Linear, rank: int):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        A = torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features)
        self.A = nn.Parameter(A.to(linear.weight))
        self.B = nn.Parameter(linear.weight.new_zeros(linear.out_features, rank))

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        return self.linear(x) + x @ self.A.T @ self.B.T

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """One linear map that gives the same; this layer stays as it is."""
        merged = copy.deepcopy(self.linear)
        merged.weight.copy_(self.weight)
        return merged

    @property
    def weight(self) -> Float[Tensor, "d_out d_in"]:
        """W + B A, for what takes a part of the map, as cross-attention does, which projects its source alone."""
        return self.linear.weight + self.B @ self.A

    @property
    def bias(self) -> Float[Tensor, "d_out"] | None:
        return self.linear.bias


@shaped
def counted_loss(
    logits: Float[Tensor, "B N V"], asked: Int[Tensor, "B N"], counts: Float[Tensor, "B N"]
) -> Float[Tensor, ""]:
    """The mean surprise, in nats, at those tokens for which ``counts`` is 1; the others are only read."""
    losses = F.cross_entropy(logits.mT, asked, reduction="none")
    return (counts * losses).sum() / counts.sum()


@shaped
def preference_loss(
    chosen: Float[Tensor, "B"],
    rejected: Float[Tensor, "B"],
    reference_chosen: Float[Tensor, "B"],
    reference_rejected: Float[Tensor, "B"],
    beta: float,
) -> Float[Tensor, ""]:
    r"""The loss of direct preference optimisation, from the log-probabilities of whole answers.

    .. math:: -\log \sigma \bigl( \beta \, [(\log \pi_c - \log \rho_c) - (\log \pi_r - \log \rho_r)] \bigr)

    Source: Rafailov et al. 2023, equation 7.
    """
    margin = (chosen - reference_chosen) - (rejected - reference_rejected)
    return -F.logsigmoid(beta * margin).mean()


@shaped
def group_advantages(rewards: Float[Tensor, "problems attempts"]) -> Float[Tensor, "problems attempts"]:
    """Each reward against the mean of its row, in standard deviations of the row; zeros where a row is all alike.

    Source: Shao et al. 2024, section 4.1.2.
    """
    centred = rewards - rewards.mean(dim=1, keepdim=True)
    return centred / (rewards.std(dim=1, correction=0, keepdim=True) + EPSILON)


def pass_at(k: int, right: Int[Tensor, "P"], n: int) -> Float[Tensor, "P"]:
    r"""The chance that among k of n attempts, drawn without putting back, at least one is right, for each problem.

    .. math:: 1 - \binom{n - c}{k} \Big/ \binom{n}{k}

    Source: Chen et al. 2021, equation 1. Raises: ValueError for more attempts than were made.
    """
    if not 1 <= k <= n:
        raise ValueError(f"pass_at: k={k} of n={n} attempts, expected k from 1 to n.")
    return torch.tensor([1 - math.comb(n - int(c), k) / math.comb(n, k) for c in right])
