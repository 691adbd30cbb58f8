"""The programs behind `make`, a package for each thing: tools/run.py starts them all.

Written for Python 3.6, as is all that runs before a newer one is found.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
