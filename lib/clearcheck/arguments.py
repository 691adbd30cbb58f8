"""What a learner and an instructor may type after `python -m clearcheck`."""

import argparse
from collections.abc import Callable
from pathlib import Path


def add_grade(commands, run: Callable):
    one = commands.add_parser("grade", help="grade one notebook, or many")
    one.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a notebook (.ipynb), or a folder of them")
    one.add_argument("--json", action="store_true", help="print one JSON object; of several files, one on each line")
    one.add_argument("--csv", type=_ending(".csv"), metavar="FILE", help="write a table, one row for each notebook")
    _add_seed(one)
    _add_exercise(one)
    one.set_defaults(command=run)


def add_report(commands, run: Callable):
    report = commands.add_parser("report", help="grade every exercise in a folder and sum up")
    report.add_argument(
        "folder", nargs="?", type=Path, metavar="FOLDER", help="with your notebooks (default: the course's exercises)"
    )
    report.add_argument("--json", action="store_true", help="print one JSON object")
    report.add_argument("--page", type=_ending(".html"), metavar="FILE", help="write a page to keep or to print")
    report.add_argument("--name", default="", help="the name that stands on that page")
    _add_seed(report)
    report.set_defaults(command=run)


def add_reset(commands, run: Callable):
    reset = commands.add_parser("reset", help="put the answer cell of one question back as it was released")
    reset.add_argument("file", type=Path, metavar="FILE", help="the notebook to change (.ipynb)")
    reset.add_argument("question", metavar="QUESTION", help='its name, as in check("…")')
    _add_exercise(reset)
    reset.set_defaults(command=run)


def _add_seed(command):
    command.add_argument("--seed", type=_seed, help="draw the arguments from this seed (default: a fresh one)")


def _add_exercise(command):
    command.add_argument("--exercise", metavar="SLUG", help="which exercise it answers (default: the notebook says)")


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no seed: a whole number from 0 on is expected")
    return int(text)


def _ending(suffix: str) -> Callable[[str], Path]:
    """A file to write: under this ending alone, so that a slip cannot replace a notebook."""

    def path(text: str) -> Path:
        if Path(text).suffix != suffix:
            raise argparse.ArgumentTypeError(f"{text!r}: the name of a file that ends in {suffix} is expected")
        if not Path(text).resolve().parent.is_dir():
            raise argparse.ArgumentTypeError(f"{text!r}: there is no folder {Path(text).parent}")
        return Path(text)

    return path
