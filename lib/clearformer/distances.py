"""Where two tokens stand to each other, told to the scores: a learned number for every head and bucket of distances."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from clearformer.attention.masks import enough_sources
from clearformer.checks import check_flag, check_whole
from clearformer.shapes import shaped_module


class DistanceBuckets(nn.Module):
    r"""A bias for every head by the distance of query and source alone: near ones each its own, far ones together.

    .. math:: \mathrm{bias}_{h,n,s} = w_{b(s - n),\,h}

    Half of the buckets hold one distance each. The others, up to ``max_distance``, grow as the distances do, and the
    last holds all that is further away. With ``ahead`` half of all buckets are for sources behind the query's own
    place; without it these share the bucket of distance 0, since a causal mask hides them.

    One such module serves all layers. Pass it as ``relative`` to ``MultiHeadAttention``.

    Source: Raffel et al. 2020 (T5), section 2.1; where the buckets begin as in the published code.
    Raises: TypeError or ValueError for sizes that are no whole numbers, an odd number of buckets, fewer than 2 for each
    side, or a ``max_distance`` that is not above the distances with a bucket of their own.
    """

    def __init__(self, n_heads: int, *, n_buckets: int = 32, max_distance: int = 128, ahead: bool = True):
        super().__init__()
        self.n_heads = n_heads = check_whole("DistanceBuckets", "n_heads", n_heads)
        self.ahead = check_flag("DistanceBuckets", "ahead", ahead)
        n_buckets = check_whole("DistanceBuckets", "n_buckets", n_buckets, 4 if ahead else 2)
        max_distance = check_whole("DistanceBuckets", "max_distance", max_distance)
        self.n_side = n_buckets // 2 if ahead else n_buckets
        self.n_single, self.max_distance = self.n_side // 2, max_distance
        if n_buckets % 2 or max_distance <= self.n_single:
            raise ValueError(
                f"DistanceBuckets: n_buckets={n_buckets} with max_distance={max_distance}, expected an even number of "
                f"buckets, and a distance above {self.n_single}, the first without a bucket of its own."
            )
        self.weight = nn.Parameter(torch.randn(n_buckets, n_heads) * 0.02)

    @shaped_module
    def forward(self, q: Float[Tensor, "*batch N K"], n_sources: int) -> Float[Tensor, "1 H N S"]:
        """The bias of queries that belong to the last of ``n_sources`` tokens, as in ``causal_mask``.

        Raises: ValueError for fewer sources than queries.
        """
        n_targets, n_sources = q.shape[-2], check_whole("DistanceBuckets", "n_sources", n_sources)
        enough_sources("DistanceBuckets", n_targets, n_sources)
        numbers = torch.arange(n_sources, device=q.device)
        steps = numbers - numbers[n_sources - n_targets :, None]
        every = torch.arange(1 - n_sources, n_sources, device=q.device)  # each step once
        return self.weight[self.buckets(every)].T[:, steps + n_sources - 1][None]  # 2S-1 H -> 1 H N S

    def buckets(self, steps: Int[Tensor, "*axes"]) -> Int[Tensor, "*axes"]:
        """The number of the bucket for sources that stand ``steps`` behind the query, before it where below 0."""
        far = steps.abs() if self.ahead else (-steps).clamp(min=0)
        growth = (self.n_side - self.n_single) / math.log(self.max_distance / self.n_single)
        shared = self.n_single + ((far.float().clamp(min=1) / self.n_single).log() * growth).long()
        found = torch.where(far < self.n_single, far, shared.clamp(max=self.n_side - 1))
        return found + self.n_side * (steps > 0) if self.ahead else found
