"""Runs a program and gives back its exit code, however it and this process are ended.

Written for Python 3.6, like everything that tools/run.py needs before it has found a newer one.
"""

import signal
import subprocess
from contextlib import contextmanager


def call(command, **options):
    """Run a program to its end; return its exit code, as a shell counts it: 128 and the signal for one that was ended.

    Ctrl-C reaches the program itself, which may ask back, tidy up or go on; here it is only waited for. An order to end
    comes to this process alone, and is handed on.
    """
    children: list = []
    orders: list = []

    def hand_on(number, frame):
        orders.append(number)
        for child in children:
            child.terminate()

    with answering(hand_on):
        children.append(subprocess.Popen([str(word) for word in command], **options))
        code = children[0].wait()
    if orders:
        return 128 + orders[0]
    return code if code >= 0 else 128 - code


@contextmanager
def answering(hand_on):
    """Meanwhile Ctrl-C does nothing here, and an order to end calls `hand_on`; what is ignored stays ignored."""
    changed = []
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        usual, answer = (signal.default_int_handler, wait) if name == "SIGINT" else (signal.SIG_DFL, hand_on)
        if number is not None and signal.getsignal(number) == usual:
            changed.append((number, signal.signal(number, answer)))
    try:
        yield
    finally:
        for number, before in changed:
            signal.signal(number, before)


def wait(number, frame):
    """Go on waiting for the program, which has had the same signal."""
