"""Checks of exercise 05: sizes that do not divide each other, and once equal ones, where a lost axis still fits."""

from clearcheck import Exercise

from . import feed_forward, gated, gelu, gradient, lamp, lone_token, position_wise

EXERCISE = Exercise(
    slug="05-feed-forward",
    title="Feed-forward",
    chapter="chapters/05-feed-forward",
    core=("feed-forward", "gated", "position-wise"),
    questions=tuple(one.QUESTION for one in (feed_forward, gated, gelu, lamp, position_wise, lone_token, gradient)),
)
