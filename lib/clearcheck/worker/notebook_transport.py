"""Ask a learner's functions from their own notebook.

On Linux a process is copied with all that it holds, at once. A loop that swallows every exception, or one long call in
C, then ends with its copy; whatever the call changes, breaks or fills stays there. Elsewhere such a copy is not safe,
and the functions are asked in the kernel itself, under `time_limit` alone.
"""

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from clearcheck.worker import system
from clearcheck.worker.call_request import CallRequest, modules_to_import
from clearcheck.worker.guarded_call import call_named, exception_reply


@contextlib.contextmanager
def namespace_transport(namespace: dict, how: str) -> Iterator[Callable[[CallRequest, bytes], dict]]:
    """A transport for `evaluate` that calls what stands in the namespace, in a copy of this process where there can be
    one: as it is now, whatever the calls do to it. `how` the functions are driven says what is imported before.
    """
    if not system.COPIES:
        yield partial(call_named, namespace)
        return
    from clearcheck.worker.process_copy import ProcessCopy

    for module in modules_to_import([how]) if "torch" in sys.modules else ():  # else no answer can have been written
        importlib.import_module(module)

    def answer(message: dict) -> dict:
        try:
            return call_named(namespace, CallRequest(**message["asked"]), bytes(message["args"]))
        except KeyboardInterrupt as error:  # no key was pressed here: the learner's code raised it
            return exception_reply(error, namespace)

    copy = ProcessCopy(answer)

    def call(asked: CallRequest, packed: bytes) -> dict:
        if asked.name not in namespace:
            return {"kind": "missing"}
        message = {"asked": vars(asked), "args": np.frombuffer(packed, np.uint8)}
        return copy.ask(message, asked.seconds, asked.seconds * asked.net)

    try:
        yield call
    finally:
        copy.close()
