"""Who may look at whom: True where a target may look at a source; join masks with ``&``.

A mask, and a bias as well, has the shape (targets, sources) or as many axes as the scores, (batch, heads, targets,
sources) in a model, 1 where all share it: padding of shape (batch, sources) becomes ``mask[:, None, None]``. What a
mask hides has to be finite all the same, for a weight of 0 times NaN is NaN.
"""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from clearformer.checks import check_whole
from clearformer.shapes import shaped

# What every variant takes and returns; ``attend`` spells it out.
Q, K, V = (Float[Tensor, axes] for axes in ("*batch N K", "*batch S K", "*batch S Kv"))
Mask, Bias = (kind[Tensor, "*#batch #N #S"] | None for kind in (Bool, Float))
Y = Float[Tensor, "*batch N Kv"]
Weights = Float[Tensor, "*batch N S"]


def causal_mask(
    n_targets: int, n_sources: int | None = None, *, device: torch.device | None = None
) -> Bool[Tensor, "N S"]:
    r"""True where a target may look: at itself and at what came before.

    .. math:: \mathrm{mask}_{n,s} = [\, s \le n + S - N \,]

    With more sources than targets the targets are the last ones, as when the earlier tokens lie in a cache.

    Source: turner-v2, section 4.1; COMP 336, "Looking into the Future".
    Raises: ValueError if there are fewer sources than targets, for then the first targets could look at nothing.
    """
    n_targets = check_whole("causal_mask", "n_targets", n_targets)
    n_sources = n_targets if n_sources is None else check_whole("causal_mask", "n_sources", n_sources)
    enough_sources("causal_mask", n_targets, n_sources)
    every = torch.ones(n_targets, n_sources, dtype=torch.bool, device=device)
    return every.tril(n_sources - n_targets)


@shaped
def padding_mask(ids: Int[Tensor, "B S"], padding: int) -> Bool[Tensor, "B 1 1 S"]:
    """True where a source is a token and not ``padding``, the same for every head and target.

    Raises: TypeError for a ``padding`` that is no whole number.
    """
    padding = check_whole("padding_mask", "padding", padding, least=-(2**63))
    return (ids != padding)[:, None, None]


def with_causal(mask, causal, q, k):
    """``mask`` and the causal mask together; a single target is the last one and sees everything."""
    if not causal or q.shape[-2] == 1:
        return mask
    seen = causal_mask(q.shape[-2], k.shape[-2], device=q.device)
    return seen if mask is None else seen & mask


def with_bias(mask, bias):
    """``mask`` without the sources that a bias of -inf hides; NaN hides nothing, so that it shows in the result."""
    if bias is None:
        return mask
    shows = bias != -math.inf
    return shows if mask is None else shows & mask


def scaled_scores(q: Tensor, k: Tensor) -> Tensor:
    """The scores before a bias; in float32 for float16, where a product of ordinary numbers can be over 65,504."""
    if q.dtype == torch.float16:
        q, k = q.float(), k.float()
    return (q / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)


def enough_sources(caller: str, n_targets: int, n_sources: int) -> None:
    """Check that there is a source for each target, since targets are the last of the sources. Raises: ValueError."""
    if n_sources < n_targets:
        raise ValueError(
            f"{caller}: n_sources={n_sources} is less than n_targets={n_targets}, expected at least as many: "
            "every target looks at itself. Pass the number of all tokens up to the last target."
        )
