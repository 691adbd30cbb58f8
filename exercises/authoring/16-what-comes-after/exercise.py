"""Checks of exercise 16: graphs with nodes that hear nobody, gates that forget everything, chunks of any length."""

from clearcheck import Exercise

from . import chunks, experts, gated, graph, museum, space

EXERCISE = Exercise(
    slug="16-what-comes-after",
    title="What comes after",
    chapter="chapters/16-what-comes-after",
    questions=(graph.QUESTION, gated.QUESTION, experts.QUESTION, museum.QUESTION, space.QUESTION, chunks.QUESTION),
)
