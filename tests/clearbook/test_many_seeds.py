"""Several starts trained side by side are as if each had been trained alone."""

import pytest
import torch
from clearbook.figures.architectures import two_decoders
from clearbook.stacked_models import bits_by_step
from clearformer.models.gpt import GPTConfig


@pytest.mark.slow
def test_a_start_does_not_feel_the_others():
    """Catches a loss averaged over the starts, and batches that depend on how many there are."""
    ids = torch.randint(7, (200,), generator=torch.Generator().manual_seed(1))
    config, test = GPTConfig(7, 6, 8, n_heads=2, n_layers=1), ids.unfold(0, 7, 7)
    both, one = (bits_by_step(config, ids, test, (1, 3), n_seeds=n) for n in (2, 1))
    assert both.shape == (2, 2) and not torch.allclose(both[0], both[1])
    torch.testing.assert_close(both[:1], one, atol=1e-4, rtol=0)


def test_two_decoders_are_named_in_words():
    drawn = two_decoders()
    assert drawn.count("<svg") == 2 and "GPT-2, from below" in drawn and "GLM-5, from below" in drawn
