"""What reads a sequence with a state of fixed size: linear attention and a diagonal state space, each in two forms.

The form for training sees the whole sequence at once; the form for writing takes one token after another.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from clearformer.attention import with_causal
from clearformer.shapes import shaped


@shaped
def attend_linear(
    q: Float[Tensor, "*batch N K"],
    k: Float[Tensor, "*batch S K"],
    v: Float[Tensor, "*batch S Kv"],
    mask: Bool[Tensor, "*#batch #N #S"] | None = None,
    *,
    causal: bool = False,
) -> tuple[Float[Tensor, "*batch N Kv"], Float[Tensor, "*batch N S"]]:
    r"""Attention whose scores are products of positive features, so that no softmax is needed.

    .. math:: A_{n,s} = \frac{\phi(q_n)^\top \phi(k_s)}{\sum_{s'} \phi(q_n)^\top \phi(k_{s'})}, \qquad
              \phi(x) = \mathrm{elu}(x) + 1

    A row without any True in its mask gives zeros, as in ``attend``.

    Source: Katharopoulos et al. 2020, eq. 4 and 7.
    Cost: 2 (K + Kv) N S FLOPs in this form, as ``attend``; ``attend_recurrent`` needs 4 K Kv N.
    """
    mask = with_causal(mask, causal, q, k)
    scores = positive_features(q) @ positive_features(k).transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, 0.0)
    total = scores.sum(dim=-1, keepdim=True)
    weights = scores / total.masked_fill(total == 0, 1.0)
    return weights @ v, weights


@shaped
def attend_recurrent(
    q: Float[Tensor, "*batch N K"],
    k: Float[Tensor, "*batch N K"],
    v: Float[Tensor, "*batch N Kv"],
    state: Float[Tensor, "*batch Kv+1 K"] | None = None,
) -> tuple[Float[Tensor, "*batch N Kv"], Float[Tensor, "*batch Kv+1 K"]]:
    r"""Causal ``attend_linear`` one token at a time; returns the outputs and the state after the last token.

    .. math:: S_n = S_{n-1} + v_n \phi(k_n)^\top, \qquad z_n = z_{n-1} + \phi(k_n), \qquad
              y_n = \frac{S_n \phi(q_n)}{z_n^\top \phi(q_n)}

    The state holds S and, in its last row, z: a 1 is put below every value.

    Source: Katharopoulos et al. 2020, eq. 18 to 20.
    Cost: 4 K (Kv + 1) FLOPs for every token, and K (Kv + 1) numbers however many there are.
    """
    q, k = positive_features(q), positive_features(k)
    v = torch.cat((v, torch.ones_like(v[..., :1])), dim=-1)
    if state is None:
        state = v.new_zeros(*v.shape[:-2], v.shape[-1], k.shape[-1])
    outputs = []
    for n in range(q.shape[-2]):
        state = state + v[..., n, :, None] * k[..., n, None, :]
        y = (state @ q[..., n, :, None])[..., 0]
        outputs.append(y[..., :-1] / y[..., -1:])
    return torch.stack(outputs, dim=-2), state


def positive_features(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """The features of ``attend_linear``: elu(x) + 1, which is above 0."""
    return F.elu(x) + 1


@shaped
def state_space(
    x: Float[Tensor, "*batch N D"],
    a: Float[Tensor, "*#batch #N D R"],
    b: Float[Tensor, "*#batch #N D R"],
    c: Float[Tensor, "*#batch #N D R"],
) -> Float[Tensor, "*batch N D"]:
    r"""A state of R numbers for every feature, which fades and takes in a token at each step.

    .. math:: h_{n,d,r} = a_{n,d,r} \, h_{n-1,d,r} + b_{n,d,r} \, x_{n,d}, \qquad
              y_{n,d} = \sum_r c_{n,d,r} \, h_{n,d,r}

    With one ``a``, ``b``, ``c`` for all tokens (second axis 1) this is a convolution with ``state_space_kernel``. With
    others for each token it is a *selective* state space.

    Source: Gu et al. 2022 (S4D), with a diagonal matrix; Gu and Dao 2023, for parameters that depend on the token.
    Cost: 5 D R FLOPs for every token, and D R numbers however many there are.
    """
    n_tokens, per_token = x.shape[-2], x.shape[-2:] + a.shape[-1:]
    a, b, c = (t.expand(*t.shape[:-3], *per_token) for t in (a, b, c))
    state, outputs = torch.zeros_like(x[..., 0, :, None]), []
    for n in range(n_tokens):
        state = a[..., n, :, :] * state + b[..., n, :, :] * x[..., n, :, None]
        outputs.append((c[..., n, :, :] * state).sum(dim=-1))
    return torch.stack(outputs, dim=-2)


@shaped
def state_space_kernel(
    a: Float[Tensor, "D R"], b: Float[Tensor, "D R"], c: Float[Tensor, "D R"], n_tokens: int
) -> Float[Tensor, "D W"]:
    r"""The kernel with which a state space convolves every feature if its parameters are the same for all tokens.

    .. math:: w_{d,j} = \sum_r c_{d,r} \, a_{d,r}^{\,j} \, b_{d,r}

    Source: Gu et al. 2022 (S4D), where it is a product with a Vandermonde matrix.
    Cost: 3 D R FLOPs for every entry.
    """
    powers = a[..., None] ** torch.arange(n_tokens, device=a.device)
    return ((c * b)[..., None] * powers).sum(dim=-2)
