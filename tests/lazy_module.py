"""Modules that take seconds to import, for a few tests: every process of the suite imports every file."""

import importlib


class LazyModule:
    """Stands for a module, which is imported when something public of it is first asked for: pytest, which collects it
    among the names of a test file, looks for private ones.
    """

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str):
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)
