"""Drawing the next token: which ones may be drawn, and the draw."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor


def keep_top_k(logits: Float[Tensor, "B V"], k: int) -> Float[Tensor, "B V"]:
    """The ``k`` largest logits of every row (more where several are equal), -inf for the others.

    Source: Fan et al. 2018, section 5.1.
    """
    least = logits.topk(min(k, logits.shape[-1])).values[:, -1:]
    return logits.masked_fill(logits < least, -math.inf)


def keep_top_p(logits: Float[Tensor, "B V"], p: float) -> Float[Tensor, "B V"]:
    """The fewest of the likeliest tokens whose probabilities together reach ``p``, -inf for the others.

    Source: Holtzman et al. 2020, section 3.1.
    """
    ordered, order = logits.sort(descending=True)
    probabilities = ordered.softmax(-1)
    before = probabilities.cumsum(-1) - probabilities
    return logits.masked_fill((before >= p).scatter(-1, order, before >= p), -math.inf)


def draw(
    logits: Float[Tensor, "B V"], top_k: int | None = None, top_p: float | None = None, generator=None
) -> Int[Tensor, "B"]:
    """One token for every row, by the probabilities that ``keep_top_k`` and then ``keep_top_p`` leave."""
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None:
        logits = keep_top_p(logits, top_p)
    return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]


def check_sampling(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """Raises: ValueError for a setting that is out of its range, or has no effect."""
    if not 0 <= temperature < math.inf:
        raise ValueError(f"generate: temperature={temperature}, expected 0 (the likeliest token) or more.")
    if top_k is not None and top_k < 1:
        raise ValueError(f"generate: top_k={top_k}, expected at least 1. Pass None to keep all tokens.")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"generate: top_p={top_p}, expected more than 0 and at most 1. Pass None to keep all tokens.")
    if temperature == 0 and (top_k is not None or top_p is not None):
        raise ValueError(
            f"generate: top_k={top_k} and top_p={top_p} with temperature=0, which takes the likeliest token anyway. "
            "Pass a temperature, e.g. 1."
        )
