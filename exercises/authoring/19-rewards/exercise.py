"""Checks of exercise 19: what attempts are worth, what rewards say to a model, and how many attempts are enough."""

from clearcheck import Exercise

from . import advantages, attempts, clip, gradient, passes

EXERCISE = Exercise(
    slug="19-rewards",
    title="Rewards",
    chapter="chapters/19-rewards",
    core=("passes", "gradient", "advantages"),
    questions=tuple(one.QUESTION for one in (passes, gradient, advantages, clip, attempts)),
)
