"""The targets of tools/run.py: what each is for, and the programs that it starts in the environment .venv.

Every target creates or updates the environment first, which is quick when it is up to date.
"""

import codecs
import io
import locale
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tools import ROOT
from tools.run import call
from tools.setup import bootstrap
from tools.setup.pythons import WINDOWS, python_of, span

BUILT = ("_build", ".cache", ".pytest_cache", ".ruff_cache", ".mypy_cache")


class Step(NamedTuple):
    """One program of a target: its words behind python, and a name where it is told before it starts."""

    words: str
    name: str = ""


class Target(NamedTuple):
    """What a target does; its arguments, of which one example is shown, go to the last step.

    `leaves` is what it does not do, with other targets in braces, and is told at its end where steps have names.
    """

    purpose: str
    steps: tuple[Step, ...] = ()
    example: str = ""
    deletes: tuple[str, ...] = ()
    leaves: str = ""


STYLE = (
    Step("-m ruff check .", "Style (ruff check)"),
    Step("-m ruff format --check .", "Format (ruff format)"),
    Step("-m tools.checks.sizes", "Sizes of files, functions and constructors"),
)
TARGETS = {
    "help": Target("list the targets"),
    "setup": Target(f"create the environment (Python {span()})"),
    "book": Target("build the site into _build/html", (Step("-m tools.book.build"),)),
    "pdf": Target("build the site with the chapters as a PDF in it, printed by Chromium", (Step("-m tools.book.pdf"),)),
    "serve": Target("build the site and serve it; PORT=8000 chooses another port", (Step("-m tools.book.serve"),)),
    "check": Target(
        "style and the quick tests, about a minute",
        (
            *STYLE,
            Step(
                "-m pytest @tests/quick.args",
                "Quick tests of library, notebook helpers, documents, rules for notebooks, equations and claims",
            ),
        ),
        example="-k cache",
        leaves="types and spelling ({lint}); slow tests, and those of grader, gradients, exercises, site, tools and "
        "benchmarks ({test})",
    ),
    "test": Target(
        "run the whole suite, browser and notebooks too, or a part of it",
        (
            Step("-m tools.setup.vendor", "MathJax and axe-core, fetched once for the tests of the site"),
            Step("-m tools.setup.extras pretrained", "Weights that chapters 10 and 12 read, fetched once"),
            Step("-m pytest @tests/everything.args", "Tests of library, grader, exercises, chapters, site and tools"),
        ),
        example="tests/clearformer -n 0",
        leaves="style, types and spelling ({lint}); what is skipped above, and what is marked weekly",
    ),
    "notebooks": Target(
        "execute every notebook, or those named, and save it with its outputs",
        (Step("-m tools.pages.notebooks"),),
        example="chapters/01-tokens.ipynb",
    ),
    "pages": Target(
        "write the pages that are made from others, and say which have changed", (Step("-m tools.pages.write"),)
    ),
    "proofs": Target(
        "grade all answers that the grader is tested with, for the site; minutes",
        (Step("-m tools.pages.proofs"),),
        example="03-self-attention",
    ),
    "models": Target(
        "train the models whose weights lie in models/ and are missing",
        (Step("-m tools.models.train"),),
        example="language",
    ),
    "pretrained": Target(
        "install the weights that chapters 10 and 12 read, 270 MB", (Step("-m tools.setup.extras pretrained"),)
    ),
    "bench": Target(
        "measure speed beside other libraries",
        (Step("-m tools.setup.extras bench"), Step("-m benchmarks")),
        example="--only training --rounds 3",
    ),
    "mutants": Target(
        "break a module of lib/ line by line, and tell which breaks no test notices",
        (Step("-m tools.setup.extras mutants"), Step("-m tools.checks.mutants")),
        example="training",
    ),
    "claims": Target(
        "run again what the comparisons of the book rest on, and store the numbers",
        (Step("-m tests.claims"),),
        example="02-attention",
    ),
    "gradescope": Target(
        "make the autograder that Gradescope runs", (Step("-m tools.takeaway.gradescope"),), example="03-self-attention"
    ),
    "questions": Target(
        "write quizzes and drills as a bank of questions for Moodle (GIFT) and Canvas (QTI)",
        (Step("-m tools.book.question_bank"),),
    ),
    "lab": Target("open JupyterLab", (Step("-m jupyter lab --LabApp.news_url=None"),), example="--no-browser"),
    "lint": Target(
        "ruff, notebooks too, types and spelling",
        (*STYLE, Step("-m mypy", "Types (mypy)"), Step("-m codespell_lib", "Spelling (codespell)")),
        leaves="tests ({check}, {test})",
    ),
    "clean": Target("delete what was built", deletes=BUILT),
    "clean-env": Target("delete the environment too", deletes=(*BUILT, ".venv")),
}


def main(words: list[str]) -> int:
    """Run the target that the first word names; return the exit code of its first step that fails, or 0."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a path may have letters that this system's encoding lacks
    name, arguments = words[0] if words else "help", words[1:]
    if name not in TARGETS:
        return refuse(f"There is no target {name}: choose one of {', '.join(TARGETS)}.")
    target = TARGETS[name]
    if arguments and not target.example:
        return refuse(f"{name} takes no arguments, and got: {' '.join(arguments)}")
    if name == "help":
        print(listing())
        return 0
    return delete(target.deletes) if target.deletes else start(target, arguments)


def refuse(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2


def listing() -> str:
    width = max(map(len, TARGETS))
    lines = [f"  {name:{width}}  {target.purpose}" for name, target in TARGETS.items()]
    given = [f"  {name:{width}}  {target.example}" for name, target in TARGETS.items() if target.example]
    return "\n".join(
        [
            "make TARGET, or python tools/run.py TARGET:",
            *lines,
            "",
            "Some take arguments, for example",
            '  python tools/run.py check -k cache, or make check ARGS="-k cache":',
            *given,
        ]
    )


def start(target: Target, arguments: list[str]) -> int:
    """Run the steps until one fails, and tell which of those with a name were run."""
    prepare_variables()
    code = bootstrap.main()
    if code:
        return code
    names = [step.name for step in target.steps]
    if arguments and names[-1]:
        names[-1] += f" (asked for: {' '.join(arguments)})"
    for number, step in enumerate(target.steps, 1):
        if step.name:
            print(f"[{number} of {len(names)}] {names[number - 1]}", flush=True)
        given = arguments if number == len(names) else []
        code = call([python_of(ROOT / ".venv"), *step.words.split(), *given], cwd=ROOT)
        if code:
            tell("Failed", [names[number - 1]])
            tell("Not run", names[number:])
            return code
    tell("Passed", names)
    tell("Not run", [target.leaves.format_map({name: command(name) for name in TARGETS})])
    return 0


def tell(what: str, names: list[str]) -> None:
    """Tell nothing of a target whose steps have no names."""
    if any(names):
        print(f"{what}: {'; '.join(filter(None, names))}.", flush=True)


def command(name: str) -> str:
    """What to type for a target: Windows has no make."""
    return rf"py tools\run.py {name}" if WINDOWS else f"make {name}"


def prepare_variables() -> None:
    """What every program gets that is started from here: UTF-8, byte code that is kept, and a home to write to."""
    os.environ["PYTHONUTF8"] = "1"
    use_utf8()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process compiles torch's 1,500 modules anew
    if not can_write_home():
        home = ROOT / ".cache" / "home"
        print(f"Nothing can be written to your home folder; what belongs there goes to {home}.", flush=True)
        variables = ("USERPROFILE", "APPDATA", "LOCALAPPDATA") if WINDOWS else ("HOME",)
        os.environ.update(dict.fromkeys(variables, str(home)))
        with suppress(OSError):  # of a folder that cannot be written either, the set-up speaks
            home.mkdir(parents=True, exist_ok=True)


def use_utf8() -> None:
    """Where the language settings are those of a machine that knows ASCII alone, such as LC_ALL=C: others, in UTF-8.

    PYTHONUTF8 does not suffice, since setuptools writes the project's path in the encoding of these settings.
    """
    if WINDOWS or is_utf8(locale.getencoding()):
        return
    for name in ("C.UTF-8", "en_US.UTF-8"):
        with suppress(locale.Error):
            locale.setlocale(locale.LC_CTYPE, name)
            os.environ["LC_ALL"] = name
            return


def is_utf8(encoding: str) -> bool:
    return codecs.lookup(encoding).name == "utf-8"


def can_write_home() -> bool:
    """By trying: permissions say little of a disk that is read-only, and nothing to root."""
    try:
        with tempfile.TemporaryFile(dir=Path.home()):
            return True
    except (OSError, RuntimeError):
        return False


def delete(names: tuple[str, ...]) -> int:
    for path in (ROOT / name for name in names):
        try:
            if path.exists():
                shutil.rmtree(path)
        except OSError as error:
            return refuse(f"{path} cannot be deleted ({error}): end the programs that use it, then try again.")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
