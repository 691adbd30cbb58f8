"""The command line: `python -m clearcheck grade | release | prove`."""

import argparse
import json
import os
import sys
from pathlib import Path

from clearcheck.grade import VERSION, grade
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
    try:
        result = grade(options.file, options.exercise, options.seed)
    except FAULTS as error:
        return _fail(str(error), str(options.file) if options.json else None)
    print(json.dumps(result.as_json(), indent=2) if options.json else result.as_text())
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

    one = commands.add_parser("grade", help="grade one notebook")
    one.add_argument("file", type=Path, metavar="FILE", help="the notebook to grade (.ipynb)")
    one.add_argument("--json", action="store_true", help="print one JSON object")
    one.add_argument("--seed", type=_seed, help="draw the arguments from this seed (default: a fresh one)")
    one.add_argument("--exercise", metavar="SLUG", help="which exercise it answers (default: the notebook says)")
    one.set_defaults(command=_grade)

    made = commands.add_parser("release", help="make the learner's notebook from its authoring source")
    made.add_argument("source", help="the source notebook, or the name of an exercise")
    made.add_argument("target", nargs="?", type=Path, help="the notebook to write (default: exercises/NAME.ipynb)")
    made.set_defaults(command=_release)

    proof = commands.add_parser("prove", help="show that the grader tells right from wrong solutions")
    proof.add_argument("slugs", nargs="+", metavar="SLUG", help="the name of an exercise")
    proof.add_argument("--page", type=Path, metavar="FILE", help="write the result as a page of the book")
    proof.set_defaults(command=_prove)
    return parser


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no seed: a whole number from 0 on is expected")
    return int(text)


if __name__ == "__main__":
    # A terminal without ✓ or – shows an escape instead of ending the command.
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main())
