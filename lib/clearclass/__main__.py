"""`python -m clearclass` is the command line of `cli`."""

import sys

from clearclass.cli import main

sys.exit(main())
