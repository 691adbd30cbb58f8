"""The picture of LayerNorm's way back shows what the library computes."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from clearbook.figures.norm_plane import LEFT, LIFT, STRETCH, TOKEN, norm_plane
from clearformer.reference.layers import layer_norm_backward


def test_what_is_left_is_the_gradient_of_the_norm():
    """Catches arrows that are drawn by eye."""
    np.testing.assert_allclose([TOKEN.mean(), TOKEN @ TOKEN], [0, 3], atol=1e-12)
    g = LEFT + STRETCH + LIFT
    dx, *_ = layer_norm_backward(TOKEN[:, None], np.ones(3), g[:, None])  # its deviation is 1
    np.testing.assert_allclose(dx[:, 0], LEFT, atol=1e-4)


def test_each_arrow_is_named_in_a_readable_size():
    """Catches a word too small, or an arrow without one."""
    texts = [text for text in norm_plane().texts if text.get_text()]
    assert len(texts) == 5 and min(text.get_fontsize() for text in texts) >= 8
    assert "what is left" in {text.get_text() for text in texts}


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")
