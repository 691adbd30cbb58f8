"""Attention that may look nowhere: each head has a learned score for a source that says nothing."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.multihead import MultiHeadAttention


class SinkAttention(MultiHeadAttention):
    r"""``MultiHeadAttention`` with one more source for all, whose score is learned and whose value is 0.

    .. math:: A_{n,s} = \frac{e^{a_{n,s}}}{e^{b_h} + \sum_{s'} e^{a_{n,s'}}}

    with the scores :math:`a` and a number :math:`b_h` for each head, 0 at first, so that weights sum to less than 1.

    Source: OpenAI 2025 (gpt-oss), as in the published code; Miller 2023, with :math:`b_h = 0`.
    Cost: that of one more source, and a copy of keys and values.
    """

    def __init__(self, d_model: int, n_heads: int, **options):
        super().__init__(d_model, n_heads, **options)
        self.sinks = nn.Parameter(torch.zeros(n_heads))

    def scored(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, **options) -> tuple[Tensor, Tensor | None]:
        n_sources = k.shape[2]
        k, v = (F.pad(t, (0, 0, 1, 0)) for t in (k, v))  # the sink is the first source
        sinks = self.sinks.to(q.dtype)[None, :, None, None]
        sinks = torch.cat((sinks, sinks.new_zeros(1, self.n_heads, 1, n_sources)), 3)  # 1 H 1 S+1
        bias = options.get("bias")
        options["bias"] = sinks if bias is None else sinks + F.pad(bias, (1, 0))
        if mask is not None:
            mask = F.pad(mask.expand(*mask.shape[:-1], n_sources), (1, 0), value=True)
        y, weights = super().scored(q, k, v, mask, **options)
        return y, None if weights is None else weights[..., 1:]
