"""Several heads at once, as Turner writes them and as programs do, each with its gradient."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from clearformer.reference.attention import attend, attend_backward, attention_weights, scores_query_key
from clearformer.reference.backward import scores_query_key_backward, weighted_average_backward
from clearformer.reference.functions import softmax_backward
from clearformer.shapes import shaped

Mask, CrossMask = Bool[ndarray, "#N #N"] | None, Bool[ndarray, "#S #N"] | None
DN = Float[ndarray, "D N"]
DS, HDD = Float[ndarray, "D S"], Float[ndarray, "H D D"]
HKD, HKvD, HDKv = Float[ndarray, "H K D"], Float[ndarray, "H Kv D"], Float[ndarray, "H D Kv"]


@shaped
def multi_head(X: DN, U_q: HKD, U_k: HKD, V: HDD, mask: Mask = None) -> tuple[DN, Float[ndarray, "H N N"]]:
    r"""Multi-head self-attention with one D × D matrix a head: outputs, and the weights of every head.

    .. math:: Y = \sum_{h=1}^H V_h X A_h, \qquad [A_h]_{s,n} =
              \frac{\exp(\mathbf k_{h,s}^\top \mathbf q_{h,n})}{\sum_{s'} \exp(\mathbf k_{h,s'}^\top \mathbf q_{h,n})},
              \qquad \mathbf q_{h,n} = U_{q,h} \mathbf x_n, \quad \mathbf k_{h,n} = U_{k,h} \mathbf x_n

    Source: turner-v2, eq. 4, 5 and 6. The scale :math:`1/\sqrt K` is left to :math:`U_q`, as there.
    Cost: H (4 K D N + 2 K N² + 2 D N² + 2 D² N) FLOPs.
    """
    A = np.stack([attention_weights(scores_query_key(X, u_q, u_k), mask) for u_q, u_k in zip(U_q, U_k, strict=True)])
    Y = sum(V_h @ X @ A_h for V_h, A_h in zip(V, A, strict=True))
    return Y, A


@shaped
def multi_head_backward(X: DN, U_q: HKD, U_k: HKD, V: HDD, dY: DN, mask: Mask = None) -> tuple[DN, HKD, HKD, HDD]:
    r"""Gradients of the outputs of ``multi_head`` with respect to ``X``, ``U_q``, ``U_k`` and ``V``.

    .. math:: \frac{\partial F}{\partial V_h} = E \, (X A_h)^\top, \qquad
              G_h = A_h \otimes \left(X^\top V_h^\top E\right), \qquad
              \frac{\partial F}{\partial X} = \sum_{h=1}^H \left(V_h^\top E A_h^\top
              + U_{q,h}^\top U_{k,h} X G_h + U_{k,h}^\top U_{q,h} X G_h^\top\right)

    E is the gradient with respect to Y. The three terms are the paths through values, queries and keys.

    Source: jiang, backward steps 1 to 4, carried over to turner-v2, eq. 4.
    """
    dX, dU_q, dU_k, dV = np.zeros_like(X), np.zeros_like(U_q), np.zeros_like(U_k), np.zeros_like(V)
    for h, A in enumerate(multi_head(X, U_q, U_k, V, mask)[1]):
        dV[h] = dY @ (X @ A).T
        through_values, dA = weighted_average_backward(X, A, V[h].T @ dY)
        G = softmax_backward(A, dA, axis=0)
        through_scores, dU_q[h], dU_k[h] = scores_query_key_backward(X, U_q[h], U_k[h], G)
        dX += through_values + through_scores
    return dX, dU_q, dU_k, dV


@shaped
def low_rank_values(U_o: HDKv, U_v: HKvD) -> HDD:
    r"""Turner's matrix of every head, of rank K at most, as the product of the two that programs hold.

    .. math:: V_h = U_h \, U_{v,h}

    Source: turner-v2, footnote 13 (U_o here is :math:`U_h` there).
    """
    return U_o @ U_v


@shaped
def output_matrix(U_o: HDKv) -> Float[ndarray, "D H*Kv"]:
    r"""The output maps of the heads side by side: the one matrix that multiplies the concatenated heads.

    .. math:: W_O = [\, U_1 \; \cdots \; U_H \,]

    Source: jiang, GPT-3, step 2 (:math:`\mathbf W^o`).
    """
    return np.concatenate(U_o, axis=1)


@shaped
def cross_attention(
    X: DN, Z: DS, U_q: HKD, U_k: HKD, U_v: HKvD, U_o: HDKv, mask: CrossMask = None
) -> tuple[DN, Float[ndarray, "H S N"]]:
    r"""Targets X look at sources Z: queries come from X, keys and values from Z.

    .. math:: Y = W_O \begin{bmatrix} Y_1 \\ \vdots \\ Y_H \end{bmatrix}, \qquad
              Y_h = U_{v,h} Z \; \mathrm{softmax}\left((U_{k,h} Z)^\top U_{q,h} X / \sqrt K\right)

    Source: Vaswani et al. 2017, section 3.2, in columns; jiang, forward step 1 and GPT-3, step 2, with the roles of
    query and key put right.
    Cost: H (2 K D (N + S) + 2 Kv D (N + S) + 2 (K + Kv) S N) FLOPs.
    """
    heads = [attend(u_q @ X, u_k @ Z, u_v @ Z, mask) for u_q, u_k, u_v in zip(U_q, U_k, U_v, strict=True)]
    concatenated = np.concatenate([Y_h for Y_h, _ in heads])
    return output_matrix(U_o) @ concatenated, np.stack([A_h for _, A_h in heads])


@shaped
def cross_attention_backward(
    X: DN, Z: DS, U_q: HKD, U_k: HKD, U_v: HKvD, U_o: HDKv, dY: DN, mask: CrossMask = None
) -> tuple[DN, DS, HKD, HKD, HKvD, HDKv]:
    r"""Gradients of the outputs of ``cross_attention`` by its six arrays, in their order.

    .. math:: E_h = U_h^\top E, \qquad \frac{\partial F}{\partial U_h} = E \, Y_h^\top, \qquad
              \frac{\partial F}{\partial U_{q,h}} = \frac{\partial F}{\partial Q_h} X^\top, \qquad
              \frac{\partial F}{\partial X} = \sum_{h=1}^H U_{q,h}^\top \frac{\partial F}{\partial Q_h}

    Each head gets its own part :math:`E_h` of the gradient; from there it is ``attend_backward``. Keys and values
    send theirs to Z.

    Source: jiang, backward steps 1 to 4, for every head.
    """
    dX, dZ = np.zeros_like(X), np.zeros_like(Z)
    dU_q, dU_k, dU_v, dU_o = (np.zeros_like(U) for U in (U_q, U_k, U_v, U_o))
    for h in range(len(U_q)):
        Q, K, V = U_q[h] @ X, U_k[h] @ Z, U_v[h] @ Z
        dU_o[h] = dY @ attend(Q, K, V, mask)[0].T
        dQ, dK, dV = attend_backward(Q, K, V, U_o[h].T @ dY, mask)
        dU_q[h], dU_k[h], dU_v[h] = dQ @ X.T, dK @ Z.T, dV @ Z.T
        dX += U_q[h].T @ dQ
        dZ += U_k[h].T @ dK + U_v[h].T @ dV
    return dX, dZ, dU_q, dU_k, dU_v, dU_o


def multi_head_concatenated(X, U_q, U_k, U_v, U_o, mask=None):
    r"""Self-attention as programs write it: ``cross_attention`` of a sequence with itself.

    .. math:: Y = W_O \, \mathrm{concat}(Y_1, \dots, Y_H) = \sum_{h=1}^H U_h U_{v,h} X A_h

    With :math:`V_h = U_h U_{v,h}`, and the scale in :math:`U_q`, it equals ``multi_head``.

    Source: turner-v2, footnote 13; jiang, GPT-3, steps 1 and 2.
    Cost: 8 D² N + 4 D N² FLOPs with K = Kv = D / H, whatever H is.
    """
    return cross_attention(X, X, U_q, U_k, U_v, U_o, mask)


def multi_head_concatenated_backward(X, U_q, U_k, U_v, U_o, dY, mask=None):
    """Gradients of ``multi_head_concatenated`` with respect to ``X``, ``U_q``, ``U_k``, ``U_v`` and ``U_o``.

    Source: as ``cross_attention_backward``; X is target and source, and its two gradients add.
    """
    dX, dZ, *dU = cross_attention_backward(X, X, U_q, U_k, U_v, U_o, dY, mask)
    return dX + dZ, *dU
