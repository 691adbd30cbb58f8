"""Modules that take seconds to import, for a few tests: every process of the suite imports every file."""

import importlib


class Lazily:
    """Stands for a module, which is imported when something of it is first asked for."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, attribute: str):
        return getattr(importlib.import_module(self._name), attribute)
