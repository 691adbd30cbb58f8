"""Linear attention, a memory of fixed size, in two forms: all tokens at once and one token after another."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from clearformer.attention.masks import Bias, K, Mask, Q, V, Weights, Y, enough_sources, with_causal
from clearformer.shapes import shaped


@shaped
def attend_linear(q: Q, k: K, v: V, mask: Mask = None, *, causal: bool = False, bias: Bias = None) -> tuple[Y, Weights]:
    r"""Attention whose scores are products of positive features, so that no softmax is needed.

    .. math:: A_{n,s} = \frac{\phi(q_n)^\top \phi(k_s)}{\sum_{s'} \phi(q_n)^\top \phi(k_{s'})}, \qquad
              \phi(x) = \mathrm{elu}(x) + 1

    A row without any True in its mask gives zeros, as in ``attend``.

    Source: Katharopoulos et al. 2020, eq. 4 and 7.
    Cost: 2 (K + Kv) N S FLOPs in this form, as ``attend``; ``attend_recurrent`` needs 4 K Kv N.
    Raises: ValueError for a bias, which is added to scores before a softmax.
    """
    _refuse_bias("attend_linear", bias)
    mask = with_causal(mask, causal, q, k)
    scores = positive_features(q) @ positive_features(k).transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, 0.0)
    total = scores.sum(dim=-1, keepdim=True)
    weights = scores / total.masked_fill(total == 0, 1.0)
    return weights @ v, weights


@shaped
def attend_recurrent(
    q: Q,
    k: K,
    v: V,
    mask: Mask = None,
    *,
    causal: bool = False,
    bias: Bias = None,
    state: Float[Tensor, "*batch Kv+1 K"] | None = None,
) -> tuple[Y, Float[Tensor, "*batch Kv+1 K"]]:
    r"""``attend_linear`` one token at a time; returns the outputs and the state after the last token.

    .. math:: S_n = S_{n-1} + v_n \phi(k_n)^\top, \qquad z_n = z_{n-1} + \phi(k_n), \qquad
              y_n = \frac{S_n \phi(q_n)}{z_n^\top \phi(q_n)}

    The state holds S and, in its last row, z: a 1 is put below every value. Sources that every target sees, all of them
    without ``causal``, go into the state at once. ``state`` is that of the tokens before these.

    Source: Katharopoulos et al. 2020, eq. 18 to 20.
    Cost: 4 K (Kv + 1) FLOPs for every token, and K (Kv + 1) numbers however many there are.
    Raises: ValueError for a bias, or a mask that is not the same for all targets: there is one state for all.
    """
    _refuse_bias("attend_recurrent", bias)
    q, k = positive_features(q), positive_features(k)
    v = torch.cat((v, torch.ones_like(v[..., :1])), dim=-1)
    if mask is not None:
        if mask.shape[-2] != 1:
            raise ValueError(
                f"attend_recurrent: a mask of shape {tuple(mask.shape)}, expected one row, (..., 1, sources), "
                "for all targets read the same state. Take attend_linear, or causal=True for the causal mask."
            )
        k = k * mask.transpose(-2, -1)
    n_shared = k.shape[-2]
    if causal:
        enough_sources("attend_recurrent", q.shape[-2], k.shape[-2])
        n_shared -= q.shape[-2]
    state = (0 if state is None else state) + v[..., :n_shared, :].transpose(-2, -1) @ k[..., :n_shared, :]
    outputs = []
    for n in range(q.shape[-2]):
        if causal:
            state = state + v[..., n_shared + n, :, None] * k[..., n_shared + n, None, :]
        y = (state @ q[..., n, :, None])[..., 0]
        outputs.append(y[..., :-1] / y[..., -1:].masked_fill(y[..., -1:] == 0, 1.0))
    return torch.stack(outputs, dim=-2), state


def positive_features(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The features of ``attend_linear``: elu(x) + 1, which is above 0."""
    return F.elu(x) + 1


def _refuse_bias(caller: str, bias: Tensor | None) -> None:
    if bias is not None:
        raise ValueError(
            f"{caller}: a bias of shape {tuple(bias.shape)}, but linear attention has no softmax whose scores it could "
            "be added to. Take attend or attend_fused, or positions that turn queries and keys, such as Rotary."
        )
