"""The NumPy reference against sums written out index by index, and its derivative against central differences."""

import math

import numpy as np
import pytest
from clearformer.reference import attention as reference
from clearformer.reference.functions import softmax, softmax_jacobian
from clearformer.reference.numgrad import numerical_jacobian
from clearformer.reference.tokens import embed, embed_patches, one_hot, patches
from hypothesis import given
from hypothesis import strategies as st

D, K, Kv, F, N, S = 11, 4, 6, 9, 5, 7


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def loops(entry, rows, columns):
    return np.array([[entry(i, j) for j in range(columns)] for i in range(rows)])


def test_softmax_against_its_definition_along_both_axes(rng):
    scores = rng.normal(size=(S, N))
    down = loops(lambda s, n: math.exp(scores[s, n]) / sum(math.exp(scores[r, n]) for r in range(S)), S, N)
    across = loops(lambda s, n: math.exp(scores[s, n]) / sum(math.exp(scores[s, m]) for m in range(N)), S, N)
    np.testing.assert_allclose(softmax(scores, axis=0), down, rtol=1e-12)
    np.testing.assert_allclose(softmax(scores, axis=1), across, rtol=1e-12)


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=9), st.floats(-1e4, 1e4))
def test_softmax_sums_to_one_survives_large_scores_and_ignores_a_shift(scores, shift):
    weights = softmax(np.array(scores), axis=0)
    assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(softmax(np.array(scores) + shift, axis=0), weights, atol=1e-9)


def test_the_jacobian_of_the_softmax_against_central_differences(rng):
    scores = rng.normal(size=S)
    expected = numerical_jacobian(lambda c: softmax(c, axis=0), scores)
    np.testing.assert_allclose(softmax_jacobian(softmax(scores, axis=0)), expected, atol=1e-9)


def test_central_differences_against_a_known_derivative(rng):
    """Catches a step forgotten, halved or applied to the wrong entry."""
    x = rng.normal(size=(2, 3))
    jacobian = numerical_jacobian(lambda z: z[0] * z[1], x)
    np.testing.assert_allclose(jacobian, np.hstack([np.diag(x[1]), np.diag(x[0])]), atol=1e-8)


def test_the_ladder_of_scores_against_loops(rng):
    X, U_q, U_k = rng.normal(size=(D, N)), rng.normal(size=(K, D)), rng.normal(size=(K, D))
    q, k = [U_q @ X[:, n] for n in range(N)], [U_k @ X[:, n] for n in range(N)]
    np.testing.assert_allclose(reference.scores_dot(X), loops(lambda s, n: X[:, s] @ X[:, n], N, N))
    np.testing.assert_allclose(reference.scores_projected(X, U_q), loops(lambda s, n: q[s] @ q[n], N, N))
    np.testing.assert_allclose(reference.scores_query_key(X, U_q, U_k), loops(lambda s, n: k[s] @ q[n], N, N))


def test_additive_scores_against_loops(rng):
    Q, Keys, w = rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=F)
    W_q, W_k = rng.normal(size=(F, K)), rng.normal(size=(F, K))
    expected = loops(lambda s, n: w @ np.tanh(W_q @ Q[:, n] + W_k @ Keys[:, s]), S, N)
    np.testing.assert_allclose(reference.scores_additive(Q, Keys, W_q, W_k, w), expected)


def test_attend_against_loops(rng):
    Q, Keys, V = rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=(Kv, S))
    mask = rng.random((S, N)) > 0.3
    mask[0] = True
    Y, A = reference.attend(Q, Keys, V, mask)
    e = loops(lambda s, n: mask[s, n] * math.exp(Keys[:, s] @ Q[:, n] / math.sqrt(K)), S, N)
    expected = loops(lambda s, n: e[s, n] / sum(e[r, n] for r in range(S)), S, N)
    np.testing.assert_allclose(A, expected, rtol=1e-12)
    np.testing.assert_allclose(Y, loops(lambda d, n: sum(V[d, s] * expected[s, n] for s in range(S)), Kv, N))


def test_self_attention_averages_the_sequence_with_its_own_matrix(rng):
    X, U_q, U_k = rng.normal(size=(D, N)), rng.normal(size=(K, D)), rng.normal(size=(K, D))
    Y, A = reference.self_attention(X, U_q, U_k)
    np.testing.assert_allclose(A.sum(axis=0), 1)
    np.testing.assert_allclose(A, softmax((U_k @ X).T @ (U_q @ X), axis=0))
    np.testing.assert_allclose(Y, X @ A)


def test_a_column_that_may_look_at_nothing_becomes_zeros(rng):
    mask = np.ones((S, N), dtype=bool)
    mask[:, 2] = False
    Y, A = reference.attend(rng.normal(size=(K, N)), rng.normal(size=(K, S)), rng.normal(size=(Kv, S)), mask)
    assert (A[:, 2] == 0).all() and (Y[:, 2] == 0).all()
    np.testing.assert_allclose(np.delete(A.sum(axis=0), 2), 1)


def test_a_mask_hides_whatever_the_scores_are():
    """Catches a large negative number in place of minus infinity: a hidden source then beats one with a lower score."""
    scores = np.array([[-1e12, 1e12], [-3e9, -1e12], [0.0, 5.0]])
    mask = np.array([[True, False], [True, True], [False, False]])
    np.testing.assert_array_equal(reference.attention_weights(scores, mask), [[0, 0], [1, 1], [0, 0]])


def test_a_later_token_cannot_change_an_earlier_output_under_the_causal_mask(rng):
    """Catches a mask of the wrong triangle and one applied after the softmax."""
    X, mask = rng.normal(size=(K, N)), reference.causal_mask(N)
    edited = X.copy()
    edited[:, 3:] += 1.0
    before, after = (reference.attend(Z, Z, Z, mask)[0] for Z in (X, edited))
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert np.abs(before[:, 3:] - after[:, 3:]).max() > 0.1


def test_the_convolution_matrix_convolves(rng):
    x, kernel = rng.normal(size=(D, N)), rng.normal(size=3)
    expected = loops(lambda d, n: sum(kernel[j] * x[d, (n - j) % N] for j in range(3)), D, N)
    np.testing.assert_allclose(reference.weighted_average(x, reference.convolution_matrix(kernel, N)), expected)


def test_embedding_picks_columns(rng):
    E, ids = rng.normal(size=(D, N)), np.array([3, 0, 3, 4])
    assert one_hot(ids, N).sum() == len(ids)
    np.testing.assert_array_equal(embed(E, ids), E[:, ids])


def test_patches_keep_every_pixel_in_the_order_of_reading(rng):
    image = rng.normal(size=(3, 4, 6))
    columns = patches(image, 2)
    assert columns.shape == (12, 6)
    np.testing.assert_array_equal(columns[:, 4], image[:, 2:4, 2:4].ravel())
    W = rng.normal(size=(D, 12))
    np.testing.assert_allclose(embed_patches(W, columns)[:, 4], W @ image[:, 2:4, 2:4].ravel())
