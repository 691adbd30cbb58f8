"""Checks of exercise 13: backward passes that do not stand in the chapter; sizes all differ, and rows are targets."""

from clearcheck import Exercise

from . import blocks, groups, loss, rms, rounded, temperature

EXERCISE = Exercise(
    slug="13-backward-by-hand",
    title="The backward pass by hand",
    chapter="chapters/13-backward-by-hand",
    core=("loss", "rms", "temperature"),
    questions=tuple(one.QUESTION for one in (loss, rms, temperature, groups, rounded, blocks)),
)
