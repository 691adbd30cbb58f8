"""The map of words: every name stands beside its dot, and none on another."""

import itertools

import numpy as np
import pytest
from clearbook.figures.word_map import word_map

GROUPS = {"close": ["mother", "father", "sister", "brother"], "apart": ["week", "year"]}
PLACES = np.array([[0, -1], [0.01, -0.999], [0.02, -0.998], [0, -0.997], [1, 1], [1.1, 0]])


def test_names_of_equal_places_do_not_overlap():
    """Catches names over each other where words are close, in another order than the dots, or outside of the axes."""
    ax = word_map(PLACES, GROUPS)
    ax.figure.canvas.draw()
    boxes = {text.get_text().strip(): text.get_window_extent() for text in ax.texts}
    assert set(boxes) == {word for words in GROUPS.values() for word in words}
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes.values(), 2))
    heights = [boxes[word].y0 for word in GROUPS["close"]]
    assert heights == sorted(heights)
    assert all(box.x1 <= ax.bbox.x1 and box.y0 >= ax.bbox.y0 and box.y1 <= ax.bbox.y1 for box in boxes.values())


def test_each_word_needs_a_place():
    with pytest.raises(ValueError, match="5 places for 6 words"):
        word_map(PLACES[:5], GROUPS)
