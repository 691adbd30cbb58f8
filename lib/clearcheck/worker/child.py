"""The child process that runs a learner's notebook: it knows no check, no seed and no expected value.

It reads requests and writes replies, both `values.pack`ed dicts, on private copies of two pipes. The first request
carries the bytes of the notebook, which are parsed here, where a file that is meant to do harm does none.
"""

import ast
import builtins
import contextlib
import linecache
import os
import random
import sys
import types

import numpy as np

from clearcheck.notebooks.cells import definitions_below, lines_of
from clearcheck.notebooks.file import NotANotebook
from clearcheck.notebooks.submission import parse_submission
from clearcheck.worker.asked import Asked
from clearcheck.worker.frames import read_frame, write_frame
from clearcheck.worker.guarded_call import call_named, guarded, raised
from clearcheck.worker.limits import TimeLimit, limit_this_process


def main(request_pipe: int, reply_pipe: int):
    requests, replies = _private_channel(request_pipe, reply_pipe)
    namespace = _notebook_namespace()
    random.seed()
    np.random.seed()  # each worker its own, although all are forked from one process
    limit_this_process(**read_frame(requests))
    opened = _opened_packages()
    write_frame(replies, {"kind": "ready"})
    while (request := read_frame(requests)) is not None:
        try:
            reply = _OPERATIONS[request["op"]](namespace, request)
        except KeyboardInterrupt as error:  # the parent never sends one: the learner's code raised it
            reply = raised(error, namespace)
        try:
            write_frame(replies, {**reply, "opened": list(opened), "token": request["token"]})
            opened.clear()
        except (OSError, ValueError):
            os._exit(1)


def _opened_packages() -> set[str]:
    """Filled with each package of which a file is opened from now on: what has been imported can be hidden, in parts of
    a name and by taking it out of `sys.modules` again.
    """
    roots = sorted((f"{folder}{os.sep}" for folder in sys.path if folder), key=len, reverse=True)
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

    return guarded(parse, request["seconds"], None)


def _run_cell(namespace: dict, request: dict) -> dict:
    number, source = request["number"], request["source"]
    name = f"<code cell {number}>"
    # Registered so that a message can quote the learner's line.
    linecache.cache[name] = (len(source), None, [f"{line}\n" for line in lines_of(source)], name)

    def compiled(part: str | ast.Module) -> types.CodeType:
        return compile(part, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)

    def run() -> dict:
        code = compiled(source)
        try:
            _execute(code, namespace)
        except TimeLimit:
            raise
        except BaseException as error:
            for part in definitions_below(source, _line_in(code, error)):
                with contextlib.suppress(Exception):
                    _execute(compiled(part), namespace)
            raise
        return {"kind": "done"}

    return guarded(run, request["seconds"], namespace)


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
    return call_named(namespace, Asked(**request["asked"]), bytes(request["args"]))


def _loaded(namespace: dict, request: dict) -> dict:
    """Which of the modules that are watched the code has loaded, by whatever means."""
    return {"kind": "loaded", "modules": [name for name in request["watched"] if name in sys.modules]}


_OPERATIONS = {"take": _take, "read": _read, "cell": _run_cell, "call": _call, "loaded": _loaded}


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
