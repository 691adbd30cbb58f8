"""The one entry point, on every system: python tools/run.py TARGET [ARGUMENTS ...]. The Makefile only calls it.

Any Python from 3.6 on can start this file: it looks for one that fits, and goes on in that. A word such as PORT=8000
sets a variable, as it does for make.
"""

import os
import re
import sys
from pathlib import Path

import pythons
from processes import call

TARGETS = Path(__file__).resolve().parent / "targets.py"


def main(words):
    words = without_variables(words)
    try:
        python = pythons.choose()
        if python != sys.executable:
            return call([python, TARGETS, *words])
    except pythons.NoPython as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 1
    import targets  # not before: it is written for the Python that has been found

    return targets.main(words)


def without_variables(words):
    """The words that set no variable; those that do are put into the environment. The target comes before arguments."""
    while words and re.match("[A-Z][A-Z_]*=", words[0]):
        set_variable(words.pop(0))
    while len(words) > 1 and re.match("[A-Z][A-Z_]*=", words[1]):
        set_variable(words.pop(1))
    return words


def set_variable(word):
    variable, _, value = word.partition("=")
    os.environ[variable] = value


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
