"""Calls every public callable of the library wrongly, one argument at a time, and counts what the caller is told.

    python -m tests.clearformer.misuse          counts by target
    python -m tests.clearformer.misuse --raw    and every error that is not in the library's own words

A call is *told* if the library itself raised the error, with a sentence that begins with a name and a colon; *raw* if
Python, NumPy or torch raised it; it *ran* if nothing was raised; it *hangs* after ``SECONDS`` of processor time.
"""

import contextlib
import importlib
import sys
import tempfile
from collections import Counter
from pathlib import Path

import torch
import torch.nn.functional as F

from tests.clearformer.misuse_targets import targets


def import_what_meta_needs() -> None:
    """For seconds, which no limit should cut in half: what is imported in part fails in all calls after it."""
    importlib.import_module("torch._dynamo")
    torch.zeros(3, device="meta").topk(1)
    F.layer_norm(torch.zeros(2, 3, device="meta"), (3,))


def count(show: bool = False) -> dict[str, Counter]:
    """How the calls of each target ended."""
    import_what_meta_needs()
    counts: dict[str, Counter] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # some calls write where they are told
        for target in targets(Path(folder)):
            counted = counts.setdefault(target.name, Counter())
            for argument, how, words in target.outcomes():
                if argument == "all right" and how != "ran":
                    raise RuntimeError(f"{target.name}: a right call {how}: {words}")
                counted[how] += argument != "all right"
                if show and how in ("raw", "hangs"):
                    print(f"{target.name}({argument}): {how} {words}", flush=True)
    return counts


def main(show: bool) -> None:
    counts = count(show)
    total = sum(counts.values(), Counter())
    for name, counted in sorted(counts.items(), key=lambda item: -item[1]["raw"]):
        print(f"{name:35}" + "  ".join(f"{how} {counted[how]:5}" for how in ("told", "raw", "ran", "hangs")))
    print(f"{sum(total.values())} calls: " + ", ".join(f"{how} {n}" for how, n in total.most_common()))


if __name__ == "__main__":
    main("--raw" in sys.argv)
