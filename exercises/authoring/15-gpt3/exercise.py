"""Checks of exercise 15: sizes that fit nowhere twice, unequal shares, workers with nothing to do."""

from clearcheck import Exercise

from . import adam, choose, days, memory, museum, parameters, worker

EXERCISE = Exercise(
    slug="15-gpt3",
    title="GPT-3",
    chapter="chapters/15-gpt3",
    core=("parameters", "memory", "days"),
    questions=tuple(one.QUESTION for one in (parameters, memory, days, worker, museum, choose, adam)),
)
