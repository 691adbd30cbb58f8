"""Positions: their formulas, what they depend on, and where they end."""

import numpy as np
import pytest
import torch
from clearformer.positions import LearnedPositions, RelativeKeys, Rotary, sinusoidal

from tests.clearformer.devices import DEVICES
from tests.clearformer.tolerance import assert_close

B, H, N, K, LAST = 2, 3, 5, 8, 40


@pytest.mark.parametrize("device", DEVICES)
def test_sinusoids_equal_their_formula_number_by_number(device):
    """Catches exponents shifted by one pair, as the slides print them, and halves instead of pairs."""
    table = sinusoidal(7, 6, start=3, dtype=torch.float64, device=torch.device(device))
    for n in range(7):
        for i in range(3):
            angle = (n + 3) / 10000 ** (2 * i / 6)
            np.testing.assert_allclose(table[n, 2 * i : 2 * i + 2].cpu(), [np.sin(angle), np.cos(angle)], atol=1e-12)


def test_sinusoids_start_at_an_offset_and_turn_by_one_matrix():
    table = sinusoidal(LAST, K, dtype=torch.float64)
    assert torch.equal(sinusoidal(N, K, start=4, dtype=torch.float64), table[4 : 4 + N])
    turn = torch.linalg.lstsq(table[:-3], table[3:]).solution  # one linear map for "three tokens later"
    assert_close(table[:-3] @ turn, table[3:])


def test_the_dot_product_of_sinusoids_depends_on_the_distance():
    table = sinusoidal(LAST, K, dtype=torch.float64)
    kernel = table @ table.T
    assert_close(kernel[2:, 2:], kernel[:-2, :-2])


@pytest.mark.parametrize("device", DEVICES)
def test_learned_positions_by_slice_and_by_number(device):
    layer = LearnedPositions(LAST, K).to(device)
    rows = torch.tensor([[3, 4, 5], [0, 0, 1]], device=device)
    assert torch.equal(layer(slice(3, 6)), layer.weight[3:6])
    assert torch.equal(layer(rows)[1], layer.weight[[0, 0, 1]])


def rope(device="cpu", **options):
    return Rotary(K, LAST, dtype=torch.float64, **options).to(device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("base", [10000.0, 50.0])
def test_rotary_is_a_product_of_complex_numbers(base, device):
    x = torch.randn(B, H, N, K, dtype=torch.float64)
    angles = torch.arange(4, 4 + N)[:, None] * base ** (-torch.arange(0, K, 2, dtype=torch.float64) / K)
    turned = torch.complex(x[..., : K // 2], x[..., K // 2 :]) * torch.polar(torch.ones_like(angles), angles)
    expected = torch.cat((turned.real, turned.imag), -1)
    assert_close(rope(device, base=base)(x.to(device), slice(4, 4 + N)).cpu(), expected)


@pytest.mark.parametrize("device", DEVICES)
def test_rotary_scores_depend_on_the_distance_only(device):
    q, k = torch.randn(2, B, H, N, K, dtype=torch.float64, device=device)
    scores = [rope(device)(q, at) @ rope(device)(k, at).mT for at in (slice(0, N), slice(31, 31 + N))]
    assert_close(scores[0], scores[1])
    assert (scores[0] - q @ k.mT).abs().max() > 0.1


def test_rotary_takes_other_positions_for_every_sequence():
    x = torch.randn(B, H, N, K, dtype=torch.float64)
    rows = torch.stack((torch.arange(N), torch.arange(7, 7 + N)))
    both = rope()(x, rows)
    assert_close(both[0], rope()(x, slice(0, N))[0])
    assert_close(both[1], rope()(x, slice(7, 7 + N))[1])


def test_rotary_keeps_the_dtype_of_its_input():
    x = torch.randn(B, H, N, K).bfloat16()
    assert Rotary(K, LAST)(x, slice(0, N)).dtype == torch.bfloat16


@pytest.mark.parametrize("device", DEVICES)
def test_relative_keys_equal_a_double_loop(device):
    """Catches distance and its negative exchanged, and targets counted from the first source."""
    layer = RelativeKeys(K, max_distance=2).to(device, torch.float64)
    n_sources = N + 3
    q = torch.randn(B, H, N, K, dtype=torch.float64, device=device)
    bias = layer(q, n_sources)
    for n in range(N):
        for s in range(n_sources):
            row = layer.weight[max(-2, min(2, s - (n + 3))) + 2]
            assert_close(bias[:, :, n, s], q[:, :, n] @ row / K**0.5)


ERRORS = {
    "odd sinusoids": (lambda: sinusoidal(4, 7), "sinusoidal: a width of 7 .* Choose an even one: 8"),
    "no sinusoids": (lambda: sinusoidal(3, 0), "sinusoidal: width=0, expected a whole number of at least 1"),
    "odd rotary": (lambda: Rotary(5, LAST), "Rotary: a width of 5"),
    "longer than learned": (lambda: LearnedPositions(LAST, K)(slice(38, 42)), "positions 38 to 41 .* 0 to 39"),
    "longer than turned": (
        lambda: Rotary(K, LAST)(torch.randn(B, H, N, K), slice(37, 42)),
        "Rotary: positions 37 to 41 .* 0 to 39",
    ),
    "before the first": (lambda: LearnedPositions(LAST, K)(slice(-1, 3)), "positions -1 to 2"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_positions_that_do_not_exist_are_named(case):
    call, message = ERRORS[case]
    with pytest.raises(ValueError, match=message):
        call()
