"""Three commands, for whoever wants to see it work first: ``train FILE.txt``, ``chat FOLDER``, ``info FOLDER``.

They do nothing that the library does not: ``training_run`` reads like a program of your own.
"""

import os
import re
import sys
from importlib import import_module

from clearformer.commands.arguments import parse

STOPPED = 130  # what a shell gives a program that Ctrl-C has ended
OURS = re.compile(r"[A-Za-z][\w.-]*( [\w.-]+)?: \S")  # how a sentence of the library begins: who says it


def main(words: list[str] | None = None) -> int:
    """Run one command; 0 if it did what it was asked for, 1 with a sentence if not, 130 if it was stopped."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter shows an escape instead
    options = parse(words)
    try:
        code = import_module(f"clearformer.commands.{MODULES[options.command]}").run(options)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print(f"\n{options.command}: stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ArithmeticError, ImportError, MemoryError, OSError, TypeError, ValueError, RuntimeError) as error:
        if isinstance(error, TypeError | RuntimeError) and not OURS.match(str(error)):
            raise  # a mistake in this program, whose place should be seen
        print(_sentence(options.command, error), file=sys.stderr)
        return 1


MODULES = {"train": "training_run", "chat": "conversation", "info": "description"}


def _sentence(command: str, error: Exception) -> str:
    said = str(error) or type(error).__name__
    return said if OURS.match(said) else f"{command}: {said}"
