"""Checks of exercise 11: plain loops over sentences, properties of a translator, and searches by brute force."""

from clearcheck import Exercise

from . import align, batch, beam, bleu, loss, masks, museum

EXERCISE = Exercise(
    slug="11-translation",
    title="Translation",
    chapter="chapters/11-translation",
    questions=(
        batch.QUESTION,
        masks.QUESTION,
        loss.QUESTION,
        museum.QUESTION,
        bleu.QUESTION,
        align.QUESTION,
        beam.QUESTION,
    ),
)
