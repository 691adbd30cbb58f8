"""Collections of right and of named wrong solutions, which an author fills by decorator."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Solution:
    """A complete answer to one question: a right one, or a wrong one that `says` which mistake it holds."""

    question: str
    function: Callable
    says: str = ""
    section: str = ""

    @property
    def name(self) -> str:
        return self.function.__name__


@dataclass
class Solutions:
    """Right solutions, collected by decorator: `@right("weights")`."""

    entries: list[Solution] = field(default_factory=list)

    def __call__(self, question: str) -> Callable:
        return lambda function: self._add(Solution(question, function))

    def of(self, question: str) -> list[Solution]:
        return [entry for entry in self.entries if entry.question == question]

    def _add(self, entry: Solution) -> Callable:
        if any(entry.name == other.name for other in self.of(entry.question)):
            raise ValueError(f'Question "{entry.question}" has two solutions named {entry.name}: rename one.')
        self.entries.append(entry)
        return entry.function


@dataclass
class WrongSolutions(Solutions):
    """Named mistakes, collected by decorator: `@wrong("weights", says="…", section="…")`."""

    def __call__(self, question: str, says: str, section: str = "") -> Callable:
        return lambda function: self._add(Solution(question, function, says, section))
