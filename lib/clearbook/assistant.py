"""Tuning and rewards: losses on answers and on preferences, advantages and attempts."""

import math

import torch
import torch.nn.functional as F
from clearformer.lora import LowRank as LowRank  # from here on as before
from clearformer.shapes import shaped
from jaxtyping import Float, Int
from torch import Tensor

EPSILON = 1e-4  # in the spread of a group whose rewards are all alike


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
