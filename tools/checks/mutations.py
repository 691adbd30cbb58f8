"""Which mutants a module has: mutmut's operators on its syntax tree, and the removal of whole statements.

mutmut itself leaves every decorated function alone, which here are the forward passes and all that is ``@shaped``, and
numbers its mutants, so that a line more in a function renames those behind it. cosmic-ray starts a process for each
mutant, and half of its own put the other eleven operators in an operator's place. Hence mutmut says what is changed,
and ``mutants.py`` runs the tests.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import cast

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators, operator_arg_removal, operator_string

STATEMENTS = (cst.BaseSmallStatement, cst.BaseCompoundStatement, cst.Param)  # a default is named with its parameter
EMPTY = cst.SimpleStatementSuite([cst.Pass()])
# What types say is checked by mypy, what is imported by the first test; words in messages and docstrings are prose.
LEFT_ALONE = (cst.Annotation, cst.Decorator, cst.Import, cst.ImportFrom, cst.BaseString)
OPPOSED = (cst.Equal, cst.NotEqual, cst.Is, cst.IsNot, cst.In, cst.NotIn)
KINDS_ALONE = {"isinstance", "len"}  # their arguments: each mutant would be a TypeError


@dataclass(frozen=True)
class Mutant:
    """One change of a module: its name outlives edits elsewhere, since it holds function and statement but no line."""

    name: str
    lines: range
    source: Callable[[], str]  # the whole module


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Every mutant of the text of a file; of several with one name all but the first carry a number."""
    wrapper = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    finder = _Finder()
    wrapper.visit(finder)
    seen: Counter[str] = Counter()
    found = []
    for where, lines, statement, node, changed in finder.changes:
        header = _header(statement)
        before = _text(header)
        after = _text(_header(changed) if node is statement else header.deep_replace(node, changed))
        if before == after:
            continue
        name = f"{file} {where}: {before} → {after}"
        seen[name] += 1
        name += f" ({seen[name]})" if seen[name] > 1 else ""
        found.append(Mutant(name, lines, partial(_source, wrapper.module, node, changed)))
    return found


def _source(module: cst.Module, node: cst.CSTNode, changed: cst.CSTNode) -> str:
    return cast(cst.Module, module.deep_replace(node, changed)).code


class _Finder(cst.CSTVisitor):
    """Notes each change as: where, lines of the statement, the statement, what is replaced in it, and by what."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self):
        super().__init__()
        self.changes: list[tuple[str, range, cst.CSTNode, cst.CSTNode, cst.CSTNode]] = []
        self.scopes: list[str] = []
        self.bodies: list[cst.CSTNode] = []
        self.statements: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, LEFT_ALONE) or _is_docstring(node):
            return False
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self.scopes.append(node.name.value)
            self.bodies.append(node.body)
        if isinstance(node, STATEMENTS):
            self.statements.append(node)
        for changed in _changes_of(node):
            statement = self.statements[-1]
            where = ".".join(self.scopes) or "module"
            self.changes.append((where, self._lines(statement), statement, node, changed))
        return not isinstance(node, cst.Raise)  # what is raised is a sentence

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if self.statements and self.statements[-1] is original_node:
            self.statements.pop()
        if isinstance(original_node, cst.FunctionDef | cst.ClassDef):
            self.scopes.pop()
            self.bodies.pop()

    def _lines(self, statement: cst.CSTNode) -> range:
        """Those of a statement, or of what stands before the body of one that has a body; of a parameter's function."""
        if isinstance(statement, cst.Param) and self.bodies:
            statement = self.bodies[-1]
        position = self.get_metadata(PositionProvider, statement)
        body = getattr(statement, "body", None)
        last = position.end.line
        if isinstance(statement, cst.BaseCompoundStatement) and isinstance(body, cst.IndentedBlock):
            last = self.get_metadata(PositionProvider, body.body[0]).start.line - 1
        return range(position.start.line, max(last, position.start.line) + 1)


def _changes_of(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.Expr | cst.Raise):
        yield cst.Pass()
    elif isinstance(node, cst.Return) and node.value is not None:
        yield cst.Return(cst.Name("None"), whitespace_after_return=cst.SimpleWhitespace(" "))
    elif isinstance(node, cst.If | cst.While) and not _has_opposite(node.test):
        inner = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        yield node.with_changes(test=cst.UnaryOperation(cst.Not(), inner))
    for kind, operator in mutation_operators:
        if isinstance(node, kind) and operator is not operator_string:
            if operator is operator_arg_removal:
                yield from _without_arguments(cst.ensure_type(node, cst.Call))
            elif not _is_text(getattr(node, "value", None)):
                yield from operator(node)


def _without_arguments(call: cst.Call) -> Iterator[cst.CSTNode]:
    """mutmut's, but for arguments that a message repeats, and calls that would only raise a TypeError."""
    if isinstance(call.func, cst.Name) and call.func.value in KINDS_ALONE:
        return
    for changed in operator_arg_removal(call):
        assert isinstance(changed, cst.Call)
        kept = {id(argument) for argument in changed.args}
        (lost,) = (argument for argument in call.args if id(argument) not in kept)
        shifts = len(changed.args) < len(call.args) and lost.keyword is None and lost is not call.args[-1]
        if not shifts and not _is_said(lost):
            yield changed


def _is_said(argument: cst.Arg) -> bool:
    """Whether it is there for messages: a text without a keyword, or who is asking."""
    name = argument.keyword or argument.value
    asks = isinstance(name, cst.Name) and name.value == "caller"
    return asks or (argument.keyword is None and _is_text(argument.value))


def _is_text(node: object) -> bool:
    return isinstance(node, cst.BaseString)


def _is_docstring(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Expr) and isinstance(node.value, cst.BaseString | cst.Ellipsis)


def _has_opposite(test: cst.BaseExpression) -> bool:
    """Whether mutmut's operators already turn a condition round."""
    if isinstance(test, cst.Comparison):
        return isinstance(test.comparisons[0].operator, OPPOSED)
    return isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not)


def _header(statement: cst.CSTNode) -> cst.CSTNode:
    """A statement without its body, its decorators and the comments in front."""
    if isinstance(statement, cst.Param):
        return statement.with_changes(comma=cst.MaybeSentinel.DEFAULT)
    if not isinstance(statement, cst.BaseCompoundStatement):
        return statement
    empty: dict[str, object] = {"body": EMPTY, "leading_lines": [], "orelse": None, "decorators": ()}
    return statement.with_changes(**{name: value for name, value in empty.items() if hasattr(statement, name)})


def _text(statement: object) -> str:
    """On one line, whatever its layout."""
    code = cst.Module([]).code_for_node(cast(cst.CSTNode, statement)).strip()
    return " ".join(ast.unparse(ast.parse(code)).removesuffix("\n    pass").split())
