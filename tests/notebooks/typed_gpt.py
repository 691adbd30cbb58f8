"""The two files of chapters 8 and 9 as modules, the second of which imports the first."""

import sys
from functools import cache
from types import ModuleType

from tests.notebooks.kept_file import load_kept_file
from tools import ROOT

CHAPTERS = ROOT / "chapters"
FILE = CHAPTERS / "gpt.py"


@cache
def typed_gpt() -> ModuleType:
    """The course's gpt.py with the course's transformer.py, and nothing of it left among the imported modules."""
    before = sys.modules.get("transformer")
    sys.modules["transformer"] = load_kept_file(CHAPTERS / "transformer.py")
    try:
        return load_kept_file(FILE)
    finally:
        del sys.modules["transformer"]
        if before is not None:
            sys.modules["transformer"] = before
