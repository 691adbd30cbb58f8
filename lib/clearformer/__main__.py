"""``python -m clearformer train | chat | info``."""

import sys

from clearformer.commands import main

if __name__ == "__main__":
    sys.exit(main())
