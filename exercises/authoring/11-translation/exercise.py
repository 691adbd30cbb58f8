"""Checks of exercise 11: plain loops over sentences, properties of a translator, and searches by brute force."""

from clearcheck import Exercise

from . import batch, beam, bleu, four, look, loss, masks, museum, prompt

EXERCISE = Exercise(
    slug="11-translation",
    title="Translation",
    chapter="chapters/11-translation",
    core=("batch", "prompt", "four", "look"),
    questions=tuple(one.QUESTION for one in (batch, masks, loss, museum, bleu, prompt, four, look, beam)),
)
