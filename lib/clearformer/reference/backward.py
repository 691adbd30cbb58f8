"""Gradients through the ladder of scores, and Jiang's matrix P, which holds those by queries, keys and values.

His A, B, C are U_q, U_k, U_v here. He lets the output position supply the key; the query does here.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from clearformer.reference.attention import attend_backward, attention_weights, scores_query_key
from clearformer.reference.functions import softmax_backward
from clearformer.shapes import shaped

Mask = Bool[ndarray, "#N #N"] | None
DN = Float[ndarray, "D N"]
DS, KN, KS, KvN = (Float[ndarray, axes] for axes in ("D S", "K N", "K S", "Kv N"))
SN, NN, FK, KD, KvD, DD = (Float[ndarray, axes] for axes in ("S N", "N N", "F K", "K D", "Kv D", "D D"))
HKD, HKvD, HDKv = (Float[ndarray, axes] for axes in ("H K D", "H Kv D", "H D Kv"))


@shaped
def weighted_average_backward(X: DS, A: SN, dY: DN) -> tuple[DS, SN]:
    r"""Gradients of ``weighted_average`` with respect to ``X`` and ``A``.

    .. math:: \frac{\partial F}{\partial X} = E A^\top, \qquad \frac{\partial F}{\partial A} = X^\top E

    Source: jiang, backward step 1 and the gradient with respect to V.
    """
    return dY @ A.T, X.T @ dY


@shaped
def scores_dot_backward(X: DN, dC: NN) -> DN:
    r"""Gradient of ``scores_dot`` with respect to ``X``: every token is both asked and asking.

    .. math:: \frac{\partial F}{\partial X} = X \left(G + G^\top\right), \qquad G = \frac{\partial F}{\partial C}

    Source: the product rule on :math:`C = X^\top X`.
    """
    return X @ (dC + dC.T)


@shaped
def scores_projected_backward(X: DN, U: KD, dC: NN) -> tuple[DN, KD]:
    r"""Gradients of ``scores_projected`` with respect to ``X`` and ``U``.

    .. math:: \frac{\partial F}{\partial X} = U^\top U X \left(G + G^\top\right), \qquad
              \frac{\partial F}{\partial U} = U X \left(G + G^\top\right) X^\top

    Source: ``scores_dot_backward`` on U X, then the chain rule.
    """
    d_projected = scores_dot_backward(U @ X, dC)
    return U.T @ d_projected, d_projected @ X.T


@shaped
def scores_query_key_backward(X: DN, U_q: KD, U_k: KD, dC: NN) -> tuple[DN, KD, KD]:
    r"""Gradients of ``scores_query_key`` with respect to ``X``, ``U_q`` and ``U_k``.

    .. math:: \frac{\partial F}{\partial Q} = K G, \qquad \frac{\partial F}{\partial K} = Q G^\top, \qquad
              \frac{\partial F}{\partial X} = U_q^\top K G + U_k^\top Q G^\top

    Source: jiang, backward steps 3 and 4, with the query on the column and without the scale.
    """
    dQ, dK = U_k @ X @ dC, U_q @ X @ dC.T
    return U_q.T @ dQ + U_k.T @ dK, dQ @ X.T, dK @ X.T


@shaped
def scores_additive_backward(
    Q: KN, K: KS, W_q: FK, W_k: FK, w: Float[ndarray, "F"], dC: SN
) -> tuple[KN, KS, FK, FK, Float[ndarray, "F"]]:
    r"""Gradients of ``scores_additive`` by its five arrays, in their order.

    .. math:: \mathbf g_{s,n} = G_{s,n} \, \mathbf w \odot (1 - \tanh^2), \qquad
              \frac{\partial F}{\partial \mathbf q_n} = W_q^\top \sum_s \mathbf g_{s,n}, \qquad
              \frac{\partial F}{\partial \mathbf k_s} = W_k^\top \sum_n \mathbf g_{s,n}

    Source: the chain rule on ``scores_additive``.
    """
    hidden = np.tanh((W_k @ K)[:, :, None] + (W_q @ Q)[:, None, :])  # F S N
    g = w[:, None, None] * dC * (1 - hidden**2)
    for_queries, for_keys = g.sum(axis=1), g.sum(axis=2)
    dw = (hidden * dC).sum(axis=(1, 2))
    return W_q.T @ for_queries, W_k.T @ for_keys, for_queries @ Q.T, for_keys @ K.T, dw


@shaped
def self_attention_backward(X: DN, U_q: KD, U_k: KD, dY: DN) -> tuple[DN, KD, KD]:
    r"""Gradients of the outputs of ``self_attention`` with respect to ``X``, ``U_q`` and ``U_k``.

    .. math:: G = A \otimes (X^\top E), \qquad
              \frac{\partial F}{\partial X} = E A^\top + U_q^\top K G + U_k^\top Q G^\top

    Source: the chain rule on turner-v2, eq. 2 and 3: X is averaged, and also makes the weights.
    """
    A = attention_weights(scores_query_key(X, U_q, U_k))
    averaged, dA = weighted_average_backward(X, A, dY)
    dX, dU_q, dU_k = scores_query_key_backward(X, U_q, U_k, softmax_backward(A, dA, axis=0))
    return averaged + dX, dU_q, dU_k


@shaped
def p_matrix(X: DN, U_q: KD, U_k: KD, U_v: KvD, E: KvN, mask: Mask = None) -> Float[ndarray, "2*K+Kv N"]:
    r"""The matrix P of one head; E is the gradient of the loss with respect to the output of the head.

    .. math:: P = \begin{bmatrix} \frac{1}{\sqrt K} K \left(A \otimes (V^\top E)\right) \\
              \frac{1}{\sqrt K} Q \left(A \otimes (V^\top E)\right)^\top \\ E A^\top \end{bmatrix}

    Source: jiang, "Backward Pass", the definition of P, with query and key exchanged: his transpose stands in the
    first block, ours in the second.
    """
    return np.vstack(attend_backward(U_q @ X, U_k @ X, U_v @ X, E, mask))


@shaped
def attention_head_backward(X: DN, U_q: KD, U_k: KD, U_v: KvD, E: KvN, mask: Mask = None) -> tuple[DN, KD, KD, KvD]:
    r"""Gradients of one head, ``attend(U_q X, U_k X, U_v X)``, by ``X``, ``U_q``, ``U_k`` and ``U_v``.

    .. math:: \frac{\partial F}{\partial [U_q; U_k; U_v]} = P X^\top, \qquad
              \frac{\partial F}{\partial X} = \left[\, U_q^\top \; U_k^\top \; U_v^\top \,\right] P

    The product by P sums three paths from X to the output.

    Source: jiang, "Backward Pass", the two equations after the definition of P.
    """
    P = p_matrix(X, U_q, U_k, U_v, E, mask)
    dX = np.vstack([U_q, U_k, U_v]).T @ P
    return dX, *np.split(P @ X.T, [len(U_q), 2 * len(U_q)])


@shaped
def residual_head_backward(X: DN, U_q: KD, U_k: KD, U_v: DD, E: DN, mask: Mask = None) -> tuple[DN, KD, KD, DD]:
    r"""The same for ``X + attend(U_q X, U_k X, U_v X)``: the residual connection is a fourth path.

    .. math:: \frac{\partial F}{\partial X} = \left[\, U_q^\top \; U_k^\top \; U_v^\top \,\right] P + E

    Source: jiang, "Backward Pass", which counts three paths; the fourth follows from its forward step 4.
    """
    dX, *dU = attention_head_backward(X, U_q, U_k, U_v, E, mask)
    return dX + E, *dU


@shaped
def p_matrices(
    X: DN, U_q: HKD, U_k: HKD, U_v: HKvD, U_o: HDKv, E: DN, mask: Mask = None
) -> Float[ndarray, "H 2*K+Kv N"]:
    r"""One P for every head; E is the gradient with respect to the output of all heads, after the output matrix.

    .. math:: P_h = P(X, U_{q,h}, U_{k,h}, U_{v,h}, E_h), \qquad E_h = U_h^\top E

    Source: jiang has one head; this is the same derivation with his GPT-3, steps 1 and 2.
    """
    heads = zip(U_q, U_k, U_v, U_o, strict=True)
    return np.stack([p_matrix(X, u_q, u_k, u_v, u_o.T @ E, mask) for u_q, u_k, u_v, u_o in heads])


@shaped
def heads_backward(
    X: DN, U_q: HKD, U_k: HKD, U_v: HKvD, U_o: HDKv, E: DN, mask: Mask = None
) -> tuple[DN, HKD, HKD, HKvD]:
    r"""Gradients of ``multi_head_concatenated``, from the matrices P: those for ``X``, ``U_q``, ``U_k`` and ``U_v``.

    .. math:: \frac{\partial F}{\partial [U_{q,h}; U_{k,h}; U_{v,h}]} = P_h X^\top, \qquad
              \frac{\partial F}{\partial X} = \sum_{h=1}^H
              \left[\, U_{q,h}^\top \; U_{k,h}^\top \; U_{v,h}^\top \,\right] P_h

    Source: as ``p_matrices``.
    """
    P = p_matrices(X, U_q, U_k, U_v, U_o, E, mask)
    U = np.concatenate([U_q, U_k, U_v], axis=1)  # H 2K+Kv D
    K = U_q.shape[1]
    return np.einsum("hpd,hpn->dn", U, P), *np.split(P @ X.T, [K, 2 * K], axis=1)
