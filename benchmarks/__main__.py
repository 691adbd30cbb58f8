"""Measure, print the table, and save results-MAKER.json and results.svg: ``make bench ARGS="--only training"``."""

import argparse
import os
import sys
from datetime import date
from importlib import import_module
from pathlib import Path

import torch

from benchmarks import readme
from benchmarks import report as reports
from benchmarks.facts import machine
from benchmarks.sizes import SMALL, TINY, Options

HERE = Path(__file__).parent
BENCHMARKS = {
    "training": "benchmarks.training",
    "generation": "benchmarks.generation",
    "attention": "benchmarks.attention",
    "backward": "benchmarks.backward",
    "compile": "benchmarks.compiled",
}
SIZES = {size.name: size for size in (TINY, SMALL)}


def main(arguments: list[str]) -> int:
    """0 when everything was measured, whether the targets hold or not."""
    asked = parser().parse_args(arguments)
    torch.set_num_threads(asked.threads)
    options = Options(rounds=asked.rounds, sizes=tuple(SIZES[name] for name in asked.sizes), gpt2=not asked.no_gpt2)
    facts, found = {"machine": machine(), "date": date.today().isoformat(), "rounds": asked.rounds}, {}
    for name in asked.only:
        print(f"Measuring {name} …", file=sys.stderr, flush=True)
        found[name] = import_module(BENCHMARKS[name]).run(options)
        path = reports.save(asked.out, {name: found[name]}, facts)  # at once: an interruption costs one benchmark
    rows = [row for report in found.values() for row in report.rows]
    print(reports.table(rows, facts["machine"], coloured=sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
    for line in dict.fromkeys(line for report in found.values() for line in report.skipped):
        print(f"left out: {line}")
    print(f"saved: {path}")
    if asked.out == HERE:
        readme.write()
    return 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="make bench ARGS=...", description=__doc__.split(":")[0])
    made.add_argument("--only", nargs="+", choices=BENCHMARKS, default=list(BENCHMARKS), help="which benchmarks")
    made.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES), help="which sizes of model")
    made.add_argument("--no-gpt2", action="store_true", help="leave out the 124 million parameters of GPT-2")
    made.add_argument("--rounds", type=positive, default=9, help="how often every candidate runs (9)")
    made.add_argument("--threads", type=positive, default=2, help="threads that PyTorch may use (2)")
    made.add_argument("--out", type=Path, default=HERE, help="folder for results-MAKER.json and results.svg")
    return made


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value}, expected at least 1")
    return value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
