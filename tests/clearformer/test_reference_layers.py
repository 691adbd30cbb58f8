"""Norms, feed-forward network and positions of the reference, forward and backward."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from clearformer.reference import functions, layers
from clearformer.reference.positions import sinusoidal
from inline_snapshot import snapshot

from tests.clearformer.gradients import assert_backward
from tests.clearformer.refusals import refusal

D, FF, N = 6, 9, 5
EPS = 1e-5


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def loops(entry, rows, columns):
    return np.array([[entry(i, j) for j in range(columns)] for i in range(rows)])


def mean_and_variance(column):
    mean = sum(column) / len(column)
    return mean, sum((x - mean) ** 2 for x in column) / len(column)


def test_layer_norm_against_loops_central_differences_and_torch(rng):
    X, gamma, beta = 3 * rng.normal(size=(D, N)) + 2, rng.normal(size=D), rng.normal(size=D)
    moments = [mean_and_variance(X[:, n]) for n in range(N)]

    def entry(d, n):
        mean, variance = moments[n]
        return (X[d, n] - mean) / math.sqrt(variance + EPS) * gamma[d] + beta[d]

    np.testing.assert_allclose(layers.layer_norm(X, gamma, beta), loops(entry, D, N), rtol=1e-12)
    theirs = F.layer_norm(torch.as_tensor(X.T), (D,), torch.as_tensor(gamma), torch.as_tensor(beta))
    np.testing.assert_allclose(layers.layer_norm(X, gamma, beta), theirs.numpy().T, rtol=1e-10)
    for eps in (EPS, 0.5):  # the large one catches a gradient that forgets eps
        assert_backward(
            lambda X, g, b, eps=eps: layers.layer_norm(X, g, b, eps),
            lambda X, g, b, dY, eps=eps: layers.layer_norm_backward(X, g, dY, eps),
            X,
            gamma,
            beta,
        )


def test_a_norm_over_tokens_lets_a_later_token_change_an_earlier_one(rng):
    X = rng.normal(size=(D, N))
    edited = X.copy()
    edited[:, -1] += 1.0
    ones, zeros = np.ones(D), np.zeros(D)

    def change(norm):
        return np.abs(norm(X)[:, 0] - norm(edited)[:, 0]).max()

    assert change(layers.layer_norm_over_tokens) > 0.1
    assert change(lambda Z: layers.layer_norm(Z, ones + 1, zeros)) == 0
    moments = [mean_and_variance(X[d]) for d in range(D)]
    expected = loops(lambda d, n: (X[d, n] - moments[d][0]) / math.sqrt(moments[d][1] + EPS), D, N)
    np.testing.assert_allclose(layers.layer_norm_over_tokens(X), expected, rtol=1e-12)
    assert_backward(layers.layer_norm_over_tokens, layers.layer_norm_over_tokens_backward, X)


def test_rms_norm_against_loops_central_differences_and_torch(rng):
    X, gamma = rng.normal(size=(D, N)) + 1, rng.normal(size=D)

    def entry(d, n):
        return X[d, n] * gamma[d] / math.sqrt(sum(x * x for x in X[:, n]) / D + EPS)

    np.testing.assert_allclose(layers.rms_norm(X, gamma), loops(entry, D, N), rtol=1e-12)
    theirs = F.rms_norm(torch.as_tensor(X.T), (D,), torch.as_tensor(gamma), eps=EPS)
    np.testing.assert_allclose(layers.rms_norm(X, gamma), theirs.numpy().T, rtol=1e-10)
    for eps in (EPS, 0.5):
        assert_backward(
            lambda X, g, eps=eps: layers.rms_norm(X, g, eps),
            lambda X, g, dY, eps=eps: layers.rms_norm_backward(X, g, dY, eps),
            X,
            gamma,
        )


def test_a_token_of_equal_numbers_stays_finite():
    constant = np.full((D, N), 7.0)
    np.testing.assert_array_equal(layers.layer_norm(constant, np.ones(D), np.full(D, 0.5)), 0.5)
    assert np.isfinite(layers.rms_norm(0 * constant, np.ones(D))).all()


@pytest.mark.parametrize("eps", [0.0, -1e-5, math.nan])
def test_every_norm_refuses_an_eps_that_is_not_positive(eps):
    X, g = np.ones((D, N)), np.ones(D)
    calls = {
        "layer_norm": (X, g, g),
        "layer_norm_backward": (X, g, X),
        "layer_norm_over_tokens": (X,),
        "layer_norm_over_tokens_backward": (X, X),
        "rms_norm": (X, g),
        "rms_norm_backward": (X, g, X),
    }
    for name, arguments in calls.items():
        with pytest.raises(ValueError, match=f"{name}: eps={eps} is not positive"):
            getattr(layers, name)(*arguments, eps)


def test_a_scale_of_the_wrong_length_is_refused():
    assert refusal(ValueError, layers.layer_norm, np.ones((D, N)), np.ones(N), np.ones(D)) == snapshot(
        "layer_norm: gamma has shape (5,), so D (model width) = 5, but D = 6 in X of shape (6, 5). Expected axes (D): D = model width."
    )


ACTIVATIONS = {
    "relu": (lambda x: max(x, 0), functions.relu, functions.relu_backward),
    "gelu": (lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2, functions.gelu, functions.gelu_backward),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_feed_forward_network_against_loops_and_central_differences(rng, name):
    one, activation, backward = ACTIVATIONS[name]
    X, W_1, b_1 = rng.normal(size=(D, N)), rng.normal(size=(FF, D)), rng.normal(size=FF)
    W_2, b_2 = rng.normal(size=(D, FF)), rng.normal(size=D)

    def entry(d, n):
        hidden = [sum(W_1[f, e] * X[e, n] for e in range(D)) + b_1[f] for f in range(FF)]
        return sum(W_2[d, f] * one(hidden[f]) for f in range(FF)) + b_2[d]

    np.testing.assert_allclose(layers.mlp(X, W_1, b_1, W_2, b_2, activation), loops(entry, D, N), rtol=1e-10)
    assert_backward(
        lambda *arrays: layers.mlp(*arrays, activation),
        lambda X, W_1, b_1, W_2, b_2, dY: layers.mlp_backward(X, W_1, b_1, W_2, dY, activation, backward),
        X,
        W_1,
        b_1,
        W_2,
        b_2,
    )


def test_sinusoids_against_loops():
    P = sinusoidal(N, D)

    def entry(d, n):
        angle = n / 10000 ** (2 * (d // 2) / D)
        return math.cos(angle) if d % 2 else math.sin(angle)

    np.testing.assert_allclose(P, loops(entry, D, N), rtol=1e-12)
    # the scalar product of two positions depends on their distance alone
    np.testing.assert_allclose(P[:, 1] @ P[:, 3], P[:, 2] @ P[:, 4], rtol=1e-12)


def test_the_exponents_of_the_slides_lose_the_fastest_sinusoid():
    ours, slides = sinusoidal(N, D), sinusoidal(N, D, first_pair=1)
    np.testing.assert_allclose(slides[:-2], ours[2:], rtol=1e-12)
    assert np.abs(slides[:2] - ours[:2]).max() > 0.5


def test_sinusoids_refuse_an_odd_width_and_an_empty_sequence():
    with pytest.raises(ValueError, match="d_model=5"):
        sinusoidal(3, 5)
    with pytest.raises(ValueError, match="n_tokens=0"):
        sinusoidal(0, 4)
