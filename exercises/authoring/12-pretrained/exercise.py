"""Checks of exercise 12: files made byte by byte, weights all at random, sizes of which none divides another."""

from clearcheck import Exercise

from . import file, fold, logits, misfits, model, museum, names

EXERCISE = Exercise(
    slug="12-pretrained",
    title="Pretrained models",
    chapter="chapters/12-pretrained",
    core=("file", "names", "museum"),
    questions=tuple(one.QUESTION for one in (file, names, misfits, fold, museum, model, logits)),
)
