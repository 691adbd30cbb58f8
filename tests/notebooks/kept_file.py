"""A file of the course that a reader types and keeps, as a module."""

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType


def load_kept_file(path: Path) -> ModuleType:
    """Imported anew, and not run as a program."""
    loader = SourceFileLoader(f"kept_{path.stem}", str(path))
    module = ModuleType(loader.name)
    loader.exec_module(module)
    return module
