"""The names that the library's public modules define: no chapter may define one of them anew."""

import importlib
import inspect
import pkgutil
from types import ModuleType

import clearformer


def public_modules() -> list[str]:
    """clearformer and everything below it, except what begins with an underscore."""
    found = pkgutil.walk_packages(clearformer.__path__, "clearformer.")
    return ["clearformer", *(m.name for m in found if not any(p.startswith("_") for p in m.name.split(".")))]


def defined_in(module: ModuleType) -> set[str]:
    """Public functions and classes that the module itself defines."""
    members = inspect.getmembers(module, lambda member: inspect.isfunction(member) or inspect.isclass(member))
    return {name for name, member in members if member.__module__ == module.__name__ and not name.startswith("_")}


def exported_names() -> frozenset[str]:
    return frozenset().union(*(defined_in(importlib.import_module(name)) for name in public_modules()))
