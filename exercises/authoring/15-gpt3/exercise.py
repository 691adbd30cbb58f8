"""Checks of exercise 15: sizes that fit nowhere twice, unequal shares, workers with nothing to do."""

from clearcheck import Exercise

from . import adam, memory, museum, parameters, pipeline, split, step

EXERCISE = Exercise(
    slug="15-gpt3",
    title="GPT-3",
    chapter="chapters/15-gpt3",
    questions=(
        parameters.QUESTION,
        step.QUESTION,
        memory.QUESTION,
        split.QUESTION,
        museum.QUESTION,
        pipeline.QUESTION,
        adam.QUESTION,
    ),
)
