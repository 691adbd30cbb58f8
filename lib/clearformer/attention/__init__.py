"""Attention in torch: batch first, ``A[..., n, s]`` is the weight of source s in output n; every row sums to 1.

The room for a variant. All are called alike, ``attend(q, k, v, mask, causal=..., bias=...)``, return outputs and
weights (None where never stored, from ``attend_recurrent`` a state), and can be handed to ``MultiHeadAttention``.
"""

from clearformer.attention.backward import attend_by_hand, attend_recomputing
from clearformer.attention.blockwise import attend_blockwise
from clearformer.attention.dot_product import attend, attend_fused
from clearformer.attention.linear import attend_linear, attend_recurrent
from clearformer.attention.masks import causal_mask, padding_mask
from clearformer.attention.softcap import attend_softcapped
from clearformer.attention.window import window_mask

__all__ = [
    "attend",
    "attend_blockwise",
    "attend_by_hand",
    "attend_fused",
    "attend_linear",
    "attend_recomputing",
    "attend_recurrent",
    "attend_softcapped",
    "causal_mask",
    "padding_mask",
    "window_mask",
]
SOFTMAX = (attend, attend_blockwise, attend_by_hand, attend_fused, attend_recomputing)  # all give the same
STATEFUL = (attend_recurrent,)  # whose second result is a state, and no weights
