"""Checks of exercise 09: rows one token apart, a GPT that is trained and writes, losses, filters, a head's score."""

from clearcheck import Exercise

from . import bits, cut, filter, generate, gpt, induction, learn, loss, worth
from .shared import BRINGS

EXERCISE = Exercise(
    slug="09-language-model",
    title="A language model",
    chapter="chapters/09-language-model",
    core=("cut", "gpt", "learn", "generate"),
    brings=BRINGS,
    questions=tuple(one.QUESTION for one in (cut, bits, gpt, learn, generate, loss, filter, worth, induction)),
)
