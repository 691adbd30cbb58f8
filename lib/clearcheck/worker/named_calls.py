"""What source calls by its name, whether the call was made or not, and in whatever thread; what it can call at all."""

import ast
import contextlib
import inspect
import linecache
import re
import sys
import textwrap
import tokenize
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType

INNOCENT = (  # modules through which no function is had but by its name
    "abc|bisect|clearcheck|cmath|collections|copy|dataclasses|decimal|enum|fractions|functools|heapq|itertools|math|"
    "matplotlib|numbers|numpy|random|re|statistics|string|time|torch|typing|warnings"
)
ORDINARY = "call|class|getitem|init|iter|len|main|name|post_init|repr"  # with two underscores on either side
AT_RUN_TIME = re.compile(  # what has a function under a name that the source need not hold
    rf"(?<!\.)\b(?:compile|eval|exec|getattr|globals|locals|vars)\b|__(?!(?:{ORDINARY})__)\w+__"
)
MODULE = rf"(?:{INNOCENT})(?:\.\w+)*"
IMPORT = re.compile(rf"\s*(?:from {MODULE} import [\w, *()]+|import {MODULE}(?: as \w+)? *)(?:#.*)?")
MOST_PARTS = 200  # functions and classes of a notebook that one answer names, directly or not


def named_calls(answer) -> Iterator[object]:
    """What is called, or made a base class, in the source of a function or a class and of all that it names of the same
    notebook. A name that is made at run time, as by `getattr`, is not seen.
    """
    waiting, seen = [answer], {id(answer)}
    while waiting:
        part = waiting.pop()
        if isinstance(part, type):
            yield from part.__mro__[1:-1]
        for function in _functions_of(part):
            for words, called in _chains(function.__code__):
                found = _look_up(words, function)
                if called and found is not None:
                    yield found
                if _of_the_same_notebook(found, function) and id(found) not in seen and len(seen) < MOST_PARTS:
                    seen.add(id(found))
                    waiting.append(found)


@lru_cache(maxsize=64)
def named_in(source: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the dotted names that code with this source, all that it was made from, can call: the ones of which it
    holds the last word, or every one where it can make a name at run time or run what is not in the source.
    """
    if AT_RUN_TIME.search(source) or not all(map(IMPORT.fullmatch, _lines_with_imports(source))):
        return names
    return tuple(name for name in names if name.rpartition(".")[2] in source)


def _lines_with_imports(source: str) -> Iterator[str]:
    return (line for line in source.splitlines() if "import" in line)


def _functions_of(part) -> list[FunctionType]:
    parts = [part, *vars(part).values()] if isinstance(part, type) else [part]
    unwrapped = (inspect.unwrap(getattr(each, "__func__", each)) for each in parts)
    return [each for each in unwrapped if isinstance(each, FunctionType)]


def _of_the_same_notebook(found, function: FunctionType) -> bool:
    if isinstance(found, FunctionType):
        return found.__globals__ is function.__globals__
    return isinstance(found, type) and found.__module__ == function.__globals__.get("__name__")


@lru_cache(maxsize=512)
def _chains(code: CodeType) -> tuple[tuple[tuple[str, ...], bool], ...]:
    """The names in the source of a function, as ("F", "softmax"), and whether each is called; what the function
    imports itself begins with an empty name and the module's.
    """
    tree = _parse(code)
    imported = dict(_imported(tree))
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    found = []
    for node in ast.walk(tree):
        words = _words(node)
        if not words:
            continue
        root = imported.get(words[0], (words[0],))
        if root != words[:1] or words[0] not in code.co_varnames:
            found.append(((*root, *words[1:]), id(node) in called))
    return tuple(found)


def _parse(code: CodeType) -> ast.AST:
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    with contextlib.suppress(SyntaxError, ValueError, tokenize.TokenError, RecursionError, MemoryError):
        return ast.parse(textwrap.dedent("".join(inspect.getblock(lines))))
    return ast.Module([], [])


def _imported(tree: ast.AST) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                yield alias.asname or parts[0], ("", *(parts if alias.asname else parts[:1]))
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, ("", *node.module.split("."), alias.name)


def _words(node: ast.AST) -> tuple[str, ...]:
    """The names of `a.b.c`; empty where it is anything else."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute) and (before := _words(node.value)):
        return (*before, node.attr)
    return ()


def _look_up(words: tuple[str, ...], function: FunctionType):
    """What the names stand for where the function was defined; None where only the learner's code could tell."""
    if words[0] == "":
        found, rest = sys.modules.get(words[1]), words[2:]
    else:
        closed_over = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
        found, rest = closed_over.get(words[0], function.__globals__.get(words[0])), words[1:]
    for word in rest:
        if not isinstance(found, ModuleType | type):
            return None
        found = getattr(found, word, None)
    return found
