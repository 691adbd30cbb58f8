"""Checks of exercise 01: texts with GPT-2's merges and with drawn ones, images with four different sizes."""

from clearcheck import Exercise

from . import decode, embed, encode, gradient, learn, patches, shift

EXERCISE = Exercise(
    slug="01-tokens",
    title="Text and images as tokens",
    chapter="chapters/01-tokens",
    core=("encode", "decode", "embed", "shift"),
    questions=tuple(one.QUESTION for one in (encode, decode, embed, gradient, patches, shift, learn)),
)
