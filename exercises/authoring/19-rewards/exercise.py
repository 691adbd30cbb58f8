"""Checks of exercise 19: what attempts are worth, what a group says, and how many are enough."""

from clearcheck import Exercise

from . import advantages, attempts, passes

EXERCISE = Exercise(
    slug="19-rewards",
    title="Rewards",
    chapter="chapters/19-rewards",
    core=("passes", "advantages"),
    questions=tuple(one.QUESTION for one in (passes, advantages, attempts)),
)
