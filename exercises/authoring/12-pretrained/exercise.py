"""Checks of exercise 12: files made byte by byte, weights all at random, sizes of which none divides another."""

from clearcheck import Exercise

from . import file, fold, logits, misfits, model, museum, names

EXERCISE = Exercise(
    slug="12-pretrained",
    title="Pretrained models",
    chapter="chapters/12-pretrained",
    core=("file", "names", "museum"),
    questions=(
        file.QUESTION,
        names.QUESTION,
        misfits.QUESTION,
        fold.QUESTION,
        museum.QUESTION,
        model.QUESTION,
        logits.QUESTION,
    ),
)
