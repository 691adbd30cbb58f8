"""Checks of the display equations of the closer look at a language model without autograd."""

import numpy as np
from clearformer.reference import backward, multihead
from clearformer.reference.attention import attend
from clearformer.reference.functions import gelu, gelu_backward
from clearformer.reference.layers import mlp_backward

from tests.equations.registry import equation, table

D, N, K, Kv, H, HIDDEN = 5, 4, 3, 6, 2, 8


@equation("eq-back-mlp", "b79a365ea9")
def through_mlp(rng):
    X, E = rng.normal(size=(2, D, N))
    W_1, b_1, W_2 = rng.normal(size=(HIDDEN, D)), rng.normal(size=HIDDEN), rng.normal(size=(D, HIDDEN))
    before = W_1 @ X + b_1[:, None]
    slope, bent = gelu_backward(before, np.ones_like(before)), gelu(before)
    dT = table(lambda f, n: slope[f, n] * sum(W_2[d, f] * E[d, n] for d in range(D)), HIDDEN, N)
    dX = table(lambda d, n: sum(W_1[f, d] * dT[f, n] for f in range(HIDDEN)), D, N)
    dW_1 = table(lambda f, d: sum(dT[f, n] * X[d, n] for n in range(N)), HIDDEN, D)
    dW_2 = table(lambda d, f: sum(E[d, n] * bent[f, n] for n in range(N)), D, HIDDEN)
    by_X, by_W_1, _, by_W_2, _ = mlp_backward(X, W_1, b_1, W_2, E)
    return [(dX, by_X), (dW_1, by_W_1), (dW_2, by_W_2)]


@equation("eq-back-heads", "b039818547")
def heads(rng):
    X, E = rng.normal(size=(2, D, N))
    U_q, U_k, U_v, U_o = (rng.normal(size=size) / 2 for size in ((H, K, D), (H, K, D), (H, Kv, D), (H, D, Kv)))
    Y = np.concatenate([attend(u_q @ X, u_k @ X, u_v @ X)[0] for u_q, u_k, u_v in zip(U_q, U_k, U_v, strict=True)])
    dW_o = table(lambda d, j: sum(E[d, n] * Y[j, n] for n in range(N)), D, H * Kv)
    E_h = table(lambda i, k, n: sum(U_o[i, d, k] * E[d, n] for d in range(D)), H, Kv, N)
    through = [backward.attention_head_backward(X, U_q[i], U_k[i], U_v[i], E_h[i]) for i in range(H)]
    by_X, *by_U = multihead.multi_head_concatenated_backward(X, U_q, U_k, U_v, U_o, E)
    return [
        (dW_o, multihead.output_matrix(by_U[-1])),
        (np.array([each[1] for each in through]), by_U[0]),
        (sum(each[0] for each in through), by_X),
    ]
