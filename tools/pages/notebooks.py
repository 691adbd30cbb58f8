"""Execute the chapters and save them with their outputs; fail when one has an error or takes more than a minute.

    python tools/run.py notebooks [chapters/03-self-attention.ipynb ...]     every chapter when none is named

The learners' notebooks in exercises/ are written by python -m clearcheck release. What differs from run to run
without meaning (execution times, version numbers) is taken out; cell ids are kept. After chapters the source map is
written anew, since it quotes how sections are named.
"""

import math
import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from tools import ROOT
from tools.pages import write

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

LIMIT_SECONDS = 60
VOLATILE = ("execution", "ExecuteTime", "collapsed", "scrolled", "jupyter")
PROBLEMS = (CellExecutionError, CellTimeoutError, DeadKernelError)


def main(names: list[str]) -> int:
    paths = [Path(name) for name in names] or sorted((ROOT / "chapters").rglob("*.ipynb"))
    problems = []
    for path in paths:
        print(f"{path.name} ...", end=" ", flush=True)
        try:
            seconds = run(path)
        except PROBLEMS as error:
            print("error")
            problems.append(f"{path.name}: {str(error).strip()}")
            continue
        print(f"{seconds:.1f} s")
        if seconds > LIMIT_SECONDS:
            problems.append(f"{path.name} took {seconds:.0f} s; at most {LIMIT_SECONDS} s are allowed.")
    if any(path.resolve().is_relative_to(ROOT / "chapters") for path in paths):
        try:
            write.write(write.of_the_repository())
        except ValueError as error:
            problems.append(str(error))
    if problems:
        print("\n" + "\n".join(problems), file=sys.stderr)
    return int(bool(problems))


def run(path: Path) -> float:
    """Execute one notebook in its own folder and save it; return the seconds that it takes on an idle machine."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=2 * LIMIT_SECONDS,
        kernel_name="python3",
        coalesce_streams=True,  # else a block of prints is stored in as many pieces as came over the wire
        resources={"metadata": {"path": str(path.parent)}},
    )
    start, before = time.perf_counter(), cpu_seconds_of_children()
    client.execute(env={**os.environ, "OMP_NUM_THREADS": "2"})  # as on the two cores that the limit is for
    seconds = idle_seconds(time.perf_counter() - start, cpu_seconds_of_children() - before)
    clean(notebook, seconds)
    nbformat.write(notebook, path)
    return seconds


def cpu_seconds_of_children() -> float:
    """CPU time of the kernels that have ended: nan where the system does not tell it."""
    if resource is None:
        return math.nan
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def idle_seconds(by_the_clock: float, of_cpu: float) -> float:
    """The shorter of the two: on a busy machine the clock runs on, and two threads use two seconds in one."""
    return by_the_clock if math.isnan(of_cpu) else min(by_the_clock, of_cpu)


def clean(notebook, seconds: float) -> None:
    """Keep what a reader or the book needs; the run time is rounded up to half minutes, so that it seldom changes."""
    kept = {name: notebook.metadata[name] for name in ("mystnb", "clearcheck") if name in notebook.metadata}
    kept["kernelspec"] = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    kept["language_info"] = {"name": "python"}
    if "clearcheck" not in kept:  # a learner's notebook is compared with its source, metadata included
        kept["run_seconds_at_most"] = 30 * math.ceil(seconds / 30)
    notebook.metadata = nbformat.from_dict(kept)
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict(
            {name: value for name, value in cell.metadata.items() if name not in VOLATILE}
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
