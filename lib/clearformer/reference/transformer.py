"""The stack of blocks and the heads, for every token and for a whole sequence, each with its gradient."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from clearformer.reference.blocks import BlockParameters, block_pre_norm, block_pre_norm_backward
from clearformer.reference.functions import softmax, softmax_backward
from clearformer.shapes import shaped

DN = Float[ndarray, "D N"]
Mask, Vector = Bool[ndarray, "#N #N"] | None, Float[ndarray, "D"]
CD, Classes, Blocks = Float[ndarray, "classes D"], Float[ndarray, "classes"], Sequence[BlockParameters]
VD, VN = Float[ndarray, "V D"], Float[ndarray, "V N"]


@shaped
def stack(X: DN, blocks: Blocks, mask: Mask = None, block: Callable = block_pre_norm) -> DN:
    r"""M blocks, one after the other, each with its own parameters.

    .. math:: X^{(m)} = \mathrm{block}_{\theta_m}(X^{(m-1)}), \qquad m = 1, \dots, M

    Source: turner-v2, section 2 and figure 7.
    """
    for p in blocks:
        X = block(X, p, mask)
    return X


@shaped
def stack_backward(
    X: DN,
    blocks: Blocks,
    dX_out: DN,
    mask: Mask = None,
    block: Callable = block_pre_norm,
    block_backward: Callable = block_pre_norm_backward,
) -> tuple[DN, list[BlockParameters]]:
    """Gradients of ``stack`` with respect to ``X`` and the parameters of every block, first block first.

    Source: the chain rule, from the last block to the first.
    Cost: M arrays of D N numbers, the inputs of the blocks, are kept.
    """
    inputs = [X]
    for p in blocks:
        inputs.append(block(inputs[-1], p, mask))
    gradients = []
    for X_in, p in zip(inputs[-2::-1], blocks[::-1], strict=True):
        dX_out, gradient = block_backward(X_in, p, dX_out, mask)
        gradients.insert(0, gradient)
    return dX_out, gradients


@shaped
def head(X: DN, G: VD) -> VN:
    r"""Probabilities of the next token at every position: one score per word, then a softmax over the vocabulary.

    .. math:: p(w_{n+1} = w \mid w_{1:n}) = \frac{\exp(\mathbf g_w^\top \mathbf x_n^{(M)})}
              {\sum_{w'} \exp(\mathbf g_{w'}^\top \mathbf x_n^{(M)})}

    The rows of G are the vectors :math:`\mathbf g_w`; ``G = E.T`` ties them to the embedding. For a loss, give
    ``G @ X`` to ``cross_entropy``.

    Source: turner-v2, section 4.1, "Adding a head", with the free and the summed w told apart.
    """
    return softmax(G @ X, axis=0)


@shaped
def head_backward(X: DN, G: VD, dP: VN) -> tuple[DN, VD]:
    r"""Gradients of ``head`` with respect to ``X`` and ``G``.

    .. math:: L = p \otimes \frac{\partial F}{\partial p}, \qquad \frac{\partial F}{\partial X} = G^\top L, \qquad
              \frac{\partial F}{\partial G} = L X^\top

    Source: the chain rule on ``head``.
    """
    d_logits = softmax_backward(head(X, G), dP, axis=0)
    return G.T @ d_logits, d_logits @ X.T


@shaped
def prepend_token(X: DN, x_0: Vector) -> Float[ndarray, "D N+1"]:
    r"""The class token ("CLS"): a learned vector before the sequence, in which the blocks gather what it is about.

    .. math:: [\, \mathbf x_0^{(0)}, \mathbf x_1^{(0)}, \dots, \mathbf x_N^{(0)} \,]

    Its output is column 0: ``classify(X_M[:, 0], G)``.

    Source: turner-v2, section 4.2, second way; Dosovitskiy et al. 2021.
    """
    return np.column_stack([x_0, X])


@shaped
def prepend_token_backward(dX: DN) -> tuple[Float[ndarray, "D N-1"], Vector]:
    r"""Gradients of ``prepend_token`` with respect to ``X`` and ``x_0``: each column goes back to where it came from.

    .. math:: \frac{\partial F}{\partial \mathbf x_n^{(0)}} = \mathbf e_n, \qquad n = 0, 1, \dots, N

    E holds the gradients :math:`\mathbf e_n` by the columns of the result.

    Source: the chain rule on ``prepend_token``.
    """
    return dX[:, 1:], dX[:, 0]


@shaped
def pool(X: DN, mean: bool = False) -> Vector:
    r"""One vector for the whole sequence: the sum of its tokens or, as programs have it, their mean.

    .. math:: \mathbf h = \sum_{n=1}^N \mathbf x_n^{(M)}, \qquad \mathbf h = \frac1N \sum_{n=1}^N \mathbf x_n^{(M)}

    The sum grows with the length of the sequence, the mean does not.

    Source: turner-v2, section 4.2, first way (there the sum).
    """
    return X.mean(axis=1) if mean else X.sum(axis=1)


@shaped
def pool_backward(X: DN, dh: Vector, mean: bool = False) -> DN:
    r"""Gradient of ``pool`` with respect to ``X``: every token gets the same.

    .. math:: \frac{\partial F}{\partial \mathbf x_n} = \frac{\partial F}{\partial \mathbf h}, \qquad
              \frac{\partial F}{\partial \mathbf x_n} = \frac1N \frac{\partial F}{\partial \mathbf h}

    Source: the chain rule on ``pool``.
    """
    n_tokens = X.shape[1]
    return np.outer(dh, np.full(n_tokens, 1 / n_tokens if mean else 1.0))


@shaped
def classify(h: Vector, G: CD) -> Classes:
    r"""Probabilities of the classes of a whole sequence, from one vector that stands for it.

    .. math:: p(y = c \mid X^{(0)}) =
              \frac{\exp(\mathbf g_c^\top \mathbf h)}{\sum_{c'} \exp(\mathbf g_{c'}^\top \mathbf h)}

    Source: turner-v2, section 4.2 ("softmax classification"), with the rows of G as in ``head``.
    """
    return head(h[:, None], G)[:, 0]


@shaped
def classify_backward(h: Vector, G: CD, dp: Classes) -> tuple[Vector, CD]:
    """Gradients of ``classify`` with respect to ``h`` and ``G``.

    Source: as ``head_backward``, for one token.
    """
    dX, dG = head_backward(h[:, None], G, dp[:, None])
    return dX[:, 0], dG
