"""Parts that some families of models have: experts, sinks, latent vectors, distances, with arguments that they take."""

from collections.abc import Iterator
from functools import partial

import torch.nn.functional as F
from clearformer import attention, attention_pool, block_variants, distances, experts, latent, layers, sinks

from tests.clearformer.wrong_values import D, H, Target, sizes


def part_targets() -> Iterator[Target]:
    several = sizes(n_experts=3, top_k=2, d_expert=7, router=experts.Router, expert=layers.GatedFeedForward)
    yield Target("MixtureOfExperts", experts.MixtureOfExperts, **sizes(d_model=D, d_ff=8), **several)
    yield Target("Router", experts.Router, **sizes(d_model=D, n_experts=3, bias=True, normalise=True))
    clamped = sizes(d_model=D, d_ff=8, limit=7.0, bias=True)
    yield Target("ClampedGatedFeedForward", experts.ClampedGatedFeedForward, **clamped)
    yield Target("SinkAttention", sinks.SinkAttention, **sizes(d_model=D, n_heads=H, n_kv_heads=1))
    grouped = sizes(
        d_model=D, n_experts=6, n_groups=3, top_groups=2, n_best=2, corrected=True, normalise=True, scale=2.0
    )
    yield Target("GroupRouter", experts.GroupRouter, **grouped)
    routed = partial(experts.MixtureOfExperts, n_experts=3)
    yield Target("SharedExperts", experts.SharedExperts, **sizes(d_model=D, d_ff=8, d_shared=4, routed=routed))
    narrow = sizes(d_latent=5, d_turned=4, d_unturned=3, d_value=6, d_query_latent=7, attend=attention.attend)
    yield Target("LatentAttention", latent.LatentAttention, **sizes(d_model=D, n_heads=H), **narrow)
    buckets = sizes(n_heads=H, n_buckets=8, max_distance=11, ahead=True)
    yield Target("DistanceBuckets", distances.DistanceBuckets, **buckets)
    pooled = sizes(d_model=D, n_outputs=D, n_heads=H, d_ff=8, activation=F.gelu, eps=1e-5)
    yield Target("AttentionPool", attention_pool.AttentionPool, **pooled)
    yield Target("LayerScale", block_variants.LayerScale, **sizes(d_model=D, start=0.5))
