"""Checks of exercise 01: words with runs and letters of several bytes, images with four different sizes."""

from clearcheck import Exercise

from . import counts, embed, encode, gradient, learn, patches, shift

EXERCISE = Exercise(
    slug="01-tokens",
    title="Text and images as tokens",
    chapter="chapters/01-tokens",
    core=("encode", "embed", "shift"),
    questions=(
        encode.QUESTION,
        embed.QUESTION,
        gradient.QUESTION,
        counts.QUESTION,
        patches.QUESTION,
        shift.QUESTION,
        learn.QUESTION,
    ),
)
