"""Ctrl-C as a wish and not as an error: what is under way comes to its end first."""

import contextlib
import os
import signal
import threading
from typing import Any

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C, a machine that is shut down, a terminal that is closed


class Interrupt:
    """While it is open, ``came`` says whether somebody wants an end; a second Ctrl-C ends at once."""

    def __init__(self, said: str):
        self.said, self.came = said, False
        self.before: dict[Any, Any] = {}

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is threading.main_thread():  # Python takes handlers there alone
            known = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
            self.before = {number: signal.signal(number, self._note) for number in known}
        return self

    def __exit__(self, *_) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _note(self, *_) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True
        with contextlib.suppress(OSError):
            os.write(2, f"\n{self.said}\n".encode())  # print may be under way, and must not be entered twice
