"""The child process that runs a learner's notebook: it knows no check, no seed and no expected value.

It reads requests and writes replies, both `values.pack`ed dicts, on private copies of its standard input and output.
"""

import builtins
import contextlib
import linecache
import os
import sys
import types

from clearcheck.calls import call_named, guarded, raised
from clearcheck.channel import read_frame, write_frame


def main():
    requests, replies = _private_channel()
    namespace = _notebook_namespace()
    _limit_resources(read_frame(requests))
    write_frame(replies, {"kind": "ready"})
    while (request := read_frame(requests)) is not None:
        try:
            reply = _OPERATIONS[request["op"]](namespace, request)
        except KeyboardInterrupt as error:  # the parent never sends one: the learner's code raised it
            reply = raised(error, namespace)
        try:
            write_frame(replies, {**reply, "token": request["token"]})
        except (OSError, ValueError):
            os._exit(1)


def _run_cell(namespace: dict, request: dict) -> dict:
    number, source = request["number"], request["source"]
    name = f"<code cell {number}>"
    # Registered so that a message can quote the learner's line.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)

    def run() -> dict:
        exec(compile(source, name, "exec", dont_inherit=True), namespace)
        return {"kind": "done"}

    return guarded(run, request["seconds"], namespace)


def _call(namespace: dict, request: dict) -> dict:
    return call_named(namespace, request["name"], bytes(request["args"]), request["seconds"])


_OPERATIONS = {"cell": _run_cell, "call": _call}


def _private_channel():
    """Move the two pipes to new descriptors and point 0, 1 and 2 at nothing, so that printing cannot disturb them."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    return requests, replies


def _notebook_namespace() -> dict:
    """A fresh `__main__`, with the names that a notebook gives for free and checks that do nothing."""
    stub = types.ModuleType("clearcheck.notebook")
    for name in ("bring", "check", "exercise", "hint", "progress", "reset"):
        setattr(stub, name, lambda *args, **kwargs: None)
    sys.modules["clearcheck.notebook"] = sys.modules["clearcheck"].notebook = stub
    main_module = types.ModuleType("__main__")
    main_module.__builtins__ = builtins
    main_module.display = lambda *args, **kwargs: None
    sys.modules["__main__"] = main_module
    return vars(main_module)


def _limit_resources(limits: dict):
    """Each limit where the system knows it; the parent's clock holds on every system."""
    try:
        import resource
    except ImportError:  # Windows
        return
    memory = limits["memory"]
    wanted = {
        "RLIMIT_DATA": memory,
        # Libraries map files far larger than they use, so addresses are limited more loosely than data.
        "RLIMIT_AS": 2 * memory + _mapped_bytes(),
        "RLIMIT_FSIZE": limits["file"],
        "RLIMIT_CPU": limits["cpu"],
        "RLIMIT_CORE": 0,
    }
    for name, value in wanted.items():
        with contextlib.suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (value, value))


def _mapped_bytes() -> int:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


if __name__ == "__main__":
    main()
