"""`python -m clearcheck` is the command line of `cli`."""

import sys

from clearcheck.cli import main

sys.exit(main())
