"""Fetch a learner's own functions from their earlier exercise notebooks, as text: nothing is run or overwritten."""

import ast
import re
import symtable
import textwrap
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from clearcheck.author.loading import AuthoredExercise
from clearcheck.author.release import learner_notebook, read_source
from clearcheck.grading.exercise import Exercise
from clearcheck.learner.cards import Card
from clearcheck.learner.progress_file import Record
from clearcheck.learner.reset import set_next_input
from clearcheck.learner.standing import standings
from clearcheck.notebooks.cells import lines_of
from clearcheck.notebooks.file import NotANotebook
from clearcheck.notebooks.submission import read_submission

OWN = "clearcheck"  # imports of the grader stay where they are


@dataclass
class ReusedCode:
    """The text for a new cell, and one sentence for each function."""

    imports: list[str] = field(default_factory=list)
    parts: dict[str, str] = field(default_factory=dict)  # top-level text by the first name that it defines
    sentences: list[str] = field(default_factory=list)
    brought: list[str] = field(default_factory=list)

    @property
    def cell(self) -> str:
        blocks = ["\n".join(self.imports), *self.parts.values()]
        return "\n\n\n".join(block for block in blocks if block)


def brought_card(
    exercise: Exercise,
    namespace: Mapping,
    folder: Path | None = None,
    given: Mapping[str, str] | None = None,
    record: Record | None = None,
) -> Card:
    """Look for `exercise.brings`, offer what was found as a new cell, and say what is missing and where to write it.

    `given` has the text of those that the notebook holds ready, for a learner who has none of their own. The `record`
    tells of what is found whether it has passed.
    """
    folder, given = folder or Path.cwd(), given or {}
    own = _source(exercise.slug, folder)
    saved = own.names_written_by_learner(exercise.brings, given) if isinstance(own, _Source) else []
    there = [n for n in exercise.brings if n in saved or (n not in given and callable(namespace.get(n)))]
    wanted = {name: slug for name, slug in exercise.brings.items() if name not in there}
    standing = {} if record is None else standings(wanted, record)
    found = find(wanted, folder, [question.name for question in exercise.questions], standing)
    lines = [f"{name}: already written in this notebook, and left as it is." for name in there] + found.sentences
    missing = [name for name in wanted if name not in found.brought]
    if ready := [name for name in missing if name in given]:
        lines.append(f"Until then the ready {' and '.join(ready)} above will do.")
    elif missing and not found.brought:
        lines.append("Write or paste what is missing into the empty cell below.")
    folded, copied = "", ""
    if found.brought:
        beneath = set_next_input(found.cell)
        lines.append("They stand in a new cell beneath: read it and run it." if beneath else "Run them in a cell here.")
        summary = "No new cell? Copy this text." if beneath else "Copy this text."
        tag = "<details>" if beneath else "<details open>"
        folded = f"{tag}<summary><u>{summary}</u></summary><pre>{escape(found.cell)}</pre></details>"
        copied = f"\n{summary}\n{found.cell}"
    head = f"{len(there) + len(found.brought)} of {len(exercise.brings)} parts of your own are here."
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    html = f'<div class="clearcheck"><p><strong>{escape(head)}</strong></p><ul>{items}</ul>{folded}</div>'
    return Card("\n".join([head, *lines]) + copied, html)


def given_in(authored: AuthoredExercise) -> dict[str, str]:
    """What the exercise brings and its released notebook defines ready, too: the text by name."""
    released = learner_notebook(read_source(authored.folder / "source.ipynb"), authored.exercise.slug)
    code = [cell["source"] for cell in released["cells"] if cell["cell_type"] == "code"]
    ready = _Source("", enumerate(code, start=1)).statements
    return {name: ready[name][1] for name in authored.exercise.brings if name in ready}


def find(
    wanted: Mapping[str, str], folder: Path, asked: Collection[str] = (), standing: Mapping[str, str] | None = None
) -> ReusedCode:
    """The functions `wanted` (name to slug), each with all that it uses, from the notebooks in `folder`; not with what
    is `asked` for where they go, which is written there anew. Of what is found its `standing` is told.
    """
    found = ReusedCode()
    sources: dict[str, _Source | str] = {}
    for name, slug in wanted.items():
        if slug not in sources:
            sources[slug] = _source(slug, folder)
        source = sources[slug]
        problem = source if isinstance(source, str) else source.problem(name) or _take(found, source, name, asked)
        if problem:
            found.sentences.append(f"{name}: {problem}")
        else:
            found.brought.append(name)
            known = f"; {standing[name]}" if standing and name in standing else ""
            found.sentences.append(f"{name}: found in {source.file}{known}.")
    return found


class _Source:
    """The top-level statements of one notebook, by the names that they define; the last definition counts."""

    def __init__(self, file: str, cells: Iterable[tuple[int, str]]):
        self.file = file
        self.statements: dict[str, tuple[ast.stmt, str]] = {}
        self.broken: list[tuple[int, str]] = []
        for number, source in cells:
            try:
                body = ast.parse(source).body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self.broken.append((number, source))
                continue
            for statement in body:
                text = _text(source, statement)
                self.statements.update({name: (statement, text) for name in _defines(statement)})

    def problem(self, name: str) -> str:
        """Why the function cannot be brought, or an empty text."""
        for number, text in self.broken:
            if re.search(rf"^(async def|def|class) {name}\b", text, re.MULTILINE):
                return f"code cell {number} of {self.file} has a syntax error; mend it there and call bring() again."
        if name not in self.statements:
            return f"{self.file} does not define it any more; write it there, or here in a cell of your own."
        if _is_stub(self.statements[name][0]):
            return f"not answered yet in {self.file}; write it there and call bring() again, or write it here."
        return ""

    def names_written_by_learner(self, names: Iterable[str], given: Mapping[str, str]) -> list[str]:
        """The names whose definition is the learner's: it is answered, and not the one that was given."""
        return [name for name in names if not self.problem(name) and self.statements[name][1] != given.get(name)]

    def needed_by(self, name: str, without: Collection[str]) -> list[str]:
        """The names of this notebook that it uses, itself last; neither some others nor what these use."""
        order: list[str] = []
        waiting = [name]
        while waiting:
            one = waiting.pop()
            if one in order:
                order.remove(one)
            order.insert(0, one)
            used = _names_in(self.statements[one][1])
            used -= {*without, *order}
            waiting += [other for other in self.statements if other in used]
        return order


def _take(found: ReusedCode, source: _Source, name: str, asked: Collection[str]) -> str:
    """Add the function with all that it uses; a sentence where that is not possible."""
    needed = source.needed_by(name, asked)
    for one in needed:
        statement, text = source.statements[one]
        if one != name and _is_stub(statement):
            return f"it calls {one}, which is not answered yet in {source.file}; write that first."
        if found.parts.get(one, text) != text:
            return f"it uses {one}, and another function here uses a different {one}; rename one of the two."
    for one in needed:
        statement, text = source.statements[one]
        if isinstance(statement, ast.Import | ast.ImportFrom):
            found.imports += [] if text in found.imports else [text]
        elif text not in found.parts.values():
            found.parts[one] = text
    return ""


def _source(slug: str, folder: Path) -> "_Source | str":
    """The learner's notebook of an exercise, or a sentence why there is none.

    It is known by the call that names the exercise: a chapter may lie beside it under the same name.
    """
    named = folder / f"{slug}.ipynb"
    try:
        cells = read_submission(named) if named.is_file() else None
        if cells is None or slug not in cells.slugs[:1]:
            found = [path for path in sorted(folder.glob("*.ipynb")) if path != named and _slug_of(path) == slug]
            if len(found) != 1:
                return _not_one(slug, len(found), is_other=cells is not None)
            named = found[0]
            cells = read_submission(named)
        return _Source(named.name, [(cell.number, cell.source) for cell in cells.cells])
    except NotANotebook as problem:
        return str(problem).replace(str(named), named.name)


def _not_one(slug: str, n_found: int, is_other: bool) -> str:
    if n_found:
        return f"{n_found} notebooks answer {slug}; keep one of them as {slug}.ipynb beside this notebook."
    if is_other:
        return (
            f'the {slug}.ipynb beside this notebook is not the exercise, since it does not call exercise("{slug}"); '
            "put the exercise beside it under any other name, or write the function here."
        )
    return f"there is no {slug}.ipynb beside this notebook; put it there, or write the function here."


def _slug_of(path: Path) -> str:
    try:
        return next(iter(read_submission(path).slugs), "")
    except NotANotebook:
        return ""


def _text(source: str, statement: ast.stmt) -> str:
    lines = lines_of(source)
    first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
    return "\n".join(lines[first - 1 : statement.end_lineno])


def _defines(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").split(".")[0] == OWN:
            return []
        return [(alias.asname or alias.name).split(".")[0] for alias in statement.names]
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return []


def _names_in(text: str) -> set[str]:
    """The names that a top-level statement takes from outside itself; local variables are none of them."""
    tables, names = [symtable.symtable(textwrap.dedent(text), "cell", "exec")], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        outer = table.get_type() == "module"
        names |= {symbol.get_name() for symbol in table.get_symbols() if outer or symbol.is_global()}
    return names


def _is_stub(statement: ast.stmt) -> bool:
    """A stub: its own body, or that of a method, raises NotImplementedError."""
    body = getattr(statement, "body", [])
    if isinstance(statement, ast.ClassDef):
        body = [node for method in body for node in getattr(method, "body", [])]
    raised = [node.exc for node in body if isinstance(node, ast.Raise)]
    return any("NotImplementedError" in ast.dump(error) for error in raised if error is not None)
