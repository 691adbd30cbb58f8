"""The command line, `python -m clearcheck grade | report | reset | release | prove`: commands, then their words."""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from clearcheck.instructor.grade import VERSION, grade
from clearcheck.instructor.one_file import EXPLAINED
from clearcheck.notebooks.shown import shown

CLASS_OPTIONS = ("csv", "results", "jobs", "hand", "replace", "name_pattern", "executor", "container")
GO_ON = "Stopped: what is graded is kept, and the same command goes on."
NOTHING_KEPT = "Stopped: with --results FOLDER the same command could go on."


def main(argv: list[str] | None = None) -> int:
    if argv is None:  # called from a terminal: one without ✓ or – shows an escape instead of ending the command
        sys.stdout.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(argv)
    try:
        code = options.command(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _grade(options) -> int:
    [file, *more] = options.files
    if more or file.is_dir() or any(getattr(options, name) for name in CLASS_OPTIONS):
        return _grade_many(options)
    try:
        result = grade(file, options.exercise, options.seed)
    except EXPLAINED as error:
        return _fail(shown(str(error)), str(file) if options.json else None)
    print(json.dumps(result.as_json(), indent=2) if options.json else result.as_text())
    return 0


def _grade_many(options) -> int:
    """A line for each notebook; all get the same inputs, and a broken one stops none."""
    from clearcheck.instructor.batch import grade_many
    from clearcheck.instructor.container import NoContainer
    from clearcheck.instructor.hand import HandProblem
    from clearcheck.instructor.journal import JournalProblem
    from clearcheck.instructor.learners import BadPattern
    from clearcheck.instructor.pool import RunStopped

    if options.hand and not options.results:
        return _fail("--hand adds points to the folder of results: name one with --results.")
    try:
        return grade_many(options, lambda sentence: print(sentence, file=sys.stderr))
    except KeyboardInterrupt:
        print(GO_ON if options.results else NOTHING_KEPT, file=sys.stderr)
        return 130
    except BrokenPipeError:
        raise
    except (*EXPLAINED, BadPattern, HandProblem, JournalProblem, NoContainer, RunStopped) as error:
        return _fail(shown(str(error)), str(options.files[0]) if options.json else None)
    except OSError as error:
        return _fail(f"{shown(str(error.filename or options.csv))} cannot be written ({error.strerror or error}).")


def _report(options) -> int:
    from clearcheck.files import write_whole
    from clearcheck.instructor.course_report import grade_course
    from clearcheck.instructor.summary_page import summary_html

    def tell(text: str):
        if sys.stderr.isatty():
            print(text, file=sys.stderr)

    try:
        course = grade_course(options.folder, options.seed, tell)
    except EXPLAINED as error:
        return _fail(str(error), str(options.folder or "exercises") if options.json else None)
    print(json.dumps(course.as_json(), indent=2) if options.json else course.as_text())
    if options.page:
        try:
            write_whole(options.page, summary_html(course, options.name).encode("utf-8", "replace"))
        except OSError as error:
            return _fail(f"{options.page} cannot be written ({error.strerror or error}).")
        print(f"Written: {options.page}", file=sys.stderr if options.json else sys.stdout)
    return 2 if course.broken else 0


def _reset(options) -> int:
    from clearcheck.learner.reset import ResetProblem, reset_in_file

    try:
        print(reset_in_file(options.file, options.question, options.exercise))
    except (*EXPLAINED, ResetProblem) as error:
        return _fail(str(error))
    return 0


def _release(options) -> int:
    from clearcheck.author.release import release

    try:
        print(f"Written: {release(options.source, options.target)}")
    except EXPLAINED as error:
        return _fail(str(error))
    except OSError as error:
        target = options.target or error.filename or options.source
        cannot = f"{target} cannot be written ({error.strerror or error})"
        return _fail(f"{cannot}: name a notebook to write, in a folder that exists and that you may write to.")
    return 0


def _prove(options) -> int:
    from clearcheck.proof.page import page, told

    try:
        proven = partial(told, draws=options.draws) if options.draws else told
        if len(options.slugs) == 1:
            proofs = [proven(options.slugs[0])]
        else:
            with ProcessPoolExecutor() as pool:
                proofs = list(pool.map(proven, options.slugs))
    except EXPLAINED as error:
        return _fail(str(error))
    if options.page:
        options.page.write_text(page(proofs), encoding="utf-8")
        print(f"Written: {options.page}")
    for proof in proofs:
        print("\n".join([*proof.errors, proof.summary]))
    return 1 if any(proof.errors for proof in proofs) else 0


def _fail(sentence: str, file: str | None = None) -> int:
    if file is not None:
        print(json.dumps({"version": VERSION, "file": file, "error": sentence}, indent=2))
    else:
        print(sentence, file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m clearcheck", description="Grade exercise notebooks.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_grade, _add_report, _add_reset, _add_release, _add_prove):
        add(commands)
    return parser


def _add_grade(commands):
    one = commands.add_parser("grade", help="grade one notebook, or many")
    one.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a notebook (.ipynb), or a folder of them")
    one.add_argument("--json", action="store_true", help="print one JSON object; of several files, one on each line")
    one.add_argument("--csv", type=_ending(".csv"), metavar="FILE", help="write a table, one row for each notebook")
    _add_seed(one)
    _add_exercise(one)
    _add_class(one.add_argument_group("a class"))
    one.set_defaults(command=_grade)


def _add_class(group):
    results = "write tables, a page for each learner and an overview; the same command goes on after it was stopped"
    names = "a regular expression with groups (?P<name>…) and (?P<id>…), searched in the path of each file"
    side = "how many files at a time (default: one for each core)"
    boxed = "grade each file in a container of its own (podman or docker), made from IMAGE"
    group.add_argument("--results", type=Path, metavar="FOLDER", help=results)
    group.add_argument("--jobs", type=_number_of("files"), metavar="N", help=side)
    group.add_argument(
        "--hand", type=Path, metavar="FILE", help="a table (.csv) of points that people gave, to be added"
    )
    group.add_argument("--replace", action="store_true", help="drop the learners of FOLDER who are not among the files")
    group.add_argument("--name-pattern", type=_pattern, metavar="REGEX", help=f"whose file it is: {names}")
    group.add_argument("--executor", type=_cluster, metavar="dask://HOST:PORT", help="grade on a cluster of dask")
    group.add_argument("--container", nargs="?", const="clearcheck-grader", metavar="IMAGE", help=boxed)


def _add_report(commands):
    report = commands.add_parser("report", help="grade every exercise in a folder and sum up")
    where = "with your notebooks (default: the course's exercises)"
    report.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help=where)
    report.add_argument("--json", action="store_true", help="print one JSON object")
    report.add_argument("--page", type=_ending(".html"), metavar="FILE", help="write a page to keep or to print")
    report.add_argument("--name", default="", help="the name that stands on that page")
    _add_seed(report)
    report.set_defaults(command=_report)


def _add_reset(commands):
    reset = commands.add_parser("reset", help="put the answer cell of one question back as it was released")
    reset.add_argument("file", type=Path, metavar="FILE", help="the notebook to change (.ipynb)")
    reset.add_argument("question", metavar="QUESTION", help='its name, as in check("…")')
    _add_exercise(reset)
    reset.set_defaults(command=_reset)


def _add_release(commands):
    made = commands.add_parser("release", help="make the learner's notebook from its authoring source")
    made.add_argument("source", help="the source notebook, or the name of an exercise")
    made.add_argument("target", nargs="?", type=Path, help="the notebook to write (default: exercises/NAME.ipynb)")
    made.set_defaults(command=_release)


def _add_prove(commands):
    proof = commands.add_parser("prove", help="show that the grader tells right from wrong solutions")
    proof.add_argument("slugs", nargs="+", metavar="SLUG", help="the name of an exercise")
    proof.add_argument("--page", type=Path, metavar="FILE", help="write the result as a page of the book")
    draws = "grade with N draws of the arguments (default: 2), wrong modules and trainings with the first alone"
    proof.add_argument("--draws", type=_number_of("draws"), metavar="N", help=draws)
    proof.set_defaults(command=_prove)


def _add_seed(command):
    command.add_argument("--seed", type=_seed, help="draw the arguments from this seed (default: a fresh one)")


def _add_exercise(command):
    command.add_argument("--exercise", metavar="SLUG", help="which exercise it answers (default: the notebook says)")


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no seed: a whole number from 0 on is expected")
    return int(text)


def _number_of(what: str) -> Callable[[str], int]:
    def check(text: str) -> int:
        if not text.isdecimal() or not int(text):
            raise argparse.ArgumentTypeError(f"{text!r} is no number of {what}: a whole number from 1 on is expected")
        return int(text)

    return check


def _pattern(text: str) -> re.Pattern:
    from clearcheck.instructor.learners import BadPattern, name_pattern

    try:
        return name_pattern(text)
    except BadPattern as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _cluster(text: str) -> str:
    if not re.fullmatch(r"dask://[^/]+:\d+", text):
        raise argparse.ArgumentTypeError(f"{text!r} names no cluster: dask://HOST:PORT of its scheduler is expected")
    return text


def _ending(suffix: str) -> Callable[[str], Path]:
    """A file to write: under this ending alone, so that a slip cannot replace a notebook."""

    def path(text: str) -> Path:
        if Path(text).suffix != suffix:
            raise argparse.ArgumentTypeError(f"{text!r}: the name of a file that ends in {suffix} is expected")
        if not Path(text).resolve().parent.is_dir():
            raise argparse.ArgumentTypeError(f"{text!r}: there is no folder {Path(text).parent}")
        return Path(text)

    return path
