"""The transformer block in its three forms, each with its gradient."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from jaxtyping import Bool, Float
from numpy import ndarray

from clearformer.reference.functions import gelu, gelu_backward
from clearformer.reference.layers import layer_norm, layer_norm_backward, mlp, mlp_backward
from clearformer.reference.multihead import multi_head_concatenated, multi_head_concatenated_backward
from clearformer.shapes import shaped

DN = Float[ndarray, "D N"]
Mask = Bool[ndarray, "#N #N"] | None
HELD = {
    "heads": ("U_q", "U_k", "U_v", "U_o"),
    "mlp": ("W_1", "b_1", "W_2", "b_2"),
    "norm_1": ("gamma", "beta"),
    "norm_2": ("gamma", "beta"),
}


@dataclass(frozen=True)
class BlockParameters:
    """The arrays of one block, in the order of ``HELD``; gradients come back in the same form.

    ``norm_1`` belongs to attention (``heads``), ``norm_2`` to the feed-forward network (``mlp``).

    Source: turner-v2, figure 7, with heads in the form of its footnote 13.
    Raises: ValueError if an array is missing or too many.
    """

    heads: tuple[ndarray, ...]
    mlp: tuple[ndarray, ...]
    norm_1: tuple[ndarray, ...]
    norm_2: tuple[ndarray, ...]
    activation: Callable = gelu
    activation_backward: Callable = gelu_backward

    def __post_init__(self):
        for field, names in HELD.items():
            given = len(getattr(self, field))
            if given != len(names):
                raise ValueError(
                    f"BlockParameters: {field} holds {given} arrays, expected {len(names)}. Give ({', '.join(names)})."
                )


def _attention(X, p, mask):
    return multi_head_concatenated(X, *p.heads, mask)[0]


def _attention_backward(X, p, dY, mask):
    dX, *heads = multi_head_concatenated_backward(X, *p.heads, dY, mask)
    return dX, tuple(heads)


def _mlp(X, p):
    return mlp(X, *p.mlp, p.activation)


def _mlp_backward(X, p, dY):
    dX, *gradients = mlp_backward(X, *p.mlp[:3], dY, p.activation, p.activation_backward)
    return dX, tuple(gradients)


def _norm_backward(X, norm, dY):
    dX, *gradients = layer_norm_backward(X, norm[0], dY)
    return dX, tuple(gradients)


@shaped
def block_pre_norm(X: DN, p: BlockParameters, mask: Mask = None) -> DN:
    r"""The block of GPT-2 and of most transformers since: what enters a part is normalised, the residual is not.

    .. math:: Y = X + \mathrm{MHSA}(\mathrm{LN}_1(X)), \qquad X' = Y + \mathrm{MLP}(\mathrm{LN}_2(Y))

    Source: turner-v2, figure 7.
    """
    Y = X + _attention(layer_norm(X, *p.norm_1), p, mask)
    return Y + _mlp(layer_norm(Y, *p.norm_2), p)


@shaped
def block_pre_norm_backward(X: DN, p: BlockParameters, dX_out: DN, mask: Mask = None) -> tuple[DN, BlockParameters]:
    r"""Gradients of ``block_pre_norm`` with respect to ``X`` and every parameter.

    .. math:: \frac{\partial F}{\partial Y} = E + J_{\mathrm{LN}_2}^\top J_{\mathrm{MLP}}^\top E, \qquad
              \frac{\partial F}{\partial X} = \frac{\partial F}{\partial Y}
              + J_{\mathrm{LN}_1}^\top J_{\mathrm{MHSA}}^\top \frac{\partial F}{\partial Y}

    E reaches X unchanged through both residual connections.

    Source: the chain rule on ``block_pre_norm``.
    """
    X_normed = layer_norm(X, *p.norm_1)
    Y = X + _attention(X_normed, p, mask)
    dY_normed, d_mlp = _mlp_backward(layer_norm(Y, *p.norm_2), p, dX_out)
    through_norm_2, d_norm_2 = _norm_backward(Y, p.norm_2, dY_normed)
    dY = dX_out + through_norm_2
    dX_normed, d_heads = _attention_backward(X_normed, p, dY, mask)
    through_norm_1, d_norm_1 = _norm_backward(X, p.norm_1, dX_normed)
    return dY + through_norm_1, replace(p, heads=d_heads, mlp=d_mlp, norm_1=d_norm_1, norm_2=d_norm_2)


@shaped
def block_post_norm(X: DN, p: BlockParameters, mask: Mask = None) -> DN:
    r"""The block of the first transformer: the sum of residual and part is normalised ("Add & Norm").

    .. math:: Y = \mathrm{LN}_1(X + \mathrm{MHSA}(X)), \qquad X' = \mathrm{LN}_2(Y + \mathrm{MLP}(Y))

    Source: Vaswani et al. 2017, section 3.1; COMP 336, "The Transformer Decoder".
    """
    Y = layer_norm(X + _attention(X, p, mask), *p.norm_1)
    return layer_norm(Y + _mlp(Y, p), *p.norm_2)


@shaped
def block_post_norm_backward(X: DN, p: BlockParameters, dX_out: DN, mask: Mask = None) -> tuple[DN, BlockParameters]:
    r"""Gradients of ``block_post_norm`` with respect to ``X`` and every parameter.

    .. math:: \frac{\partial F}{\partial Y} = (I + J_{\mathrm{MLP}})^\top J_{\mathrm{LN}_2}^\top E, \qquad
              \frac{\partial F}{\partial X} = (I + J_{\mathrm{MHSA}})^\top J_{\mathrm{LN}_1}^\top
              \frac{\partial F}{\partial Y}

    No path leads around the norms: each rescales the gradient on its way down.

    Source: the chain rule on ``block_post_norm``.
    """
    X_sum = X + _attention(X, p, mask)
    Y = layer_norm(X_sum, *p.norm_1)
    dY_sum, d_norm_2 = _norm_backward(Y + _mlp(Y, p), p.norm_2, dX_out)
    through_mlp, d_mlp = _mlp_backward(Y, p, dY_sum)
    dX_sum, d_norm_1 = _norm_backward(X_sum, p.norm_1, dY_sum + through_mlp)
    through_heads, d_heads = _attention_backward(X, p, dX_sum, mask)
    return dX_sum + through_heads, replace(p, heads=d_heads, mlp=d_mlp, norm_1=d_norm_1, norm_2=d_norm_2)


@shaped
def block_jiang(X: DN, p: BlockParameters, mask: Mask = None) -> DN:
    r"""Jiang's block: what leaves attention is normalised, then added; the feed-forward network has no norm.

    .. math:: Y = X + \mathrm{LN}_1(\mathrm{MHSA}(X)), \qquad X' = Y + \mathrm{MLP}(Y)

    It is neither the pre-norm nor the post-norm block, and not that of GPT-3. ``norm_2`` is not used; his
    feed-forward network is ``activation=relu`` with shifts of 0.

    Source: jiang, forward step 4 and GPT-3, steps 3 and 4.
    """
    Y = X + layer_norm(_attention(X, p, mask), *p.norm_1)
    return Y + _mlp(Y, p)


@shaped
def block_jiang_backward(X: DN, p: BlockParameters, dX_out: DN, mask: Mask = None) -> tuple[DN, BlockParameters]:
    r"""Gradients of ``block_jiang`` with respect to ``X`` and every parameter; those of ``norm_2`` are zeros.

    .. math:: \frac{\partial F}{\partial Y} = E + J_{\mathrm{MLP}}^\top E, \qquad
              \frac{\partial F}{\partial X} = \frac{\partial F}{\partial Y}
              + J_{\mathrm{MHSA}}^\top J_{\mathrm{LN}_1}^\top \frac{\partial F}{\partial Y}

    The first term of the last sum is the residual's path, the fourth beside queries, keys and values.

    Source: jiang, "Backward Pass", which leaves that term out.
    """
    Z = _attention(X, p, mask)
    through_mlp, d_mlp = _mlp_backward(X + layer_norm(Z, *p.norm_1), p, dX_out)
    dY = dX_out + through_mlp
    dZ, d_norm_1 = _norm_backward(Z, p.norm_1, dY)
    through_heads, d_heads = _attention_backward(X, p, dZ, mask)
    d_norm_2 = tuple(0.0 * array for array in p.norm_2)
    return dY + through_heads, replace(p, heads=d_heads, mlp=d_mlp, norm_1=d_norm_1, norm_2=d_norm_2)
