"""Checks of exercise 18: what counts in a conversation, adapters, merging, preferences, few examples."""

from clearcheck import Exercise

from . import dpo, learn, lora, merge, rows

EXERCISE = Exercise(
    slug="18-tuning",
    title="Tuning",
    chapter="chapters/18-tuning",
    core=("rows", "lora", "dpo"),
    questions=tuple(one.QUESTION for one in (rows, lora, merge, dpo, learn)),
)
