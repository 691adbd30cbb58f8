"""The coin game: its rows, its model, and the leak of a mask that comes too late."""

import math

import torch
from clearbook.coin_flips import NextFlip, attend_late, flip_loss, flips_and_next
from clearformer.attention import attend
from torch import nn


def draw_flips(n):
    return flips_and_next(n, torch.Generator().manual_seed(0))


def test_each_place_is_asked_for_the_flip_that_comes_next():
    seen, asked = draw_flips(5)
    assert (seen[:, 0] == 2).all() and torch.equal(seen[:, 1:], asked[:, :-1])
    assert set(asked.flatten().tolist()) == {0, 1}


def test_a_model_that_knows_nothing_has_the_least_honest_loss():
    """Catches a loss in other units, and a model that cannot read the beginning of a game."""
    coin, (seen, asked) = NextFlip(nn.Identity()), draw_flips(40)
    for parameter in coin.head.parameters():
        nn.init.zeros_(parameter)
    assert abs(flip_loss(coin, seen, asked).item() - math.log(2)) < 1e-6
    assert coin(seen[:, :3]).shape == (40, 3, 2)


def test_the_late_mask_draws_a_perfect_triangle_and_leaks():
    q, k, v = torch.randn(3, 2, 4, 6, 5)
    later = k.clone()
    later[..., -1, :] += 1
    (y, A), (moved, _) = attend_late(q, k, v), attend_late(q, later, v)
    assert (A.triu(1) == 0).all() and not torch.allclose(y[..., 0, :], moved[..., 0, :])
    torch.testing.assert_close(A[..., -1, :], attend(q, k, v)[1][..., -1, :])
