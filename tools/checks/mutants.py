"""Break the library line by line, and tell which breaks no test notices: ``python tools/run.py mutants training``.

``tests/mutants.toml`` says which files belong to a module, which tests are nearest, and which mutants survive for a
reason. Each mutant meets the tests that run its lines, the quickest first, until one fails. What it changes is a copy
of ``lib/``.
"""

import argparse
import os
import shutil
import sys
import tempfile
import tomllib
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tools import ROOT
from tools.checks.survey import Survey, survey_tests
from tools.checks.warm_tests import cpu_seconds, passes
from tools.run import call

if TYPE_CHECKING:
    from tools.checks.mutations import Mutant

SETTINGS = ROOT / "tests" / "mutants.toml"
COPIES = ROOT / ".cache" / "mutants"
FEWEST_SECONDS = 5  # of CPU time, for imports and for tests that take none
TIMES_SLOWER = 3  # than its tests are without it: then a mutant is taken to run for ever


def main(words: list[str]) -> int:
    if sys.platform != "linux":
        print("Mutants need Linux, where a test begins in a fork: run this there, or let the weekly workflow do it.")
        return 2
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    asked = arguments(words, [*settings["modules"]])
    module = settings["modules"][asked.module]
    before = cpu_seconds()
    lib = COPIES / asked.module / "lib"
    if str(lib) not in sys.path:
        return started_with(lib, words)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:  # in the checkout tests would find it above them
        names, survivors = try_mutants(lib, module, asked, Path(folder))
    listed = {name for group in settings["survivors"] for name in group["mutants"]}
    listed = {name for name in listed if name.partition(" ")[0] in module["files"]}
    print(f"{asked.module}: {(cpu_seconds() - before) / 60:.0f} minutes of CPU time.")
    whole = asked.only == [""] and (asked.share or module.get("share", 1)) == 1
    return report_survivors(names, survivors, listed if whole else listed & {*names})


def arguments(words: list[str], modules: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tools/run.py mutants", description=__doc__)
    parser.add_argument("module", choices=modules)
    parser.add_argument("--share", type=float, help="of the mutants, always the same ones; 1 tries all")
    parser.add_argument("--only", nargs="*", default=[""], help="mutants with one of these in their names")
    return parser.parse_args(words)


def started_with(lib: Path, words: list[str]) -> int:
    """Copy ``lib/`` there, and run this program anew, in a process that imports from the copy, as do its own."""
    shutil.rmtree(lib.parent, ignore_errors=True)
    shutil.copytree(ROOT / "lib", lib, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    path = os.pathsep.join(filter(None, [str(lib), os.environ.get("PYTHONPATH")]))
    single = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}  # threads are counted as NumPy and torch are imported
    return call([sys.executable, "-m", "tools.checks.mutants", *words], cwd=ROOT, env={**os.environ, **single})


def mutants(lib: Path, module: dict, asked: argparse.Namespace) -> list[tuple[Path, "Mutant"]]:
    from tools.checks.mutations import mutants_of  # only here: it needs packages that the tests of the rest do without

    share = asked.share or module.get("share", 1)
    found = [(lib / file, it) for file in module["files"] for it in mutants_of(file, (lib / file).read_text("utf-8"))]
    return [(path, it) for path, it in found if is_in_share(it.name, share) and any(w in it.name for w in asked.only)]


def is_in_share(name: str, share: float) -> bool:
    return zlib.crc32(name.encode()) < share * 2**32


def try_mutants(lib: Path, module: dict, asked: argparse.Namespace, folder: Path) -> tuple[list[str], list[str]]:
    """The names of the mutants, and of those that survive; the tests write to ``folder``."""
    chosen = mutants(lib, module, asked)
    survey = survey_tests(module["tests"], [lib / file for file in module["files"]], folder)
    if module.get("only_seen"):
        chosen = [(path, it) for path, it in chosen if survey.tests_that_run(path, it.lines)]
    survivors = []
    for number, (path, mutant) in enumerate(chosen, 1):
        tests = nearest_tests(survey, path, mutant.lines, module)
        if survives(path, mutant, number, survey, tests, folder):
            survivors.append(mutant.name)
            print(f"{number}/{len(chosen)} survives: {mutant.name}", flush=True)
    return [mutant.name for _, mutant in chosen], survivors


def nearest_tests(survey: Survey, path: Path, lines: Iterable[int], module: dict) -> list[str]:
    """Those that run these lines; where none does in its own process, all of them if the module says so."""
    tests = survey.tests_that_run(path, lines)
    return survey.every_test() if not tests and module.get("unseen_meet_all") else tests


def survives(path: Path, mutant: "Mutant", number: int, survey: Survey, tests: list[str], folder: Path) -> bool:
    if not tests:
        return True
    seconds = FEWEST_SECONDS + TIMES_SLOWER * sum(survey.seconds[name] for name in tests)
    original, times = path.read_text(encoding="utf-8"), path.stat()
    try:
        path.write_text(mutant.source(), encoding="utf-8")
        os.utime(path, (number, number))  # by this time, which no two mutants share, stale byte code is found
        return passes(tests, seconds, folder)
    finally:
        path.write_text(original, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def report_survivors(names: list[str], survivors: list[str], listed: set[str]) -> int:
    """Print the count, and what ``tests/mutants.toml`` lacks or has for nothing; return 1 for a new survivor."""
    new = [name for name in survivors if name not in listed]
    killed = len(names) - len(survivors)
    print(f"{len(names)} mutants: {killed} killed, {len(survivors) - len(new)} survive for a reason, {len(new)} new.")
    for name in sorted(listed.difference(survivors)):
        print(f"Is killed or no longer made, so delete it from {SETTINGS.name}: {name}")
    for name in new:
        print(f"New: {name}")
    if new:
        print(f"Write a test that fails with it, or put it under a reason in tests/{SETTINGS.name}.")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
