"""Checks of exercise 08: an encoder–decoder of the learner's own modules, weights copied in, and trained."""

from clearcheck import Exercise

from . import cache, count, cross, decoder, learn, model
from .shared import BRINGS

EXERCISE = Exercise(
    slug="08-encoder-decoder",
    title="Encoder and decoder",
    chapter="chapters/08-encoder-decoder",
    core=("cross", "decoder", "model", "learn"),
    brings=BRINGS,
    questions=tuple(one.QUESTION for one in (cross, decoder, model, count, learn, cache)),
)
