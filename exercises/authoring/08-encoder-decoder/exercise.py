"""Checks of exercise 08: the chapter's transformer, weights copied in, trained, and made to write."""

from clearcheck import Exercise

from . import count, cross, decoder, learn, model, write
from .shared import BRINGS

EXERCISE = Exercise(
    slug="08-encoder-decoder",
    title="Encoder and decoder",
    chapter="chapters/08-encoder-decoder",
    core=("cross", "decoder", "model", "learn"),
    brings=BRINGS,
    questions=tuple(one.QUESTION for one in (cross, decoder, model, count, learn, write)),
)
