"""Checks of exercise 12: files made byte by byte, weights all at random, sizes of which none divides another."""

from clearcheck import Exercise

from . import file, fold, logits, model, museum, names, patch

EXERCISE = Exercise(
    slug="12-pretrained",
    title="Pretrained models",
    chapter="chapters/12-pretrained",
    core=("file", "names", "model"),
    questions=tuple(one.QUESTION for one in (file, names, fold, museum, model, patch, logits)),
)
