"""Checks of exercise 11: plain loops over sentences, properties of a translator, and searches by brute force."""

from clearcheck import Exercise

from . import batch, beam, bleu, four, loss, masks, museum, prompt

EXERCISE = Exercise(
    slug="11-translation",
    title="Translation",
    chapter="chapters/11-translation",
    core=("batch", "masks", "loss"),
    questions=(
        batch.QUESTION,
        masks.QUESTION,
        loss.QUESTION,
        museum.QUESTION,
        bleu.QUESTION,
        prompt.QUESTION,
        four.QUESTION,
        beam.QUESTION,
    ),
)
