"""One exercise with its solutions, and what its checks draw, for the rules of the lint."""

import contextlib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from clearcheck.author.mistakes import Solutions
from clearcheck.grading.evaluate import Ask, generator
from clearcheck.grading.exercise import Exercise
from clearcheck.grading.question import NotAnswered, Question
from clearcheck.worker.guarded_call import call_named

SEEDS = (0, 20_031)  # that of a learner's notebook, and one that nobody has tried


@dataclass
class Subject:
    """An exercise with its solutions; what its checks draw is drawn once, since many rules look at it."""

    exercise: Exercise
    right: Solutions
    wrong: Solutions
    _drawn: dict = field(default_factory=dict)

    def asked(self, question: Question) -> list[tuple[str, tuple]]:
        """The name of a check and its arguments, for each case that the grader draws with the seeds."""
        return self._once(self._asked, question)

    def asked_by_properties(self, question: Question) -> list[tuple]:
        """The arguments with which the checks of properties call a right solution."""
        return self._once(self._asked_by_properties, question)

    def _once(self, draw: Callable, question: Question):
        key = draw.__name__, question.id
        if key not in self._drawn:
            self._drawn[key] = draw(question)
        return self._drawn[key]

    def _asked(self, question: Question) -> list[tuple[str, tuple]]:
        return [
            (check.name, args)
            for check in question.checks
            if hasattr(check, "cases")
            for seed in SEEDS
            for args in check.cases(generator(question, check.name, seed))
        ]

    def _asked_by_properties(self, question: Question) -> list[tuple]:
        """A loop that trains is not run for it: its checks are known by their first calls."""
        answered = {} if question.how == "training" else {question.name: self.right.of(question.id)[0].function}
        ask = Ask(lambda asked, packed: call_named(answered, asked, packed), question)
        for check in question.checks:
            if not hasattr(check, "cases"):
                with contextlib.suppress(NotAnswered):
                    check.run(ask, generator(question, check.name, SEEDS[-1]))
        return [call.args for call in ask.calls]

    def named(self, question: Question, pattern: re.Pattern) -> Iterator[list]:
        """For each parameter whose name fits, its value in every case that any check draws."""
        names = list(inspect.signature(self.right.of(question.id)[0].function).parameters)
        drawn = [args for _, args in self.asked(question)] + self.asked_by_properties(question)
        for place, name in enumerate(names):
            if pattern.fullmatch(name):
                yield [args[place] for args in drawn if len(args) > place]

    def sizes_named(self, question: Question, pattern: re.Pattern) -> Iterator[list]:
        """The same of a module, for each argument of its constructor."""
        given = [args[0]["sizes"] for _, args in self.asked(question)]
        for name in sorted({name for sizes in given for name in sizes if pattern.fullmatch(name)}):
            yield [sizes[name] for sizes in given if name in sizes]


def leaves(value) -> list[np.ndarray]:
    if isinstance(value, tuple | list):
        return [leaf for entry in value for leaf in leaves(entry)]
    return [value] if isinstance(value, np.ndarray) else []
