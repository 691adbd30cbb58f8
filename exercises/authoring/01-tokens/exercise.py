"""Checks of exercise 01: words with runs and letters of several bytes, images with four different sizes."""

from clearcheck import Exercise

from . import counts, embed, encode, gradient, learn, patches, shift

EXERCISE = Exercise(
    slug="01-tokens",
    title="Text and images as tokens",
    chapter="chapters/01-tokens",
    core=("encode", "embed", "shift"),
    questions=tuple(one.QUESTION for one in (encode, embed, gradient, counts, patches, shift, learn)),
)
