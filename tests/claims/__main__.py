"""Run the experiments of the claims and store their numbers: python tools/run.py claims [02-attention ...]

A word is an experiment, a page, or a number, which stands for a chapter and its closer looks; without any, all are run.
"""

import argparse
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import torch

from benchmarks.facts import machine
from tests.claims import begun, stored
from tests.claims.code_hash import code_hash
from tests.claims.pages import definitions
from tests.claims.registry import Claim, Experiment, Run, register

FIRST = __doc__.splitlines()[0]


def main(words: list[str]) -> int:
    """0, or 1 where a sentence does not follow from its numbers or a word is unknown."""
    parser = argparse.ArgumentParser(prog="python tools/run.py claims", description=FIRST)
    parser.add_argument(
        "words", nargs="*", metavar="NAME", help="an experiment, a page or a chapter's number (default: all)"
    )
    parser.add_argument("--stale", action="store_true", help="only those whose stored run is missing or stale")
    options = parser.parse_args(words)
    experiments, claims = register()
    unknown = [word for word in options.words if not any(is_named(it, word) for it in experiments.values())]
    if unknown:
        print(f"No experiment is called {', '.join(unknown)}. There are: {', '.join(experiments)}", file=sys.stderr)
        return 1
    failed = False
    for it in experiments.values():
        if options.words and not any(is_named(it, word) for word in options.words):
            continue
        if not options.stale or stored.problem(it):
            failed |= not run(it, [one for one in claims if one.experiment is it])
    return int(failed)


def is_named(it: Experiment, word: str) -> bool:
    return word in (it.name, it.slug) or it.slug.startswith(f"{word}-")


def run(
    it: Experiment, claims: list[Claim], folder: Path = stored.RESULTS, tell: Callable[[str], None] = print
) -> bool:
    """Run one experiment, store its numbers, and tell whether the sentences follow from them; whether all do."""
    torch.set_num_threads(1)
    tell(f"{it.name}: {it.measured}")
    code = code_hash(it)  # of what runs now, whatever is edited meanwhile
    found, seconds = measure(it, code, tell)
    facts = {
        "code": code,
        "machine": {name: value for name, value in machine().items() if name != "peers"},
        "date": datetime.now(UTC).date().isoformat(),
        "cpu_seconds": round(seconds, 1),
    }
    numbers = stored.numbers(stored.save(it, found, facts, folder))
    begun.forget(it)
    verdicts = [one.holds(numbers) for one in claims]
    for one, holds in zip(claims, verdicts, strict=True):
        tell(f"  {'holds' if holds else 'DOES NOT HOLD'}: {one.sentence}")
    return all(verdicts)


def measure(it: Experiment, code: str, tell: Callable[[str], None]) -> tuple[dict[Run, float], float]:
    """The number of every run, told as soon as all seeds are done, and the CPU seconds of all."""
    page = definitions(it.page, it.cells)
    found, before = begun.load(it, code)
    before -= time.process_time()
    for one in it.runs():
        if one not in found:
            torch.manual_seed(one.seed)
            found[one] = float(it.measure(page, one))
            begun.save(it, code, found, before + time.process_time())
        if one.seed == it.seeds[-1]:
            row = " ".join(f"{found[one._replace(seed=seed)]:8.3f}" for seed in it.seeds)
            tell(f"  {one.case:14} {one.times} ×  {one.contender:40} {row}")
    return found, before + time.process_time()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
