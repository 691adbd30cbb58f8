"""Clearcheck: questions in a notebook, graded by proven checks."""

from clearcheck.exercise import AnswerProblem, Exercise, Question, equals, holds
from clearcheck.solutions import Solutions, WrongSolutions

__all__ = ["AnswerProblem", "Exercise", "Question", "Solutions", "WrongSolutions", "equals", "holds"]
