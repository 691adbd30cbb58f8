"""The road from pretraining to rewards."""

from clearbook.figures.road import ROWS, STEPS, draw_road


def test_every_step_has_its_row_of_words():
    """Catches a step that lacks what it needs, what counts or what it gives."""
    ax = draw_road()
    written = {text.get_text() for text in ax.texts}
    assert {word for step in STEPS for word in step} <= written
    assert {*ROWS} <= written


def test_no_letter_is_smaller_than_eight_points():
    """Catches words that a reader on a phone cannot read."""
    assert min(text.get_fontsize() for text in draw_road().texts if text.get_text()) >= 8


def test_the_page_that_shows_it_is_this_chapter():
    """Catches a picture that calls the other chapter this one."""
    for here, other in ((18, 19), (19, 18)):
        written = [text.get_text() for text in draw_road(here=here).texts]
        assert written.index("this chapter") - written.index(f"chapter {other}") == here * 2 - 37
