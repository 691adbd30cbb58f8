"""Masks, many heads in both forms and cross-attention in the reference, forward and backward."""

import numpy as np
import pytest
import torch
from clearformer.reference import multihead
from clearformer.reference.attention import attend, attention_weights, causal_mask, padding_mask
from clearformer.reference.functions import softmax
from inline_snapshot import snapshot

from tests.clearformer.gradients import assert_backward
from tests.clearformer.heads import MASKS, D, H, K, Kv, N, S, some_mask
from tests.clearformer.refusals import refusal


def test_the_padding_mask_hides_padding_from_every_target(rng):
    ids = np.array([5, 0, 3, 0, 8, 2, 0])
    A = attention_weights(rng.normal(size=(S, N)), padding_mask(ids, 0))
    assert (A[[1, 3, 6]] == 0).all() and (A[[0, 2, 4, 5]] > 0).all()
    joined = padding_mask(ids, 0) & causal_mask(S)
    np.testing.assert_array_equal(joined, [[ids[s] != 0 and s <= n for n in range(S)] for s in range(S)])


@pytest.mark.parametrize("kind", MASKS)
def test_multi_head_against_loops(rng, kind):
    X, U_q, U_k = rng.normal(size=(D, N)), rng.normal(size=(H, K, D)), rng.normal(size=(H, K, D))
    V, mask = rng.normal(size=(H, D, D)), MASKS[kind](N)
    allowed = np.broadcast_to(True if mask is None else mask, (N, N))
    Y, A = multihead.multi_head(X, U_q, U_k, V, mask)
    expected = np.zeros((D, N))
    for h in range(H):
        for n in range(N):
            exponents = [
                allowed[s, n] * np.exp((U_k[h] @ X[:, s]) @ (U_q[h] @ X[:, n])) for s in range(N)
            ]  # query on the column
            for s in range(N):
                weight = exponents[s] / sum(exponents) if allowed[:, n].any() else 0.0
                assert A[h, s, n] == pytest.approx(weight, rel=1e-10)
                expected[:, n] += weight * V[h] @ X[:, s]
    np.testing.assert_allclose(Y, expected, rtol=1e-10)


@pytest.mark.parametrize("kind", MASKS)
def test_multi_head_backward(rng, kind):
    mask = MASKS[kind](N)
    assert_backward(
        lambda *arrays: multihead.multi_head(*arrays, mask)[0],
        lambda *arrays: multihead.multi_head_backward(*arrays, mask),
        rng.normal(size=(D, N)),
        rng.normal(size=(H, K, D)) / 3,
        rng.normal(size=(H, K, D)) / 3,
        rng.normal(size=(H, D, D)),
    )


@pytest.mark.parametrize("kind", MASKS)
def test_concatenation_is_the_sum_over_heads_with_low_rank_values(rng, heads, kind):
    """Catches heads concatenated in another order than the columns of W_O, and a lost scale."""
    X, (U_q, U_k, U_v, U_o), mask = rng.normal(size=(D, N)), heads, MASKS[kind](N)
    V = multihead.low_rank_values(U_o, U_v)
    assert [np.linalg.matrix_rank(V_h) for V_h in V] == [Kv] * H
    summed, A = multihead.multi_head(X, U_q / np.sqrt(K), U_k, V, mask)
    concatenated, A_too = multihead.multi_head_concatenated(X, *heads, mask)
    np.testing.assert_allclose(concatenated, summed, rtol=1e-10)
    np.testing.assert_allclose(A_too, A, rtol=1e-10)


def test_the_output_matrix_has_the_heads_side_by_side(heads):
    W_o = multihead.output_matrix(heads[3])
    assert W_o.shape == (D, H * Kv)
    np.testing.assert_array_equal(W_o[:, Kv : 2 * Kv], heads[3][1])


def test_cross_attention_against_one_head_after_the_other(rng, heads):
    X, Z, mask = rng.normal(size=(D, N)), rng.normal(size=(D, S)), some_mask(rng, N)
    expected = np.zeros((D, N))
    for U_q, U_k, U_v, U_o in zip(*heads, strict=True):
        for n in np.flatnonzero(mask.any(axis=0)):
            scores = np.array([(U_k @ Z[:, s]) @ (U_q @ X[:, n]) / np.sqrt(K) for s in range(S)])
            a = softmax(np.where(mask[:, n], scores, -np.inf), axis=0)
            expected[:, n] += U_o @ sum(a[s] * U_v @ Z[:, s] for s in range(S))
    Y, A = multihead.cross_attention(X, Z, *heads, mask)
    assert A.shape == (H, S, N)
    np.testing.assert_allclose(Y, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("masked", [False, True])
def test_cross_attention_backward(rng, heads, masked):
    mask = some_mask(rng, N) if masked else None
    assert_backward(
        lambda *arrays: multihead.cross_attention(*arrays, mask)[0],
        lambda *arrays: multihead.cross_attention_backward(*arrays, mask),
        rng.normal(size=(D, N)),
        rng.normal(size=(D, S)),
        *heads,
    )


@pytest.mark.parametrize("kind", MASKS)
def test_concatenated_heads_backward(rng, heads, kind):
    mask = MASKS[kind](N)
    assert_backward(
        lambda *arrays: multihead.multi_head_concatenated(*arrays, mask)[0],
        lambda *arrays: multihead.multi_head_concatenated_backward(*arrays, mask),
        rng.normal(size=(D, N)),
        *heads,
    )


def test_the_gradient_of_the_output_matrix_is_the_error_times_the_concatenated_heads(rng, heads):
    X, E, (U_q, U_k, U_v, _) = rng.normal(size=(D, N)), rng.normal(size=(D, N)), heads
    Z_cat = np.concatenate([attend(q @ X, k @ X, v @ X)[0] for q, k, v in zip(U_q, U_k, U_v, strict=True)])
    dU_o = multihead.multi_head_concatenated_backward(X, *heads, E)[-1]
    np.testing.assert_allclose(multihead.output_matrix(dU_o), E @ Z_cat.T, rtol=1e-10)


def test_heads_against_torch_multi_head_attention(rng):
    width = D // H
    U_q, U_k, U_v = (rng.normal(size=(H, width, D)) for _ in range(3))
    U_o, X, Z, dY = (rng.normal(size=size) for size in ((H, D, width), (D, N), (D, S), (D, N)))
    theirs = torch.nn.MultiheadAttention(D, H, bias=False, dtype=torch.float64)
    stacked = torch.as_tensor(np.concatenate([U.reshape(D, D) for U in (U_q, U_k, U_v)]))
    theirs.in_proj_weight.data, theirs.out_proj.weight.data = stacked, torch.as_tensor(multihead.output_matrix(U_o))
    x, z = (torch.tensor(M.T, requires_grad=True) for M in (X, Z))
    y, weights = theirs(x, z, z, average_attn_weights=False)
    y.backward(torch.as_tensor(dY.T))
    Y, A = multihead.cross_attention(X, Z, U_q, U_k, U_v, U_o)
    np.testing.assert_allclose(Y, y.detach().numpy().T, rtol=1e-10)
    np.testing.assert_allclose(A, weights.detach().numpy().transpose(0, 2, 1), rtol=1e-10)
    dX, dZ, dU_q, dU_k, dU_v, dU_o = multihead.cross_attention_backward(X, Z, U_q, U_k, U_v, U_o, dY)
    np.testing.assert_allclose(dX, x.grad.numpy().T, atol=1e-10)
    np.testing.assert_allclose(dZ, z.grad.numpy().T, atol=1e-10)
    ours = np.concatenate([dU.reshape(D, D) for dU in (dU_q, dU_k, dU_v)])
    np.testing.assert_allclose(ours, theirs.in_proj_weight.grad.numpy(), atol=1e-10)
    np.testing.assert_allclose(multihead.output_matrix(dU_o), theirs.out_proj.weight.grad.numpy(), atol=1e-10)


def test_shapes_that_disagree_are_named(rng, heads):
    X, (U_q, U_k, U_v, U_o) = rng.normal(size=(D, N)), heads
    assert refusal(ValueError, multihead.multi_head_concatenated, X, U_q, U_k[:2], U_v, U_o) == snapshot(
        "cross_attention: U_k has shape (2, 4, 6), so H (heads) = 2, but H = 3 in U_q of shape (3, 4, 6). Expected axes (H, K, D): H = heads, K = width per head, D = model width."
    )
    assert refusal(ValueError, multihead.multi_head, X, U_q, U_k, U_v) == snapshot(
        "multi_head: V has shape (3, 2, 6), so D (model width) = 2, but D = 6 in X of shape (6, 5). Expected axes (H, D, D): H = heads, D = model width, D = model width."
    )
    assert refusal(ValueError, multihead.cross_attention, X, rng.normal(size=(5, S)), *heads) == snapshot(
        "cross_attention: Z has shape (5, 7), so D (model width) = 5, but D = 6 in X of shape (6, 5). Expected axes (D, S): D = model width, S = source positions."
    )
    with pytest.raises(TypeError, match="mask has dtype float64"):
        multihead.multi_head_concatenated(X, *heads, np.ones((N, N)))
