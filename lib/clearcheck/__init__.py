"""Clearcheck: questions in a notebook, graded by proven checks."""

from clearcheck.author.mistakes import RightSolutions, WrongSolutions, answers_to
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.inputs import COUNTED, Inputs, axes
from clearcheck.grading.question import AnswerProblem, Question, equals, holds

__all__ = [
    "COUNTED",
    "AnswerProblem",
    "Exercise",
    "Inputs",
    "Question",
    "RightSolutions",
    "WrongSolutions",
    "answers_to",
    "axes",
    "equals",
    "holds",
]
