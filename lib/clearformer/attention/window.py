"""Attention that looks back over a number of tokens only, for a layer whose keys may lie in a cache."""

import torch
from jaxtyping import Bool
from torch import Tensor

from clearformer.attention.masks import causal_mask
from clearformer.checks import check_flag, check_whole


def window_mask(
    n_targets: int,
    n_sources: int | None = None,
    *,
    width: int,
    both_sides: bool = False,
    device: torch.device | None = None,
) -> Bool[Tensor, "N S"]:
    r"""True for a target itself and the ``width - 1`` tokens before it: a sliding window.

    .. math:: \mathrm{mask}_{n,s} = [\, n + S - N - W < s \le n + S - N \,]

    With ``both_sides`` also for the ``width - 1`` tokens behind it.

    Source: Beltagy et al. 2020, section 3.1, looking back only; to both sides as there, with a width of 2 W - 1.
    Raises: ValueError for a width below 1, or as ``causal_mask``.
    """
    width = check_whole("window_mask", "width", width)  # every target looks at itself
    both_sides = check_flag("window_mask", "both_sides", both_sides)
    seen = causal_mask(n_targets, n_sources, device=device)
    offset = seen.shape[1] - n_targets
    if both_sides:
        seen = torch.ones_like(seen).tril(offset + width - 1)
    return seen.triu(offset - width + 1)


def within_window(
    k: Tensor, v: Tensor, mask: Tensor | None, n_targets: int, width: int, *, causal: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Keys, values and mask without the sources that no target reaches, and a mask that hides the others' windows.

    The targets are the last of the sources; each sees itself and the ``width - 1`` sources before it, and as many
    behind it unless it is ``causal``.

    Source: Beltagy et al. 2020, section 3.1, looking back only; Jiang et al. 2023 (Mistral), section 2.
    Cost: a single target reads ``width`` sources, however many a cache holds.
    """
    if k.shape[2] <= width:
        return k, v, mask
    reach = n_targets + width - 1
    if mask is not None and mask.shape[-1] > 1:
        mask = mask[..., -reach:]
    k, v = k[:, :, -reach:], v[:, :, -reach:]
    if n_targets == 1:
        return k, v, mask
    seen = window_mask(n_targets, k.shape[2], width=width, both_sides=not causal, device=k.device)
    return k, v, seen if mask is None else seen & mask
