"""The command line, `clearcheck grade | report | reset | release | lint | prove | mutate`: first what they do."""

import argparse
import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NoReturn

from clearcheck.command_line import add_exercise, add_seed, fail, number_of, path_ending_in, run_to_the_end, words_of
from clearcheck.notebooks.escaping import one_line
from clearcheck.report.grade import grade
from clearcheck.report.no_grade import EXPLAINED

PROGRAM = "python -m clearcheck"
NO_CLASS = (
    "Several notebooks, a folder and the options of a class are for the package clearclass, which is not installed "
    f"here: install it beside clearcheck, or grade one notebook, as {PROGRAM} grade --help says."
)


def main(argv: list[str] | None = None) -> int:
    words = words_of(argv)
    return run_to_the_end(lambda: _run(words))


def _run(words: list[str]) -> int:
    parser = _parser()
    options, unknown = parser.parse_known_args(words)
    if options.command is _grade and (unknown or len(options.files) > 1 or options.files[0].is_dir()):
        return _grade_class(words, str(options.files[0]) if options.json else None)
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return options.command(options)


def _grade(options) -> int:
    [file] = options.files
    try:
        result = grade(file, options.exercise, options.seed)
    except EXPLAINED as error:
        return fail(one_line(str(error)), str(file) if options.json else None)
    print(json.dumps(result.as_json(), indent=2) if options.json else result.as_text())
    return 0


def _grade_class(words: list[str], file: str | None) -> int:
    """More than one notebook, or an option that one does not have: the one place where clearcheck asks clearclass."""
    try:
        from clearclass import cli
    except ModuleNotFoundError as error:
        if error.name != "clearclass":
            raise
        return fail(NO_CLASS, file)
    return cli.run_command(words, PROGRAM)


def _report(options) -> int:
    from clearcheck.files import write_whole
    from clearcheck.report.course import grade_course
    from clearcheck.report.page import summary_html

    def tell(text: str):
        if sys.stderr.isatty():
            print(text, file=sys.stderr)

    try:
        course = grade_course(options.folder, options.seed, tell)
    except EXPLAINED as error:
        return fail(str(error), str(options.folder or "exercises") if options.json else None)
    print(json.dumps(course.as_json(), indent=2) if options.json else course.as_text())
    if options.page:
        try:
            write_whole(options.page, summary_html(course, options.name).encode("utf-8", "replace"))
        except OSError as error:
            return fail(f"{options.page} cannot be written ({error.strerror or error}).")
        print(f"Written: {options.page}", file=sys.stderr if options.json else sys.stdout)
    return 2 if course.broken else 0


def _reset(options) -> int:
    from clearcheck.learner.reset import ResetProblem, reset_in_file

    try:
        print(reset_in_file(options.file, options.question, options.exercise))
    except (*EXPLAINED, ResetProblem) as error:
        return fail(str(error))
    return 0


def _release(options) -> int:
    from clearcheck.author.release import release

    try:
        print(f"Written: {release(options.source, options.target)}")
    except EXPLAINED as error:
        return fail(str(error))
    except OSError as error:
        target = options.target or error.filename or options.source
        cannot = f"{target} cannot be written ({error.strerror or error})"
        return fail(f"{cannot}: name a notebook to write, in a folder that exists and that you may write to.")
    return 0


def _lint(options) -> int:
    from clearcheck.author.lint import battery_list, lint

    try:
        if options.battery:
            print("\n".join(battery_list(options.slug, options.question)))
        misfits = lint(options.slug, options.question)
    except EXPLAINED as error:
        return fail(str(error))
    print("\n".join(misfits) or f"{options.question or options.slug}: the rules are kept.")
    return 1 if misfits else 0


def _prove(options) -> int:
    from clearcheck.proof.page import proof_text
    from clearcheck.proof.prove import SEEDS

    proven = partial(proof_text, draws=options.draws or len(SEEDS), question=options.question)
    try:
        if len(options.slugs) == 1:
            proofs = [proven(options.slugs[0])]
        else:
            with ProcessPoolExecutor() as pool:
                proofs = list(pool.map(proven, options.slugs))
    except EXPLAINED as error:
        return fail(str(error))
    if options.page:
        options.page.write_text(proofs[0].page, encoding="utf-8")
        print(f"Written: {options.page}")
    for proof in proofs:
        print("\n".join([*proof.errors, proof.summary]))
    return 1 if any(proof.errors for proof in proofs) else 0


def _mutate(options) -> int:
    from clearcheck.proof.mutate import mutate

    try:
        mutation = mutate(options.slug, options.question, options.sample)
    except EXPLAINED as error:
        return fail(str(error))
    print("\n".join(mutation.lines()))
    return 1 if mutation.fails else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Grade exercise notebooks.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_grade, _add_report, _add_reset, _add_release, _add_lint, _add_prove, _add_mutate):
        add(commands)
    return parser


def _add_grade(commands):
    more = "Several notebooks, or a folder of them, have more options: python -m clearclass grade --help"
    one = commands.add_parser("grade", help="grade one notebook, or many", epilog=more)
    one.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a notebook (.ipynb), or a folder of them")
    one.add_argument("--json", action="store_true", help="print one JSON object; of several files, one on each line")
    add_seed(one)
    add_exercise(one)
    one.set_defaults(command=_grade)


def _add_report(commands):
    report = commands.add_parser("report", help="grade every exercise in a folder and sum up")
    where = "with your notebooks (default: the course's exercises)"
    report.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help=where)
    report.add_argument("--json", action="store_true", help="print one JSON object")
    report.add_argument("--page", type=path_ending_in(".html"), metavar="FILE", help="write a page to keep or to print")
    report.add_argument("--name", default="", help="the name that stands on that page")
    add_seed(report)
    report.set_defaults(command=_report)


def _add_reset(commands):
    reset = commands.add_parser("reset", help="put the answer cell of one question back as it was released")
    reset.add_argument("file", type=Path, metavar="FILE", help="the notebook to change (.ipynb)")
    reset.add_argument("question", metavar="QUESTION", help='its name, as in check("…")')
    add_exercise(reset)
    reset.set_defaults(command=_reset)


def _add_release(commands):
    made = commands.add_parser("release", help="make the learner's notebook from its authoring source")
    made.add_argument("source", help="the source notebook, or the name of an exercise")
    made.add_argument("target", nargs="?", type=Path, help="the notebook to write (default: exercises/NAME.ipynb)")
    made.set_defaults(command=_release)


def _add_lint(commands):
    rules = commands.add_parser("lint", help="tell what the checks of an exercise lack")
    rules.add_argument("slug", metavar="SLUG", help="the name of an exercise")
    _add_question(rules)
    tried = "list what the standard battery tries with each question, and why an entry is off"
    rules.add_argument("--battery", action="store_true", help=tried)
    rules.set_defaults(command=_lint)


def _add_prove(commands):
    proof = commands.add_parser("prove", help="show that the grader tells right from wrong solutions")
    proof.add_argument("slugs", nargs="+", metavar="SLUG", help="the name of an exercise")
    _add_question(proof)
    page = "write the result of one exercise as a page of Markdown"
    proof.add_argument("--page", type=path_ending_in(".md"), metavar="FILE", help=page)
    draws = "grade with N draws of the arguments (default: 2), wrong modules and trainings with the first alone"
    proof.add_argument("--draws", type=number_of("draws"), metavar="N", help=draws)
    proof.set_defaults(command=partial(_of_one_exercise, proof.error))


def _add_mutate(commands):
    mutants = commands.add_parser("mutate", help="grade the right answers of an exercise with one change each")
    mutants.add_argument("slug", metavar="SLUG", help="the name of an exercise")
    _add_question(mutants)
    sample = "grade N of the mutants, the same each time (default: all)"
    mutants.add_argument("--sample", type=number_of("mutants"), metavar="N", help=sample)
    mutants.set_defaults(command=_mutate)


def _add_question(command):
    command.add_argument("--question", metavar="QUESTION", help='this question alone, named as in check("…")')


def _of_one_exercise(refuse: Callable[[str], NoReturn], options) -> int:
    """Prove; but neither a question nor a page belongs to several exercises."""
    for option, given in (("--question", options.question), ("--page", options.page)):
        if given is not None and len(options.slugs) > 1:
            refuse(f"{option} is for one exercise: {', '.join(options.slugs)} are {len(options.slugs)}")
    return _prove(options)
