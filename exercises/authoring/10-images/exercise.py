"""Checks of exercise 10: images that are not square, more than one channel, and as many hidden patches as it comes."""

from clearcheck import Exercise

from . import learn, loss, nearest, occlusion, pairs, resize, silence, tokens, vit
from .parts import BRINGS

EXERCISE = Exercise(
    slug="10-images",
    title="Images",
    chapter="chapters/10-images",
    core=("tokens", "vit", "learn"),
    brings=BRINGS,
    questions=tuple(one.QUESTION for one in (nearest, tokens, vit, learn, occlusion, silence, loss, pairs, resize)),
)
