"""Right answers to a question and its named mistakes: whole functions (or classes), or edits of a right answer.

For example::

    right, wrong = answers_to(QUESTION)

    @right
    def by_method(table):
        return table.sum(axis=0)

    wrong.edits('''
    # by_method
    ## over_rows: The sum runs along the rows.
    - return table.sum(axis=0)
    + return table.sum(axis=1)
    ''')

`edits` tells how an edit is written.
"""

import ast
import inspect
import linecache
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from types import FunctionType

from clearcheck.author.edits import Places, combined, read_edits
from clearcheck.grading.question import Question
from clearcheck.worker.guarded_call import scope_of

MAKER = "_edited"
LEAST_RIGHT, LEAST_WRONG = 3, 8  # so many answers a question needs for its proof
COLLECTING = {"right", "wrong"}  # the decorators of the author


@dataclass(frozen=True)
class Solution:
    """A complete answer to one question: a right one, or a wrong one that `says` which mistake it holds."""

    question: str
    function: Callable
    says: str = ""
    section: str = ""
    source: str = ""  # its text, without decorators
    base: str = ""  # the right answer that it is an edit of
    change: tuple[str, ...] = ()  # the edited lines, each with its sign
    places: Places = ()  # of the base, which the edit changes

    @property
    def name(self) -> str:
        return self.function.__name__

    def together_with(self, other: "Solution") -> "Solution | None":
        """A wrong answer with both mistakes; None where they are no edits of one answer, or change the same place."""
        return _with_both(self, other) if self.base and self.base == other.base else None


@dataclass
class Solutions:
    """Answers to a question, or to those of an exercise."""

    question: str = ""
    entries: list[Solution] = field(default_factory=list)

    def of(self, question: str) -> list[Solution]:
        return [entry for entry in self.entries if entry.question == question]

    def _add(self, entry: Solution) -> Callable:
        if any(entry.name == other.name for other in self.of(entry.question)):
            raise ValueError(f'Question "{entry.question}" has two solutions named {entry.name}: rename one.')
        self.entries.append(entry)
        return entry.function


@dataclass
class RightSolutions(Solutions):
    """Right answers, collected by decorator: `@right`."""

    def __call__(self, function: Callable) -> Callable:
        return self._add(Solution(self.question, function, source=answer_source(function)))


@dataclass
class WrongSolutions(Solutions):
    """Named mistakes: whole functions under `@wrong("What the learner is told.")`, or `edits` of right answers."""

    right: Solutions = field(default_factory=RightSolutions)

    def __call__(self, says: str, section: str = "") -> Callable:
        return lambda function: self._add(
            Solution(self.question, function, says, section, answer_source(function)),
        )

    def whole(self, name: str, says: str, section: str, source: str, base: str = "", places: Places = ()) -> None:
        """Add a mistake by its text: what an edit becomes where the right answers are left out."""
        function = _compile_function(source, name, self.question, sys._getframe(1).f_globals)
        self._add(Solution(self.question, function, says, section, source, base, places=places))

    def edits(self, text: str) -> None:
        """Add a mistake for each edit in the text. Raises: EditError."""
        bases = {entry.name: entry for entry in self.right.entries}
        for edit in read_edits(text, self.question):
            if edit.base not in bases:
                raise edit.fault(f'"# {edit.base}" names no right answer: choose one of {", ".join(bases) or "none"}.')
            base = bases[edit.base]
            try:
                source, places = edit.apply_to(base.source)
                function = _compile_function(source, edit.name, self.question, scope_of(base.function) or {})
            except SyntaxError as error:
                line = (error.text or "").strip()
                raise edit.fault(f"{edit.base} is no Python any more after this edit ({error.msg}): {line}") from error
            change = tuple(line for place in edit.places for line in place if line[0] != " ")
            self._add(Solution(self.question, function, edit.says, edit.section, source, edit.base, change, places))


def answers_to(question: Question) -> tuple[RightSolutions, WrongSolutions]:
    """The two collections that the file of a question fills, as `right` and `wrong`."""
    right = RightSolutions(question.id)
    return right, WrongSolutions(question.id, right=right)


def answer_source(function: Callable) -> str:
    """The text of a function or class as a learner writes it, without `@right` and `@wrong`; nothing without a file."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        definition = ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError):
        return ""
    if not isinstance(definition, ast.FunctionDef | ast.ClassDef):
        return ""
    own = [entry for entry in definition.decorator_list if not COLLECTING & {_name_of(entry)}]
    return "\n".join(source.splitlines()[min(node.lineno for node in (definition, *own)) - 1 :])


def _name_of(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.id if isinstance(called, ast.Name) else ""


@lru_cache(maxsize=4096)
def _with_both(one: Solution, other: Solution) -> Solution | None:
    """Kept, since many learners may make the same two."""
    source = combined(one.source, one.places, other.source, other.places)
    if source is None:
        return None
    source = re.sub(rf"\b{other.name}\b", one.name, source)
    try:
        function = _compile_function(source, one.name, one.question, scope_of(one.function) or {})
    except SyntaxError:  # the one needs a line that the other takes away
        return None
    function.__name__ = f"{one.name}+{other.name}"
    return Solution(one.question, function, f"{one.says} And: {other.says}", one.section, source)


def _compile_function(source: str, name: str, question: str, scope: dict) -> Callable:
    """The function or class, with the globals of its base; inside another one, so that it finds itself by its name."""
    text = f"def {MAKER}():\n{textwrap.indent(source, '    ')}\n    return {name}\n"
    file = f"<{scope.get('__file__', '')}: {question}, {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    made: dict = {}
    exec(compile(text, file, "exec"), scope, made)
    function = made[MAKER]()
    function.__qualname__ = name
    for part in vars(function).values():
        if isinstance(part, FunctionType):
            part.__qualname__ = f"{name}.{part.__name__}"
    return function
