"""What a class run prints and writes as it goes on: a line for each file, the table, and how far it is."""

import json
import sys
import time
from pathlib import Path

from clearcheck.grading.telling import points_of
from clearcheck.notebooks.escaping import one_line

from clearclass.one_file import public_record
from clearclass.standings import GradeSummary, row_of
from clearclass.tables import write_csv

TABLE_SECONDS = 1.0  # between two times that the table is written while the run goes on


class Output:
    """The rows of what is graded; lines come in the order of the files, whatever order these were graded in."""

    def __init__(self, count: int, as_json: bool, table: Path | None, isolation: str = ""):
        self.count, self.as_json, self.table = count, as_json, table
        self.isolation = isolation  # of the whole run, where it is not that of each record
        self.rows: dict[int, GradeSummary] = {}
        self._lines: dict[int, str] = {}  # those that wait for one before them
        self._told = 0
        self._written_at = 0.0

    def take(self, number: int, record: dict):
        """Print the line of a file, unless one before it is missing, and write the table now and then."""
        if self.isolation and "isolation" in record:
            record = {**record, "isolation": self.isolation}
        row = self.rows[number] = row_of(record)
        self._lines[number] = json.dumps(public_record(record)) if self.as_json else line_of(row)
        while self._told in self._lines:
            line = self._lines.pop(self._told)
            self._told += 1
            if self.as_json or not _both_terminals():
                print(line, flush=True)
        if time.monotonic() - self._written_at > TABLE_SECONDS:
            self.write_table()

    def write_table(self):
        if self.table:
            write_csv(self.table, (self.rows[number] for number in sorted(self.rows)))
            self._written_at = time.monotonic()

    def tell_progress(self, done: int, number: int, seconds: float):
        """On a terminal: how many are done, the line of the last one, and the time that is left."""
        if sys.stderr.isatty():
            left = "" if done == self.count else f" · about {_in_words(seconds)} left"
            print(f"{done} of {self.count} · {line_of(self.rows[number])}{left}", file=sys.stderr, flush=True)


def line_of(row: GradeSummary) -> str:
    """A line for the terminal."""
    if row.error:
        return f"Not graded: {row.error_with_file}"
    return f"{one_line(row.file)}: {points_of(row.points, row.max_points)} (seed {row.seed})"


def _both_terminals() -> bool:
    return sys.stdout.isatty() and sys.stderr.isatty()


def _in_words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
