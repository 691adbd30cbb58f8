"""One exercise with its solutions, and what its checks draw, for the rules of the lint."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from clearcheck.calls import call_named
from clearcheck.evaluate import Ask, generator
from clearcheck.exercise import Exercise, Question
from clearcheck.loading import load
from clearcheck.solutions import Solutions, WrongSolutions

from tests.exercises.inputs import INPUTS, Inputs

SEEDS = (0, 1, 2, 3, 4, 20_031)  # those of the proof, and one that nobody has tried


@dataclass(frozen=True)
class Subject:
    """An exercise with its solutions, and what its questions' arguments are."""

    exercise: Exercise
    right: Solutions
    wrong: WrongSolutions
    inputs: dict[str, Inputs]

    def asked(self, question: Question) -> list[tuple[str, tuple]]:
        """The name of a check and its arguments, for each case that the grader draws with the seeds."""
        return [
            (check.name, args)
            for check in question.checks
            if hasattr(check, "cases")
            for seed in SEEDS
            for args in check.cases(generator(question, check.name, seed))
        ]

    def asked_by_properties(self, question: Question) -> list[tuple]:
        """The arguments with which the checks of properties call a right solution."""
        function = self.right.of(question.id)[0].function
        ask = Ask(lambda name, packed, seconds: call_named({name: function}, name, packed, seconds), question)
        for check in question.checks:
            if not hasattr(check, "cases"):
                check.run(ask, generator(question, check.name, SEEDS[-1]))
        return [call.args for call in ask.calls]

    def named(self, question: Question, pattern: re.Pattern) -> Iterator[list]:
        """For each parameter whose name fits, its value in every case that any check draws."""
        names = list(inspect.signature(self.right.of(question.id)[0].function).parameters)
        drawn = [args for _, args in self.asked(question)] + self.asked_by_properties(question)
        for place, name in enumerate(names):
            if pattern.fullmatch(name):
                yield [args[place] for args in drawn if len(args) > place]


def subject_of(slug: str, course: Path | None = None) -> Subject:
    loaded = load(slug, course)
    inputs = {id: described for (of, id), described in INPUTS.items() if of == slug}
    return Subject(loaded.exercise, loaded.right, loaded.wrong, inputs)


def leaves(value) -> list[np.ndarray]:
    if isinstance(value, tuple | list):
        return [leaf for entry in value for leaf in leaves(entry)]
    return [value] if isinstance(value, np.ndarray) else []
