"""One token out of many: a learned query looks at all of them, and a network works on what it found."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from clearformer.checks import check_whole
from clearformer.layers import FeedForward, LayerNorm
from clearformer.multihead import MultiHeadAttention
from clearformer.shapes import shaped_module


class AttentionPool(nn.Module):
    r"""A learned query attends to all tokens, then a feed-forward network with its norm is added.

    .. math:: y = \mathrm{attention}(p, x), \qquad z = y + f(\mathrm{norm}(y))

    ``n_outputs`` has to be the width of the tokens: it stands where a head has the number of classes.

    Source: Zhai et al. 2022, section 2.2 and figure 8 (multihead attention pooling); after Lee et al. 2019, eq. 11.
    Raises: ValueError for another number of outputs.
    """

    def __init__(
        self,
        d_model: int,
        n_outputs: int,
        *,
        n_heads: int,
        d_ff: int,
        activation: Callable[[Tensor], Tensor] = F.gelu,
        eps: float = 1e-6,
    ):
        super().__init__()
        d_model, n_outputs = (
            check_whole("AttentionPool", "d_model", d_model),
            check_whole("AttentionPool", "n_outputs", n_outputs),
        )
        if n_outputs != d_model:
            raise ValueError(f"AttentionPool: n_outputs={n_outputs}, expected d_model={d_model}: it has no classes.")
        self.query = nn.Parameter(torch.randn(1, 1, d_model) * 0.02)
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.norm, self.feed_forward = LayerNorm(d_model, eps=eps), FeedForward(d_model, d_ff, activation=activation)

    @shaped_module
    def forward(self, x: Float[Tensor, "B N D"]) -> Float[Tensor, "B D"]:
        y, _ = self.attention(self.query.expand(x.shape[0], -1, -1), x)
        return (y + self.feed_forward(self.norm(y)))[:, 0]
