"""Checks of exercise 07: tokens in rows, far from mean 0 and spread 1, random scales and shifts, a visible ε."""

from clearcheck import Exercise

from . import backward, block, depth, layer_norm, module, museum, norms
from .module import BRINGS

EXERCISE = Exercise(
    slug="07-residual-norm",
    title="Residuals and normalisation",
    chapter="chapters/07-residual-norm",
    core=("layer-norm", "block", "module"),
    brings=BRINGS,
    questions=tuple(one.QUESTION for one in (layer_norm, norms, museum, block, module, depth, backward)),
)
