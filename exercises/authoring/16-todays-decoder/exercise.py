"""Checks of exercise 16: drafts that are the model, loads that are even, caches in pieces, equal scores."""

from clearcheck import Exercise

from . import experts, latent, rescale, selected, speculate

EXERCISE = Exercise(
    slug="16-todays-decoder",
    title="Today's decoder",
    chapter="chapters/16-todays-decoder",
    core=("rescale", "speculate", "experts"),
    questions=tuple(one.QUESTION for one in (rescale, speculate, latent, experts, selected)),
)
