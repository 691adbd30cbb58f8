"""What a run over a class is asked for, in one value that is made once."""

import re
from dataclasses import dataclass
from pathlib import Path

from clearclass.handed_in import LateRules

TRUST_VARIABLE = "CLEARCLASS_TRUST"  # set to anything, it stands for the option --trust, for scripts


@dataclass(frozen=True)
class ClassRun:
    """Which submissions, whose they are, how and where they are graded, and what is written of them."""

    files: tuple[Path, ...]  # notebooks, and folders of them
    exercise: str | None = None  # None: each notebook says
    seed: int | None = None  # None: that of the folder of results, or a fresh one
    name_pattern: re.Pattern[str] | None = None  # None: as Moodle, Canvas and Gradescope name what they export
    system: str | None = None  # of clearclass.exports.SYSTEMS; None: told from the names, once for each folder
    roster: Path | None = None  # a table of who is in the class
    late: LateRules | None = None  # what being late costs
    seed_by_learner: bool = False  # whether each learner has inputs of their own
    dry_run: bool = False  # whether it is only said whose each file is
    jobs: int | None = None  # None: one for each core
    executor: str | None = None  # dask://HOST:PORT, or None: this machine
    container: str | None = None  # the image from which each file has a container of its own
    trust: bool = False  # whether everybody who handed in is trusted, so that no sandbox is needed
    as_json: bool = False
    table: Path | None = None
    results: Path | None = None
    replace: bool = False  # whether learners of the results who are not among the files are dropped
    hand: Path | None = None  # a table of points that people gave
