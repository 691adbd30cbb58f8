"""BLEU and chrF of chapter 11, against what sacrebleu 2.6.0 gives for the same sentences."""

import pytest
from clearbook.overlap import bleu, chrf

WANTED = "Sie hat das Buch am 9. September 1965 gelesen."
SCORES = {  # BLEU without smoothing and chrF2, of 100
    "Sie hat am 9. September 1965 das Buch gelesen.": (49.144984054308566, 78.12704606822255),
    "Sie hat das Buch am 19. September 1965 gelesen.": (70.16879391277372, 92.18986336629665),
    "Sie las das Buch am 9. September 1965.": (61.5628697959051, 68.0319350084733),
    WANTED: (100.0, 100.0),
    "achtundvierzig": (0.0, None),
}


@pytest.mark.parametrize(("written", "scores"), SCORES.items())
def test_a_sentence_scores_as_sacrebleu_says(written, scores):
    assert 100 * bleu([written], [WANTED]) == pytest.approx(scores[0], rel=1e-9)
    if scores[1] is not None:
        assert 100 * chrf([written], [WANTED]) == pytest.approx(scores[1], rel=1e-9)


def test_a_list_is_summed_and_not_averaged():
    """Catches a mean over sentences; the number is sacrebleu's."""
    assert 100 * chrf(["abc de", "xyzzy foo"], ["abd de", "xyz foo bar"]) == pytest.approx(23.953655983900255, rel=1e-9)
    both = [WANTED, "Ja, am 9. September."]
    assert bleu(both, [WANTED, "Nein, am 9. September."]) < 1
    # a wanted text too short for long pieces: they count on neither side
    came = chrf(["Hello there", "yes indeed"], ["Hello there", "yes"])
    assert 100 * came == pytest.approx(95.84556876714969, rel=1e-9)
    assert bleu(both, both) == chrf(both, both) == pytest.approx(1)


def test_nothing_in_common_and_nothing_written():
    assert bleu(["x y z w v"], ["a b c d e"]) == chrf(["xy"], ["ab"]) == 0
    assert bleu([""], ["a b c d e"]) == chrf([""], ["ab"]) == 0


@pytest.mark.parametrize("score", [bleu, chrf])
def test_lists_that_do_not_fit_are_refused(score):
    with pytest.raises(ValueError, match="2 texts are compared with 1"):
        score(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="0 texts are compared with 0"):
        score([], [])
