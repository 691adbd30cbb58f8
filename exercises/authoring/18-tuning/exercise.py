"""Checks of exercise 17: what counts in a conversation, adapters, preferences, attempts and rewards."""

from clearcheck import Exercise

from . import advantages, attempts, dpo, learn, lora, passes, rows

EXERCISE = Exercise(
    slug="17-assistant",
    title="From model to assistant",
    chapter="chapters/17-assistant",
    core=("rows", "lora", "dpo"),
    questions=tuple(one.QUESTION for one in (rows, lora, learn, dpo, passes, advantages, attempts)),
)
