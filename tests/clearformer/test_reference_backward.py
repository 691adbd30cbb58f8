"""The ladder and attention backwards, and Jiang's matrix P for one head and for many."""

import numpy as np
import pytest
from clearformer.reference import attention as reference
from clearformer.reference import backward, multihead
from clearformer.reference.attention import attend, attend_backward, causal_mask
from clearformer.reference.functions import softmax, softmax_backward
from inline_snapshot import snapshot

from tests.clearformer.gradients import assert_backward
from tests.clearformer.heads import MASKS, D, H, K, Kv, N, S, some_mask
from tests.clearformer.refusals import refusal

LADDER = {
    "weighted_average": ((D, S), (S, N)),
    "scores_dot": ((D, N),),
    "scores_projected": ((D, N), (K, D)),
    "scores_query_key": ((D, N), (K, D), (K, D)),
    "scores_additive": ((K, N), (K, S), (8, K), (8, K), (8,)),
    "self_attention": ((D, N), (K, D), (K, D)),
}


@pytest.mark.parametrize("name", LADDER)
def test_the_ladder_backwards(rng, name):
    """Catches a transpose forgotten where a token is both asked and asking."""

    def forward(*arrays):
        result = getattr(reference, name)(*arrays)
        return result[0] if isinstance(result, tuple) else result

    inputs = [rng.normal(size=size) / 2 for size in LADDER[name]]
    assert_backward(forward, getattr(backward, f"{name}_backward"), *inputs)


@pytest.mark.parametrize("masked", [False, True])
def test_attend_backward(rng, masked):
    """Catches query and key exchanged, a forgotten scale, and a gradient for what the mask hides."""
    Q, Keys, V = rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=(Kv, S))
    mask = some_mask(rng, N) if masked else None
    assert_backward(
        lambda q, k, v: attend(q, k, v, mask)[0],
        lambda q, k, v, dY: attend_backward(q, k, v, dY, mask),
        Q,
        Keys,
        V,
    )


def test_a_blind_target_sends_no_gradient(rng):
    Q, Keys, V = rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=(Kv, S))
    dY = np.zeros((Kv, N))
    dY[:, 1] = 1.0
    assert not any(gradient.any() for gradient in attend_backward(Q, Keys, V, dY, some_mask(rng, N)))


def test_p_is_jiangs_matrix_with_query_and_key_exchanged(rng, heads):
    """His formula, typed as printed with his roles, on the same function: his A is our U_k, his B our U_q."""
    X, E = rng.normal(size=(D, N)), rng.normal(size=(Kv, N))
    B, A, C = (U[0] for U in heads[:3])
    Q, Keys, V = A @ X, B @ X, C @ X
    weights = softmax(Q.T @ Keys / np.sqrt(K), axis=0)
    G = softmax_backward(weights, V.T @ E, axis=0)
    P = backward.p_matrix(X, B, A, C, E)
    np.testing.assert_allclose(P[K : 2 * K], Keys @ G.T / np.sqrt(K), rtol=1e-10)
    np.testing.assert_allclose(P[:K], Q @ G / np.sqrt(K), rtol=1e-10)
    np.testing.assert_allclose(P[2 * K :], E @ weights.T, rtol=1e-10)


@pytest.mark.parametrize("kind", MASKS)
def test_one_head_backward_through_p(rng, heads, kind):
    mask = MASKS[kind](N)
    assert_backward(
        lambda X, q, k, v: attend(q @ X, k @ X, v @ X, mask)[0],
        lambda *arrays: backward.attention_head_backward(*arrays, mask),
        rng.normal(size=(D, N)),
        *(U[0] for U in heads[:3]),
    )


def test_masking_after_the_softmax_breaks_the_formulas(rng):
    """Jiang masks the attention matrix itself; then the backward pass "without any modifications" is off."""
    Q, Keys, V, E = (rng.normal(size=(K, N)) for _ in range(4))
    mask = causal_mask(N)
    honest = attend_backward(Q, Keys, V, E, mask)
    printed = softmax(Keys.T @ Q / np.sqrt(K), axis=0) * mask
    G = softmax_backward(printed, V.T @ E, axis=0) / np.sqrt(K)
    assert np.abs(Keys @ G - honest[0]).max() > 0.05


def test_the_residual_is_a_fourth_path(rng, heads):
    U_q, U_k = heads[0][0], heads[1][0]
    X, U_v, mask = rng.normal(size=(D, N)), rng.normal(size=(D, D)), causal_mask(N)
    assert_backward(
        lambda X, q, k, v: X + attend(q @ X, k @ X, v @ X, mask)[0],
        lambda *arrays: backward.residual_head_backward(*arrays, mask),
        X,
        U_q,
        U_k,
        U_v,
    )
    with pytest.raises(AssertionError, match="gradient 0"):  # three paths do not suffice
        assert_backward(
            lambda X, q, k, v: X + attend(q @ X, k @ X, v @ X, mask)[0],
            lambda *arrays: backward.attention_head_backward(*arrays, mask),
            X,
            U_q,
            U_k,
            U_v,
        )


@pytest.mark.parametrize("kind", MASKS)
def test_one_p_for_every_head(rng, heads, kind):
    X, E, mask = rng.normal(size=(D, N)), rng.normal(size=(D, N)), MASKS[kind](N)
    assert backward.p_matrices(X, *heads, E, mask).shape == (H, 2 * K + Kv, N)
    ours = backward.heads_backward(X, *heads, E, mask)
    expected = multihead.multi_head_concatenated_backward(X, *heads, E, mask)
    for a, e in zip(ours, expected[:4], strict=True):
        np.testing.assert_allclose(a, e, atol=1e-12)


def test_a_residual_needs_values_as_wide_as_the_tokens(rng, heads):
    X, (U_q, U_k, U_v, _) = rng.normal(size=(D, N)), heads
    assert refusal(ValueError, backward.residual_head_backward, X, U_q[0], U_k[0], U_v[0], X) == snapshot(
        "residual_head_backward: U_v has shape (2, 6), so D (model width) = 2, but D = 6 in X of shape (6, 5). Expected axes (D, D): D = model width, D = model width."
    )
