"""Write the lists of chapters/api.md from the source: of each public name its signature and its first sentence.

Headings, prose and the comments `<!-- automodule: … -->` of the page are written by hand. Each comment is followed by
the list that this program writes, which a reader of the repository sees; on the site Sphinx puts the whole
documentation in its place.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from tools import ROOT
from tools.pages import reading

PAGE = reading.CHAPTERS / "api.md"
END = "<!-- end -->"
MARK = re.compile(
    r"(?P<opening><!-- automodule: (?P<module>[\w.]+)(?: \((?P<members>[\w, ]+)\))? -->)\n.*?" + f"{END}\n", re.DOTALL
)
EVERY = "members"  # in parentheses behind a module: all that it documents
SENTENCE = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!et al)\.(?=\s|$)")
Definition = ast.FunctionDef | ast.ClassDef


def page() -> str:
    """The page with its lists as the source has them now. Raises: ValueError for a module or a name that is gone."""

    def with_list(mark: re.Match) -> str:
        return f"{mark['opening']}\n\n{list_module(mark['module'], mark['members'])}\n\n{END}\n"

    return MARK.sub(with_list, PAGE.read_text(encoding="utf-8"))


def list_module(module: str, members: str | None) -> str:
    """A module as Markdown: its name, what it is for, and a line for each public name."""
    source = Source.of(module)
    title = f"`{module}`: {first_sentence(source.tree)}"
    if members is None:
        return title
    entries = source.entries(None if members == EVERY else members.split(", "))
    return title + "\n\n" + "\n".join(entries)


def as_directives(text: str) -> str:
    """The page for Sphinx: in place of each list the directive that documents the module."""

    def directive(mark: re.Match) -> str:
        members = {None: "", EVERY: "   :members:\n"}.get(mark["members"], f"   :members: {mark['members']}\n")
        return f"```{{eval-rst}}\n.. automodule:: {mark['module']}\n{members}```\n"

    return MARK.sub(directive, text)


@dataclass(frozen=True)
class Source:
    """A module of lib/, from which signatures are taken as they are written: no version of Python changes them."""

    module: str
    text: str
    tree: ast.Module

    @classmethod
    def of(cls, module: str) -> "Source":
        """Raises: ValueError for a module that is not in lib/."""
        path = ROOT / "lib" / Path(*module.split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if not file.is_file():
            raise ValueError(f"{PAGE.name}: there is no module {module} in lib/.")
        text = file.read_text(encoding="utf-8")
        return cls(module, text, ast.parse(text))

    def entries(self, names: list[str] | None) -> list[str]:
        """The lines of what is defined and documented here, or of the names, which may come from other modules.

        Raises: ValueError for a name that is not there.
        """
        here = {node.name: node for node in self.tree.body if isinstance(node, Definition)}
        if names is None:
            return [line for node in here.values() if is_public(node) for line in self.entry(node)]
        imports = [node for node in self.tree.body if isinstance(node, ast.ImportFrom) and node.module]
        elsewhere = {alias.name: str(node.module) for node in imports for alias in node.names}
        found = []
        for name in names:
            if name not in here and name not in elsewhere:
                raise ValueError(f"{PAGE.name}: {self.module} has no {name}.")
            found += self.entry(here[name]) if name in here else Source.of(elsewhere[name]).entries([name])
        return found

    def entry(self, node: Definition) -> list[str]:
        """The line of a definition; below a class stand its methods."""
        if isinstance(node, ast.FunctionDef):
            return [f"- `{self.function(node)}`: {first_sentence(node)}"]
        methods = [entry for entry in node.body if isinstance(entry, ast.FunctionDef) and is_public(entry)]
        below = [f"  - `{self.method(entry)}`: {first_sentence(entry)}" for entry in methods]
        return [f"- `{self.constructor(node)}`: {first_sentence(node)}", *below]

    def function(self, node: ast.FunctionDef, skipped: int = 0) -> str:
        """Name, arguments without those that a method is bound to, and what comes back."""
        came = f" -> {self.code_of(node.returns)}" if node.returns else ""
        return f"{node.name}({', '.join(self.arguments(node.args)[skipped:])}){came}"

    def method(self, node: ast.FunctionDef) -> str:
        marks = {ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list}
        if marks & {"property", "cached_property"}:
            return f"{node.name} -> {self.code_of(node.returns)}" if node.returns else node.name
        return self.function(node, skipped=0 if "staticmethod" in marks else 1)

    def constructor(self, node: ast.ClassDef) -> str:
        """A class with the arguments of its `__init__`, or with the fields of its dataclass."""
        for entry in node.body:
            if isinstance(entry, ast.FunctionDef) and entry.name == "__init__":
                return f"{node.name}({', '.join(self.arguments(entry.args)[1:])})"
        marks = [*map(ast.unparse, node.decorator_list), *map(ast.unparse, node.bases)]
        if not any(re.match(r"(dataclasses\.)?dataclass|NamedTuple", mark) for mark in marks):
            return node.name
        fields = [entry for entry in node.body if isinstance(entry, ast.AnnAssign)]
        arguments = [self.argument(self.code_of(it.target), it.annotation, it.value) for it in fields]
        return f"{node.name}({', '.join(arguments)})"

    def arguments(self, given: ast.arguments) -> list[str]:
        """Each argument with its annotation and its default, and the marks between the kinds."""
        plain = [*given.posonlyargs, *given.args]
        defaults = [*[None] * (len(plain) - len(given.defaults)), *given.defaults]
        found = [self.argument(it.arg, it.annotation, value) for it, value in zip(plain, defaults, strict=True)]
        if given.posonlyargs:
            found.insert(len(given.posonlyargs), "/")
        if given.vararg or given.kwonlyargs:
            found.append("*" + (self.argument(given.vararg.arg, given.vararg.annotation) if given.vararg else ""))
        of_names = zip(given.kwonlyargs, given.kw_defaults, strict=True)
        found += [self.argument(it.arg, it.annotation, value) for it, value in of_names]
        return found + ([f"**{self.argument(given.kwarg.arg, given.kwarg.annotation)}"] if given.kwarg else [])

    def argument(self, name: str, annotation: ast.expr | None, default: ast.expr | None = None) -> str:
        shown = f"{name}: {self.code_of(annotation)}" if annotation else name
        if default is None:
            return shown
        value = self.code_of(default)
        value = "..." if value.startswith("field(") else value
        return f"{shown} = {value}" if annotation else f"{shown}={value}"

    def code_of(self, node: ast.AST) -> str:
        return " ".join((ast.get_source_segment(self.text, node) or "").split())


def is_public(node: Definition) -> bool:
    return not node.name.startswith("_") and ast.get_docstring(node) is not None


def first_sentence(node: ast.Module | Definition) -> str:
    """The first sentence of a docstring, as Markdown."""
    paragraph = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
    end = SENTENCE.search(paragraph)
    return in_markdown(paragraph[: end.start()] if end else paragraph) + "."


def in_markdown(text: str) -> str:
    """Code and formulas of reStructuredText as Markdown has them."""
    return re.sub(r"``(.+?)``", r"`\1`", re.sub(r":math:`(.+?)`", r"$\1$", text))
