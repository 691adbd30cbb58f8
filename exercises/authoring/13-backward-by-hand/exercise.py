"""Checks of exercise 13: sizes that all differ, weights from flat to certain, masks that hide everything once."""

from clearcheck import Exercise

from . import attend, blocks, costs, layer, masks, softmax

EXERCISE = Exercise(
    slug="13-backward-by-hand",
    title="The backward pass by hand",
    chapter="chapters/13-backward-by-hand",
    questions=(softmax.QUESTION, attend.QUESTION, masks.QUESTION, costs.QUESTION, layer.QUESTION, blocks.QUESTION),
)
