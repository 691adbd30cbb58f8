"""The masks: aligned with the last token, of the width they promise."""

import torch
from clearformer.attention import causal_mask, padding_mask, window_mask
from clearformer.reference import attention as reference
from inline_snapshot import snapshot

from tests.clearformer.refusals import refusal


def test_the_causal_mask_is_aligned_with_the_last_token():
    """Catches the alignment with the first token, which is wrong as soon as earlier tokens lie in a cache."""
    assert causal_mask(3).int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert causal_mask(2, 4).int().tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert (reference.causal_mask(4) == causal_mask(4).numpy().T).all()


def test_a_window_sees_the_token_itself_and_those_just_before():
    assert window_mask(4, width=2).int().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    assert window_mask(2, 5, width=3).int().tolist() == [[0, 1, 1, 1, 0], [0, 0, 1, 1, 1]]
    assert torch.equal(window_mask(3, 5, width=9), causal_mask(3, 5))
    both = [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
    assert window_mask(4, width=2, both_sides=True).int().tolist() == both
    assert window_mask(2, 5, width=2, both_sides=True).int().tolist() == [[0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    n, W = 50, 8
    assert window_mask(n, width=W).sum() == n * W - W * (W - 1) // 2


def test_a_window_of_no_token_is_refused():
    assert refusal(ValueError, window_mask, 4, width=0) == snapshot(
        "window_mask: width=0, expected a whole number of at least 1."
    )


def test_padding_is_hidden_from_every_head_and_target():
    assert padding_mask(torch.tensor([[3, 9, 9]]), 9).tolist() == [[[[True, False, False]]]]


def test_padding_of_one_row_without_a_batch_is_refused():
    """Catches a mask of shape (sources, 1, 1), which stretches over heads and targets."""
    assert refusal(ValueError, padding_mask, torch.tensor([3, 9, 9]), 9) == snapshot(
        "padding_mask: ids has shape (3,) with 1 axes, expected axes (B, S): B = batch, S = source positions. Reshape it or add the missing axis."
    )
