"""The command line: `python -m clearcheck grade | report | reset | release | prove`."""

import argparse
import json
import os
import sys
from pathlib import Path

from clearcheck.arguments import add_grade, add_report, add_reset
from clearcheck.grade import VERSION, draw_seed, grade
from clearcheck.loading import AuthoringError, ExerciseNotFound
from clearcheck.sandbox import SandboxError
from clearcheck.submission import NotANotebook

FAULTS = (NotANotebook, ExerciseNotFound, SandboxError, AuthoringError)


def main(argv: list[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    try:
        code = options.command(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _grade(options) -> int:
    if len(options.files) > 1 or options.csv or options.files[0].is_dir():
        return _grade_many(options)
    [file] = options.files
    try:
        result = grade(file, options.exercise, options.seed)
    except FAULTS as error:
        return _fail(str(error), str(file) if options.json else None)
    print(json.dumps(result.as_json(), indent=2) if options.json else result.as_text())
    return 0


def _grade_many(options) -> int:
    """A line for each notebook; all get the same inputs, and a broken one stops none."""
    from clearcheck.many import Outcome, notebooks, write_csv

    seed, outcomes = draw_seed(options.seed), []
    try:
        for file in notebooks(options.files):
            try:
                outcomes.append(Outcome(str(file), grade(file, options.exercise, seed)))
            except FAULTS as error:
                outcomes.append(Outcome(str(file), error=str(error)))
            print(outcomes[-1].as_line(options.json), flush=True)
            if options.csv:
                write_csv(options.csv, outcomes)  # each time, so that a run that is stopped leaves what it has
    except NotANotebook as error:
        return _fail(str(error), str(options.files[0]) if options.json else None)
    except OSError as error:
        return _fail(f"{options.csv} cannot be written ({error.strerror}).")
    return 2 if any(outcome.error for outcome in outcomes) else 0


def _report(options) -> int:
    from clearcheck.course import grade_course
    from clearcheck.files import write_whole
    from clearcheck.summarypage import page

    def tell(text: str):
        if sys.stderr.isatty():
            print(text, file=sys.stderr)

    try:
        course = grade_course(options.folder, options.seed, tell)
    except FAULTS as error:
        return _fail(str(error), str(options.folder or "exercises") if options.json else None)
    print(json.dumps(course.as_json(), indent=2) if options.json else course.as_text())
    if options.page:
        try:
            write_whole(options.page, page(course, options.name).encode("utf-8", "replace"))
        except OSError as error:
            return _fail(f"{options.page} cannot be written ({error.strerror}).")
        print(f"Written: {options.page}", file=sys.stderr if options.json else sys.stdout)
    return 2 if course.broken else 0


def _reset(options) -> int:
    from clearcheck.reset import ResetProblem, reset_in_file

    try:
        print(reset_in_file(options.file, options.question, options.exercise))
    except (*FAULTS, ResetProblem) as error:
        return _fail(str(error))
    return 0


def _release(options) -> int:
    from clearcheck.release import release

    try:
        print(f"Written: {release(options.source, options.target)}")
    except FAULTS as error:
        return _fail(str(error))
    return 0


def _prove(options) -> int:
    from clearcheck.proofpage import page
    from clearcheck.prove import prove

    try:
        proofs = [prove(slug) for slug in options.slugs]
    except FAULTS as error:
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
    add_grade(commands, _grade)
    add_report(commands, _report)
    add_reset(commands, _reset)

    made = commands.add_parser("release", help="make the learner's notebook from its authoring source")
    made.add_argument("source", help="the source notebook, or the name of an exercise")
    made.add_argument("target", nargs="?", type=Path, help="the notebook to write (default: exercises/NAME.ipynb)")
    made.set_defaults(command=_release)

    proof = commands.add_parser("prove", help="show that the grader tells right from wrong solutions")
    proof.add_argument("slugs", nargs="+", metavar="SLUG", help="the name of an exercise")
    proof.add_argument("--page", type=Path, metavar="FILE", help="write the result as a page of the book")
    proof.set_defaults(command=_prove)
    return parser


if __name__ == "__main__":
    # A terminal without ✓ or – shows an escape instead of ending the command.
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
