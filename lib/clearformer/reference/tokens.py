"""From words and images to the matrix ``X`` (``D N``) that every transformer starts from."""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from clearformer.shapes import shaped


@shaped
def one_hot(ids: Int[ndarray, "N"], n_vocab: int) -> Float[ndarray, "V N"]:
    """One column per token: a single 1 in the row of the token's id.

    Source: turner-v2, section 1.1 (the vector that stands for a word).
    Raises: ValueError if an id is negative or not below ``n_vocab``.
    """
    outside = ids[(ids < 0) | (ids >= n_vocab)]
    if outside.size:
        raise ValueError(
            f"one_hot: token id {outside[0]} is outside the vocabulary of {n_vocab} ids, expected 0 to {n_vocab - 1}. "
            "Encode the text with the tokenizer that belongs to this embedding."
        )
    return (np.arange(n_vocab)[:, None] == ids[None, :]).astype(float)


@shaped
def embed(E: Float[ndarray, "D V"], ids: Int[ndarray, "N"]) -> Float[ndarray, "D N"]:
    r"""Embedding as a matrix product: each one-hot column picks one column of ``E``.

    .. math:: X^{(0)} = E \, \mathrm{onehot}(w_{1:N})

    Source: turner-v2, section 1.1; COMP 336, "Self-Attention: Summary" (:math:`a_i = E w_i`).
    Cost: 2 D V N FLOPs as a product; looking the column up costs none.
    """
    return E @ one_hot(ids, E.shape[1])


@shaped
def embed_backward(ids: Int[ndarray, "N"], dX: Float[ndarray, "D N"], n_vocab: int) -> Float[ndarray, "D V"]:
    r"""Gradient of ``embed`` with respect to ``E``: a token's column collects from every position where it stands.

    .. math:: \frac{\partial F}{\partial E} = \frac{\partial F}{\partial X^{(0)}} \, \mathrm{onehot}(w_{1:N})^\top

    Source: the derivative of the product in ``embed``.
    Raises: as ``one_hot``.
    """
    return dX @ one_hot(ids, n_vocab).T


@shaped
def patches(image: Float[ndarray, "C rows columns"], size: int) -> Float[ndarray, "P N"]:
    """Cut an image into squares of ``size`` × ``size`` pixels and write each as a column.

    Patches are numbered row by row from the top left; within a patch the channel varies slowest and the
    column fastest, the order in which a convolution stores its weights.

    Source: turner-v2, figure 2 (the operator vec).
    Raises: ValueError if ``size`` does not divide both sides of the image.
    """
    C, rows, columns = image.shape
    if size < 1 or rows % size or columns % size:
        raise ValueError(
            f"patches: size={size} does not divide an image of {rows} × {columns} pixels. "
            f"Choose a divisor of {np.gcd(rows, columns)}, or crop the image."
        )
    cells = image.reshape(C, rows // size, size, columns // size, size)
    return cells.transpose(0, 2, 4, 1, 3).reshape(C * size * size, -1)


@shaped
def embed_patches(W: Float[ndarray, "D P"], patches: Float[ndarray, "P N"]) -> Float[ndarray, "D N"]:
    r"""One matrix maps every patch to a token.

    .. math:: \mathbf x_n^{(0)} = W \, \mathrm{vec}(\mathrm{patch}_n)

    Source: turner-v2, figure 2.
    """
    return W @ patches


@shaped
def embed_patches_backward(
    W: Float[ndarray, "D P"], patches: Float[ndarray, "P N"], dX: Float[ndarray, "D N"]
) -> tuple[Float[ndarray, "D P"], Float[ndarray, "P N"]]:
    r"""Gradients of ``embed_patches`` with respect to ``W`` and the patches: what an image should change.

    .. math:: \frac{\partial F}{\partial W} = E \, \mathrm{patches}^\top, \qquad
              \frac{\partial F}{\partial\, \mathrm{patches}} = W^\top E

    E is the gradient with respect to the tokens.

    Source: the derivative of the product in ``embed_patches``.
    """
    return dX @ patches.T, W.T @ dX
