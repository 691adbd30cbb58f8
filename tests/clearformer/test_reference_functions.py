"""Softmax, activations and loss of the reference, forward and backward."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from clearformer.reference import functions
from clearformer.reference.numgrad import numerical_gradients
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from tests.clearformer.gradients import RELATIVE, assert_backward, relative_error
from tests.clearformer.refusals import refusal

D, N, V = 6, 5, 7


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def loops(entry, rows, columns):
    return np.array([[entry(i, j) for j in range(columns)] for i in range(rows)])


def test_numerical_gradients_of_a_product(rng):
    """Catches gradients in another order than the arguments, or in another shape."""
    A, x = rng.normal(size=(3, 4)), rng.normal(size=4)
    dA, dx = numerical_gradients(lambda A, x: (A @ x).sum(), A, x)
    np.testing.assert_allclose(dA, np.tile(x, (3, 1)), atol=1e-8)
    np.testing.assert_allclose(dx, A.sum(axis=0), atol=1e-8)


@pytest.mark.parametrize("axis", [0, 1])
def test_softmax_backward(rng, axis):
    def backward(scores, dA):
        return functions.softmax_backward(functions.softmax(scores, axis), dA, axis)

    assert_backward(lambda scores: functions.softmax(scores, axis), backward, rng.normal(size=(D, N)))


def test_softmax_backward_is_the_jacobian_and_gives_zero_where_the_weight_is_zero(rng):
    """Catches the other triangle of a non-symmetric slip, and a masked score that gets a gradient."""
    a = functions.softmax(np.append(rng.normal(size=D), -np.inf), axis=0)
    dA = rng.normal(size=D + 1)
    dC = functions.softmax_backward(a, dA, axis=0)
    np.testing.assert_allclose(dC, functions.softmax_jacobian(a) @ dA, rtol=1e-12, atol=1e-15)
    assert dC[-1] == 0
    assert dC.sum() == pytest.approx(0, abs=1e-15)  # a shift of all scores changes nothing


ACTIVATIONS = {
    "relu": (lambda x: x if x > 0 else 0, F.relu),
    "gelu": (lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2, F.gelu),
    "gelu_tanh": (
        lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        lambda x: F.gelu(x, approximate="tanh"),
    ),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_against_loops_central_differences_and_torch(rng, name):
    one, theirs = ACTIVATIONS[name]
    ours, backward = getattr(functions, name), getattr(functions, f"{name}_backward")
    X = 2 * rng.normal(size=(D, N))
    np.testing.assert_allclose(ours(X), loops(lambda d, n: one(X[d, n]), D, N), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(ours(X), theirs(torch.as_tensor(X)).numpy(), atol=1e-12)
    assert_backward(ours, backward, X)


def test_the_tanh_form_is_near_the_exact_one_and_is_not_it():
    x = np.linspace(-6, 6, 1001)
    gap = np.abs(functions.gelu(x) - functions.gelu_tanh(x)).max()
    assert 1e-4 < gap < 1e-3


def test_relu_passes_nothing_on_at_the_kink():
    np.testing.assert_array_equal(functions.relu_backward(np.array([-1.0, 0.0, 2.0]), np.ones(3)), [0, 0, 1])


def test_cross_entropy_against_loops_central_differences_and_torch(rng):
    logits, ids = rng.normal(size=(V, N)), np.array([6, 0, 3, 3, 5])
    totals = [sum(math.exp(logits[w, n]) for w in range(V)) for n in range(N)]
    expected = -sum(math.log(math.exp(logits[ids[n], n]) / totals[n]) for n in range(N)) / N
    assert functions.cross_entropy(logits, ids) == pytest.approx(expected, rel=1e-12)
    theirs = F.cross_entropy(torch.as_tensor(logits.T), torch.as_tensor(ids))
    assert functions.cross_entropy(logits, ids) == pytest.approx(theirs.item(), rel=1e-12)
    (numerical,) = numerical_gradients(lambda z: functions.cross_entropy(z, ids), logits)
    assert relative_error(functions.cross_entropy_backward(logits, ids), numerical) < RELATIVE
    tripled = functions.cross_entropy_backward(logits, ids, 3.0)
    np.testing.assert_allclose(tripled, 3 * functions.cross_entropy_backward(logits, ids), rtol=1e-12)


@given(st.integers(1, 50))
def test_a_model_that_knows_nothing_is_surprised_by_the_logarithm_of_the_vocabulary(n_vocab):
    assert functions.cross_entropy(np.full((n_vocab, 3), 2.0), np.zeros(3, dtype=int)) == pytest.approx(
        math.log(n_vocab), abs=1e-12
    )


def test_cross_entropy_survives_logits_that_overflow_the_exponential():
    """Catches log(softmax), which is minus infinity for the token that came."""
    logits = np.array([[1000.0], [-1000.0]])
    assert functions.cross_entropy(logits, np.array([1])) == pytest.approx(2000.0)


def test_cross_entropy_names_the_id_and_the_number_that_is_wrong():
    logits = np.zeros((V, 2))
    for function in (functions.cross_entropy, functions.cross_entropy_backward):
        with pytest.raises(ValueError, match=r"id 7 .*vocabulary of 7\b"):
            function(logits, np.array([1, 7]))
        with pytest.raises(ValueError, match="token id -1 is outside"):
            function(logits, np.array([-1, 0]))
        with pytest.raises(ValueError, match="largest score is nan"):
            function(np.full((V, 2), np.nan), np.array([1, 0]))
    assert refusal(ValueError, functions.cross_entropy, logits, np.array([1, 0, 2])) == snapshot(
        "cross_entropy: ids has shape (3,), so N (target positions) = 3, but N = 2 in logits of shape (7, 2). Expected axes (N): N = target positions."
    )
    with pytest.raises(TypeError, match="ids has dtype float64"):
        functions.cross_entropy(logits, np.array([1.0, 0.0]))
