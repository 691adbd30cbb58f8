"""The stack of blocks and the head, each with its gradient."""

from collections.abc import Callable, Sequence

from jaxtyping import Bool, Float
from numpy import ndarray

from clearformer.reference.blocks import BlockParameters, block_pre_norm, block_pre_norm_backward
from clearformer.reference.functions import softmax, softmax_backward
from clearformer.shapes import shaped

Mask, DN = Bool[ndarray, "#N #N"] | None, Float[ndarray, "D N"]


@shaped
def stack(X: DN, blocks: Sequence[BlockParameters], mask: Mask = None, block: Callable = block_pre_norm) -> DN:
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
    blocks: Sequence[BlockParameters],
    dX_out: DN,
    mask: Mask = None,
    block: Callable = block_pre_norm,
    block_backward: Callable = block_pre_norm_backward,
) -> tuple[DN, list[BlockParameters]]:
    """Gradients of ``stack`` by ``X`` and by the parameters of every block, first block first.

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
def head(X: DN, G: Float[ndarray, "V D"]) -> Float[ndarray, "V N"]:
    r"""Probabilities of the next token at every position: one score per word, then a softmax over the vocabulary.

    .. math:: p(w_{n+1} = w \mid w_{1:n}) = \frac{\exp(\mathbf g_w^\top \mathbf x_n^{(M)})}
              {\sum_{w'} \exp(\mathbf g_{w'}^\top \mathbf x_n^{(M)})}

    The rows of G are the vectors :math:`\mathbf g_w`; ``G = E.T`` ties them to the embedding. For a loss, give
    ``G @ X`` to ``cross_entropy``.

    Source: turner-v2, section 4.1, "Adding a head", with the free and the summed w told apart.
    """
    return softmax(G @ X, axis=0)


@shaped
def head_backward(X: DN, G: Float[ndarray, "V D"], dP: Float[ndarray, "V N"]) -> tuple[DN, Float[ndarray, "V D"]]:
    r"""Gradients of ``head`` by ``X`` and ``G``.

    .. math:: L = p \otimes \frac{\partial F}{\partial p}, \qquad \frac{\partial F}{\partial X} = G^\top L, \qquad
              \frac{\partial F}{\partial G} = L X^\top

    Source: the chain rule on ``head``.
    """
    d_logits = softmax_backward(head(X, G), dP, axis=0)
    return G.T @ d_logits, d_logits @ X.T
