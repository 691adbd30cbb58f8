"""Drawing a token: temperature, top-k and top-p, and the probabilities that are kept."""

import math

import pytest
import torch
from clearformer.generation import beam_search, draw, generate, keep_top_k, keep_top_p

from tests.clearformer.writers import EACH, PROMPTS, B, N, V, gpt, prompts, seeded_rng


@EACH
@pytest.mark.parametrize("settings", [{"top_k": 4}, {"top_p": 0.8}, {"top_k": 6, "top_p": 0.9}, {}])
def test_a_seed_settles_what_is_drawn_with_and_without_cache(config, settings):
    """Catches draws from the global generator, and a cache that changes the probabilities."""
    model, rows = gpt(config), prompts()
    first = generate(model, rows, 14, temperature=1.3, generator=seeded_rng(), **settings)
    torch.randn(3)
    options = {"temperature": 1.3, **settings}
    assert generate(model, rows, 14, generator=seeded_rng(), **options).equal(first)
    assert generate(model, rows, 14, generator=seeded_rng(), cached=False, **options).equal(first)
    assert not generate(model, rows, 14, generator=seeded_rng(4), **options).equal(first)


def test_temperature_sharpens_and_flattens():
    """Catches a temperature that multiplies: counts of the likeliest token over many draws at three temperatures."""
    model, rows = gpt(), prompts()[:1].expand(400, -1).contiguous()
    likeliest = generate(model, rows[:1], 1)[0, -1]
    shares = [
        (generate(model, rows, 1, temperature=t, generator=seeded_rng())[:, -1] == likeliest).double().mean().item()
        for t in (0.05, 1.0, 50.0)
    ]
    assert shares[0] > shares[1] > shares[2]
    assert shares[2] < 2 / V  # nearly uniform


def test_top_k_keeps_the_k_largest():
    """Catches one too many or too few, and rows mixed up."""
    logits = torch.randn(5, 9)
    for k in (1, 3, 9, 20):
        kept = keep_top_k(logits, k)
        for row, all_ in zip(kept, logits, strict=True):
            assert sorted(row[row > -math.inf].tolist()) == sorted(all_.tolist())[-k:]


def test_top_p_keeps_the_fewest_that_reach_p():
    """Catches the one that crosses p being dropped, and a sum in the wrong order."""
    logits = torch.tensor([[0.05, 0.5, 0.15, 0.3], [0.97, 0.01, 0.01, 0.01]]).log()
    kept = [(keep_top_p(logits, p) > -math.inf).tolist() for p in (0.4, 0.6, 0.9, 1.0)]
    assert [row[0] for row in kept] == [
        [False, True, False, False],
        [False, True, False, True],
        [False, True, True, True],
        [True, True, True, True],
    ]
    assert kept[2][1] == [True, False, False, False]


def test_a_top_p_of_1_keeps_every_token():
    """Catches a rounded sum, which reaches 1 before the last tokens: about 0.1 % of 50,000 were never drawn."""
    assert keep_top_p(torch.randn(2, 50_257) * 3, 1.0).isfinite().all()


def test_tokens_are_kept_in_one_row_as_well_as_in_several():
    row = torch.tensor([0.05, 0.5, 0.15, 0.3]).log()
    assert (
        keep_top_k(row, 2).isfinite().tolist() == keep_top_p(row, 0.6).isfinite().tolist() == [False, True, False, True]
    )


def test_draws_follow_the_probabilities():
    """Catches draws from the logits: 20,000 draws within four standard deviations."""
    p = torch.tensor([0.1, 0.2, 0.7])
    n = 20_000
    counts = draw(p.log().expand(n, -1), generator=seeded_rng()).bincount(minlength=3) / n
    assert ((counts - p).abs() < 4 * (p * (1 - p) / n).sqrt()).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_half_precision_probabilities_are_not_rounded(dtype):
    """Catches logits that are divided, exponentiated and summed in 8 or 11 bits."""
    model = gpt().to(dtype)
    assert generate(model, PROMPTS[0:1], 9, temperature=1e-5)[0].equal(generate(model, PROMPTS[0:1], 9)[0])
    rows = prompts()
    with torch.no_grad():
        expected = model(rows)[:, -1].float().log_softmax(-1).amax(-1)
    torch.testing.assert_close(beam_search(model, rows, 1, 3)[1], expected, rtol=0, atol=1e-5)
    assert generate(model, prompts(), 3, temperature=1.0, top_p=0.9, generator=seeded_rng()).shape == (B, N + 3)


def test_top_p_ends_with_the_token_that_reaches_it():
    """Catches one token more where the sum is exactly p."""
    logits = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64).log()
    assert keep_top_p(logits, 0.5).isfinite().tolist() == [[True, False, False]]
    assert keep_top_p(logits, 0.75).isfinite().sum() == 2
