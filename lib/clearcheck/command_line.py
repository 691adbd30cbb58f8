"""What the commands of the grader share: how their arguments are read, how they fail, and how their output may end."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from clearcheck.report.grade import VERSION


def run_to_the_end(command: Callable[[], int]) -> int:
    """The exit code of a command; 1 where its output is read no further."""
    try:
        code = command()
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def words_of(argv: list[str] | None) -> list[str]:
    """What was typed behind the name of the program, where it is not given."""
    if argv is not None:
        return argv
    sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without ✓ or – shows an escape instead
    return sys.argv[1:]


def fail(sentence: str, file: str | None = None) -> int:
    """Say why there is no result, as JSON where a file is named."""
    if file is not None:
        print(json.dumps({"version": VERSION, "file": file, "error": sentence}, indent=2))
    else:
        print(sentence, file=sys.stderr)
    return 2


def add_seed(command):
    command.add_argument("--seed", type=seed, help="draw the arguments from this seed (default: a fresh one)")


def add_exercise(command):
    command.add_argument("--exercise", metavar="SLUG", help="which exercise it answers (default: the notebook says)")


def seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no seed: a whole number from 0 on is expected")
    return int(text)


def number_of(what: str) -> Callable[[str], int]:
    def check(text: str) -> int:
        if not text.isdecimal() or not int(text):
            raise argparse.ArgumentTypeError(f"{text!r} is no number of {what}: a whole number from 1 on is expected")
        return int(text)

    return check


def path_ending_in(suffix: str) -> Callable[[str], Path]:
    """A file to write: under this ending alone, so that a slip cannot replace a notebook."""

    def path(text: str) -> Path:
        if Path(text).suffix != suffix:
            raise argparse.ArgumentTypeError(f"{text!r}: the name of a file that ends in {suffix} is expected")
        if not Path(text).resolve().parent.is_dir():
            raise argparse.ArgumentTypeError(f"{text!r}: there is no folder {Path(text).parent}")
        return Path(text)

    return path
