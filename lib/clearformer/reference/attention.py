"""Attention in columns: ``A[s, n]`` is the weight of source token s in output n; every column sums to 1."""

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from clearformer.reference.functions import softmax, softmax_backward
from clearformer.shapes import shaped

Mask = Bool[ndarray, "#S #N"] | None
KN, KS, KvS, KvN = (Float[ndarray, axes] for axes in ("K N", "K S", "Kv S", "Kv N"))


@shaped
def weighted_average(X: Float[ndarray, "D S"], A: Float[ndarray, "S N"]) -> Float[ndarray, "D N"]:
    r"""Attention with a given matrix: every output is an average of the inputs.

    .. math:: \mathbf y_n = \sum_{s=1}^{S} \mathbf x_s A_{s,n}, \qquad Y = X A

    Source: turner-v2, eq. 1 and 2.
    Cost: 2 D S N FLOPs.
    """
    return X @ A


@shaped
def convolution_matrix(kernel: Float[ndarray, "W"], n_tokens: int) -> Float[ndarray, "N N"]:
    r"""The matrix that makes ``weighted_average`` a circular convolution with ``kernel``.

    .. math:: A_{s,n} = w_{(n - s) \bmod N}

    Source: turner-v2, footnote 4, with the border wrapped around so that every column is alike.
    Raises: ValueError if the kernel is longer than the sequence.
    """
    if len(kernel) > n_tokens:
        raise ValueError(
            f"convolution_matrix: a kernel of {len(kernel)} weights does not fit on n_tokens={n_tokens} tokens. "
            "Shorten the kernel or lengthen the sequence."
        )
    padded = np.zeros(n_tokens)
    padded[: len(kernel)] = kernel
    s, n = np.indices((n_tokens, n_tokens))
    return padded[(n - s) % n_tokens]


@shaped
def scores_dot(X: Float[ndarray, "D N"]) -> Float[ndarray, "N N"]:
    r"""First rung: two tokens are similar if their vectors are.

    .. math:: C = X^\top X

    Source: turner-v2, the unnumbered equation before eq. 3 (its exponent).
    """
    return X.T @ X


@shaped
def scores_projected(X: Float[ndarray, "D N"], U: Float[ndarray, "K D"]) -> Float[ndarray, "N N"]:
    r"""Second rung: compare tokens after one linear map, so that only some features count.

    .. math:: C = X^\top U^\top U X

    Source: turner-v2, the unnumbered equation with :math:`U^\top U` before eq. 3.
    """
    return (U @ X).T @ (U @ X)


@shaped
def scores_query_key(
    X: Float[ndarray, "D N"], U_q: Float[ndarray, "K D"], U_k: Float[ndarray, "K D"]
) -> Float[ndarray, "N N"]:
    r"""Third rung: one map for the token that asks, another for the token that is asked.

    .. math:: C_{s,n} = \mathbf k_s^\top \mathbf q_n, \qquad \mathbf q_n = U_q \mathbf x_n,
              \quad \mathbf k_s = U_k \mathbf x_s

    Source: turner-v2, eq. 5 and 6 for one head. Its eq. 3 prints the query on the row; see the errata.
    """
    return (U_k @ X).T @ (U_q @ X)


@shaped
def scores_additive(
    Q: Float[ndarray, "K N"],
    K: Float[ndarray, "K S"],
    W_q: Float[ndarray, "F K"],
    W_k: Float[ndarray, "F K"],
    w: Float[ndarray, "F"],
) -> Float[ndarray, "S N"]:
    r"""Additive attention: a small network with one hidden layer compares query and key.

    .. math:: C_{s,n} = \mathbf w^\top \tanh(W_q \mathbf q_n + W_k \mathbf k_s)

    Source: COMP 336, "Self-Attention: Walk-through", method 2 (the formula there is an image); Bahdanau et al. 2015.
    Cost: about 3 F S N operations and F S N numbers in memory, against 2 K S N and none for a dot product.
    """
    hidden = np.tanh((W_k @ K)[:, :, None] + (W_q @ Q)[:, None, :])  # F S N
    return np.einsum("f,fsn->sn", w, hidden)


@shaped
def attention_weights(
    scores: Float[ndarray, "S N"], mask: Bool[ndarray, "#S #N"] | None = None
) -> Float[ndarray, "S N"]:
    r"""Scores to weights, column by column.

    .. math:: A_{s,n} = \frac{\exp(C_{s,n})}{\sum_{s'} \exp(C_{s',n})}

    ``mask`` is True where output n may look at source s. It acts on the scores, before the softmax, so that
    nothing leaks through the denominator. A column without any True becomes zeros.

    Source: turner-v2, eq. 3 and 5; for the mask COMP 336, "Looking into the Future".
    """
    if mask is None:
        return softmax(scores, axis=0)
    mask = np.broadcast_to(mask, scores.shape)
    blind = ~mask.any(axis=0)
    hidden = np.where(mask | blind, scores, -np.inf)  # a blind column keeps its scores and is zeroed below
    return np.where(blind, 0.0, softmax(hidden, axis=0))


def causal_mask(n_tokens: int) -> Bool[ndarray, "N N"]:
    r"""True where source s is not after target n: upper triangular, since targets are columns.

    .. math:: \mathrm{mask}_{s,n} = [\, s \le n \,]

    Source: turner-v2, section 4.1; COMP 336, "Looking into the Future" (there with the target on the row).
    """
    return np.triu(np.ones((n_tokens, n_tokens), dtype=bool))


@shaped
def padding_mask(ids: Int[ndarray, "S"], pad_id: int) -> Bool[ndarray, "S 1"]:
    r"""True where a source is a token and not padding; the same for every target. Join it with ``&``.

    .. math:: \mathrm{mask}_{s,1} = [\, w_s \ne w_{\mathrm{pad}} \,]

    Source: common practice; none of the sources pads.
    """
    return (ids != pad_id)[:, None]


@shaped
def attend(
    Q: Float[ndarray, "K N"],
    K: Float[ndarray, "K S"],
    V: Float[ndarray, "Kv S"],
    mask: Bool[ndarray, "#S #N"] | None = None,
) -> tuple[Float[ndarray, "Kv N"], Float[ndarray, "S N"]]:
    r"""Scaled dot-product attention: outputs and weights.

    .. math:: A = \mathrm{softmax}\left(K^\top Q / \sqrt{K}\right), \qquad Y = V A

    Source: turner-v2, eq. 5 for one head, with its footnote 8 corrected to the width K of a query;
    Vaswani et al. 2017, eq. 1 (there with tokens as rows).
    Cost: 2 (K + Kv) S N FLOPs; S N numbers for the weights.
    """
    scores = K.T @ Q / np.sqrt(len(K))
    A = attention_weights(scores, mask)
    return weighted_average(V, A), A


@shaped
def attend_backward(Q: KN, K: KS, V: KvS, dY: KvN, mask: Mask = None) -> tuple[KN, KS, KvS]:
    r"""Gradients of the outputs of ``attend`` with respect to ``Q``, ``K`` and ``V``.

    .. math:: G = A \otimes (V^\top E), \qquad
              \frac{\partial F}{\partial Q} = \frac{K G}{\sqrt K}, \qquad
              \frac{\partial F}{\partial K} = \frac{Q G^\top}{\sqrt K}, \qquad
              \frac{\partial F}{\partial V} = E A^\top

    E is the gradient with respect to Y, and :math:`\otimes` the softmax backwards in every column
    (``softmax_backward``). With a mask the same formulas hold, because A is 0 wherever the mask is False.

    Source: jiang, backward steps 1 to 3, with the query on the column, so that the transpose changes sides.
    Cost: twice the FLOPs of ``attend``, and those of ``attend`` to compute A again.
    """
    _, A = attend(Q, K, V, mask)
    G = softmax_backward(A, V.T @ dY, axis=0) / np.sqrt(len(K))
    return K @ G, Q @ G.T, dY @ A.T


@shaped
def self_attention(
    X: Float[ndarray, "D N"], U_q: Float[ndarray, "K D"], U_k: Float[ndarray, "K D"]
) -> tuple[Float[ndarray, "D N"], Float[ndarray, "N N"]]:
    r"""Self-attention in its smallest form: the sequence makes its own attention matrix and averages itself.

    .. math:: Y = X A, \qquad
              A_{s,n} = \frac{\exp(\mathbf k_s^\top \mathbf q_n)}{\sum_{s'} \exp(\mathbf k_{s'}^\top \mathbf q_n)}

    No scale and no values, as in the source, which lets :math:`U_q` absorb the scale.

    Source: turner-v2, eq. 2 and 3, with the query on the column as in its eq. 5.
    """
    A = attention_weights(scores_query_key(X, U_q, U_k))
    return weighted_average(X, A), A
