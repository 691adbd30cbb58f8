"""Grade the files that are named on standard input one after the other in one process of a pool, as a class run does.

Its output is their records, a JSON object on each line. `python -m tests.clearclass.graded_side_by_side [--trust]`.
"""

import json
import sys
from dataclasses import replace

from clearclass.one_file import Job, grade_file
from clearclass.pool import grade_jobs, process_pool

from tests.clearcheck.toy_notebook import SHORT, SLUG

LIMITS = replace(SHORT, memory=2**30)  # gigabytes would be taken before they are told


def main():
    jobs = [Job(file, SLUG, 5, LIMITS, trust="--trust" in sys.argv) for file in sys.stdin.read().split("\0")]
    for number, record in grade_jobs(jobs, grade_file, process_pool, 1):
        print(json.dumps([number, record]), flush=True)


if __name__ == "__main__":
    main()
