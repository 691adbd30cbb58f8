"""The command line, `python -m clearclass grade | hand`: the options of a class run, what is said when one stops."""

import argparse
import os
import re
import sys
from pathlib import Path

from clearcheck.command_line import (
    add_exercise,
    add_seed,
    fail,
    number_of,
    path_ending_in,
    run_to_the_end,
    words_of,
)
from clearcheck.notebooks.escaping import one_line
from clearcheck.report.no_grade import EXPLAINED

from clearclass.class_run import TRUST_VARIABLE, ClassRun
from clearclass.hand_page.command import add_hand
from clearclass.handed_in import LateRules

PROGRAM = "python -m clearclass"
GO_ON = "Stopped: what is graded is kept, and the same command goes on."
NOTHING_KEPT = "Stopped: with --results FOLDER the same command could go on."


def main(argv: list[str] | None = None) -> int:
    words = words_of(argv)
    return run_to_the_end(lambda: run_command(words))


def run_command(words: list[str], program: str = PROGRAM) -> int:
    """Do what the words ask for, which may have been typed behind the name of another program."""
    options = _parser(program).parse_args(words)
    return options.command(options)


def _grade_as_asked(options) -> int:
    if options.hand and not options.results:
        return fail("--hand adds points to the folder of results: name one with --results.")
    if options.late and not options.results and not options.dry_run:
        return fail("--late takes points off in the folder of results: name one with --results.")
    if (options.deadline or options.file_times) and not options.late:
        return fail("--deadline and --file-times are for late work: say by --late what it costs.")
    return _grade(
        ClassRun(
            files=tuple(options.files),
            exercise=options.exercise,
            seed=options.seed,
            name_pattern=options.name_pattern,
            system=options.system,
            roster=options.roster,
            late=LateRules(options.late, options.deadline, options.file_times) if options.late else None,
            seed_by_learner=options.seed_by_learner,
            dry_run=options.dry_run,
            jobs=options.jobs,
            executor=options.executor,
            container=options.container,
            trust=options.trust or bool(os.environ.get(TRUST_VARIABLE)),
            as_json=options.json,
            table=options.csv,
            results=options.results,
            replace=options.replace,
            hand=options.hand,
        )
    )


def _grade(asked: ClassRun) -> int:
    """A line for each notebook; all get the same inputs, and a broken one stops none."""
    from clearclass.batch import grade_class
    from clearclass.container import NoContainer
    from clearclass.csv_table import TableProblem
    from clearclass.journal import JournalProblem
    from clearclass.late import LateProblem
    from clearclass.learners import BadPattern, LearnersMerged
    from clearclass.one_file import NeedsTrust
    from clearclass.pool import RunStopped

    stops = BadPattern, LearnersMerged, TableProblem, LateProblem, JournalProblem, NoContainer, NeedsTrust, RunStopped
    try:
        return grade_class(asked, lambda sentence: print(sentence, file=sys.stderr))
    except KeyboardInterrupt:
        print(GO_ON if asked.results else NOTHING_KEPT, file=sys.stderr)
        return 130
    except BrokenPipeError:
        raise
    except (*EXPLAINED, *stops) as error:
        return fail(one_line(str(error)), str(asked.files[0]) if asked.as_json else None)
    except OSError as error:
        return fail(f"{one_line(str(error.filename or asked.table))} cannot be written ({error.strerror or error}).")


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description="Grade the exercise notebooks of a class.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    grade = commands.add_parser("grade", help="grade the notebooks of a class")
    grade.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a notebook (.ipynb), or a folder of them")
    _add_whose_it_is(grade)
    _add_when_it_was_due(grade)
    _add_what_is_written(grade)
    _add_how_it_is_graded(grade)
    grade.set_defaults(command=_grade_as_asked)
    add_hand(commands)
    return parser


def _add_whose_it_is(command):
    from clearclass.exports import SYSTEMS

    names = "a regular expression with groups (?P<name>…) and (?P<id>…), searched in the path of each file"
    system = "which system exported the files (default: told from their names, once for each folder)"
    roster = "a table of who is in the class, as Moodle, Canvas and Gradescope export it"
    dry = "say whose each file is, by which system's names, and grade nothing"
    command.add_argument("--name-pattern", type=_pattern, metavar="REGEX", help=f"whose file it is: {names}")
    command.add_argument("--system", choices=SYSTEMS, help=system)
    command.add_argument("--roster", type=Path, metavar="FILE.csv", help=roster)
    command.add_argument("--dry-run", action="store_true", help=dry)


def _add_when_it_was_due(command):
    late = 'what being late costs, such as "10%% a day, at most 3"'
    deadline = "when the work was due, such as 2026-11-02T23:59, where the roster does not say"
    times = "where nothing else says when a file was handed in, take the time of the file"
    command.add_argument("--late", type=_policy, metavar="POLICY", help=late)
    command.add_argument("--deadline", type=_deadline, metavar="TIME", help=deadline)
    command.add_argument("--file-times", action="store_true", help=times)


def _add_what_is_written(command):
    results = "write tables, a page for each learner and an overview; the same command goes on after it was stopped"
    replace = "drop the learners of FOLDER who are not among the files"
    hand = "a table (.csv) of points that people gave, to be added"
    command.add_argument("--json", action="store_true", help="print a JSON object for each file, each on a line")
    command.add_argument(
        "--csv", type=path_ending_in(".csv"), metavar="FILE", help="write a table, one row for each file"
    )
    command.add_argument("--results", type=Path, metavar="FOLDER", help=results)
    command.add_argument("--replace", action="store_true", help=replace)
    command.add_argument("--hand", type=Path, metavar="FILE", help=hand)


def _add_how_it_is_graded(command):
    side = "how many files at a time (default: one for each core)"
    boxed = "grade each file in a container of its own (podman or docker), made from IMAGE"
    own = "give each learner inputs of their own, always the same from the seed of the run"
    add_seed(command)
    command.add_argument("--seed-by-learner", action="store_true", help=own)
    add_exercise(command)
    command.add_argument("--jobs", type=number_of("files"), metavar="N", help=side)
    command.add_argument("--executor", type=_cluster, metavar="dask://HOST:PORT", help="grade on a cluster of dask")
    trust = "grade without a sandbox where there is none, and count every grade as one that any notebook could change"
    command.add_argument("--trust", action="store_true", help=trust)
    command.add_argument("--container", nargs="?", const="clearcheck-grader", metavar="IMAGE", help=boxed)


def _pattern(text: str) -> re.Pattern[str]:
    from clearclass.learners import BadPattern, name_pattern

    try:
        return name_pattern(text)
    except BadPattern as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _policy(text: str):
    from clearclass.late import LateProblem, parse_policy

    try:
        return parse_policy(text)
    except LateProblem as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _deadline(text: str):
    from clearclass.times import NONE, parse_time

    try:
        if text.strip() in NONE:
            raise ValueError("a time is expected")
        return parse_time(text, end_of_day=True)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} came, {error}") from None


def _cluster(text: str) -> str:
    if not re.fullmatch(r"dask://[^/]+:\d+", text):
        raise argparse.ArgumentTypeError(f"{text!r} names no cluster: dask://HOST:PORT of its scheduler is expected")
    return text
