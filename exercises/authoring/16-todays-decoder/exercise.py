"""Checks of exercise 16: drafts that are the model, loads that are even, caches in pieces, chunks of any length."""

from clearcheck import Exercise

from . import chunks, experts, latent, museum, rescale, speculate

EXERCISE = Exercise(
    slug="16-what-comes-after",
    title="What comes after",
    chapter="chapters/16-what-comes-after",
    core=("rescale", "speculate", "experts"),
    questions=tuple(one.QUESTION for one in (rescale, speculate, latent, experts, museum, chunks)),
)
