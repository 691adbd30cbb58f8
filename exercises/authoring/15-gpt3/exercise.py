"""Checks of exercise 15: sizes that fit nowhere twice, unequal shares, workers with nothing to do."""

from clearcheck import Exercise

from . import adam, choose, days, memory, museum, parameters, worker

EXERCISE = Exercise(
    slug="15-gpt3",
    title="GPT-3",
    chapter="chapters/15-gpt3",
    core=("parameters", "memory", "days"),
    questions=(
        parameters.QUESTION,
        memory.QUESTION,
        days.QUESTION,
        worker.QUESTION,
        museum.QUESTION,
        choose.QUESTION,
        adam.QUESTION,
    ),
)
