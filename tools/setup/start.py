"""What tools/run.py starts: it looks for a Python that fits, and goes on in that with the target.

A word such as PORT=8000 sets a variable, as it does for make.
"""

import os
import re
import sys

from tools import ROOT
from tools.run import call
from tools.setup import pythons


def main(words):
    words = without_variables(words)
    try:
        python = pythons.choose()
        if python != sys.executable:
            return call([python, "-m", "tools.setup.targets", *words], cwd=str(ROOT))
    except pythons.NoPython as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 1
    from tools.setup import targets  # not before: it is written for the Python that has been found

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
