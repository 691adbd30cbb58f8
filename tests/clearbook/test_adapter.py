"""LoRA as a picture."""

from clearbook.figures.adapter import draw_adapter


def test_every_matrix_has_its_shape():
    """Catches a matrix without a name, or a shape that is not the equation's."""
    written = {text.get_text() for text in draw_adapter().texts}
    assert {"E × D", "r × D", "E × r", "r numbers", "x", "y"} <= written


def test_no_letter_of_the_adapter_is_smaller_than_eight_points():
    """Catches words that a reader on a phone cannot read."""
    assert min(text.get_fontsize() for text in draw_adapter().texts if text.get_text()) >= 8
