"""The one entry point, on every system: python tools/run.py TARGET [ARGUMENTS ...]. The Makefile only calls it.

Any Python from 3.6 on can start this file, from any folder. It imports nothing of ours: it runs `tools.setup.start` in
the folder of the course, where Python finds the package `tools`. Those that run programs in turn take `call` from here.
"""

import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path


def main(words):
    return call([sys.executable, "-m", "tools.setup.start", *words], cwd=str(Path(__file__).resolve().parent.parent))


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

    with forward_signals(hand_on):
        children.append(subprocess.Popen([str(word) for word in command], **options))
        code = children[0].wait()
    if orders:
        return 128 + orders[0]
    return code if code >= 0 else 128 - code


@contextmanager
def forward_signals(hand_on):
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


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
