"""What heads of attention do, in numbers: how much each of them looks back by a given distance."""

import torch
from jaxtyping import Float
from torch import Tensor


def diagonal_score(weights: dict[str, Tensor], distance: int, first: int = 0) -> Float[Tensor, "M H"]:
    r"""How much each head looks back by exactly ``distance`` tokens: a row for each layer, a column for each head.

    .. math:: S_h(\delta) = \frac{1}{N - n_0} \sum_{n = n_0 + 1}^N [A_h]_{n - \delta, n}

    ``weights`` are those of ``attention_weights``. :math:`n_0` is the number of targets at the beginning that are left
    out: ``first``, or the distance where that is more, for so many have no source that far back. The mean is over the
    batch, too. A previous-token head has a large score at the distance 1, an
    induction head, on two copies of L random tokens, at L - 1 with n_0 = L.

    Source: Olsson et al. 2022, section "Evidence", for both scores; Elhage et al. 2021 for what they find.
    Raises: ValueError if no target is left, or if targets and sources are not the same tokens.
    """
    n_targets, n_sources = next(iter(weights.values())).shape[-2:]
    if n_targets != n_sources or not 0 <= distance < n_targets or not 0 <= first < n_targets:
        raise ValueError(
            f"diagonal_score: distance={distance}, first={first} with {n_targets} targets and {n_sources} sources, "
            "expected as many sources as targets, and both from 0 on and below their number. Take a longer text."
        )
    first = max(first, distance)
    means = [A.diagonal(-distance, -2, -1)[..., first - distance :].mean(dim=(0, -1)) for A in weights.values()]
    return torch.stack(means)
