"""Images cut into patches, by the reference and by torch, and put together again."""

import numpy as np
import pytest
import torch
from clearformer.patches import patchify, unpatchify
from clearformer.reference.tokens import patches


def test_patches_agree_with_the_reference_and_come_back():
    images = torch.randn(2, 3, 8, 6, dtype=torch.float64)
    sequence = patchify(images, 2)
    assert sequence.shape == (2, 12, 12)
    np.testing.assert_array_equal(sequence[1].numpy().T, patches(images[1].numpy(), 2))
    assert torch.equal(unpatchify(sequence, 2, rows=4), images)


@pytest.mark.parametrize(("size", "rows"), [(2, 3), (3, 2)])
def test_patches_that_do_not_fill_an_image_are_refused(size, rows):
    with pytest.raises(ValueError, match=rf"\b{rows} rows .*{size} × {size}"):
        unpatchify(torch.zeros(1, 4, 12), size, rows)
    for none in (0, -2):
        with pytest.raises(ValueError, match=f"unpatchify: rows={none}, .*at least 1"):
            unpatchify(torch.zeros(1, 4, 12), size, none)
        with pytest.raises(ValueError, match=f"unpatchify: size={none}, .*at least 1"):
            unpatchify(torch.zeros(1, 4, 12), none, rows)


def test_a_patch_embedding_is_a_convolution_with_stride():
    images = torch.randn(2, 3, 8, 6, dtype=torch.float64)
    conv = torch.nn.Conv2d(3, 5, kernel_size=2, stride=2, bias=False, dtype=torch.float64)
    expected = conv(images).flatten(2).transpose(1, 2)
    torch.testing.assert_close(patchify(images, 2) @ conv.weight.flatten(1).T, expected, rtol=0, atol=1e-12)
