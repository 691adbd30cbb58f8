"""A toy exercise in PyTorch: a question of each kind, a function on tensors, a module, a loop, and `generate`."""

from clearcheck import Exercise

from . import fitting, masked, mixing, writing

EXERCISE = Exercise(
    slug="02-tensors",
    title="Tensors",
    chapter="chapters/02-tensors",
    questions=(masked.QUESTION, mixing.QUESTION, fitting.QUESTION, writing.QUESTION),
)
