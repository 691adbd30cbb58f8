"""The child process that runs a learner's notebook: it knows no check, no seed and no expected value.

It reads requests and writes replies, both `values.pack`ed dicts, on private copies of two pipes. The first request
carries the bytes of the notebook, which are parsed here, where a file that is meant to do harm does none.
"""

import ast
import builtins
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import os
import random
import sys
import time
import types
from collections.abc import Iterable

import numpy as np

from clearcheck.notebooks.cells import definitions_below, lines_of
from clearcheck.notebooks.file import NotANotebook
from clearcheck.notebooks.submission import parse_submission
from clearcheck.worker.call_request import CallRequest
from clearcheck.worker.frames import read_frame, write_frame
from clearcheck.worker.guarded_call import call_named, exception_reply, run_guarded
from clearcheck.worker.limits import limit_this_process
from clearcheck.worker.time_limit import TimeLimit


def main(request_pipe: int, reply_pipe: int):
    requests, replies = _private_channel(request_pipe, reply_pipe)
    namespace = _notebook_namespace()
    random.seed()
    np.random.seed()  # each worker its own, although all are forked from one process
    asked = read_frame(requests)
    for module in asked["preload"]:  # a server has them already
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    sys.meta_path.insert(0, _NotOffered(asked["hidden"]))
    limit_this_process(**asked["limits"])
    opened = _opened_packages()
    write_frame(replies, {"kind": "ready", "computed": time.thread_time()})
    while (request := read_frame(requests)) is not None:
        try:
            reply = _OPERATIONS[request["op"]](namespace, request)
        except KeyboardInterrupt as error:  # the parent never sends one: the learner's code raised it
            reply = exception_reply(error, namespace)
        try:
            told = {"opened": list(opened), "computed": time.thread_time(), "token": request["token"]}
            write_frame(replies, {**reply, **told})
            opened.clear()
        except (OSError, ValueError):
            os._exit(1)


class _NotOffered(importlib.abc.MetaPathFinder):
    """Says of an import that the exercise does not offer the package, which in a sandbox has no files either."""

    def __init__(self, packages: list[str]):
        self.packages = packages

    def find_spec(self, name: str, path, target=None):
        """Raises: ImportError, unless it is only asked whether the package is there, as a cell asks that installs."""
        package = name.partition(".")[0]
        if package in self.packages:
            if sys._getframe(2).f_code is importlib.util.find_spec.__code__:
                return importlib.machinery.ModuleSpec(name, None)
            raise ImportError(f"this exercise is done without {package}, and the grader does not offer it", name=name)


def _opened_packages() -> set[str]:
    """Filled with each package of which a file is opened from now on: what has been imported can be hidden, in parts of
    a name and by taking it out of `sys.modules` again.
    """
    roots = sorted((os.path.join(os.path.abspath(folder), "") for folder in sys.path if folder), key=len, reverse=True)
    opened: set[str] = set()

    def note(event: str, args: tuple):
        if event == "open" and type(args[0]) is str:
            path = os.path.abspath(args[0])
            root = next((root for root in roots if path.startswith(root)), path)
            package = path.removeprefix(root).partition(os.sep)[0]
            if package and os.path.isdir(root + package):
                opened.add(package)

    sys.addaudithook(note)
    return opened


_file = bytearray()  # of the notebook, as far as it has come
_sources: list[str] = []  # of the cells that have run


def _take(namespace: dict, request: dict) -> dict:
    _file.extend(request["data"])
    return {"kind": "done"}


def _read(namespace: dict, request: dict) -> dict:
    """The notebook's cells; of kind "refused", with a sentence, where the file is none."""

    def parse() -> dict:
        try:
            found = parse_submission(bytes(_file), request["name"])
        except NotANotebook as refused:
            return {"kind": "refused", "text": str(refused)}
        return {"kind": "read", "submission": found.as_plain()}

    return run_guarded(parse, request["seconds"], None, request["net"])


def _run_cell(namespace: dict, request: dict) -> dict:
    """Run a cell; where it was stopped, the reply says "at" which line, and `_define_below` goes on from there."""
    name, source = f"<code cell {request['number']}>", request["source"]
    _sources.append(source)
    # Registered so that a message can quote the learner's line.
    linecache.cache[name] = (len(source), None, [f"{line}\n" for line in lines_of(source)], name)
    at = sys.maxsize

    def run() -> dict:
        nonlocal at
        code = _compile_cell(source, name)
        try:
            _execute(code, namespace)
        except TimeLimit as late:
            at = _line_in(code, late)
            raise
        except BaseException as error:
            _define(namespace, name, definitions_below(source, _line_in(code, error)))
            raise
        return {"kind": "done"}

    reply = run_guarded(run, request["seconds"], namespace, request["net"])
    return {**reply, "at": at} if reply["kind"] == "time" else reply


def _define_below(namespace: dict, request: dict) -> dict:
    """The definitions of a cell below the line in which it was stopped, under a time limit of their own."""

    def define() -> dict:
        name = f"<code cell {request['number']}>"
        _define(namespace, name, definitions_below(request["source"], request["line"], again=False))
        return {"kind": "done"}

    return run_guarded(define, request["seconds"], namespace, request["net"])


def _define(namespace: dict, name: str, parts: Iterable[ast.Module]):
    for part in parts:
        with contextlib.suppress(Exception):
            _execute(_compile_cell(part, name), namespace)


def _compile_cell(source: str | ast.Module, name: str) -> types.CodeType:
    return compile(source, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def _execute(code: types.CodeType, namespace: dict):
    if (awaiting := eval(code, namespace)) is not None:  # what stands outside a function may be awaited, as in Jupyter
        import asyncio  # few need it, and it takes long

        asyncio.run(awaiting)


def _line_in(code: types.CodeType, error: BaseException) -> int:
    """The line of a cell in which it raised; one below all of them where it had not begun."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is not code:
        trace = trace.tb_next
    return sys.maxsize if trace is None else trace.tb_lineno


def _call(namespace: dict, request: dict) -> dict:
    return call_named(namespace, CallRequest(**request["asked"]), bytes(request["args"]), "\n".join(_sources))


def _loaded_modules(namespace: dict, request: dict) -> dict:
    """Which of the modules that are watched the code has loaded, by whatever means."""
    return {"kind": "loaded", "modules": [name for name in request["watched"] if name in sys.modules]}


_OPERATIONS = {
    "take": _take,
    "read": _read,
    "cell": _run_cell,
    "define below": _define_below,
    "call": _call,
    "loaded": _loaded_modules,
}


def _private_channel(request_pipe: int, reply_pipe: int):
    """Move the two pipes to new descriptors and point 0, 1 and 2 at nothing, so that printing cannot disturb them."""
    requests, replies = os.fdopen(os.dup(request_pipe), "rb"), os.fdopen(os.dup(reply_pipe), "wb")
    for descriptor in {request_pipe, reply_pipe} - {0, 1}:
        os.close(descriptor)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    return requests, replies


class _Jupyter:
    """What `get_ipython()` gives a cell: no method of it does anything."""

    def __getattr__(self, name: str):
        return lambda *args, **kwargs: None


def _notebook_namespace() -> dict:
    """A fresh `__main__`, with the names that a notebook gives for free and checks that do nothing."""
    stub = types.ModuleType("clearcheck.notebook")
    for name in ("bring", "case", "check", "exercise", "hint", "progress", "reset"):
        setattr(stub, name, lambda *args, **kwargs: None)
    sys.modules["clearcheck.notebook"] = sys.modules["clearcheck"].notebook = stub
    main_module = types.ModuleType("__main__")
    main_module.__builtins__ = builtins
    main_module.display = lambda *args, **kwargs: None
    main_module.get_ipython = _Jupyter
    sys.modules["__main__"] = main_module
    return vars(main_module)
