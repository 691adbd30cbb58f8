"""Scaled rotary positions against their formulas, pair by pair, and which of two tables a long text gets."""

import math
from functools import partial

import pytest
import torch
from clearformer.positions import Rotary
from clearformer.rope_scaling import LinearScaling, Llama3Scaling, LongRotary, PairScaling, YarnScaling
from inline_snapshot import snapshot

from tests.clearformer.refusals import refusal
from tests.clearformer.tolerance import assert_close

K, N, BASE = 16, 12, 100.0
FREQUENCIES = torch.tensor([BASE ** (-2 * i / K) for i in range(K // 2)], dtype=torch.float64)


def test_linear_scaling_divides_every_angle():
    scaled, factor = LinearScaling(4.0)(FREQUENCIES, BASE)
    assert_close(scaled, FREQUENCIES / 4)
    assert factor == 1


def test_pairs_are_slow_fast_or_between_by_how_often_they_turn():
    """Catches borders that are exchanged, and a mixture the wrong way round."""
    scaled, _ = Llama3Scaling(8.0, 1.0, 4.0, 64)(FREQUENCIES, BASE)
    kinds = set()
    for before, after in zip(FREQUENCIES.tolist(), scaled.tolist(), strict=True):
        turns = 64 * before / (2 * math.pi)
        share = 0 if turns < 1 else 1 if turns > 4 else (turns - 1) / 3
        kinds.add("slow" if share == 0 else "fast" if share == 1 else "between")
        assert after == pytest.approx(share * before + (1 - share) * before / 8)
    assert kinds == {"slow", "fast", "between"}


@pytest.mark.parametrize("whole", [True, False])
def test_yarn_mixes_by_the_number_of_the_pair(whole):
    scaled, amplitude = YarnScaling(8.0, 64, 4.0, 1.0, whole=whole)(FREQUENCIES, BASE)
    first, last = (K / 2 * math.log(64 / (turns * 2 * math.pi)) / math.log(BASE) for turns in (4, 1))
    first, last = (math.floor(first), math.ceil(last)) if whole else (first, last)
    for i, (before, after) in enumerate(zip(FREQUENCIES.tolist(), scaled.tolist(), strict=True)):
        slow = min(max((i - first) / (last - first), 0), 1)
        assert after == pytest.approx(slow * before / 8 + (1 - slow) * before)
    assert amplitude == pytest.approx(0.1 * math.log(8) + 1)
    assert YarnScaling(8.0, 64, amplitude=0.5)(FREQUENCIES, BASE)[1] == 0.5


def test_yarn_takes_whole_borders_by_itself_and_steps_where_they_meet():
    """Catches another default, and a mixture of pairs where nothing lies between fast and slow."""
    assert YarnScaling(8.0, 64) == YarnScaling(8.0, 64, whole=True)
    scaled, _ = YarnScaling(8.0, 64, 2.0, 2.0, whole=False)(FREQUENCIES, BASE)
    assert 0 < (scaled == FREQUENCIES).sum() < len(FREQUENCIES)
    assert_close(scaled, torch.where(scaled == FREQUENCIES, FREQUENCIES, FREQUENCIES / 8))


def test_a_scaling_reaches_what_is_turned():
    """Catches a factor or angles that are computed and not used."""
    x = torch.randn(1, 2, N, K, dtype=torch.float64)
    scaled = Rotary(K, N, base=BASE, scaling=PairScaling((2.0,) * 8, 3.0), dtype=torch.float64)
    plain = Rotary(K, 2 * N, base=BASE, dtype=torch.float64)
    half = 2 * torch.arange(N)[None] // 2  # position n turns as position n / 2 does: only even ones are whole
    assert_close(scaled(x, slice(0, N))[:, :, ::2], 3 * plain(x[:, :, ::2], half[:, : N // 2]))


@pytest.mark.parametrize("share", [0.5, 0.3])
def test_a_share_of_the_features_is_turned_and_the_rest_left(share):
    x, width = torch.randn(1, 2, N, K, dtype=torch.float64), 8 if share == 0.5 else 4
    turned = Rotary(K, N, share=share, dtype=torch.float64)(x, slice(0, N))
    assert torch.equal(turned[..., width:], x[..., width:])
    assert_close(turned[..., :width], Rotary(width, N, dtype=torch.float64)(x[..., :width], slice(0, N)))


def test_neighbours_may_be_the_pairs():
    """The same turn with the features in another order."""
    x = torch.randn(1, 2, N, K, dtype=torch.float64)
    order = torch.arange(K).view(2, K // 2).T.flatten()  # of each pair of halves, one beside the other
    halves = Rotary(K, N, dtype=torch.float64)(x, slice(0, N))
    assert_close(Rotary(K, N, interleaved=True, dtype=torch.float64)(x[..., order], slice(0, N)), halves[..., order])


def test_tables_in_double_precision_are_computed_there():
    """Catches tables that were rounded to float32 first."""
    assert torch.equal(Rotary(K, N).double().cos, Rotary(K, N, dtype=torch.float64).cos)


@pytest.mark.parametrize("positions", [slice, lambda a, b: torch.arange(a, b)[None]])
def test_a_long_text_is_turned_by_its_own_table(positions):
    """Catches a border that is one off."""
    rotary = LongRotary(K, N, short=(1.0,) * 8, long=(2.0,) * 8, n_trained=6)
    x = torch.randn(1, 2, 6, K)
    for start, factor in ((0, 1.0), (1, 2.0)):
        expected = Rotary(K, N, scaling=PairScaling((factor,) * 8))(x, slice(start, start + 6))
        assert_close(rotary(x, positions(start, start + 6)), expected)


def test_places_without_an_end_go_on_to_the_last():
    rotary, x = LongRotary(K, N, short=(1.0,) * 8, long=(2.0,) * 8, n_trained=6), torch.randn(1, 2, N, K)
    assert torch.equal(rotary(x, slice(0, None)), rotary(x, slice(0, N)))


def test_numbers_that_cannot_be_are_named():
    long = partial(LongRotary, K, N, short=(1.0,) * 8, n_trained=6)
    assert refusal(ValueError, LinearScaling, 0.0) == snapshot(
        "LinearScaling: factor=0.0, expected above 0, and finite."
    )
    assert refusal(ValueError, Llama3Scaling, 8.0, 4.0, 4.0, 64) == snapshot(
        "Llama3Scaling: high=4.0 with low=4.0, expected more than that."
    )
    assert refusal(ValueError, Llama3Scaling, 8.0, 1.0, 4.0, 0) == snapshot(
        "Llama3Scaling: n_trained=0, expected a whole number of at least 1."
    )
    assert refusal(ValueError, YarnScaling, 8.0, 0) == snapshot(
        "YarnScaling: n_trained=0, expected a whole number of at least 1."
    )
    assert refusal(ValueError, PairScaling, (1.0, 0.0)) == snapshot(
        "PairScaling: factors=0.0, expected above 0, and finite."
    )
    assert refusal(ValueError, PairScaling, (1.0,), amplitude=-1.0) == snapshot(
        "PairScaling: amplitude=-1.0, expected above 0, and finite."
    )
    assert refusal(ValueError, long, long=(1.0,) * 7) == snapshot(
        "PairScaling: 7 factors for 8 pairs of features, expected one for each."
    )
    assert refusal(ValueError, Rotary, K, N, share=1.5) == snapshot("Rotary: share=1.5, expected above 0, up to 1.")
    assert refusal(ValueError, Rotary, K, N, base=1.0, scaling=YarnScaling(2.0, 4)) == snapshot(
        "YarnScaling: with base=1 all pairs turn alike, expected another base."
    )
