"""Attention whose heads make their keys and values from one short vector of each token, which alone is kept."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from clearformer.attention import attend_fused
from clearformer.cache import LayerCache
from clearformer.checks import check_callable, check_whole
from clearformer.layers import RMSNorm
from clearformer.shapes import shaped_module


class LatentAttention(nn.Module):
    r"""Keys and values of all heads from one latent vector a token, and one turned key that all heads share.

    .. math:: c_n = \mathrm{norm}(W_c x_n), \qquad
              k_{h,n} = [\, W_{k,h} \, c_n; \; R_n W_r x_n \,], \qquad v_{h,n} = W_{v,h} \, c_n, \qquad
              q_{h,n} = [\, W_{q,h} \, x_n; \; R_n W_{r,h} x_n \,]

    with the rotation :math:`R_n` of ``rope``. A head has ``d_unturned`` and ``d_turned`` features to compare, and
    ``d_value`` to pass on; :math:`c_n` has ``d_latent``. With ``d_query_latent`` queries come from a latent vector of
    their own. A cache holds the turned key and :math:`c_n`, as values of the width ``d_latent``.

    Source: DeepSeek-AI 2024 (DeepSeek-V2), eq. 9 to 19.
    Cost: with a cache keys and values of all S tokens are made anew in each step, 2 S L H (K + Kv) FLOPs.
    Raises: TypeError or ValueError for sizes that are no whole numbers, or parts that cannot be called.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        d_latent: int,
        d_turned: int,
        d_unturned: int,
        d_value: int,
        d_query_latent: int | None = None,
        rope: Callable | None = None,
        attend: Callable = attend_fused,
    ):
        super().__init__()
        sizes = {"d_model": d_model, "n_heads": n_heads, "d_latent": d_latent, "d_turned": d_turned}
        sizes |= {"d_unturned": d_unturned, "d_value": d_value}
        checked = [check_whole("LatentAttention", name, size) for name, size in sizes.items()]
        self.d_model, self.n_heads, self.d_latent, self.d_turned, self.d_unturned, self.d_value = checked
        check_callable("LatentAttention", "attend", attend, "clearformer.attention.attend")
        if rope is not None:
            check_callable("LatentAttention", "rope", rope, "positions.Rotary(d_turned, n_positions)")
        self.query_down = self.query_norm = None
        width = self.d_model
        if d_query_latent is not None:
            width = check_whole("LatentAttention", "d_query_latent", d_query_latent)
            self.query_down, self.query_norm = nn.Linear(self.d_model, width, bias=False), RMSNorm(width)
        self.query = nn.Linear(width, self.n_heads * (self.d_unturned + self.d_turned), bias=False)
        self.down = nn.Linear(self.d_model, self.d_latent + self.d_turned, bias=False)  # W_c above W_r
        self.latent_norm = RMSNorm(self.d_latent)
        self.up = nn.Linear(self.d_latent, self.n_heads * (self.d_unturned + self.d_value), bias=False)
        self.out = nn.Linear(self.n_heads * self.d_value, self.d_model, bias=False)
        self.rope, self.attend = rope, attend

    @property
    def writes(self) -> nn.Linear:
        """The layer that writes into the residual stream."""
        return self.out

    @shaped_module
    def forward(
        self,
        x: Float[Tensor, "B N D"],
        source: Float[Tensor, "B S D"] | None = None,
        mask: Bool[Tensor, "*#batch #N #keys"] | None = None,
        *,
        causal: bool = False,
        cache: LayerCache | None = None,
        positions: slice | Int[Tensor, "#B N"] | None = None,
    ) -> tuple[Float[Tensor, "B N D"], Float[Tensor, "B H N keys"] | None]:
        """Outputs, and the weights if ``attend`` returns them; arguments as in ``MultiHeadAttention``.

        Raises: ValueError for a source, since this is self-attention alone.
        """
        if source is not None:
            raise ValueError("LatentAttention: a source, expected None: it is self-attention alone.")
        start = 0 if cache is None else cache.length
        positions = slice(start, start + x.shape[1]) if positions is None else positions
        q, q_turned = self._heads(self.query(self._narrowed(x))).split((self.d_unturned, self.d_turned), 3)
        latent, k_turned = self.down(x)[:, None].split((self.d_latent, self.d_turned), 3)  # B 1 N L, B 1 N T
        latent = self.latent_norm(latent).to(latent.dtype)
        if self.rope is not None:
            q_turned, k_turned = self.rope(q_turned, positions), self.rope(k_turned, positions)
        if cache is not None:
            k_turned, latent = cache.append(k_turned, latent)
        k, v = self._heads(self.up(latent[:, 0])).split((self.d_unturned, self.d_value), 3)
        k = torch.cat((k, k_turned.expand(-1, self.n_heads, -1, -1)), 3)
        y, weights = self.attend(torch.cat((q, q_turned), 3), k, v, mask, causal=causal)
        return self.out(y.transpose(1, 2).flatten(2)), weights  # B H N Kv -> B N D

    def _narrowed(self, x: Tensor) -> Tensor:
        """What queries are made of."""
        if self.query_down is None or self.query_norm is None:
            return x
        return self.query_norm(self.query_down(x))

    def _heads(self, projected: Tensor) -> Tensor:
        """Cut the features into heads."""
        return projected.unflatten(2, (self.n_heads, -1)).transpose(1, 2)  # B N (H K) -> B H N K
