"""A diagonal state space in two forms: one token after another, and as a convolution of the whole sequence."""

import torch
from clearformer.shapes import shaped
from jaxtyping import Float
from torch import Tensor


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
