"""Checks of exercise 03: sizes that do not divide each other; ordinary, saturated and huge scores."""

from clearcheck import Exercise

from . import dimensions, equivariance, ladder, matrix_form, module, scaling, weights

EXERCISE = Exercise(
    slug="03-self-attention",
    title="Self-attention",
    chapter="chapters/03-self-attention",
    core=("ladder", "scaling", "module"),
    questions=tuple(one.QUESTION for one in (weights, ladder, scaling, dimensions, matrix_form, module, equivariance)),
)
